//! `spec.behavior`: how fast the size may change, and over which past the wish is steadied, and the
//! limits that hold without it (`pkg/controller/podautoscaler/horizontal.go` of Kubernetes 1.36).

use crate::api::Value;
use crate::kernel::Time;

use super::history::{ScaleEvent, change_within};

/// Seconds over which a scale-down is steadied if the object does not say
/// (`--horizontal-pod-autoscaler-downscale-stabilization`).
pub const DOWNSCALE_STABILIZATION_SECONDS: i64 = 300;

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Percent of the size at the start of the period; else pods.
    pub percent: bool,
    /// How much.
    pub value: i32,
    /// In so many seconds.
    pub period: i64,
}

/// Which of the policies counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// The one that allows the larger change.
    #[default]
    Max,
    /// The one that allows the smaller change.
    Min,
    /// None: no change in this direction.
    Disabled,
}

/// The rules of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Seconds.
    pub stabilization: Option<i64>,
    /// Which policy counts.
    pub select: Select,
    /// The policies.
    pub policies: Vec<Policy>,
    /// How far a ratio may be off in this direction.
    pub tolerance: Option<f64>,
}

/// Both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behavior {
    /// Up.
    pub up: Rules,
    /// Down.
    pub down: Rules,
}

impl Rules {
    /// Reads `scaleUp` or `scaleDown`, in which the API server has filled in the defaults.
    pub fn read(value: Option<&Value>) -> Rules {
        let number = |value: Option<&Value>| value.and_then(Value::as_i64);
        let field = |name: &str| value.and_then(|value| value.get(name));
        let policies = field("policies").and_then(Value::as_array).into_iter().flatten();
        let policy = |policy: &Value| Policy {
            percent: policy.get("type").and_then(Value::as_str) == Some("Percent"),
            value: number(policy.get("value")).map_or(0, |n| n.try_into().unwrap_or(i32::MAX)),
            period: number(policy.get("periodSeconds")).unwrap_or(0),
        };
        Rules {
            stabilization: number(field("stabilizationWindowSeconds")),
            select: match field("selectPolicy").and_then(Value::as_str) {
                Some("Min") => Select::Min,
                Some("Disabled") => Select::Disabled,
                _ => Select::Max,
            },
            policies: policies.map(policy).collect(),
            tolerance: field("tolerance").and_then(tolerance),
        }
    }

    /// The longest period of its policies, in seconds: so long a change is remembered.
    pub fn longest_period(&self) -> i64 {
        self.policies.iter().map(|policy| policy.period).max().unwrap_or(0)
    }
}

/// A tolerance is a quantity; Kubernetes makes a float of it too.
fn tolerance(value: &Value) -> Option<f64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let quantity = crate::api::Quantity::parse(&text).ok()?;
    Some(quantity.nanos as f64 / 1e9)
}

/// A size within its limits, and which of them bound it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The size.
    pub replicas: i32,
    /// The reason of the `ScalingLimited` condition.
    pub reason: &'static str,
    /// Its message.
    pub message: &'static str,
}

fn limited(replicas: i32, reason: &'static str) -> Limited {
    let message = match reason {
        "ScaleUpLimit" => {
            "the desired replica count is increasing faster than the maximum scale rate"
        }
        "ScaleDownLimit" => {
            "the desired replica count is decreasing faster than the maximum scale rate"
        }
        "TooManyReplicas" => "the desired replica count is more than the maximum replica count",
        "TooFewReplicas" => "the desired replica count is less than the minimum replica count",
        _ => "the desired count is within the acceptable range",
    };
    Limited { replicas, reason, message }
}

/// Without `spec.behavior`: at most twice the size (or four) at a time
/// (`convertDesiredReplicasWithRules`).
pub fn limit_by_rules(current: i32, wish: i32, (min, max): (i32, i32)) -> Limited {
    let at_once = current.saturating_mul(2).max(4);
    let (most, why) = match max > at_once {
        true => (at_once, "ScaleUpLimit"),
        false => (max, "TooManyReplicas"),
    };
    if wish < min {
        limited(min, "TooFewReplicas")
    } else if wish > most {
        limited(most, why)
    } else {
        limited(wish, "DesiredWithinRange")
    }
}

/// Recent changes of the size, as positive numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// Up.
    pub ups: &'a [ScaleEvent],
    /// Down.
    pub downs: &'a [ScaleEvent],
}

/// With `spec.behavior` (`convertDesiredReplicasWithBehaviorRate`).
pub fn limit_by_behavior(
    behavior: &Behavior,
    changes: Changes,
    (current, wish): (i32, i32),
    (min, max): (i32, i32),
    now: Time,
) -> Limited {
    if wish > current {
        let limit = scale_up_limit(&behavior.up, changes, current, now).max(current);
        let (most, why) = match max > limit {
            true => (limit, "ScaleUpLimit"),
            false => (max, "TooManyReplicas"),
        };
        if wish > most {
            return limited(most, why);
        }
    } else if wish < current {
        let limit = scale_down_limit(&behavior.down, changes, current, now).min(current);
        let (least, why) = match min < limit {
            true => (limit, "ScaleDownLimit"),
            false => (min, "TooFewReplicas"),
        };
        if wish < least {
            return limited(least, why);
        }
    }
    limited(wish, "DesiredWithinRange")
}

/// The most that the rules allow (`calculateScaleUpLimitWithScalingRules`).
pub fn scale_up_limit(rules: &Rules, changes: Changes, current: i32, now: Time) -> i32 {
    // Up, a percentage is rounded up, or one replica could never become two.
    let percent = |start: i32, value: i32| {
        (f64::from(start) * (1.0 + f64::from(value) / 100.0)).ceil() as i32
    };
    let pods = |start: i32, value: i32| start.saturating_add(value);
    let proposals = proposals(rules, changes, current, now, pods, percent);
    match rules.select {
        Select::Disabled => current,
        Select::Min => proposals.min().unwrap_or(i32::MAX),
        Select::Max => proposals.max().unwrap_or(i32::MIN),
    }
}

/// The least that the rules allow (`calculateScaleDownLimitWithBehaviors`).
pub fn scale_down_limit(rules: &Rules, changes: Changes, current: i32, now: Time) -> i32 {
    let percent =
        |start: i32, value: i32| (f64::from(start) * (1.0 - f64::from(value) / 100.0)) as i32;
    let pods = |start: i32, value: i32| start.saturating_sub(value);
    let proposals = proposals(rules, changes, current, now, pods, percent);
    match rules.select {
        Select::Disabled => current,
        // The smaller change leaves more.
        Select::Min => proposals.max().unwrap_or(i32::MIN),
        Select::Max => proposals.min().unwrap_or(i32::MAX),
    }
}

/// What each policy allows, counted from the size at the start of its period. The percentages are
/// floats in Kubernetes, and so is their rounding: a hundred and ten percent of a hundred are a
/// hundred and eleven.
fn proposals<'a>(
    rules: &'a Rules,
    changes: Changes<'a>,
    current: i32,
    now: Time,
    pods: impl Fn(i32, i32) -> i32 + 'a,
    percent: impl Fn(i32, i32) -> i32 + 'a,
) -> impl Iterator<Item = i32> + 'a {
    rules.policies.iter().map(move |policy| {
        let added = change_within(changes.ups, policy.period, now);
        let removed = change_within(changes.downs, policy.period, now);
        let start = current.saturating_sub(added).saturating_add(removed);
        if policy.percent { percent(start, policy.value) } else { pods(start, policy.value) }
    })
}
