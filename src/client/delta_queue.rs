//! The older queue between a reflector and the cache: what happened, object by object (client-go
//! `tools/cache/delta_fifo.go`, the default before v1.33). All that waits for one object is popped
//! together; objects come in the order in which they were first queued, and so the tombstones of a
//! list after what it has.
//!
//! As in Kubernetes, two deletions of one object in a row are one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::api::{Object, ObjectKey};

use super::delta::{Delta, DeltaType, KnownObjects};

/// The queue.
#[derive(Clone, Debug, Default)]
pub struct DeltaQueue {
    items: BTreeMap<ObjectKey, Vec<Delta>>,
    order: VecDeque<ObjectKey>,
    /// Whether a list's objects arrive as `Replaced`, or as `Sync`.
    emits_replaced: bool,
    /// Whether anything was ever put in.
    is_populated: bool,
    /// Objects of the first list that were not popped yet.
    initial: usize,
}

impl DeltaQueue {
    /// An empty queue. Informers want a list's objects as `Replaced`.
    pub fn new(emits_replaced: bool) -> DeltaQueue {
        DeltaQueue { emits_replaced, ..DeltaQueue::default() }
    }

    /// Whether the first list was popped to its end.
    pub fn has_synced(&self) -> bool {
        self.is_populated && self.initial == 0
    }

    /// A watch told of this. The deletion of what neither waits nor is known is dropped: a list
    /// has told of it before.
    pub fn push(&mut self, kind: DeltaType, object: Arc<Object>, known: Option<&dyn KnownObjects>) {
        self.is_populated = true;
        let key = object.key();
        let is_known = || known.is_some_and(|known| known.get(&key).is_some());
        let is_news = kind != DeltaType::Deleted || self.items.contains_key(&key) || is_known();
        if is_news {
            self.queue(Delta::told(kind, object));
        }
    }

    /// A list has these objects and no others.
    pub fn replace(&mut self, objects: Vec<Arc<Object>>, known: Option<&dyn KnownObjects>) {
        let kind = if self.emits_replaced { DeltaType::Replaced } else { DeltaType::Sync };
        let listed: BTreeSet<ObjectKey> = objects.iter().map(|object| object.key()).collect();
        objects.into_iter().for_each(|object| self.queue(Delta::told(kind, object)));
        let mut gone = 0;
        for key in Vec::from_iter(self.order.iter().filter(|key| !listed.contains(key)).cloned()) {
            let newest = self.items.get(&key).and_then(|deltas| deltas.last());
            let object = newest.and_then(|delta| delta.object().cloned());
            gone += 1;
            self.queue(Delta::tombstone(key, object));
        }
        if let Some(known) = known {
            for key in known.keys() {
                if !listed.contains(&key) && !self.items.contains_key(&key) {
                    let object = known.get(&key);
                    gone += 1;
                    self.queue(Delta::tombstone(key, object));
                }
            }
        }
        if !self.is_populated {
            self.is_populated = true;
            self.initial = listed.len() + gone;
        }
    }

    /// Replays what is known and has nothing waiting.
    pub fn resync(&mut self, known: Option<&dyn KnownObjects>) {
        let Some(known) = known else { return };
        for key in known.keys() {
            if !self.items.contains_key(&key)
                && let Some(object) = known.get(&key)
            {
                self.queue(Delta::told(DeltaType::Sync, object));
            }
        }
    }

    /// Takes all that waits for the next object, oldest first.
    pub fn pop(&mut self) -> Option<Vec<Delta>> {
        let key = self.order.pop_front()?;
        self.initial = self.initial.saturating_sub(1);
        self.items.remove(&key)
    }

    fn queue(&mut self, delta: Delta) {
        let key = delta.key();
        let waiting = self.items.entry(key.clone()).or_default();
        match waiting.last_mut() {
            None => self.order.push_back(key),
            Some(last) if last.kind == DeltaType::Deleted && delta.kind == DeltaType::Deleted => {
                // The one that knows more stays.
                if last.is_tombstone() {
                    *last = delta;
                }
                return;
            }
            Some(_) => {}
        }
        waiting.push(delta);
    }
}
