//! Events: what a recorder counts, combines and drops, and the words of the components. For the
//! words a small cluster lives through all that the cases name, and one of its Events must be as
//! the case says.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use loopscope::api::{Event, Kind, Object, ObjectKey};
use loopscope::apiserver::{DeleteOptions, Part, Request};
use loopscope::client::event_correlator::{
    BURST, COMBINED, EventCorrelator, MAX_KEYS, MAX_SIMILAR, REFILL, SIMILAR_WITHIN,
};
use loopscope::kernel::Time;
use loopscope::world::{Fault, Load, Options, World};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "op", deny_unknown_fields)]
enum Given {
    #[serde(rename_all = "camelCase")]
    Correlate {
        before: Before,
        interval_seconds: u64,
        burst: Option<u32>,
    },
    Default {
        setting: String,
    },
    Message {
        component: String,
        #[serde(rename = "when")]
        _when: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
struct Before {
    same: usize,
    different_message: usize,
    same_in_other_container: usize,
    same_object_other_reason: usize,
    unrelated_objects: usize,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    match given(case) {
        Ok(Given::Correlate { before, interval_seconds, burst }) => {
            correlate(&before, interval_seconds, burst, expect)
        }
        Ok(Given::Default { setting }) => compare(expect, &default(&setting)),
        Ok(Given::Message { component, .. }) => message(&component, expect),
        Err(outcome) => outcome,
    }
}

fn event() -> Event {
    let value = json!({
        "metadata": {"name": "", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "apiVersion": "v1", "namespace": "default",
            "name": "web", "uid": "1", "fieldPath": "spec.containers{web}"},
        "source": {"component": "kubelet", "host": "node-1"},
        "type": "Warning", "reason": "Unhealthy", "message": "it does not answer",
    });
    serde_json::from_value(value).expect("an Event")
}

fn correlate(before: &Before, interval: u64, burst: Option<u32>, expect: &Value) -> Outcome {
    let changed = |change: &dyn Fn(&mut Event, usize), count: usize| -> Vec<Event> {
        let make = |number| {
            let mut event = event();
            change(&mut event, number);
            event
        };
        (0..count).map(make).collect()
    };
    let other = |word: &str, number: usize| format!("{word}-{number}");
    let message = |event: &mut Event, n: usize| event.message = other("message", n).into();
    let mut events = changed(&|_, _| {}, before.same);
    events.extend(changed(&message, before.different_message));
    events.extend(changed(
        &|event, n| event.involved_object.field_path = Some(other("field", n).into()),
        before.same_in_other_container,
    ));
    events.extend(changed(
        &|event, n| event.reason = other("Reason", n).into(),
        before.same_object_other_reason,
    ));
    events.extend(changed(
        &|event, n| event.involved_object.uid = other("uid", n).into(),
        before.unrelated_objects,
    ));
    let mut last = event();
    if before.different_message > 0 {
        message(&mut last, before.different_message);
    }
    let mut correlator = burst.map_or_else(EventCorrelator::default, EventCorrelator::with_burst);
    let mut now = Time::from_secs(1_000);
    for event in events {
        correlator.correlate(event, now);
        now += Duration::from_secs(interval);
    }
    let Some(observed) = correlator.correlate(last, now) else {
        return compare(expect, &json!({"dropped": true}));
    };
    let prefix = expect["messagePrefix"].as_str();
    let starts = prefix.filter(|prefix| observed.event.message.starts_with(prefix));
    let (count, combined) = (observed.event.count, observed.is_combined);
    let got = json!({
        "count": count, "combined": combined, "dropped": false, "messagePrefix": starts,
    });
    compare(expect, &got)
}

fn default(setting: &str) -> Value {
    let value = match setting {
        "similar events before combining" => json!(MAX_SIMILAR),
        "burst per source and object" => json!(BURST),
        "refill per second" => json!(1.0 / REFILL.as_secs_f64()),
        "cached keys" => json!(MAX_KEYS),
        text if text.contains("prefix") => json!(COMBINED),
        text if ["interval", "seconds", "window"].iter().any(|word| text.contains(word)) => {
            json!(SIMILAR_WITHIN.as_secs())
        }
        _ => Value::Null,
    };
    json!({"value": value})
}

/// Reasons that nothing in the simulation gives.
const UNHEARD_OF: [&str; 4] =
    ["FailedPostStartHook", "FailedPreStopHook", "FailedMount", "FailedAttachVolume"];

fn message(component: &str, expect: &Value) -> Outcome {
    let told = told();
    let reason = expect["reason"].as_str().unwrap_or("");
    if UNHEARD_OF.contains(&reason) {
        return Outcome::NotModelled("neither hooks nor volumes fail");
    }
    let shape = expect["message"].as_str().unwrap_or("");
    let shape = shape.split(" (see ").next().unwrap_or(shape);
    let parts = parts(shape);
    let alike = |event: &&Told| {
        event.component == component
            && expect["type"].as_str().is_none_or(|kind| kind == event.kind)
            && event.reason == reason
    };
    let candidates: Vec<_> = told.iter().filter(alike).collect();
    match candidates.iter().any(|event| fits(&parts, &event.message)) {
        true => Outcome::Passed,
        false => {
            let texts: Vec<_> = candidates.iter().map(|event| &event.message).collect();
            Outcome::Failed(format!("{component} {reason}: {texts:?}"))
        }
    }
}

/// The pieces of a message: words as they stand, or anything. Words in capitals and the dots are
/// placeholders.
fn parts(shape: &str) -> Vec<Option<String>> {
    let mut parts = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = shape;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(end);
        let is_place = piece == "…"
            || piece.chars().all(|c| c.is_ascii_uppercase() || c == '_') && is_word(first);
        match (is_place, parts.last_mut()) {
            (true, _) => parts.push(None),
            (false, Some(Some(text))) => *text += piece,
            (false, _) => parts.push(Some(piece.to_string())),
        }
        rest = after;
    }
    parts
}

fn fits(parts: &[Option<String>], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [Some(words), after @ ..] => {
            text.strip_prefix(words.as_str()).is_some_and(|rest| fits(after, rest))
        }
        [None, after @ ..] => {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| fits(after, &text[at..]))
        }
    }
}

