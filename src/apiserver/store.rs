//! etcd and the part of the API server that guards it: objects by key, one revision for all, and a
//! bounded history from which watches resume. Nobody else gives out a resourceVersion.
//!
//! Left out: transactions over several keys, leases, paging of lists.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, ObjectMap, Str};
use crate::kernel::Time;

use super::{ApiError, Reason, WatchEvent, WatchEventType};

/// Changes kept for resuming watches, at least; older ones are compacted away.
pub const HISTORY_LIMIT: usize = 4_000;
/// As many more may be there until the next compaction: as etcd's, it comes now and then.
const COMPACTED_AT_ONCE: usize = HISTORY_LIMIT / 4;
/// Objects that a simulated cluster carries, Events apart.
pub const OBJECT_LIMIT: usize = 12_000;
/// Events kept; the oldest go first (a real cluster drops them after an hour).
pub const EVENT_LIMIT: usize = 2_000;

/// A change of one object, as the store remembers it.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The revision that it made.
    pub revision: u64,
    /// The object before; absent when it was created.
    pub before: Option<Arc<Object>>,
    /// The object after; absent when it was removed.
    pub after: Option<Arc<Object>>,
    /// The object as a watch shows it last, with the revision of its removal.
    last: Arc<Object>,
    /// When.
    pub at: Time,
    /// Who asked for it: a component's name, or `kubectl`.
    pub by: Str,
}

impl Commit {
    /// What a watch that selects `matches` sees of this change, if anything: an object that leaves
    /// the selection arrives as Deleted, one that enters it as Added.
    pub fn seen_through(&self, matches: impl Fn(&Object) -> bool) -> Option<WatchEvent> {
        let was = self.before.as_deref().is_some_and(&matches);
        let is = self.after.as_deref().is_some_and(&matches);
        let kind = match (was, is) {
            (false, false) => return None,
            (false, true) => WatchEventType::Added,
            (true, true) => WatchEventType::Modified,
            (true, false) => WatchEventType::Deleted,
        };
        let object = match &self.before {
            // What leaves the selection is shown as it last was inside.
            Some(before) if kind == WatchEventType::Deleted && self.after.is_some() => {
                let mut last = Object::clone(before);
                last.meta_mut().resource_version = self.revision;
                Arc::new(last)
            }
            _ => self.last.clone(),
        };
        Some(WatchEvent { kind, object, revision: self.revision })
    }

    /// The object that changed, as it now is or last was.
    pub fn object(&self) -> &Arc<Object> {
        &self.last
    }
}

/// The objects of one cluster.
#[derive(Clone, Debug, Default)]
pub struct Store {
    objects: ObjectMap,
    revision: u64,
    history: VecDeque<Commit>,
    compacted: u64,
    /// Event keys, oldest first.
    events: VecDeque<ObjectKey>,
    /// When what is stored now happens, and who asked for it.
    at: Time,
    by: Str,
}

impl Store {
    /// Says for the changes to come when they happen, and who asked for them.
    pub fn stamp(&mut self, at: Time, by: &str) {
        self.at = at;
        if *self.by != *by {
            self.by = by.into();
        }
    }

