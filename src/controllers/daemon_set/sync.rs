//! One look at a DaemonSet (`syncDaemonSet`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Generic, Kind, LabelSelector, Node, Object, ObjectKey, Pod, PodPhase, Str};
use crate::apiserver::Request;
use crate::controllers::owned::{
    Owner, REVISION_LABEL, Reach, Revisions, claim, create, delete, path_of, pod_of, pod_wakes,
    write_status,
};
use crate::controllers::replica_set::{BURST, SLOW_START, slow_start, status::available_at};
use crate::controllers::{Change, Context, EventNote, Fact, Finish, Plan, Promise, Woken, here};

use super::nodes::{aim_at, should_run, target};
use super::rolling::{self, Limits};
use super::set_view::DaemonSpec;

const REACH: Reach = Reach { kind: Kind::DaemonSet, selects, collects: Duration::ZERO };

/// Which sets a change wakes. A node may concern all of them.
pub fn wakes(change: &Change, cx: &Context<'_>) -> Woken {
    match (change.object.kind(), &*change.object) {
        (Kind::DaemonSet, object) => {
            let uid = &object.meta().uid;
            let replaced = change.before.as_ref().is_some_and(|b| b.meta().uid != *uid);
            let forgotten = (change.is_deletion() || replaced).then(|| change.key());
            let forgotten = forgotten.into_iter().collect();
            Woken { keys: vec![change.key()], forgotten, ..Woken::default() }
        }
        (_, Object::Node(node)) => {
            let before = change.before.as_ref().and_then(|before| before.as_node());
            let is_same = before.is_some_and(|before| {
                before.metadata.labels == node.metadata.labels && before.spec == node.spec
            });
            if is_same && !change.is_deletion() {
                return Woken::default();
            }
            let sets = cx.cache.all(Kind::DaemonSet);
            Woken { keys: sets.map(|set| set.key()).collect(), ..Woken::default() }
        }
        _ => pod_wakes(change, cx, REACH),
    }
}

fn selects(set: &Generic, pod: &Pod) -> bool {
    let selector: LabelSelector = set.spec().read("selector");
    !selector.is_empty() && selector.matches(&pod.metadata.labels)
}

/// A pass over one set.
struct Pass<'a> {
    object: &'a Arc<Object>,
    spec: DaemonSpec,
    revisions: Revisions<'a>,
    nodes: Vec<&'a Node>,
    by_node: BTreeMap<Str, Vec<&'a Pod>>,
    plan: Plan,
    cx: Context<'a>,
}

/// Decides what to do about the DaemonSet of this key.
pub fn sync(key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let Some(set) = object.as_generic() else { return Plan::default() };
    if object.meta().is_terminating() {
        return Plan::nothing(Fact::None, Fact::Gone).by(here!());
    }
    let spec = DaemonSpec::of(set);
    let owner = Owner { object, selector: &spec.selector, finalizer: None };
    let claim = claim(owner, cx.cache, |_| true);
    let mut revisions = Revisions::of(object, cx.cache);
    let mut by_node: BTreeMap<Str, Vec<&Pod>> = BTreeMap::new();
    for pod in claim.pods {
        by_node.entry(target(pod).unwrap_or_default()).or_default().push(pod);
    }
    for pods in by_node.values_mut() {
        pods.sort_by_key(|pod| (pod.metadata.creation_timestamp, pod.metadata.name.clone()));
    }
    let batches: Vec<_> =
        claim.batches.into_iter().chain(std::mem::take(&mut revisions.batches)).collect();
    let plan = Plan { preparations: batches.len(), batches, ..Plan::default() };
    let nodes = cx.cache.all(Kind::Node).filter_map(|node| node.as_node()).collect();
    let mut pass = Pass { object, spec, revisions, nodes, by_node, plan, cx: *cx };
    if cx.promises_kept {
        pass.plan.trail.push(here!());
        pass.manage();
    }
    pass.finish()
}

