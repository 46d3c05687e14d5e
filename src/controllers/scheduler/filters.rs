//! Which nodes a pod may go to (`pkg/scheduler/framework/plugins`). A filter looks at one node and
//! passes it, or says why not. In the order of the default profile: NodeUnschedulable, NodeName,
//! TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, PodTopologySpread, InterPodAffinity;
//! the first that rejects a node ends it. Left out: the volume plugins, DynamicResources.

use std::collections::BTreeSet;
use std::fmt;

use crate::api::{Node, Pod, Str, TaintEffect};
use crate::controllers::taints::{UNSCHEDULABLE, is_tolerated, keeps_away, taint};

use super::affinity::NodeAffinity;
use super::cluster::NodeInfo;
use super::ports::HostPort;
use super::resources::{Resources, Usage};

/// Why a filter rejects a node, in Kubernetes' words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Reason {
    Unschedulable,
    NodeName,
    Taints,
    Affinity,
    /// The pod names its nodes, and this one is none of them.
    NotNamed,
    /// The pod names its nodes so that it can be none of them.
    NamesConflict,
    Ports,
    TooManyPods,
    Insufficient(Str),
    Spread,
    SpreadLabel,
    PodAffinity,
    PodAntiAffinity,
    ExistingAntiAffinity,
    /// Anything else, as text.
    Other(Str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spread = "node(s) didn't match pod topology spread constraints";
        match self {
            Reason::Unschedulable => f.write_str("node(s) were unschedulable"),
            Reason::NodeName => f.write_str("node(s) didn't match the requested node name"),
            Reason::Taints => f.write_str("node(s) had untolerated taint(s)"),
            Reason::Affinity => f.write_str("node(s) didn't match Pod's node affinity/selector"),
            Reason::NotNamed => f.write_str("node(s) didn't satisfy plugin(s) [NodeAffinity]"),
            Reason::NamesConflict => f.write_str("pod affinity terms conflict"),
            Reason::Ports => {
                f.write_str("node(s) didn't have free ports for the requested pod ports")
            }
            Reason::TooManyPods => f.write_str("Too many pods"),
            Reason::Insufficient(resource) => write!(f, "Insufficient {resource}"),
            Reason::Spread => f.write_str(spread),
            Reason::SpreadLabel => write!(f, "{spread} (missing required label)"),
            Reason::PodAffinity => f.write_str("node(s) didn't match pod affinity rules"),
            Reason::PodAntiAffinity => f.write_str("node(s) didn't match pod anti-affinity rules"),
            Reason::ExistingAntiAffinity => {
                f.write_str("node(s) didn't satisfy existing pods anti-affinity rules")
            }
            Reason::Other(text) => f.write_str(text),
        }
    }
}

/// What a filter says of a node that it rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// All that is wrong.
    pub reasons: Vec<Reason>,
    /// Whether it would help to evict pods from the node (`Unschedulable` rather than
    /// `UnschedulableAndUnresolvable`).
    pub resolvable: bool,
}

impl Rejection {
    fn for_good(reason: Reason) -> Rejection {
        Rejection { reasons: vec![reason], resolvable: false }
    }
}

/// What a filter says of a node.
pub type Verdict = Result<(), Rejection>;

/// The pod for which a node is sought, read once for a decision.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// What it takes.
    pub usage: Usage,
    /// Which nodes it asks for.
    pub affinity: NodeAffinity,
    /// The nodes that it names, if it names some.
    pub named: Option<BTreeSet<Str>>,
}

