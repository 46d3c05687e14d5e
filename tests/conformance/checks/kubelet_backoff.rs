//! `kubelet_backoff.json`, put to `node::backoff` and `node::image_manager`.

use std::time::Duration;

use loopscope::kernel::{Rng, Time};
use loopscope::node::backoff::{
    Backoff, BackoffParameters, BackoffSettings, Expiry, RestartHeldBack, may_restart,
};
use loopscope::node::image_manager::{Ensured, ImageManager, PullKey, PullPolicy};
use loopscope::node::image_name::with_default_tag;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let answer = match raw["check"].as_str() {
        Some("backoffLoop") => with(raw, backoff_loop),
        Some("backoffSteps") => with(raw, |g| backoff_steps(g, expect)),
        Some("backoffIdle") => with(raw, |g| Ok(backoff_idle(g))),
        Some("backoffExpiry") => with(raw, backoff_expiry),
        Some("backoffRestartAfterExpiry") => with(raw, |g| restart_after_expiry(g, expect)),
        Some("backoffTimeline") => with(raw, |g| Ok(timeline(g, expect))),
        Some("backoffJitter") => return jitter(raw, expect),
        Some("constants") => with(raw, constants),
        Some("crashLoopSequence") => with(raw, crash_loop_sequence),
        Some("crashLoopAfterRun") => with(raw, |g| Ok(crash_loop_after_run(g))),
        Some("crashLoopMessage") => with(raw, |g| Ok(crash_loop_message(g))),
        Some("imagePull") => with(raw, image_pull),
        Some("imageTag") => {
            with(raw, |g: ImageTag| Ok(json!({"image": with_default_tag(&g.image)})))
        }
        other => Err(Outcome::Failed(format!("unknown check {other:?}"))),
    };
    match answer {
        Ok(got) => compare(expect, &got),
        Err(outcome) => outcome,
    }
}

fn with<T: serde::de::DeserializeOwned>(
    raw: &Value,
    answer: impl FnOnce(T) -> Result<Value, Outcome>,
) -> Result<Value, Outcome> {
    answer(given(raw)?)
}

const KEY: &str = "item";

fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number)
}

fn at(number: f64) -> Time {
    Time::ZERO + seconds(number)
}

