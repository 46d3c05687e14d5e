//! Moments of a run that are kept, so that going to any other is a replay from the nearest. They
//! lie evenly by *work* (steps that the worlds took), not by time: a rollout of a second may be
//! more to replay than an idle hour. Their number and their weight are bounded; at a bound every
//! other one goes and the space between them doubles, so that a replay is at most one share of the
//! whole run wherever it begins.

use crate::kernel::Time;
use crate::world::{Simulation, Verdict};

/// Steps of the worlds between two checkpoints of a short run.
const WORK_BETWEEN: u64 = 500;
/// Checkpoints kept.
const KEPT_MAX: usize = 200;
/// Objects that all checkpoints may refer to together. They are shared, so each is a few words in
/// the store and in every cache.
const OBJECTS_MAX: usize = 150_000;
/// However many objects there are, so many are kept: the replay has to end.
const KEPT_MIN: usize = 12;

/// A moment that is kept.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    /// The clusters.
    pub simulation: Simulation,
    /// Which step of the script comes next.
    pub next_script: usize,
    /// Which input of a person comes next.
    pub next_input: usize,
    /// How much was told of each lane, and how many watch events had arrived.
    pub past: Vec<(usize, usize)>,
    /// The verdict of each.
    pub verdicts: Vec<Verdict>,
}

impl Checkpoint {
    fn at(&self) -> Time {
        self.simulation.now()
    }

    fn objects(&self) -> usize {
        self.simulation.lanes.iter().map(|lane| lane.world.store().len()).sum()
    }
}

/// The work of all lanes since their start.
pub(super) fn work(simulation: &Simulation) -> u64 {
    simulation.lanes.iter().map(|lane| lane.world.steps()).sum()
}

/// The checkpoints of a run, oldest first. The first is its start.
#[derive(Clone, Debug)]
pub(super) struct Checkpoints {
    kept: Vec<Checkpoint>,
    objects: usize,
    between: u64,
}

impl Default for Checkpoints {
    fn default() -> Checkpoints {
        Checkpoints { kept: Vec::new(), objects: 0, between: WORK_BETWEEN }
    }
}

impl Checkpoints {
    /// Whether so much was done since the newest that another is worth its room.
    pub fn is_due(&self, simulation: &Simulation) -> bool {
        let Some(newest) = self.kept.last() else { return true };
        let done = work(simulation).saturating_sub(work(&newest.simulation));
        done >= self.between && newest.at() < simulation.now()
    }

    /// Keeps one that is newer than all others.
    pub fn keep(&mut self, checkpoint: Checkpoint) {
        self.objects += checkpoint.objects();
        self.kept.push(checkpoint);
        let too_many = |own: &Checkpoints| {
            own.kept.len() > KEPT_MAX || own.objects > OBJECTS_MAX && own.kept.len() > KEPT_MIN
        };
        while too_many(self) {
            self.thin();
        }
    }

    fn thin(&mut self) {
        self.between = self.between.saturating_mul(2);
        let (between, mut last) = (self.between, None::<u64>);
        self.kept.retain(|checkpoint| {
            let done = work(&checkpoint.simulation);
            let far = last.is_none_or(|last| done.saturating_sub(last) >= between);
            if far {
                last = Some(done);
            }
            far
        });
        self.count();
    }

    fn count(&mut self) {
        self.objects = self.kept.iter().map(Checkpoint::objects).sum();
    }

    /// The newest before `to` (at `to` itself inputs may have been done already), or the first.
    pub fn before(&self, to: Time) -> Option<&Checkpoint> {
        let after = self.kept.partition_point(|checkpoint| checkpoint.at() < to);
        self.kept.get(after.saturating_sub(1))
    }

    /// Forgets those that do not belong to the run any more, the start never. What is left may be
    /// a short run again.
    pub fn retain(&mut self, belongs: impl Fn(Time) -> bool) {
        self.kept.retain(|checkpoint| checkpoint.at() == Time::ZERO || belongs(checkpoint.at()));
        self.count();
        let done = self.kept.last().map_or(0, |newest| work(&newest.simulation));
        while self.between > WORK_BETWEEN && done / (self.between / 2) < KEPT_MAX as u64 / 2 {
            self.between /= 2;
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The most work between two of them that follow each other.
    #[cfg(test)]
    pub fn widest(&self) -> u64 {
        let pairs = self.kept.windows(2);
        let widths = pairs.map(|pair| work(&pair[1].simulation) - work(&pair[0].simulation));
        widths.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::scenario::{Run, Shipped};

    fn run_to(seconds: u64) -> Run {
        let scenario = Arc::new(Shipped::default_one().load());
        let mut run = Run::new(scenario, 7, Vec::new());
        run.run_until(Time::from_secs(seconds), u64::MAX);
        run
    }

    /// As `count` checkpoints of a long run lie.
    fn many(count: u64) -> Checkpoints {
        let mut run = run_to(1);
        let mut checkpoints = Checkpoints::default();
        for _ in 0..count {
            let before = work(run.simulation());
            while work(run.simulation()) < before + 20 {
                let next = run.next_time().expect("upkeep never ends");
                run.step(next);
            }
            // So that few steps stand for many.
            checkpoints.between = checkpoints.between.min(20 * count);
            if checkpoints.kept.is_empty() {
                checkpoints.between = 20;
            }
            if checkpoints.is_due(run.simulation()) {
                checkpoints.keep(Checkpoint {
                    simulation: run.simulation().clone(),
                    next_script: 0,
                    next_input: 0,
                    past: Vec::new(),
                    verdicts: Vec::new(),
                });
            }
        }
        checkpoints
    }

    #[test]
    fn a_long_run_keeps_a_bounded_number_that_lie_evenly() {
        let checkpoints = many(1_500);
        assert!((KEPT_MAX / 2..=KEPT_MAX).contains(&checkpoints.len()), "{}", checkpoints.len());
        let whole = 1_500 * 20;
        let share = checkpoints.widest() * KEPT_MAX as u64 / whole;
        assert!(share <= 4, "the longest replay is {share} even shares");
    }

    #[test]
    fn the_nearest_is_before_the_moment_and_the_start_is_never_forgotten() {
        let mut checkpoints = many(40);
        let (first, last) = (checkpoints.kept[0].at(), checkpoints.kept[39].at());
        assert_eq!(checkpoints.before(last).map(Checkpoint::at), Some(checkpoints.kept[38].at()));
        assert_eq!(checkpoints.before(Time::ZERO).map(Checkpoint::at), Some(first));
        checkpoints.retain(|at| at < last);
        assert_eq!(checkpoints.len(), 39);
    }
}
