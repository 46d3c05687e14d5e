//! What is new in the log for somebody who hears it line by line, and what of it is left out where
//! more comes than can be said.

use std::collections::VecDeque;
use std::mem::discriminant;

use super::log::{Happening, LaneId, LogLine};

/// Lines that wait to be said, at most; a sentence takes a second or two.
const WAITING_MAX: usize = 4;

/// The lines that were not in the log when it was heard last. Not by their moment alone: of two
/// lines of one moment the second can come after the first was heard.
pub fn news<'a>(heard: &[LogLine], log: &'a [LogLine]) -> Vec<&'a LogLine> {
    // What is older was told, and fell out of a log of a limited length.
    let Some(oldest) = heard.first().map(|line| line.at) else { return log.iter().collect() };
    let is_new = |line: &&LogLine| {
        let from = heard.partition_point(|old| old.at < line.at);
        let then = heard[from..].iter().take_while(|old| old.at == line.at);
        line.at >= oldest && !then.into_iter().any(|old| is_same(old, line))
    };
    log.iter().filter(is_new).collect()
}

/// Whether a line is another's, perhaps with other numbers: those of a verdict go on while it
/// holds, and a difference has more and more that followed from it.
fn is_same(one: &LogLine, other: &LogLine) -> bool {
    one.lane == other.lane
        && match (&one.what, &other.what) {
            (Happening::Verdict(one), Happening::Verdict(other)) => {
                discriminant(one) == discriminant(other)
            }
            (Happening::Divergence(one), Happening::Divergence(other)) => one.pass == other.pass,
            (one, other) => one == other,
        }
}

/// What waits to be said. Of too much the oldest is left out, but not what a lane has come to, as
/// long as anything else can be.
#[derive(Clone, Debug, Default)]
pub struct Waiting(VecDeque<(Option<LaneId>, String)>);

impl Waiting {
    /// Takes in a sentence; `verdict_of` is the lane if it is a verdict, which makes its earlier
    /// ones idle.
    pub fn push(&mut self, verdict_of: Option<LaneId>, sentence: String) {
        self.0.retain(|(earlier, _)| earlier.is_none() || *earlier != verdict_of);
        self.0.push_back((verdict_of, sentence));
        if self.0.len() > WAITING_MAX {
            let dropped = self.0.iter().position(|(verdict_of, _)| verdict_of.is_none());
            self.0.remove(dropped.unwrap_or_default());
        }
    }

    /// What is to be said next.
    pub fn pop(&mut self) -> Option<String> {
        self.0.pop_front().map(|(_, sentence)| sentence)
    }

    /// Leaves all out.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::view::{Session, VerdictView};

    /// All that is news from the start of a scenario to a moment, heard pass by pass.
    fn heard_pass_by_pass(scenario: &str, from: u64, to: u64) -> Vec<LogLine> {
        let mut session = Session::open_shipped(scenario, Some(7));
        session.seek(Time::from_secs(from));
        let mut heard = session.log(80);
        let mut all = Vec::new();
        while session.now() < Time::from_secs(to) {
            let before = session.now();
            session.step_forward();
            let log = session.log(80);
            all.extend(news(&heard, &log).into_iter().cloned());
            heard = log;
            if session.now() == before {
                break;
            }
        }
        all
    }

    #[test]
    fn what_both_lanes_came_to_is_news() {
        let all = heard_pass_by_pass("lost-event", 9, 40);
        let last_of = |lane: LaneId| {
            let verdicts = all.iter().filter(|line| line.lane == Some(lane)).rev();
            verdicts.into_iter().find_map(|line| match &line.what {
                Happening::Verdict(verdict) => Some(verdict.clone()),
                _ => None,
            })
        };
        assert!(matches!(last_of(LaneId::Edge), Some(VerdictView::Stuck { .. })));
        assert!(matches!(last_of(LaneId::Level), Some(VerdictView::Converged { .. })));
    }

    #[test]
    fn nothing_is_news_twice() {
        let all = heard_pass_by_pass("rolling-update", 0, 30);
        assert!(all.len() > 10);
        for (index, line) in all.iter().enumerate() {
            assert!(
                !all[..index].iter().any(|earlier| is_same(earlier, line) && earlier.at == line.at)
            );
        }
    }

    #[test]
    fn of_too_much_the_verdicts_are_kept_and_of_a_lane_only_its_last() {
        let mut waiting = Waiting::default();
        waiting.push(Some(LaneId::Edge), "edge: converging".to_owned());
        waiting.push(Some(LaneId::Edge), "edge: stuck".to_owned());
        waiting.push(Some(LaneId::Level), "level: converging".to_owned());
        for pass in 0..5 {
            waiting.push(None, format!("pass {pass}"));
        }
        let said: Vec<String> = std::iter::from_fn(|| waiting.pop()).collect();
        assert_eq!(said, ["edge: stuck", "level: converging", "pass 3", "pass 4"]);
    }
}
