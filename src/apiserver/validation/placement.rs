//! Where a pod may go: affinity and topology spread (`validateAffinity`,
//! `validateTopologySpreadConstraints`). Left out: namespaces and label keys of pod affinity terms.

use std::collections::BTreeSet;

use crate::api::{LabelSelector, PodSpec, Value, names};

use super::errors::Errors;
use super::values::{items, text};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const POSITIVE: &str = "must be greater than zero";

/// All of it.
pub fn placement(spec: &PodSpec, path: &str, errors: &mut Errors) {
    if let Some(affinity) = spec.rest.get("affinity") {
        let path = format!("{path}.affinity");
        if let Some(rules) = given(affinity, "nodeAffinity") {
            node_affinity(rules, &format!("{path}.nodeAffinity"), errors);
        }
        for kind in ["podAffinity", "podAntiAffinity"] {
            if let Some(rules) = given(affinity, kind) {
                pod_affinity(rules, &format!("{path}.{kind}"), errors);
            }
        }
    }
    if let Some(constraints) = spec.rest.get("topologySpreadConstraints") {
        spread(constraints, &format!("{path}.topologySpreadConstraints"), errors);
    }
}

fn given<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    value.get(field).filter(|value| !value.is_null())
}

fn node_affinity(rules: &Value, path: &str, errors: &mut Errors) {
    if let Some(required) = given(rules, REQUIRED) {
        let path = format!("{path}.{REQUIRED}.nodeSelectorTerms");
        if items(required.get("nodeSelectorTerms")).next().is_none() {
            errors.required(&path, "must have at least one node selector term");
        }
        for (index, term) in items(required.get("nodeSelectorTerms")) {
            node_term(term, &format!("{path}[{index}]"), errors);
        }
    }
    for (index, rule) in items(rules.get(PREFERRED)) {
        let path = format!("{path}.{PREFERRED}[{index}]");
        weight(rule, &path, errors);
        node_term(
            rule.get("preference").unwrap_or(&Value::Null),
            &format!("{path}.preference"),
            errors,
        );
    }
}

fn weight(rule: &Value, path: &str, errors: &mut Errors) {
    let weight = rule.get("weight").and_then(Value::as_i64).unwrap_or(0);
    if !(1..=100).contains(&weight) {
        errors.invalid(&format!("{path}.weight"), weight, "must be in the range 1-100");
    }
}

