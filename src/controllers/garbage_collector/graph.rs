//! Who owns whom, kept up to date change by change (`pkg/controller/garbagecollector`,
//! `graph_builder.go`, `graph.go`). Node A is among the dependents of B exactly if B is in the
//! graph and A's owner references name B's uid. An owner that no watch has shown yet is in it too,
//! as a *virtual* node, until it is seen or the server says that there is none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::api::{Object, ObjectKey, ObjectMeta, OwnerReference, SharedList, Str};
use crate::apiserver::deletion::{FOREGROUND, ORPHAN};
use crate::kernel::Hashed;

use super::references::coordinates;

/// How many missing owners are remembered.
const ABSENT_LIMIT: usize = 500;

/// An object, or an owner that somebody names.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Where it is, or where it is said to be; absent for a kind that the server does not know.
    pub key: Option<ObjectKey>,
    /// Its owners.
    pub owners: SharedList<OwnerReference>,
    /// The uids of what it owns.
    pub dependents: BTreeSet<Str>,
    /// No watch has shown it yet.
    pub is_virtual: bool,
    /// It is virtual, but the server has it.
    pub found: bool,
    /// How often a virtual node was asked for.
    pub lookups: u32,
    /// It is being deleted once its dependents are gone.
    pub deleting_dependents: bool,
}

/// What is known of one owner that a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is there to stay.
    Solid,
    /// There is none.
    Dangling,
    /// It is being deleted and waits for its dependents.
    Waiting,
    /// The server must be asked about this key.
    Unknown(ObjectKey),
}

/// The whole graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Hashed<Str, Node>,
    /// The virtual ones by where they are said to be.
    virtuals: BTreeMap<ObjectKey, BTreeSet<Str>>,
    absent: BTreeSet<(ObjectKey, Str)>,
    absent_in_order: VecDeque<(ObjectKey, Str)>,
}

/// Whether an object is being deleted and waits for this finalizer.
pub fn awaits(meta: &ObjectMeta, finalizer: &str) -> bool {
    meta.is_terminating() && meta.finalizers.iter().any(|name| **name == *finalizer)
}

impl Graph {
    /// The node of this uid.
    pub fn node(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// All nodes, in the order of uids.
    pub fn nodes(&self) -> impl Iterator<Item = (&Str, &Node)> + '_ {
        self.nodes.in_order(|_| true).into_iter()
    }

    /// The uids of the virtual nodes that are said to be at this key.
    pub fn virtuals_at(&self, key: &ObjectKey) -> Vec<Str> {
        let uids = self.virtuals.get(key).into_iter().flatten();
        uids.cloned().collect()
    }

    /// Counts that a virtual node is asked for once more; returns how often that was before.
    pub fn count_lookup(&mut self, uid: &str) -> u32 {
        let Some(node) = self.nodes.get_mut(uid) else {
            return 0;
        };
        node.lookups = node.lookups.saturating_add(1);
        node.lookups - 1
    }

    /// What is known of the owner that a reference of this dependent names.
    pub fn standing(&self, reference: &OwnerReference, dependent: &ObjectKey) -> Standing {
        let Some(key) = coordinates(reference, dependent) else {
            return Standing::Solid;
        };
        if self.is_absent(&key, &reference.uid) {
            return Standing::Dangling;
        }
        let here =
            |node: &&Node| node.key.as_ref() == Some(&key) && (!node.is_virtual || node.found);
        match self.nodes.get(&reference.uid).filter(here) {
            Some(owner) if owner.deleting_dependents => Standing::Waiting,
            Some(_) => Standing::Solid,
            None => Standing::Unknown(key),
        }
    }

    /// Whether a reference names an owner that is known to live in another namespace.
    pub fn crosses_namespaces(&self, reference: &OwnerReference, dependent: &ObjectKey) -> bool {
        let owner = self.nodes.get(&reference.uid).filter(|n| !n.is_virtual);
        let key = owner.and_then(|owner| owner.key.as_ref());
        key.is_some_and(|key| !key.namespace.is_empty() && key.namespace != dependent.namespace)
    }

    /// Takes an object as it is now. Returns the keys that must be looked at.
    pub fn observe(&mut self, before: Option<&Object>, object: &Object) -> Vec<ObjectKey> {
        let (meta, key, mut look) = (object.meta(), object.key(), Vec::new());
        match self.nodes.get_mut(&meta.uid) {
            None => {
                let dependents = self.named_while_absent(&key, &meta.uid);
                let node = Node { key: Some(key.clone()), dependents, ..Node::default() };
                self.nodes.insert(meta.uid.clone(), node);
            }
            Some(node) if node.is_virtual => self.becomes_real(meta, &key, &mut look),
            Some(_) => {}
        }
        self.take_owners(meta, &key, &mut look);
        if let Some(node) = self.nodes.get_mut(&meta.uid) {
            node.deleting_dependents = awaits(meta, FOREGROUND);
        }
        self.follow_transition(before, object, &key, &mut look);
        look
    }

