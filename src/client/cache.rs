//! A controller's cache: what its reflectors have told it, and nothing else (client-go `Indexer`).
//! Two indexes as in Kubernetes: by the controlling owner's uid, and, for what no one controls, by
//! namespace. The pods of an owner are counted on the side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::{
    Deployment, Kind, Lease, Node, Object, ObjectKey, ObjectMap, Pod, ReplicaSet, Str,
};

use super::pod_groups::{PodGroup, PodGroups};

/// The objects of one kind that an index names.
type Ids = BTreeSet<ObjectKey>;

/// The objects that a controller knows.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    objects: ObjectMap,
    /// How many there are of each kind that it ever knew.
    kinds: BTreeMap<Kind, usize>,
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
        let before = self.objects.insert(object.clone());
        *self.kinds.entry(object.kind()).or_default() += usize::from(before.is_none());
        self.count_pod(&object, PodGroups::add);
        if let Some(before) = &before {
            self.count_pod(before, PodGroups::remove);
        }
        if before.as_ref().is_none_or(|b| owner_of(b) != owner_of(&object)) {
            if let Some(before) = &before {
                self.unindex(before);
            }
            self.index_of(&object).insert(object.key());
        }
        before
    }

    /// Forgets an object; returns it.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let object = self.objects.remove(key)?;
        if let Some(count) = self.kinds.get_mut(&key.kind) {
            *count -= 1;
        }
        self.unindex(&object);
        self.count_pod(&object, PodGroups::remove);
        Some(object)
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    fn each<'a>(&'a self, ids: Option<&'a Ids>) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        ids.into_iter().flatten().filter_map(|key| self.get(key))
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.objects.of_kind(kind)
    }

    /// The kinds of which it knows objects.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.kinds.keys().copied()
    }

    /// How many objects of a kind it knows.
    pub fn count(&self, kind: Kind) -> usize {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// All objects of a kind in a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        self.objects.in_namespace(kind, namespace)
    }

    /// All objects of a kind whose controlling owner has this uid, by name.
    pub fn owned_by(&self, kind: Kind, uid: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.each(self.by_owner.get(&(kind, uid.clone())))
    }

    /// All objects of a kind in a namespace that nobody controls, by name.
    pub fn orphans(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.each(self.orphans.get(&(kind, namespace.clone())))
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
        ids.remove(&object.key());
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

fn owner_of(object: &Object) -> Option<&Str> {
    object.meta().controller().map(|owner| &owner.uid)
}
