//! Preemption: a pod that fits nowhere looks for a node where it would fit if pods of a lower
//! priority went (`pkg/scheduler/framework/preemption`, plugin DefaultPreemption of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>). On each node that a filter
//! rejected for the sake of its pods, all lower ones are taken away in thought and brought back one
//! by one, the most important first, those whose budget would be broken before all others; what
//! does not fit any more is a victim. Of the nodes the one whose victims matter least is chosen.
//!
//! Left out: groups of pods (PodGroup), extenders, waiting pods (Permit).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Generic, Kind, LabelSelector, Object, ObjectKey, Pod, Str, Timestamp, Value};
use crate::controllers::Context;
use crate::kernel::stable_hash;

use super::cluster::{Cluster, Placement};
use super::filters::{Incoming, Reason, Rejection};
use super::fit_error::{FitError, Unfit, sentence};
use super::nominees::{Nominees, afresh, verdict};
use super::priority::{may_preempt, nominated_node, priority_of};
use super::victims::is_going_for_another;

/// So many nodes with victims are enough to choose from (`minCandidateNodesAbsolute`)...
const CANDIDATES_MIN: usize = 100;
/// ...or this part of those that may have some (`minCandidateNodesPercentage`).
const CANDIDATES_PERCENT: usize = 10;

const NO_VICTIMS: &str = "No preemption victims found for incoming pod";
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";
const POLICY_NEVER: &str = "not eligible due to preemptionPolicy=Never.";
const STILL_GOING: &str = "not eligible due to a terminating pod on the nominated node.";

/// A pod that would have to go.
#[derive(Clone, Debug)]
pub struct Victim {
    /// As the scheduler knows it.
    pub object: Arc<Object>,
    priority: i64,
    /// When it started; one that has not yet, now.
    started: Timestamp,
}

/// A node, and who would have to go from it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The node.
    pub node: Str,
    /// The most important first; at least one.
    pub victims: Vec<Victim>,
    /// How many of them a budget protects.
    violations: usize,
}

/// What became of the search.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The pod may not, or must wait for those that go already; in Kubernetes' words.
    NotEligible(&'static str),
    /// Nobody's going would help; in Kubernetes' words, node by node.
    Helpless(String),
    /// These must go.
    Found(Candidate),
}

/// Looks for victims for a pod that fits nowhere.
pub fn preempt(
    cluster: &mut Cluster,
    nominees: &Nominees,
    incoming: &Incoming<'_>,
    unfit: &Unfit,
    cx: &Context<'_>,
) -> Outcome {
    if let Some(why) = not_eligible(cluster, incoming.pod, unfit, cx) {
        return Outcome::NotEligible(why);
    }
    match dry_run(cluster, nominees, incoming, unfit, cx) {
        Ok(candidates) => candidates.into_iter().min_by_key(weight).map_or_else(
            || Outcome::Helpless(helpless(&unfit.error, BTreeMap::new())),
            Outcome::Found,
        ),
        Err(reasons) => Outcome::Helpless(helpless(&unfit.error, reasons)),
    }
}

/// `PodEligibleToPreemptOthers`: one that has made pods go waits for them, unless its node got
/// worse.
fn not_eligible(
    cluster: &Cluster,
    pod: &Pod,
    unfit: &Unfit,
    cx: &Context<'_>,
) -> Option<&'static str> {
    if !may_preempt(pod) {
        return Some(POLICY_NEVER);
    }
    let node = nominated_node(pod)?;
    if !cluster.place_of(&node).is_some_and(|place| unfit.candidates.contains(&place)) {
        return None;
    }
    let lower = cluster.below(priority_of(pod)).remove(&node).unwrap_or_default();
    let mut lower = lower.iter().filter_map(|key| cx.cache.pod(key));
    lower.any(is_going_for_another).then_some(STILL_GOING)
}

