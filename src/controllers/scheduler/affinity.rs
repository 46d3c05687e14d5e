//! Node selectors and node affinity (`k8s.io/component-helpers/scheduling/corev1/nodeaffinity`).

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::api::selector::LabelSelectorRequirement;
use crate::api::{Node, PodSpec, Str, StrMap, Value, names};

/// The one field by which a node can be asked for.
const NAME: &str = "metadata.name";

/// Which nodes a pod asks for. Read once for a decision.
#[derive(Clone, Debug, Default)]
pub struct NodeAffinity {
    selector: StrMap,
    /// One of these must match; absent: no such wish.
    required: Option<Vec<Term>>,
    /// Each that matches counts its weight.
    preferred: Vec<(i64, Term)>,
}

/// `v1.NodeSelectorTerm`: all of it must match; an empty one matches nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Term {
    match_expressions: Vec<LabelSelectorRequirement>,
    match_fields: Vec<LabelSelectorRequirement>,
}

impl NodeAffinity {
    /// What this spec asks for. Terms that cannot be read match nothing.
    pub fn of(spec: &PodSpec) -> NodeAffinity {
        let wishes = spec.rest.get("affinity").map(|a| &a["nodeAffinity"]);
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let required = wishes.map(|w| &w["requiredDuringSchedulingIgnoredDuringExecution"]);
        let preferred = wishes.map(|w| &w["preferredDuringSchedulingIgnoredDuringExecution"]);
        NodeAffinity {
            selector: spec.node_selector.clone(),
            required: required.filter(|r| !r.is_null()).map(|r| {
                let terms = list(&r["nodeSelectorTerms"]);
                terms.into_iter().map(term_of).collect()
            }),
            preferred: preferred.map_or_else(Vec::new, |terms| {
                let weighed = |t: &Value| (t["weight"].as_i64(), term_of(t["preference"].clone()));
                let terms = list(terms).into_iter().map(|t| weighed(&t));
                terms.map(|(w, t)| (w.unwrap_or(0), t)).collect()
            }),
        }
    }

    /// Whether a pod that asks for this may go to this node.
    pub fn allows(&self, node: &Node) -> bool {
        let labels = &node.metadata.labels;
        let selected = self.selector.iter().all(|(k, v)| labels.get(k) == Some(v));
        let one_of = |terms: &Vec<Term>| terms.iter().any(|term| term.matches(node));
        selected && self.required.as_ref().is_none_or(one_of)
    }

    /// Whether `allows` says yes to every node.
    pub fn allows_all(&self) -> bool {
        self.selector.is_empty() && self.required.is_none()
    }

    /// Whether it likes some nodes better than others.
    pub fn prefers_some(&self) -> bool {
        !self.preferred.is_empty()
    }

    /// The nodes that it names, if every term that is required names some; none are left where the
    /// terms contradict themselves (`PreFilter`).
    pub fn named(&self) -> Option<BTreeSet<Str>> {
        let mut names = BTreeSet::new();
        for term in self.required.as_ref().filter(|terms| !terms.is_empty())? {
            let by_name = |r: &&LabelSelectorRequirement| &*r.key == NAME && &*r.operator == "In";
            let lists = term.match_fields.iter().filter(by_name);
            let sets = lists.map(|rule| rule.values.iter().cloned().collect::<BTreeSet<_>>());
            names.extend(sets.reduce(|all, more| &all & &more)?);
        }
        Some(names)
    }

    /// The weight of the preferences that this node fulfils.
    pub fn preference(&self, node: &Node) -> i64 {
        let fulfilled = self.preferred.iter().filter(|(_, term)| term.matches(node));
        fulfilled.map(|(weight, _)| weight).sum()
    }
}

fn term_of(value: Value) -> Term {
    serde_json::from_value(value).unwrap_or_default()
}

impl Term {
    fn matches(&self, node: &Node) -> bool {
        let empty = self.match_expressions.is_empty() && self.match_fields.is_empty();
        let well_formed = self.match_expressions.iter().all(is_well_formed)
            && self.match_fields.iter().all(is_well_formed_field);
        let (name, labels) = (&*node.metadata.name, &node.metadata.labels);
        !empty
            && well_formed
            && self.match_expressions.iter().all(|rule| holds(rule, labels))
            && (name.is_empty() || self.match_fields.iter().all(|rule| holds_of_field(rule, name)))
    }
}

fn holds(rule: &LabelSelectorRequirement, labels: &StrMap) -> bool {
    let number = |text: Option<&Str>| text.and_then(|t| t.parse::<i64>().ok());
    let (own, bound) = (number(labels.get(&rule.key)), number(rule.values.first()));
    match &*rule.operator {
        "Gt" => own.zip(bound).is_some_and(|(own, bound)| own > bound),
        "Lt" => own.zip(bound).is_some_and(|(own, bound)| own < bound),
        _ => rule.matches(labels),
    }
}

/// The one field that nodes have is their name; any other is empty.
fn holds_of_field(rule: &LabelSelectorRequirement, name: &str) -> bool {
    let own = if &*rule.key == NAME { name } else { "" };
    let equal = rule.values.first().is_some_and(|value| **value == *own);
    equal == (&*rule.operator == "In")
}

