//! kube-scheduler: gives each pod a node (`pkg/scheduler`). Level-triggered, and the same in both
//! lanes: what it is told only updates its picture of the nodes; a decision looks at all of them.
//!
//! Its memory is what kube-scheduler keeps: the nodes with what is taken of them, the pods whose
//! binding is under way (assumed to be there until the cache shows it), the pods that found no
//! node, the pods that were promised one. Changes keep it up to date, so a decision costs a look at
//! each node and none at pods, unless some must be made to go for it.
//!
//! Left out: scheduler profiles and extenders, looking at a part of the nodes in clusters of more
//! than 100, Permit and Reserve, volumes. Here a worker is busy until its pod is bound, so there
//! are several; in Kubernetes one decides, and bindings go on beside it.

pub mod affinity;
pub mod cluster;
pub mod filters;
pub mod fit_error;
pub mod inter_pod;
pub mod nominees;
pub mod pending;
pub mod ports;
pub mod preemption;
#[cfg(test)]
mod preemption_tests;
pub mod priority;
pub mod resources;
pub mod scores;
pub mod spread;
#[cfg(test)]
mod tests;
pub mod victims;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Condition, ConditionStatus, Kind, Node, Object, ObjectKey, Pod, Str};
use crate::apiserver::{ApiError, Request, Response};
use crate::client::work_queue::Rank;
use crate::controllers::{
    Change, Context, Deed, EventNote, Fact, Finish, Intent, Plan, Woken, here,
};
use crate::kernel::Time;
use crate::kernel::stable_hash;

use cluster::Cluster;
use filters::Incoming;
use fit_error::{FitError, Unfit};
use inter_pod::InterPod;
use nominees::Nominees;
use pending::{Help, LEFT_OVER_AFTER, Pending};
use preemption::{Candidate, Outcome, preempt};
use priority::{nominate, nominated_node, priority_of};
use spread::Spread;

/// After this time a pod counts as not bound, if neither the cache nor an answer said anything.
const ASSUMED_FOR: Duration = Duration::from_secs(30);

/// The scheduler's memory, wiped when its process is killed.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    cluster: Cluster,
    pending: Pending,
    nominees: Nominees,
    /// When the picture of the cluster was last made anew.
    drawn: Time,
}

impl Scheduler {
    /// The queue holds pods. Takes a change into the picture, and says whom it wakes.
    pub fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken {
        let mut woken = Woken::default();
        match &*change.object {
            Object::Pod(pod) => self.pod_changed(change, pod, cx, &mut woken),
            Object::Node(node) => self.node_changed(change, node, cx, &mut woken),
            // Nobody is woken by it, as in Kubernetes.
            _ if change.object.kind() != Kind::Namespace => {}
            _ if change.is_deletion() => self.cluster.remove_namespace(&change.key().name),
            _ => self.cluster.put_namespace(&change.object),
        }
        woken
    }

    fn pod_changed(&mut self, change: &Change, pod: &Pod, cx: &Context<'_>, woken: &mut Woken) {
        let key = change.key();
        let gone = change.is_deletion();
        let freed =
            if gone { self.cluster.remove_pod(&key) } else { self.cluster.observe_pod(pod) };
        if gone || !awaits_scheduling(pod) {
            self.pending.forget(&key);
            self.nominees.forget(&key);
        } else if !self.pending.waits(&key) || is_news(change, pod) {
            self.pending.wake(&key, cx.now, woken);
        }
        if !gone && awaits_scheduling(pod) {
            self.nominees.observe(pod, change.before.as_deref());
        }
        if change.before.as_ref().is_some_and(|before| came_to_a_node(before, pod)) {
            self.pending.wake_all(Help::NEIGHBOURS, cx.now, woken);
        }
        if change.before.as_ref().is_some_and(|before| is_called_otherwise(before, pod)) {
            self.pending.wake_all(Help::NEIGHBOURS.and(Help::SPREAD), cx.now, woken);
        }
        if freed {
            let help = Help::RESOURCES.and(Help::SPREAD);
            self.pending.wake_all(help, cx.now, woken);
        }
    }

