//! Kubernetes' own expectations, as data (`tests/conformance/*.json`, never regenerated from our
//! output), put to the functions that the simulation uses. `CONFORMANCE_DIR` names another folder
//! of the same form. One line a file is printed: passed, failed, not modelled, Go only.

use std::path::PathBuf;

use serde_json::Value;

/// What became of a case.
pub enum Outcome {
    /// Every asserted key agreed.
    Passed,
    /// What differed, in words.
    Failed(String),
    /// Why the simulation has nothing that could answer. Such a case stands in `NOT_MODELLED`.
    #[allow(dead_code)]
    NotModelled(&'static str),
}

/// Compares only the keys that `expect` has; `null` means "not set" and is compared.
#[allow(dead_code)]
pub fn compare(expect: &Value, got: &Value) -> Outcome {
    match difference("", expect, got) {
        None => Outcome::Passed,
        Some(text) => Outcome::Failed(text),
    }
}

fn difference(path: &str, expect: &Value, got: &Value) -> Option<String> {
    match (expect, got) {
        (Value::Object(expect), Value::Object(got)) => expect.iter().find_map(|(key, value)| {
            if key == "note" {
                return None;
            }
            difference(&format!("{path}.{key}"), value, got.get(key).unwrap_or(&Value::Null))
        }),
        (Value::Array(expect), Value::Array(got)) if expect.len() == got.len() => {
            let mut pairs = expect.iter().zip(got).enumerate();
            pairs.find_map(|(i, (e, g))| difference(&format!("{path}[{i}]"), e, g))
        }
        _ if expect == got => None,
        _ => Some(format!("{path}: expected {expect}, got {got}")),
    }
}

/// Reads `given` into the runner's own type. Types say `deny_unknown_fields`, so that a key that a
/// runner does not know fails the case instead of being skipped.
#[allow(dead_code)]
pub fn given<T: serde::de::DeserializeOwned>(given: &Value) -> Result<T, Outcome> {
    serde_json::from_value(given.clone())
        .map_err(|error| Outcome::Failed(format!("cannot read `given`: {error}")))
}

type Check = fn(&Value, &Value) -> Outcome;

#[path = "conformance/checks"]
mod checks {
    pub mod api_semantics;
    pub mod argocd;
    mod by_check;
    pub mod controller_expectations;
    pub mod deployment_fenceposts;
    pub mod deployment_proportional_scaling;
    pub mod deployment_recreate;
    pub mod deployment_replicaset_matching;
    pub mod deployment_revision_history;
    pub mod deployment_rolling_update;
    pub mod deployment_status;
    pub mod event_messages;
    pub mod garbage_collection;
    pub mod graceful_deletion;
    pub mod hpa_behavior;
    pub mod hpa_replicas;
    pub mod human_duration;
    pub mod informer_in_order_queue;
    pub mod informer_semantics;
    pub mod int_or_percent;
    pub mod kubectl_columns;
    pub mod kubelet_backoff;
    pub mod label_selector;
    pub mod names;
    pub mod node_lifecycle;
    pub mod pod_conditions;
    pub mod pod_deletion_order;
    pub mod pod_phase;
    pub mod probes;
    pub mod quantity;
    pub mod replicaset_manage_replicas;
    pub mod replicaset_status;
    pub mod resource_version;
    pub mod restart_policy;
    pub mod scheduler_filters;
    pub mod scheduler_scores;
    pub mod server_side_apply;
    pub mod validation_errors;
    pub mod workqueue_rate_limiter;
    pub mod workqueue_semantics;
}

/// Each vector file with the check that answers its cases.
const FILES: &[(&str, Check)] = &[
    ("workqueue_rate_limiter", checks::workqueue_rate_limiter::check),
    ("workqueue_semantics", checks::workqueue_semantics::check),
    ("controller_expectations", checks::controller_expectations::check),
    ("deployment_fenceposts", checks::deployment_fenceposts::check),
    ("int_or_percent", checks::int_or_percent::check),
    ("deployment_rolling_update", checks::deployment_rolling_update::check),
    ("deployment_recreate", checks::deployment_recreate::check),
    ("deployment_proportional_scaling", checks::deployment_proportional_scaling::check),
    ("deployment_replicaset_matching", checks::deployment_replicaset_matching::check),
    ("deployment_revision_history", checks::deployment_revision_history::check),
    ("deployment_status", checks::deployment_status::check),
    ("replicaset_manage_replicas", checks::replicaset_manage_replicas::check),
    ("replicaset_status", checks::replicaset_status::check),
    ("pod_deletion_order", checks::pod_deletion_order::check),
    ("kubelet_backoff", checks::kubelet_backoff::check),
    ("restart_policy", checks::restart_policy::check),
    ("pod_phase", checks::pod_phase::check),
    ("pod_conditions", checks::pod_conditions::check),
    ("probes", checks::probes::check),
    ("quantity", checks::quantity::check),
    ("label_selector", checks::label_selector::check),
    ("names", checks::names::check),
    ("human_duration", checks::human_duration::check),
    ("kubectl_columns", checks::kubectl_columns::check),
    ("validation_errors", checks::validation_errors::check),
    ("scheduler_filters", checks::scheduler_filters::check),
    ("scheduler_scores", checks::scheduler_scores::check),
    ("node_lifecycle", checks::node_lifecycle::check),
    ("api_semantics", checks::api_semantics::check),
    ("resource_version", checks::resource_version::check),
    ("server_side_apply", checks::server_side_apply::check),
    ("graceful_deletion", checks::graceful_deletion::check),
    ("garbage_collection", checks::garbage_collection::check),
    ("informer_in_order_queue", checks::informer_in_order_queue::check),
    ("informer_semantics", checks::informer_semantics::check),
    ("event_messages", checks::event_messages::check),
    ("hpa_replicas", checks::hpa_replicas::check),
    ("hpa_behavior", checks::hpa_behavior::check),
    ("argocd", checks::argocd::check),
];

/// Cases that the simulation does not model, with the reason: at most 3 % of all and 10 % of a
/// file.
const NOT_MODELLED: &[(&str, &str, &str)] = &[
    // (file, case, reason)
    ("event_messages", "FailedPostStartHook: post-start hook failed", "no hook fails"),
];

fn folder() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    std::env::var_os("CONFORMANCE_DIR").map_or(own, PathBuf::from)
}

