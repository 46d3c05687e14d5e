use std::collections::BTreeMap;

use loopscope::api::{Node, Pod};
use loopscope::controllers::scheduler::scores::{self, Share};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

type Amounts = BTreeMap<String, Value>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    strategy: String,
    resources: Vec<Resource>,
    pod_request: Amounts,
    nodes: Vec<Amounts>,
    existing: Vec<Amounts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    name: String,
    weight: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Taints {
    #[serde(rename = "strategy")]
    _strategy: String,
    tolerations: Value,
    nodes: BTreeMap<String, Value>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match case["strategy"].as_str() {
        Some("TaintToleration") => given(case).map(taints),
        _ => given(case).map(resources),
    };
    match got {
        Ok(got) => compare(expect, &got),
        Err(outcome) => outcome,
    }
}

fn amount(amounts: &Amounts, name: &str) -> i64 {
    amounts.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn shares(case: &Given, node: &Amounts) -> Vec<Share> {
    let native = ["cpu", "memory", "ephemeral-storage"];
    let share = |resource: &Resource| {
        let wanted = amount(&case.pod_request, &resource.name);
        if wanted == 0 && !native.contains(&&*resource.name) {
            return None;
        }
        let here = case.existing.iter().filter(|pod| pod.get("node") == node.get("name"));
        Some(Share {
            allocatable: amount(node, &resource.name),
            used: here.map(|pod| amount(pod, &resource.name)).sum(),
            wanted,
            weight: resource.weight,
        })
    };
    case.resources.iter().filter_map(share).collect()
}

fn resources(case: Given) -> Value {
    let name = |node: &Amounts| node["name"].as_str().unwrap_or_default().to_string();
    let all: Vec<_> = case.nodes.iter().map(|node| (name(node), shares(&case, node))).collect();
    let balanced = case.strategy == "BalancedAllocation";
    if balanced && all.iter().all(|(_, shares)| scores::is_best_effort(shares)) {
        return json!({"skipped": true});
    }
    let score = if balanced { scores::balanced_allocation } else { scores::least_allocated };
    let scores: BTreeMap<_, _> = all.iter().map(|(name, s)| (name, score(s))).collect();
    json!({"scores": scores})
}

fn taints(case: Taints) -> Value {
    let pod = serde_json::from_value(json!({"spec": {"tolerations": case.tolerations}}));
    let pod: Pod = pod.expect("a pod");
    let bad = case.nodes.values().map(|taints| {
        let node = serde_json::from_value::<Node>(json!({"spec": {"taints": taints}}));
        scores::untolerated(&pod, &node.expect("a node"))
    });
    let scored = scores::taint_toleration(&bad.collect::<Vec<_>>());
    let scores: BTreeMap<_, _> = case.nodes.keys().zip(scored).collect();
    json!({"scores": scores})
}
