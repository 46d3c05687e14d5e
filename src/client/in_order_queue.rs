//! The queue between a reflector and the cache that keeps every event in order (client-go
//! `tools/cache/the_real_fifo.go`; on by default since v1.33, the only one since v1.36).
//!
//! Since v1.36 a list or a resync is one item, which is compared with the store when it is popped
//! (`AtomicFIFO`). Here it is split when it comes, as it was before. What handlers see is the same.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::api::{Object, ObjectKey};

use super::delta::{Delta, DeltaType, KnownObjects};

/// The queue.
#[derive(Clone, Debug, Default)]
pub struct InOrderQueue {
    items: VecDeque<Delta>,
    /// Whether anything was ever put in.
    is_populated: bool,
    /// Events of the first list that were not popped yet.
    initial: usize,
}

impl InOrderQueue {
    /// Whether the first list was popped to its end.
    pub fn has_synced(&self) -> bool {
        self.is_populated && self.initial == 0
    }

    /// A watch told of this.
    pub fn push(&mut self, kind: DeltaType, object: Arc<Object>) {
        self.is_populated = true;
        self.items.push_back(Delta::told(kind, object));
    }

    /// A list has these objects and no others. What waits or is known and is not in it, is gone:
    /// the tombstones come first.
    pub fn replace(&mut self, objects: Vec<Arc<Object>>, known: &dyn KnownObjects) {
        let listed: BTreeSet<ObjectKey> = objects.iter().map(|object| object.key()).collect();
        let mut waiting: BTreeMap<ObjectKey, Delta> = BTreeMap::new();
        let mut in_order = Vec::new();
        for delta in &self.items {
            let key = delta.key();
            if waiting.insert(key.clone(), delta.clone()).is_none() {
                in_order.push(key);
            }
        }
        for key in in_order {
            let last = waiting.get(&key);
            let alive = last.filter(|last| last.kind != DeltaType::Deleted);
            if let Some(last) = alive.filter(|_| !listed.contains(&key)) {
                self.items.push_back(Delta::tombstone(key, last.object().cloned()));
            }
        }
        for key in known.keys() {
            if !listed.contains(&key) && !waiting.contains_key(&key) {
                let object = known.get(&key);
                self.items.push_back(Delta::tombstone(key, object));
            }
        }
        let replaced = objects.into_iter().map(|object| Delta::told(DeltaType::Replaced, object));
        self.items.extend(replaced);
        if !self.is_populated {
            self.is_populated = true;
            self.initial = self.items.len();
        }
    }

    /// Replays what is known and has nothing waiting.
    pub fn resync(&mut self, known: &dyn KnownObjects) {
        let waiting: BTreeSet<ObjectKey> = self.items.iter().map(Delta::key).collect();
        let idle = known.keys().into_iter().filter(|key| !waiting.contains(key));
        let objects = idle.filter_map(|key| known.get(&key));
        self.items.extend(objects.map(|object| Delta::told(DeltaType::Sync, object)));
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<Delta> {
        self.initial = self.initial.saturating_sub(1);
        self.items.pop_front()
    }
}
