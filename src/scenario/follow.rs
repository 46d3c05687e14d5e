//! Console lines that go on printing (`kubectl::Following`), for a run that goes back and forth.
//! What such a line has printed at the moment that is shown is told from the lane's own history of
//! changes: it is no part of the run, asks nothing of the world, and is the same whether the moment
//! was played to or jumped to. What was told is kept, so that going on costs the new changes only.
//!
//! A history is bounded (`apiserver::store`): where it does not reach back to the line, it is told
//! from the oldest change that is kept, and that is said.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp, custom};
use crate::apiserver::{ApiError, Commit, Reason, Request, Response};
use crate::kernel::Time;
use crate::kubectl::{Api, Following};
use crate::node::Written;
use crate::world::{LaneId, World};

use super::run::Run;

const LOST: &str = "# what changed before is no longer kept\n";

/// What a line has printed by now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Its output.
    pub text: Arc<str>,
    /// Whether more may come.
    pub is_open: bool,
    /// Whether it is over, with an error.
    pub error: bool,
}

/// A moment, with the last revision before it: at one moment several things can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(Time, u64);

impl Moment {
    fn of(commit: &Commit) -> Moment {
        Moment(commit.at, commit.revision)
    }
}

/// A line that goes on printing in one lane.
#[derive(Clone, Debug)]
pub struct Follower {
    lane: LaneId,
    line: String,
    stdin: Option<String>,
    entered: Moment,
    stopped: Option<Moment>,
    told: Option<Told>,
    first: Followed,
    /// What was last shown, and of how many lines.
    shown: Option<((usize, bool), Followed)>,
}

/// What was told of it up to a moment.
#[derive(Clone, Debug)]
struct Told {
    following: Following,
    lost: bool,
    seen: u64,
    at: Time,
    course: (u64, u64),
}

impl Follower {
    /// Follows a line that is entered now, if it is one that goes on.
    pub fn enter(run: &Run, lane: LaneId, line: &str, stdin: Option<&str>) -> Option<Follower> {
        let Moment(at, revision) = now(run, lane)?;
        Self::enter_at(run, lane, line, stdin, (at, revision))
    }

    /// The same for a line that was entered at an earlier moment, after this revision.
    pub(super) fn enter_at(
        run: &Run,
        lane: LaneId,
        line: &str,
        stdin: Option<&str>,
        (at, revision): (Time, u64),
    ) -> Option<Follower> {
        let entered = Moment(at, revision);
        let mut follower = Follower {
            lane,
            line: line.trim().to_string(),
            stdin: stdin.map(str::to_string),
            entered,
            stopped: None,
            told: None,
            first: Followed::default(),
            shown: None,
        };
        follower.told = Some(follower.begin(run)?);
        follower.first = follower.followed(false);
        Some(follower)
    }

    /// In which lane.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// Whether more may come, at the moment at which it was looked at.
    pub fn is_open(&self) -> bool {
        self.shown.as_ref().is_some_and(|(_, shown)| shown.is_open)
    }

    /// Whether it still waits for something at the moment at which it was looked at.
    pub fn is_waiting(&self) -> bool {
        let waits = |told: &Told| told.following.waits() && !told.following.is_over();
        self.told.as_ref().is_some_and(waits)
    }

    /// The run is another one: what was told counts no more.
    pub fn forget_told(&mut self) {
        (self.told, self.shown) = (None, None);
    }

    /// Ends it now, as Ctrl-C does; before the moment at which it was entered, at that moment.
    pub fn stop(&mut self, run: &Run) {
        let now = now(run, self.lane).map(|now| now.max(self.entered));
        self.stopped = self.stopped.into_iter().chain(now).min();
    }

    /// The same, after all that was done at a moment.
    pub(super) fn stop_at(&mut self, at: Time) {
        self.stopped = Some(Moment(at, u64::MAX).max(self.entered));
    }

    /// What it has printed at the moment that is shown; before it was entered, its first answer.
    pub fn look(&mut self, run: &Run) -> Followed {
        let now = run.now();
        if now < self.entered.0 {
            return Followed { is_open: false, ..self.first.clone() };
        }
        let course = run.course();
        let is_old = |told: &Told| told.course != course || now < told.at;
        if self.told.as_ref().is_none_or(is_old) || !self.go_on(run) {
            (self.told, self.shown) = (self.begin(run), None);
            self.go_on(run);
        }
        let is_stopped = self.stopped.is_some_and(|stopped| stopped.0 <= now);
        self.followed(is_stopped)
    }