    /// The uids of those that name an owner that was taken for gone: it had no node to be noted at.
    fn named_while_absent(&self, key: &ObjectKey, uid: &Str) -> BTreeSet<Str> {
        if !self.is_absent(key, uid) {
            return BTreeSet::new();
        }
        let names = |node: &Node| node.owners.iter().any(|owner| owner.uid == *uid);
        self.nodes.in_order(names).into_iter().map(|(uid, _)| uid.clone()).collect()
    }

    /// Dependents that named the owner wrongly must be looked at: their owner may not exist.
    fn becomes_real(&mut self, meta: &ObjectMeta, key: &ObjectKey, look: &mut Vec<ObjectKey>) {
        let Some(mut node) = self.nodes.remove(&meta.uid) else {
            return;
        };
        self.unlist_virtual(&node, &meta.uid);
        if node.key.as_ref() != Some(key) {
            let (_, others) = self.partition(&node, key, &meta.uid);
            look.extend(others);
        }
        node.key = Some(key.clone());
        (node.is_virtual, node.found) = (false, false);
        self.nodes.insert(meta.uid.clone(), node);
    }

    fn take_owners(&mut self, meta: &ObjectMeta, key: &ObjectKey, look: &mut Vec<ObjectKey>) {
        let Some(node) = self.nodes.get_mut(&meta.uid) else {
            return;
        };
        if node.owners == meta.owner_references {
            return;
        }
        let old = std::mem::replace(&mut node.owners, meta.owner_references.clone());
        let mut suspect = false;
        for reference in &meta.owner_references {
            if !old.iter().any(|known| known.uid == reference.uid) {
                suspect |= self.add_dependent(reference, &meta.uid, key, look);
            }
        }
        if suspect {
            look.push(key.clone());
        }
        for reference in &old {
            let now = meta.owner_references.iter().find(|r| r.uid == reference.uid);
            let Some(owner) = self.nodes.get_mut(&reference.uid) else {
                continue;
            };
            if now.is_none() {
                owner.dependents.remove(&meta.uid);
            }
            let unblocked = now.is_none_or(|now| !now.block_owner_deletion);
            if reference.block_owner_deletion && unblocked {
                look.extend(owner.key.clone());
            }
        }
    }

    /// Returns whether the dependent itself must be looked at: its reference may be wrong, or its
    /// owner is on its way out or known to be gone.
    fn add_dependent(
        &mut self,
        reference: &OwnerReference,
        uid: &Str,
        dependent: &ObjectKey,
        look: &mut Vec<ObjectKey>,
    ) -> bool {
        let key = coordinates(reference, dependent);
        if let Some(owner) = self.nodes.get_mut(&reference.uid) {
            owner.dependents.insert(uid.clone());
            return owner.key != key || owner.deleting_dependents;
        }
        if key.as_ref().is_some_and(|key| self.is_absent(key, &reference.uid)) {
            return true;
        }
        let node = Node {
            key: key.clone(),
            dependents: BTreeSet::from([uid.clone()]),
            is_virtual: true,
            ..Node::default()
        };
        self.nodes.insert(reference.uid.clone(), node);
        if let Some(key) = key {
            self.list_virtual(key.clone(), reference.uid.clone());
            look.push(key);
        }
        false
    }

    fn follow_transition(
        &mut self,
        before: Option<&Object>,
        object: &Object,
        key: &ObjectKey,
        look: &mut Vec<ObjectKey>,
    ) {
        let meta = object.meta();
        let again = |b: &Object| b.meta().resource_version == meta.resource_version;
        let starts = |finalizer| {
            let news = before.is_none_or(|b| again(b) || !awaits(b.meta(), finalizer));
            news && awaits(meta, finalizer)
        };
        if starts(ORPHAN) {
            look.push(key.clone());
        } else if starts(FOREGROUND) {
            look.extend(self.keys_of_dependents(&meta.uid));
            look.push(key.clone());
        }
    }

    /// The keys of what a node owns.
    pub fn keys_of_dependents(&self, uid: &str) -> Vec<ObjectKey> {
        let dependents = self.nodes.get(uid).map(|node| &node.dependents);
        let nodes = dependents.into_iter().flatten().filter_map(|uid| self.nodes.get(uid));
        nodes.filter_map(|node| node.key.clone()).collect()
    }

    /// An object is gone. Returns the keys that must be looked at.
    pub fn remove(&mut self, uid: &str) -> Vec<ObjectKey> {
        let mut look = self.keys_of_dependents(uid);
        let Some(node) = self.nodes.remove(uid) else {
            return look;
        };
        self.unlist_virtual(&node, uid);
        if let Some(key) = node.key.filter(|_| !node.dependents.is_empty()) {
            self.note_absent(key, uid.into());
        }
        for reference in &node.owners {
            if let Some(owner) = self.nodes.get_mut(&reference.uid) {
                owner.dependents.remove(uid);
                look.extend(owner.key.clone().filter(|_| owner.deleting_dependents));
            }
        }
        look
    }

