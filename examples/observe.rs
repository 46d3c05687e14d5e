//! Plays one scenario in its level lane and prints, as JSON, what another implementation of the
//! same controllers can be compared with: `observe FILE [--until 5m]`. `-` reads standard input.
//! Sizes of ReplicaSets over time (by their container's image), the Deployments, ReplicaSets and
//! pods of the end, the reasons of Events with their kinds, and what the run cost.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopscope::api::{Kind, Object, Value};
use loopscope::kernel::Time;
use loopscope::scenario::{Run, Scenario};
use loopscope::world::{LaneId, World};
use pico_args::Arguments;
use serde_json::json;

fn main() -> ExitCode {
    match observe() {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

#[allow(clippy::disallowed_methods)] // The stopwatch decides nothing.
fn observe() -> Result<Value, String> {
    let mut arguments = Arguments::from_env();
    let until = arguments
        .opt_value_from_fn("--until", humantime::parse_duration)
        .map_err(|error| error.to_string())?
        .unwrap_or(Duration::from_secs(60));
    let file: String = arguments.free_from_str().map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = match file.as_str() {
        "-" => std::io::stdin().read_to_string(&mut text).map(|_| ()),
        name => std::fs::read_to_string(name).map(|read| text = read),
    };
    read.map_err(|error| format!("{file}: {error}"))?;
    let mut scenario = Scenario::read("", &text).map_err(|error| format!("{file}: {error}"))?;
    scenario.keep_lane(LaneId::Level);
    let (seed, started) = (scenario.seed(), Instant::now());
    let mut run = Run::new(Arc::new(scenario), seed, Vec::new());
    let (end, mut sizes) = (Time::ZERO + until, Vec::<Value>::new());
    loop {
        let moved = run.step(end);
        let lane = run.lane(LaneId::Level).ok_or("there is no level lane")?;
        let now = sizes_of(&lane.world);
        if sizes.last().is_none_or(|last| last["sizes"] != now) {
            sizes.push(json!({"at": lane.world.now().as_secs_f64(), "sizes": now}));
        }
        if !moved {
            break;
        }
    }
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let lane = run.lane(LaneId::Level).ok_or("there is no level lane")?;
    let refused: Vec<&str> = (0..run.script().len())
        .filter_map(|number| run.output(true, number, LaneId::Level))
        .filter(|output| output.error)
        .map(|output| output.text.trim())
        .collect();
    Ok(json!({
        "milliseconds": milliseconds,
        "refused": refused,
        "sizes": sizes,
        "objects": objects_of(&lane.world),
        "events": events_of(&lane.world),
    }))
}

/// The size that each ReplicaSet should have, by the image of its pods.
fn sizes_of(world: &World) -> Value {
    let sets = world.store().list(Kind::ReplicaSet).filter_map(|set| set.as_replica_set());
    let sizes: BTreeMap<String, i32> = sets
        .map(|set| {
            let container = set.spec.template.spec.containers.first();
            let image = container.and_then(|container| container.image.clone());
            (image.unwrap_or_default().to_string(), set.spec.replicas())
        })
        .collect();
    json!(sizes)
}

fn objects_of(world: &World) -> Vec<Value> {
    let kinds = [Kind::Deployment, Kind::ReplicaSet, Kind::Pod];
    let objects = kinds.into_iter().flat_map(|kind| world.store().list(kind));
    objects
        .map(|object| {
            let mut value = object.to_value();
            value["kind"] = json!(object.kind().info().kind);
            value
        })
        .collect()
}

fn events_of(world: &World) -> BTreeSet<String> {
    let events = world.store().list(Kind::Event).map(|event| Object::to_value(event));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    events
        .map(|event| {
            format!("{} {}", word(&event["involvedObject"]["kind"]), word(&event["reason"]))
        })
        .collect()
}
