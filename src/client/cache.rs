//! A controller's cache: what its reflectors have told it, and nothing else (client-go `Indexer`).
//! Two indexes as in Kubernetes: by the controlling owner's uid, and, for what no one controls, by
//! namespace. The pods of an owner are counted on the side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

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
    /// Each kind that it ever knew.
    kinds: BTreeMap<Kind, Known>,
    /// By the owner's uid; as an index, made when somebody asks for it first.
    pod_groups: OnceLock<BTreeMap<Str, PodGroups>>,
}

/// What is kept of one kind.
#[derive(Clone, Debug, Default)]
struct Known {
    count: usize,
    /// Made when somebody asks for it first, and kept up to date from then on. Most controllers
    /// never ask who owns the pods that they watch.
    index: OnceLock<Index>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    /// By the owner's uid.
    by_owner: BTreeMap<Str, Ids>,
    /// By their namespace.
    orphans: BTreeMap<Str, Ids>,
}

impl Index {
    fn ids_of(&mut self, object: &Object) -> &mut Ids {
        let (ids, name) = self.place_of(object);
        ids.entry(name.clone()).or_default()
    }

    fn place_of<'a>(&mut self, object: &'a Object) -> (&mut BTreeMap<Str, Ids>, &'a Str) {
        match owner_of(object) {
            Some(uid) => (&mut self.by_owner, uid),
            None => (&mut self.orphans, &object.meta().namespace),
        }
    }

    fn add(&mut self, object: &Object) {
        self.ids_of(object).insert(object.key());
    }

    fn remove(&mut self, object: &Object) {
        let ids = self.ids_of(object);
        ids.remove(&object.key());
        if ids.is_empty() {
            let (all, name) = self.place_of(object);
            all.remove(name);
        }
    }
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
        if let Some(groups) = self.pod_groups.get_mut() {
            count_pod(groups, &object, PodGroups::add);
            before.iter().for_each(|before| count_pod(groups, before, PodGroups::remove));
        }
        let known = self.kinds.entry(object.kind()).or_default();
        known.count += usize::from(before.is_none());
        if let Some(index) = known.index.get_mut()
            && before.as_ref().is_none_or(|b| owner_of(b) != owner_of(&object))
        {
            before.iter().for_each(|before| index.remove(before));
            index.add(&object);
        }
        before
    }

    /// Forgets an object; returns it.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let object = self.objects.remove(key)?;
        if let Some(groups) = self.pod_groups.get_mut() {
            count_pod(groups, &object, PodGroups::remove);
        }
        if let Some(known) = self.kinds.get_mut(&key.kind) {
            known.count -= 1;
            known.index.get_mut().into_iter().for_each(|index| index.remove(&object));
        }
        Some(object)
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    fn index(&self, kind: Kind) -> Option<&Index> {
        let known = self.kinds.get(&kind)?;
        Some(known.index.get_or_init(|| {
            let mut index = Index::default();
            self.all(kind).for_each(|object| index.add(object));
            index
        }))
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
        self.kinds.get(&kind).map_or(0, |known| known.count)
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
        self.each(self.index(kind).and_then(|index| index.by_owner.get(uid)))
    }

    /// All objects of a kind in a namespace that nobody controls, by name.
    pub fn orphans(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.each(self.index(kind).and_then(|index| index.orphans.get(namespace)))
    }

    /// The pods of the controlling owner with this uid, in any namespace, counted.
    pub fn pod_groups(&self, uid: &Str) -> impl Iterator<Item = &PodGroup> + '_ {
        let all = self.pod_groups.get_or_init(|| {
            let mut groups = BTreeMap::new();
            let pods = self.all(Kind::Pod);
            pods.for_each(|pod| count_pod(&mut groups, pod, PodGroups::add));
            groups
        });
        all.get(uid).into_iter().flat_map(PodGroups::iter)
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
}

fn count_pod(all: &mut BTreeMap<Str, PodGroups>, object: &Object, how: fn(&mut PodGroups, &Pod)) {
    let (Some(pod), Some(uid)) = (object.as_pod(), owner_of(object)) else { return };
    let groups = all.entry(uid.clone()).or_default();
    how(groups, pod);
    if groups.is_empty() {
        all.remove(uid);
    }
}

fn owner_of(object: &Object) -> Option<&Str> {
    object.meta().controller().map(|owner| &owner.uid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kernel::Rng;

    fn pod(name: u64, owner: u64, ready: bool) -> Arc<Object> {
        let uid = format!("uid-{owner}");
        let reference = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": uid,
            "uid": uid, "controller": true});
        // Of the first owner they are orphans.
        let owners = if owner == 0 { json!([]) } else { json!([reference]) };
        let name = format!("pod-{name}");
        let meta = json!({"name": name, "namespace": "default", "ownerReferences": owners});
        let ready = if ready { "True" } else { "False" };
        let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
        let value = json!({"metadata": meta, "status": status});
        Arc::new(Object::from_value(Kind::Pod, value).expect("a pod"))
    }

    #[test]
    fn whoever_asks_late_is_told_the_same_as_who_asked_from_the_start() {
        fn told(cache: &Cache) -> Vec<String> {
            let mut told = Vec::new();
            for owner in (0..4).map(|owner| Str::from(format!("uid-{owner}"))) {
                let own = cache.owned_by(Kind::Pod, &owner);
                told.extend(own.map(|pod| pod.meta().name.to_string()));
                let mut groups: Vec<_> =
                    cache.pod_groups(&owner).map(|group| (group.ready, group.count)).collect();
                groups.sort_unstable();
                told.push(format!("{owner} {groups:?}"));
            }
            let orphans = cache.orphans(Kind::Pod, &"default".into());
            told.extend(orphans.map(|pod| pod.meta().name.to_string()));
            told
        }
        let (mut early, mut late) = (Cache::default(), Cache::default());
        let mut rng = Rng::stream(1, "test");
        for _ in 0..500 {
            let object = pod(rng.below(20), rng.below(4), rng.below(2) == 0);
            if rng.below(3) == 0 {
                assert_eq!(early.remove(&object.key()), late.remove(&object.key()));
            } else {
                assert_eq!(early.put(object.clone()), late.put(object));
            }
            assert_eq!(told(&early), told(&late.clone()));
        }
        assert!(late.pod_groups.get().is_none(), "it was never asked itself");
    }
}
