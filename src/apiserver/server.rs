//! A request in, a response out: create, update, patch, delete, bind, get, each in the phases of
//! the real server (read, check preconditions, merge, default, validate, store). Kubernetes:
//! apiserver `pkg/registry/generic/registry/store.go`, `pkg/registry/rest`.
//!
//! Patches with a type and server-side apply are in `apply.rs`, lists in `list.rs`, what admission
//! adds to the phases in `admitting.rs`. Left out: authentication.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Kind, ManagedFields, Object, ObjectKey, Str, Timestamp, Value};
use crate::kernel::{Time, stable_hash};

use super::completion;
use super::deletion::{self, Deletion};
use super::managed_fields::{note_create, note_update};
use super::merge_patch::merge;
use super::store::Store;
use super::{ApiError, DeleteOptions, Part, Request, Response};
use super::{generate_name, strategy};

/// One cluster's API server.
#[derive(Clone, Debug)]
pub struct ApiServer {
    pub(super) store: Store,
    pub(super) seed: u64,
    created: u64,
    /// How many names were generated from each prefix.
    generated: BTreeMap<Str, u64>,
    /// The field manager of the request that is being carried out.
    writer: Str,
    /// Its time.
    pub(super) now: Time,
}

impl ApiServer {
    /// An empty server. `seed` decides uids and generated names.
    pub fn new(seed: u64) -> ApiServer {
        let (store, generated) = (Store::default(), BTreeMap::new());
        ApiServer { store, seed, created: 0, generated, writer: "".into(), now: Time::ZERO }
    }

    /// What is stored.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Forgets the history of changes (etcd compaction).
    pub fn compact(&mut self) {
        self.store.compact();
    }

    /// Says for the requests to come when they are made, and by which component.
    pub fn stamp(&mut self, now: Time, by: &str) {
        self.store.stamp(now, by);
    }

    /// Carries out a request of nobody in particular.
    pub fn handle(&mut self, request: &Request, now: Time) -> Response {
        self.handle_as(request, "", now)
    }

    /// Carries out a request of a field manager.
    pub fn handle_as(&mut self, request: &Request, manager: &str, now: Time) -> Response {
        if *self.writer != *manager {
            self.writer = manager.into();
        }
        self.now = now;
        match request {
            Request::PatchWith(patch) => self.patch_with(patch, now),
            Request::Create(object) => self.create(object, now),
            Request::Update(part, object) => self.update(*part, object),
            Request::Patch(part, key, patch) => self.patch(*part, key, patch),
            Request::Delete(key, options) => self.delete(key, options, now),
            Request::Bind(pod, uid, node) => self.bind(pod, uid, node, now),
            Request::Evict(pod, options) => self.evict(pod, options, now),
            Request::Get(key) => self.read(key).cloned(),
        }
    }

    /// Who writes.
    pub(super) fn writer(&self) -> &Str {
        &self.writer
    }

    pub(super) fn read(&self, key: &ObjectKey) -> Result<&Arc<Object>, ApiError> {
        self.store.get(key).ok_or_else(|| ApiError::not_found(key.kind, &key.name))
    }

    fn create(&mut self, object: &Object, now: Time) -> Response {
        self.create_noted(object, None, now)
    }

    /// Creates an object; `managers` are noted by whoever made them known.
    pub(super) fn create_noted(
        &mut self,
        asked: &Object,
        managers: Option<ManagedFields>,
        now: Time,
    ) -> Response {
        let mut object = asked.clone();
        strategy::prepare_for_create(&mut object);
        self.admit(asked, &mut object)?;
        if object.meta().name.is_empty() {
            object.meta_mut().name = self.generate_name(&object)?;
        }
        let key = object.key();
        if let Some(existing) = self.store.get(&key) {
            let mut error = ApiError::already_exists(key.kind, &key.name);
            if existing.meta().is_terminating() {
                error.message = format!("object is being deleted: {}", error.message);
            }
            return Err(error);
        }
        strategy::validate_create(&object)?;
        self.admit_sound(Part::Main, None, &mut object)?;
        self.created += 1;
        let uid = self.new_uid(&key);
        let meta = object.meta_mut();
        meta.uid = uid;
        meta.creation_timestamp = Some(Timestamp::from(now));
        meta.generation = i64::from(strategy::has_generation(key.kind));
        completion::complete(&mut object, &self.store, self.seed);
        note_create(&mut object, &self.writer, Timestamp::from(now));
        if let Some(managers) = managers {
            object.meta_mut().managed_fields = managers;
        }
        self.store.put(object)
    }