/// Whole numbers stay whole, as the vectors write them.
fn number(span: Duration) -> Value {
    match span.subsec_nanos() {
        0 => json!(span.as_secs()),
        _ => json!(span.as_secs_f64()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpiresWhenAge {
    op: String,
    seconds: f64,
}

/// What all checks of the plain back-off have in common.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plain {
    #[serde(rename = "check")]
    _check: String,
    initial_seconds: f64,
    max_seconds: f64,
    expires_when_age: Option<ExpiresWhenAge>,
    step_between_seconds: Option<f64>,
    #[serde(rename = "loop")]
    round: Option<String>,
    iterations: Option<usize>,
    steps: Option<Vec<String>>,
    next_calls: Option<usize>,
    then_advance_seconds: Option<f64>,
    then: Option<String>,
    gc_after_seconds: Option<Vec<f64>>,
    next_at_seconds: Option<Vec<f64>>,
    tick_seconds: Option<Vec<f64>>,
    #[serde(rename = "rule")]
    _rule: Option<String>,
    max_jitter_factor: Option<f64>,
    calls: Option<usize>,
}

impl Plain {
    fn build(&self) -> Backoff<&'static str> {
        let backoff = Backoff::new(seconds(self.initial_seconds), seconds(self.max_seconds));
        match &self.expires_when_age {
            Some(rule) => backoff
                .with_expiry(Expiry { age: seconds(rule.seconds), inclusive: rule.op == ">=" }),
            None => backoff,
        }
    }
}

/// A back-off with its clock.
struct Clocked {
    backoff: Backoff<&'static str>,
    now: Time,
    step: Duration,
    gets: Vec<Value>,
}

impl Clocked {
    fn new(given: &Plain) -> Clocked {
        Clocked {
            backoff: given.build(),
            now: Time::ZERO,
            step: seconds(given.step_between_seconds.unwrap_or(0.0)),
            gets: Vec::new(),
        }
    }

    fn call(&mut self, call: &str) -> Result<(), Outcome> {
        match call.trim() {
            "advance" => self.now += self.step,
            "get" => self.gets.push(number(self.backoff.get(&KEY))),
            "next" => self.backoff.next(&KEY, self.now, self.now),
            "reset" => self.backoff.reset(&KEY),
            "gc" => self.backoff.gc(self.now),
            other => return Err(Outcome::Failed(format!("unknown call {other:?}"))),
        }
        Ok(())
    }

    fn next_calls(&mut self, calls: usize) {
        for _ in 0..calls {
            self.now += self.step;
            self.backoff.next(&KEY, self.now, self.now);
        }
    }
}

fn backoff_loop(given: Plain) -> Result<Value, Outcome> {
    let mut clocked = Clocked::new(&given);
    for _ in 0..given.iterations.unwrap_or(1) {
        for call in given.round.as_deref().unwrap_or_default().split(';') {
            clocked.call(call)?;
        }
    }
    Ok(json!({"getSeconds": clocked.gets}))
}

fn backoff_steps(given: Plain, expect: &Value) -> Result<Value, Outcome> {
    let mut clocked = Clocked::new(&given);
    for call in given.steps.iter().flatten() {
        clocked.call(call)?;
    }
    let gets = match expect["getSeconds"].is_array() {
        true => json!(clocked.gets),
        false => clocked.gets.pop().unwrap_or(Value::Null),
    };
    Ok(json!({"getSeconds": gets}))
}

fn backoff_idle(given: Plain) -> Value {
    let mut clocked = Clocked::new(&given);
    clocked.next_calls(given.next_calls.unwrap_or(1));
    let event = clocked.now;
    let in_backoff = |c: &Clocked| c.backoff.is_in_backoff_since(&KEY, event, c.now);
    let before = in_backoff(&clocked);
    clocked.now += seconds(given.then_advance_seconds.unwrap_or(0.0));
    let after = in_backoff(&clocked);
    match given.then.as_deref() {
        Some("next") => clocked.backoff.next(&KEY, clocked.now, clocked.now),
        Some("gc") => clocked.backoff.gc(clocked.now),
        Some("reset") => clocked.backoff.reset(&KEY),
        _ => {}
    }
    json!({
        "inBackOffSinceLastNextBefore": before,
        "inBackOffSinceLastNextAfter": after,
        "getSeconds": number(clocked.backoff.get(&KEY)),
    })
}

fn backoff_expiry(given: Plain) -> Result<Value, Outcome> {
    let mut clocked = Clocked::new(&given);
    match given.next_calls {
        Some(calls) => clocked.next_calls(calls),
        None => clocked.call("next")?,
    }
    let last_next = clocked.now;
    let present: Vec<bool> = given
        .gc_after_seconds
        .iter()
        .flatten()
        .map(|after| {
            clocked.backoff.gc(last_next + seconds(*after));
            clocked.backoff.contains(&KEY)
        })
        .collect();
    Ok(json!({"entryPresent": present}))
}

fn restart_after_expiry(given: Plain, expect: &Value) -> Result<Value, Outcome> {
    let mut backoff = given.build();
    let mut gets = Vec::new();
    for when in given.next_at_seconds.iter().flatten() {
        backoff.next(&KEY, at(*when), at(*when));
        gets.push(backoff.get(&KEY));
    }
    let [_, second, third] = gets[..] else {
        return Err(Outcome::Failed("three calls are read".into()));
    };
    let least = &expect["afterSecondNextAtLeastSeconds"];
    let enough = least.as_f64().is_none_or(|least| second.as_secs_f64() >= least);
    Ok(json!({
        "afterSecondNextAtLeastSeconds": if enough { least.clone() } else { number(second) },
        "afterThirdNextSeconds": number(third),
    }))
}

fn timeline(given: Plain, expect: &Value) -> Value {
    let mut backoff = given.build();
    let (mut in_backoff, mut delays) = (Vec::new(), Vec::new());
    for (index, tick) in given.tick_seconds.iter().flatten().enumerate() {
        let now = at(*tick);
        let held = backoff.is_in_backoff_since_update(&KEY, now);
        in_backoff.push(held);
        // Null means "not asserted" here.
        let asserted = !expect["backoffSecondsWhileInBackOff"][index].is_null();
        delays.push(match asserted {
            true => number(backoff.get(&KEY)),
            false => Value::Null,
        });
        if !held {
            backoff.next(&KEY, now, now);
        }
    }
    json!({"inBackOff": in_backoff, "backoffSecondsWhileInBackOff": delays})
}

fn jitter(raw: &Value, expect: &Value) -> Outcome {
    let given: Plain = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let millionths = (given.max_jitter_factor.unwrap_or(0.0) * 1e6).round() as u32;
    for seed in 0..100 {
        let rng = Rng::stream(seed, "jitter");
        let mut backoff = given.build().with_jitter(millionths, rng);
        if let Some(why) = jitter_is_wrong(&given, expect, &mut backoff) {
            return Outcome::Failed(format!("seed {seed}: {why}"));
        }
    }
    Outcome::Passed
}

fn jitter_is_wrong(
    given: &Plain,
    expect: &Value,
    backoff: &mut Backoff<&'static str>,
) -> Option<String> {
    let float = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let (mut now, step) = (Time::ZERO, seconds(given.initial_seconds));
    let mut last = backoff.get(&KEY).as_secs_f64();
    if last != float(&expect["beforeFirstSeconds"]) {
        return Some(format!("{last} before the first call"));
    }
    let near = 1e-9;
    for call in 0..given.calls.unwrap_or(1) {
        now += step;
        backoff.next(&KEY, now, now);
        let delay = backoff.get(&KEY).as_secs_f64();
        let (first, later) = (&expect["firstDelay"], &expect["laterDelays"]);
        let (above, most) = match call {
            0 => (float(&first["aboveSeconds"]), float(&first["atMostSeconds"])),
            _ => (
                last * float(&later["aboveTimesPrevious"]),
                last * float(&later["atMostTimesPrevious"]),
            ),
        };
        let exact = call > 0 && delay == float(&later["orExactlySeconds"]);
        let within = delay > above && delay <= most + near;
        if !exact && !within {
            return Some(format!("call {call}: {delay} is not within {above}..{most}"));
        }
        last = delay;
    }
    None
}

#[derive(Deserialize, Default)]
#[serde(default)]
#[allow(non_snake_case)]
struct Gates {
    ReduceDefaultCrashLoopBackOffDecay: bool,
    KubeletCrashLoopBackOffMax: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Constants {
    #[serde(rename = "check")]
    _check: String,
    of: String,
    #[serde(default)]
    feature_gates: Gates,
    max_container_restart_period_seconds: Option<f64>,
}

fn settings(gates: &Gates, limit: Option<f64>) -> BackoffSettings {
    BackoffSettings {
        reduced_decay: gates.ReduceDefaultCrashLoopBackOffDecay,
        max_restart_period: limit.filter(|_| gates.KubeletCrashLoopBackOffMax).map(seconds),
    }
}

fn constants(given: Constants) -> Result<Value, Outcome> {
    let settings = settings(&given.feature_gates, given.max_container_restart_period_seconds);
    let parameters = match given.of.as_str() {
        "containerRestart" => BackoffParameters::container_restart(settings),
        "imagePull" => BackoffParameters::image_pull(),
        other => return Err(Outcome::Failed(format!("unknown back-off {other:?}"))),
    };
    Ok(json!({
        "initialSeconds": number(parameters.initial),
        "maxSeconds": number(parameters.max),
        "factor": BackoffParameters::FACTOR,
        "jitter": 0,
        "expiresAfterSeconds": number(parameters.expires),
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CrashLoop {
    #[serde(rename = "check")]
    _check: String,
    #[serde(rename = "containerExitsAtOnceEveryTime", default)]
    _exits_at_once: bool,
    restarts: Option<usize>,
    #[serde(default)]
    feature_gates: Gates,
    max_container_restart_period_seconds: Option<f64>,
    current_back_off_seconds: Option<f64>,
    container_ran_seconds: Option<f64>,
}

impl CrashLoop {
    fn build(&self) -> Backoff<&'static str> {
        let limit = self.max_container_restart_period_seconds;
        BackoffParameters::container_restart(settings(&self.feature_gates, limit)).build()
    }
}

/// When the container is started again, given that it ended at `finished`.
fn restart(backoff: &mut Backoff<&'static str>, finished: Time) -> Time {
    match may_restart(backoff, &KEY, finished, finished) {
        Ok(()) => finished,
        Err(held_back) => {
            // Nothing stands in its way when the time is over.
            match may_restart(backoff, &KEY, finished, held_back.until) {
                Ok(()) => held_back.until,
                Err(_) => Time::MAX,
            }
        }
    }
}

fn crash_loop_sequence(given: CrashLoop) -> Result<Value, Outcome> {
    let mut backoff = given.build();
    let (mut now, mut delays) = (Time::ZERO, Vec::new());
    for _ in 0..given.restarts.unwrap_or(0) {
        let started = restart(&mut backoff, now);
        delays.push(number(started.since(now)));
        now = started;
    }
    Ok(json!({"delaySecondsFromFinishedAt": delays}))
}

fn crash_loop_after_run(given: CrashLoop) -> Value {
    let mut backoff = given.build();
    let current = seconds(given.current_back_off_seconds.unwrap_or(0.0));
    if !current.is_zero() {
        backoff.restore(KEY, current, Time::ZERO);
    }
    let finished = at(given.container_ran_seconds.unwrap_or(0.0));
    let started = restart(&mut backoff, finished);
    json!({
        "delaySecondsFromFinishedAt": number(started.since(finished)),
        "nextBackOffSeconds": number(backoff.get(&KEY)),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CrashLoopMessage {
    #[serde(rename = "check")]
    _check: String,
    current_back_off_seconds: f64,
    container: String,
    pod_name: String,
    pod_namespace: String,
    pod_uid: String,
}

fn crash_loop_message(given: CrashLoopMessage) -> Value {
    let delay = seconds(given.current_back_off_seconds);
    let mut backoff =
        BackoffParameters::container_restart(BackoffSettings::default()).build::<&str>();
    backoff.restore(KEY, delay, Time::ZERO);
    let held_back = may_restart(&mut backoff, &KEY, Time::ZERO, Time::ZERO);
    let Err(held_back) = held_back else {
        return Value::Null;
    };
    let pod = format!("{}_{}({})", given.pod_name, given.pod_namespace, given.pod_uid);
    json!({
        "reason": RestartHeldBack::REASON,
        "message": held_back.message(&given.container, &pod),
        "eventReason": RestartHeldBack::EVENT_REASON,
        "eventMessage": RestartHeldBack::event_message(&given.container, &pod),
        "eventType": "Warning",
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImagePull {
    #[serde(rename = "check")]
    _check: String,
    image: String,
    present_images: Vec<String>,
    image_pull_policy: Option<String>,
    inspect_error: Option<String>,
    pull_error: Option<String>,
    pull_qps: f64,
    pull_burst: u32,
    back_off_initial_seconds: f64,
    back_off_max_seconds: f64,
    seconds_between_tries: f64,
    tries: usize,
}

fn image_pull(given: ImagePull) -> Result<Value, Outcome> {
    let max = seconds(given.back_off_max_seconds);
    let parameters = BackoffParameters {
        initial: seconds(given.back_off_initial_seconds),
        max,
        expires: max * 2,
    };
    let mut manager = ImageManager::new(parameters)
        .with_limit((given.pull_qps * 1e3).round() as u32, given.pull_burst);
    let key: PullKey = ("uid".into(), given.image.as_str().into());
    let policy = PullPolicy::of(given.image_pull_policy.as_deref(), &given.image);
    let mut now = Time::ZERO;
    let mut tries = Vec::new();
    for _ in 0..given.tries {
        now += seconds(given.seconds_between_tries);
        let mut calls = Vec::new();
        let inspect = |image: &str| {
            calls.push("inspect");
            match &given.inspect_error {
                Some(error) => Err(error.clone()),
                None => Ok(given
                    .present_images
                    .iter()
                    .any(|present| with_default_tag(present) == image)),
            }
        };
        let reason = match manager.ensure(&key, policy, inspect, now) {
            Ensured::Present => None,
            Ensured::Refused(error) => Some(error.reason),
            Ensured::Pull => {
                calls.push("pull");
                let result = given.pull_error.as_deref().map_or(Ok(()), Err);
                let ended = manager.pull_ended(&key, result, now);
                ended.err().map(|error| error.reason)
            }
        };
        tries.push(json!({"calls": calls, "reason": reason}));
    }
    Ok(json!({"tries": tries}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageTag {
    #[serde(rename = "check")]
    _check: String,
    image: String,
}