struct Told {
    component: String,
    kind: String,
    reason: String,
    message: String,
}

/// All that is told in the clusters below.
fn told() -> &'static [Told] {
    static TOLD: OnceLock<Vec<Told>> = OnceLock::new();
    TOLD.get_or_init(|| [lived_through(), crowded()].iter().flat_map(told_in).collect())
}

fn told_in(world: &World) -> Vec<Told> {
    let events = world.store().list(Kind::Event).filter_map(|object| object.as_event());
    let told = events.map(|event| Told {
        component: event.source.component.to_string(),
        kind: format!("{:?}", event.kind),
        reason: event.reason.to_string(),
        message: event.message.to_string(),
    });
    told.collect()
}

fn create(world: &mut World, kind: Kind, value: Value) {
    let object = Object::from_value(kind, value).expect("an object");
    world.request(&Request::Create(Arc::new(object))).expect("it is valid");
}

fn pod(world: &mut World, name: &str, image: &str, more: Value) {
    let mut container = json!({"name": "main", "image": image});
    if let (Some(fields), Some(more)) = (container.as_object_mut(), more.as_object()) {
        fields.extend(more.clone());
    }
    let spec = json!({"containers": [container]});
    create(world, Kind::Pod, json!({"metadata": {"name": name}, "spec": spec}));
}

fn workload(world: &mut World, kind: Kind, name: &str, replicas: i32) {
    let labels = json!({"app": name});
    let spec = json!({"containers": [{"name": "main", "image": "good:1"}]});
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    let selector = json!({"matchLabels": labels});
    let spec = json!({"replicas": replicas, "selector": selector, "template": template});
    create(world, kind, json!({"metadata": {"name": name}, "spec": spec}));
}

fn patch(world: &mut World, key: ObjectKey, patch: Value) {
    world.request(&Request::Patch(Part::Main, key, patch)).expect("it is valid");
}

fn inflict(world: &mut World, line: &str) {
    world.inflict(&Fault::parse_line(line).expect(line));
}

fn wait(world: &mut World, seconds: u64) {
    let until = world.now() + Duration::from_secs(seconds);
    assert!(world.run_until(until, 10_000_000));
}

