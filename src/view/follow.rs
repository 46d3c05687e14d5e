//! Console lines that print as time goes on, each with what it has printed at the moment that is
//! shown: those that go on printing, and those that were put off.

use crate::scenario::{Followed, Follower, In, PutOff, Run, schedule};
use crate::world::LaneId;

use super::session::Session;

/// Lines that are kept; the oldest go first.
const KEPT: usize = 40;

/// The lines, numbered, oldest first.
#[derive(Default)]
pub(super) struct Followers {
    next: u64,
    lines: Vec<(u64, Vec<Printer>)>,
}

/// Somebody who prints in one lane.
enum Printer {
    /// From the moment on at which the line was typed.
    Now(Follower),
    /// From a later one on.
    Later(PutOff),
}

impl Printer {
    fn look(&mut self, run: &Run) -> (LaneId, Followed) {
        match self {
            Printer::Now(follower) => (follower.lane(), follower.look(run)),
            Printer::Later(line) => (line.lane(), line.look(run)),
        }
    }
}

impl Followers {
    /// The run is another one.
    pub fn forget_told(&mut self) {
        for printer in self.lines.iter_mut().flat_map(|(_, lanes)| lanes) {
            match printer {
                Printer::Now(follower) => follower.forget_told(),
                Printer::Later(line) => line.forget_told(),
            }
        }
    }
}

impl Session {
    /// Follows a line that was just done, if it is one that goes on printing, or just put off; its
    /// number.
    pub fn follow_line(&mut self, line: &str, stdin: Option<&str>, lanes: In) -> Option<u64> {
        let run = &self.run;
        let meant = run.lanes().iter().map(|lane| lane.id).filter(|lane| lanes.includes(*lane));
        let printers: Vec<Printer> = match schedule::read(line, run.now()) {
            Ok(Some((at, line))) => {
                let put_off = |lane| PutOff::last(run, lane, at, line).map(Printer::Later);
                meant.filter_map(put_off).collect()
            }
            _ => {
                let enter = |lane| Follower::enter(run, lane, line, stdin).map(Printer::Now);
                meant.filter_map(enter).collect()
            }
        };
        if printers.is_empty() {
            return None;
        }
        let number = self.followers.next;
        self.followers.next += 1;
        self.followers.lines.push((number, printers));
        let surplus = self.followers.lines.len().saturating_sub(KEPT);
        self.followers.lines.drain(..surplus);
        Some(number)
    }

    /// What a line has printed in each lane; none if it is no longer known.
    pub fn followed(&mut self, number: u64) -> Option<Vec<(LaneId, Followed)>> {
        let run = &self.run;
        let (_, lanes) = self.followers.lines.iter_mut().find(|(own, _)| *own == number)?;
        Some(lanes.iter_mut().map(|printer| printer.look(run)).collect())
    }

    /// Ends a line, as Ctrl-C does; or all that are open. One that was put off runs beside the
    /// others and is ended by its own number only.
    pub fn stop_following(&mut self, number: Option<u64>) {
        let run = &self.run;
        for (own, lanes) in &mut self.followers.lines {
            let meant = number == Some(*own);
            lanes.iter_mut().for_each(|printer| match printer {
                Printer::Now(follower) if meant || number.is_none() => follower.stop(run),
                Printer::Later(line) if meant => line.stop(run),
                _ => {}
            });
        }
    }
}
