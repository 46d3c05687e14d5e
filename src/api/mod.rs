//! Kubernetes objects as plain data. Fields that the simulation reads are typed; every other field
//! of an object is kept as it came, in `rest`, so that nothing a user wrote is lost.

mod condition;
pub mod custom;
mod deployment;
mod event;
mod field_error;
mod field_set;
mod fields;
mod generic;
mod int_or_string;
mod kind;
mod lease;
mod managed_fields;
mod meta;
pub mod names;
mod node;
mod object;
mod object_map;
mod pod;
mod quantity;
mod replica_set;
mod schedule;
pub mod selector;
mod shared;
mod time_zone;
mod timestamp;

use std::sync::Arc;

pub use condition::{Condition, ConditionStatus, DISRUPTION_TARGET};
pub use deployment::{
    Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdate, StrategyType,
};
pub use event::{Event, EventSource, EventType, ObjectReference};
pub use field_error::{FieldError, FieldErrorKind};
pub use field_set::FieldSet;
pub use fields::Fields;
pub use generic::amounts;
pub use int_or_string::{IntOrString, ScaleError};
pub use kind::{Kind, KindInfo};
pub use lease::{Lease, LeaseSpec};
pub use managed_fields::{ManagedFields, ManagedFieldsEntry, ManagedFieldsOperation};
pub use meta::{ObjectMeta, OwnerReference};
pub use node::{Node, NodeSpec, NodeStatus, Taint, TaintEffect};
pub use object::{Generic, Object, ObjectKey};
pub use object_map::ObjectMap;
pub use pod::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated,
    ContainerStateWaiting, ContainerStatus, Pod, PodIp, PodPhase, PodSpec, PodStatus,
    PodTemplateSpec, Probe, ResourceRequirements, RestartPolicy, Toleration,
};
pub use quantity::{Quantity, QuantityError, QuantityFormat};
pub use replica_set::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};
pub use schedule::Schedule;
pub use selector::LabelSelector;
pub use shared::{SharedList, SharedMap};
pub use time_zone::TimeZone;
pub use timestamp::Timestamp;

/// Text that is copied often and changed never: names, labels, reasons.
pub type Str = Arc<str>;
/// Labels, annotations and other maps of text.
pub type StrMap = SharedMap<Str, Str>;
/// A free-form value.
pub type Value = serde_json::Value;
/// Fields that the simulation does not read, kept as they came.
pub type Rest = SharedMap<String, Value>;

/// For `skip_serializing_if`: Kubernetes leaves out what is zero, false or empty.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
