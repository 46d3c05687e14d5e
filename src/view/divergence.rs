//! Divergence: the decisions that one lane made and the other did not. One is told only once the
//! other lane has settled after it, so that being later does not count as being different; and it
//! stays told, whatever comes after. What followed from a decision that is told already, and the
//! same decided again while nobody did anything, is its echo, and only counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::ObjectKey;
use crate::controllers::Deed;
use crate::kernel::Time;
use crate::scenario::{Entry, Run, Told};
use crate::world::{Cause, ControllerId, Lane, LaneId, Occurrence, PassRecord};

use super::build::{loop_id, pass_view};
use super::log::Divergence;
use super::passes::{ended, put_back_by};

/// Differing decisions that are told at most.
pub const DIVERGENCES_MAX: usize = 20;
/// Links of a chain that are followed to find out whether a decision is an echo.
const LINKS_MAX: usize = 64;

/// What is decided, about which object.
type Matter = (ControllerId, ObjectKey, Deed);

/// A decision that counts, with how much was decided in its matter up to and with it.
struct Decision<'a> {
    pass: &'a Arc<PassRecord>,
    count: u32,
    total: u32,
}

/// One lane, as far as it was computed.
struct Side<'a> {
    lane: &'a Lane,
    entries: &'a [Entry],
    matters: BTreeMap<Matter, Vec<Decision<'a>>>,
    /// The pass behind each revision.
    writers: BTreeMap<u64, &'a Arc<PassRecord>>,
    /// When the lane settled or stirred.
    turns: Vec<(Time, bool)>,
}

impl<'a> Side<'a> {
    fn of(run: &'a Run, id: LaneId) -> Option<Side<'a>> {
        let (lane, entries) = (run.lane(id)?, run.story(id));
        let (mut writers, mut turns) = (BTreeMap::new(), vec![(Time::ZERO, false)]);
        for entry in entries {
            match &entry.what {
                Told::World(Occurrence::PassEnded(pass)) => {
                    for revision in &pass.wrote {
                        writers.entry(*revision).or_insert(pass);
                    }
                }
                Told::Verdict(verdict) => {
                    let word = verdict.word();
                    turns.push((entry.at, ["stuck", "converged", "oscillating"].contains(&word)));
                }
                Told::World(_) => {}
            }
        }
        Some(Side { lane, entries, matters: decisions(entries), writers, turns })
    }

    /// When the lane first was settled at or after a moment.
    fn settled_after(&self, at: Time) -> Option<Time> {
        let next = self.turns.partition_point(|(turn, _)| *turn <= at);
        if next.checked_sub(1).and_then(|last| self.turns.get(last)).is_some_and(|turn| turn.1) {
            return Some(at);
        }
        self.turns.get(next..)?.iter().find(|(_, settled)| *settled).map(|(turn, _)| *turn)
    }

    /// How much was decided in a matter by a moment.
    fn total(&self, matter: &Matter, by: Time) -> u32 {
        let made = self.matters.get(matter).map_or(&[][..], Vec::as_slice);
        let until = made.partition_point(|decision| decision.pass.started <= by);
        until.checked_sub(1).and_then(|last| made.get(last)).map_or(0, |last| last.total)
    }

    /// The pass of this lane that answers the other lane's: of the same loop for the same key, and
    /// woken alike, before the lane had settled. None if it decided the same: then it answers an
    /// earlier one.
    fn counterpart(
        &self,
        pass: &PassRecord,
        deed: Deed,
        settled: Time,
    ) -> Option<&'a Arc<PassRecord>> {
        let since = match &pass.woken_by {
            Cause::Watch(_, _, trip) => trip.sent,
            _ => pass.started,
        };
        let found = self.entries.iter().filter_map(ended).find(|other| {
            let alike = match (&other.woken_by, &pass.woken_by) {
                (Cause::Watch(a, x, _), Cause::Watch(b, y, _)) => a == b && x.kind == y.kind,
                (a, b) => a == b,
            };
            alike
                && other.controller.role() == pass.controller.role()
                && other.key == pass.key
                && (since..=settled).contains(&other.started)
        });
        found.filter(|other| other.does.iter().all(|(own, _)| *own != deed))
    }

