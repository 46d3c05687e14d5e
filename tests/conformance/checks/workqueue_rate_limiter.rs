use std::time::Duration;

use loopscope::client::rate_limiter::RateLimiter;
use loopscope::client::rate_limiting_queue::RateLimitingQueue;
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(
    tag = "check",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Given {
    Limiter {
        limiter: Limiter,
        #[serde(default)]
        prior_when_calls_for_item: u32,
        #[serde(default)]
        prior_when_calls_total: u32,
        calls: Vec<Call>,
    },
    Constants {
        of: String,
    },
}

#[derive(Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Limiter {
    ItemExponential {
        base_delay_nanoseconds: u64,
        max_delay_nanoseconds: u64,
    },
    ItemFastSlow {
        fast_delay_nanoseconds: u64,
        slow_delay_nanoseconds: u64,
        max_fast_attempts: u32,
    },
    MaxOf {
        limiters: Vec<Limiter>,
    },
    WithMaxWait {
        max_delay_nanoseconds: u64,
        limiter: Box<Limiter>,
    },
    Step {
        base_delay_nanoseconds: u64,
        max_delay_nanoseconds: u64,
        threshold: u64,
    },
    Bucket {
        qps: u32,
        burst: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    call: CallKind,
    item: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum CallKind {
    When,
    AddRateLimited,
    NumRequeues,
    Forget,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Constants { of } => match &*of {
            "defaultController" => compare(expect, &shown(&RateLimiter::default_controller())),
            "defaultItemBased" => compare(expect, &shown(&RateLimiter::default_item_based())),
            _ => Outcome::Failed(format!("no default limiter is called {of}")),
        },
        Given::Limiter { limiter, prior_when_calls_for_item, prior_when_calls_total, calls } => {
            let mut limiter = built(limiter);
            let first = calls.first().map(|call| call.item.clone()).unwrap_or_default();
            for _ in 0..prior_when_calls_for_item {
                limiter.when(&first, Time::ZERO);
            }
            for item in 0..prior_when_calls_total {
                limiter.when(&format!("before-{item}"), Time::ZERO);
            }
            let results: Vec<_> = answers(limiter, &calls);
            compare(expect, &json!({ "results": results }))
        }
    }
}

/// `when` asks the limiter, `addRateLimited` a queue with that limiter: one limiter for both.
fn answers(limiter: RateLimiter<String>, calls: &[Call]) -> Vec<Value> {
    let mut limiter = limiter;
    let mut answers = Vec::new();
    for Call { call, item } in calls {
        answers.push(match call {
            CallKind::When => nanos(limiter.when(item, Time::ZERO)),
            CallKind::NumRequeues => json!(limiter.num_requeues(item)),
            CallKind::Forget => {
                limiter.forget(item);
                Value::Null
            }
            CallKind::AddRateLimited => {
                let mut queue = RateLimitingQueue::new(limiter);
                let delay = queue.add_rate_limited(item.clone(), Time::ZERO);
                // What need not wait is in the queue at once.
                let due = (!delay.is_zero()).then_some(Time::ZERO + delay);
                let waits = queue.due(item) == due;
                limiter = queue.limiter().clone();
                if waits { nanos(delay) } else { json!("the item does not wait so long") }
            }
        });
    }
    answers
}

fn nanos(delay: Duration) -> Value {
    json!(delay.as_nanos() as u64)
}

fn built(limiter: Limiter) -> RateLimiter<String> {
    let span = Duration::from_nanos;
    match limiter {
        Limiter::ItemExponential { base_delay_nanoseconds: base, max_delay_nanoseconds: max } => {
            RateLimiter::item_exponential(span(base), span(max))
        }
        Limiter::ItemFastSlow {
            fast_delay_nanoseconds: fast,
            slow_delay_nanoseconds: slow,
            max_fast_attempts,
        } => RateLimiter::item_fast_slow(span(fast), span(slow), max_fast_attempts),
        Limiter::MaxOf { limiters } => {
            RateLimiter::MaxOf(limiters.into_iter().map(built).collect())
        }
        Limiter::WithMaxWait { max_delay_nanoseconds: max, limiter } => {
            built(*limiter).with_max_wait(span(max))
        }
        Limiter::Step { base_delay_nanoseconds, max_delay_nanoseconds, threshold } => {
            RateLimiter::step(span(base_delay_nanoseconds), span(max_delay_nanoseconds), threshold)
        }
        Limiter::Bucket { qps, burst } => RateLimiter::bucket(qps, burst),
    }
}

/// The parameters of a limiter, as the vectors write them.
fn shown(limiter: &RateLimiter<String>) -> Value {
    match limiter {
        RateLimiter::ItemExponential { base, max, .. } => json!({
            "kind": "itemExponential",
            "baseDelayNanoseconds": nanos(*base),
            "maxDelayNanoseconds": nanos(*max),
        }),
        RateLimiter::ItemFastSlow { fast, slow, max_fast_attempts, .. } => json!({
            "kind": "itemFastSlow",
            "fastDelayNanoseconds": nanos(*fast),
            "slowDelayNanoseconds": nanos(*slow),
            "maxFastAttempts": max_fast_attempts,
        }),
        RateLimiter::Bucket(bucket) => {
            json!({ "kind": "bucket", "qps": bucket.qps(), "burst": bucket.burst() })
        }
        RateLimiter::MaxOf(limiters) => {
            let limiters: Vec<_> = limiters.iter().map(shown).collect();
            json!({ "kind": "maxOf", "limiters": limiters })
        }
        RateLimiter::WithMaxWait { limiter, max } => json!({
            "kind": "withMaxWait",
            "maxDelayNanoseconds": nanos(*max),
            "limiter": shown(limiter),
        }),
        RateLimiter::Step { base, max, threshold, .. } => json!({
            "kind": "step",
            "baseDelayNanoseconds": nanos(*base),
            "maxDelayNanoseconds": nanos(*max),
            "threshold": threshold,
        }),
    }
}