    /// A name that is free: the prefix and five letters, from the seed. In both lanes the n-th pod
    /// of a set so gets the same name.
    fn generate_name(&mut self, object: &Object) -> Result<Str, ApiError> {
        let kind = object.kind();
        let Some(prefix) = object.meta().generate_name.clone() else {
            let why = ["metadata.name: Required value: name or generateName is required".into()];
            return Err(ApiError::invalid(kind, "", &why));
        };
        let prefix = generate_name::prefix_of(&prefix);
        let count = self.generated.entry(prefix.clone()).or_default();
        *count += 1;
        let candidates = generate_name::candidates(self.seed, &prefix, *count);
        generate_name::free_name(kind, candidates, |name| {
            let key = ObjectKey::new(kind, object.meta().namespace.clone(), name.clone());
            self.store.get(&key).is_some()
        })
    }

    fn new_uid(&self, key: &ObjectKey) -> Str {
        let text = format!("{key}#{}", self.created);
        let (a, b) =
            (stable_hash(self.seed, text.as_bytes()), stable_hash(!self.seed, text.as_bytes()));
        let (time, clock) = (a >> 32, b >> 48);
        let uid = format!(
            "{time:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            (a >> 16) & 0xffff,
            a & 0xfff,
            (clock & 0x3fff) | 0x8000,
            b & 0xffff_ffff_ffff
        );
        uid.into()
    }

    fn update(&mut self, part: Part, object: &Object) -> Response {
        let key = object.key();
        let asked = object.meta();
        let creates = part == Part::Main && strategy::allows_create_on_update(key.kind);
        if creates && self.store.get(&key).is_none() {
            let mut fresh = object.clone();
            fresh.meta_mut().uid = "".into();
            check_preconditions(&fresh, &asked.uid, 0)?;
            fresh.meta_mut().resource_version = 0;
            return self.create(&fresh, self.now);
        }
        let stored = self.read(&key)?.clone();
        check_preconditions(&stored, &asked.uid, asked.resource_version)?;
        let mut after = strategy::merge_update(part, &stored, object);
        if part == Part::Main {
            completion::complete_update(&stored, &mut after, &self.store, self.seed);
        }
        let after = self.admit_update(part, &stored, object, after)?;
        self.store_update(part, &stored, after)
    }

    /// Stores a changed object, and notes who changed it.
    pub(super) fn store_update(
        &mut self,
        part: Part,
        stored: &Arc<Object>,
        mut after: Object,
    ) -> Response {
        if after == **stored {
            return Ok(stored.clone());
        }
        note_update(stored, &mut after, part, &self.writer, Timestamp::from(self.now));
        self.store_noted(part, stored, after)
    }

    /// Stores a changed object.
    pub(super) fn store_noted(
        &mut self,
        part: Part,
        stored: &Arc<Object>,
        mut after: Object,
    ) -> Response {
        if part != Part::Status {
            strategy::bump_generation(stored, &mut after);
        }
        if after == **stored {
            return Ok(stored.clone());
        }
        match part {
            Part::Status => strategy::validate_status(stored, &after)?,
            _ => strategy::validate_update(stored, &after)?,
        }
        self.admit_sound(part, Some(stored), &mut after)?;
        let meta = after.meta();
        let done = meta.is_terminating()
            && meta.finalizers.is_empty()
            && meta.deletion_grace_period_seconds.unwrap_or(0) == 0
            && self.may_go(&after);
        if done {
            // The answer is what was written: without the finalizer whose removal ended it.
            let removed = self.remove(&stored.key());
            let version = removed.map(|removed| removed.meta().resource_version);
            after.meta_mut().resource_version = version.unwrap_or_default();
            return Ok(Arc::new(after));
        }
        self.store.put(after)
    }

