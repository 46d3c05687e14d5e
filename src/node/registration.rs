//! How a node is made known and says that it lives: the Node object, its Ready condition, its
//! lease.
//!
//! Follows `pkg/kubelet/kubelet_node_status.go`, `pkg/kubelet/nodestatus/setters.go` and
//! `component-helpers/apimachinery/lease`. Left out: addresses and system information beyond what
//! `kubectl get nodes` shows, images, and the other sources of conditions: pressure never rises.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{
    Condition, ConditionStatus, Kind, Lease, LeaseSpec, Node, NodeStatus, Object, ObjectKey,
    ObjectMeta, Quantity, Str, Timestamp,
};
use crate::apiserver::{Part, Reason, Request};
use crate::controllers::{Deed, EventNote, Fact, Intent, Plan};
use crate::kernel::Time;

/// How often the lease is renewed: a quarter of its duration.
pub const LEASE_PERIOD: Duration = Duration::from_secs(10);
/// How often the node's status is looked at (`nodeStatusUpdateFrequency`).
pub const STATUS_PERIOD: Duration = Duration::from_secs(10);
/// After how long it is written although nothing changed (`nodeStatusReportFrequency`).
pub const STATUS_REPORT_PERIOD: Duration = Duration::from_secs(300);
/// For how long a lease holds (`nodeLeaseDurationSeconds`).
pub const LEASE_SECONDS: i32 = 40;
/// What a kubelet tells when a condition has turned well.
const WELL: [(&str, &str); 4] = [
    ("MemoryPressure", "NodeHasSufficientMemory"),
    ("DiskPressure", "NodeHasNoDiskPressure"),
    ("PIDPressure", "NodeHasSufficientPID"),
    ("Ready", "NodeReady"),
];
const LEASE_NAMESPACE: &str = "kube-node-lease";

/// The Node that a kubelet registers: 4 cpu, 8Gi, 110 pods.
pub fn node_object(name: &str, ip: &str, now: Time) -> Node {
    let resources = [("cpu", "4"), ("memory", "8Gi"), ("pods", "110")];
    let amounts = resources.map(|(name, amount)| {
        let quantity = Quantity::parse(amount).unwrap_or_default();
        (Str::from(name), quantity)
    });
    let labels = [
        ("beta.kubernetes.io/arch", "amd64"),
        ("beta.kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", "linux"),
    ];
    Node {
        metadata: ObjectMeta {
            name: name.into(),
            labels: labels.map(|(k, v)| (k.into(), v.into())).into(),
            ..ObjectMeta::default()
        },
        status: NodeStatus {
            capacity: amounts.clone().into(),
            allocatable: amounts.into(),
            conditions: conditions(&[], now),
            rest: about(name, ip),
        },
        ..Node::default()
    }
}

fn about(name: &str, ip: &str) -> crate::api::Rest {
    let addresses = serde_json::json!([
        {"type": "InternalIP", "address": ip},
        {"type": "Hostname", "address": name},
    ]);
    let info = serde_json::json!({
        "architecture": "amd64",
        "containerRuntimeVersion": "containerd://2.2.0",
        "kernelVersion": "6.12.0",
        "kubeletVersion": "v1.36.2",
        "operatingSystem": "linux",
        "osImage": "Loopscope",
    });
    [("addresses".to_string(), addresses), ("nodeInfo".to_string(), info)].into()
}

/// What a kubelet that is well says of its node, given what was said before. What it says again
/// word by word, and that is all it says mostly, is not written down anew.
fn conditions(before: &[Condition], now: Time) -> Vec<Condition> {
    let well = [
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "KubeletReady", "kubelet is posting ready status"),
    ];
    let now = Timestamp::from(now);
    let is_own = |c: &&Condition| well.iter().any(|(kind, ..)| *c.kind == **kind);
    let own = well.iter().map(|(kind, reason, message)| {
        let before = Condition::find(before, kind);
        let status = ConditionStatus::from(*kind == "Ready");
        let since = before.filter(|before| before.status == status);
        Condition {
            kind: again(before.map(|before| &before.kind), kind),
            status,
            reason: Some(again(before.and_then(|before| before.reason.as_ref()), reason)),
            message: Some(again(before.and_then(|before| before.message.as_ref()), message)),
            last_transition_time: since.and_then(|c| c.last_transition_time).or(Some(now)),
            last_heartbeat_time: Some(now),
            ..Condition::default()
        }
    });
    before.iter().filter(|c| !is_own(c)).cloned().chain(own).collect()
}

fn again(before: Option<&Str>, text: &str) -> Str {
    before.filter(|before| ***before == *text).map_or_else(|| text.into(), Str::clone)
}

/// The lease of a node.
pub fn lease_object(node_name: &Str, now: Time) -> Lease {
    Lease {
        metadata: ObjectMeta {
            name: node_name.clone(),
            namespace: LEASE_NAMESPACE.into(),
            ..ObjectMeta::default()
        },
        spec: LeaseSpec {
            holder_identity: Some(node_name.clone()),
            lease_duration_seconds: Some(LEASE_SECONDS),
            renew_time: Some(Timestamp::from(now)),
            ..LeaseSpec::default()
        },
    }
}

