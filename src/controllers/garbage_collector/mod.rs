//! The garbage collector: what has owners and all of them are gone, goes too
//! (`pkg/controller/garbagecollector`). Level-triggered, and the same in both lanes.
//!
//! - *Background*: an owner is gone; its dependents are looked at and, if no other owner is left,
//!   deleted.
//! - *Foreground*: an owner waits, with the finalizer `foregroundDeletion`, until those dependents
//!   that block its deletion are gone.
//! - *Orphan*: an owner waits, with the finalizer `orphan`, until its dependents no longer name it.
//!
//! Its memory is the graph of owners. An object whose owners exist wakes nothing. Before anything
//! is deleted, an owner that was not seen to go is asked for at the server; the answer comes back
//! through `answered`, and the dependent is looked at again.
//!
//! Left out: kinds that no server knows are taken to exist (Kubernetes tries for ever to look them
//! up); patches are merge patches on the version in the cache, so that a change in between is a
//! conflict and is tried again.

pub mod graph;
pub mod references;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object, ObjectKey, OwnerReference, Str};
use crate::apiserver::deletion::{FOREGROUND, ORPHAN};
use crate::apiserver::{DeleteOptions, Preconditions, Propagation, Request, Response};
use crate::controllers::{Batch, Change, Context, Deed, EventNote, Fact, Intent, Plan, Woken};

use graph::{Graph, Standing, awaits};
use references::{
    patch_finalizer_away, patch_references, remove_owner_references, unblock_owner_references,
};

/// When a virtual owner is asked for again: doubling from here to the longest.
const FIRST_LOOKUP_AFTER: Duration = Duration::from_secs(1);
const LAST_LOOKUP_AFTER: Duration = Duration::from_secs(1_000);

/// The collector's memory, wiped when its process is killed.
#[derive(Clone, Debug, Default)]
pub struct GarbageCollector {
    graph: Graph,
    /// What the server was asked: which uids are meant by a key.
    asked: BTreeMap<ObjectKey, BTreeSet<Str>>,
}

impl GarbageCollector {
    /// The graph of owners.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The queue holds objects of every kind. Takes a change into the graph, and says whom it
    /// wakes.
    pub fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken {
        let (before, object) = (change.before.as_deref(), &*change.object);
        if object.kind() == Kind::Event {
            return Woken::default();
        }
        let mut keys = Vec::new();
        if change.is_deletion() {
            keys.extend(self.graph.remove(&object.meta().uid));
        } else {
            let replaced = before.filter(|b| b.meta().uid != object.meta().uid);
            if let Some(replaced) = replaced {
                keys.extend(self.graph.remove(&replaced.meta().uid));
            }
            if before.is_none_or(|before| concerns_owners(before, object)) {
                keys.extend(self.graph.observe(before, object));
            }
            if before.is_some_and(|b| b.meta().resource_version == object.meta().resource_version) {
                keys.extend(self.find_lost_owners(object, cx));
            }
        }
        Woken { keys, ..Woken::default() }
    }

    /// On a resync: an owner that is in the graph but no longer in the cache went unheard.
    fn find_lost_owners(&mut self, object: &Object, cx: &Context<'_>) -> Vec<ObjectKey> {
        let mut keys = Vec::new();
        for reference in &object.meta().owner_references {
            let owner = self.graph.node(&reference.uid).filter(|n| !n.is_virtual);
            let cached = owner.and_then(|node| cx.cache.get(node.key.as_ref()?));
            if owner.is_some() && cached.is_none_or(|o| o.meta().uid != reference.uid) {
                keys.extend(self.graph.remove(&reference.uid));
            }
        }
        keys
    }

