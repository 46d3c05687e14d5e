//! The passes of a run one by one, and why each came about: from the pass back through the watch
//! event that woke it to the write behind that event, and so on to what a person did.

use std::sync::Arc;

use crate::api::{ObjectKey, Str};
use crate::apiserver::{Verb, WatchEventType};
use crate::controllers::Fact;
use crate::kernel::Time;
use crate::scenario::{Entry, Input, Run, Told};
use crate::world::{Act, Cause, Lane, LaneId, Occurrence, PassRecord};

use super::build::{loop_id, pass_view};
use super::stage::{LoopId, PassView};

/// Links of a chain that are told at most; each pass comes with its watch event, its wait and the
/// request behind it.
const CHAIN_MAX: usize = 32;
/// Passes that followed from one, told at most.
const FOLLOWED_MAX: usize = 12;

/// A pass, for the list.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRow {
    /// In which lane.
    pub lane: LaneId,
    /// Of which loop.
    pub id: LoopId,
    /// The pass.
    pub pass: PassView,
}

/// Which passes are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassFilter {
    /// Of this lane only.
    pub lane: Option<LaneId>,
    /// Of this loop only.
    pub id: Option<LoopId>,
    /// Also those that found nothing to do.
    pub idle: bool,
}

/// A link of the chain that led to a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Somebody did this, or the scenario did.
    Did {
        /// When.
        at: Time,
        /// The console line.
        line: Str,
        /// Whether the scenario did it.
        of_script: bool,
    },
    /// A pass wrote something.
    Pass(Box<PassRow>),
    /// By this request of that pass.
    Asked(Box<Act>),
    /// A watch event told of it.
    Watch {
        /// When the write behind it was done, as far as that is known.
        at: Option<Time>,
        /// What it tells.
        event: WatchEventType,
        /// Of which object.
        object: ObjectKey,
        /// The revision.
        revision: u64,
    },
    /// It was put into the queue, and taken out by a free worker.
    Queued {
        /// When it came in, behind the door.
        from: Time,
        /// When the pass began.
        to: Time,
    },
    /// No watch event: a resync, a list, a back-off, a timer.
    Other(Cause),
    /// The chain is longer than what is told.
    More,
}

/// The passes that fit: the newest `before` up to now, and the first `after` of the computed
/// future; oldest first.
pub fn list(run: &Run, filter: PassFilter, before: usize, after: usize) -> Vec<PassRow> {
    let (mut past, mut future): (Vec<PassRow>, Vec<PassRow>) = Default::default();
    let fits = |pass: &&Arc<PassRecord>| {
        (filter.idle || !pass.is_idle())
            && filter.id.is_none_or(|id| id == loop_id(pass.controller))
    };
    for lane in run.lanes().iter().filter(|lane| filter.lane.is_none_or(|id| id == lane.id)) {
        let told = run.past(lane.id);
        let ended_before = told.iter().rev().filter_map(ended).filter(fits).take(before);
        past.extend(ended_before.map(|pass| row(lane, pass)));
        let rest = run.story(lane.id).get(told.len()..).unwrap_or_default();
        let ended_after = rest.iter().filter_map(ended).filter(fits).take(after);
        future.extend(ended_after.map(|pass| row(lane, pass)));
    }
    for rows in [&mut past, &mut future] {
        rows.sort_by_key(|row| (row.pass.started, row.lane, row.pass.number));
    }
    let surplus = past.len().saturating_sub(before);
    past.drain(..surplus);
    future.truncate(after);
    past.append(&mut future);
    past
}

/// A pass by its number in its lane.
pub fn find(run: &Run, lane: LaneId, number: u64) -> Option<PassRow> {
    Some(row(run.lane(lane)?, record(run, lane, number)?))
}

fn record(run: &Run, lane: LaneId, number: u64) -> Option<&Arc<PassRecord>> {
    run.story(lane).iter().rev().filter_map(ended).find(|pass| pass.number == number)
}

/// What a pass would have seen had its cache known all that the API server knew as it began; none
/// where that is not to be said.
pub fn truth(run: &Run, lane: LaneId, number: u64) -> Option<Fact> {
    let pass = record(run, lane, number)?;
    let then = run.as_it_was(pass.started)?;
    then.lane(lane)?.world.seen_with_open_eyes(pass.controller, &pass.key)
}

