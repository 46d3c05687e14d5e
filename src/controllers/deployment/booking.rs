//! How a change gets into the ledger: by the difference between before and after, and nothing else.
//! A change that was never told is never made up for; one that is told twice counts twice.

use crate::api::{
    Condition, Deployment, Kind, Object, ObjectKey, ObjectMeta, Pod, ReplicaSet, Str,
};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context};

use super::ledger::{Entry, Known, Ledger};
use super::{annotations, claim, conditions, fenceposts, matching, recreate};

/// What a change means to the edge flavour.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum News {
    /// Something of this Deployment is another than it was.
    Differs(ObjectKey),
    /// This set has no owner, and this Deployment's selector matches it.
    Orphan(ObjectKey, Box<ReplicaSet>),
    /// This set is this Deployment's, but its selector no longer matches it.
    Stray(ObjectKey, Box<ReplicaSet>),
}

impl Ledger {
    /// Books a change. No news if it makes no difference, as in a resync.
    pub(super) fn book(&mut self, change: &Change, cx: &Context) -> Vec<News> {
        match &*change.object {
            Object::Deployment(deployment) => self.book_deployment(change, deployment, cx.cache),
            Object::ReplicaSet(set) => self.book_set(change, set, cx.cache),
            Object::Pod(pod) => self.book_pod(change, pod, cx.cache),
            _ => Vec::new(),
        }
    }

    fn book_deployment(&mut self, change: &Change, now: &Deployment, cache: &Cache) -> Vec<News> {
        let key = change.key();
        if change.is_deletion() {
            self.forget(&key);
            return Vec::new();
        }
        let uid = &now.metadata.uid;
        let known = self.entries.get(&key);
        let is_known = known.is_some_and(|entry| entry.deployment.metadata.uid == *uid);
        let before = change.before.as_ref().and_then(|object| object.as_deployment());
        // One of the same name that was deleted meanwhile is another one.
        let before = before.filter(|before| before.metadata.uid == *uid);
        let Some(before) = before.filter(|_| change.kind == ChangeKind::Updated) else {
            let mut news = Vec::new();
            if !is_known {
                self.forget(&key);
                self.entries.insert(key.clone(), Entry::new(&change.object, now.clone()));
                news = self.orphans_for(&key, now);
            }
            news.push(News::Differs(key));
            return news;
        };
        if !is_known && self.begin(&change.object, change, cache).is_none() {
            return Vec::new();
        }
        let Some(entry) = self.entries.get_mut(&key) else {
            return Vec::new();
        };
        entry.object = change.object.clone();
        let differs = book_deployment_fields(&mut entry.deployment, before, now);
        differs.then_some(News::Differs(key)).into_iter().collect()
    }

    /// Sets without an owner, of which it was told before, and which this Deployment selects.
    fn orphans_for(&self, key: &ObjectKey, deployment: &Deployment) -> Vec<News> {
        let here = self.orphans.iter().filter(|(set, _)| set.namespace == key.namespace);
        let taken = here.filter(|(_, set)| claim::may_adopt(deployment, set));
        taken.map(|(_, set)| News::Orphan(key.clone(), Box::new(set.clone()))).collect()
    }

    fn book_set(&mut self, change: &Change, now: &ReplicaSet, cache: &Cache) -> Vec<News> {
        self.orphans.remove(&change.key());
        if change.is_deletion() {
            return self.book_lost_set(now, change, cache);
        }
        let before = change.before.as_ref().and_then(|object| object.as_replica_set());
        let mut lost = Vec::new();
        let owner = |meta: &ObjectMeta| meta.controller().map(|owner| owner.uid.clone());
        let moved = before.is_some_and(|b| owner(&b.metadata) != owner(&now.metadata));
        if let Some(before) = before.filter(|_| moved) {
            lost = self.book_lost_set(before, change, cache);
        }
        let mut news = Vec::new();
        if now.metadata.controller().is_none() {
            self.orphans.insert(change.key(), now.clone());
            let asks = before.is_none_or(|b| moved || b.metadata.labels != now.metadata.labels);
            if let Some(taker) = matching::taker_of(now, cache).filter(|_| asks) {
                news.extend(self.orphan(taker, now, change, cache));
            }
        } else if let Some((key, entry)) = self.entry_of_set(now, change, cache) {
            news = book_owned_set(key, entry, before.filter(|_| !moved), now);
        }
        // Last: whoever lost it may be the one that takes it again.
        news.extend(lost);
        news
    }

