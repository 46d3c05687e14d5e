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

/// The newest `limit` lines, newest last.
pub fn log(run: &Run, divergences: &[Divergence], limit: usize) -> Vec<LogLine> {
    let now = run.now();
    let mut lines: Vec<LogLine> = Vec::new();
    lines
        .extend(run.script().iter().filter(|i| i.at <= now).map(|input| line_of(run, input, true)));
    for (number, input) in run.inputs().iter().enumerate().filter(|(_, i)| i.at <= now) {
        lines.push(line_of(run, input, false));
        lines.extend(failures(run, number, input.at));
    }
    let ahead = run.inputs().iter().filter(|i| i.at > now && i.given <= now);
    lines.extend(ahead.map(|input| {
        let LogLine { at, lane, .. } = line_of(run, input, false);
        LogLine { at, lane, what: Happening::PutOff(input.line.as_str().into()) }
    }));
    for lane in run.lanes() {
        // Newest first, so that a long run costs no more than a short one.
        let told = run.past(lane.id).iter().rev().filter_map(|entry| tell(lane, entry));
        lines.extend(told.take(limit));
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
        let told = |input: &&Input| input.at <= end || input.given < input.at;
        let of_run = inputs.iter().filter(|input| input.at > Time::ZERO);
        for input in of_run.filter(|input| told(input) && input.given <= end) {
            let what = if input.is_fault() { MarkKind::Fault } else { kind };
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
