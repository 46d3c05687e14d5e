//! Nodes with their pods, and pods without a node.

use std::collections::BTreeMap;

use crate::api::{Condition, ContainerStatus, Kind, Pod, PodPhase, Str};
use crate::world::World;

use super::places::Memory;
use super::stage::{NodeView, PodCell, PodLook};

/// The nodes with their pods, and the tray of pods that have none.
pub fn nodes_and_tray(world: &World, memory: &mut Memory) -> (Vec<NodeView>, Vec<PodCell>) {
    let mut by_node: BTreeMap<Str, Vec<&Pod>> = BTreeMap::new();
    for pod in world.store().list(Kind::Pod).filter_map(|object| object.as_pod()) {
        let node = pod.spec.node_name.clone().unwrap_or_else(|| "".into());
        by_node.entry(node).or_default().push(pod);
    }
    let mut nodes = Vec::new();
    for node in world.store().list(Kind::Node).filter_map(|object| object.as_node()) {
        let name = node.metadata.name.clone();
        let pods = cells(world, &name, by_node.get(&name).map_or(&[], |pods| pods), memory);
        let used = pods.iter().map(|cell| cell.place + 1).max().unwrap_or(0);
        let number = world.node_number(&name);
        let kubelet = number.and_then(|number| world.kubelets().get(usize::from(number)));
        nodes.push(NodeView {
            places: memory.size(&name, used),
            powered: kubelet.is_none_or(|kubelet| kubelet.is_powered()),
            connected: number.is_none_or(|number| world.is_connected(number)),
            ready: Condition::holds(&node.status.conditions, "Ready"),
            unschedulable: node.spec.unschedulable,
            name,
            pods,
        });
    }
    let none: Str = "".into();
    let tray = cells(world, &none, by_node.get(&none).map_or(&[], |pods| pods), memory);
    (nodes, tray)
}

fn cells(world: &World, node: &Str, pods: &[&Pod], memory: &mut Memory) -> Vec<PodCell> {
    let uids: Vec<Str> = pods.iter().map(|pod| pod.metadata.uid.clone()).collect();
    let places = memory.place(node, &uids);
    let mut cells: Vec<PodCell> = pods
        .iter()
        .zip(places)
        .map(|(pod, place)| {
            let (state, status) = look(world, pod);
            PodCell {
                uid: pod.metadata.uid.clone(),
                key: crate::api::ObjectKey::new(
                    Kind::Pod,
                    pod.metadata.namespace.clone(),
                    pod.metadata.name.clone(),
                ),
                place,
                state,
                status,
                owner: pod.metadata.controller().map(|owner| owner.name.clone()),
                restarts: pod.status.container_statuses.iter().map(|c| c.restart_count).sum(),
                since: memory.looks(&pod.metadata.uid, state, world.now()),
            }
        })
        .collect();
    cells.sort_by_key(|cell| cell.place);
    cells
}

/// What a pod looks like, and kubectl's word for it.
pub fn look(world: &World, pod: &Pod) -> (PodLook, Str) {
    let waiting = pod.status.container_statuses.iter().find_map(waiting_reason);
    if pod.metadata.is_terminating() {
        return (PodLook::Terminating, "Terminating".into());
    }
    let dead_node = pod.spec.node_name.as_ref().is_some_and(|name| {
        world.node_number(name).is_some_and(|n| {
            !world.kubelets()[usize::from(n)].is_powered() || !world.is_connected(n)
        })
    });
    if dead_node && !pod.is_ready() && !pod.is_finished() {
        return (PodLook::Unknown, "Unknown".into());
    }
    match (pod.phase(), waiting.as_deref()) {
        (PodPhase::Succeeded, _) => (PodLook::Succeeded, "Completed".into()),
        (PodPhase::Failed, _) => {
            (PodLook::Failed, pod.status.reason.clone().unwrap_or_else(|| "Error".into()))
        }
        (_, Some(reason @ "CrashLoopBackOff")) => (PodLook::CrashLoopBackOff, reason.into()),
        (_, Some(reason @ ("ImagePullBackOff" | "ErrImagePull"))) => {
            (PodLook::ImagePullBackOff, reason.into())
        }
        (_, Some(reason)) if pod.spec.node_name.is_some() => {
            (PodLook::ContainerCreating, reason.into())
        }
        (PodPhase::Pending, _) if pod.spec.node_name.is_some() => {
            (PodLook::ContainerCreating, "ContainerCreating".into())
        }
        (PodPhase::Pending, _) => (PodLook::Pending, "Pending".into()),
        _ if pod.is_ready() => (PodLook::Ready, "Running".into()),
        _ => (PodLook::NotReady, "Running".into()),
    }
}

fn waiting_reason(status: &ContainerStatus) -> Option<Str> {
    status.state.waiting.as_ref().and_then(|waiting| waiting.reason.clone())
}