    fn orphan(
        &mut self,
        taker: &Deployment,
        set: &ReplicaSet,
        change: &Change,
        cache: &Cache,
    ) -> Option<News> {
        let taken = claim::adopted(taker, set);
        let (key, entry) = self.entry_of_set(&taken, change, cache)?;
        let is_ours = entry.sets.contains_key(&set.metadata.name);
        (!is_ours).then(|| News::Orphan(key, Box::new(set.clone())))
    }

    /// A set that is no longer there, or no longer the Deployment's.
    fn book_lost_set(&mut self, lost: &ReplicaSet, change: &Change, cache: &Cache) -> Vec<News> {
        let Some((key, entry)) = self.entry_of_set(lost, change, cache) else {
            return Vec::new();
        };
        let (name, uid) = (&lost.metadata.name, &lost.metadata.uid);
        let is_it = |known: &Known| {
            let known = &known.set.metadata.uid;
            known == uid || known.is_empty()
        };
        if !entry.sets.get(name).is_some_and(is_it) {
            return Vec::new();
        }
        entry.sets.remove(name);
        self.pods.remove(uid);
        vec![News::Differs(key)]
    }

    fn book_pod(&mut self, change: &Change, now: &Pod, cache: &Cache) -> Vec<News> {
        let before = change.before.as_ref().and_then(|object| object.as_pod());
        let after = Some(now).filter(|_| !change.is_deletion());
        // What is deleted without a word before was last seen as it is told.
        let before = before.or(Some(now).filter(|_| change.is_deletion()));
        let mut news = Vec::new();
        for (pod, step) in [(after, 1), (before, -1)] {
            let Some(set) = pod.filter(|pod| recreate::may_run(pod)).and_then(owning_set) else {
                continue;
            };
            if change.kind != ChangeKind::Added && self.home_of(&set).is_none() {
                self.begin_for_pod(now, change, cache);
            }
            let count = self.pods.entry(set.clone()).or_default();
            let ran = *count > 0;
            *count += step;
            let runs = *count > 0;
            if *count == 0 {
                self.pods.remove(&set);
            }
            if ran && !runs {
                news.extend(self.last_pod_gone(&set));
            }
        }
        news
    }

    fn begin_for_pod(&mut self, pod: &Pod, change: &Change, cache: &Cache) {
        let meta = &pod.metadata;
        if let Some(owner) = meta.controller() {
            let (namespace, name) = (meta.namespace.clone(), owner.name.clone());
            let key = ObjectKey::new(Kind::ReplicaSet, namespace, name);
            if let Some(set) = cache.replica_set(&key) {
                self.entry_of_set(set, change, cache);
            }
        }
    }

    /// Only Recreate waits for that, and only while no pod of any set is left: as in Kubernetes,
    /// the status of the old sets tells the rest.
    fn last_pod_gone(&self, set: &Str) -> Option<News> {
        let key = self.home_of(set)?;
        let entry = self.entries.get(key)?;
        let has_pods = |known: &Known| {
            let count = self.pods.get(&known.set.metadata.uid);
            count.is_some_and(|count| *count > 0)
        };
        let waits = !fenceposts::is_rolling(&entry.deployment);
        let news = waits && !entry.sets.values().any(has_pods);
        news.then(|| News::Differs(key.clone()))
    }
}

fn owning_set(pod: &Pod) -> Option<Str> {
    let owner = pod.metadata.controller();
    let owner = owner.filter(|owner| *owner.kind == *Kind::ReplicaSet.info().kind)?;
    Some(owner.uid.clone())
}

fn book_owned_set(
    key: ObjectKey,
    entry: &mut Entry,
    before: Option<&ReplicaSet>,
    now: &ReplicaSet,
) -> Vec<News> {
    let name = &now.metadata.name;
    let is_ours = entry.deployment.spec.selector.matches(&now.metadata.labels);
    if !is_ours && !entry.deployment.metadata.is_terminating() {
        let was_known = entry.sets.remove(name).is_some();
        let mut news = vec![News::Stray(key.clone(), Box::new(now.clone()))];
        news.extend(was_known.then_some(News::Differs(key)));
        return news;
    }
    let uid = &now.metadata.uid;
    let known = entry.sets.get_mut(name).filter(|known| {
        let known = &known.set.metadata.uid;
        known == uid || known.is_empty()
    });
    let Some(known) = known else {
        entry.sets.insert(name.clone(), Known::told(now.clone()));
        return vec![News::Differs(key)];
    };
    let is_known = !known.set.metadata.uid.is_empty();
    let differs = match before {
        // Told of it a second time, or its adoption has arrived.
        None if is_known => known.book_again(now),
        before => known.book(before, now),
    };
    differs.then_some(News::Differs(key)).into_iter().collect()
}