/// What led to a pass, the nearest cause first.
pub fn why(run: &Run, lane: LaneId, number: u64) -> Vec<Reason> {
    let mut chain = Vec::new();
    let Some(lane) = run.lane(lane) else { return chain };
    let mut at = find(run, lane.id, number);
    while let Some(row) = at {
        if chain.len() >= CHAIN_MAX {
            chain.push(Reason::More);
            break;
        }
        at = step(run, lane, &row.pass, &mut chain);
    }
    chain
}

/// The passes that what this one wrote has woken, the computed future included, oldest first.
pub fn led_to(run: &Run, lane: LaneId, number: u64) -> Vec<PassRow> {
    let Some((lane, cause)) = run.lane(lane).zip(record(run, lane, number)) else {
        return Vec::new();
    };
    let woken = |pass: &&Arc<PassRecord>| match &pass.woken_by {
        Cause::Watch(_, object, trip) => {
            !object.kind.is_answer() && cause.wrote.contains(&trip.revision)
        }
        _ => false,
    };
    let mut found: Vec<_> =
        run.story(lane.id).iter().filter_map(ended).filter(woken).take(FOLLOWED_MAX).collect();
    found.sort_by_key(|pass| (pass.started, pass.number));
    found.into_iter().map(|pass| row(lane, pass)).collect()
}

/// Adds what woke a pass and who was behind that; the pass behind it, if it was one.
fn step(run: &Run, lane: &Lane, pass: &PassRecord, chain: &mut Vec<Reason>) -> Option<PassRow> {
    let entries = run.story(lane.id);
    let Cause::Watch(event, object, trip) = pass.woken_by.clone() else {
        chain.push(Reason::Other(pass.woken_by.clone()));
        let earlier = row(lane, put_back_by(entries, pass)?);
        chain.push(Reason::Pass(Box::new(earlier.clone())));
        return Some(earlier);
    };
    let writer = match object.kind.is_answer() {
        true => asker_of(entries, &object, pass),
        false => writer_of(entries, trip.revision),
    };
    chain.push(Reason::Queued { from: trip.arrived, to: pass.started });
    let told = object.clone();
    chain.push(Reason::Watch { at: Some(trip.sent), event, object, revision: trip.revision });
    if let Some(writer) = writer {
        // An answer has its own numbers: it tells of what was asked for outside of the cluster.
        let of_answer = |act: &Act| act.object == told && !matches!(act.verb, Verb::Get);
        let made = |act: &&Act| match told.kind.is_answer() {
            true => of_answer(act),
            false => act.outcome.as_ref().is_ok_and(|answer| *answer == trip.revision),
        };
        let request = writer.acts.iter().find(made).cloned();
        chain.extend(request.map(|act| Reason::Asked(Box::new(act))));
        let writer = row(lane, writer);
        chain.push(Reason::Pass(Box::new(writer.clone())));
        return Some(writer);
    }
    if let Some(doer) = doer_of(run, lane.id, trip.sent, trip.revision) {
        let (at, line) = (doer.input.at, doer.input.line.as_str().into());
        chain.push(Reason::Did { at, line, of_script: doer.of_script });
    }
    None
}

fn row(lane: &Lane, pass: &Arc<PassRecord>) -> PassRow {
    PassRow { lane: lane.id, id: loop_id(pass.controller), pass: pass_view(&lane.world, pass) }
}

pub(super) fn ended(entry: &Entry) -> Option<&Arc<PassRecord>> {
    match &entry.what {
        Told::World(Occurrence::PassEnded(pass)) => Some(pass),
        _ => None,
    }
}

/// The pass that made this revision. A write that changed nothing answers with an older one, so
/// the first that names it counts.
fn writer_of(entries: &[Entry], revision: u64) -> Option<&Arc<PassRecord>> {
    entries.iter().filter_map(ended).find(|pass| pass.wrote.contains(&revision))
}

/// The last pass before this one that asked somebody outside of the cluster for what a webhook
/// tells of now.
fn asker_of<'a>(
    entries: &'a [Entry],
    object: &ObjectKey,
    told: &PassRecord,
) -> Option<&'a Arc<PassRecord>> {
    let asked = |act: &Act| act.object == *object && !matches!(act.verb, Verb::Get);
    let before = entries.iter().rev().filter_map(ended).filter(|pass| pass.number < told.number);
    before.into_iter().find(|pass| pass.acts.iter().any(asked))
}

