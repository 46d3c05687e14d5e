use std::collections::BTreeMap;

use loopscope::api::{Node, Object, Pod, PodSpec, Str};
use loopscope::client::Cache;
use loopscope::controllers::scheduler::affinity::NodeAffinity;
use loopscope::controllers::scheduler::cluster::{Cluster, NodeInfo};
use loopscope::controllers::scheduler::filters::{self, Reason, Verdict};
use loopscope::controllers::scheduler::fit_error::sentence;
use loopscope::controllers::scheduler::resources::{Resources, Usage};
use loopscope::controllers::scheduler::spread::Spread;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

type Amounts = BTreeMap<String, i64>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[derive(Default)]
struct Fit {
    #[serde(rename = "plugin")]
    _plugin: String,
    allocatable: Amounts,
    containers: Vec<Amounts>,
    init_containers: Vec<Amounts>,
    overhead: Amounts,
    running_pod_requests: Amounts,
    running_pod_count: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Taints {
    #[serde(rename = "plugin")]
    _plugin: String,
    tolerations: Vec<Value>,
    taints: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Affinity {
    #[serde(rename = "plugin")]
    _plugin: String,
    #[serde(default)]
    node_labels: Value,
    #[serde(default)]
    node_name: Option<String>,
    #[serde(default)]
    node_selector: Value,
    required_node_selector_terms: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spreading {
    #[serde(rename = "plugin")]
    _plugin: String,
    pod_labels: Value,
    constraints: Value,
    nodes: Vec<NamedNode>,
    existing_pods: Vec<Existing>,
    #[serde(default)]
    pod_node_affinity_in: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedNode {
    name: String,
    #[serde(default)]
    labels: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Existing {
    node: String,
    namespace: Option<String>,
    #[serde(default)]
    labels: Value,
    #[serde(default)]
    terminating: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    #[serde(rename = "op")]
    _op: String,
    node_count: usize,
    node_reasons: BTreeMap<String, Vec<Str>>,
    pre_filter_message: Option<String>,
    post_filter_message: Option<String>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match (case["plugin"].as_str(), case["op"].as_str()) {
        (Some("NodeResourcesFit"), _) => given(case).map(|case| verdict(fits(case))),
        (Some("TaintToleration"), _) => given(case).map(|case| verdict(taints(case))),
        (Some("NodeAffinity"), _) => given(case).map(|case| verdict(affinity(case))),
        (Some("PodTopologySpread"), _) => given(case).map(spread),
        (_, Some("failedSchedulingMessage")) => given(case).map(message),
        _ => Err(Outcome::Failed(format!("no such check: {case}"))),
    };
    match got {
        Ok(got) => compare(&sorted(expect), &sorted(&got)),
        Err(outcome) => outcome,
    }
}

/// The order of reasons is not asserted.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(reasons) = value["reasons"].as_array_mut() {
        reasons.sort_by_key(|reason| reason.to_string());
    }
    value
}

fn verdict(verdict: Verdict) -> Value {
    let reasons = verdict.as_ref().err().map(|rejection| &rejection.reasons);
    let reasons: Vec<_> = reasons.into_iter().flatten().map(|r| r.to_string()).collect();
    json!({"fits": verdict.is_ok(), "reasons": reasons})
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a Kubernetes object")
}

/// The vectors' names of amounts, as a resource list.
fn list(amounts: &Amounts) -> Value {
    let entry = |(name, amount): (&String, &i64)| match &**name {
        "cpuMilli" => ("cpu".to_string(), format!("{amount}m")),
        "memoryBytes" => ("memory".to_string(), amount.to_string()),
        "ephemeralStorageBytes" => ("ephemeral-storage".to_string(), amount.to_string()),
        other => (other.to_string(), amount.to_string()),
    };
    let entries: BTreeMap<_, _> = amounts.iter().map(entry).collect();
    json!(entries)
}

fn resources(amounts: &Amounts) -> Resources {
    Resources::of(&read(list(amounts)))
}

fn fits(case: Fit) -> Verdict {
    let container = |amounts| json!({"name": "c", "resources": {"requests": list(amounts)}});
    let containers: Vec<_> = case.containers.iter().map(container).collect();
    let init: Vec<_> = case.init_containers.iter().map(container).collect();
    let spec: PodSpec = read(json!({"containers": containers, "initContainers": init,
        "overhead": list(&case.overhead)}));
    let info = NodeInfo {
        allocatable: resources(&case.allocatable),
        requested: resources(&case.running_pod_requests),
        pods: case.running_pod_count,
        ..NodeInfo::default()
    };
    filters::node_resources_fit(&Usage::of(&spec).request, &info)
}

/// An empty text means that the field is not set.
fn without_empty(values: Vec<Value>) -> Value {
    let clean = |mut value: Value| {
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|_, value| *value != json!(""));
        }
        value
    };
    values.into_iter().map(clean).collect()
}

fn taints(case: Taints) -> Verdict {
    let pod: Pod = read(json!({"spec": {"tolerations": without_empty(case.tolerations)}}));
    let node: Node = read(json!({"spec": {"taints": without_empty(case.taints)}}));
    filters::taint_toleration(&pod, &node)
}

fn or_empty(value: Value) -> Value {
    if value.is_null() { json!({}) } else { value }
}

fn affinity(case: Affinity) -> Verdict {
    let name = case.node_name.unwrap_or_default();
    let labels = or_empty(case.node_labels);
    let node: Node = read(json!({"metadata": {"name": name, "labels": labels}}));
    let mut spec = json!({"nodeSelector": or_empty(case.node_selector)});
    if let Some(terms) = case.required_node_selector_terms {
        let required = json!({"nodeSelectorTerms": terms});
        spec["affinity"]["nodeAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": required});
    }
    filters::node_affinity(&NodeAffinity::of(&read(spec)), &node)
}

