//! Objects by key. One is found by a hash of its name, whatever others there are: thousands of pods
//! have names that begin alike, and to look for one of them in a tree means to read the names of a
//! dozen others, from all over the memory. For the same reason the order of keys is found only when
//! somebody asks for it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;

use crate::kernel::stable_hash;

use super::{Kind, Object, ObjectKey, Str};

/// Objects by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct ObjectMap {
    objects: Vec<Option<Arc<Object>>>,
    /// Where each object stands, by hash. It is never gone through: its order says nothing.
    places: HashTable<Place>,
    /// Places in `objects` that are free.
    free: Vec<u32>,
    kinds: BTreeMap<Kind, Ordered>,
}

/// Where an object stands. It knows its hash, so that nobody looks at the object to see that it is
/// another one, or to make the table larger.
#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u32,
    place: u32,
}

impl Place {
    /// What the table takes for a hash.
    fn in_table(&self) -> u64 {
        in_table(self.hash)
    }
}

/// The places of one kind. To find their order costs as much as to go through them once.
#[derive(Clone, Debug, Default)]
struct Ordered {
    /// How many there are.
    count: usize,
    /// In the order of keys; not known since something came or went.
    order: OnceLock<Vec<u32>>,
    /// The order as it was known last. Some of them may be free by now.
    before: Vec<u32>,
    /// What came since.
    added: Vec<u32>,
    /// What is free since, and not to be taken again before the order is known.
    freed: Vec<u32>,
}

impl Ordered {
    /// Something comes or goes. What was free may be taken again if the order was known.
    fn change(&mut self, free: &mut Vec<u32>) {
        if let Some(order) = self.order.take() {
            self.before = order;
            self.added.clear();
            free.append(&mut self.freed);
        }
    }

    /// Far more has gone than is there: it is not to pile up though nobody asks for the order.
    fn is_worn(&self) -> bool {
        self.freed.len() > 64 + self.count
    }

    /// What has gone may be taken again, though the order is not known.
    fn forget_gone(&mut self, objects: &[Option<Arc<Object>>], free: &mut Vec<u32>) {
        let is_there = |place: &u32| at(objects, *place).is_some();
        self.before.retain(is_there);
        self.added.retain(is_there);
        free.append(&mut self.freed);
    }

    fn places(&self, objects: &[Option<Arc<Object>>]) -> &[u32] {
        self.order.get_or_init(|| {
            let is_there = |place: &&u32| at(objects, **place).is_some();
            let mut added: Vec<u32> = self.added.iter().filter(is_there).copied().collect();
            added.sort_unstable_by(|one, other| {
                name_at(objects, *one).cmp(&name_at(objects, *other))
            });
            let before = self.before.iter().filter(is_there).copied();
            merged(before, added, |one, other| name_at(objects, one) < name_at(objects, other))
        })
    }
}

/// Namespace and name of what stands there.
fn name_at(objects: &[Option<Arc<Object>>], place: u32) -> Option<(&Str, &Str)> {
    at(objects, place).map(|object| (&object.meta().namespace, &object.meta().name))
}

/// Two lists in their order as one.
fn merged(
    one: impl Iterator<Item = u32>,
    other: Vec<u32>,
    is_before: impl Fn(u32, u32) -> bool,
) -> Vec<u32> {
    let mut all = Vec::with_capacity(one.size_hint().1.unwrap_or(0) + other.len());
    let mut other = other.into_iter().peekable();
    for place in one {
        while let Some(next) = other.next_if(|next| is_before(*next, place)) {
            all.push(next);
        }
        all.push(place);
    }
    all.extend(other);
    all
}

impl ObjectMap {
    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.find(key.kind, &key.namespace, &key.name)
    }

    /// The object of this kind, namespace and name.
    pub fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        let hash = hash_of(namespace, name);
        at(&self.objects, self.place_of(hash, kind, namespace, name)?)
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
        if let Some(place) = self.place_of(hash, kind, namespace, name) {
            return self.objects[place as usize].replace(object);
        }
        let place = self.take_place(object);
        let own = self.kinds.entry(kind).or_default();
        own.change(&mut self.free);
        own.added.push(place);
        own.count += 1;
        self.places.insert_unique(in_table(hash), Place { hash, place }, Place::in_table);
        None
    }

    /// Takes an object out.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let ObjectKey { kind, namespace, name } = key;
        let (hash, objects) = (hash_of(namespace, name), &self.objects);
        let is_it =
            |it: &Place| it.hash == hash && is(at(objects, it.place), *kind, namespace, name);
        let (Place { place, .. }, _) = self.places.find_entry(in_table(hash), is_it).ok()?.remove();
        let object = self.objects[place as usize].take();
        let own = self.kinds.entry(*kind).or_default();
        own.change(&mut self.free);
        own.freed.push(place);
        own.count -= 1;
        if own.is_worn() {
            own.forget_gone(&self.objects, &mut self.free);
        }
        object
    }

    fn place_of(&self, hash: u32, kind: Kind, namespace: &str, name: &str) -> Option<u32> {
        let is_it =
            |it: &Place| it.hash == hash && is(at(&self.objects, it.place), kind, namespace, name);
        self.places.find(in_table(hash), is_it).map(|it| it.place)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All of them, in the order of keys.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.kinds.keys().flat_map(|kind| self.of_kind(*kind))
    }

    /// All of a kind, in the order of keys.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.order(kind).iter().filter_map(|place| at(&self.objects, *place))
    }

    /// All of a kind in a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        let all = self.order(kind);
        let of = |place: u32| name_at(&self.objects, place).map_or("", |(namespace, _)| namespace);
        let from = all.partition_point(|place| of(*place) < namespace);
        let own = all[from..].iter().take_while(move |place| of(**place) == namespace);
        own.filter_map(|place| at(&self.objects, *place))
    }

    /// The places of a kind, in the order of keys.
    fn order(&self, kind: Kind) -> &[u32] {
        self.kinds.get(&kind).map_or(&[], |own| own.places(&self.objects))
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
fn hash_of(namespace: &str, name: &str) -> u32 {
    let seed = namespace.bytes().fold(0_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    stable_hash(seed, name.as_bytes()) as u32
}

/// The table goes by the highest bits and by the lowest.
fn in_table(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
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
            // Sometimes the order is asked for, and mostly not.
            if rng.below(9) == 0 {
                assert!(map.iter().eq(tree.values()));
            }
        }
        assert!(map.iter().eq(tree.values()));
        assert!(tree.iter().all(|(key, object)| map.get(key) == Some(object)));
        assert_eq!(map.places.len(), map.len());
    }

    #[test]
    fn what_comes_and_goes_takes_no_more_room_though_nobody_asks_for_the_order() {
        let mut map = ObjectMap::default();
        for version in 0..10_000 {
            let object = pod("a", &version.to_string(), version);
            map.insert(object.clone());
            map.remove(&object.key());
        }
        assert!(map.is_empty());
        assert!(map.objects.len() < 100, "{}", map.objects.len());
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
