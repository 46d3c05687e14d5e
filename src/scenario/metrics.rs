//! What is measured of a lane while it runs: a row every so often, for plots and tables. Like the
//! story it is kept outside the worlds, so a checkpoint stays cheap and going back forgets nothing.

use std::time::Duration;

use crate::kernel::Time;
use crate::world::World;

/// The least time between two samples of a fresh run.
const INTERVAL: Duration = Duration::from_millis(100);
/// Samples kept of a lane. At the limit every other one goes, and the interval doubles.
const SAMPLES_MAX: usize = 4_096;

/// One row of measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The most items that waited in all queues together since the sample before.
    pub queued: u64,
    /// Items put into queues, since the start.
    pub adds: u64,
    /// How many of these fell together with what waited already.
    pub merges: u64,
    /// Passes, since the start.
    pub passes: u64,
    /// Passes that ended in an error, since the start.
    pub retries: u64,
    /// Requests that changed nothing, since the start.
    pub reads: u64,
    /// Requests that changed something, since the start.
    pub writes: u64,
    /// Watch events delivered, since the start.
    pub watch_events: u64,
    /// How old the oldest cache is: for how long a change is made that one has not heard of.
    pub stale: Duration,
    /// Pods wanted by all workloads together.
    pub wanted: i64,
    /// Pods that are truly ready.
    pub ready: i64,
    /// The most requests that waited for a seat at the API server since the sample before.
    pub waiting: u64,
    /// Requests that it has sent away, since the start.
    pub refused: u64,
}

/// The samples of a lane, oldest first.
#[derive(Clone, Debug)]
pub struct Series {
    samples: Vec<Sample>,
    interval: Duration,
    peak: u64,
    /// The same for the API server's queue.
    server_peak: u64,
}

impl Default for Series {
    fn default() -> Series {
        Series { samples: Vec::new(), interval: INTERVAL, peak: 0, server_peak: 0 }
    }
}

impl Series {
    /// The samples up to `now`.
    pub fn until(&self, now: Time) -> &[Sample] {
        let end = self.samples.partition_point(|sample| sample.at <= now);
        self.samples.get(..end).unwrap_or_default()
    }

    /// Looks at a world that has just moved; while replaying, what is there already stays.
    pub fn observe(&mut self, world: &World) {
        let last = self.samples.last().map(|sample| sample.at);
        if last.is_some_and(|last| world.now() <= last) {
            return;
        }
        let waiting = world.processes().map(|process| process.waiting() as u64).sum();
        self.peak = self.peak.max(waiting);
        self.server_peak = self.server_peak.max(world.server_load().0);
        if last.is_none_or(|last| world.now().since(last) >= self.interval) {
            let mut sample = measure(world, std::mem::take(&mut self.peak));
            sample.waiting = std::mem::take(&mut self.server_peak);
            self.samples.push(sample);
            self.thin();
        }
    }

    fn thin(&mut self) {
        if self.samples.len() < SAMPLES_MAX {
            return;
        }
        let mut number = 0;
        self.samples.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.interval *= 2;
    }

    /// Forgets what comes after `now`: it will be another future.
    pub fn forget_after(&mut self, now: Time) {
        self.samples.retain(|sample| sample.at <= now);
    }
}

fn measure(world: &World, queued: u64) -> Sample {
    let totals = world.totals();
    let sum = |f: fn(&crate::world::Process) -> u64| world.processes().map(f).sum();
    let (wanted, ready) = world.wanted_and_ready();
    Sample {
        at: world.now(),
        queued,
        adds: sum(|process| process.adds),
        merges: sum(|process| process.merges),
        passes: totals.passes,
        retries: totals.retries,
        reads: totals.calls.saturating_sub(totals.writes),
        writes: totals.writes,
        watch_events: totals.watch_events,
        stale: world.oldest_unheard().map_or(Duration::ZERO, |sent| world.now().since(sent)),
        wanted,
        ready,
        waiting: 0,
        refused: world.server_load().1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Run, Shipped};
    use crate::world::LaneId;
    use std::sync::Arc;

    fn run_to(seconds: u64) -> Run {
        let scenario = Arc::new(Shipped::default_one().load());
        let seed = scenario.seed();
        let mut run = Run::new(scenario, seed, Vec::new());
        run.run_until(Time::from_secs(seconds), u64::MAX);
        run
    }

    #[test]
    fn counts_never_fall_and_moments_rise() {
        let run = run_to(40);
        for lane in [LaneId::Edge, LaneId::Level] {
            let samples = run.samples(lane);
            assert!(samples.len() > 10, "{}", samples.len());
            for pair in samples.windows(2) {
                assert!(pair[0].at < pair[1].at);
                assert!(pair[0].writes <= pair[1].writes && pair[0].adds <= pair[1].adds);
            }
            assert!(samples.iter().any(|sample| sample.ready == 3 && sample.wanted == 3));
        }
    }

    #[test]
    fn going_back_keeps_the_samples_and_shows_those_of_the_past() {
        let mut run = run_to(40);
        let all = run.samples(LaneId::Level).to_vec();
        run.seek(Time::from_secs(20), u64::MAX);
        let past = run.samples(LaneId::Level).to_vec();
        assert!(past.len() < all.len() && all.starts_with(&past));
        run.seek(Time::from_secs(40), u64::MAX);
        assert_eq!(run.samples(LaneId::Level), all);
    }

    #[test]
    fn a_long_run_keeps_a_bounded_number() {
        let mut series = Series::default();
        for n in 0..3 * SAMPLES_MAX as u64 {
            series.samples.push(Sample { at: Time::from_secs(n), ..Sample::default() });
            series.thin();
        }
        assert!(series.samples.len() < SAMPLES_MAX);
        assert!(series.interval > INTERVAL);
    }
}
