//! What the edge flavour remembers: of each Deployment, what it was told and what it did. It is
//! never compared with the cache again; a change that nobody told of is not in it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Deployment, Kind, Object, ObjectKey, Pod, ReplicaSet, Str};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind};

use super::rollout::{Rollout, Running};
use super::{annotations, claim, history, matching, recreate};

/// The memory of the edge flavour.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: BTreeMap<ObjectKey, Entry>,
    /// Pods that have not finished, by the uid of the set that owns them: those that came less
    /// those that went.
    pub(super) pods: BTreeMap<Str, i64>,
    /// Sets that nobody controls: a Deployment that comes later may take them.
    pub(super) orphans: BTreeMap<ObjectKey, ReplicaSet>,
}

/// A Deployment as it was told, with the status and the revision that were last written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub deployment: Deployment,
    /// The object last told of, for Events.
    pub object: Arc<Object>,
    /// Its sets by name.
    pub sets: BTreeMap<Str, Known>,
    /// When it will be woken to look at the deadline, since 1970.
    pub timer: Option<Duration>,
}

/// A ReplicaSet: its size as it was set, its numbers as they were told.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub set: ReplicaSet,
    /// Sizes that were set and not yet told of: they will come back as changes, and are no news.
    pub own_sizes: VecDeque<i32>,
}

impl Known {
    /// A set that somebody else made, or that was there before.
    pub fn told(set: ReplicaSet) -> Known {
        Known { set, own_sizes: VecDeque::new() }
    }
}

impl Entry {
    pub fn new(object: &Arc<Object>, deployment: Deployment) -> Entry {
        Entry { deployment, object: object.clone(), sets: BTreeMap::new(), timer: None }
    }

    /// All its sets, by name.
    pub fn all(&self) -> Vec<&ReplicaSet> {
        self.sets.values().map(|known| &known.set).collect()
    }

    /// The set of the template that was last told of.
    pub fn new_set(&self) -> Option<&ReplicaSet> {
        matching::find_new(&self.deployment, self.sets.values().map(|known| &known.set))
    }

    /// An edit that came while nobody listened was never told: only what the last set says was done
    /// about is remembered. So it stays undone until the same field is edited again.
    fn forget_what_was_not_done(&mut self) {
        let sets = self.sets.values().map(|known| &known.set);
        let last = sets.max_by(|a, b| {
            history::revision(a)
                .cmp(&history::revision(b))
                .then_with(|| matching::by_creation(a, b))
        });
        let Some(last) = last else {
            return;
        };
        let Deployment { metadata, spec, status } = &mut self.deployment;
        metadata.generation = status.observed_generation;
        let done = &last.metadata.annotations;
        metadata.annotations.retain(|name, value| {
            let is_done = |done: &Str| {
                *value = done.clone();
                true
            };
            !annotations::is_copied(name) || done.get(name).is_some_and(is_done)
        });
        spec.replicas = annotations::desired(last).or(spec.replicas);
        spec.min_ready_seconds = last.spec.min_ready_seconds;
        if !matching::equal_ignoring_hash(&spec.template, &last.spec.template) {
            spec.template = last.spec.template.clone();
            spec.template.metadata.labels.remove(matching::HASH_LABEL);
        }
    }

    pub fn rollout<'a>(&'a self, pods: &'a dyn Fn() -> Running<'a>) -> Rollout<'a> {
        Rollout {
            deployment: &self.deployment,
            new: self.new_set(),
            old: matching::find_old(&self.deployment, &self.all()),
            pods,
        }
    }
}

impl Ledger {
    /// The Deployment that a set belongs to, by the set's uid.
    pub(super) fn home_of(&self, set_uid: &Str) -> Option<&ObjectKey> {
        let has = |entry: &Entry| entry.sets.values().any(|k| k.set.metadata.uid == *set_uid);
        self.entries.iter().find(|(_, entry)| has(entry)).map(|(key, _)| key)
    }

    /// The entry of the Deployment that this set's owner reference names. If there is none, since
    /// the memory began after the Deployment did, it begins with what is stored.
    pub(super) fn entry_of_set(
        &mut self,
        set: &ReplicaSet,
        change: &Change,
        cache: &Cache,
    ) -> Option<(ObjectKey, &mut Entry)> {
        let (key, owner) = claim::home_of(&set.metadata)?;
        let is_known = |entry: &Entry| entry.deployment.metadata.uid == owner.uid;
        if !self.entries.get(&key).is_some_and(is_known) {
            claim::resolve(cache, &set.metadata)?;
            let object = cache.get(&key)?;
            self.begin(object, change, cache)?;
        }
        self.entries.get_mut(&key).map(|entry| (key, entry))
    }

    /// Begins to remember a Deployment with what is stored, as far as it was acted on. What this
    /// change tells of is taken as it was before it; what other changes on their way will tell is
    /// counted twice, for the cache has it already. In a list every set comes by itself, so nothing
    /// is taken over from there.
    pub(super) fn begin(
        &mut self,
        object: &Arc<Object>,
        change: &Change,
        cache: &Cache,
    ) -> Option<()> {
        let key = object.key();
        let as_it_was = |object: &'_ Arc<Object>| {
            let is_told_of = object.key() == change.key();
            change.before.clone().filter(|_| is_told_of).unwrap_or_else(|| object.clone())
        };
        let object = as_it_was(object);
        let deployment = object.as_deployment()?.clone();
        let uid = deployment.metadata.uid.clone();
        let mut entry = Entry::new(&object, deployment);
        if change.kind != ChangeKind::Added {
            let gone = Some(&change.object).filter(|_| change.is_deletion());
            let is_ours = |o: &&Arc<Object>| o.meta().is_controlled_by(&uid);
            let sets = cache.owned_by(Kind::ReplicaSet, &uid);
            for set in sets.chain(gone.filter(is_ours)) {
                if let Some(set) = as_it_was(set).as_replica_set() {
                    self.count_pods(&set.metadata.uid, change, cache);
                    entry.sets.insert(set.metadata.name.clone(), Known::told(set.clone()));
                }
            }
            entry.forget_what_was_not_done();
        }
        self.entries.insert(key, entry);
        Some(())
    }

    fn count_pods(&mut self, set: &Str, change: &Change, cache: &Cache) {
        let changed = change.key();
        let others = cache.owned_by(Kind::Pod, set).filter(|pod| pod.key() != changed);
        let before = change.before.as_ref().or(Some(&change.object));
        let is_ours = |o: &&Arc<Object>| o.meta().is_controlled_by(set);
        let pods = others.chain(before.filter(is_ours)).filter_map(|pod| pod.as_pod());
        let count = pods.filter(|pod: &&Pod| recreate::may_run(pod)).count();
        self.pods.insert(set.clone(), i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Forgets a Deployment.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        let Some(entry) = self.entries.remove(key) else {
            return;
        };
        for known in entry.sets.values() {
            self.pods.remove(&known.set.metadata.uid);
        }
    }
}