    /// The changes that are kept, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Commit> + '_ {
        self.history.iter().rev()
    }

    /// The revision of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// All objects of a kind, by namespace and name.
    pub fn list(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.objects.of_kind(kind)
    }

    /// All objects, by kind, namespace and name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Object>> + '_ {
        self.objects.iter()
    }

    /// How many objects there are, Events apart.
    pub fn len(&self) -> usize {
        self.objects.len() - self.events.len()
    }

    /// Whether there is nothing but Events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores an object under its key with the next revision.
    pub fn put(&mut self, mut object: Object) -> Result<Arc<Object>, ApiError> {
        let key = object.key();
        let is_new = !self.objects.contains_key(&key);
        if is_new && key.kind == Kind::Event {
            self.make_room_for_event(key.clone());
        } else if is_new && self.len() >= OBJECT_LIMIT {
            let why = format!("the simulation carries at most {OBJECT_LIMIT} objects");
            return Err(ApiError::forbidden(key.kind, &key.name, &why));
        }
        self.revision += 1;
        object.meta_mut().resource_version = self.revision;
        let after = Arc::new(object);
        let before = self.objects.insert(after.clone());
        self.remember(Commit {
            revision: self.revision,
            before,
            last: after.clone(),
            after: Some(after.clone()),
            at: self.at,
            by: self.by.clone(),
        });
        Ok(after)
    }

    /// Stores an object that was there before the first revision: it has that of the first, and no
    /// watch ever told of its coming.
    pub(super) fn put_first(&mut self, mut object: Object) {
        object.meta_mut().resource_version = 1;
        self.objects.insert(Arc::new(object));
    }

    /// Removes an object. Its last form carries the revision of the removal.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let before = self.objects.remove(key)?;
        if key.kind == Kind::Event {
            self.events.retain(|event| event != key);
        }
        self.revision += 1;
        let mut last = Object::clone(&before);
        last.meta_mut().resource_version = self.revision;
        let last = Arc::new(last);
        self.remember(Commit {
            revision: self.revision,
            before: Some(before),
            after: None,
            last: last.clone(),
            at: self.at,
            by: self.by.clone(),
        });
        Some(last)
    }

    fn make_room_for_event(&mut self, key: ObjectKey) {
        if self.events.len() >= EVENT_LIMIT
            && let Some(oldest) = self.events.pop_front()
        {
            self.objects.remove(&oldest);
        }
        self.events.push_back(key);
    }

    fn remember(&mut self, commit: Commit) {
        if self.history.len() >= HISTORY_LIMIT + COMPACTED_AT_ONCE {
            let mut gone = self.history.drain(..COMPACTED_AT_ONCE);
            self.compacted = gone.next_back().map_or(self.compacted, |last| last.revision);
        }
        self.history.push_back(commit);
    }

    /// Forgets all history: the next watch from an older revision gets 410 Expired.
    pub fn compact(&mut self) {
        self.compacted = self.revision;
        self.history.clear();
    }

    /// The newest revision that can no longer be watched from.
    pub fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The changes after `revision`, oldest first; 410 if some of them are compacted away.
    pub fn since(&self, revision: u64) -> Result<impl Iterator<Item = &Commit> + '_, ApiError> {
        if revision < self.compacted {
            let text = format!("too old resource version: {revision} ({})", self.compacted);
            return Err(ApiError::new(Reason::Expired, text));
        }
        // From the end: mostly it is one change that is asked for, or few.
        let newer = self.history.iter().rev().take_while(|commit| commit.revision > revision);
        Ok(self.history.range(self.history.len() - newer.count()..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Pod;

    fn pod(name: &str, node: Option<&str>) -> Object {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.namespace = "default".into();
        pod.spec.node_name = node.map(Into::into);
        Object::Pod(pod)
    }

    fn on_node(object: &Object) -> bool {
        object.as_pod().is_some_and(|pod| pod.spec.node_name.as_deref() == Some("node-1"))
    }

    #[test]
    fn a_removal_makes_a_revision_of_its_own() {
        let mut store = Store::default();
        let stored = store.put(pod("a", None)).unwrap();
        let last = store.remove(&stored.key()).unwrap();
        assert_eq!((stored.meta().resource_version, last.meta().resource_version), (1, 2));
    }

    #[test]
    fn a_watch_sees_objects_enter_and_leave_its_selection() {
        let mut store = Store::default();
        store.put(pod("a", None)).unwrap();
        store.put(pod("a", Some("node-1"))).unwrap();
        store.put(pod("a", Some("node-1"))).unwrap();
        store.put(pod("a", Some("node-2"))).unwrap();
        let seen: Vec<_> = store.since(0).unwrap().map(|c| c.seen_through(on_node)).collect();
        let kinds: Vec<_> = seen.into_iter().map(|event| event.map(|e| e.kind)).collect();
        use WatchEventType::{Added, Deleted, Modified};
        assert_eq!(kinds, [None, Some(Added), Some(Modified), Some(Deleted)]);
    }

    #[test]
    fn a_watch_from_before_the_compaction_is_expired() {
        let mut store = Store::default();
        store.put(pod("a", None)).unwrap();
        store.put(pod("b", None)).unwrap();
        store.compact();
        assert_eq!(store.since(1).err().map(|e| e.reason), Some(Reason::Expired));
        assert_eq!(store.since(2).unwrap().count(), 0);
    }

    #[test]
    fn as_many_changes_can_be_watched_from_as_it_says_and_few_more() {
        let mut store = Store::default();
        for _ in 0..3 * HISTORY_LIMIT {
            store.put(pod("a", None)).unwrap();
            let kept = store.revision() - store.compacted();
            assert!(kept <= (HISTORY_LIMIT + COMPACTED_AT_ONCE) as u64);
            assert!(kept >= store.revision().min(HISTORY_LIMIT as u64));
            assert_eq!(store.since(store.compacted()).unwrap().count() as u64, kept);
        }
        assert!(store.since(store.compacted() - 1).is_err());
    }

    #[test]
    fn events_make_room_for_newer_ones() {
        let mut store = Store::default();
        for n in 0..EVENT_LIMIT + 5 {
            let mut event = crate::api::Event::default();
            event.metadata.name = format!("e{n:05}").into();
            store.put(Object::Event(event)).unwrap();
        }
        assert_eq!(store.list(Kind::Event).count(), EVENT_LIMIT);
        assert_eq!(&*store.list(Kind::Event).next().unwrap().meta().name, "e00005");
        assert!(store.is_empty());
    }
}