    fn patch(&mut self, part: Part, key: &ObjectKey, patch: &Value) -> Response {
        let stored = self.read(key)?.clone();
        let mut value = stored.to_value();
        merge(&mut value, patch);
        let after = self.merged(part, &stored, value)?;
        self.store_update(part, &stored, after)
    }

    pub(super) fn delete(
        &mut self,
        key: &ObjectKey,
        options: &DeleteOptions,
        now: Time,
    ) -> Response {
        let stored = self.read(key)?.clone();
        let asked = &options.preconditions;
        let uid = asked.uid.clone().unwrap_or_else(|| "".into());
        check_preconditions(&stored, &uid, asked.resource_version.unwrap_or(0))?;
        if let Some(response) = self.begin_special_deletion(&stored, now)? {
            return Ok(response);
        }
        match deletion::begin(&stored, options, Timestamp::from(now)) {
            Deletion::Remove => {
                let removed = self.remove(key);
                Ok(removed.unwrap_or_else(|| stored.clone()))
            }
            Deletion::Pending => Ok(stored),
            Deletion::Mark(after) => {
                if *after == *stored {
                    Ok(stored)
                } else {
                    self.store.put(*after)
                }
            }
        }
    }

    fn bind(&mut self, key: &ObjectKey, uid: &Str, node: &Str, now: Time) -> Response {
        let stored = self.read(key)?.clone();
        let refuse = |why: String| Err(ApiError::conflict(Kind::Pod, &key.name, &why));
        let Some(pod) = stored.as_pod() else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        check_preconditions(&stored, uid, 0)?;
        if pod.metadata.is_terminating() {
            return refuse(format!(
                "pod {} is being deleted, cannot be assigned to a host",
                key.name
            ));
        }
        if let Some(node) = &pod.spec.node_name {
            return refuse(format!("pod {} is already assigned to node {node:?}", key.name));
        }
        let mut pod = pod.clone();
        pod.spec.node_name = Some(node.clone());
        // Since v1.35 (ClearingNominatedNodeNameAfterBinding).
        pod.status.rest.remove("nominatedNodeName");
        strategy::set_pod_scheduled(&mut pod, Timestamp::from(now));
        self.store.put(Object::Pod(pod))
    }

    /// Stores an Event, or counts one that is there already: the client's recorder and the server
    /// in one step. In a real cluster this is a request like any other; here it takes no time.
    pub fn put_event(&mut self, event: Object) -> Response {
        self.store.put(event)
    }
}

/// Refuses a write that was meant for another object, or for an older state of this one.
pub(super) fn check_preconditions(
    stored: &Object,
    uid: &str,
    version: u64,
) -> Result<(), ApiError> {
    let (meta, kind) = (stored.meta(), stored.kind());
    if !uid.is_empty() && *uid != *meta.uid {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta.uid
        );
        return Err(ApiError::conflict(kind, &meta.name, &why));
    }
    if version != 0 && version != meta.resource_version {
        return Err(ApiError::modified(kind, &meta.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apiserver::Reason;
    use serde_json::json;

    fn sent(server: &mut ApiServer, part: Part, kind: Kind, value: Value) -> Response {
        let object = Object::from_value(kind, value).expect("an object");
        server.handle(&Request::Update(part, Arc::new(object)), Time::ZERO)
    }

    #[test]
    fn an_update_that_may_create_takes_no_version_and_refuses_a_uid() {
        let service = |more: Value| {
            let mut meta = json!({"name": "web", "namespace": "default"});
            meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"metadata": meta, "spec": {"ports": [{"port": 80}]}})
        };
        let mut server = ApiServer::new(1);
        let of_another = service(json!({"uid": "another"}));
        let refused = sent(&mut server, Part::Main, Kind::Service, of_another).unwrap_err();
        assert_eq!(refused.reason, Reason::Conflict);
        let with_version = service(json!({"resourceVersion": "7"}));
        assert!(sent(&mut server, Part::Main, Kind::Service, with_version).is_ok());
    }
}