/// The pass after which this one's key came back, by a back-off or a timer.
pub(super) fn put_back_by<'a>(
    entries: &'a [Entry],
    pass: &PassRecord,
) -> Option<&'a Arc<PassRecord>> {
    if !matches!(pass.woken_by, Cause::Retry | Cause::Timer) {
        return None;
    }
    entries.iter().rev().filter_map(ended).find(|other| {
        let back = other.comes_back.as_ref();
        other.number < pass.number
            && other.controller == pass.controller
            && other.key == pass.key
            && back.is_some_and(|(_, cause)| *cause == pass.woken_by)
    })
}

/// A line that was done, as a run names it.
pub(super) struct Doer<'a> {
    /// Whether the scenario did it.
    pub(super) of_script: bool,
    /// Its number among those of the scenario, or of people.
    pub(super) number: usize,
    /// The line.
    pub(super) input: &'a Input,
}

/// What somebody did in this lane that made a revision. A kubectl line takes effect at once, so
/// what it wrote bears its time; of several lines of a moment it is the last one that was done
/// before the revision was there.
pub(super) fn doer_of(run: &Run, lane: LaneId, at: Time, revision: u64) -> Option<Doer<'_>> {
    let numbered = |of_script: bool, inputs: &'_ [Input]| {
        let then =
            |input: &Input| input.at == at && input.lanes.includes(lane) && !input.is_fault();
        let numbers = (0..inputs.len()).filter(|number| then(&inputs[*number]));
        numbers.map(|number| (of_script, number)).collect::<Vec<_>>()
    };
    let mut done = numbered(true, run.script());
    done.extend(numbered(false, run.inputs()));
    let was_before = |(of_script, number): &&(bool, usize)| {
        let before = run.before(*of_script, *number, lane);
        before.is_some_and(|before| before.revision < revision)
    };
    let (of_script, number) = *done.iter().rfind(was_before).or(done.last())?;
    let inputs = if of_script { run.script() } else { run.inputs() };
    Some(Doer { of_script, number, input: inputs.get(number)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::Deed;
    use crate::scenario::In;
    use crate::view::Session;

    fn after_a_deletion() -> Session {
        let mut session = Session::open_shipped("doubled-event", Some(7));
        session.seek(Time::from_secs(9));
        let line = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";
        session.act(line, None, In::Both);
        // Before the scenario deletes one itself.
        session.seek(Time::ZERO + std::time::Duration::from_millis(9_900));
        session
    }

    #[test]
    fn the_chain_of_a_replacement_leads_back_to_the_line_that_deleted() {
        let session = after_a_deletion();
        let filter = PassFilter { id: Some(LoopId::Scheduler), ..PassFilter::default() };
        let rows = session.passes(PassFilter { lane: Some(LaneId::Level), ..filter }, 50, 0);
        let last = rows.last().expect("the new pod was bound");
        let chain = session.why(LaneId::Level, last.pass.number);
        let words: Vec<String> = chain
            .iter()
            .map(|reason| match reason {
                Reason::Watch { event, .. } => event.word().to_string(),
                Reason::Pass(row) => format!("{:?}", row.id),
                Reason::Queued { .. } => "queue".to_string(),
                Reason::Asked(act) => format!("{:?}", act.verb),
                Reason::Did { line, .. } => line.to_string(),
                Reason::Other(cause) => format!("{cause:?}"),
                Reason::More => "more".to_string(),
            })
            .collect();
        let led = ["queue", "ADDED", "Create", "ReplicaSet", "queue", "DELETED"];
        assert_eq!(words[..6], led);
        assert!(words[6].starts_with("kubectl delete pod"), "{words:?}");
        let moments: Vec<Time> = chain
            .iter()
            .flat_map(|reason| match reason {
                Reason::Queued { from, to } => vec![*to, *from],
                Reason::Watch { at, .. } => at.iter().copied().collect(),
                Reason::Asked(act) => vec![act.served, act.asked],
                _ => Vec::new(),
            })
            .collect();
        assert!(moments.is_sorted_by(|later, earlier| later >= earlier), "{moments:?}");
    }

    #[test]
    fn what_a_pass_wrote_leads_on_to_the_passes_that_it_woke() {
        let session = after_a_deletion();
        let filter = PassFilter { id: Some(LoopId::ReplicaSet), ..PassFilter::default() };
        let rows = session.passes(PassFilter { lane: Some(LaneId::Level), ..filter }, 50, 0);
        let made = |row: &&PassRow| row.pass.does.iter().any(|(deed, _)| *deed == Deed::CreatePod);
        let made = rows.iter().rev().find(made).expect("it made a pod");
        let led_to = session.led_to(LaneId::Level, made.pass.number);
        assert!(led_to.iter().any(|row| row.id == LoopId::Scheduler), "{led_to:?}");
        for row in &led_to {
            let back = session.why(LaneId::Level, row.pass.number);
            let is_made = |reason: &Reason| match reason {
                Reason::Pass(row) => row.pass.number == made.pass.number,
                _ => false,
            };
            assert!(back.iter().any(is_made), "the way there is the way back");
        }
    }

    #[test]
    fn a_pass_tells_what_it_asked_for_and_what_came_of_it() {
        let session = after_a_deletion();
        let filter = PassFilter { id: Some(LoopId::ReplicaSet), ..PassFilter::default() };
        let rows = session.passes(PassFilter { lane: Some(LaneId::Level), ..filter }, 50, 0);
        let made = rows
            .iter()
            .rev()
            .find(|row| row.pass.does.iter().any(|(deed, _)| *deed == Deed::CreatePod));
        let made = made.expect("it made a pod");
        assert!(made.pass.acts.iter().all(|act| act.outcome.is_ok()), "{:?}", made.pass.acts);
        assert_eq!(made.pass.wrote.len(), made.pass.acts.len());
    }

    /// Of the passes whose cache knew of every change: which loops could be compared with the
    /// store, and which saw something else than that holds.
    fn compared_though_fresh(scenario: &str, until: u64) -> (Vec<LoopId>, Vec<String>) {
        let mut session = Session::open_shipped(scenario, Some(7));
        session.seek(Time::from_secs(until));
        let filter = PassFilter { idle: true, lane: Some(LaneId::Level), ..PassFilter::default() };
        let fresh = session.passes(filter, 400, 0).into_iter().filter(|row| row.pass.behind == 0);
        let (mut compared, mut wrong) = (Vec::new(), Vec::new());
        for row in fresh {
            let Some(truth) = session.truth(row.lane, row.pass.number) else { continue };
            let (at, id, saw) = (row.pass.started, row.id, &row.pass.sees);
            compared.push(id);
            if truth != *saw {
                wrong.push(format!("{at:?} {id:?} saw {saw:?}, there was {truth:?}"));
            }
        }
        (compared, wrong)
    }

    #[test]
    fn a_level_triggered_loop_whose_cache_knows_all_sees_what_is_true() {
        for (scenario, until, id) in [
            ("rolling-update", 60, LoopId::ReplicaSet),
            ("rolling-update", 60, LoopId::Deployment),
            ("rolling-update", 60, LoopId::Scheduler),
            ("statefulset-stuck", 60, LoopId::StatefulSet),
            ("job-backoff", 60, LoopId::Job),
        ] {
            let (compared, wrong) = compared_though_fresh(scenario, until);
            assert_eq!(wrong, Vec::<String>::new(), "{scenario}");
            let of_loop = compared.iter().filter(|one| **one == id).count();
            assert!(of_loop >= 3, "{scenario}: {of_loop} passes of {id:?}");
        }
    }

    #[test]
    fn an_edge_triggered_loop_that_was_never_told_is_shown_what_is_true() {
        let mut session = Session::open_shipped("lost-event", Some(7));
        session.seek(Time::from_secs(20));
        session.act("kubectl scale deployment web --replicas=4", None, In::Both);
        session.seek(Time::from_secs(28));
        let filter =
            PassFilter { id: Some(LoopId::ReplicaSet), lane: Some(LaneId::Edge), idle: false };
        let rows = session.passes(filter, 50, 0);
        let scaled = rows.iter().find(|row| row.pass.started > Time::from_secs(20));
        let scaled = scaled.expect("it was told of the new size");
        // It counts the pod that was deleted behind its back.
        assert_eq!(scaled.pass.sees, Fact::Count(3));
        assert_eq!(truth(session.run(), LaneId::Edge, scaled.pass.number), Some(Fact::Count(2)));
    }

    #[test]
    fn idle_passes_are_listed_on_demand_only() {
        let session = after_a_deletion();
        let busy = session.passes(PassFilter::default(), 500, 0);
        let all = session.passes(PassFilter { idle: true, ..PassFilter::default() }, 500, 0);
        assert!(all.len() > busy.len());
        assert!(busy.windows(2).all(|pair| pair[0].pass.started <= pair[1].pass.started));
    }
}
