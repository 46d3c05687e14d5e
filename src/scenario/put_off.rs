//! A console line that was put off, as whoever typed it sees it: what it was put off to, and from
//! its moment on what it answers, or goes on printing (`follow.rs`). As there, nothing of this is
//! part of the run: it is told by what the run has done at the moment that is shown.

use crate::kernel::Time;
use crate::world::LaneId;

use super::follow::{Followed, Follower};
use super::run::{Input, Run};
use super::schedule;

/// A line that was put off, in one lane.
#[derive(Clone, Debug)]
pub struct PutOff {
    lane: LaneId,
    input: Input,
    /// What it goes on printing, and of which course of the run.
    follower: Option<((u64, u64), Follower)>,
    /// When somebody ended it.
    stopped: Option<Time>,
}

impl PutOff {
    /// The line that was given last, if it is this one, and was put off.
    pub fn last(run: &Run, lane: LaneId, at: Time, line: &str) -> Option<PutOff> {
        let input = run.inputs().last()?;
        let is_it = input.at == at && input.given == run.now() && input.line == line;
        let of_lane = input.lanes.includes(lane);
        let put_off = PutOff { lane, input: input.clone(), follower: None, stopped: None };
        (is_it && of_lane).then_some(put_off)
    }

    /// In which lane.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// Ends what it goes on printing, now. Before its moment there is nothing to end.
    pub fn stop(&mut self, run: &Run) {
        if run.now() >= self.input.at {
            self.stopped = self.stopped.into_iter().chain([run.now()]).min();
            if let Some((_, follower)) = &mut self.follower {
                follower.stop(run);
            }
        }
    }

    /// The run is another one: what was told counts no more.
    pub fn forget_told(&mut self) {
        self.follower = None;
    }

    /// What it has printed at the moment that is shown. A line that was taken back, or that belongs
    /// to another future, is never done.
    pub fn look(&mut self, run: &Run) -> Followed {
        let said = format!("{} {}\n", schedule::moment(self.input.at), self.input.line);
        let number = run.inputs().iter().position(|input| *input == self.input);
        let done = number.filter(|_| self.input.at <= run.now());
        let output = done.and_then(|number| run.output(false, number, self.lane));
        let (Some(number), Some(output)) = (done, output) else {
            return Followed { text: said.into(), ..Followed::default() };
        };
        match self.follow(run, number) {
            Some(told) => Followed { text: (said + &told.text).into(), ..told },
            None => {
                let text = said + &output.text;
                Followed { text: text.into(), is_open: false, error: output.error }
            }
        }
    }

    fn follow(&mut self, run: &Run, number: usize) -> Option<Followed> {
        let course = run.course();
        if self.follower.as_ref().is_none_or(|(of, _)| *of != course) {
            let (input, before) = (&self.input, run.before(false, number, self.lane)?);
            let (line, stdin) = (input.line.as_str(), input.stdin.as_deref());
            let moment = (input.at, before.revision);
            let mut follower = Follower::enter_at(run, self.lane, line, stdin, moment)?;
            if let Some(stopped) = self.stopped {
                follower.stop_at(stopped);
            }
            self.follower = Some((course, follower));
        }
        self.follower.as_mut().map(|(_, follower)| follower.look(run))
    }
}