    /// Looks at the object of this key, and at owners that are said to be there.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let mut plan = match cx.cache.get(key) {
            Some(object) => self.attempt_to_delete(key, object, cx),
            None => Plan::nothing(Fact::Gone, Fact::Gone),
        };
        self.look_up_virtuals(key, &mut plan);
        plan
    }

    /// Takes the answer to a request of a pass.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) -> Woken {
        let mut woken = Woken::default();
        let Request::Get(asked) = request else {
            return woken;
        };
        let not_found = matches!(response, Err(error) if error.is_not_found());
        if response.is_err() && !not_found {
            return woken;
        }
        for uid in self.asked.remove(asked).unwrap_or_default() {
            match response {
                Ok(object) if object.meta().uid == uid => self.graph.found(object),
                _ => woken.keys.extend(self.graph.not_found(asked, &uid)),
            }
        }
        if asked != key {
            woken.keys.push(key.clone());
        }
        woken
    }

    fn look_up_virtuals(&mut self, key: &ObjectKey, plan: &mut Plan) {
        let uids = self.graph.virtuals_at(key);
        let Some(lookups) = uids.iter().map(|uid| self.graph.count_lookup(uid)).min() else {
            return;
        };
        // A watch that broke may have missed that it came and went: ask until one shows it.
        let after = FIRST_LOOKUP_AFTER * (1 << lookups.min(10));
        plan.requeue_after = Some(after.min(LAST_LOOKUP_AFTER));
        plan.batches.push(vec![self.ask(key, &uids)]);
    }

    fn ask(&mut self, key: &ObjectKey, uids: &[Str]) -> Intent {
        let meant = self.asked.entry(key.clone()).or_default();
        meant.extend(uids.iter().cloned());
        Intent::tolerant(Deed::Read, Request::Get(key.clone()))
    }

    /// `attemptToDeleteItem`.
    fn attempt_to_delete(
        &mut self,
        key: &ObjectKey,
        object: &Arc<Object>,
        cx: &Context<'_>,
    ) -> Plan {
        let meta = object.meta();
        if awaits(meta, ORPHAN) {
            return self.orphan_dependents(key, object, cx);
        }
        if awaits(meta, FOREGROUND) {
            return self.process_deleting_dependents(key, object);
        }
        if meta.is_terminating() || meta.owner_references.is_empty() {
            return Plan::default();
        }
        self.process_dependent(key, object)
    }

    /// Deletes a dependent that has no owner left, or takes those of its references away that name
    /// owners that are gone.
    pub fn process_dependent(&mut self, key: &ObjectKey, object: &Arc<Object>) -> Plan {
        let meta = object.meta();
        let references = &meta.owner_references;
        let owners = sort_owners(&self.graph, key, references);
        let seen = Fact::Of(owners.solid as i64, references.len() as i64);
        let mut plan = Plan::nothing(seen, Fact::None);
        if !owners.unknown.is_empty() {
            plan.batches.push(self.read(key, object, &owners.unknown));
            return plan;
        }
        plan.events.extend(self.wrong_namespaces(key, object));
        if owners.solid > 0 {
            if !owners.leaving.is_empty() {
                let left = remove_owner_references(references, &owners.leaving);
                let request = patch_references(key, meta, &left);
                plan.then(Intent::tolerant(Deed::Orphan, request));
            }
            return plan;
        }
        plan.wants = Fact::Gone;
        let read = self.read(key, object, &[]);
        plan.batches.push(read);
        self.delete(key, object, owners.waiting, &mut plan);
        plan
    }

    /// Foreground if an owner waits and there are dependents to go first; else what the object's
    /// own finalizers say; else background.
    fn delete(&self, key: &ObjectKey, object: &Object, owner_waits: bool, plan: &mut Plan) {
        let (meta, node) = (object.meta(), |uid: &Str| self.graph.node(uid));
        let dependents = node(&meta.uid).map(|node| &node.dependents);
        let dependents = || dependents.into_iter().flatten();
        if !owner_waits || dependents().next().is_none() {
            let request = delete(key, object, own_policy(object));
            return plan.then(Intent::tolerant(Deed::Delete, request));
        }
        let mut request = delete(key, object, Propagation::Foreground);
        let waits = |uid| node(uid).is_some_and(|node| node.deleting_dependents);
        if dependents().any(waits) && meta.owner_references.iter().any(|r| r.block_owner_deletion) {
            // Two that wait for each other would wait for ever.
            let unblocked = unblock_owner_references(&meta.owner_references);
            let patch = patch_references(key, meta, &unblocked);
            plan.then(Intent::tolerant(Deed::Unblock, patch));
            // The patch itself changes the version.
            if let Request::Delete(_, options) = &mut request {
                options.preconditions.resource_version = None;
            }
        }
        plan.then(Intent::tolerant(Deed::Delete, request));
    }

    fn read(&mut self, key: &ObjectKey, object: &Object, owners: &[(ObjectKey, Str)]) -> Batch {
        let own = self.ask(key, &[object.meta().uid.clone()]);
        let others = owners.iter().map(|(key, uid)| self.ask(key, std::slice::from_ref(uid)));
        std::iter::once(own).chain(others.collect::<Batch>()).collect()
    }

    fn wrong_namespaces(&self, key: &ObjectKey, object: &Arc<Object>) -> Vec<EventNote> {
        let references = object.meta().owner_references.iter();
        let wrong = references.filter(|r| self.graph.crosses_namespaces(r, key));
        let note = |r: &OwnerReference| {
            let (version, kind, name, uid) = (&r.api_version, &r.kind, &r.name, &r.uid);
            let namespace = &key.namespace;
            let owner =
                format!("[{version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]");
            let message = format!("ownerRef {owner} does not exist in namespace {namespace:?}");
            EventNote::warning(object, "OwnerRefInvalidNamespace", message)
        };
        wrong.map(note).collect()
    }

    /// `processDeletingDependentsItem`.
    fn process_deleting_dependents(&self, key: &ObjectKey, object: &Arc<Object>) -> Plan {
        let meta = object.meta();
        let blocks = |uid: &&Str| {
            let owners = self.graph.node(uid).map(|node| &node.owners);
            let mut owners = owners.into_iter().flatten();
            owners.any(|r| r.uid == meta.uid && r.block_owner_deletion)
        };
        let dependents = self.graph.node(&meta.uid).map(|node| &node.dependents);
        let blocking = dependents.into_iter().flatten().filter(blocks).count();
        let mut plan = Plan::nothing(Fact::Count(blocking as i64), Fact::Count(0));
        if blocking == 0 {
            let request = patch_finalizer_away(key, meta, FOREGROUND);
            plan.then(Intent::tolerant(Deed::Unblock, request));
        }
        plan
    }

    /// `orphanDependents`, then the finalizer.
    fn orphan_dependents(&self, key: &ObjectKey, object: &Arc<Object>, cx: &Context<'_>) -> Plan {
        let meta = object.meta();
        let keys = self.graph.keys_of_dependents(&meta.uid);
        let dependents = keys.iter().filter_map(|key| Some((key, cx.cache.get(key)?)));
        let owned = dependents.filter(|(_, dependent)| {
            let mut references = dependent.meta().owner_references.iter();
            references.any(|reference| reference.uid == meta.uid)
        });
        let patches: Batch = owned
            .map(|(key, dependent)| {
                let owner = std::slice::from_ref(&meta.uid);
                let own = dependent.meta();
                let left = remove_owner_references(&own.owner_references, owner);
                Intent::tolerant(Deed::Orphan, patch_references(key, own, &left))
            })
            .collect();
        let mut plan = Plan::nothing(Fact::Count(patches.len() as i64), Fact::Count(0));
        if !patches.is_empty() {
            plan.batches.push(patches);
        }
        plan.then(Intent::tolerant(Deed::Unblock, patch_finalizer_away(key, meta, ORPHAN)));
        plan
    }
}