    fn node_changed(&mut self, change: &Change, node: &Node, cx: &Context<'_>, woken: &mut Woken) {
        if change.is_deletion() {
            return self.cluster.remove_node(&node.metadata.name);
        }
        self.cluster.put_node(&change.object);
        let before = change.before.as_ref().and_then(|before| before.as_node());
        let help = before.map_or(Help::ANY, |before| help_of(before, node));
        self.pending.wake_all(help, cx.now, woken);
    }

    /// Finds a node for the pod of this key.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let object = cx.cache.get(key);
        let Some((object, pod)) = object.and_then(|o| Some((o, o.as_pod()?))) else {
            self.pending.forget(key);
            return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
        };
        if let Some(node) = &pod.spec.node_name {
            self.pending.forget(key);
            return Plan::nothing(Fact::Word(node.clone()), Fact::Word(node.clone())).by(here!());
        }
        if !awaits_scheduling(pod) {
            return Plan::nothing(Fact::None, Fact::None).by(here!());
        }
        if pod.metadata.is_terminating() {
            return skip(object, pod).by(here!());
        }
        if let Some(left) = self.still_assumed(key, pod, cx.now) {
            let mut plan = Plan::nothing(Fact::None, Fact::None);
            plan.requeue_after = Some(left);
            return plan.by(here!());
        }
        self.schedule(key, object, pod, cx).by(here!())
    }

    /// Where a pod stands in the active queue.
    pub fn rank(&self, key: &ObjectKey, cx: &Context<'_>) -> Rank {
        self.pending.rank(key, cx.cache.pod(key).map_or(0, priority_of), cx.now)
    }

    /// What of these keys, which wait for their moment, is looked at when nothing else waits.
    pub fn comes_early<'a>(
        &self,
        waiting: impl Iterator<Item = (&'a ObjectKey, Time)>,
    ) -> Option<ObjectKey> {
        self.pending.comes_early(waiting)
    }

    /// When pods will have waited too long for a change that may help, if any wait.
    pub fn next_flush(&self) -> Option<Time> {
        self.pending.next_flush()
    }

    /// Takes the pods that have waited too long for a change that may help.
    pub fn monitor(&mut self, cx: &Context<'_>) -> Vec<ObjectKey> {
        self.pending.flush(cx.now)
    }

    /// Whether the next look at the pods that wait, whatever wakes it, would find a node for one of
    /// them, or pods to preempt.
    pub fn a_look_helps(&self, cx: &Context<'_>) -> bool {
        // A look after so long a time draws the picture again.
        let (mut cluster, nominees) = (Cluster::of(cx.cache), &self.nominees);
        cluster.take_assumed(&self.cluster, cx.cache);
        let mut tried = BTreeSet::new();
        self.pending.waiting().filter_map(|key| cx.cache.pod(key)).any(|pod| {
            // Pods of one owner differ in nothing that counts, but for a promise.
            let owner = pod.metadata.controller().map(|owner| owner.uid.clone());
            let alike = owner.map(|owner| (owner, nominated_node(pod)));
            if pod.metadata.is_terminating() || alike.is_some_and(|alike| !tried.insert(alike)) {
                return false;
            }
            let incoming = Incoming::of(pod);
            match choose(&mut cluster, nominees, &incoming, cx.seed) {
                Ok(_) => true,
                Err(unfit) => matches!(
                    preempt(&mut cluster, nominees, &incoming, &unfit, cx),
                    Outcome::Found(_)
                ),
            }
        })
    }

    /// Takes the answer to a request of a pass: a pod that could not be bound is not where it was
    /// assumed to be.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) -> Woken {
        if matches!(request, Request::Bind(..)) && response.is_err() {
            self.cluster.remove_pod(key);
        }
        Woken::default()
    }

    /// How long to wait for the cache to show that the pod is bound. After that the pod is
    /// forgotten.
    fn still_assumed(&mut self, key: &ObjectKey, pod: &Pod, now: Time) -> Option<Duration> {
        let since = self.cluster.assumed_since(key, &pod.metadata.uid)?;
        let left = (since + ASSUMED_FOR).since(now);
        if left == Duration::ZERO {
            self.cluster.remove_pod(key);
            return None;
        }
        Some(left)
    }

    fn schedule(
        &mut self,
        key: &ObjectKey,
        object: &Arc<Object>,
        pod: &Pod,
        cx: &Context<'_>,
    ) -> Plan {
        let incoming = Incoming::of(pod);
        let mut choice = choose(&mut self.cluster, &self.nominees, &incoming, cx.seed);
        if choice.is_err() && cx.now.since(self.drawn) >= LEFT_OVER_AFTER {
            self.draw_again(cx);
            choice = choose(&mut self.cluster, &self.nominees, &incoming, cx.seed);
        }
        match choice {
            Ok(choice) => {
                self.pending.forget(key);
                self.nominees.forget(key);
                self.cluster.assume(pod, incoming.usage, &choice.node, cx.now);
                bind(key, object, pod, choice)
            }
            Err(unfit) => {
                self.pending.failed(key, priority_of(pod), &unfit.error, cx.now);
                self.nominees.remember(pod);
                self.make_room(object, &incoming, &unfit, cx)
            }
        }
    }

    /// Looks for pods to preempt, and says what came of it.
    fn make_room(
        &mut self,
        object: &Arc<Object>,
        incoming: &Incoming<'_>,
        unfit: &Unfit,
        cx: &Context<'_>,
    ) -> Plan {
        let (pod, error) = (incoming.pod, &unfit.error);
        if error.nodes() == 0 {
            return unschedulable(object, pod.clone(), error, None, cx);
        }
        let mut after = pod.clone();
        match preempt(&mut self.cluster, &self.nominees, incoming, unfit, cx) {
            Outcome::NotEligible(why) => unschedulable(object, after, error, Some(why), cx),
            Outcome::Helpless(why) => {
                self.nominees.forget(&object.key());
                nominate(&mut after, None);
                unschedulable(object, after, error, Some(&why), cx)
            }
            Outcome::Found(candidate) => {
                nominate(&mut after, Some(&candidate.node));
                let mut plan = unschedulable(object, after, error, None, cx);
                self.evict(&mut plan, pod, candidate, cx);
                plan
            }
        }
    }

    fn evict(&mut self, plan: &mut Plan, pod: &Pod, candidate: Candidate, cx: &Context<'_>) {
        let outranked = self.nominees.below(&candidate.node, priority_of(pod));
        outranked.iter().for_each(|key| self.nominees.forget(key));
        self.nominees.promise(pod, &candidate.node);
        victims::evict(plan, pod, &candidate, &outranked, cx);
        plan.wants = Fact::Word(candidate.node);
    }

    /// A change that never arrived would spoil the picture for ever; now and then, when a pod finds
    /// no node, it is made anew from the cache. (Kubernetes trusts its informers.)
    fn draw_again(&mut self, cx: &Context<'_>) {
        let mut cluster = Cluster::of(cx.cache);
        cluster.take_assumed(&self.cluster, cx.cache);
        self.cluster = cluster;
        self.drawn = cx.now;
    }
}