/// The key of a node's lease.
pub fn lease_key(node_name: &Str) -> ObjectKey {
    ObjectKey::new(Kind::Lease, LEASE_NAMESPACE, node_name.clone())
}

/// Makes Node and lease where they are missing.
pub fn register(node_name: &Str, ip: &str, now: Time) -> Plan {
    let mut plan = Plan::nothing(Fact::Gone, Fact::Word(node_name.clone()));
    let node = Object::Node(node_object(node_name, ip, now));
    let lease = Object::Lease(lease_object(node_name, now));
    for object in [node, lease] {
        plan.then(Intent {
            tolerates: |error| error.reason == Reason::AlreadyExists,
            ..Intent::new(Deed::Renew, Request::Create(Arc::new(object)))
        });
    }
    plan
}

/// Renews the lease. `lease` is the lease as it was last seen or answered, if ever; without it (or
/// if it was deleted) one is made. Only the holder writes it, so no version is asked for.
pub fn renew(node_name: &Str, lease: Option<&Lease>, now: Time) -> Plan {
    let mut plan = Plan::default();
    let mut next = lease_object(node_name, now);
    let request = match lease {
        None => Request::Create(Arc::new(Object::Lease(next))),
        Some(lease) => {
            next.metadata = lease.metadata.clone();
            next.metadata.resource_version = 0;
            next.metadata.uid = "".into();
            next.spec.rest = lease.spec.rest.clone();
            Request::Update(Part::Main, Arc::new(Object::Lease(next)))
        }
    };
    plan.then(Intent::new(Deed::Renew, request));
    plan
}

/// Writes the node's status if it says anything else than it should (such as Ready Unknown, after
/// a silence), or said it long ago. `object` is the Node as the cache has it.
pub fn report(object: &Arc<Object>, now: Time) -> Plan {
    let Some(seen) = object.as_node() else {
        return Plan::default();
    };
    let before = &seen.status.conditions;
    let after = conditions(before, now);
    let word = |list: &[Condition]| {
        let holds = Condition::holds(list, "Ready");
        Fact::Word(if holds { "Ready" } else { "NotReady" }.into())
    };
    let mut plan = Plan::nothing(word(before), word(&after));
    let last = |c: &Condition| c.last_heartbeat_time.map_or(Time::ZERO, Timestamp::to_time);
    let heard = before.iter().filter(|c| &*c.kind == "Ready").map(last).max();
    let is_old = heard.is_none_or(|heard| now.since(heard) >= STATUS_REPORT_PERIOD);
    if is_old || !says_the_same(before, &after) {
        let mut node = seen.clone();
        node.metadata.resource_version = 0;
        node.status.conditions = after;
        plan.events = turned(object, before, &node.status.conditions);
        let request = Request::Update(Part::Status, Arc::new(Object::Node(node)));
        plan.then(Intent::new(Deed::Status, request));
    }
    plan
}

/// The Events of conditions that have turned well (`recordNodeStatusEvent`).
fn turned(object: &Arc<Object>, before: &[Condition], after: &[Condition]) -> Vec<EventNote> {
    let status = |list: &[Condition], kind| Condition::find(list, kind).map(|c| c.status);
    let news = WELL.iter().filter(|(kind, _)| status(before, kind) != status(after, kind));
    let note = |(_, reason): &(&str, &str)| {
        let text = format!("Node {} status is now: {reason}", object.meta().name);
        EventNote::normal(object, reason, text)
    };
    news.map(note).collect()
}

/// Whether two lists of conditions differ in nothing but when they were looked at.
pub fn says_the_same(before: &[Condition], after: &[Condition]) -> bool {
    let same = |(one, other): (&Condition, &Condition)| {
        let last_heartbeat_time = other.last_heartbeat_time;
        Condition { last_heartbeat_time, ..one.clone() } == *other
    };
    before.len() == after.len() && before.iter().zip(after).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_written_when_it_changed_and_every_five_minutes() {
        let at = Time::from_secs;
        let node = |node: Node| Arc::new(Object::Node(node));
        let mut registered = node_object("node-1", "172.18.0.2", at(0));
        assert!(report(&node(registered.clone()), at(10)).batches.is_empty());
        assert_eq!(report(&node(registered.clone()), at(300)).batches.len(), 1);

        for condition in &mut registered.status.conditions {
            condition.status = ConditionStatus::Unknown;
        }
        let plan = report(&node(registered), at(60));
        assert_eq!(plan.wants, Fact::Word("Ready".into()));
        let Request::Update(Part::Status, after) = &plan.batches[0][0].request else {
            panic!("a status write");
        };
        let after = after.as_node().expect("a node");
        let ready = Condition::find(&after.status.conditions, "Ready").expect("it is there");
        assert_eq!(ready.last_transition_time, Some(Timestamp::from(at(60))));
    }

    #[test]
    fn a_lease_is_renewed_or_made() {
        let name: Str = "node-1".into();
        let lease = lease_object(&name, Time::ZERO);
        let renewed = renew(&name, Some(&lease), Time::from_secs(10));
        let request = &renewed.batches[0][0].request;
        assert_eq!(request.key(), lease_key(&name));
        assert!(matches!(request, Request::Update(Part::Main, _)));
        let made = renew(&name, None, Time::from_secs(10));
        assert!(matches!(&made.batches[0][0].request, Request::Create(_)));
    }
}
