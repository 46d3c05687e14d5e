//! Whose an object is, what is its own, and where it runs: `Deployment ▸ ReplicaSet ▸ Pod ▸ Node`.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Pod, Str};
use crate::view::nodes::look;
use crate::world::World;

use super::diagnosis::workload::sets_of;

/// Members that are told at most.
const MEMBERS_MAX: usize = 24;
/// Owners above an object that are followed.
const OWNERS_MAX: usize = 8;

/// An object of the family, or a container, which is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// How far down it stands.
    pub depth: u8,
    /// What it is.
    pub what: MemberKind,
    /// How it stands, in kubectl's words: `2/3`, `Running`, `NotReady`; empty if there is nothing
    /// to say.
    pub says: Str,
    /// Whether that is as it should be.
    pub well: bool,
    /// Whether it is the object itself.
    pub own: bool,
}

/// What a member is.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberKind {
    /// An object, which can be inspected in turn.
    Object(ObjectKey),
    /// A container of the pod above it.
    Container(Str),
}

/// The family of an object, from the root down, and how many members the bound left out.
pub fn of(world: &World, object: &Arc<Object>) -> (Vec<Member>, usize) {
    let mut above = owners(world, object);
    above.reverse();
    let mut members: Vec<Member> =
        above.iter().zip(0u8..).map(|(owner, depth)| member(world, owner, depth)).collect();
    let depth = members.len() as u8;
    members.push(Member { own: true, ..member(world, object, depth) });
    below(world, object, depth + 1, &mut members);
    let more = members.len().saturating_sub(MEMBERS_MAX);
    members.truncate(MEMBERS_MAX);
    (members, more)
}

fn owners(world: &World, object: &Object) -> Vec<Arc<Object>> {
    let mut found: Vec<Arc<Object>> = Vec::new();
    let mut at = object.meta().controller().cloned();
    let namespace = object.meta().namespace.clone();
    while let Some(owner) = at.take() {
        let kind = Kind::of_manifest(&owner.api_version, &owner.kind);
        let key = kind.map(|kind| ObjectKey::new(kind, namespace.clone(), owner.name.clone()));
        let stored = key.and_then(|key| world.store().get(&key));
        let Some(stored) = stored.filter(|stored| stored.meta().uid == owner.uid) else { break };
        if found.len() >= OWNERS_MAX {
            break;
        }
        at = stored.meta().controller().cloned();
        found.push(stored.clone());
    }
    found
}

fn below(world: &World, object: &Object, depth: u8, members: &mut Vec<Member>) {
    match object {
        Object::Pod(pod) => of_pod(world, pod, depth, members),
        Object::Node(node) => {
            let name = Some(&node.metadata.name);
            let here = |pod: &&Arc<Object>| {
                pod.as_pod().is_some_and(|pod| pod.spec.node_name.as_ref() == name)
            };
            let pods = world.store().list(Kind::Pod).filter(here);
            members.extend(pods.map(|pod| member(world, pod, depth)));
        }
        Object::Deployment(deployment) => {
            let counts = world.pods_by_owner();
            for set in sets_of(world, deployment) {
                let pods = counts.get(&set.meta().uid).map_or(0, |count| count.active);
                let asks = set.as_replica_set().map_or(0, |set| set.spec.replicas());
                // One that is kept for its history only has no part in it.
                if pods > 0 || asks > 0 {
                    members.push(member(world, &set, depth));
                    own_objects(world, &set, depth + 1, members);
                }
            }
        }
        Object::Generic(generic) if generic.kind == Kind::HorizontalPodAutoscaler => {
            let target = generic.spec().at("scaleTargetRef");
            let (version, kind) = (target.text("apiVersion"), target.text("kind"));
            let kind = Kind::of_manifest(version.unwrap_or("v1"), kind.unwrap_or(""));
            let name = target.text("name").unwrap_or("");
            let namespace = generic.metadata.namespace.clone();
            let stored = kind.and_then(|k| world.store().get(&ObjectKey::new(k, namespace, name)));
            members.extend(stored.map(|target| member(world, target, depth)));
        }
        _ => own_objects(world, object, depth, members),
    }
}

