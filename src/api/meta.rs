//! `metadata`: what every object carries.

use serde::{Deserialize, Serialize};

use super::{Kind, ManagedFields, Rest, SharedList, Str, StrMap, Timestamp, is_default};

/// `metav1.ObjectMeta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Unique within kind and namespace.
    #[serde(skip_serializing_if = "str_is_empty")]
    pub name: Str,
    /// Prefix from which the server makes a name if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_name: Option<Str>,
    /// Empty for what lives in no namespace.
    #[serde(skip_serializing_if = "str_is_empty")]
    pub namespace: Str,
    /// Unique over all time; given by the server.
    #[serde(skip_serializing_if = "str_is_empty")]
    pub uid: Str,
    /// The store's revision at the last change; on the wire a text of digits. 0: not stored yet.
    #[serde(skip_serializing_if = "is_default", with = "revision_as_text")]
    pub resource_version: u64,
    /// Counts changes of the desired state.
    #[serde(skip_serializing_if = "is_default")]
    pub generation: i64,
    /// When it was stored first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// Set: the object is being deleted and goes when its last finalizer does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// Seconds that a graceful deletion leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// For selecting.
    #[serde(skip_serializing_if = "StrMap::is_empty")]
    pub labels: StrMap,
    /// Not for selecting.
    #[serde(skip_serializing_if = "StrMap::is_empty")]
    pub annotations: StrMap,
    /// Whose dependent this is.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub owner_references: SharedList<OwnerReference>,
    /// What must happen before it may go.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub finalizers: SharedList<Str>,
    /// Who wants which fields. On the wire only where it is asked for: what a client sends stands
    /// in `rest` until the server has read it.
    #[serde(skip)]
    pub managed_fields: ManagedFields,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ObjectMeta {
    /// The owner that manages this object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// Whether the owner with this uid manages this object.
    pub fn is_controlled_by(&self, uid: &str) -> bool {
        self.controller().is_some_and(|owner| &*owner.uid == uid)
    }

    /// Whether it is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// `metav1.OwnerReference`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    /// Such as `apps/v1`.
    pub api_version: Str,
    /// Such as `ReplicaSet`.
    pub kind: Str,
    /// The owner's name.
    pub name: Str,
    /// The owner's uid: a new object of the same name is another owner.
    pub uid: Str,
    /// Whether this owner manages the object; at most one does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub controller: bool,
    /// Whether a foreground deletion of the owner waits for this object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub block_owner_deletion: bool,
}

impl OwnerReference {
    /// The reference by which `owner` of `kind` manages an object (`metav1.NewControllerRef`).
    pub fn controller_of(kind: Kind, owner: &ObjectMeta) -> OwnerReference {
        OwnerReference {
            api_version: kind.info().api_version.into(),
            kind: kind.info().kind.into(),
            name: owner.name.clone(),
            uid: owner.uid.clone(),
            controller: true,
            block_owner_deletion: true,
        }
    }
}

fn str_is_empty(text: &Str) -> bool {
    text.is_empty()
}

/// resourceVersion is opaque text on the wire. A text that is no number reads as a version that no
/// object has, so that it conflicts instead of being ignored.
mod revision_as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(revision: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(revision)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(if text.is_empty() { 0 } else { text.parse().unwrap_or(u64::MAX) })
    }
}
