//! The notice board: objects as a tree, with what they want and what there truly is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Generic, Kind, Object, Str};
use crate::controllers::job::JobStatus;
use crate::controllers::order::object::Order;
use crate::world::{PodCount, World};

use super::places::Memory;
use super::stage::BoardRow;

/// Rows shown; a cluster with more objects shows the first of them.
const ROWS_MAX: usize = 60;

/// The rows of the board, depth first.
pub fn board(
    world: &World,
    counts: &BTreeMap<Str, PodCount>,
    memory: &mut Memory,
) -> Vec<BoardRow> {
    let mut rows = Vec::new();
    for object in world.store().all().filter(|object| is_root(world, object)) {
        if rows.len() >= ROWS_MAX {
            break;
        }
        let at = rows.len();
        rows.push(row(world, object, 0, counts, memory));
        let uid = &object.meta().uid;
        let dependents = if object.kind() == Kind::CronJob { Kind::Job } else { Kind::ReplicaSet };
        let sets = world.store().list(dependents);
        let own: Vec<_> = sets.filter(|set| set.meta().is_controlled_by(uid)).collect();
        let shown = own.iter().filter(|set| own.len() == 1 || !is_spent(set, counts));
        let dependents: Vec<BoardRow> =
            shown.map(|set| row(world, set, 1, counts, memory)).collect();
        if object.kind() == Kind::Deployment {
            let (have, ready) = own.iter().fold((0, 0), |(have, ready), set| {
                let count = counts.get(&set.meta().uid).copied().unwrap_or_default();
                (have + count.active, ready + count.ready)
            });
            (rows[at].have, rows[at].ready) = (have, ready);
            rows[at].says = says(object, have, ready);
        }
        rows.extend(dependents);
    }
    rows
}

/// What hangs on the board by itself: no pods, no upkeep, nothing that an object on the board owns.
fn is_root(world: &World, object: &Object) -> bool {
    let hidden = matches!(
        object.kind(),
        Kind::Pod
            | Kind::Node
            | Kind::Event
            | Kind::Lease
            | Kind::Namespace
            | Kind::ControllerRevision
            | Kind::EndpointSlice
    );
    let owned = object.meta().controller().is_some_and(|owner| {
        [Kind::Deployment, Kind::CronJob]
            .into_iter()
            .any(|kind| world.store().list(kind).any(|other| other.meta().uid == owner.uid))
    });
    // The two classes that every cluster has.
    let built_in =
        object.kind() == Kind::PriorityClass && object.meta().name.starts_with("system-");
    !hidden && !owned && !built_in
}

/// An old ReplicaSet kept for its history only.
fn is_spent(set: &Object, counts: &BTreeMap<Str, PodCount>) -> bool {
    let count = counts.get(&set.meta().uid).copied().unwrap_or_default();
    count.active == 0 && set.as_replica_set().is_some_and(|set| set.spec.replicas() == 0)
}

fn row(
    world: &World,
    object: &Arc<Object>,
    depth: u8,
    counts: &BTreeMap<Str, PodCount>,
    memory: &mut Memory,
) -> BoardRow {
    let count = counts.get(&object.meta().uid).copied().unwrap_or_default();
    let want = match &**object {
        Object::Deployment(deployment) => Some(i64::from(deployment.spec.replicas())),
        Object::ReplicaSet(set) => Some(i64::from(set.spec.replicas())),
        Object::Generic(generic) => wanted(generic),
        _ => None,
    };
    let order = Order::read(object);
    BoardRow {
        key: object.key(),
        uid: object.meta().uid.clone(),
        depth,
        want,
        have: count.active,
        ready: count.ready,
        says: says(object, count.active, count.ready),
        words: order.as_ref().map(Order::words),
        simulated: object.kind().info().simulated || order.is_some(),
        terminating: object.meta().is_terminating(),
        changed: memory.changed(object, world.now()),
    }
}

/// Pods that a set, or a Job that goes on, wants.
fn wanted(object: &Generic) -> Option<i64> {
    match object.kind {
        Kind::StatefulSet => Some(object.spec().long("replicas").unwrap_or(1)),
        Kind::DaemonSet => Some(object.status().long("desiredNumberScheduled").unwrap_or(0)),
        Kind::Job if JobStatus::of(object).end().is_some() => Some(0),
        Kind::Job => object.spec().long("parallelism"),
        _ => None,
    }
}

/// What the status says, where that is not the truth.
fn says(object: &Object, have: i64, ready: i64) -> Option<(i64, i64)> {
    let said = match object {
        Object::Deployment(deployment) => {
            (deployment.status.replicas, deployment.status.ready_replicas)
        }
        Object::ReplicaSet(set) => (set.status.replicas, set.status.ready_replicas),
        _ => return None,
    };
    let said = (i64::from(said.0), i64::from(said.1));
    (said != (have, ready)).then_some(said)
}
