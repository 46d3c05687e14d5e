//! Where admission, definitions of custom kinds, evictions and the special ends of namespaces and
//! definitions join the way of a request (`server.rs`).

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Timestamp};
use crate::kernel::{Time, stable_hash};

use super::admission::{self, namespace, priority};
use super::custom::{definition, objects};
use super::{ApiError, ApiServer, DeleteOptions, Part, Response, eviction, quota, strategy};

impl ApiServer {
    /// The objects that a server makes for itself at its start: namespaces and priority classes.
    /// They are older than the first revision that a watch can see.
    pub fn with_built_in_objects(mut self) -> ApiServer {
        let now = Timestamp::EPOCH;
        for mut object in namespace::built_in(now).chain(priority::built_in(now)) {
            let hash = stable_hash(1, object.key().to_string().as_bytes());
            let uid = format!("{:08x}-0000-4000-8000-{:012x}", hash >> 32, hash & 0xffff_ffff);
            object.meta_mut().uid = uid.into();
            self.store.put_first(object);
        }
        self
    }

    /// What admission and its definition make of a new object, before it is validated.
    pub(super) fn admit(&self, asked: &Object, object: &mut Object) -> Result<(), ApiError> {
        objects::prepare(&self.store, asked, object)?;
        admission::admit(&self.store, object)?;
        if let Object::Pod(pod) = object {
            strategy::note_qos_class(pod);
        }
        Ok(())
    }

    /// What they make of a change; `after` is what the write leaves so far.
    pub(super) fn admit_update(
        &self,
        part: Part,
        stored: &Object,
        asked: &Object,
        after: Object,
    ) -> Result<Object, ApiError> {
        let mut after = objects::merge_update(&self.store, part, stored, asked, after)?;
        if part == Part::Main {
            admission::admit_update(stored, &mut after);
        }
        Ok(after)
    }

    /// The last that may refuse an object that is known to be sound; then what it costs is booked.
    pub(super) fn admit_sound(
        &mut self,
        part: Part,
        stored: Option<&Arc<Object>>,
        object: &mut Object,
    ) -> Result<(), ApiError> {
        objects::validate(&self.store, object)?;
        if part != Part::Main {
            return Ok(());
        }
        if stored.is_some() {
            admission::validate_update(&self.store, object)?;
        } else {
            admission::validate(&self.store, object)?;
        }
        if let Object::Generic(generic) = object
            && generic.kind == Kind::CustomResourceDefinition
        {
            definition::accept(&self.store, generic, Timestamp::from(self.now));
        }
        let stored = stored.map(|stored| &**stored);
        for quota in quota::charge(&self.store, object, stored, Timestamp::from(self.now))? {
            self.store.put(quota)?;
        }
        Ok(())
    }

    /// Whether nothing but finalizers holds an object that is on its way out.
    pub(super) fn may_go(&self, object: &Object) -> bool {
        match object.as_generic() {
            Some(generic) if generic.kind == Kind::Namespace => namespace::is_finalized(generic),
            _ => true,
        }
    }

    /// Removes an object; the last one of a kind whose definition waits for that takes it along.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let removed = self.store.remove(key)?;
        if key.kind.is_custom() && self.store.list(key.kind).next().is_none() {
            self.finish_definition(key.kind);
        }
        Some(removed)
    }

    fn finish_definition(&mut self, kind: Kind) {
        let Some(defined) = definition::of(&self.store, kind) else { return };
        if !defined.metadata.is_terminating() {
            return;
        }
        let mut after = defined.clone();
        after.metadata.finalizers.retain(|finalizer| **finalizer != *definition::CLEANUP);
        let key = Object::Generic(after.clone()).key();
        if after.metadata.finalizers.is_empty() {
            self.store.remove(&key);
        } else {
            // It was stored before, so there is room for it.
            let _ = self.store.put(Object::Generic(after));
        }
    }

    /// A namespace is only marked: its controller empties it. A definition takes its objects along.
    pub(super) fn begin_special_deletion(
        &mut self,
        stored: &Arc<Object>,
        now: Time,
    ) -> Result<Option<Arc<Object>>, ApiError> {
        let Some(generic) = stored.as_generic() else { return Ok(None) };
        match generic.kind {
            Kind::Namespace => {
                namespace::may_be_deleted(&stored.key())?;
                match namespace::begin_deletion(generic, Timestamp::from(self.now))
                    .map(Object::Generic)
                {
                    None => Ok(None),
                    Some(after) if after == **stored => Ok(Some(stored.clone())),
                    Some(after) => self.store.put(after).map(Some),
                }
            }
            Kind::CustomResourceDefinition => self.delete_definition(stored, now),
            kind => objects::check_served(&self.store, kind).map(|()| None),
        }
    }

    fn delete_definition(
        &mut self,
        stored: &Arc<Object>,
        now: Time,
    ) -> Result<Option<Arc<Object>>, ApiError> {
        let Some(generic) = stored.as_generic() else { return Ok(None) };
        let Some(kind) = definition::kind_of(generic) else { return Ok(None) };
        let keys: Vec<ObjectKey> = self.store.list(kind).map(|object| object.key()).collect();
        if keys.is_empty() {
            return Ok(None);
        }
        let mut after = generic.clone();
        after.metadata.deletion_timestamp.get_or_insert(Timestamp::from(self.now));
        after.metadata.deletion_grace_period_seconds.get_or_insert(0);
        let cleanup = |finalizer: &crate::api::Str| **finalizer == *definition::CLEANUP;
        if !after.metadata.finalizers.iter().any(cleanup) {
            after.metadata.finalizers.push(definition::CLEANUP.into());
        }
        definition::terminate(&mut after, Timestamp::from(self.now));
        let marked = self.store.put(Object::Generic(after))?;
        for key in keys {
            // What its finalizers hold stays, and holds the definition.
            let _ = self.delete(&key, &DeleteOptions::default(), now);
        }
        Ok(Some(marked))
    }

    /// `pods/eviction`.
    pub(super) fn evict(
        &mut self,
        key: &ObjectKey,
        options: &DeleteOptions,
        now: Time,
    ) -> Response {
        let allowed = eviction::decide(&self.store, key, Timestamp::from(self.now))?;
        if let Some(budget) = allowed.budget {
            self.store.put(budget)?;
        }
        if let Some(pod) = allowed.pod {
            self.store.put(pod)?;
        }
        self.delete(key, options, now)
    }
}
