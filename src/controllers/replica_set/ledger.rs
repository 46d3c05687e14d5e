//! What the edge-triggered flavour remembers: what it was told and what it did. Nothing in here is
//! ever counted again from the cache. A restart loses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Condition, Object, ObjectKey, Pod, ReplicaSet, Str, Timestamp};
use crate::kernel::Time;

use super::status::{Tally, available_at, has_all_labels};

/// The memory of the edge-triggered flavour.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: BTreeMap<Str, Account>,
    orphans: BTreeSet<ObjectKey>,
    /// Orphans (by uid) that a set (by uid) adopts in place of making a pod.
    awaited: BTreeMap<Str, Str>,
}

/// What is remembered of one ReplicaSet.
#[derive(Clone, Debug)]
pub struct Account {
    /// The set as it was told last.
    set: Arc<Object>,
    /// How many pods it believes to have, those on their way included.
    pub have: i64,
    /// Pods still to be made; below zero: still to be deleted. What one plan cannot carry, and
    /// deletions for which there is no pod yet, stay here.
    pub debt: i64,
    /// Pods (by uid) whose going needs no answer: it asked for it, or has made up for it already.
    pub settled: BTreeSet<Str>,
    /// The status that was stored when this account was opened; zero once the set itself was
    /// announced as new.
    base: Tally,
    /// The differences that events have told since.
    told: Tally,
    /// The numbers and the generation that it asked to be written last.
    written: (Tally, i64),
    /// The pods that make up `told`, as they were told last. (Only a change of the set itself, of
    /// its template's labels or of minReadySeconds, goes through them.)
    pods: BTreeMap<Str, Arc<Object>>,
    /// Ready pods that are not available yet, by when they will be.
    waiting: BTreeSet<(Time, Str)>,
}

/// What one pod adds to the status of its set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    active: bool,
    fully_labeled: bool,
    terminating: bool,
    /// Whether it is ready, and since when.
    ready: Option<Option<Timestamp>>,
}

impl Ledger {
    /// How many pods it believes that all its sets have.
    pub fn believed_pods(&self) -> i64 {
        self.accounts.values().map(|account| account.have).sum()
    }

    /// The account of a set; opened from the set's stored status, if there is none: whoever starts
    /// in the middle must believe what is written.
    pub fn account(&mut self, object: &Arc<Object>, set: &ReplicaSet) -> &mut Account {
        let uid = set.metadata.uid.clone();
        let open = || Account::open(object.clone(), set);
        self.accounts.entry(uid).or_insert_with(open)
    }

    /// The account of the set with this uid, if there is one.
    pub fn known(&mut self, uid: &str) -> Option<&mut Account> {
        self.accounts.get_mut(uid)
    }

    /// Forgets a set.
    pub fn close(&mut self, uid: &str) {
        self.accounts.remove(uid);
        self.awaited.retain(|_, set| **set != *uid);
    }

    /// Remembers that a set adopts this orphan in place of making a pod.
    pub fn await_adoption(&mut self, pod: &Pod, set: &ReplicaSet) {
        let (pod, set) = (&pod.metadata.uid, &set.metadata.uid);
        self.awaited.insert(pod.clone(), set.clone());
    }

    /// The account of the set whose awaited adoption came to nothing, now that the pod is this. An
    /// adoption that succeeded is awaited no longer.
    pub fn failed_adoption(&mut self, uid: &Str, pod: Option<&Pod>) -> Option<&mut Account> {
        let set_uid = self.awaited.get(uid)?.clone();
        let account = self.accounts.get_mut(&set_uid)?;
        let selector = &account.set.as_replica_set()?.spec.selector;
        let fits = |pod: &&Pod| pod.is_active() && selector.matches(&pod.metadata.labels);
        let owner = pod.filter(fits).map(|pod| pod.metadata.controller());
        if owner == Some(None) {
            return None;
        }
        self.awaited.remove(uid);
        let adopted = owner.flatten().is_some_and(|owner| owner.uid == set_uid);
        (!adopted).then_some(account)
    }

    /// Remembers an orphan that nobody wanted: a set yet to come may.
    pub fn remember_orphan(&mut self, key: ObjectKey) {
        self.orphans.insert(key);
    }

    /// Forgets an orphan.
    pub fn forget_orphan(&mut self, key: &ObjectKey) {
        self.orphans.remove(key);
    }

    /// The orphans that it was told of and nobody wanted.
    pub fn orphans(&self) -> impl Iterator<Item = &ObjectKey> {
        self.orphans.iter()
    }
}

impl Account {
    fn open(object: Arc<Object>, set: &ReplicaSet) -> Account {
        let stored = Tally::of(&set.status);
        Account {
            set: object,
            have: stored.replicas.into(),
            debt: 0,
            settled: BTreeSet::new(),
            base: stored,
            told: Tally::default(),
            written: (stored, set.status.observed_generation),
            pods: BTreeMap::new(),
            waiting: BTreeSet::new(),
        }
    }

    /// The set as it was told last.
    pub fn set(&self) -> &Arc<Object> {
        &self.set
    }

    /// `spec.replicas` as it was told last.
    pub fn wish(&self) -> i64 {
        let set = self.set.as_replica_set();
        set.map_or(0, |set| set.spec.replicas().into())
    }