/// `ValidateNodeSelectorTerm`.
fn node_term(term: &Value, path: &str, errors: &mut Errors) {
    for (index, rule) in items(term.get("matchExpressions")) {
        let path = format!("{path}.matchExpressions[{index}]");
        let values = items(rule.get("values")).count();
        let at = format!("{path}.values");
        match text(rule, "operator") {
            "In" | "NotIn" if values == 0 => {
                errors.required(&at, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&at, detail);
            }
            "Gt" | "Lt" if values != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(&at, detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => {
                errors.invalid(&format!("{path}.operator"), other, "not a valid selector operator");
            }
        }
        let key = text(rule, "key");
        errors.rules(&format!("{path}.key"), key, names::qualified_name(key));
    }
    for (index, rule) in items(term.get("matchFields")) {
        let path = format!("{path}.matchFields[{index}]");
        match text(rule, "operator") {
            "In" | "NotIn" if items(rule.get("values")).count() != 1 => {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node \
                              field selector";
                errors.required(&format!("{path}.values"), detail);
            }
            "In" | "NotIn" => {}
            other => {
                errors.invalid(&format!("{path}.operator"), other, "not a valid selector operator");
            }
        }
        let key = text(rule, "key");
        if key != "metadata.name" {
            errors.invalid(&format!("{path}.key"), key, "not a valid field selector key");
        }
    }
}

fn pod_affinity(rules: &Value, path: &str, errors: &mut Errors) {
    for (index, term) in items(rules.get(REQUIRED)) {
        pod_term(term, &format!("{path}.{REQUIRED}[{index}]"), errors);
    }
    for (index, rule) in items(rules.get(PREFERRED)) {
        let path = format!("{path}.{PREFERRED}[{index}]");
        weight(rule, &path, errors);
        let term = rule.get("podAffinityTerm").unwrap_or(&Value::Null);
        pod_term(term, &format!("{path}.podAffinityTerm"), errors);
    }
}

fn pod_term(term: &Value, path: &str, errors: &mut Errors) {
    for field in ["labelSelector", "namespaceSelector"] {
        selector(term, field, path, errors);
    }
    topology_key(term, path, errors);
}

fn selector(owner: &Value, field: &str, path: &str, errors: &mut Errors) {
    let selector = given(owner, field).cloned();
    let selector: Option<LabelSelector> = selector.and_then(|s| serde_json::from_value(s).ok());
    if let Some(selector) = selector {
        errors.extend(selector.validate(&format!("{path}.{field}")));
    }
}

fn topology_key(owner: &Value, path: &str, errors: &mut Errors) {
    let (key, at) = (text(owner, "topologyKey"), format!("{path}.topologyKey"));
    match key {
        "" => errors.required(&at, "can not be empty"),
        key => errors.rules(&at, key, names::qualified_name(key)),
    }
}

fn spread(constraints: &Value, path: &str, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, rule) in constraints.as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}[{index}]");
        let skew = rule.get("maxSkew").and_then(Value::as_i64).unwrap_or(0);
        if skew <= 0 {
            errors.invalid(&format!("{path}.maxSkew"), skew, POSITIVE);
        }
        topology_key(rule, &path, errors);
        let (key, else_) = (text(rule, "topologyKey"), text(rule, "whenUnsatisfiable"));
        let at = format!("{path}.whenUnsatisfiable");
        errors.one_of(&at, else_, &["DoNotSchedule", "ScheduleAnyway"]);
        if !seen.insert((key, else_)) {
            errors.duplicate(&path, &format!("{{{key}, {else_}}}"));
        }
        if let Some(domains) = rule.get("minDomains").and_then(Value::as_i64) {
            let at = format!("{path}.minDomains");
            if domains <= 0 {
                errors.invalid(&at, domains, POSITIVE);
            }
            if else_ == "ScheduleAnyway" {
                let detail = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not \
                              ScheduleAnyway";
                errors.invalid(&at, domains, detail);
            }
        }
        selector(rule, "labelSelector", &path, errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(spec: Value) -> Vec<String> {
        let spec = serde_json::from_value(spec).expect("a pod spec");
        let mut errors = Errors::default();
        placement(&spec, "spec", &mut errors);
        errors.into_words()
    }

    #[test]
    fn a_node_term_that_cannot_be_read_is_refused() {
        let with = |terms: Value| {
            let required = json!({REQUIRED: {"nodeSelectorTerms": terms}});
            said(json!({"affinity": {"nodeAffinity": required}}))
        };
        let at = format!("spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms");
        let rule = |rule: Value| with(json!([{"matchExpressions": [rule]}]));
        assert_eq!(rule(json!({"key": "a", "operator": "Gt", "values": ["1"]})), [""; 0]);
        let wanted = format!("{at}: Required value: must have at least one node selector term");
        assert_eq!(with(json!([])), [wanted]);
        let at = format!("{at}[0].matchExpressions[0]");
        let wanted = format!("{at}.operator: Invalid value: \"Is\": not a valid selector operator");
        assert_eq!(rule(json!({"key": "a", "operator": "Is"})), [wanted]);
        let wanted = format!(
            "{at}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
        );
        assert_eq!(rule(json!({"key": "a", "operator": "In"})), [wanted]);
    }

    #[test]
    fn neighbours_need_a_topology_and_a_weight() {
        let term = json!({"weight": 0, "podAffinityTerm": {"labelSelector": {}}});
        let words = said(json!({"affinity": {"podAntiAffinity": {PREFERRED: [term]}}}));
        let at = format!("spec.affinity.podAntiAffinity.{PREFERRED}[0]");
        let wanted = [
            format!("{at}.weight: Invalid value: 0: must be in the range 1-100"),
            format!("{at}.podAffinityTerm.topologyKey: Required value: can not be empty"),
        ];
        assert_eq!(words, wanted);
    }

    #[test]
    fn a_spread_constraint_allows_some_skew_of_some_topology() {
        let words = said(json!({"topologySpreadConstraints": [{"maxSkew": 0,
            "whenUnsatisfiable": "Never"}]}));
        let at = "spec.topologySpreadConstraints[0]";
        let wanted = [
            format!("{at}.maxSkew: Invalid value: 0: must be greater than zero"),
            format!("{at}.topologyKey: Required value: can not be empty"),
            format!(
                "{at}.whenUnsatisfiable: Unsupported value: \"Never\": supported values: \
                 \"DoNotSchedule\", \"ScheduleAnyway\""
            ),
        ];
        assert_eq!(words, wanted);
    }
}
