//! One kind's way into the cache: what a reflector learns waits in a queue; what is popped changes
//! the cache, and the difference is told to the handlers (client-go `tools/cache`,
//! `shared_informer.go`, and `processDeltas` in `controller.go`).

use std::sync::Arc;

use serde::Deserialize;

use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::WatchEventType;

use super::Cache;
use super::change::{Change, ChangeKind};
use super::delta::{Delta, DeltaType, KnownObjects};
use super::delta_queue::DeltaQueue;
use super::in_order_queue::InOrderQueue;

/// Which queue lies between a reflector and its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueueOrder {
    /// Every event in order, as Kubernetes does it now.
    #[default]
    InOrder,
    /// Object by object, as it was before v1.33.
    PerKey,
}

/// The queue of one kind of objects.
#[derive(Clone, Debug)]
pub struct Informer {
    kind: Kind,
    queue: Queue,
}

#[derive(Clone, Debug)]
enum Queue {
    InOrder(InOrderQueue),
    PerKey(DeltaQueue),
}

/// What a cache holds of one kind.
struct Known<'a> {
    cache: &'a Cache,
    kind: Kind,
}

impl KnownObjects for Known<'_> {
    fn keys(&self) -> Vec<ObjectKey> {
        self.cache.all(self.kind).map(|object| object.key()).collect()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.cache.get(key).cloned()
    }
}

impl Informer {
    /// An informer that knows nothing yet.
    pub fn new(kind: Kind, order: QueueOrder) -> Informer {
        let queue = match order {
            QueueOrder::InOrder => Queue::InOrder(InOrderQueue::default()),
            QueueOrder::PerKey => Queue::PerKey(DeltaQueue::new(true)),
        };
        Informer { kind, queue }
    }

    /// Whether the first list is in the cache.
    pub fn has_synced(&self) -> bool {
        match &self.queue {
            Queue::InOrder(queue) => queue.has_synced(),
            Queue::PerKey(queue) => queue.has_synced(),
        }
    }

    /// A watch event.
    pub fn watched(&mut self, kind: WatchEventType, object: Arc<Object>, cache: &Cache) {
        let kind = match kind {
            WatchEventType::Added => DeltaType::Added,
            WatchEventType::Modified => DeltaType::Updated,
            WatchEventType::Deleted => DeltaType::Deleted,
            WatchEventType::Bookmark => return,
        };
        match &mut self.queue {
            Queue::InOrder(queue) => queue.push(kind, object),
            Queue::PerKey(queue) => {
                queue.push(kind, object, Some(&Known { cache, kind: self.kind }));
            }
        }
    }

    /// A list.
    pub fn listed(&mut self, objects: Vec<Arc<Object>>, cache: &Cache) {
        let known = Known { cache, kind: self.kind };
        match &mut self.queue {
            Queue::InOrder(queue) => queue.replace(objects, &known),
            Queue::PerKey(queue) => queue.replace(objects, Some(&known)),
        }
    }

    /// Replays the cache into the queue: nothing is asked of the server.
    pub fn resync(&mut self, cache: &Cache) {
        let known = Known { cache, kind: self.kind };
        match &mut self.queue {
            Queue::InOrder(queue) => queue.resync(&known),
            Queue::PerKey(queue) => queue.resync(Some(&known)),
        }
    }

    /// Pops once and changes the cache. None: nothing waits. Handlers are told each change.
    pub fn pop(&mut self, cache: &mut Cache) -> Option<Vec<Change>> {
        let deltas = match &mut self.queue {
            Queue::InOrder(queue) => Vec::from([queue.pop()?]),
            Queue::PerKey(queue) => queue.pop()?,
        };
        Some(deltas.into_iter().filter_map(|delta| process(delta, cache)).collect())
    }

    /// Pops all that waits.
    pub fn drain(&mut self, cache: &mut Cache) -> Vec<Change> {
        match &mut self.queue {
            // Dozens of times for each pod: without a list of each one.
            Queue::InOrder(queue) => std::iter::from_fn(|| queue.pop())
                .filter_map(|delta| process(delta, cache))
                .collect(),
            Queue::PerKey(_) => std::iter::from_fn(|| self.pop(cache)).flatten().collect(),
        }
    }
}

/// What an event does to the cache, and what handlers are told of it. A tombstone of which nothing
/// is known, and that the cache does not have, is nothing to tell.
fn process(delta: Delta, cache: &mut Cache) -> Option<Change> {
    if delta.kind == DeltaType::Deleted {
        let before = cache.remove(&delta.key());
        let kind = match delta.is_tombstone() {
            true => ChangeKind::DeletedFinalStateUnknown,
            false => ChangeKind::Deleted,
        };
        let object = delta.object().or(before.as_ref())?.clone();
        return Some(Change { kind, before, object });
    }
    let object = delta.object()?.clone();
    let before = cache.put(object.clone());
    let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Added };
    Some(Change { kind, before, object })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Pod;

    fn pod(name: &str) -> Arc<Object> {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        Arc::new(Object::Pod(pod))
    }

    fn relist(order: QueueOrder) -> Vec<(ChangeKind, String)> {
        let (mut informer, mut cache) = (Informer::new(Kind::Pod, order), Cache::default());
        informer.listed(vec![pod("a"), pod("b")], &cache);
        assert!(!informer.has_synced());
        assert_eq!(informer.drain(&mut cache).len(), 2);
        assert!(informer.has_synced());
        informer.listed(vec![pod("b"), pod("c")], &cache);
        let changes = informer.drain(&mut cache).into_iter();
        changes.map(|c| (c.kind, c.object.meta().name.to_string())).collect()
    }

    #[test]
    fn a_list_tells_of_what_is_gone_first_or_in_the_older_queue_last() {
        use ChangeKind::{Added, DeletedFinalStateUnknown, Updated};
        let gone = (DeletedFinalStateUnknown, "a".to_string());
        let there = [(Updated, "b".to_string()), (Added, "c".to_string())];
        let in_order: Vec<_> = std::iter::once(gone.clone()).chain(there.clone()).collect();
        assert_eq!(relist(QueueOrder::InOrder), in_order);
        let per_key: Vec<_> = there.into_iter().chain([gone]).collect();
        assert_eq!(relist(QueueOrder::PerKey), per_key);
    }

    #[test]
    fn a_resync_tells_of_everything_that_is_known() {
        let mut informer = Informer::new(Kind::Pod, QueueOrder::InOrder);
        let mut cache = Cache::default();
        informer.watched(WatchEventType::Added, pod("a"), &cache);
        assert_eq!(informer.drain(&mut cache)[0].kind, ChangeKind::Added);
        informer.resync(&cache);
        let changes = informer.drain(&mut cache);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].before.as_ref(), Some(&changes[0].object));
    }
}