    /// The told decision from which a pass followed, if it did.
    fn echo_of(&self, pass: &PassRecord, told: &BTreeSet<u64>) -> Option<u64> {
        let mut behind = self.behind(pass);
        for _ in 0..LINKS_MAX {
            let pass = behind?;
            if told.contains(&pass.number) {
                return Some(pass.number);
            }
            behind = self.behind(pass);
        }
        None
    }

    fn behind(&self, pass: &PassRecord) -> Option<&'a Arc<PassRecord>> {
        match &pass.woken_by {
            Cause::Watch(_, _, trip) => self.writers.get(&trip.revision).copied(),
            _ => put_back_by(self.entries, pass),
        }
    }
}

/// The decisions of a lane that count: what the loops with flavours made, deleted or scaled.
fn decisions(entries: &[Entry]) -> BTreeMap<Matter, Vec<Decision<'_>>> {
    let mut found: BTreeMap<Matter, Vec<Decision>> = BTreeMap::new();
    // As it ended: a pass that asks first decides on the way.
    for pass in entries.iter().filter_map(ended).filter(|pass| pass.controller.has_flavours()) {
        for (deed, count) in &pass.does {
            let count = done(pass, *count);
            if count > 0 && !matches!(deed, Deed::Status | Deed::Read | Deed::Update) {
                let matter = (pass.controller.role(), pass.key.clone(), *deed);
                found.entry(matter).or_default().push(Decision { pass, count, total: 0 });
            }
        }
    }
    for made in found.values_mut() {
        made.sort_by_key(|decision| (decision.pass.started, decision.pass.number));
        let mut total = 0;
        for decision in made {
            total += decision.count;
            decision.total = total;
        }
    }
    found
}

/// How much of what a pass set out to do counts: of one that failed or died, what it had done.
fn done(pass: &PassRecord, count: u32) -> u32 {
    if pass.error.is_none() && !pass.crashed {
        return count;
    }
    count.min(u32::try_from(pass.wrote.len()).unwrap_or(u32::MAX))
}

/// The differing decisions of a run as far as it was computed, oldest first.
pub fn all(run: &Run) -> Vec<Divergence> {
    let (Some(edge), Some(level)) = (Side::of(run, LaneId::Edge), Side::of(run, LaneId::Level))
    else {
        return Vec::new();
    };
    let sides = [edge, level];
    let mut candidates: Vec<(usize, &Matter, &Decision)> = Vec::new();
    for (index, side) in sides.iter().enumerate() {
        let made = side.matters.iter();
        candidates.extend(made.flat_map(|(m, made)| made.iter().map(move |d| (index, m, d))));
    }
    candidates.sort_by_key(|(side, _, decision)| (decision.pass.started, *side));
    let mut beyond: BTreeMap<(usize, &Matter), u32> = BTreeMap::new();
    let mut told: [BTreeSet<u64>; 2] = Default::default();
    let mut found: Vec<Divergence> = Vec::new();
    let mut latest: BTreeMap<&Matter, usize> = BTreeMap::new();
    for (index, matter, decision) in candidates {
        let (own, other) = (&sides[index], &sides[1 - index]);
        let pass = decision.pass;
        let Some(settled) = other.settled_after(pass.started) else { continue };
        let before = decision.total - decision.count;
        let ahead = before.saturating_sub(other.total(matter, pass.started));
        // What was told of this matter already, as far as the other lane has not caught up.
        let known = beyond.entry((index, matter)).or_default();
        *known = (*known).min(ahead);
        let surplus = (decision.total - *known).saturating_sub(other.total(matter, settled));
        if surplus == 0 {
            continue;
        }
        *known += surplus;
        let root = own
            .echo_of(pass, &told[index])
            .and_then(|root| found.iter().position(|one| one.pass == (own.lane.id, root)));
        let again = latest.get(matter).copied().filter(|root| {
            found.get(*root).is_some_and(|root| !is_stirred(run, root.at, pass.started))
        });
        if let Some(root) = root.or(again).and_then(|root| found.get_mut(root)) {
            root.echoes += u32::from(root.pass != (own.lane.id, pass.number));
        } else if told[index].insert(pass.number) && found.len() < DIVERGENCES_MAX {
            latest.insert(matter, found.len());
            let counterpart = other.counterpart(pass, matter.2, settled);
            found.push(tell(run, own.lane, pass, counterpart.map(|pass| (other.lane, pass))));
        }
    }
    found
}