fn lived_through() -> World {
    let images = json!({
        "missing:1": {"pull": "notFound"},
        "crash:1": {"exitsAfter": "1s", "exitCode": 1},
        "slow:1": {"readyAfter": "1h"},
    });
    let images = serde_json::from_value(images).expect("images");
    let mut world = World::new(Options { images, ..Options::default() });
    pod(&mut world, "missing", "missing:1", json!({}));
    pod(&mut world, "crash", "crash:1", json!({}));
    let probe = |port: Value| json!({"httpGet": {"port": port}, "failureThreshold": 2});
    for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let mut probes = json!({kind: probe(json!(80))});
        if kind == "livenessProbe" {
            // Without another, the container would not count as running for so long.
            probes["readinessProbe"] = probe(json!(80));
        }
        pod(&mut world, &kind.to_lowercase(), "slow:1", probes);
    }
    pod(&mut world, "misnamed", "slow:1", json!({"readinessProbe": probe(json!("web"))}));
    pod(&mut world, "big", "good:1", json!({"resources": {"requests": {"cpu": "100"}}}));
    workload(&mut world, Kind::Deployment, "web", 2);
    wait(&mut world, 20);
    let web = ObjectKey::new(Kind::Deployment, "default", "web");
    for replicas in [5, 1, 5] {
        patch(&mut world, web.clone(), json!({"spec": {"replicas": replicas}}));
        wait(&mut world, 20);
    }
    inflict(&mut world, "fault apiserver throttle for=2s");
    workload(&mut world, Kind::ReplicaSet, "refused", 1);
    wait(&mut world, 20);
    let node = |name: &str| ObjectKey::new(Kind::Node, "", name);
    let taint = json!([{"key": "down", "effect": "NoExecute"}]);
    patch(&mut world, node("node-2"), json!({"spec": {"taints": taint}}));
    wait(&mut world, 20);
    inflict(&mut world, "fault node node-3 power=off");
    wait(&mut world, 100);
    inflict(&mut world, "fault node node-3 power=on");
    wait(&mut world, 60);
    world.request(&Request::Delete(node("node-2"), DeleteOptions::default())).expect("it is there");
    wait(&mut world, 10);
    world
}

/// A cluster with one node, an autoscaler, and more pods than it has room for.
fn crowded() -> World {
    let key = |kind, name: &str| ObjectKey::new(kind, "default", name);
    let load = |seconds, milli| Load {
        at: Time::from_secs(seconds),
        target: key(Kind::Deployment, "web"),
        metric: "cpu".into(),
        milli,
        total: true,
    };
    let load = vec![load(0, 50), load(60, 300), load(150, 400)];
    let mut world = World::new(Options { nodes: 1, load, ..Options::default() });
    let asks = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
    workload(&mut world, Kind::Deployment, "web", 1);
    let container =
        json!({"name": "main", "image": "good:1", "resources": asks("100m")["resources"]});
    let template = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
    patch(&mut world, key(Kind::Deployment, "web"), template);
    let reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 9});
    let autoscaler = json!({"metadata": {"name": "web"}, "spec": spec});
    create(&mut world, Kind::HorizontalPodAutoscaler, autoscaler);
    pod(&mut world, "absent", "absent:1", json!({"imagePullPolicy": "Never"}));
    pod(&mut world, "misspelt", "Not An Image", json!({}));
    wait(&mut world, 140);
    inflict(&mut world, "fault fail from=hpa verb=patch with=internal count=9");
    wait(&mut world, 60);
    let class = json!({"metadata": {"name": "urgent"}, "value": 1000});
    create(&mut world, Kind::PriorityClass, class);
    pod(&mut world, "large", "good:1", asks("2"));
    wait(&mut world, 20);
    let container = json!({"name": "main", "image": "good:1", "resources": asks("3")["resources"]});
    let spec = json!({"priorityClassName": "urgent", "containers": [container]});
    create(&mut world, Kind::Pod, json!({"metadata": {"name": "urgent"}, "spec": spec}));
    wait(&mut world, 60);
    inflict(&mut world, "fault fail from=replicaset verb=delete with=internal count=1");
    let one = json!({"spec": {"replicas": 1}});
    workload(&mut world, Kind::ReplicaSet, "shrinking", 2);
    wait(&mut world, 20);
    patch(&mut world, key(Kind::ReplicaSet, "shrinking"), one);
    wait(&mut world, 20);
    inflict(&mut world, "fault node node-1 power=off");
    wait(&mut world, 100);
    world
}