/// What is known of an object's owners.
struct Owners {
    solid: usize,
    /// Some wait for their dependents.
    waiting: bool,
    /// The uids of those that are gone, or wait.
    leaving: Vec<Str>,
    unknown: Vec<(ObjectKey, Str)>,
}

fn sort_owners(graph: &Graph, key: &ObjectKey, references: &[OwnerReference]) -> Owners {
    let mut owners = Owners { solid: 0, waiting: false, leaving: Vec::new(), unknown: Vec::new() };
    for reference in references {
        match graph.standing(reference, key) {
            Standing::Solid => owners.solid += 1,
            Standing::Dangling => owners.leaving.push(reference.uid.clone()),
            Standing::Waiting => {
                owners.waiting = true;
                owners.leaving.push(reference.uid.clone());
            }
            Standing::Unknown(key) => owners.unknown.push((key, reference.uid.clone())),
        }
    }
    owners
}

/// Most changes, such as of a pod's status, do not concern the graph. A resync always does.
fn concerns_owners(before: &Object, object: &Object) -> bool {
    let (old, new) = (before.meta(), object.meta());
    old.resource_version == new.resource_version
        || old.uid != new.uid
        || old.owner_references != new.owner_references
        || old.finalizers != new.finalizers
        || old.deletion_timestamp != new.deletion_timestamp
}

/// How an object without owners goes: as its finalizers say, else in the background.
fn own_policy(object: &Object) -> Propagation {
    let has = |finalizer: &str| object.meta().finalizers.iter().any(|f| **f == *finalizer);
    match (has(ORPHAN), has(FOREGROUND)) {
        (true, _) => Propagation::Orphan,
        (_, true) => Propagation::Foreground,
        _ => Propagation::Background,
    }
}

/// A delete of the object as it is known. If it has changed since, somebody may have adopted it:
/// the conflict makes the collector look again.
fn delete(key: &ObjectKey, object: &Object, policy: Propagation) -> Request {
    let preconditions = Preconditions {
        uid: Some(object.meta().uid.clone()),
        resource_version: Some(object.meta().resource_version),
    };
    let options =
        DeleteOptions { grace_period_seconds: None, propagation: Some(policy), preconditions };
    Request::Delete(key.clone(), options)
}