fn came_to_a_node(before: &Object, pod: &Pod) -> bool {
    let nowhere = before.as_pod().is_some_and(|before| before.spec.node_name.is_none());
    nowhere && pod.spec.node_name.is_some()
}

/// Whether a pod on a node has other labels than it had (`UpdatePodLabel`).
fn is_called_otherwise(before: &Object, pod: &Pod) -> bool {
    pod.spec.node_name.is_some() && before.meta().labels != pod.metadata.labels
}

/// Whether this scheduler is to find a node for a pod.
fn awaits_scheduling(pod: &Pod) -> bool {
    if pod.spec.node_name.is_some() || pod.is_finished() {
        return false;
    }
    let own = pod.spec.rest.get("schedulerName");
    let own = own.and_then(|name| name.as_str()).unwrap_or_default();
    let gates = pod.spec.rest.get("schedulingGates");
    let gated = gates.and_then(|gates| gates.as_array()).is_some_and(|g| !g.is_empty());
    let ours = own.is_empty() || own == "default-scheduler";
    ours && !gated
}

/// Whether a pod that waits changed so that it may fit now. Its status does not count: the
/// scheduler writes it itself.
fn is_news(change: &Change, pod: &Pod) -> bool {
    let Some(before) = change.before.as_ref().and_then(|before| before.as_pod()) else {
        return true;
    };
    let (old, new) = (&before.metadata, &pod.metadata);
    old.uid != new.uid
        || old.labels != new.labels
        || old.deletion_timestamp != new.deletion_timestamp
        || before.spec != pod.spec
}