fn spread(case: Spreading) -> Value {
    let mut objects = Vec::new();
    for node in &case.nodes {
        let meta = json!({"name": node.name, "labels": or_empty(node.labels.clone())});
        objects.push(Object::Node(read(json!({"metadata": meta}))));
    }
    for (index, existing) in case.existing_pods.into_iter().enumerate() {
        let mut meta = json!({"name": format!("existing-{index}"), "uid": index.to_string(),
            "namespace": existing.namespace.as_deref().unwrap_or("default"),
            "labels": or_empty(existing.labels)});
        if existing.terminating {
            meta["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        let spec = json!({"nodeName": existing.node});
        objects.push(Object::Pod(read(json!({"metadata": meta, "spec": spec}))));
    }
    let meta = json!({"name": "p", "namespace": "default", "labels": or_empty(case.pod_labels)});
    let mut spec = json!({"topologySpreadConstraints": case.constraints});
    if !case.pod_node_affinity_in.is_empty() {
        let rules = case.pod_node_affinity_in.iter();
        let rules = rules.map(|(k, v)| json!({"key": k, "operator": "In", "values": v}));
        let term = json!({"matchExpressions": rules.collect::<Vec<_>>()});
        spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": [term]});
    }
    let pod: Pod = read(json!({"metadata": meta, "spec": spec}));
    let cluster = Cluster::of(&Cache::of(objects));
    let spread = Spread::of(&pod, &NodeAffinity::of(&pod.spec), &cluster);
    let nodes = cluster.nodes().iter().filter_map(|info| info.node());
    let word = |node| match spread.filter(node) {
        Ok(()) => "fits",
        Err(rejection) if rejection.resolvable => "unschedulable",
        Err(_) => "unschedulable-unresolvable",
    };
    let nodes: BTreeMap<_, _> = nodes.map(|n| (n.metadata.name.to_string(), word(n))).collect();
    json!({"nodes": nodes})
}

fn message(case: Message) -> Value {
    let mut reasons = BTreeMap::new();
    for reason in case.node_reasons.into_values().flatten() {
        *reasons.entry(Reason::Other(reason)).or_insert(0) += 1;
    }
    let (before, after) = (case.pre_filter_message, case.post_filter_message);
    let text = sentence(case.node_count, &reasons, before.as_deref(), after.as_deref());
    json!({"message": text})
}
