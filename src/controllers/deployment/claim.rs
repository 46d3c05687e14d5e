//! Whose ReplicaSet is it? A Deployment adopts what its selector matches and nobody controls, and
//! releases what it controls and its selector no longer matches.
//!
//! Follows `ReplicaSetControllerRefManager` in `pkg/controller/controller_ref_manager.go`.
//! Different: Kubernetes patches owner references by strategic merge. A JSON merge patch replaces
//! the whole list, so level names the version that it saw: two adoptions at once must not both
//! succeed.

use std::borrow::Cow;

use serde_json::json;

use crate::api::{Deployment, Kind, Object, ObjectKey, ObjectMeta, OwnerReference, ReplicaSet};
use crate::apiserver::{Part, Reason, Request};
use crate::client::Cache;
use crate::controllers::{Batch, Deed, Intent};

use super::matching;

/// The sets of a Deployment, and what must be written before they are.
#[derive(Debug, Default)]
pub struct Claim<'a> {
    /// Its sets by name, adopted ones with their new owner.
    pub owned: Vec<Cow<'a, ReplicaSet>>,
    /// First releases, and whether the Deployment still lives; then adoptions.
    pub batches: Vec<Batch>,
}

/// Claims the sets that the cache shows (`ClaimReplicaSets`).
pub fn claim<'a>(deployment: &Deployment, cache: &'a Cache) -> Claim<'a> {
    let meta = &deployment.metadata;
    let mut owned = Vec::new();
    let (mut first, mut adoptions) = (Batch::new(), Batch::new());
    for object in cache.owned_by(Kind::ReplicaSet, &meta.uid) {
        let Some(set) = object.as_replica_set() else {
            continue;
        };
        if deployment.spec.selector.matches(&set.metadata.labels) {
            owned.push(Cow::Borrowed(set));
        } else if !meta.is_terminating() {
            first.push(release(deployment, set, Seen::This));
        }
    }
    for object in cache.orphans(Kind::ReplicaSet, &meta.namespace) {
        let Some(set) = object.as_replica_set() else {
            continue;
        };
        if may_adopt(deployment, set) {
            adoptions.push(adopt(deployment, set, Seen::This));
            owned.push(Cow::Owned(adopted(deployment, set)));
        }
    }
    owned.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    if !adoptions.is_empty() {
        first.insert(0, guard(deployment));
    }
    let batches = [first, adoptions].into_iter();
    Claim { owned, batches: batches.filter(|batch| !batch.is_empty()).collect() }
}

/// Whether a set that nobody controls is for this Deployment to take.
pub fn may_adopt(deployment: &Deployment, set: &ReplicaSet) -> bool {
    !deployment.metadata.is_terminating()
        && !set.metadata.is_terminating()
        && matching::selects(deployment, &set.metadata.labels)
}

/// Reads the Deployment itself, not the cache: one that is going must not adopt
/// (`RecheckDeletionTimestamp`).
pub fn guard(deployment: &Deployment) -> Intent {
    let meta = &deployment.metadata;
    let key = ObjectKey::new(Kind::Deployment, meta.namespace.clone(), meta.name.clone());
    let mut intent = Intent::new(Deed::Read, Request::Get(key));
    intent.must_be_alive = Some(meta.uid.clone());
    intent
}

/// Which version of a set may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The one that was seen.
    This,
    /// Any.
    Whatever,
}

/// Makes the Deployment the controlling owner of a set.
pub fn adopt(deployment: &Deployment, set: &ReplicaSet, seen: Seen) -> Intent {
    let owners = owners_with(deployment, &set.metadata);
    Intent::tolerant(Deed::Adopt, set_owners(set, &owners, seen))
}

/// The set as it is afterwards.
pub fn adopted(deployment: &Deployment, set: &ReplicaSet) -> ReplicaSet {
    let mut set = set.clone();
    set.metadata.owner_references = owners_with(deployment, &set.metadata).into();
    set
}

/// Gives a set up.
pub fn release(deployment: &Deployment, set: &ReplicaSet, seen: Seen) -> Intent {
    let ours = &deployment.metadata.uid;
    let owners = set.metadata.owner_references.iter();
    let others: Vec<OwnerReference> = owners.filter(|o| o.uid != *ours).cloned().collect();
    let mut intent = Intent::new(Deed::Release, set_owners(set, &others, seen));
    intent.tolerates = |error| matches!(error.reason, Reason::NotFound | Reason::Invalid);
    intent
}

fn owners_with(deployment: &Deployment, set: &ObjectMeta) -> Vec<OwnerReference> {
    let owner = OwnerReference::controller_of(Kind::Deployment, &deployment.metadata);
    let others = set.owner_references.iter().filter(|other| other.uid != owner.uid);
    others.cloned().chain([owner.clone()]).collect()
}

fn set_owners(set: &ReplicaSet, owners: &[OwnerReference], seen: Seen) -> Request {
    let meta = &set.metadata;
    let mut patch = json!({"metadata": {"uid": meta.uid, "ownerReferences": owners}});
    if seen == Seen::This {
        patch["metadata"]["resourceVersion"] = json!(meta.resource_version.to_string());
    }
    Request::Patch(Part::Main, key_of(set), patch)
}

/// The key of a set.
pub fn key_of(set: &ReplicaSet) -> ObjectKey {
    let meta = &set.metadata;
    ObjectKey::new(Kind::ReplicaSet, meta.namespace.clone(), meta.name.clone())
}

/// The Deployment that controls a set, by its owner reference: key and uid.
pub fn home_of(set: &ObjectMeta) -> Option<(ObjectKey, &OwnerReference)> {
    let owner = set.controller()?;
    let info = Kind::Deployment.info();
    let is_ours = *owner.kind == *info.kind && *owner.api_version == *info.api_version;
    let key = || ObjectKey::new(Kind::Deployment, set.namespace.clone(), owner.name.clone());
    is_ours.then(|| (key(), owner))
}

/// The Deployment that an owner reference names, if the cache has that very one
/// (`resolveControllerRef`).
pub fn resolve<'a>(cache: &'a Cache, set: &ObjectMeta) -> Option<&'a Deployment> {
    let (key, owner) = home_of(set)?;
    let found = cache.get(&key).and_then(|object| Object::as_deployment(object))?;
    (found.metadata.uid == owner.uid).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, label: &str, owner: Option<&ObjectMeta>) -> Object {
        let mut set = ReplicaSet::default();
        set.metadata.name = name.into();
        set.metadata.uid = name.into();
        set.metadata.labels.insert("app".into(), label.into());
        let owner = owner.map(|owner| OwnerReference::controller_of(Kind::Deployment, owner));
        set.metadata.owner_references = owner.into_iter().collect();
        set.into()
    }

    #[test]
    fn an_adoption_waits_for_a_live_look_at_the_deployment_and_a_release_does_not() {
        let mut web = Deployment::default();
        web.metadata.name = "web".into();
        web.metadata.uid = "web-uid".into();
        web.spec.selector.match_labels.insert("app".into(), "web".into());
        let lost = set("lost", "other", Some(&web.metadata));
        let cache = Cache::of([lost, set("alone", "web", None)]);
        let claim = claim(&web, &cache);
        let deeds = |batch: &Batch| batch.iter().map(|intent| intent.deed).collect::<Vec<_>>();
        let batches: Vec<_> = claim.batches.iter().map(deeds).collect();
        assert_eq!(batches, [vec![Deed::Read, Deed::Release], vec![Deed::Adopt]]);
    }
}
