//! Objects by key. One is found by a hash of its name, whatever others there are, and all stand in
//! the order of their keys. Thousands of pods have names that begin alike: to look for one of them
//! in a tree means to read the names of a dozen others, from all over the memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::kernel::stable_hash;

use super::{Kind, Object, ObjectKey};

/// Objects by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct ObjectMap {
    /// Where each object stands, in the order of keys.
    order: BTreeMap<ObjectKey, u32>,
    objects: Vec<Option<Arc<Object>>>,
    /// Places in `objects` that are free.
    free: Vec<u32>,
    /// Where each object stands, by hash. It is never gone through: its order says nothing.
    places: HashTable<u32>,
}

impl ObjectMap {
    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.find(key.kind, &key.namespace, &key.name)
    }

    /// The object of this kind, namespace and name.
    pub fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        let is_it = |place: &u32| is(at(&self.objects, *place), kind, namespace, name);
        at(&self.objects, *self.places.find(hash_of(namespace, name), is_it)?)
    }

    /// Whether there is an object of this key.
    pub fn contains_key(&self, key: &ObjectKey) -> bool {
        self.get(key).is_some()
    }

    /// Stores an object under its key; returns the one that it replaces.
    pub fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let (kind, meta) = (object.kind(), object.meta());
        let (namespace, name) = (&meta.namespace, &meta.name);
        let hash = hash_of(namespace, name);
        let is_it = |place: &u32| is(at(&self.objects, *place), kind, namespace, name);
        if let Some(place) = self.places.find(hash, is_it).copied() {
            return self.objects[place as usize].replace(object);
        }
        let key = object.key();
        let place = self.take_place(object);
        self.order.insert(key, place);
        let objects = &self.objects;
        self.places.insert_unique(hash, place, |place| {
            let meta = at(objects, *place).map(|object| object.meta());
            meta.map_or(0, |meta| hash_of(&meta.namespace, &meta.name))
        });
        None
    }

    /// Takes an object out.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let ObjectKey { kind, namespace, name } = key;
        let is_it = |place: &u32| is(at(&self.objects, *place), *kind, namespace, name);
        let (place, _) = self.places.find_entry(hash_of(namespace, name), is_it).ok()?.remove();
        self.order.remove(key);
        self.free.push(place);
        self.objects[place as usize].take()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// All of them, in the order of keys.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.order.values().filter_map(|place| at(&self.objects, *place))
    }

    /// All of a kind, in the order of keys.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        let from = self.order.range(ObjectKey::new(kind, "", "")..);
        let own = from.take_while(move |(key, _)| key.kind == kind);
        own.filter_map(|(_, place)| at(&self.objects, *place))
    }

    /// All of a kind in a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        let first = Bound::Included(ObjectKey::new(kind, namespace, ""));
        let from = self.order.range((first, Bound::Unbounded));
        let is_own = move |key: &ObjectKey| key.kind == kind && *key.namespace == *namespace;
        let own = from.take_while(move |(key, _)| is_own(key));
        own.filter_map(|(_, place)| at(&self.objects, *place))
    }

    fn take_place(&mut self, object: Arc<Object>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.objects[place as usize] = Some(object);
            return place;
        }
        self.objects.push(Some(object));
        // As many objects as that fit into no memory.
        u32::try_from(self.objects.len() - 1).unwrap_or(u32::MAX)
    }
}

fn at(objects: &[Option<Arc<Object>>], place: u32) -> Option<&Arc<Object>> {
    objects.get(place as usize)?.as_ref()
}

fn is(object: Option<&Arc<Object>>, kind: Kind, namespace: &str, name: &str) -> bool {
    object.is_some_and(|object| {
        let meta = object.meta();
        *meta.name == *name && *meta.namespace == *namespace && object.kind() == kind
    })
}

/// Kinds are told apart when one is found: few objects of different kinds have one name.
fn hash_of(namespace: &str, name: &str) -> u64 {
    let seed = namespace.bytes().fold(0_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    stable_hash(seed, name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Pod;
    use crate::kernel::Rng;

    fn pod(namespace: &str, name: &str, version: u64) -> Arc<Object> {
        let mut pod = Pod::default();
        (pod.metadata.namespace, pod.metadata.name) = (namespace.into(), name.into());
        pod.metadata.resource_version = version;
        Arc::new(pod.into())
    }

    #[test]
    fn it_is_as_a_tree_is_whatever_comes_and_goes() {
        let (mut map, mut tree) = (ObjectMap::default(), BTreeMap::new());
        let mut rng = Rng::stream(1, "test");
        for version in 0..5_000 {
            let (namespace, name) = (rng.below(3).to_string(), rng.below(200).to_string());
            let object = pod(&namespace, &name, version);
            let key = object.key();
            assert_eq!(map.contains_key(&key), tree.contains_key(&key));
            if rng.below(5) < 3 {
                assert_eq!(map.insert(object.clone()), tree.insert(key, object));
            } else {
                assert_eq!(map.remove(&key), tree.remove(&key));
            }
            assert_eq!(map.len(), tree.len());
        }
        assert!(map.iter().eq(tree.values()));
        assert!(tree.iter().all(|(key, object)| map.get(key) == Some(object)));
        assert_eq!(map.places.len(), map.len());
    }

    #[test]
    fn kinds_and_namespaces_are_told_apart() {
        let mut map = ObjectMap::default();
        let set = crate::api::ReplicaSet {
            metadata: pod("b", "x", 0).meta().clone(),
            ..Default::default()
        };
        for object in [pod("b", "x", 0), pod("a", "y", 0), pod("b", "w", 0), Arc::new(set.into())] {
            map.insert(object);
        }
        let names = |objects: Vec<&Arc<Object>>| -> Vec<String> {
            objects.iter().map(|object| object.meta().name.to_string()).collect()
        };
        assert_eq!(names(map.of_kind(Kind::Pod).collect()), ["y", "w", "x"]);
        assert_eq!(names(map.in_namespace(Kind::Pod, "b").collect()), ["w", "x"]);
        assert_eq!(
            map.find(Kind::ReplicaSet, "b", "x").map(|set| set.kind()),
            Some(Kind::ReplicaSet)
        );
        assert!(map.find(Kind::ReplicaSet, "b", "w").is_none());
    }
}
