//! The history of templates that StatefulSets and DaemonSets keep as ControllerRevisions
//! (pkg/controller/history).
//!
//! Left out: adoption of revisions that nobody owns, and the counter for clashes of hashes.

use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Generic, Kind, Object, ObjectKey, OwnerReference, PodTemplateSpec, Str, StrMap, Value,
};
use crate::apiserver::{DeleteOptions, Part, Reason, Request};
use crate::client::Cache;
use crate::controllers::deployment::template_hash;
use crate::controllers::{Batch, Deed, Intent};

/// The label that says of which revision a pod is.
pub const REVISION_LABEL: &str = "controller-revision-hash";

/// The revisions of an owner, and the one that its template asks for.
#[derive(Clone, Debug)]
pub struct Revisions<'a> {
    /// What is known, the oldest first.
    known: Vec<&'a Generic>,
    /// The name of the one that the template asks for.
    pub update: Str,
    /// Its hash.
    pub hash: Str,
    /// What makes it, or moves it to the front of the history.
    pub batches: Vec<Batch>,
}

impl<'a> Revisions<'a> {
    /// Looks for the revision of the owner's template.
    pub fn of(owner: &Arc<Object>, cache: &'a Cache) -> Revisions<'a> {
        let meta = owner.meta();
        let spec = owner.as_generic().map(Generic::spec);
        let raw = spec.and_then(|spec| spec.at("template").value()).cloned().unwrap_or_default();
        let template: PodTemplateSpec = serde_json::from_value(raw).unwrap_or_default();
        let data = data_of(&template);
        let owned = cache.owned_by(Kind::ControllerRevision, &meta.uid);
        let mut known: Vec<&Generic> = owned.filter_map(|found| found.as_generic()).collect();
        known.sort_by_key(|found| (number(found), found.metadata.name.clone()));
        let next = known.last().map_or(1, |last| number(last).saturating_add(1));
        let hash = template_hash::hash(&template, None);
        let equal = known.iter().rev().find(|found| found.rest.get("data") == Some(&data)).copied();
        let last = known.last().map(|last| &last.metadata.name);
        let (update, batches) = match equal {
            Some(equal) if last == Some(&equal.metadata.name) => {
                (equal.metadata.name.clone(), Vec::new())
            }
            Some(equal) => (equal.metadata.name.clone(), vec![vec![renumber(equal, next)]]),
            None => {
                let name: Str = template_hash::set_name(&meta.name, &hash).into();
                let new = new_revision(owner, &template, &name, &hash, data, next);
                (name, vec![vec![new]])
            }
        };
        let hash = equal.and_then(|equal| equal.metadata.labels.get(REVISION_LABEL).cloned());
        let hash = hash.unwrap_or_else(|| template_hash::hash(&template, None).into());
        Revisions { known, update, hash, batches }
    }

    /// The template of the revision of this name.
    pub fn template(&self, name: &str) -> Option<PodTemplateSpec> {
        let found = self.known.iter().find(|found| *found.metadata.name == *name)?;
        let template = found.rest.get("data")?.pointer("/spec/template")?.clone();
        serde_json::from_value(template).ok()
    }

    /// The hash of the revision of this name.
    pub fn hash_of(&self, name: &str) -> Option<&Str> {
        let found = self.known.iter().find(|found| *found.metadata.name == *name)?;
        found.metadata.labels.get(REVISION_LABEL)
    }

    /// The requests that delete the oldest revisions that nobody needs, but `limit` of them.
    pub fn truncate(&self, is_live: impl Fn(&Generic) -> bool, limit: usize) -> Batch {
        let is_spent = |found: &&&Generic| found.metadata.name != self.update && !is_live(found);
        let spent: Vec<&&Generic> = self.known.iter().filter(is_spent).collect();
        let surplus = spent.len().saturating_sub(limit);
        let delete = |found: &&Generic| {
            let request = Request::Delete(key_of(found), DeleteOptions::default());
            Intent::tolerant(Deed::Delete, request)
        };
        spent.into_iter().take(surplus).map(delete).collect()
    }
}

fn key_of(revision: &Generic) -> ObjectKey {
    let meta = &revision.metadata;
    ObjectKey::new(Kind::ControllerRevision, meta.namespace.clone(), meta.name.clone())
}

fn number(revision: &Generic) -> i64 {
    revision.rest.get("revision").and_then(Value::as_i64).unwrap_or(0)
}

/// What a revision keeps: a patch that replaces the template.
fn data_of(template: &PodTemplateSpec) -> Value {
    let mut template = json!(template);
    template["$patch"] = "replace".into();
    json!({"spec": {"template": template}})
}

fn renumber(revision: &Generic, number: i64) -> Intent {
    let mut after = revision.clone();
    after.rest.insert("revision".into(), number.into());
    Intent::new(Deed::Update, Request::Update(Part::Main, Arc::new(Object::Generic(after))))
}

/// If it is there already, the cache is behind: the pods may be made all the same.
fn new_revision(
    owner: &Arc<Object>,
    template: &PodTemplateSpec,
    name: &Str,
    hash: &str,
    data: Value,
    number: i64,
) -> Intent {
    let mut revision = Generic {
        kind: Kind::ControllerRevision,
        metadata: Default::default(),
        rest: [("data".to_string(), data), ("revision".to_string(), number.into())].into(),
    };
    let meta = &mut revision.metadata;
    meta.name = name.clone();
    meta.namespace = owner.meta().namespace.clone();
    let mut labels: StrMap = template.metadata.labels.clone();
    labels.insert(REVISION_LABEL.into(), hash.into());
    meta.labels = labels;
    meta.owner_references = [OwnerReference::controller_of(owner.kind(), owner.meta())].into();
    Intent {
        tolerates: |error| error.reason == Reason::AlreadyExists,
        ..Intent::new(Deed::Create, Request::Create(Arc::new(Object::Generic(revision))))
    }
}
