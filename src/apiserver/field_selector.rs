//! Field selectors: `status.phase=Running,spec.nodeName!=node-1`. Kubernetes: apimachinery
//! `pkg/fields/selector.go`. A server knows the name and the namespace of every kind, and a few
//! fields of some (`AddFieldLabelConversionFunc` in `pkg/apis/*/v1/conversion.go`, and each kind's
//! `ToSelectableFields`).

use crate::api::{Kind, Object, Value, custom};

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// Conditions on fields, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    path: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Reads a selector. The error is the API server's.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut terms = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (path, equal, value) = match (part.split_once("!="), part.split_once('=')) {
                (Some((path, value)), _) => (path, false, value),
                (None, Some((path, value))) => (path, true, value.trim_start_matches('=')),
                (None, None) => {
                    return Err(format!("invalid selector: {text:?}; can't understand {part:?}"));
                }
            };
            terms.push(Term { path: path.into(), equal, value: value.into() });
        }
        Ok(FieldSelector { terms })
    }

    /// Refuses what objects of a kind cannot be selected by. The error is the API server's.
    pub fn check(&self, kind: Kind) -> Result<(), String> {
        self.terms.iter().try_for_each(|term| check_field(kind, &term.path))
    }

    /// Whether an object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        self.terms.iter().all(|term| field_is(object, &term.path, &term.value) == term.equal)
    }
}

/// Refuses a field that objects of a kind cannot be selected by, in the API server's words.
pub fn check_field(kind: Kind, path: &str) -> Result<(), String> {
    let own = fields_of(kind);
    let everywhere = path == NAME || (path == NAMESPACE && kind != Kind::Node);
    if everywhere || own.contains(&path) || (kind.is_custom() && is_declared(kind, path)) {
        return Ok(());
    }
    Err(match kind {
        Kind::Job => format!("field label {path:?} not supported for batchv1.Job"),
        _ if own.is_empty() && !kind.is_custom() => {
            format!("{path:?} is not a known field selector: only {NAME:?}, {NAMESPACE:?}")
        }
        _ => format!("field label not supported: {path}"),
    })
}

/// Whether a field of an object has this value.
pub fn field_is(object: &Object, path: &str, wanted: &str) -> bool {
    match path {
        NAME => *object.meta().name == *wanted,
        NAMESPACE => *object.meta().namespace == *wanted,
        _ => text_of(&object.to_value(), object.kind(), path) == wanted,
    }
}

/// By what objects of a kind can be selected beside their names.
fn fields_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Pod => &[
            "spec.hostNetwork",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
            "status.podIPs",
        ],
        Kind::Event => &[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        Kind::Node => &["spec.unschedulable"],
        Kind::ReplicaSet | Kind::ReplicationController => &["status.replicas"],
        Kind::Job => &["status.successful"],
        Kind::Namespace => &["status.phase"],
        Kind::Secret => &["type"],
        Kind::Service => &["spec.clusterIP", "spec.type"],
        _ => &[],
    }
}

/// Whether a definition lets its objects be selected by a field (`selectableFields`).
fn is_declared(kind: Kind, path: &str) -> bool {
    let Some(definition) = custom::definition(kind) else { return false };
    let versions = definition.spec().items("versions");
    let declared = versions.iter().filter_map(|version| version["selectableFields"].as_array());
    let is_it = |field: &Value| {
        let place = field["jsonPath"].as_str().unwrap_or_default();
        place.trim_start_matches('.') == path
    };
    declared.flatten().any(is_it)
}

/// A field as it is compared. What is not written has the value that it then means.
fn text_of(value: &Value, kind: Kind, path: &str) -> String {
    let path = match (kind, path) {
        (Kind::Job, "status.successful") => "status.succeeded",
        (Kind::Pod, "status.podIPs") => "status.podIP",
        (Kind::Event, "source") => {
            let component = text_at(value, "source.component");
            let reporter = || text_at(value, "reportingComponent");
            return Some(component).filter(|text| !text.is_empty()).unwrap_or_else(reporter);
        }
        _ => path,
    };
    let text = text_at(value, path);
    match path {
        "spec.hostNetwork" | "spec.unschedulable" if text.is_empty() => "false".into(),
        "status.replicas" | "status.succeeded" if text.is_empty() => "0".into(),
        _ => text,
    }
}

fn text_at(value: &Value, path: &str) -> String {
    let mut at = Some(value);
    for name in path.split('.') {
        at = at.and_then(|value| value.get(name));
    }
    match at {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_kind_can_be_selected_by_few_fields() {
        for (kind, path, said) in [
            (Kind::ConfigMap, "metadata.namespace", Ok(())),
            (Kind::Pod, "spec.nodeName", Ok(())),
            (Kind::Pod, "spec.foo", Err("field label not supported: spec.foo")),
            (
                Kind::Node,
                "metadata.namespace",
                Err("field label not supported: metadata.namespace"),
            ),
            (
                Kind::Deployment,
                "spec.replicas",
                Err("\"spec.replicas\" is not a known field selector: only \"metadata.name\", \
                     \"metadata.namespace\""),
            ),
            (
                Kind::Job,
                "status.active",
                Err("field label \"status.active\" not supported for batchv1.Job"),
            ),
        ] {
            let selector = FieldSelector::parse(&format!("metadata.name!=a,{path}=b")).unwrap();
            assert_eq!(selector.check(kind), said.map_err(str::to_string), "{path}");
        }
    }

    #[test]
    fn what_is_not_written_is_what_it_means() {
        let object = |kind, value: Value| Object::from_value(kind, value).unwrap();
        let selected =
            |object: &Object, text: &str| FieldSelector::parse(text).expect(text).matches(object);
        let node = object(Kind::Node, json!({"metadata": {"name": "a"}}));
        assert!(selected(&node, "spec.unschedulable=false,metadata.name==a"));
        let job = object(Kind::Job, json!({"metadata": {"name": "a"}, "status": {"succeeded": 2}}));
        assert!(selected(&job, "status.successful=2") && !selected(&job, "status.successful!=2"));
        let set = object(Kind::ReplicaSet, json!({"metadata": {"name": "a"}}));
        assert!(selected(&set, "status.replicas=0"));
        let event = json!({"metadata": {"name": "a"}, "source": {"component": "kubelet"}});
        assert!(selected(&object(Kind::Event, event), "source=kubelet"));
    }
}
