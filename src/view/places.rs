//! What must not jump from one look to the next: the place of each pod, and when a thing changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Object, Str};
use crate::kernel::Time;

use super::stage::PodLook;

/// Places shown on a node at least.
const PLACES_MIN: u32 = 6;

/// What the page remembers between two looks at a lane. A fresh one is always right; an old one
/// keeps things where they were.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The place of each pod, by node ("" is the tray).
    places: BTreeMap<Str, BTreeMap<Str, u32>>,
    /// How many places each node was ever shown with.
    sizes: BTreeMap<Str, u32>,
    /// Since when each pod has looked as it does.
    looks: BTreeMap<Str, (PodLook, Time)>,
    /// The version of each board object, when it came about, and the fields that changed.
    versions: BTreeMap<Str, (u64, Time, Vec<Str>)>,
    last: BTreeMap<Str, std::sync::Arc<Object>>,
}

impl Memory {
    /// Gives each of these pods (by uid) its place on a node: the one it has, else the first free.
    pub fn place(&mut self, node: &Str, uids: &[Str]) -> Vec<u32> {
        let places = self.places.entry(node.clone()).or_default();
        let present: BTreeSet<&Str> = uids.iter().collect();
        places.retain(|uid, _| present.contains(uid));
        let mut taken: BTreeSet<u32> = places.values().copied().collect();
        let mut next_free = 0;
        uids.iter()
            .map(|uid| {
                *places.entry(uid.clone()).or_insert_with(|| {
                    while !taken.insert(next_free) {
                        next_free += 1;
                    }
                    next_free
                })
            })
            .collect()
    }

    /// How many places a node is shown with: never fewer than before.
    pub fn size(&mut self, node: &Str, used: u32) -> u32 {
        let size = self.sizes.entry(node.clone()).or_insert(PLACES_MIN);
        *size = (*size).max(used);
        *size
    }

    /// Since when a pod has looked like this.
    pub fn looks(&mut self, uid: &Str, look: PodLook, now: Time) -> Time {
        let entry = self.looks.entry(uid.clone()).or_insert((look, now));
        if entry.0 != look || entry.1 > now {
            *entry = (look, now);
        }
        entry.1
    }

    /// When an object last changed since it was first looked at, and in which fields.
    pub fn changed(
        &mut self,
        object: &std::sync::Arc<Object>,
        now: Time,
    ) -> Option<(Time, Vec<Str>)> {
        let (uid, version) = (object.meta().uid.clone(), object.meta().resource_version);
        let before = self.last.insert(uid.clone(), object.clone());
        let entry = self.versions.entry(uid).or_insert_with(|| (version, now, Vec::new()));
        if entry.0 != version {
            let fields = before.map(|before| changed_fields(&before, object)).unwrap_or_default();
            *entry = (version, now, fields);
        }
        let (_, at, fields) = entry;
        (!fields.is_empty() && *at <= now).then(|| (*at, fields.clone()))
    }

    /// Forgets the past: after a jump in time nothing shall flash.
    pub fn jump(&mut self) {
        self.versions.clear();
        self.last.clear();
        self.looks.clear();
    }
}

fn changed_fields(before: &Object, after: &Object) -> Vec<Str> {
    let (before, after) = (before.to_value(), after.to_value());
    let mut fields = Vec::new();
    for part in ["spec", "status"] {
        let empty = serde_json::Map::new();
        let of = |value: &serde_json::Value| {
            value.get(part).and_then(|v| v.as_object()).cloned().unwrap_or(empty.clone())
        };
        let (old, new) = (of(&before), of(&after));
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
        fields.extend(changed.map(|name| Str::from(format!("{part}.{name}"))));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_keeps_its_place_while_it_lives_and_frees_it_when_it_goes() {
        let mut memory = Memory::default();
        let node: Str = "node-1".into();
        let names = |list: &[&str]| list.iter().map(|n| Str::from(*n)).collect::<Vec<_>>();
        assert_eq!(memory.place(&node, &names(&["a", "b", "c"])), [0, 1, 2]);
        assert_eq!(memory.place(&node, &names(&["a", "c"])), [0, 2]);
        assert_eq!(memory.place(&node, &names(&["a", "c", "d", "e"])), [0, 2, 1, 3]);
    }
}