    /// The server has no object of this uid at this key. Returns the keys that must be looked at.
    pub fn not_found(&mut self, key: &ObjectKey, uid: &Str) -> Vec<ObjectKey> {
        self.note_absent(key.clone(), uid.clone());
        let Some(node) = self.nodes.get(uid) else {
            return Vec::new();
        };
        let (matching, others) = self.partition(node, key, uid);
        let (is_virtual, is_here) = (node.is_virtual, node.key.as_ref() == Some(key));
        if (is_virtual && others.is_empty()) || (!is_virtual && is_here) {
            return self.remove(uid);
        }
        // Its dependents disagree on where it is: those that meant this place have no owner.
        let mut look = matching;
        if is_virtual && is_here {
            look.extend(self.move_virtual(key, uid));
        }
        look
    }

    /// Tries the next of the places where a virtual node is said to be.
    fn move_virtual(&mut self, key: &ObjectKey, uid: &Str) -> Option<ObjectKey> {
        let node = self.nodes.get(uid)?.clone();
        let mut places = BTreeSet::new();
        for dependent in node.dependents.iter().filter_map(|uid| self.nodes.get(uid)) {
            let dependent_key = dependent.key.as_ref()?;
            let named = dependent.owners.iter().filter(|r| r.uid == *uid);
            places.extend(named.filter_map(|r| coordinates(r, dependent_key)));
        }
        places.retain(|place| !self.is_absent(place, uid));
        let next = places.range(key..).next().or(places.first()).cloned();
        self.unlist_virtual(&node, uid);
        self.nodes.get_mut(uid)?.key.clone_from(&next);
        let next = next?;
        self.list_virtual(next.clone(), uid.clone());
        Some(next)
    }

    /// The server has this object. If no watch has shown it yet, it counts as there from now on.
    pub fn found(&mut self, object: &Object) {
        let (meta, key) = (object.meta(), object.key());
        let unseen = || Node { is_virtual: true, ..Node::default() };
        let node = self.nodes.get_or_insert_with(&meta.uid, unseen);
        let old = node.clone();
        node.key = Some(key.clone());
        if node.is_virtual {
            node.found = true;
            node.deleting_dependents = awaits(meta, FOREGROUND);
            self.unlist_virtual(&old, &meta.uid);
            self.list_virtual(key, meta.uid.clone());
        }
    }

    /// The keys of those dependents of a node that mean this place by its uid, and of the others.
    fn partition(
        &self,
        node: &Node,
        place: &ObjectKey,
        uid: &str,
    ) -> (Vec<ObjectKey>, Vec<ObjectKey>) {
        let (mut matching, mut others) = (Vec::new(), Vec::new());
        for dependent in node.dependents.iter().filter_map(|uid| self.nodes.get(uid)) {
            let Some(key) = &dependent.key else {
                continue;
            };
            let named = || dependent.owners.iter().filter(|r| *r.uid == *uid);
            let means = |r| coordinates(r, key).as_ref() == Some(place);
            if named().any(means) {
                matching.push(key.clone());
            }
            if !named().all(means) {
                others.push(key.clone());
            }
        }
        (matching, others)
    }

    fn list_virtual(&mut self, key: ObjectKey, uid: Str) {
        self.virtuals.entry(key).or_default().insert(uid);
    }

    fn unlist_virtual(&mut self, node: &Node, uid: &str) {
        let Some(key) = node.key.as_ref().filter(|_| node.is_virtual) else {
            return;
        };
        if let Some(uids) = self.virtuals.get_mut(key) {
            uids.remove(uid);
            if uids.is_empty() {
                self.virtuals.remove(key);
            }
        }
    }

    fn is_absent(&self, key: &ObjectKey, uid: &Str) -> bool {
        !self.absent.is_empty() && self.absent.contains(&(key.clone(), uid.clone()))
    }

    fn note_absent(&mut self, key: ObjectKey, uid: Str) {
        if self.absent.insert((key.clone(), uid.clone())) {
            self.absent_in_order.push_back((key, uid));
        }
        if self.absent_in_order.len() > ABSENT_LIMIT
            && let Some(oldest) = self.absent_in_order.pop_front()
        {
            self.absent.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use serde_json::json;

    fn owned_by(uid: &str, owners: &[&str]) -> Object {
        let owner =
            |uid: &&str| json!({"apiVersion": "v1", "kind": "Pod", "name": uid, "uid": uid});
        let owners: Vec<_> = owners.iter().map(owner).collect();
        let meta = json!({"name": uid, "namespace": "n", "uid": uid, "ownerReferences": owners});
        Object::from_value(Kind::Pod, json!({"metadata": meta})).expect("a pod")
    }

    #[test]
    fn an_owner_that_was_taken_for_gone_has_its_dependents_when_it_is_seen() {
        let mut graph = Graph::default();
        graph.observe(None, &owned_by("owner", &[]));
        graph.observe(None, &owned_by("first", &["owner"]));
        graph.remove("owner");
        graph.observe(None, &owned_by("second", &["owner"]));
        graph.observe(None, &owned_by("owner", &[]));
        let dependents = &graph.node("owner").expect("it is there").dependents;
        assert_eq!(dependents.iter().map(|uid| &**uid).collect::<Vec<_>>(), ["first", "second"]);
    }
}