    /// Whether it was told that the set is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.set.meta().is_terminating()
    }

    /// The set was announced as new: no stored status counts, only what was told.
    pub fn announce(&mut self, object: &Arc<Object>) {
        self.have -= i64::from(self.base.replicas);
        self.base = Tally::default();
        self.set = object.clone();
    }

    /// The set was told to be another now. If it looks at its pods in another way, the pods that
    /// were told are gone through for the difference.
    pub fn turn(&mut self, object: &Arc<Object>, now: Time) {
        let before = std::mem::replace(&mut self.set, object.clone());
        let (Some(before), Some(set)) = (before.as_replica_set(), object.as_replica_set()) else {
            return;
        };
        let (old, new) = (&before.spec, &set.spec);
        let same_labels = old.template.metadata.labels == new.template.metadata.labels;
        if !same_labels || old.min_ready_seconds != new.min_ready_seconds {
            self.retell(before, set, now);
        }
    }

    /// The set's status, as far as it was told.
    pub fn tally(&self) -> Tally {
        self.base.plus(self.told)
    }

    /// Notes that this status is written now. What was written before comes back.
    pub fn write(&mut self) -> (Tally, i64) {
        let now = (self.tally(), self.set.meta().generation);
        std::mem::replace(&mut self.written, now)
    }

    /// The numbers and the generation that it asked to be written last.
    pub fn written(&self) -> (Tally, i64) {
        self.written
    }

    /// Takes in the difference between what a pod was and what it is. `None`: not one of the set's.
    pub fn tell(&mut self, was: Option<&Arc<Object>>, is: Option<&Arc<Object>>, now: Time) {
        let told = self.set.clone();
        let (Some(set), Some(pod)) = (told.as_replica_set(), is.or(was)) else {
            return;
        };
        let uid = pod.meta().uid.clone();
        match is {
            Some(pod) => self.pods.insert(uid.clone(), pod.clone()),
            None => self.pods.remove(&uid),
        };
        let was = Share::of(set, was.and_then(|object| object.as_pod()));
        let pod = is.and_then(|object| object.as_pod());
        let share = Share::of(set, pod);
        self.told = self.told.plus(share.tally()).plus(was.tally().negated());
        if was.ready != share.ready {
            self.turn_ready(
                set,
                &uid,
                was.ready.is_some(),
                pod.filter(|_| share.ready.is_some()),
                now,
            );
        }
    }

    /// Whether it was told of the pod with this uid as one of the set's own.
    pub fn was_told_of(&self, uid: &Str) -> bool {
        self.pods.contains_key(uid)
    }

    fn retell(&mut self, before: &ReplicaSet, set: &ReplicaSet, now: Time) {
        for (uid, object) in self.pods.clone() {
            let pod = object.as_pod();
            let (was, share) = (Share::of(before, pod), Share::of(set, pod));
            self.told = self.told.plus(share.tally()).plus(was.tally().negated());
            self.turn_ready(
                set,
                &uid,
                was.ready.is_some(),
                pod.filter(|_| share.ready.is_some()),
                now,
            );
        }
    }

    /// Counts a pod out that was ready, and in again if it is (as `ready`).
    fn turn_ready(
        &mut self,
        set: &ReplicaSet,
        uid: &Str,
        was_ready: bool,
        ready: Option<&Pod>,
        now: Time,
    ) {
        if was_ready {
            self.told.available -= i32::from(!self.stop_waiting(uid));
        }
        if let Some(pod) = ready {
            self.told.available += i32::from(self.is_available(set, pod, now));
        }
    }

    /// Whether a ready pod is available now; if not, it waits.
    fn is_available(&mut self, set: &ReplicaSet, pod: &Pod, now: Time) -> bool {
        let seconds = set.spec.min_ready_seconds;
        let available = pod.is_available(seconds, Timestamp::from(now));
        if !available {
            let at = available_at(pod, seconds).unwrap_or(Time::MAX);
            self.waiting.insert((at, pod.metadata.uid.clone()));
        }
        available
    }

    fn stop_waiting(&mut self, uid: &Str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(_, waiting)| waiting != uid);
        self.waiting.len() < before
    }

    /// Takes in that time has passed: who waited long enough is available.
    pub fn let_pass(&mut self, now: Time) {
        while let Some((at, uid)) = self.waiting.pop_first() {
            if at > now {
                self.waiting.insert((at, uid));
                break;
            }
            self.told.available += 1;
        }
    }

    /// How long until the next pod becomes available.
    pub fn next_look(&self, now: Time) -> Option<Duration> {
        let (at, _) = self.waiting.first()?;
        (*at < Time::MAX).then(|| at.since(now))
    }
}

impl Share {
    fn of(set: &ReplicaSet, pod: Option<&Pod>) -> Share {
        let matches = |pod: &&Pod| set.spec.selector.matches(&pod.metadata.labels);
        let Some(pod) = pod.filter(matches) else {
            return Share::default();
        };
        let active = pod.is_active();
        let since = |pod: &Pod| {
            let ready = Condition::find(&pod.status.conditions, "Ready");
            ready.and_then(|ready| ready.last_transition_time)
        };
        Share {
            active,
            fully_labeled: active && has_all_labels(pod, set),
            terminating: pod.metadata.is_terminating() && !pod.is_finished(),
            ready: (active && pod.is_ready()).then(|| since(pod)),
        }
    }

    /// Its numbers, but for the availability, which time changes without a word.
    fn tally(&self) -> Tally {
        Tally {
            replicas: self.active.into(),
            fully_labeled: self.fully_labeled.into(),
            ready: self.ready.is_some().into(),
            available: 0,
            terminating: self.terminating.into(),
        }
    }
}
