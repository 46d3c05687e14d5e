//! The Git repository that the GitOps controller goes by: revisions, each a whole set of manifests.
//! A push is an input like a kubectl line. A level-triggered controller asks for the newest
//! revision; an edge-triggered one is told by a webhook.

use std::sync::Arc;

use serde_json::Value;

use crate::api::{Generic, Kind, Object, ObjectKey, Str};
use crate::apiserver::{ApiError, Reason, Response, WatchEvent, WatchEventType};
use crate::controllers::gitops::application::Revision;
use crate::controllers::gitops::compare::Live;
use crate::controllers::gitops::shortfall;
use crate::kernel::stable_hash;

use super::ControllerId;
use super::truth::Shortfall;
use super::world::World;

/// Revisions kept; the oldest go.
const REVISIONS_MAX: usize = 1_000;

/// The repository.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    revisions: Vec<Arc<Object>>,
    pushes: u64,
}

impl Repository {
    /// The revisions' names, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &str> + '_ {
        self.revisions.iter().map(|revision| id_of(revision))
    }

    /// The manifests of the revision before the newest.
    pub fn previous(&self) -> Option<Vec<Value>> {
        let before = self.revisions.len().checked_sub(2)?;
        let objects = self.revisions[before].as_generic()?.rest.get("objects")?;
        objects.as_array().cloned()
    }

    /// The revision of this name, or the newest where it is the name of a branch.
    fn find(&self, name: &str) -> Option<&Arc<Object>> {
        let named = |revision: &&Arc<Object>| name.len() >= 7 && id_of(revision).starts_with(name);
        self.revisions.iter().find(named).or(self.revisions.last())
    }
}

fn id_of(revision: &Object) -> &str {
    let id = revision.as_generic().and_then(|revision| revision.rest.get("revision"));
    id.and_then(Value::as_str).unwrap_or("")
}

impl World {
    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// A push: from now on the repository holds these manifests. Returns the new revision's name.
    pub fn push(&mut self, manifests: Vec<Value>) -> Str {
        let parent = self.repository.log().last().unwrap_or("").to_string();
        let content = format!("{parent}\n{}", Value::from(manifests.clone()));
        let part = |salt| stable_hash(salt, content.as_bytes());
        let id = format!("{:016x}{:016x}{:08x}", part(0), part(1), part(2) >> 32);
        self.hash.text(&id);
        let (kind, metadata) = (Kind::GitRevision, Default::default());
        let mut revision = Generic { kind, metadata, rest: Default::default() };
        revision.rest.insert("revision".into(), id.clone().into());
        self.repository.pushes += 1;
        revision.rest.insert("number".into(), self.repository.pushes.into());
        revision.rest.insert("objects".into(), manifests.into());
        if self.repository.revisions.len() >= REVISIONS_MAX {
            self.repository.revisions.remove(0);
        }
        let revision = Arc::new(Object::Generic(revision));
        self.repository.revisions.push(revision.clone());
        self.call_webhook(&revision);
        id.into()
    }

    /// Tells an edge-triggered controller, Application by Application.
    fn call_webhook(&mut self, revision: &Object) {
        let Some(stream) = self.news_stream(ControllerId::GitOps, Kind::GitRevision) else {
            return;
        };
        let applications: Vec<ObjectKey> =
            self.store().list(Kind::Application).map(|object| object.key()).collect();
        for key in applications {
            let mut object = revision.clone();
            let meta = object.meta_mut();
            (meta.name, meta.namespace) = (key.name, key.namespace);
            let event = WatchEvent {
                kind: WatchEventType::Modified,
                object: Arc::new(object),
                revision: self.store().revision(),
            };
            self.send(stream, event, false);
        }
    }

    /// What the repository answers.
    pub(super) fn read_repository(&self, key: &ObjectKey) -> Response {
        self.repository.find(&key.name).cloned().ok_or_else(|| {
            let text = format!("Unable to resolve '{}' to a commit SHA", key.name);
            ApiError::new(Reason::NotFound, text)
        })
    }

    /// Applications that the controller would bring into step by itself, and that are not.
    pub(super) fn application_shortfalls(&self) -> Vec<Shortfall> {
        let Some(newest) = self.repository.revisions.last() else { return Vec::new() };
        let Some(head) = Revision::read(newest) else { return Vec::new() };
        let applications = self.store().list(Kind::Application);
        let short = applications.filter_map(|object| {
            let (want, have) = shortfall(object, &head, &Live::Store(self.store()), self.now)?;
            Some(Shortfall { object: object.key(), want, have })
        });
        short.collect()
    }
}