/// A rule that Kubernetes would not parse makes its whole term match nothing, even under `NotIn`.
fn is_well_formed(rule: &LabelSelectorRequirement) -> bool {
    let count = rule.values.len();
    let fits = match &*rule.operator {
        "In" | "NotIn" => count > 0,
        "Exists" | "DoesNotExist" => count == 0,
        "Gt" | "Lt" => count == 1 && rule.values[0].parse::<i64>().is_ok(),
        _ => false,
    };
    fits && names::qualified_name(&rule.key).is_empty()
        && rule.values.iter().all(|value| names::label_value(value).is_empty())
}

/// A field is equal to one value or it is not; the value may be any text.
fn is_well_formed_field(rule: &LabelSelectorRequirement) -> bool {
    matches!(&*rule.operator, "In" | "NotIn") && rule.values.len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(labels: Value) -> Node {
        serde_json::from_value(json!({"metadata": {"name": "node-1", "labels": labels}}))
            .expect("a node")
    }

    fn affinity(rule: Value) -> NodeAffinity {
        let terms = json!({"nodeSelectorTerms": [{"matchExpressions": [rule]}]});
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": terms});
        let spec = json!({"containers": [], "affinity": {"nodeAffinity": required}});
        NodeAffinity::of(&serde_json::from_value(spec).expect("a pod spec"))
    }

    #[test]
    fn greater_than_compares_numbers() {
        let rule = json!({"key": "cores", "operator": "Gt", "values": ["9"]});
        assert!(affinity(rule.clone()).allows(&node(json!({"cores": "16"}))));
        assert!(!affinity(rule.clone()).allows(&node(json!({"cores": "8"}))));
        assert!(!affinity(rule).allows(&node(json!({"cores": "many"}))));
    }

    #[test]
    fn a_term_with_an_illegal_value_matches_nothing_even_under_not_in() {
        let rule = json!({"key": "a", "operator": "NotIn", "values": ["{illegal}"]});
        assert!(!affinity(rule).allows(&node(json!({}))));
    }

    #[test]
    fn no_terms_at_all_match_nothing() {
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": []}});
        let spec = json!({"affinity": {"nodeAffinity": required}});
        let affinity = NodeAffinity::of(&serde_json::from_value(spec).expect("a pod spec"));
        assert!(!affinity.allows(&node(json!({}))));
    }

    fn by_field(rule: Value) -> NodeAffinity {
        let terms = json!({"nodeSelectorTerms": [{"matchFields": [rule]}]});
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": terms});
        let spec = json!({"affinity": {"nodeAffinity": required}});
        NodeAffinity::of(&serde_json::from_value(spec).expect("a pod spec"))
    }

    #[test]
    fn a_term_with_an_illegal_key_matches_nothing_even_if_the_label_shall_be_absent() {
        let rule = json!({"key": "not a key", "operator": "DoesNotExist"});
        assert!(!affinity(rule).allows(&node(json!({}))));
    }

    #[test]
    fn a_name_of_a_node_need_not_be_a_legal_label() {
        let long = "n".repeat(100);
        let mut far = node(json!({}));
        far.metadata.name = long.as_str().into();
        let rule = json!({"key": "metadata.name", "operator": "In", "values": [long]});
        assert!(by_field(rule.clone()).allows(&far));
        assert!(!by_field(rule).allows(&node(json!({}))));
    }

    #[test]
    fn a_field_is_compared_with_one_value() {
        let rule = |operator: &str, values: Value| {
            by_field(json!({"key": "metadata.name", "operator": operator, "values": values}))
        };
        let here = node(json!({}));
        assert!(rule("NotIn", json!(["other"])).allows(&here));
        assert!(!rule("NotIn", json!(["node-1"])).allows(&here));
        assert!(!rule("In", json!(["node-1", "node-2"])).allows(&here), "two values");
        assert!(!rule("Exists", json!([])).allows(&here), "no such operator on fields");
    }

    #[test]
    fn nodes_are_named_if_every_term_names_some() {
        let named = |terms: Value| {
            let required = json!({"nodeSelectorTerms": terms});
            let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": required});
            let spec = json!({"affinity": {"nodeAffinity": required}});
            let affinity = NodeAffinity::of(&serde_json::from_value(spec).expect("a pod spec"));
            affinity.named().map(|names| names.iter().map(|n| n.to_string()).collect::<Vec<_>>())
        };
        let rule = |name: &str| json!({"key": NAME, "operator": "In", "values": [name]});
        let one = |name: &str| json!({"matchFields": [rule(name)]});
        let by_label = json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]});
        assert_eq!(named(json!([one("a"), one("b")])), Some(vec!["a".into(), "b".into()]));
        assert_eq!(named(json!([one("a"), by_label])), None);
        assert_eq!(named(json!([{"matchFields": [rule("a"), rule("b")]}])), Some(vec![]));
        assert_eq!(named(json!([])), None);
    }
}
