//! Knobs that are turned while a process runs. Most take effect at once; another way of being
//! triggered is another program, so the process restarts with it.

use std::time::Duration;

use crate::kernel::Time;

use super::ControllerId;
use super::fault::Target;
use super::knob::{KnobChange, Manner};
use super::options::{Flavour, Knobs};
use super::process::Process;
use super::record::Cause;
use super::step::Step;
use super::world::World;

impl World {
    /// Turns knobs of all processes that a target names, also of those that wait to lead.
    pub(super) fn turn_knobs(&mut self, target: &Target, change: &KnobChange) {
        for id in self.named(target) {
            self.turn_knobs_of(id, change);
        }
    }

    fn turn_knobs_of(&mut self, id: ControllerId, change: &KnobChange) {
        let lane = self.options.flavour;
        let Some(process) = self.processes.get(&id) else { return };
        let before = process.knobs;
        let mut knobs = before;
        change.apply(&mut knobs);
        let flavour = flavour_in(lane, id, &knobs);
        let others = before.poll.is_zero() != knobs.poll.is_zero() || change.manner.is_some();
        let becomes_another = others && process.manner() != Manner::of(flavour, &knobs);
        let restarts = process.alive && becomes_another;
        if restarts {
            self.kill(id);
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        (process.knobs, process.flavour) = (knobs, flavour);
        let limits = |k: &Knobs| (k.backoff_base, k.backoff_max, k.qps, k.burst);
        if limits(&before) != limits(&knobs) {
            process.limiter = knobs.limiter();
        }
        process.queue.merge(knobs.dedup);
        if restarts {
            self.start(id);
        } else if before.resync_period != knobs.resync_period || before.poll != knobs.poll {
            self.forget_looks(id);
            self.schedule_resync(id);
            self.schedule_poll(id, knobs.poll);
        }
        self.pump(id);
    }

    /// The flavour of a controller with these knobs.
    pub(super) fn flavour_of(&self, id: ControllerId, knobs: &Knobs) -> Flavour {
        flavour_in(self.options.flavour, id, knobs)
    }

    /// What was due by the old periods.
    fn forget_looks(&mut self, id: ControllerId) {
        self.agenda.revise(|entry| match entry.what {
            Step::Resync(of, _) | Step::Poll(of, _) => of != id,
            _ => true,
        });
    }

    /// Sets the moment of the next look of a process that changes do not wake. One that has not
    /// yet listed everything sets it when it has.
    pub(super) fn schedule_poll(&mut self, id: ControllerId, after: Duration) {
        let runs = |process: &&Process| process.alive && process.unsynced == 0;
        let Some(process) = self.processes.get(&id).filter(runs) else { return };
        if !process.knobs.poll.is_zero() && process.flavour == Flavour::Level {
            let (at, epoch): (Time, u32) = (self.now + after, process.epoch);
            self.put(at, Step::Poll(id, epoch));
        }
    }

    /// A process that changes do not wake looks at all that its cache holds.
    pub(super) fn poll(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get(&id) else { return };
        let period = process.knobs.poll;
        self.replay_as(id, &Cause::Poll);
        self.schedule_poll(id, period);
    }

    /// Those of the processes whose manner is not that of their lane. A resync alone makes no other
    /// manner of one: the scenario says where there is one, and the stage shows it as it comes.
    pub fn others(&self) -> impl Iterator<Item = (ControllerId, Manner)> + '_ {
        let lane = self.options.flavour;
        self.processes.values().filter_map(move |process| {
            let manner = process.manner();
            let usual = match lane {
                Flavour::Edge if process.id.has_flavours() => Manner::Edge,
                _ => Manner::Level,
            };
            let resyncs_too = lane == Flavour::Edge && manner == Manner::EdgeResync;
            (manner != usual && !resyncs_too).then_some((process.id, manner))
        })
    }
}