#[derive(Default)]
struct Tally {
    passed: usize,
    not_modelled: usize,
    go_only: usize,
    failures: Vec<String>,
}

fn run_file(name: &str, check: Check) -> Option<Tally> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).ok()?;
    let file: Value = serde_json::from_str(&text).expect("a vector file is JSON");
    let mut tally = Tally::default();
    for case in file["cases"].as_array().expect("a vector file has cases") {
        let title = case["name"].as_str().unwrap_or("?");
        if case["goOnly"] == true {
            tally.go_only += 1;
            continue;
        }
        match check(&case["given"], &case["expect"]) {
            Outcome::Passed => tally.passed += 1,
            Outcome::Failed(why) => tally.failures.push(format!("{name} / {title}: {why}")),
            Outcome::NotModelled(why) => {
                tally.not_modelled += 1;
                let listed = NOT_MODELLED.iter().any(|(f, c, _)| (*f, *c) == (name, title));
                if !listed && std::env::var_os("CONFORMANCE_DIR").is_none() {
                    tally
                        .failures
                        .push(format!("{name} / {title}: not listed as unmodelled: {why}"));
                }
            }
        }
    }
    Some(tally)
}

#[test]
fn the_simulation_answers_as_kubernetes_own_tests_expect() {
    let (mut failures, mut modelled, mut left_out) = (Vec::new(), 0, 0);
    for (name, check) in FILES {
        let Some(tally) = run_file(name, *check) else {
            println!("{name}: no such file in {}", folder().display());
            continue;
        };
        println!(
            "{name}: {} passed, {} failed, {} not modelled, {} Go only",
            tally.passed,
            tally.failures.len(),
            tally.not_modelled,
            tally.go_only
        );
        let tried = tally.passed + tally.failures.len();
        if tally.not_modelled * 10 > tried + tally.not_modelled {
            failures.push(format!("{name}: more than 10 % are not modelled"));
        }
        modelled += tried;
        left_out += tally.not_modelled;
        failures.extend(tally.failures);
    }
    println!(
        "all: {} passed, {} failed, {left_out} not modelled",
        modelled - failures.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
    assert!(modelled > 0, "no vector was run");
    assert!(left_out * 100 <= 3 * (modelled + left_out), "more than 3 % are not modelled");
}