fn own_objects(world: &World, object: &Object, depth: u8, members: &mut Vec<Member>) {
    const KINDS: [Kind; 3] = [Kind::ReplicaSet, Kind::Job, Kind::Pod];
    let owned = KINDS.into_iter().flat_map(|kind| world.store().list(kind));
    let own = owned.filter(|other| other.meta().is_controlled_by(&object.meta().uid));
    let mut told: Vec<Member> = own.map(|other| member(world, other, depth)).collect();
    // What is not well is what one looks for.
    told.sort_by_key(|member| member.well);
    members.extend(told);
}

fn of_pod(world: &World, pod: &Pod, depth: u8, members: &mut Vec<Member>) {
    let node = pod.spec.node_name.as_ref();
    let node = node.map(|name| ObjectKey::new(Kind::Node, "", name.clone()));
    members.extend(
        node.and_then(|key| world.store().get(&key)).map(|node| member(world, node, depth)),
    );
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    let specs = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    for spec in specs {
        let status = statuses.clone().find(|status| status.name == spec.name);
        let says = status.map_or_else(|| "".into(), |status| state_of(&status.state));
        let well = status.is_some_and(|status| status.ready);
        let what = MemberKind::Container(spec.name.clone());
        members.push(Member { depth: depth + 1, what, says, well, own: false });
    }
}

fn state_of(state: &crate::api::ContainerState) -> Str {
    match (&state.running, &state.terminated, &state.waiting) {
        (Some(_), ..) => "Running".into(),
        (_, Some(ended), _) => ended.reason.clone().unwrap_or_else(|| "Terminated".into()),
        (.., waiting) => {
            let reason = waiting.as_ref().and_then(|waiting| waiting.reason.clone());
            reason.unwrap_or_else(|| "Waiting".into())
        }
    }
}

fn member(world: &World, object: &Arc<Object>, depth: u8) -> Member {
    let (says, well) = standing(world, object);
    let what = MemberKind::Object(object.key());
    Member { depth, what, says, well, own: false }
}

/// How an object stands, in kubectl's words.
fn standing(world: &World, object: &Object) -> (Str, bool) {
    if object.meta().is_terminating() {
        return ("Terminating".into(), false);
    }
    let uids = |uids: &[Str], want: i64| {
        let counts = world.pods_by_owner();
        let ready = uids.iter().map(|uid| counts.get(uid).map_or(0, |c| c.ready)).sum::<i64>();
        (format!("{ready}/{want}").into(), ready == want)
    };
    match object {
        Object::Pod(pod) => (look(world, pod).1, world.is_truly_ready(pod)),
        Object::Node(node) => {
            let ready = crate::api::Condition::holds(&node.status.conditions, "Ready");
            (if ready { "Ready" } else { "NotReady" }.into(), ready)
        }
        Object::Deployment(deployment) => {
            let sets = sets_of(world, deployment);
            let own: Vec<Str> = sets.iter().map(|set| set.meta().uid.clone()).collect();
            uids(&own, deployment.spec.replicas().into())
        }
        Object::ReplicaSet(set) => {
            uids(std::slice::from_ref(&set.metadata.uid), set.spec.replicas().into())
        }
        Object::Generic(generic) if generic.kind == Kind::StatefulSet => {
            let want = generic.spec().long("replicas").unwrap_or(1);
            uids(std::slice::from_ref(&generic.metadata.uid), want)
        }
        Object::Generic(generic) if generic.kind == Kind::Job => {
            let done = generic.status().long("succeeded").unwrap_or(0);
            let want = generic.spec().long("completions").unwrap_or(1);
            (format!("{done}/{want}").into(), done == want)
        }
        _ => ("".into(), true),
    }
}