impl<'a> Pass<'a> {
    /// Pods for nodes that lack one; and those go that are too many, ended or misplaced.
    fn manage(&mut self) {
        let (mut missing, mut doomed) = (Vec::new(), Vec::new());
        let mut known = BTreeSet::new();
        for node in self.nodes.clone() {
            let name = &node.metadata.name;
            known.insert(name.clone());
            let pods = self.by_node.get(name).cloned().unwrap_or_default();
            let (runs, goes_on) = should_run(&self.spec.template.spec, node);
            if runs && pods.is_empty() {
                missing.push(name.clone());
            } else if goes_on {
                doomed.extend(self.surplus(node, &pods));
            } else {
                doomed.extend(pods);
            }
        }
        // Pods without a node that is there: the node is gone.
        let lost = self.by_node.iter().filter(|(node, _)| !known.contains(*node));
        doomed.extend(
            lost.flat_map(|(_, pods)| pods.iter().copied())
                .filter(|pod| pod.spec.node_name.is_none()),
        );
        doomed.retain(|pod| !pod.metadata.is_terminating());
        if missing.is_empty() && doomed.is_empty() && !self.spec.on_delete {
            let (old, more) = rolling::step(&self.pairs(), self.limits());
            doomed = old;
            missing = more;
        }
        self.act(missing, doomed);
    }

