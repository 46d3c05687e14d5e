//! A request in, a response out: create, update, patch, delete, bind, get, each in the phases of
//! the real server (read, check preconditions, merge, default, validate, store). Kubernetes:
//! apiserver `pkg/registry/generic/registry/store.go`, `pkg/registry/rest`.
//!
//! Left out: authentication, dry run, managed fields, server-side apply, quota.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp, Value};
use crate::kernel::{Time, stable_hash};

use super::completion;
use super::deletion::{self, Deletion};
use super::merge_patch::merge;
use super::store::Store;
use super::strategy;
use super::{ApiError, DeleteOptions, Part, Reason, Request, Response};

/// How often a taken generated name is tried again.
const GENERATE_NAME_TRIES: u32 = 8;
const NAME_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const MODIFIED: &str = "the object has been modified; please apply your changes to the latest \
                        version and try again";

/// One cluster's API server.
#[derive(Clone, Debug)]
pub struct ApiServer {
    store: Store,
    seed: u64,
    created: u64,
    /// How many names were generated from each prefix.
    generated: BTreeMap<Str, u64>,
}

impl ApiServer {
    /// An empty server. `seed` decides uids and generated names.
    pub fn new(seed: u64) -> ApiServer {
        ApiServer { store: Store::default(), seed, created: 0, generated: BTreeMap::new() }
    }

    /// What is stored.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Forgets the history of changes (etcd compaction).
    pub fn compact(&mut self) {
        self.store.compact();
    }

    /// Carries out a request.
    pub fn handle(&mut self, request: &Request, now: Time) -> Response {
        match request {
            Request::Create(object) => self.create(object, now),
            Request::Update(part, object) => self.update(*part, object),
            Request::Patch(part, key, patch) => self.patch(*part, key, patch),
            Request::Delete(key, options) => self.delete(key, options, now),
            Request::Bind(pod, uid, node) => self.bind(pod, uid, node, now),
            Request::Get(key) => self.read(key).cloned(),
        }
    }

    fn read(&self, key: &ObjectKey) -> Result<&Arc<Object>, ApiError> {
        self.store.get(key).ok_or_else(|| ApiError::not_found(key.kind, &key.name))
    }

    fn create(&mut self, object: &Object, now: Time) -> Response {
        let mut object = object.clone();
        strategy::prepare_for_create(&mut object);
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
        self.created += 1;
        let uid = self.new_uid(&key);
        let meta = object.meta_mut();
        meta.uid = uid;
        meta.creation_timestamp = Some(Timestamp::from(now));
        meta.generation = i64::from(strategy::has_generation(key.kind));
        completion::complete(&mut object, &self.store, self.seed);
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
        // 63 less the suffix, as `names.maxGeneratedNameLength`.
        let prefix: Str = prefix.chars().take(58).collect::<String>().into();
        let count = self.generated.entry(prefix.clone()).or_default();
        *count += 1;
        let first_salt = *count * u64::from(GENERATE_NAME_TRIES);
        let taken = |name: &Str| {
            let key = ObjectKey::new(kind, object.meta().namespace.clone(), name.clone());
            self.store.get(&key).is_some()
        };
        let name = |attempt| -> Str {
            let salt = first_salt + u64::from(attempt);
            let mut hash = stable_hash(self.seed ^ salt, prefix.as_bytes());
            let suffix: String = std::iter::repeat_with(|| {
                let letter = NAME_ALPHABET[(hash % NAME_ALPHABET.len() as u64) as usize];
                hash /= NAME_ALPHABET.len() as u64;
                char::from(letter)
            })
            .take(5)
            .collect();
            format!("{prefix}{suffix}").into()
        };
        let mut tries = (0..GENERATE_NAME_TRIES).map(name);
        tries.find(|name| !taken(name)).ok_or_else(|| ApiError::already_exists(kind, &prefix))
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
        let stored = self.read(&key)?.clone();
        let asked = object.meta();
        check_preconditions(&stored, &asked.uid, asked.resource_version)?;
        let after = strategy::merge_update(part, &stored, object);
        self.store_update(part, &stored, after)
    }

    fn store_update(&mut self, part: Part, stored: &Arc<Object>, mut after: Object) -> Response {
        if part != Part::Status {
            strategy::bump_generation(stored, &mut after);
        }
        if after == **stored {
            return Ok(stored.clone());
        }
        if part != Part::Status {
            strategy::validate_update(stored, &after)?;
        }
        let meta = after.meta();
        let done = meta.is_terminating()
            && meta.finalizers.is_empty()
            && meta.deletion_grace_period_seconds.unwrap_or(0) == 0;
        if done {
            let removed = self.store.remove(&stored.key());
            return Ok(removed.unwrap_or_else(|| stored.clone()));
        }
        self.store.put(after)
    }

    fn patch(&mut self, part: Part, key: &ObjectKey, patch: &Value) -> Response {
        let stored = self.read(key)?.clone();
        let mut value = stored.to_value();
        merge(&mut value, patch);
        let patched = Object::from_value(key.kind, value)
            .map_err(|error| ApiError::new(Reason::BadRequest, error.to_string()))?;
        let asked = patched.meta();
        let moved = patched.key() != *key;
        if moved {
            let why = "metadata.name: Invalid value: field is immutable".to_string();
            return Err(ApiError::invalid(key.kind, &key.name, &[why]));
        }
        check_preconditions(&stored, &asked.uid, asked.resource_version)?;
        let after = strategy::merge_update(part, &stored, &patched);
        self.store_update(part, &stored, after)
    }

    fn delete(&mut self, key: &ObjectKey, options: &DeleteOptions, now: Time) -> Response {
        let stored = self.read(key)?.clone();
        let asked = &options.preconditions;
        let uid = asked.uid.clone().unwrap_or_else(|| "".into());
        check_preconditions(&stored, &uid, asked.resource_version.unwrap_or(0))?;
        match deletion::begin(&stored, options, Timestamp::from(now)) {
            Deletion::Remove => {
                let removed = self.store.remove(key);
                Ok(removed.unwrap_or_else(|| stored.clone()))
            }
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
        strategy::set_pod_scheduled(&mut pod, Timestamp::from(now));
        self.store.put(Object::Pod(pod))
    }

    /// Stores an Event, or counts one that is there already: the client's recorder and the server
    /// in one step. In a real cluster this is a request like any other; here it takes no time.
    pub fn put_event(&mut self, event: Object) -> Response {
        self.store.put(event)
    }
}

fn check_preconditions(stored: &Object, uid: &str, version: u64) -> Result<(), ApiError> {
    let (meta, kind) = (stored.meta(), stored.kind());
    if !uid.is_empty() && *uid != *meta.uid {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta.uid
        );
        return Err(ApiError::conflict(kind, &meta.name, &why));
    }
    if version != 0 && version != meta.resource_version {
        return Err(ApiError::conflict(kind, &meta.name, MODIFIED));
    }
    Ok(())
}