/// Against what a change of a node may help.
fn help_of(before: &Node, node: &Node) -> Help {
    let kinds = [
        (before.status.allocatable != node.status.allocatable, Help::RESOURCES),
        (before.metadata.labels != node.metadata.labels, Help::LABELS.and(Help::SPREAD)),
        (before.spec.taints != node.spec.taints, Help::TAINTS),
        (before.spec.unschedulable != node.spec.unschedulable, Help::TAINTS),
    ];
    let changed = kinds.into_iter().filter(|(changed, _)| *changed);
    changed.fold(Help::NONE, |all, (_, help)| all.and(help))
}

/// The node that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub node: Str,
    /// How many nodes would have done.
    pub fitting: usize,
    /// Of how many.
    pub of: usize,
}

/// Chooses the best of the nodes that fit; the node that the pod was promised, if that fits. Among
/// equals the seed and the pod decide.
pub fn choose(
    cluster: &mut Cluster,
    nominees: &Nominees,
    incoming: &Incoming<'_>,
    seed: u64,
) -> Result<Choice, Unfit> {
    if let Some(node) = promised(cluster, nominees, incoming) {
        return Ok(Choice { node, fitting: 1, of: 1 });
    }
    let spread = Spread::of(incoming.pod, &incoming.affinity, cluster);
    let neighbours = InterPod::of(incoming.pod, cluster);
    let wants_room_only = nominees.is_empty()
        && incoming.wants_room_only()
        && spread.allows_all()
        && neighbours.allow_all();
    let (mut unfit, mut fitting) = (Unfit::default(), Vec::new());
    for place in 0..cluster.nodes().len() {
        let info = &cluster.nodes()[place];
        if info.object.is_none() {
            continue;
        }
        // Most pods meet most nodes like this, and all nodes are asked for every pod.
        if wants_room_only && info.is_open {
            match filters::node_resources_fit(&incoming.usage.request, info) {
                Ok(()) => fitting.push(place),
                Err(rejection) => unfit.count(place, &rejection),
            }
            continue;
        }
        let verdict = nominees::verdict(cluster, nominees, incoming, place, |cluster| {
            let info = &cluster.nodes()[place];
            info.node().map_or(Ok(()), |node| {
                filters::filter(incoming, info, node)
                    .and_then(|()| spread.filter(node))
                    .and_then(|()| neighbours.filter(node))
            })
        });
        match verdict {
            Ok(()) => fitting.push(place),
            Err(rejection) => unfit.count(place, &rejection),
        }
    }
    best(cluster, incoming, &spread, fitting, unfit, seed)
}

/// `evaluateNominatedNode`.
fn promised(cluster: &mut Cluster, nominees: &Nominees, incoming: &Incoming<'_>) -> Option<Str> {
    let node = nominated_node(incoming.pod)?;
    let place = cluster.place_of(&node)?;
    let alone = |cluster: &Cluster| nominees::afresh(cluster, incoming, place);
    nominees::verdict(cluster, nominees, incoming, place, alone).is_ok().then_some(node)
}

