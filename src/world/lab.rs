//! What tests of a whole cluster have in common.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::{Kind, Object};
use crate::apiserver::{DeleteOptions, Request};

use super::{Fault, Flavour, Options, World};

/// Moments that no test needs more of.
pub const PLENTY: u64 = 1_000_000;

/// A ReplicaSet or a Deployment named `web`.
pub fn web(kind: Kind, replicas: i32, image: &str) -> Object {
    let value = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    });
    Object::from_value(kind, value).unwrap()
}

/// A cluster in which the pods of a ReplicaSet have run for a while.
pub fn cluster(flavour: Flavour, replicas: i32) -> World {
    let mut world = World::new(Options { flavour, ..Options::default() });
    let set = web(Kind::ReplicaSet, replicas, "registry.example/web:1");
    world.request(&Request::Create(Arc::new(set))).unwrap();
    run_for(&mut world, 20);
    world
}

pub fn inflict(world: &mut World, line: &str) {
    world.inflict(&Fault::parse_line(line).unwrap());
}

pub fn run_for(world: &mut World, seconds: u64) {
    let until = world.now() + Duration::from_secs(seconds);
    assert!(world.run_until(until, PLENTY), "too much happens");
}

pub fn delete_one_pod(world: &mut World) {
    let key = world.store().list(Kind::Pod).next().unwrap().key();
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    world.request(&Request::Delete(key, options)).unwrap();
}