fn flavour_in(lane: Flavour, id: ControllerId, knobs: &Knobs) -> Flavour {
    match id.has_flavours() {
        true => knobs.flavour.unwrap_or(lane),
        false => Flavour::Level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::lab::{self, delete_one_pod, inflict, run_for};
    use crate::world::{Occurrence, PassRecord, Verdict};
    use std::sync::Arc;

    /// Three pods that run, and nothing told of how they came.
    fn cluster(flavour: Flavour) -> World {
        let mut world = lab::cluster(flavour, 3);
        world.take_records();
        world
    }

    fn passes(world: &mut World) -> Vec<Arc<PassRecord>> {
        let records = world.take_records().into_iter();
        records
            .filter_map(|record| match record.what {
                Occurrence::PassEnded(pass) if pass.controller == ControllerId::ReplicaSet => {
                    Some(pass)
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_loop_that_polls_is_woken_by_nobody_and_waits_until_its_next_look() {
        let mut world = cluster(Flavour::Level);
        inflict(&mut world, "knob replicaset flavour=level-polling poll=30s");
        run_for(&mut world, 5);
        let looked = passes(&mut world);
        assert_eq!(looked.iter().map(|pass| &pass.woken_by).collect::<Vec<_>>(), [&Cause::Poll]);
        delete_one_pod(&mut world);
        run_for(&mut world, 5);
        let waits = matches!(world.verdict(), Verdict::Waiting { what: "poll", .. });
        assert!(waits, "{:?}", world.verdict());
        assert_eq!(passes(&mut world), []);
        run_for(&mut world, 30);
        assert_eq!(world.verdict(), Verdict::Converged);
        let others: Vec<_> = world.others().collect();
        assert_eq!(others, [(ControllerId::ReplicaSet, Manner::LevelPolling)]);
    }

    #[test]
    fn a_loop_that_missed_a_change_finds_it_when_it_is_made_level_triggered() {
        let mut world = cluster(Flavour::Edge);
        inflict(&mut world, "fault drop to=replicaset kind=Pod type=DELETED");
        delete_one_pod(&mut world);
        run_for(&mut world, 20);
        assert!(matches!(world.verdict(), Verdict::Stuck { .. }), "{:?}", world.verdict());
        inflict(&mut world, "fault knob replicaset flavour=level");
        let told = world.take_records();
        let id = ControllerId::ReplicaSet;
        let restarted = [Occurrence::Killed(id), Occurrence::Started(id)];
        assert!(restarted.iter().all(|what| told.iter().any(|record| record.what == *what)));
        run_for(&mut world, 20);
        assert_eq!(world.verdict(), Verdict::Converged);
    }

    #[test]
    fn the_same_flavour_again_or_another_number_restarts_nobody() {
        let mut world = cluster(Flavour::Level);
        inflict(&mut world, "knob replicaset flavour=level workers=1 resync=5s qps=1");
        let told = world.take_records();
        assert!(!told.iter().any(|record| matches!(record.what, Occurrence::Killed(_))));
        run_for(&mut world, 6);
        assert_eq!(passes(&mut world)[0].woken_by, Cause::Resync);
        inflict(&mut world, "knob replicaset resync=0s");
        run_for(&mut world, 20);
        assert_eq!(passes(&mut world), []);
    }

    #[test]
    fn a_knob_turned_on_a_dead_or_starting_process_gives_it_no_second_chain_of_looks() {
        let looks = |world: &World| {
            let due = world.agenda.iter();
            due.filter(|entry| {
                let what = &entry.what;
                matches!(what, Step::Resync(id, _) | Step::Poll(id, _)
                    if *id == ControllerId::ReplicaSet)
            })
            .count()
        };
        for (line, expected) in [("resync=5s", 1), ("flavour=level-polling poll=5s", 1)] {
            let mut world = cluster(Flavour::Level);
            inflict(&mut world, "kill replicaset");
            inflict(&mut world, &format!("knob replicaset {line}"));
            assert_eq!(looks(&world), 0, "{line}: the dead look at nothing");
            run_for(&mut world, 1);
            inflict(&mut world, "restart replicaset");
            let again = line.replace("5s", "6s");
            inflict(&mut world, &format!("knob replicaset {again}"));
            run_for(&mut world, 20);
            assert_eq!(looks(&world), expected, "{line}");
        }
    }

    #[test]
    fn without_dedup_every_event_is_a_pass() {
        let count = |line: &str| {
            let mut world = cluster(Flavour::Level);
            inflict(&mut world, line);
            let adds = |world: &World| world.process(ControllerId::ReplicaSet).unwrap().adds;
            let before = adds(&world);
            (0..3).for_each(|_| delete_one_pod(&mut world));
            run_for(&mut world, 20);
            assert_eq!(world.verdict(), Verdict::Converged);
            (passes(&mut world).len() as u64, adds(&world) - before)
        };
        let (merged, adds) = count("knob replicaset dedup=true workers=1");
        assert!(merged < adds, "{merged} passes for {adds} events");
        let (every, adds) = count("knob replicaset dedup=false workers=1");
        assert_eq!(every, adds);
    }

    #[test]
    fn a_key_that_fails_waits_as_long_as_the_back_off_says() {
        let mut world = cluster(Flavour::Level);
        inflict(&mut world, "knob replicaset backoffBase=2s backoffMax=3s");
        inflict(&mut world, "fail from=replicaset verb=create with=internal count=3");
        delete_one_pod(&mut world);
        run_for(&mut world, 20);
        let waits = passes(&mut world).into_iter().filter_map(|pass| pass.comes_back.clone());
        let waits: Vec<_> = waits.map(|(after, _)| after.as_secs()).collect();
        assert_eq!(waits, [2, 3, 3]);
        assert_eq!(world.verdict(), Verdict::Converged);
    }
}