fn best(
    cluster: &mut Cluster,
    incoming: &Incoming<'_>,
    spread: &Spread,
    fitting: Vec<usize>,
    unfit: Unfit,
    seed: u64,
) -> Result<Choice, Unfit> {
    let scores = match fitting.len() {
        0 => return Err(unfit),
        1 => vec![0],
        _ => scores::score(incoming, cluster, spread, &fitting),
    };
    let best = scores.iter().max();
    let equals = fitting.iter().zip(&scores).filter(|(_, score)| Some(*score) == best);
    let equals: Vec<usize> = equals.map(|(place, _)| *place).collect();
    let draw = stable_hash(seed, incoming.pod.metadata.uid.as_bytes());
    let place = equals[(draw % equals.len() as u64) as usize];
    Ok(Choice {
        node: cluster.nodes()[place].name.clone(),
        fitting: fitting.len(),
        of: fitting.len() + unfit.error.nodes(),
    })
}

fn bind(key: &ObjectKey, object: &Arc<Object>, pod: &Pod, choice: Choice) -> Plan {
    let node = choice.node;
    let seen = Fact::Of(choice.fitting as i64, choice.of as i64);
    let mut plan = Plan::nothing(seen, Fact::Word(node.clone()));
    let request = Request::Bind(key.clone(), pod.metadata.uid.clone(), node.clone());
    let mut intent = Intent::new(Deed::Bind, request);
    let full_name = format!("{}/{}", key.namespace, key.name);
    let done = format!("Successfully assigned {full_name} to {node}");
    intent.on_success = Some(EventNote::normal(object, "Scheduled", done));
    let failed = "running Bind plugin \"DefaultBinder\": {error}";
    intent.on_failure = Some(EventNote::warning(object, "FailedScheduling", failed));
    intent.tolerates = ApiError::is_not_found;
    plan.then(intent);
    plan
}

/// Writes that no node was found, with what preemption says.
fn unschedulable(
    object: &Arc<Object>,
    mut after: Pod,
    error: &FitError,
    preemption: Option<&str>,
    cx: &Context<'_>,
) -> Plan {
    let message = error.message(preemption);
    let mut plan = Plan::nothing(Fact::Of(0, error.nodes() as i64), Fact::None);
    let note = EventNote::warning(object, "FailedScheduling", message.clone());
    plan.events.push(note);
    set_unschedulable(&mut after, &message, cx);
    // Kubernetes sends a patch, which meets no conflict.
    plan.finish = Some(Finish { retries: 3, ..Finish::plain(object.clone(), after.into()) });
    plan
}

fn set_unschedulable(pod: &mut Pod, message: &str, cx: &Context<'_>) {
    let conditions = &mut pod.status.conditions;
    let index = conditions.iter().position(|c| &*c.kind == "PodScheduled");
    let index = index.unwrap_or_else(|| {
        conditions.push(Condition { kind: "PodScheduled".into(), ..Condition::default() });
        conditions.len() - 1
    });
    let condition = &mut conditions[index];
    if condition.status != ConditionStatus::False || condition.last_transition_time.is_none() {
        condition.last_transition_time = Some(cx.timestamp());
    }
    condition.status = ConditionStatus::False;
    condition.reason = Some("Unschedulable".into());
    condition.message = Some(message.into());
}

fn skip(object: &Arc<Object>, pod: &Pod) -> Plan {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let message = format!("skip schedule deleting pod: {namespace}/{name}");
    let mut plan = Plan::nothing(Fact::Gone, Fact::Gone);
    plan.events.push(EventNote::warning(object, "FailedScheduling", message));
    plan
}

/// Which kinds' changes the scheduler wants to hear of.
pub const WATCHES: [Kind; 2] = [Kind::Node, Kind::Pod];
