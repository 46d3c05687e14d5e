//! `hpa_behavior.json`, put to `controllers::horizontal_autoscaler`; whole passes are carried out
//! against an API server.

use loopscope::controllers::horizontal_autoscaler::behavior::{
    Behavior, Changes, DOWNSCALE_STABILIZATION_SECONDS, Limited, Rules, limit_by_behavior,
    limit_by_rules, scale_down_limit, scale_up_limit,
};
use loopscope::controllers::horizontal_autoscaler::history::{
    History, Recommendation, ScaleEvent, change_within,
};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

mod reconcile;

/// Late enough for any past.
pub const NOW: Time = Time::from_secs(1_000_000);

pub fn before(seconds: u64) -> Time {
    NOW - std::time::Duration::from_secs(seconds)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Past {
    pub replicas: i32,
    pub seconds_ago: u64,
}

impl Past {
    pub fn recommendation(&self) -> Recommendation {
        Recommendation { replicas: self.replicas, at: before(self.seconds_ago) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeGiven {
    replica_change: i32,
    seconds_ago: u64,
}

fn events(changes: &[ChangeGiven]) -> Vec<ScaleEvent> {
    let event = |given: &ChangeGiven| ScaleEvent {
        change: given.replica_change,
        at: before(given.seconds_ago),
        outdated: false,
    };
    changes.iter().map(event).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    op: String,
    #[serde(default)]
    current_replicas: i32,
    #[serde(default)]
    desired_replicas: i32,
    #[serde(default)]
    min_replicas: i32,
    #[serde(default)]
    max_replicas: i32,
    scale_up: Option<Value>,
    scale_down: Option<Value>,
    #[serde(default)]
    recent_scale_ups: Vec<ChangeGiven>,
    #[serde(default)]
    recent_scale_downs: Vec<ChangeGiven>,
    #[serde(default)]
    past_recommendations: Vec<Past>,
    #[serde(default)]
    downscale_stabilization_seconds: i64,
    #[serde(default)]
    scale_up_stabilization_seconds: i64,
    #[serde(default)]
    scale_down_stabilization_seconds: i64,
    #[serde(default)]
    behavior_set: bool,
    policies: Option<Value>,
    #[serde(default)]
    change_now: i32,
    #[serde(default)]
    stored_events: Vec<ChangeGiven>,
    #[serde(default)]
    field: String,
}

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    if raw["op"] == "reconcile" {
        return reconcile::check(raw, expect);
    }
    let given: Given = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let behavior = Behavior {
        up: Rules::read(given.scale_up.as_ref()),
        down: Rules::read(given.scale_down.as_ref()),
    };
    let (ups, downs) = (events(&given.recent_scale_ups), events(&given.recent_scale_downs));
    let changes = Changes { ups: &ups, downs: &downs };
    let bounds = (given.min_replicas, given.max_replicas);
    let (current, wish) = (given.current_replicas, given.desired_replicas);
    let limited = |limited: Limited| {
        let (replicas, reason) = (limited.replicas, limited.reason);
        json!({"replicas": replicas, "scalingLimitedReason": reason})
    };
    let got = match given.op.as_str() {
        "limitByBehavior" => {
            limited(limit_by_behavior(&behavior, changes, (current, wish), bounds, NOW))
        }
        "limitWithoutBehavior" => limited(limit_by_rules(current, wish, bounds)),
        "scaleUpLimit" => {
            json!({"replicas": scale_up_limit(&behavior.up, changes, current, NOW)})
        }
        "scaleDownLimit" => {
            json!({"replicas": scale_down_limit(&behavior.down, changes, current, NOW)})
        }
        "stabilizeWithoutBehavior" | "stabilizeWithBehavior" => stabilize(&given),
        "storeScaleEvent" => store(&given),
        "default" => reconcile::default(&given.field, DOWNSCALE_STABILIZATION_SECONDS),
        other => return Outcome::Failed(format!("unknown op {other:?}")),
    };
    compare(expect, &got)
}

fn stabilize(given: &Given) -> Value {
    let recommendations = given.past_recommendations.iter().map(Past::recommendation).collect();
    let mut history = History { recommendations, ..History::default() };
    let wish = given.desired_replicas;
    let replicas = match given.op.as_str() {
        "stabilizeWithoutBehavior" => {
            history.stabilize(wish, given.downscale_stabilization_seconds, NOW)
        }
        _ => {
            let windows =
                (given.scale_up_stabilization_seconds, given.scale_down_stabilization_seconds);
            history.stabilize_both((given.current_replicas, wish), windows, NOW)
        }
    };
    let stored: Vec<i32> = history.recommendations.iter().map(|past| past.replicas).collect();
    json!({
        "replicas": replicas,
        "storedRecommendationCount": stored.len(),
        "storedRecommendations": stored,
    })
}

/// The same table holds for both directions.
fn store(given: &Given) -> Value {
    let rules = Rules::read(Some(&json!({"policies": given.policies})));
    let behavior = given.behavior_set.then(|| Behavior { up: rules.clone(), down: rules.clone() });
    let mut answers = Vec::new();
    for (from, to) in [(0, given.change_now), (given.change_now, 0)] {
        let stored = events(&given.stored_events);
        let mut history = History { ups: stored.clone(), downs: stored, ..History::default() };
        let before = change_within(if to > from { &history.ups } else { &history.downs }, 60, NOW);
        history.scaled(behavior.as_ref(), from, to, NOW);
        let events = if to > from { &history.ups } else { &history.downs };
        let stored: Vec<Value> = events
            .iter()
            .map(|event| json!({"replicaChange": event.change, "outdated": event.outdated}))
            .collect();
        answers.push(json!({"changeInLast60Seconds": before, "storedEvents": stored}));
    }
    assert_eq!(answers[0], answers[1], "up and down differ");
    answers.remove(0)
}