/// Tries the nodes one by one, from one that the pod and the seed choose. Without a candidate: the
/// reasons, with the number of nodes that gave each.
fn dry_run(
    cluster: &mut Cluster,
    nominees: &Nominees,
    incoming: &Incoming<'_>,
    unfit: &Unfit,
    cx: &Context<'_>,
) -> Result<Vec<Candidate>, BTreeMap<Reason, usize>> {
    let places = &unfit.candidates;
    let enough = (places.len() * CANDIDATES_PERCENT / 100).max(CANDIDATES_MIN);
    let draw = stable_hash(cx.seed, format!("preempt/{}", incoming.pod.metadata.uid).as_bytes());
    let first = draw as usize % places.len().max(1);
    let mut lower = cluster.below(priority_of(incoming.pod));
    let budgets = Budgets::of(cx);
    let (mut peaceful, mut violating, mut reasons) = (Vec::new(), Vec::new(), BTreeMap::new());
    for place in places[first..].iter().chain(&places[..first]) {
        let node = cluster.nodes()[*place].name.clone();
        let lower = lower.remove(&node).unwrap_or_default();
        let lower = lower.iter().filter_map(|key| Victim::of(key, cx)).collect();
        match select_victims(cluster, nominees, incoming, *place, lower, &budgets) {
            Ok((victims, 0)) => peaceful.push(Candidate { node, victims, violations: 0 }),
            Ok((victims, violations)) => violating.push(Candidate { node, victims, violations }),
            Err(rejection) => {
                for reason in rejection.reasons {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
        }
        if !peaceful.is_empty() && peaceful.len() + violating.len() >= enough {
            break;
        }
    }
    peaceful.append(&mut violating);
    if peaceful.is_empty() { Err(reasons) } else { Ok(peaceful) }
}

/// `SelectVictimsOnNode`: the victims on one node, and how many of them a budget protects. The
/// cluster is afterwards as before.
fn select_victims(
    cluster: &mut Cluster,
    nominees: &Nominees,
    incoming: &Incoming<'_>,
    place: usize,
    mut lower: Vec<Victim>,
    budgets: &Budgets<'_>,
) -> Result<(Vec<Victim>, usize), Rejection> {
    if lower.is_empty() {
        let reasons = vec![Reason::Other(NO_VICTIMS.into())];
        return Err(Rejection { reasons, resolvable: false });
    }
    lower.sort_by_key(Victim::rank);
    let mut out = taken_out(cluster, &lower);
    let fits = |cluster: &mut Cluster| {
        verdict(cluster, nominees, incoming, place, |cluster| afresh(cluster, incoming, place))
    };
    let empty = fits(cluster);
    let (protected, free) = budgets.split(lower);
    let count = if empty.is_ok() { protected.len() } else { 0 };
    let (mut victims, mut violations) = (Vec::new(), 0);
    let both = protected.into_iter().chain(free).filter(|_| empty.is_ok());
    for (number, victim) in both.enumerate() {
        let key = victim.object.key();
        let Some(placement) = out.remove(&key) else { continue };
        cluster.put_back(key.clone(), placement);
        if fits(cluster).is_err() {
            out.extend(cluster.take_out(&key).map(|placement| (key, placement)));
            violations += usize::from(number < count);
            victims.push(victim);
        }
    }
    out.into_iter().for_each(|(key, placement)| cluster.put_back(key, placement));
    empty?;
    victims.sort_by_key(Victim::rank);
    Ok((victims, violations))
}

fn taken_out(cluster: &mut Cluster, pods: &[Victim]) -> BTreeMap<ObjectKey, Placement> {
    let keys = pods.iter().map(|pod| pod.object.key());
    keys.filter_map(|key| cluster.take_out(&key).map(|placement| (key, placement))).collect()
}

/// `pickOneNodeForPreemption`: the least of these is the best; among equals the first.
fn weight(candidate: &Candidate) -> (usize, i64, i64, usize, Reverse<Timestamp>) {
    let highest = candidate.victims.iter().map(|victim| victim.priority).max().unwrap_or(0);
    // Of two negative priorities, too, fewer are better.
    let sum = candidate.victims.iter().map(|victim| victim.priority + (1 << 31)).sum();
    let highest_ones = candidate.victims.iter().filter(|victim| victim.priority == highest);
    let earliest = highest_ones.map(|victim| victim.started).min().unwrap_or_default();
    (candidate.violations, highest, sum, candidate.victims.len(), Reverse(earliest))
}

fn helpless(error: &FitError, mut reasons: BTreeMap<Reason, usize>) -> String {
    let others = error.nodes() - error.resolvable();
    if others > 0 {
        reasons.insert(Reason::Other(NOT_HELPFUL.into()), others);
    }
    sentence(error.nodes(), &reasons, None, None)
}

impl Victim {
    fn of(key: &ObjectKey, cx: &Context<'_>) -> Option<Victim> {
        let object = cx.cache.get(key)?.clone();
        let pod = object.as_pod()?;
        let (priority, started) = (priority_of(pod), pod.status.start_time);
        Some(Victim { started: started.unwrap_or(cx.timestamp()), priority, object })
    }

    /// The most important first: the highest priority, then the longest running.
    fn rank(&self) -> (Reverse<i64>, Timestamp) {
        (Reverse(self.priority), self.started)
    }
}

/// A budget, as the scheduler knows it.
struct Budget<'a> {
    about: &'a Generic,
    selector: LabelSelector,
    allowed: i64,
}

/// The budgets that the scheduler knows of, read once for a search.
struct Budgets<'a>(Vec<Budget<'a>>);

impl<'a> Budgets<'a> {
    fn of(cx: &Context<'a>) -> Budgets<'a> {
        let all = cx.cache.all(Kind::PodDisruptionBudget).filter_map(|object| object.as_generic());
        let read = |about: &'a Generic| {
            let selector: LabelSelector = about.typed("spec/selector")?;
            let allowed = about.whole_number("status/disruptionsAllowed").unwrap_or(0);
            // To the scheduler an empty selector selects nothing.
            (!selector.is_empty()).then_some(Budget { about, selector, allowed })
        };
        Budgets(all.filter_map(read).collect())
    }

    /// Those whose going a budget does not allow, and the others (`filterPodsWithPDBViolation`).
    fn split(&self, pods: Vec<Victim>) -> (Vec<Victim>, Vec<Victim>) {
        let mut left: Vec<i64> = self.0.iter().map(|budget| budget.allowed).collect();
        pods.into_iter().partition(|victim| {
            let Some(pod) = victim.object.as_pod() else { return false };
            let mut is_protected = false;
            for (budget, left) in self.0.iter().zip(&mut left) {
                if budget.counts(pod) {
                    *left -= 1;
                    is_protected |= *left < 0;
                }
            }
            is_protected
        })
    }
}

impl Budget<'_> {
    /// Whether the pod's going would take of it. That of one whose going the server has counted
    /// already does not.
    fn counts(&self, pod: &Pod) -> bool {
        let booked = || self.about.field("status/disruptedPods").and_then(Value::as_object);
        let name = &*pod.metadata.name;
        self.about.metadata.namespace == pod.metadata.namespace
            && !pod.metadata.labels.is_empty()
            && self.selector.matches(&pod.metadata.labels)
            && !booked().is_some_and(|booked| booked.contains_key(name))
    }
}
