use std::time::Duration;

use loopscope::api::{ConditionStatus, Kind, Object, ObjectKey, TaintEffect};
use loopscope::apiserver::defaults::TOLERATION_SECONDS;
use loopscope::client::Cache;
use loopscope::controllers::Context;
use loopscope::controllers::node_lifecycle::PERIOD;
use loopscope::controllers::node_lifecycle::eviction::Evictions;
use loopscope::controllers::node_lifecycle::health::{GRACE_PERIOD, STARTUP_GRACE_PERIOD};
use loopscope::controllers::node_lifecycle::node_taints::{effects, taint_for_condition};
use loopscope::controllers::node_lifecycle::zones::{self, ZoneState, eviction_rate, zone_state};
use loopscope::kernel::Time;
use loopscope::node::registration::{
    LEASE_PERIOD, LEASE_SECONDS, STATUS_PERIOD, STATUS_REPORT_PERIOD,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "op", deny_unknown_fields)]
enum Given {
    Default {
        setting: String,
    },
    TaintForCondition {
        condition: String,
        status: ConditionStatus,
    },
    #[serde(rename_all = "camelCase")]
    ZoneState {
        ready_nodes: usize,
        not_ready_nodes: usize,
        unhealthy_zone_threshold: f64,
    },
    #[serde(rename_all = "camelCase")]
    EvictionRate {
        zone_state: String,
        zone_size: usize,
        all_zones_fully_disrupted: bool,
    },
    /// There is one such event; what the case says of its cause only describes it.
    Event(#[allow(dead_code)] serde_json::Map<String, Value>),
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match given(case) {
        Ok(Given::Default { setting }) => default(&setting),
        Ok(Given::TaintForCondition { condition, status }) => taint(&condition, status),
        Ok(Given::ZoneState { ready_nodes, not_ready_nodes, unhealthy_zone_threshold }) => {
            let thousandths = (unhealthy_zone_threshold * 1e3).round() as u64;
            let state = zone_state(ready_nodes, not_ready_nodes, thousandths);
            json!({"state": format!("{state:?}")})
        }
        Ok(Given::EvictionRate { zone_state, zone_size, all_zones_fully_disrupted }) => {
            let rate = eviction_rate(state(&zone_state), zone_size, all_zones_fully_disrupted);
            json!({"nodesPerSecond": a_second(rate)})
        }
        Ok(Given::Event(_)) => event(),
        Err(outcome) => return outcome,
    };
    let mut expect = expect.clone();
    if let Some(fields) = expect.as_object_mut() {
        // Where the row comes from; it is not asserted.
        fields.remove("basis");
    }
    compare(&expect, &got)
}

fn a_second(in_1000: u64) -> Value {
    match in_1000 {
        0 => json!(0),
        rate => json!(rate as f64 / 1000.0),
    }
}

fn default(setting: &str) -> Value {
    let seconds = |span: Duration| json!(span.as_secs());
    let value = match setting {
        "node-monitor-grace-period seconds" => seconds(GRACE_PERIOD),
        "node-startup-grace-period seconds" => seconds(STARTUP_GRACE_PERIOD),
        "node-monitor-period seconds" => seconds(PERIOD),
        "node-eviction-rate nodes per second" => a_second(zones::EVICTION_RATE),
        "secondary-node-eviction-rate nodes per second" => a_second(zones::SECONDARY_EVICTION_RATE),
        "large-cluster-size-threshold nodes" => json!(zones::LARGE_CLUSTER_SIZE),
        "unhealthy-zone-threshold" => json!(zones::UNHEALTHY_ZONE_THOUSANDTHS as f64 / 1e3),
        "kubelet nodeLeaseDurationSeconds" => json!(LEASE_SECONDS),
        "kubelet nodeStatusUpdateFrequency seconds" => seconds(STATUS_PERIOD),
        "kubelet nodeStatusReportFrequency seconds" => seconds(STATUS_REPORT_PERIOD),
        text if text.starts_with("kubelet lease renew") => seconds(LEASE_PERIOD),
        text if text.starts_with("default tolerationSeconds") => json!(TOLERATION_SECONDS),
        _ => Value::Null,
    };
    json!({"value": value})
}

fn taint(condition: &str, status: ConditionStatus) -> Value {
    let Some(key) = taint_for_condition(condition, status) else {
        return json!({"taintKey": null, "effects": []});
    };
    let word = |effect: &TaintEffect| serde_json::to_value(effect).unwrap_or_default();
    let effects: Vec<_> = effects(key).iter().map(word).collect();
    json!({"taintKey": key, "effects": effects})
}

fn state(word: &str) -> ZoneState {
    match word {
        "PartialDisruption" => ZoneState::PartialDisruption,
        "FullDisruption" => ZoneState::FullDisruption,
        _ => ZoneState::Normal,
    }
}

/// The event on a pod whose tolerated time is over; placeholders in capitals.
fn event() -> Value {
    let read = |kind, value| Object::from_value(kind, value).expect("an object");
    let taint = json!([{"key": "down", "effect": "NoExecute"}]);
    let node = json!({"metadata": {"name": "node"}, "spec": {"taints": taint}});
    let meta = json!({"name": "POD", "namespace": "NAMESPACE"});
    let pod = json!({"metadata": meta, "spec": {"nodeName": "node"}});
    let cache = Cache::of([read(Kind::Node, node), read(Kind::Pod, pod)]);
    let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
    let key = ObjectKey::new(Kind::Pod, "NAMESPACE", "POD");
    let plan = Evictions::default().sync(&key, &cx);
    let note = plan.events.first().expect("an event");
    let (kind, reason, message) = (note.kind, &note.reason, &note.message);
    json!({"type": format!("{kind:?}"), "reason": reason, "message": message,
        "component": "taint-eviction-controller"})
}