    fn pairs(&self) -> BTreeMap<Str, rolling::Pair<'a>> {
        rolling::pairs(&self.by_node, &self.revisions.hash)
    }

    /// Of the pods of a node: those that have ended, and all but the oldest of the others.
    fn surplus(&mut self, node: &Node, pods: &[&'a Pod]) -> Vec<&'a Pod> {
        let (mut doomed, mut running) = (Vec::new(), Vec::new());
        for pod in pods.iter().filter(|pod| !pod.metadata.is_terminating()) {
            let meta = &pod.metadata;
            let of = format!("{}/{} on node {}", meta.namespace, meta.name, node.metadata.name);
            match pod.status.phase {
                Some(PodPhase::Failed) => {
                    let text = format!("Found failed daemon pod {of}, will try to kill it");
                    let note = EventNote::warning(self.object, "FailedDaemonPod", text);
                    self.plan.events.push(note);
                    doomed.push(*pod);
                }
                Some(PodPhase::Succeeded) => {
                    let text = format!("Found succeeded daemon pod {of}, will try to delete it");
                    let note = EventNote::normal(self.object, "SucceededDaemonPod", text);
                    self.plan.events.push(note);
                    doomed.push(*pod);
                }
                _ => running.push(*pod),
            }
        }
        let hash = &self.revisions.hash;
        let is_new = |pod: &&Pod| pod.metadata.labels.get(REVISION_LABEL) == Some(hash);
        if self.limits().surge > 0 {
            // One of each revision may stand side by side.
            let (new, old): (Vec<&Pod>, Vec<&Pod>) = running.into_iter().partition(is_new);
            doomed.extend(new.into_iter().skip(1).chain(old.into_iter().skip(1)));
        } else {
            doomed.extend(running.into_iter().skip(1));
        }
        doomed
    }

    fn desired(&self) -> usize {
        let runs = |node: &&&Node| should_run(&self.spec.template.spec, node).0;
        self.nodes.iter().filter(runs).count()
    }

    fn limits(&self) -> Limits {
        let all = i32::try_from(self.desired()).unwrap_or(i32::MAX);
        let of = |value: &crate::api::IntOrString| {
            let scaled = value.scaled(all, true).unwrap_or(0);
            usize::try_from(scaled).unwrap_or(0)
        };
        let (mut unavailable, surge) = (of(&self.spec.max_unavailable), of(&self.spec.max_surge));
        if unavailable == 0 && surge == 0 {
            unavailable = 1;
        }
        Limits {
            unavailable,
            surge,
            min_ready_seconds: self.spec.min_ready_seconds,
            now: self.cx.timestamp(),
        }
    }

    fn act(&mut self, mut missing: Vec<Str>, mut doomed: Vec<&Pod>) {
        missing.truncate(BURST);
        doomed.truncate(BURST);
        if !missing.is_empty() {
            self.plan.promise = Some(Promise::Creations(missing.len() as u32));
            for size in slow_start(missing.len(), SLOW_START) {
                let rest = missing.split_off(size);
                let batch = missing.iter().map(|node| create(self.object, self.new_pod(node)));
                self.plan.batches.push(batch.collect());
                missing = rest;
            }
        } else if !doomed.is_empty() {
            let paths = doomed.iter().map(|pod| path_of(pod)).collect();
            self.plan.promise = Some(Promise::Deletions(paths));
            let batch = doomed.iter().map(|pod| delete(self.object, pod)).collect();
            self.plan.batches.push(batch);
        }
    }

    fn new_pod(&self, node: &str) -> Pod {
        let mut pod = pod_of(&self.spec.template, self.object);
        pod.metadata.generate_name = Some(format!("{}-", self.object.meta().name).into());
        pod.metadata.labels.insert(REVISION_LABEL.into(), self.revisions.hash.clone());
        pod.metadata
            .labels
            .insert("pod-template-generation".into(), self.template_generation().into());
        aim_at(&mut pod.spec, node);
        pod
    }

    fn template_generation(&self) -> String {
        let annotations = &self.object.meta().annotations;
        let noted = annotations.get("deprecated.daemonset.template.generation");
        noted.map_or_else(|| "1".into(), |noted| noted.to_string())
    }

    fn finish(mut self) -> Plan {
        let status = self.status();
        self.plan.sees = Fact::Count(status["currentNumberScheduled"].as_i64().unwrap_or(0));
        self.plan.wants = Fact::Count(status["desiredNumberScheduled"].as_i64().unwrap_or(0));
        let hashes: BTreeSet<&Str> = self
            .by_node
            .values()
            .flatten()
            .filter_map(|pod| pod.metadata.labels.get(REVISION_LABEL))
            .collect();
        let is_live = |found: &Generic| {
            found.metadata.labels.get(REVISION_LABEL).is_some_and(|hash| hashes.contains(hash))
        };
        let spent = self.revisions.truncate(is_live, self.spec.history_limit);
        if !spent.is_empty() {
            self.plan.batches.push(spent);
        }
        if let Some(Request::Update(_, after)) = write_status(self.object, status) {
            self.plan.finish = Some(Finish::plain(self.object.clone(), Object::clone(&after)));
        }
        self.plan
    }

    /// Of each node the oldest pod counts.
    fn status(&mut self) -> Value {
        let (now, seconds) = (self.cx.timestamp(), self.spec.min_ready_seconds);
        let mut count = [0_i64; 6];
        let [desired, current, misplaced, ready, available, updated] = &mut count;
        for node in &self.nodes {
            let pods = self.by_node.get(&node.metadata.name);
            let oldest = pods.and_then(|pods| pods.first());
            if !should_run(&self.spec.template.spec, node).0 {
                *misplaced += i64::from(oldest.is_some());
                continue;
            }
            *desired += 1;
            let Some(pod) = oldest else { continue };
            *current += 1;
            *ready += i64::from(pod.is_ready());
            *available += i64::from(pod.is_available(seconds, now));
            let hash = pod.metadata.labels.get(REVISION_LABEL);
            *updated += i64::from(hash == Some(&self.revisions.hash));
            if pod.is_ready() && !pod.is_available(seconds, now) {
                let wait = available_at(pod, seconds).map(|at| at.since(self.cx.now));
                self.plan.requeue_after = self.plan.requeue_after.into_iter().chain(wait).min();
            }
        }
        let mut status = json!({
            "currentNumberScheduled": *current,
            "desiredNumberScheduled": *desired,
            "numberMisscheduled": *misplaced,
            "numberReady": *ready,
            "observedGeneration": self.object.meta().generation,
        });
        let optional = [
            ("updatedNumberScheduled", *updated),
            ("numberAvailable", *available),
            ("numberUnavailable", *desired - *available),
        ];
        for (name, number) in optional.into_iter().filter(|(_, number)| *number != 0) {
            status[name] = number.into();
        }
        status
    }
}
