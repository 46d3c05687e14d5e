//! How lists and maps are owned: item by item or as a whole. A small table of what Kubernetes'
//! OpenAPI document says by `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`; a list that
//! is not in it is owned as a whole, a map field by field.

use crate::api::{Kind, Str, Value};

/// How a list or a map is owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As a whole.
    Atomic,
    /// Value by value.
    Set,
    /// Item by item, told apart by these keys; a key may have a default.
    Keyed(&'static [(&'static str, &'static str)]),
    /// A map, field by field.
    Granular,
}

/// What is owned how: the end of a path without list items, and its shape.
pub type Rules = &'static [(&'static str, Shape)];

/// The rules of a kind. The kind's own stand before those of all kinds.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    own: Rules,
    common: Rules,
}

const BY_NAME: Shape = Shape::Keyed(&[("name", "")]);
const BY_TYPE: Shape = Shape::Keyed(&[("type", "")]);
const BY_IP: Shape = Shape::Keyed(&[("ip", "")]);
/// The default stands in for a key that is left out.
const CONTAINER_PORTS: Shape = Shape::Keyed(&[("containerPort", ""), ("protocol", "TCP")]);
const SERVICE_PORTS: Shape = Shape::Keyed(&[("port", ""), ("protocol", "TCP")]);
const SPREAD: Shape = Shape::Keyed(&[("topologyKey", ""), ("whenUnsatisfiable", "")]);
use Shape::Atomic;

const COMMON: Rules = &[
    ("metadata.finalizers", Shape::Set),
    ("metadata.ownerReferences", Shape::Keyed(&[("uid", "")])),
    ("containers", BY_NAME),
    ("initContainers", BY_NAME),
    ("ephemeralContainers", BY_NAME),
    ("containers.ports", CONTAINER_PORTS),
    ("initContainers.ports", CONTAINER_PORTS),
    ("ephemeralContainers.ports", CONTAINER_PORTS),
    ("env", BY_NAME),
    ("volumeMounts", Shape::Keyed(&[("mountPath", "")])),
    ("volumeDevices", Shape::Keyed(&[("devicePath", "")])),
    ("volumes", BY_NAME),
    ("imagePullSecrets", BY_NAME),
    ("resourceClaims", BY_NAME),
    ("resources.claims", BY_NAME),
    ("schedulingGates", BY_NAME),
    ("hostAliases", BY_IP),
    ("topologySpreadConstraints", SPREAD),
    ("status.conditions", BY_TYPE),
    ("status.podIPs", BY_IP),
    ("status.hostIPs", BY_IP),
    ("status.addresses", BY_TYPE),
    // Maps that are owned as a whole.
    ("selector", Atomic),
    ("nodeSelector", Atomic),
    ("labelSelector", Atomic),
    ("namespaceSelector", Atomic),
    ("podSelector", Atomic),
    ("requiredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("nodeSelectorTerms", Atomic),
    ("configMapKeyRef", Atomic),
    ("secretKeyRef", Atomic),
    ("fieldRef", Atomic),
    ("resourceFieldRef", Atomic),
    ("secretRef", Atomic),
    ("configMapRef", Atomic),
    ("scaleTargetRef", Atomic),
    ("roleRef", Atomic),
    ("claimRef", Atomic),
    ("involvedObject", Atomic),
];

/// What a kind has beside the common rules, or against them.
const OWN: &[(Kind, Rules)] = &[
    (Kind::Service, &[("spec.ports", SERVICE_PORTS)]),
    (Kind::ServiceAccount, &[("secrets", BY_NAME)]),
    (Kind::Job, &[("status.conditions", Atomic)]),
    (Kind::PersistentVolumeClaim, &[("dataSource", Atomic)]),
    (Kind::CustomResourceDefinition, &[("openAPIV3Schema", Atomic)]),
];

impl Schema {
    /// The rules of a kind.
    pub fn of(kind: Kind) -> Schema {
        let own = OWN.iter().find(|(other, _)| *other == kind).map_or(&[][..], |(_, rules)| rules);
        Schema { own, common: COMMON }
    }

    /// These rules alone.
    pub const fn new(rules: Rules) -> Schema {
        Schema { own: rules, common: &[] }
    }

    /// The shape of the map or list at a path such as `spec.template.spec.containers.ports`. The
    /// longest rule counts.
    pub fn shape(&self, path: &str, value: &Value) -> Shape {
        let fits = |rule: &str| {
            path.strip_suffix(rule).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let find = |rules: Rules| {
            let fitting = rules.iter().filter(|(rule, _)| fits(rule));
            fitting.max_by_key(|(rule, _)| rule.len()).map(|(_, shape)| *shape)
        };
        let found = find(self.own).or_else(|| find(self.common));
        match (value, found) {
            (Value::Object(_), Some(Atomic)) => Atomic,
            (Value::Object(_), _) => Shape::Granular,
            (_, Some(shape)) => shape,
            (_, None) => Atomic,
        }
    }
}

/// The branch of a field.
pub fn field(name: &str) -> Str {
    format!("f:{name}").into()
}

/// The items of a list with their branches; none if they cannot be told apart, in which case the
/// list is owned as a whole.
pub fn items(list: &[Value], shape: Shape) -> Option<Vec<(Str, &Value)>> {
    let mut found: Vec<(Str, &Value)> = Vec::with_capacity(list.len());
    for item in list {
        found.push((branch(item, shape)?, item));
    }
    let mut names: Vec<&Str> = found.iter().map(|(name, _)| name).collect();
    names.sort();
    names.windows(2).all(|pair| pair[0] != pair[1]).then_some(found)
}

fn branch(item: &Value, shape: Shape) -> Option<Str> {
    match shape {
        Shape::Set if !item.is_object() && !item.is_array() => Some(format!("v:{item}").into()),
        Shape::Keyed(keys) => {
            let item = item.as_object()?;
            let mut named = serde_json::Map::new();
            for (key, default) in keys {
                match item.get(*key) {
                    Some(value) if !value.is_null() => named.insert((*key).into(), value.clone()),
                    _ if !default.is_empty() => named.insert((*key).into(), (*default).into()),
                    _ => return None,
                };
            }
            Some(format!("k:{}", Value::Object(named)).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_rule_counts_and_a_kind_has_rules_of_its_own() {
        let list = json!([]);
        let shape = |kind, path| Schema::of(kind).shape(path, &list);
        assert_eq!(shape(Kind::Pod, "spec.containers.ports"), CONTAINER_PORTS);
        assert_eq!(shape(Kind::Service, "spec.ports"), SERVICE_PORTS);
        assert_eq!(shape(Kind::EndpointSlice, "ports"), Atomic);
        assert_eq!(shape(Kind::Pod, "spec.tolerations"), Atomic);
        assert_eq!(shape(Kind::Job, "status.conditions"), Atomic);
        assert_eq!(shape(Kind::Deployment, "status.conditions"), BY_TYPE);
        assert_eq!(Schema::of(Kind::Deployment).shape("spec.selector", &json!({})), Atomic);
    }

    #[test]
    fn a_port_without_protocol_is_a_tcp_port() {
        let list = [json!({"containerPort": 80})];
        let names = items(&list, CONTAINER_PORTS).unwrap();
        assert_eq!(&*names[0].0, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}");
        let twice = [json!({"name": "a"}), json!({"name": "a"})];
        assert_eq!(items(&twice, BY_NAME), None);
    }
}
