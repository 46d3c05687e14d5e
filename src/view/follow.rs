//! Console lines that go on printing as time goes on: each with what it has printed at the moment
//! that is shown.

use crate::scenario::{Followed, Follower, In};
use crate::world::LaneId;

use super::session::Session;

/// Lines that are kept; the oldest go first.
const KEPT: usize = 40;

/// The lines, numbered, oldest first.
#[derive(Default)]
pub(super) struct Followers {
    next: u64,
    lines: Vec<(u64, Vec<Follower>)>,
}

impl Followers {
    /// The run is another one.
    pub fn forget_told(&mut self) {
        self.lines.iter_mut().flat_map(|(_, lanes)| lanes).for_each(Follower::forget_told);
    }
}

impl Session {
    /// Follows a line that was just done, if it is one that goes on printing; its number.
    pub fn follow_line(&mut self, line: &str, stdin: Option<&str>, lanes: In) -> Option<u64> {
        let meant = self.run.lanes().iter().filter(|lane| lanes.includes(lane.id));
        let enter = |lane: &crate::world::Lane| Follower::enter(&self.run, lane.id, line, stdin);
        let followers: Vec<Follower> = meant.filter_map(enter).collect();
        if followers.is_empty() {
            return None;
        }
        let number = self.followers.next;
        self.followers.next += 1;
        self.followers.lines.push((number, followers));
        let surplus = self.followers.lines.len().saturating_sub(KEPT);
        self.followers.lines.drain(..surplus);
        Some(number)
    }

    /// What a line has printed in each lane; none if it is no longer known.
    pub fn followed(&mut self, number: u64) -> Option<Vec<(LaneId, Followed)>> {
        let run = &self.run;
        let (_, lanes) = self.followers.lines.iter_mut().find(|(own, _)| *own == number)?;
        Some(lanes.iter_mut().map(|follower| (follower.lane(), follower.look(run))).collect())
    }

    /// Ends a line, as Ctrl-C does; or all that are open.
    pub fn stop_following(&mut self, number: Option<u64>) {
        let run = &self.run;
        for (own, lanes) in &mut self.followers.lines {
            if number.is_none_or(|number| *own == number) {
                lanes.iter_mut().for_each(|follower| follower.stop(run));
            }
        }
    }
}
