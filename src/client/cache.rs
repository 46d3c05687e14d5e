//! A controller's cache: what its reflectors have told it, and nothing else (client-go `Indexer`).
//! Two indexes as in Kubernetes: by the controlling owner's uid, and, for what no one controls, by
//! namespace. The pods of an owner are counted on the side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::{Deployment, Kind, Lease, Node, Object, ObjectKey, Pod, ReplicaSet, Str};

use super::pod_groups::{PodGroup, PodGroups};

/// Objects of one kind, by namespace and name.
type Named = BTreeMap<Str, BTreeMap<Str, Arc<Object>>>;
/// Namespaces and names.
type Ids = BTreeSet<(Str, Str)>;

/// The objects that a controller knows.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    kinds: BTreeMap<Kind, Named>,
    by_owner: BTreeMap<(Kind, Str), Ids>,
    orphans: BTreeMap<(Kind, Str), Ids>,
    pod_groups: BTreeMap<Str, PodGroups>,
}

impl Cache {
    /// A cache that knows these objects.
    pub fn of(objects: impl IntoIterator<Item = Object>) -> Cache {
        let mut cache = Cache::default();
        for object in objects {
            cache.put(Arc::new(object));
        }
        cache
    }

    /// Stores an object; returns the one that it replaces.
    pub fn put(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let named = self.kinds.entry(object.kind()).or_default();
        let meta = object.meta();
        let before = match named.get_mut(&meta.namespace) {
            Some(names) => names.insert(meta.name.clone(), object.clone()),
            None => {
                let names = BTreeMap::from([(meta.name.clone(), object.clone())]);
                named.insert(meta.namespace.clone(), names);
                None
            }
        };
        self.count_pod(&object, PodGroups::add);
        if let Some(before) = &before {
            self.count_pod(before, PodGroups::remove);
        }
        if before.as_ref().is_none_or(|b| owner_of(b) != owner_of(&object)) {
            if let Some(before) = &before {
                self.unindex(before);
            }
            self.index_of(&object).insert(id_of(&object));
        }
        before
    }

    /// Forgets an object; returns it.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let named = self.kinds.get_mut(&key.kind)?;
        let names = named.get_mut(&key.namespace)?;
        let object = names.remove(&key.name)?;
        if names.is_empty() {
            named.remove(&key.namespace);
        }
        self.unindex(&object);
        self.count_pod(&object, PodGroups::remove);
        Some(object)
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.named(key.kind, &key.namespace, &key.name)
    }

    fn named(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        self.kinds.get(&kind)?.get(namespace)?.get(name)
    }

    fn each<'a>(
        &'a self,
        kind: Kind,
        ids: Option<&'a Ids>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        let ids = ids.into_iter().flatten();
        ids.filter_map(move |(namespace, name)| self.named(kind, namespace, name))
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.kinds.get(&kind).into_iter().flatten().flat_map(|(_, names)| names.values())
    }

    /// The kinds of which it knows objects.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.kinds.keys().copied()
    }

    /// How many objects of a kind it knows.
    pub fn count(&self, kind: Kind) -> usize {
        self.kinds.get(&kind).map_or(0, |named| named.values().map(BTreeMap::len).sum())
    }

    /// All objects of a kind in a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        let names = self.kinds.get(&kind).and_then(|named| named.get(namespace));
        names.into_iter().flat_map(|names| names.values())
    }

    /// All objects of a kind whose controlling owner has this uid, by name.
    pub fn owned_by(&self, kind: Kind, uid: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.each(kind, self.by_owner.get(&(kind, uid.clone())))
    }

    /// All objects of a kind in a namespace that nobody controls, by name.
    pub fn orphans(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.each(kind, self.orphans.get(&(kind, namespace.clone())))
    }

    /// The pods of the controlling owner with this uid, in any namespace, counted.
    pub fn pod_groups(&self, uid: &Str) -> impl Iterator<Item = &PodGroup> + '_ {
        self.pod_groups.get(uid).into_iter().flat_map(PodGroups::iter)
    }

    /// The Pod of this key.
    pub fn pod(&self, key: &ObjectKey) -> Option<&Pod> {
        self.get(key)?.as_pod()
    }

    /// The ReplicaSet of this key.
    pub fn replica_set(&self, key: &ObjectKey) -> Option<&ReplicaSet> {
        self.get(key)?.as_replica_set()
    }

    /// The Deployment of this key.
    pub fn deployment(&self, key: &ObjectKey) -> Option<&Deployment> {
        self.get(key)?.as_deployment()
    }

    /// The Node of this name.
    pub fn node(&self, name: &Str) -> Option<&Node> {
        self.get(&ObjectKey::new(Kind::Node, "", name.clone()))?.as_node()
    }

    /// The Lease of this key.
    pub fn lease(&self, key: &ObjectKey) -> Option<&Lease> {
        self.get(key)?.as_lease()
    }

    fn count_pod(&mut self, object: &Object, how: fn(&mut PodGroups, &Pod)) {
        let (Some(pod), Some(uid)) = (object.as_pod(), owner_of(object)) else { return };
        let groups = self.pod_groups.entry(uid.clone()).or_default();
        how(groups, pod);
        if groups.is_empty() {
            self.pod_groups.remove(uid);
        }
    }

    fn index_of(&mut self, object: &Object) -> &mut Ids {
        let (kind, meta) = (object.kind(), object.meta());
        match meta.controller() {
            Some(owner) => self.by_owner.entry((kind, owner.uid.clone())).or_default(),
            None => self.orphans.entry((kind, meta.namespace.clone())).or_default(),
        }
    }

    fn unindex(&mut self, object: &Object) {
        let ids = self.index_of(object);
        ids.remove(&id_of(object));
        if ids.is_empty() {
            self.drop_empty_index(object);
        }
    }

    fn drop_empty_index(&mut self, object: &Object) {
        let (kind, meta) = (object.kind(), object.meta());
        match meta.controller() {
            Some(owner) => self.by_owner.remove(&(kind, owner.uid.clone())),
            None => self.orphans.remove(&(kind, meta.namespace.clone())),
        };
    }
}

fn id_of(object: &Object) -> (Str, Str) {
    (object.meta().namespace.clone(), object.meta().name.clone())
}

fn owner_of(object: &Object) -> Option<&Str> {
    object.meta().controller().map(|owner| &owner.uid)
}
