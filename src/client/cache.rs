//! A controller's cache: what its reflectors have told it, and nothing else (client-go `Indexer`).
//! Two indexes as in Kubernetes: by the controlling owner's uid, and, for what no one controls, by
//! namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Deployment, Kind, Lease, Node, Object, ObjectKey, Pod, ReplicaSet, Str};

type Named = BTreeMap<(Str, Str), Arc<Object>>;

/// The objects that a controller knows.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    kinds: BTreeMap<Kind, Named>,
    by_owner: BTreeMap<(Kind, Str), Named>,
    orphans: BTreeMap<(Kind, Str), Named>,
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
        let (kind, id) = (object.kind(), id_of(&object));
        let before = self.kinds.entry(kind).or_default().insert(id.clone(), object.clone());
        let moved = before.as_ref().is_none_or(|b| owner_of(b) != owner_of(&object));
        if let (true, Some(before)) = (moved, &before) {
            self.unindex(before);
        }
        self.index_of(&object).insert(id, object);
        before
    }

    /// Forgets an object; returns it.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let id = (key.namespace.clone(), key.name.clone());
        let object = self.kinds.get_mut(&key.kind)?.remove(&id)?;
        self.unindex(&object);
        Some(object)
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        let id = (key.namespace.clone(), key.name.clone());
        self.kinds.get(&key.kind)?.get(&id)
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.kinds.get(&kind).into_iter().flat_map(|named| named.values())
    }

    /// The kinds of which it knows objects.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.kinds.keys().copied()
    }

    /// How many objects of a kind it knows.
    pub fn count(&self, kind: Kind) -> usize {
        self.kinds.get(&kind).map_or(0, |named| named.len())
    }

    /// All objects of a kind in a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        self.all(kind).filter(move |object| &*object.meta().namespace == namespace)
    }

    /// All objects of a kind whose controlling owner has this uid, by name.
    pub fn owned_by(&self, kind: Kind, uid: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.by_owner.get(&(kind, uid.clone())).into_iter().flat_map(|named| named.values())
    }

    /// All objects of a kind in a namespace that nobody controls, by name.
    pub fn orphans(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.orphans.get(&(kind, namespace.clone())).into_iter().flat_map(|named| named.values())
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

    fn index_of(&mut self, object: &Object) -> &mut Named {
        let (kind, meta) = (object.kind(), object.meta());
        match meta.controller() {
            Some(owner) => self.by_owner.entry((kind, owner.uid.clone())).or_default(),
            None => self.orphans.entry((kind, meta.namespace.clone())).or_default(),
        }
    }

    fn unindex(&mut self, object: &Object) {
        let named = self.index_of(object);
        named.remove(&id_of(object));
        if named.is_empty() {
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