/// Takes over each field that differs between before and now; whether any did.
macro_rules! take_over {
    ($told:ident, $before:ident, $now:ident: $($part:ident.$field:ident),* $(,)?) => {{
        let mut differs = false;
        $(if $before.$part.$field != $now.$part.$field {
            $told.$part.$field = $now.$part.$field.clone();
            differs = true;
        })*
        differs
    }};
}

fn book_deployment_fields(told: &mut Deployment, before: &Deployment, now: &Deployment) -> bool {
    let fields = take_over!(
        told, before, now:
        spec.replicas, spec.template, spec.strategy, spec.paused, spec.selector,
        spec.min_ready_seconds, spec.revision_history_limit, spec.progress_deadline_seconds,
        metadata.generation, metadata.labels, metadata.deletion_timestamp,
    );
    let (old, new) = (&before.metadata.annotations, &now.metadata.annotations);
    let mut changed = false;
    for name in old.keys().chain(new.keys()).filter(|name| annotations::is_copied(name)) {
        if old.get(name) == new.get(name) {
            continue;
        }
        changed = true;
        match new.get(name) {
            Some(value) => told.metadata.annotations.insert(name.clone(), value.clone()),
            None => told.metadata.annotations.remove(name),
        };
    }
    fields || changed
}

impl Known {
    /// Books what was told of a set. Without `before` it was just made: everything is new.
    fn book(&mut self, before: Option<&ReplicaSet>, now: &ReplicaSet) -> bool {
        let nothing = ReplicaSet::default();
        let is_new = before.is_none();
        let before = before.unwrap_or(&nothing);
        let told = &mut self.set;
        if is_new {
            let meta = &mut told.metadata;
            meta.uid = now.metadata.uid.clone();
            meta.creation_timestamp = now.metadata.creation_timestamp;
        }
        let mut differs = take_over!(
            told, before, now:
            metadata.generation, metadata.deletion_timestamp, metadata.labels,
            status.observed_generation,
        );
        if !is_new {
            differs |= take_over!(told, before, now: spec.template, spec.min_ready_seconds);
        }
        differs |= book_numbers(told, before, now);
        differs |= book_failure(told, before, now);
        let (was, is) = (before.spec.replicas(), now.spec.replicas());
        if is_new || was != is {
            differs |= self.book_size(is);
        }
        differs
    }

    /// Books a set that is told of as if it were new. What was told before it was adopted went by.
    fn book_again(&mut self, now: &ReplicaSet) -> bool {
        let told = &mut self.set;
        let differs = told.status != now.status;
        told.status = now.status.clone();
        told.metadata.generation = now.metadata.generation;
        differs
    }

    /// A size that was set here comes back as a change; any other was set by somebody else.
    fn book_size(&mut self, size: i32) -> bool {
        if let Some(index) = self.own_sizes.iter().position(|own| *own == size) {
            self.own_sizes.drain(..=index);
            return false;
        }
        let differs = self.set.spec.replicas() != size;
        self.set.spec.replicas = Some(size);
        differs
    }
}

/// The numbers move by as much as they were told to have moved.
fn book_numbers(told: &mut ReplicaSet, before: &ReplicaSet, now: &ReplicaSet) -> bool {
    let (told, before, now) = (&mut told.status, &before.status, &now.status);
    let mut differs = false;
    let mut book = |told: &mut i32, before: i32, now: i32| {
        differs |= before != now;
        *told = told.saturating_add(now.saturating_sub(before));
    };
    book(&mut told.replicas, before.replicas, now.replicas);
    book(&mut told.ready_replicas, before.ready_replicas, now.ready_replicas);
    book(&mut told.available_replicas, before.available_replicas, now.available_replicas);
    if before.terminating_replicas != now.terminating_replicas {
        let mut terminating = told.terminating_replicas.unwrap_or(0);
        let (was, is) = (before.terminating_replicas, now.terminating_replicas);
        book(&mut terminating, was.unwrap_or(0), is.unwrap_or(0));
        told.terminating_replicas = is.map(|_| terminating);
        differs = true;
    }
    differs
}

fn book_failure(told: &mut ReplicaSet, before: &ReplicaSet, now: &ReplicaSet) -> bool {
    let failure = |set: &ReplicaSet| {
        Condition::find(&set.status.conditions, conditions::REPLICA_FAILURE).cloned()
    };
    let differs = failure(before) != failure(now);
    if differs {
        told.status.conditions = now.status.conditions.clone();
    }
    differs
}