impl<'a> Incoming<'a> {
    /// Reads a pod.
    pub fn of(pod: &'a Pod) -> Incoming<'a> {
        let affinity = NodeAffinity::of(&pod.spec);
        Incoming { pod, usage: Usage::of(&pod.spec), named: affinity.named(), affinity }
    }

    /// Whether `filter` comes down to `node_resources_fit` on a node that is open.
    pub fn wants_room_only(&self) -> bool {
        self.pod.spec.node_name.is_none()
            && self.named.is_none()
            && self.affinity.allows_all()
            && self.usage.ports.is_empty()
    }
}

/// All filters but PodTopologySpread and InterPodAffinity, which look at all nodes first.
pub fn filter(incoming: &Incoming<'_>, info: &NodeInfo, node: &Node) -> Verdict {
    is_named(incoming, node)?;
    node_unschedulable(incoming.pod, node)?;
    node_name(incoming.pod, node)?;
    taint_toleration(incoming.pod, node)?;
    node_affinity(&incoming.affinity, node)?;
    node_ports(&incoming.usage.ports, info)?;
    node_resources_fit(&incoming.usage.request, info)
}

/// A pod that names its nodes looks at no other; asked before any filter.
pub fn is_named(incoming: &Incoming<'_>, node: &Node) -> Verdict {
    match &incoming.named {
        Some(names) if names.is_empty() => Err(Rejection::for_good(Reason::NamesConflict)),
        Some(names) if !names.contains(&node.metadata.name) => {
            Err(Rejection::for_good(Reason::NotNamed))
        }
        _ => Ok(()),
    }
}

/// The ports of the machine that the pod takes must be free.
pub fn node_ports(ports: &[HostPort], info: &NodeInfo) -> Verdict {
    let taken = |port: &HostPort| info.ports.iter().any(|other| other.conflicts(port));
    match ports.iter().any(taken) {
        true => Err(Rejection { reasons: vec![Reason::Ports], resolvable: true }),
        false => Ok(()),
    }
}

/// A cordoned node takes only pods that tolerate it.
pub fn node_unschedulable(pod: &Pod, node: &Node) -> Verdict {
    let cordon = || taint(UNSCHEDULABLE, TaintEffect::NoSchedule);
    if node.spec.unschedulable && !is_tolerated(&pod.spec.tolerations, &cordon()) {
        return Err(Rejection::for_good(Reason::Unschedulable));
    }
    Ok(())
}

/// A pod that names a node goes there.
pub fn node_name(pod: &Pod, node: &Node) -> Verdict {
    match &pod.spec.node_name {
        Some(name) if *name != node.metadata.name => Err(Rejection::for_good(Reason::NodeName)),
        _ => Ok(()),
    }
}

/// Every taint that keeps pods away must be tolerated.
pub fn taint_toleration(pod: &Pod, node: &Node) -> Verdict {
    let mut taints = node.spec.taints.iter().filter(|taint| keeps_away(taint));
    if taints.all(|taint| is_tolerated(&pod.spec.tolerations, taint)) {
        return Ok(());
    }
    Err(Rejection::for_good(Reason::Taints))
}

/// Node selector and required node affinity must both hold.
pub fn node_affinity(affinity: &NodeAffinity, node: &Node) -> Verdict {
    if affinity.allows(node) {
        return Ok(());
    }
    Err(Rejection::for_good(Reason::Affinity))
}

/// What the pod requests must be free, and one place for a pod. What is not requested is not looked
/// at, even if the node has less than nothing of it left.
pub fn node_resources_fit(request: &Resources, info: &NodeInfo) -> Verdict {
    if has_room(request, info) {
        return Ok(());
    }
    let (has, used) = (&info.allocatable, &info.requested);
    let mut rejection = Rejection { reasons: Vec::new(), resolvable: true };
    if info.pods >= has.pods {
        rejection.reasons.push(Reason::TooManyPods);
    }
    let wanted = ["cpu", "memory", "ephemeral-storage"].map(|name| (name, request.amount(name)));
    let others = request.others.iter().map(|(name, wanted)| (&**name, *wanted));
    for (name, wanted) in wanted.into_iter().chain(others) {
        if is_short(wanted, has.amount(name), used.amount(name)) {
            rejection.reasons.push(Reason::Insufficient(name.into()));
            rejection.resolvable &= wanted <= has.amount(name);
        }
    }
    Err(rejection)
}

/// Most nodes have room for most pods, and every pod asks all of them.
fn has_room(request: &Resources, info: &NodeInfo) -> bool {
    let (has, used) = (&info.allocatable, &info.requested);
    info.pods < has.pods
        && !is_short(request.cpu_milli, has.cpu_milli, used.cpu_milli)
        && !is_short(request.memory, has.memory, used.memory)
        && !is_short(request.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage)
        && !request
            .others
            .iter()
            .any(|(name, wanted)| is_short(*wanted, has.amount(name), used.amount(name)))
}

fn is_short(wanted: i64, has: i64, used: i64) -> bool {
    wanted > 0 && wanted > has.saturating_sub(used)
}
