//! How much an API server takes at once: seats that requests hold while they are served, and a
//! queue before them. What finds both full is sent away with 429 and `Retry-After`, and client-go
//! asks again. A model of API Priority and Fairness with one priority level and one queue, served
//! in order:
//! <https://kubernetes.io/docs/concepts/cluster-administration/flow-control/>. Left out: flows and
//! their fairness, exempt requests, lists that hold more than one seat, watches (which hold a seat
//! only while they begin), and the time a request may wait at most.
//!
//! A cluster has such a limit only if its scenario gives one (`cluster.apiServer`). Without, any
//! number of requests is served in no time but the network's. What kubectl asks is not counted: no
//! time passes while a line runs.

use std::collections::VecDeque;
use std::time::Duration;

use crate::kernel::Time;

/// What client-go waits when a server that is too busy sends it away: its `Retry-After`.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often client-go asks again before it gives up (`maxRetries` of `rest.Request`).
pub(super) const RETRIES_MAX: u8 = 10;
/// Seats that a limit may have.
pub const SEATS_MAX: u16 = 2_000;
/// Requests that a limit may let wait.
pub const QUEUE_MAX: u32 = 20_000;

/// How much an API server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimit {
    /// Requests that are served at the same time.
    pub seats: u16,
    /// Requests that may wait for a seat.
    pub queue: u32,
    /// How long one holds its seat.
    pub service: Duration,
}

/// The seats of one API server, and who waits for them.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    limit: ServerLimit,
    /// When each will be free.
    free: Vec<Time>,
    /// When those that wait begin to be served, in order.
    starts: VecDeque<Time>,
    /// Requests sent away, since the start.
    refused: u64,
}

impl Seats {
    pub fn new(limit: ServerLimit) -> Seats {
        let free = vec![Time::ZERO; usize::from(limit.seats.clamp(1, SEATS_MAX))];
        Seats { limit, free, starts: VecDeque::new(), refused: 0 }
    }

    /// Takes a seat, now or when one is free: says when the request is done. None: there are too
    /// many before it.
    pub fn admit(&mut self, now: Time) -> Option<Time> {
        self.forget(now);
        let seat = self.free.iter_mut().min()?;
        if *seat > now && self.starts.len() >= self.limit.queue as usize {
            self.refused += 1;
            return None;
        }
        let start = now.max(*seat);
        *seat = start + self.limit.service;
        let done = *seat;
        if start > now {
            self.starts.push_back(start);
        }
        Some(done)
    }

    fn forget(&mut self, now: Time) {
        while self.starts.front().is_some_and(|start| *start <= now) {
            self.starts.pop_front();
        }
    }

    /// How many wait for a seat at a moment.
    pub fn waiting(&self, now: Time) -> usize {
        self.starts.len() - self.starts.partition_point(|start| *start <= now)
    }

    /// How many were sent away since the start.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn seats(seats: u16, queue: u32) -> Seats {
        Seats::new(ServerLimit { seats, queue, service: Duration::from_millis(10) })
    }

    #[test]
    fn who_finds_a_seat_is_served_at_once_and_the_next_one_waits_its_turn() {
        let mut seats = seats(2, 10);
        let done: Vec<_> = (0..5).map(|_| seats.admit(ms(100))).collect();
        let expected = [110, 110, 120, 120, 130].map(|at| Some(ms(at)));
        assert_eq!(done, expected);
        assert_eq!(seats.waiting(ms(100)), 3);
        assert_eq!(seats.waiting(ms(110)), 1, "two of them were let in");
        assert_eq!(seats.admit(ms(200)), Some(ms(210)), "nobody is there any more");
    }

    #[test]
    fn who_finds_the_queue_full_is_sent_away_and_takes_no_seat() {
        let mut seats = seats(1, 2);
        assert_eq!([(); 4].map(|()| seats.admit(ms(0)).is_some()), [true, true, true, false]);
        assert_eq!(seats.refused(), 1);
        assert_eq!(seats.admit(ms(10)), Some(ms(40)), "one was let in, so there is room for one");
    }
}
