//! Which of the fitting nodes is best (`pkg/scheduler/framework/plugins`): each score is 0 to 100
//! and has its weight in the default profile. Left out: ImageLocality.

use crate::api::{Node, Pod, TaintEffect};
use crate::controllers::taints::is_tolerated;

use super::cluster::{Cluster, NodeInfo};
use super::filters::Incoming;
use super::inter_pod::Likes;
use super::resources::Usage;
use super::spread::Spread;

const MOST: i64 = 100;
const TAINTS_WEIGHT: i64 = 3;
const AFFINITY_WEIGHT: i64 = 2;
const SPREAD_WEIGHT: i64 = 2;
const NEIGHBOURS_WEIGHT: i64 = 2;

/// How much of one resource a node has, and how much of it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// What there is.
    pub allocatable: i64,
    /// What is taken, without the pod for which a node is sought.
    pub used: i64,
    /// What that pod would take.
    pub wanted: i64,
    /// How much the resource weighs against others; only for LeastAllocated.
    pub weight: i64,
}

/// The sum of the weighed scores of each fitting node, given by their places in the cluster. A
/// plugin that gives all nodes the same is left out: that decides nothing.
pub fn score(
    incoming: &Incoming<'_>,
    cluster: &mut Cluster,
    spread: &Spread,
    fitting: &[usize],
) -> Vec<i64> {
    let mut total = cluster.least_allocated(fitting, &incoming.usage);
    let cluster = &*cluster;
    let infos = || fitting.iter().map(|place| &cluster.nodes()[*place]);
    let mut add = |scores: Vec<i64>, weight: i64| {
        for (total, score) in total.iter_mut().zip(scores) {
            *total += score * weight;
        }
    };
    let shares = |info| requested(&incoming.usage, info);
    // The pod wants the same of each node.
    if infos().next().is_some_and(|info| !is_best_effort(&shares(info))) {
        add(infos().map(|info| balanced_allocation(&shares(info))).collect(), 1);
    }
    if !infos().all(|info| info.is_open) {
        let bad = infos().map(|info| info.node().map_or(0, |n| untolerated(incoming.pod, n)));
        add(taint_toleration(&bad.collect::<Vec<_>>()), TAINTS_WEIGHT);
    }
    if incoming.affinity.prefers_some() {
        let liked = |node| incoming.affinity.preference(node);
        let liked = infos().map(|info| info.node().map_or(0, liked));
        add(node_affinity(&liked.collect::<Vec<_>>()), AFFINITY_WEIGHT);
    }
    if spread.scores() {
        add(spread.score(cluster, fitting), SPREAD_WEIGHT);
    }
    let neighbours = Likes::of(incoming.pod, cluster);
    if neighbours.scores() {
        let nodes: Vec<_> = infos().map(|info| info.node()).collect();
        add(neighbours.score(&nodes), NEIGHBOURS_WEIGHT);
    }
    total
}

/// Cpu and memory as LeastAllocated sees them: containers without requests count by default.
pub(super) fn scored(usage: &Usage, info: &NodeInfo) -> [Share; 2] {
    let share = |allocatable, used, wanted| Share { allocatable, used, wanted, weight: 1 };
    let has = &info.allocatable;
    let (cpu, memory) = (usage.scored_cpu_milli, usage.scored_memory);
    [
        share(has.cpu_milli, info.scored_cpu_milli, cpu),
        share(has.memory, info.scored_memory, memory),
    ]
}

/// Cpu and memory as BalancedAllocation sees them: what is requested.
fn requested(usage: &Usage, info: &NodeInfo) -> [Share; 2] {
    let share = |allocatable, used, wanted| Share { allocatable, used, wanted, weight: 1 };
    let (has, used, wanted) = (&info.allocatable, &info.requested, &usage.request);
    [
        share(has.cpu_milli, used.cpu_milli, wanted.cpu_milli),
        share(has.memory, used.memory, wanted.memory),
    ]
}

/// The more is left, the better. A resource that the node does not have does not count.
pub fn least_allocated(shares: &[Share]) -> i64 {
    let (mut sum, mut weights) = (0, 0);
    for share in shares.iter().filter(|share| share.allocatable != 0) {
        let left = share.allocatable - share.used - share.wanted;
        let score = if left < 0 { 0 } else { percent(left, share) };
        sum += score * share.weight;
        weights += share.weight;
    }
    if weights == 0 { 0 } else { sum / weights }
}

/// Of very large amounts (exbibytes) a hundredfold does not fit into 64 bits.
fn percent(left: i64, share: &Share) -> i64 {
    match left.checked_mul(MOST) {
        Some(product) => product / share.allocatable,
        None => left / (share.allocatable / MOST).max(1),
    }
}

/// Whether the pod asks for none of these resources. BalancedAllocation has no say about such a
/// pod.
pub fn is_best_effort(shares: &[Share]) -> bool {
    shares.iter().all(|share| share.wanted == 0)
}

/// What the pod does to the balance between the resources (since v1.36): 75 if nothing, 100 if it
/// balances a node that could not be less balanced.
pub fn balanced_allocation(shares: &[Share]) -> i64 {
    let (without, with) = (balance(shares, false), balance(shares, true));
    50 + (50 + with - without) / 2
}

/// 100 if the same part of every resource is taken.
fn balance(shares: &[Share], with_pod: bool) -> i64 {
    let fraction = |share: &Share| {
        let used = share.used + if with_pod { share.wanted } else { 0 };
        (used as f64 / share.allocatable as f64).min(1.0)
    };
    let parts = shares.iter().filter(|share| share.allocatable != 0);
    ((1.0 - deviation(parts.map(fraction))) * MOST as f64) as i64
}

/// The standard deviation. The square root is exact by IEEE 754, so the same everywhere.
fn deviation(parts: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = parts.clone().count();
    let mut pair = parts.clone();
    match (count, pair.next(), pair.next()) {
        (2, Some(one), Some(other)) => (one - other).abs() / 2.0,
        (0 | 1, ..) => 0.0,
        _ => {
            let mean = parts.clone().sum::<f64>() / count as f64;
            let squares: f64 = parts.map(|part| (part - mean) * (part - mean)).sum();
            (squares / count as f64).sqrt()
        }
    }
}

/// How many of a node's mild taints a pod does not tolerate.
pub fn untolerated(pod: &Pod, node: &Node) -> i64 {
    let mild = |effect| effect == TaintEffect::PreferNoSchedule;
    let about_mild = |t: &&crate::api::Toleration| t.effect.is_none_or(mild);
    let mut tolerations = None;
    let mut count = 0;
    for taint in node.spec.taints.iter().filter(|taint| mild(taint.effect)) {
        let bearing: &Vec<_> = tolerations.get_or_insert_with(|| {
            pod.spec.tolerations.iter().filter(about_mild).cloned().collect()
        });
        count += i64::from(!is_tolerated(bearing, taint));
    }
    count
}

/// The scores from how many mild taints of each node are not tolerated.
pub fn taint_toleration(untolerated: &[i64]) -> Vec<i64> {
    let most = untolerated.iter().copied().max().unwrap_or(0);
    let score = |own: &i64| match most {
        0 => MOST,
        _ => MOST - MOST * own / most,
    };
    untolerated.iter().map(score).collect()
}

/// The scores from the weight of the preferences that each node fulfils.
pub fn node_affinity(preferences: &[i64]) -> Vec<i64> {
    let most = preferences.iter().copied().max().unwrap_or(0);
    let score = |own: &i64| match most {
        0 => 0,
        _ => MOST * own / most,
    };
    preferences.iter().map(score).collect()
}
