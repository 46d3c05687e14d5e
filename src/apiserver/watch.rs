//! A watch as a client opens it: from a version on, or from what is there. Kubernetes: apiserver
//! `pkg/storage/cacher`.
//!
//! The simulation's own reflectors use the same store and the same selection of changes
//! (`Commit::seen_through`); their streams have latency and faults of their own
//! (`world/stream.rs`).

use std::sync::Arc;

use crate::api::{Kind, Object};

use super::list::{self, ListOptions};
use super::{ApiError, Store, WatchEvent, WatchEventType};

/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// An open watch.
#[derive(Clone, Debug)]
pub struct Watch {
    kind: Kind,
    options: ListOptions,
    /// The last version that was looked at.
    revision: u64,
    /// What was there when it was opened, to be told first.
    initial: Vec<WatchEvent>,
    ended: bool,
}

impl Watch {
    /// Opens a watch. Without a version, and from 0, it begins with what is there, as Added.
    pub fn open(store: &Store, kind: Kind, options: &ListOptions) -> Result<Watch, ApiError> {
        let options = ListOptions { watch: true, ..options.clone() };
        list::check(kind, &options)?;
        let asked = list::version(&options.resource_version)?;
        let now = store.revision();
        let shows = options.send_initial_events.unwrap_or(asked == 0);
        let event = |kind, object| WatchEvent { kind, object, revision: now };
        let mut initial = Vec::new();
        if shows {
            let objects = store.list(kind).filter(|object| options.select(object));
            initial.extend(objects.map(|object| event(WatchEventType::Added, object.clone())));
        }
        if shows && options.send_initial_events == Some(true) && options.allow_watch_bookmarks {
            let end = bookmark(kind, now, true);
            initial.extend(end.map(|object| event(WatchEventType::Bookmark, object)));
        }
        let revision = if shows || asked == 0 { now } else { asked };
        Ok(Watch { kind, options, revision, initial, ended: false })
    }

    /// What happened since the last call. An error is told once and ends the watch: from a version
    /// that is compacted away it is 410 Expired.
    pub fn next(&mut self, store: &Store) -> Vec<Result<WatchEvent, ApiError>> {
        if self.ended {
            return Vec::new();
        }
        let mut events: Vec<_> = std::mem::take(&mut self.initial).into_iter().map(Ok).collect();
        let commits = match store.since(self.revision) {
            Ok(commits) => commits,
            Err(error) => {
                self.ended = true;
                events.push(Err(error));
                return events;
            }
        };
        let selects = |object: &Object| object.kind() == self.kind && self.options.select(object);
        events.extend(commits.filter_map(|commit| commit.seen_through(selects)).map(Ok));
        self.revision = self.revision.max(store.revision());
        events
    }

    /// A bookmark, as an idle watch gets one every minute if it allows it.
    pub fn bookmark(&self) -> Option<WatchEvent> {
        let object = bookmark(self.kind, self.revision, false)?;
        let (kind, revision) = (WatchEventType::Bookmark, self.revision);
        self.options.allow_watch_bookmarks.then_some(WatchEvent { kind, object, revision })
    }
}

/// An object of the kind that says nothing but a version.
fn bookmark(kind: Kind, revision: u64, ends: bool) -> Option<Arc<Object>> {
    let mut object = Object::from_value(kind, serde_json::json!({"metadata": {}})).ok()?;
    let meta = object.meta_mut();
    meta.resource_version = revision;
    if ends {
        meta.annotations.insert(INITIAL_EVENTS_END.into(), "true".into());
    }
    Some(Arc::new(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn initial_events_end_with_a_bookmark() {
        let mut store = Store::default();
        let object = |name: &str| {
            let value = json!({"metadata": {"name": name}});
            Object::from_value(Kind::ConfigMap, value).unwrap()
        };
        store.put(object("a")).unwrap();
        let options = ListOptions {
            send_initial_events: Some(true),
            resource_version_match: "NotOlderThan".into(),
            allow_watch_bookmarks: true,
            ..ListOptions::default()
        };
        let mut watch = Watch::open(&store, Kind::ConfigMap, &options).unwrap();
        store.put(object("b")).unwrap();
        let events: Vec<WatchEvent> = watch.next(&store).into_iter().map(Result::unwrap).collect();
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.word()).collect();
        assert_eq!(kinds, ["ADDED", "BOOKMARK", "ADDED"]);
        let annotations = &events[1].object.meta().annotations;
        assert_eq!(annotations.get(INITIAL_EVENTS_END).map(|text| &**text), Some("true"));
        assert_eq!(watch.bookmark().map(|event| event.revision), Some(2));
        assert!(watch.next(&store).is_empty());
    }
}