/// Whether somebody, or the scenario, did something after one moment and up to another.
fn is_stirred(run: &Run, after: Time, until: Time) -> bool {
    run.script().iter().chain(run.inputs()).any(|input| after < input.at && input.at <= until)
}

fn tell(
    run: &Run,
    lane: &Lane,
    pass: &Arc<PassRecord>,
    other: Option<(&Lane, &Arc<PassRecord>)>,
) -> Divergence {
    let own = Some(pass_view(&lane.world, pass));
    let other = other.map(|(lane, pass)| pass_view(&lane.world, pass));
    let (level, edge) = if lane.id == LaneId::Level { (own, other) } else { (other, own) };
    let faults = run.script().iter().chain(run.inputs());
    let because = faults
        .filter(|input| input.at <= pass.started && input.is_fault())
        .max_by_key(|input| input.at)
        .map(|input| input.line.as_str().into());
    Divergence {
        at: pass.started.max(Time::ZERO),
        controller: loop_id(pass.controller),
        object: pass.key.clone(),
        pass: (lane.id, pass.number),
        level,
        edge,
        echoes: 0,
        because,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::In;
    use crate::view::Session;

    const DELETE: &str = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";

    fn lost_event(secs: u64) -> Session {
        let mut session = Session::open_shipped("lost-event", Some(7));
        session.seek(Time::from_secs(secs));
        session
    }

    #[test]
    fn the_first_is_the_pass_that_the_other_lane_never_made() {
        let found = lost_event(60).divergences();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].level.is_some() && found[0].edge.is_none());
        assert!(found[0].because.as_ref().is_some_and(|line| line.starts_with("fault drop")));
    }

    #[test]
    fn what_both_lanes_do_after_the_first_is_no_further_difference() {
        let mut session = lost_event(60);
        session.act(DELETE, None, In::Both);
        session.seek(Time::from_secs(100));
        assert_eq!(session.divergences().len(), 1, "{:?}", session.divergences());
    }

    #[test]
    fn a_second_loss_is_a_second_difference() {
        let mut session = lost_event(60);
        session.act("fault drop to=replicaset kind=Pod type=DELETED", None, In::Both);
        session.act(DELETE, None, In::Both);
        session.seek(Time::from_secs(130));
        let found = session.divergences();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].at < Time::from_secs(60) && found[1].at > Time::from_secs(60));
    }

    #[test]
    fn what_was_done_in_one_lane_only_is_told_with_its_echoes_counted() {
        let mut session = Session::open_shipped("rolling-update", Some(7));
        session.seek(Time::from_secs(9));
        session.act("kubectl scale deploy web --replicas=5", None, In::Level);
        session.seek(Time::ZERO + std::time::Duration::from_millis(9_990));
        let found = session.divergences();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].echoes >= 1, "the ReplicaSet's creations follow: {found:?}");
        assert_eq!(found[0].pass.0, LaneId::Level);
    }

    #[test]
    fn lanes_that_decide_alike_do_not_differ() {
        for id in ["rolling-update", "node-lost", "job-backoff"] {
            let mut session = Session::open_shipped(id, None);
            session.seek(Time::from_secs(90));
            assert!(session.divergences().is_empty(), "{id}: {:?}", session.divergences());
        }
    }

    #[test]
    fn controllers_that_fight_for_ever_are_a_short_list() {
        let mut session = Session::open_shipped("autoscaler-against-gitops", None);
        session.seek(Time::from_secs(60));
        let found = session.divergences();
        assert!((1..=4).contains(&found.len()), "{}", found.len());
    }
}
