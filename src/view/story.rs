//! The run as a story: its log, the marks on the scrubber, the bands of its verdicts.

use crate::api::Str;
use crate::kernel::Time;
use crate::scenario::{Entry, Input, Run, Told};
use crate::world::{Lane, LaneId, Occurrence};

use super::build::{loop_id, pass_view, verdict_view};
use super::log::{Band, Divergence, Happening, LogLine, Mark, MarkKind};
use super::passes::ended;

/// Marks of passes shown at most; a longer run shows every n-th.
const PASS_MARKS_MAX: usize = 600;

/// The moments at which passes ended.
pub fn pass_ends(entries: &[Entry]) -> impl DoubleEndedIterator<Item = Time> + '_ {
    entries.iter().filter(|entry| ended(entry).is_some()).map(|entry| entry.at)
}

/// What the log of a run depends on: another value, and it may read otherwise.
pub type LogState = (u64, Vec<usize>, [usize; 5]);

/// How much was told, and how much of it lies in the past; for so many lines.
pub fn log_state(run: &Run, divergences: &[Divergence], limit: usize) -> LogState {
    let past = run.lanes().iter().map(|lane| run.past(lane.id).len()).collect();
    let (steps, inputs) = (run.steps_done().len(), run.inputs_done().len());
    let differences = divergences.iter().filter(|found| found.at <= run.now()).count();
    let ahead = run.inputs_ahead().count();
    (run.told(), past, [limit, steps, inputs, differences, ahead])
}

/// The newest `limit` lines, newest last.
pub fn log(run: &Run, divergences: &[Divergence], limit: usize) -> Vec<LogLine> {
    let now = run.now();
    // Newest first, so that a long run costs no more than a short one.
    let mut lines: Vec<LogLine> = Vec::new();
    let ahead = run.inputs_ahead().map(|input| {
        let LogLine { at, lane, .. } = line_of(run, input, false);
        LogLine { at, lane, what: Happening::PutOff(input.line.as_str().into()) }
    });
    lines.extend(ahead.take(limit));
    lines.reverse();
    for (number, input) in run.inputs_done().take(limit) {
        lines.extend(failures(run, number, input.at).into_iter().rev());
        lines.push(line_of(run, input, false));
    }
    lines.extend(run.steps_done().take(limit).map(|input| line_of(run, input, true)));
    // What was done at one moment is told in the order in which it was done.
    lines.reverse();
    for lane in run.lanes() {
        let told = run.past(lane.id).iter().rev().filter_map(|entry| tell(lane, entry));
        let newest: Vec<LogLine> = told.take(limit).collect();
        lines.extend(newest.into_iter().rev());
    }
    for divergence in divergences.iter().filter(|divergence| divergence.at <= now) {
        let (at, what) = (divergence.at, Happening::Divergence(divergence.clone()));
        lines.push(LogLine { at, lane: None, what });
    }
    lines.sort_by_key(|line| line.at);
    let surplus = lines.len().saturating_sub(limit);
    lines.split_off(surplus)
}

/// What came of a line that was put off, if it failed: once, where all lanes answered the same.
fn failures(run: &Run, number: usize, at: Time) -> Vec<LogLine> {
    let found = run.failures(number);
    let told = |lane: Option<LaneId>, text: &str| {
        let what = Happening::Failed(text.trim_end().into());
        LogLine { at, lane: lane.filter(|_| run.lanes().len() > 1), what }
    };
    match found.as_slice() {
        [(_, one), (_, other)] if one == other => vec![told(None, &one.text)],
        all => all.iter().map(|(lane, said)| told(Some(*lane), &said.text)).collect(),
    }
}

fn line_of(run: &Run, input: &Input, of_script: bool) -> LogLine {
    let line: Str = input.line.as_str().into();
    let what = match (input.is_fault(), of_script) {
        (true, _) => Happening::Fault(line),
        (_, true) => Happening::Script(line),
        _ => Happening::You(line),
    };
    let lanes: Vec<LaneId> = run.lanes().iter().map(|lane| lane.id).collect();
    let mut meant = lanes.into_iter().filter(|lane| input.lanes.includes(*lane));
    let lane = match (meant.next(), meant.next()) {
        (Some(only), None) if run.lanes().len() > 1 => Some(only),
        _ => None,
    };
    LogLine { at: input.at, lane, what }
}

fn tell(lane: &Lane, entry: &Entry) -> Option<LogLine> {
    let what = match &entry.what {
        Told::Verdict(verdict) => Happening::Verdict(verdict_view(verdict, entry.at)),
        Told::World(Occurrence::PassEnded(record)) => {
            if record.is_idle() {
                return None;
            }
            let pass = pass_view(&lane.world, record);
            Happening::Pass(loop_id(record.controller), Box::new(pass))
        }
        Told::World(Occurrence::Struck { to, event, object, how, .. }) => Happening::Struck {
            to: loop_id(*to),
            event: event.word().into(),
            object: object.clone(),
            how: (*how).into(),
        },
        Told::World(_) => return None,
    };
    Some(LogLine { at: entry.at, lane: Some(lane.id), what })
}

/// The marks of the whole run, which forks at these moments.
pub fn marks(run: &Run, divergences: &[Divergence], forks: &[Time]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for lane in run.lanes() {
        let passes: Vec<Time> = pass_ends(run.story(lane.id)).collect();
        let every = passes.len() / PASS_MARKS_MAX + 1;
        let lane = Some(lane.id);
        let shown = passes.into_iter().step_by(every);
        marks.extend(shown.map(|at| Mark { at, lane, what: MarkKind::Pass }));
    }
    let end = run.end();
    for (inputs, kind) in [(run.script(), MarkKind::Script), (run.inputs(), MarkKind::You)] {
        // What was put off is shown before it is done.
        let told = |input: &Input| {
            input.at > Time::ZERO
                && input.given <= end
                && (input.at <= end || input.given < input.at)
        };
        for (number, input) in inputs.iter().enumerate().filter(|(_, input)| told(input)) {
            let what = match kind {
                MarkKind::You if !run.failures(number).is_empty() => MarkKind::Failed,
                _ if input.is_fault() => MarkKind::Fault,
                _ => kind,
            };
            marks.push(Mark { at: input.at, lane: None, what });
        }
    }
    marks.extend(forks.iter().map(|at| Mark { at: *at, lane: None, what: MarkKind::Fork }));
    for divergence in divergences {
        marks.push(Mark { at: divergence.at, lane: None, what: MarkKind::Divergence });
    }
    marks.sort_by_key(|mark| (mark.at, mark.what));
    marks
}

/// The verdicts of each lane as stretches of the whole run.
pub fn bands(run: &Run) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for lane in run.lanes() {
        let mut open =
            Band { lane: lane.id, from: Time::ZERO, to: run.end(), verdict: "converging" };
        for (_, at, verdict) in run.turns(lane.id) {
            if verdict.word() == open.verdict {
                continue;
            }
            let next = Band { from: at, verdict: verdict.word(), ..open.clone() };
            open.to = at;
            bands.push(std::mem::replace(&mut open, next));
        }
        bands.push(open);
    }
    bands.retain(|band| band.from < band.to);
    bands
}