    fn followed(&mut self, is_stopped: bool) -> Followed {
        let Some(told) = &self.told else { return self.first.clone() };
        let following = &told.following;
        let state = (following.printed(), following.is_over() || is_stopped);
        if let Some((_, shown)) = self.shown.as_ref().filter(|(of, _)| *of == state) {
            return shown.clone();
        }
        let mut text = if told.lost { LOST.to_string() } else { String::new() };
        text.push_str(&following.text());
        let breaks_off = is_stopped && !following.is_over();
        if breaks_off {
            text.push_str("^C\n");
        }
        let is_open = !following.is_over() && !is_stopped;
        let followed = Followed { text: text.into(), is_open, error: following.has_failed() };
        self.shown = Some((state, followed.clone()));
        followed
    }

    /// Begins anew, at the moment at which it was entered.
    fn begin(&self, run: &Run) -> Option<Told> {
        let world = &run.lane(self.lane)?.world;
        let past = Past::of(world, self.entered);
        let (seen, lost) = (past.revision, past.lost);
        let begin = || {
            let stdin = self.stdin.as_deref();
            Following::begin(&self.line, stdin, self.entered.0, &past)
        };
        let following = custom::serving(world.served(), begin)?;
        Some(Told { following, lost, seen, at: self.entered.0, course: run.course() })
    }

    /// Takes what changed since. False: the history does not reach back so far.
    fn go_on(&mut self, run: &Run) -> bool {
        let (Some(lane), Some(told)) = (run.lane(self.lane), &mut self.told) else { return true };
        let world = &lane.world;
        let stopped = self.stopped.unwrap_or(Moment(Time::MAX, u64::MAX));
        if !told.following.is_over() && Moment(told.at, told.seen) < stopped {
            let Ok(commits) = world.store().since(told.seen) else { return false };
            custom::serving(world.served(), || {
                for commit in commits.take_while(|commit| Moment::of(commit) <= stopped) {
                    told.following.change(commit);
                    told.seen = commit.revision;
                }
                let now = run.now().min(stopped.0);
                told.following.pass(now);
                told.following.read_on(now, &Past::of(world, Moment(now, u64::MAX)));
            });
        }
        told.at = run.now();
        true
    }
}

fn now(run: &Run, lane: LaneId) -> Option<Moment> {
    let world = &run.lane(lane)?.world;
    Some(Moment(run.now(), world.store().revision()))
}

/// A cluster as it was at a moment, to be read only.
struct Past<'a> {
    world: &'a World,
    at: Time,
    /// What is other now, as it was then.
    then: BTreeMap<ObjectKey, Option<Arc<Object>>>,
    revision: u64,
    lost: bool,
}

impl<'a> Past<'a> {
    fn of(world: &'a World, moment: Moment) -> Past<'a> {
        let store = world.store();
        let mut then = BTreeMap::new();
        let (mut revision, mut reached) = (store.revision(), false);
        for commit in store.newest_first() {
            reached = Moment::of(commit) <= moment;
            if reached {
                break;
            }
            then.insert(commit.object().key(), commit.before.clone());
            revision = commit.revision - 1;
        }
        let lost = !reached && store.compacted() > moment.1;
        Past { world, at: moment.0, then, revision, lost }
    }
}

impl Api for Past<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        match self.then.get(key) {
            Some(then) => then.clone(),
            None => self.world.store().get(key).cloned(),
        }
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let is_same = |object: &&Arc<Object>| !self.then.contains_key(&object.key());
        let same = self.world.store().list(kind).filter(is_same).cloned();
        let other = self.then.iter().filter(|(key, _)| key.kind == kind);
        let mut all: Vec<Arc<Object>> =
            same.chain(other.filter_map(|(_, then)| then.clone())).collect();
        all.retain(|object| namespace.is_none_or(|wanted| *object.meta().namespace == *wanted));
        all.sort_by_key(|object| object.key());
        all
    }

    fn request(&mut self, _: Request) -> Response {
        Err(ApiError::new(Reason::MethodNotAllowed, "the past is read only"))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.at)
    }

    fn logs(&self, _: &ObjectKey, _: &Str) -> Option<Vec<String>> {
        None
    }

    fn written(&self, container_id: &str) -> Option<Written> {
        self.world.kubelets().iter().find_map(|kubelet| kubelet.written(container_id))
    }
}
