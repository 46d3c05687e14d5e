//! Any object, and the key by which it is known.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, json};

use super::{Deployment, Event, Kind, Lease, Node, ObjectMeta, Pod, ReplicaSet, Rest, Str, Value};

/// Kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for what lives in none.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
}

impl ObjectKey {
    /// The key of these three.
    pub fn new(kind: Kind, namespace: impl Into<Str>, name: impl Into<Str>) -> ObjectKey {
        ObjectKey { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &ObjectKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By kind, namespace and name. Most keys share one copy of their namespace's text, which need not
/// be compared then: maps of thousands of pods are searched all the time.
impl Ord for ObjectKey {
    fn cmp(&self, other: &ObjectKey) -> Ordering {
        if self.kind != other.kind || !Arc::ptr_eq(&self.namespace, &other.namespace) {
            let by_kind = self.kind.cmp(&other.kind);
            let by_namespace = by_kind.then_with(|| self.namespace.cmp(&other.namespace));
            if by_namespace.is_ne() {
                return by_namespace;
            }
        }
        self.name.cmp(&other.name)
    }
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.info().kind;
        match &*self.namespace {
            "" => write!(f, "{kind} {}", self.name),
            namespace => write!(f, "{kind} {namespace}/{}", self.name),
        }
    }
}

/// An object of a kind that the simulation keeps but does not act on.
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// Its kind.
    pub kind: Kind,
    /// Name, labels.
    pub metadata: ObjectMeta,
    /// Everything but apiVersion, kind and metadata.
    pub rest: Rest,
}

/// Any object.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Object {
    Pod(Pod),
    ReplicaSet(ReplicaSet),
    Deployment(Deployment),
    Node(Node),
    Event(Event),
    Lease(Lease),
    Generic(Generic),
}

macro_rules! each {
    ($object:expr, $inner:ident => $value:expr) => {
        match $object {
            Object::Pod($inner) => $value,
            Object::ReplicaSet($inner) => $value,
            Object::Deployment($inner) => $value,
            Object::Node($inner) => $value,
            Object::Event($inner) => $value,
            Object::Lease($inner) => $value,
            Object::Generic($inner) => $value,
        }
    };
}

macro_rules! typed {
    ($($kind:ident $getter:ident;)*) => {
        $(
            impl From<$kind> for Object {
                fn from(inner: $kind) -> Object {
                    Object::$kind(inner)
                }
            }
        )*
        impl Object {
            $(
                /// The object as this kind, if it is one.
                pub fn $getter(&self) -> Option<&$kind> {
                    match self {
                        Object::$kind(inner) => Some(inner),
                        _ => None,
                    }
                }
            )*
        }
    };
}

typed! {
    Pod as_pod;
    ReplicaSet as_replica_set;
    Deployment as_deployment;
    Node as_node;
    Event as_event;
    Lease as_lease;
    Generic as_generic;
}

impl Object {
    /// Its metadata.
    pub fn meta(&self) -> &ObjectMeta {
        each!(self, inner => &inner.metadata)
    }

    /// Its metadata, to change.
    pub fn meta_mut(&mut self) -> &mut ObjectMeta {
        each!(self, inner => &mut inner.metadata)
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Object::Pod(_) => Kind::Pod,
            Object::ReplicaSet(_) => Kind::ReplicaSet,
            Object::Deployment(_) => Kind::Deployment,
            Object::Node(_) => Kind::Node,
            Object::Event(_) => Kind::Event,
            Object::Lease(_) => Kind::Lease,
            Object::Generic(generic) => generic.kind,
        }
    }

    /// Its key.
    pub fn key(&self) -> ObjectKey {
        let meta = self.meta();
        ObjectKey::new(self.kind(), meta.namespace.clone(), meta.name.clone())
    }

    /// The object of `kind` that `value` describes. The value must have passed strict decoding;
    /// what still does not fit is serde's error.
    pub fn from_value(kind: Kind, value: Value) -> Result<Object, serde_json::Error> {
        use serde_json::from_value;
        Ok(match kind {
            Kind::Pod => Object::Pod(from_value(value)?),
            Kind::ReplicaSet => Object::ReplicaSet(from_value(value)?),
            Kind::Deployment => Object::Deployment(from_value(value)?),
            Kind::Node => Object::Node(from_value(value)?),
            Kind::Event => Object::Event(from_value(value)?),
            Kind::Lease => Object::Lease(from_value(value)?),
            kind => {
                let mut rest: Rest = from_value(value)?;
                rest.remove("apiVersion");
                rest.remove("kind");
                let metadata = from_value(rest.remove("metadata").unwrap_or(json!({})))?;
                Object::Generic(Generic { kind, metadata, rest })
            }
        })
    }

    /// The object as JSON, `apiVersion` and `kind` included.
    pub fn to_value(&self) -> Value {
        let body = match self {
            Object::Generic(generic) => {
                let mut map: Map<String, Value> = generic.rest.clone().into_iter().collect();
                map.insert("metadata".into(), to_json(&generic.metadata));
                Value::Object(map)
            }
            Object::Pod(inner) => to_json(inner),
            Object::ReplicaSet(inner) => to_json(inner),
            Object::Deployment(inner) => to_json(inner),
            Object::Node(inner) => to_json(inner),
            Object::Event(inner) => to_json(inner),
            Object::Lease(inner) => to_json(inner),
        };
        let Value::Object(mut map) = body else {
            return body;
        };
        let info = self.kind().info();
        map.insert("apiVersion".into(), info.api_version.into());
        map.insert("kind".into(), info.kind.into());
        Value::Object(map)
    }
}

/// Our own types have text keys and finite numbers only, so this cannot fail.
fn to_json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
