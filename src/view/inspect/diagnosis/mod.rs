//! Why an object is not as it should be: a walk from what is wanted to what there is, which notes
//! where each part of it stopped. It reads the truth of the lane, the processes and the story of
//! the run; nothing is guessed, and what would change a finding agrees with the lane's verdict.

mod loops;
mod pod;
mod requests;
mod steps;
pub(super) mod workload;

use std::cell::OnceCell;

use crate::api::{Condition, Generic, Kind, Node, Object, ObjectKey, Str};
use crate::controllers::order::object::is_order;
use crate::kernel::Time;
use crate::scenario::Run;
use crate::world::{ControllerId, Lane, LaneId, Verdict, World};

use super::finding::{ChainStep, Evidence, Finding, Next, Step, What, Why};
use super::notes::{condition, conditions_of, last_warning};
use loops::Lost;

/// Findings that are told at most.
const FINDINGS_MAX: usize = 12;

/// What keeps an object from being as it should be, in the order of the chain; and the chain.
pub fn of(run: &Run, lane: LaneId, key: &ObjectKey) -> (Vec<Finding>, Vec<ChainStep>) {
    let Some(found) = run.lane(lane) else { return Default::default() };
    let Some(object) = found.world.store().get(key) else { return Default::default() };
    let (verdict, lost) = (run.verdict(lane), OnceCell::new());
    let mut walk = Walk { run, lane: found, verdict, found: Vec::new(), lost };
    walk.object(object);
    let mut findings = walk.found;
    findings.sort_by_key(|finding| finding.step);
    findings.truncate(FINDINGS_MAX);
    let steps = steps::of(&found.world, object, &findings);
    (findings, steps)
}

/// A walk through one lane.
struct Walk<'a> {
    run: &'a Run,
    lane: &'a Lane,
    verdict: Verdict,
    found: Vec<Finding>,
    /// What never woke its loop, newest first, once it was asked for.
    lost: OnceCell<Vec<Lost<'a>>>,
}

impl<'a> Walk<'a> {
    fn world(&self) -> &'a World {
        &self.lane.world
    }

    fn now(&self) -> Time {
        self.world().now()
    }

    fn object(&mut self, object: &Object) {
        if !object.kind().info().simulated && !is_order(object.kind()) {
            let next = Next::ByHand;
            return self
                .note(Finding { next, ..self.of(object, Step::Controller, What::NotSimulated) });
        }
        if object.meta().is_terminating() {
            return self.terminating(object);
        }
        match object {
            Object::Deployment(deployment) => self.deployment(object, deployment),
            Object::ReplicaSet(set) => self.replica_set(object, set),
            Object::Pod(pod) => self.pod(object, pod),
            Object::Node(node) => self.node(object, node),
            Object::Generic(generic) => self.generic(object, generic),
            Object::Event(_) | Object::Lease(_) => {}
        }
    }

    fn generic(&mut self, object: &Object, generic: &Generic) {
        match generic.kind {
            Kind::StatefulSet | Kind::DaemonSet => self.set_of_pods(object, generic),
            Kind::Job => self.job(object, generic),
            Kind::HorizontalPodAutoscaler => self.autoscaler(object),
            Kind::Application => {
                self.told_by_verdict(object, What::OutOfSync, ControllerId::GitOps);
            }
            kind if is_order(kind) => {
                self.told_by_verdict(object, What::OrderBehind, ControllerId::Order);
            }
            Kind::CronJob if generic.spec().flag("suspend") => {
                let next = Next::ByHand;
                self.note(Finding { next, ..self.of(object, Step::Controller, What::Suspended) });
            }
            _ => self.conditions(object),
        }
    }

    /// A kind without rules of its own: a condition called Ready or Available that is not True.
    fn conditions(&mut self, object: &Object) {
        let conditions = conditions_of(object);
        for kind in ["Ready", "Available"] {
            let Some(held) = Condition::find(&conditions, kind) else { continue };
            if !Condition::holds(&conditions, kind) {
                let reason = held.reason.clone().unwrap_or_else(|| "".into());
                let what = What::Condition { kind: kind.into(), reason };
                self.note(self.of(object, Step::Controller, what));
            }
        }
    }

    fn autoscaler(&mut self, object: &Object) {
        let conditions = conditions_of(object);
        let reason_of = |kind: &str| {
            let found = Condition::find(&conditions, kind)?;
            let broken = found.status == crate::api::ConditionStatus::False;
            // Somebody asked for no pods: that switches it off.
            let reason = found.reason.clone().unwrap_or_else(|| "".into());
            (broken && *reason != *"ScalingDisabled").then_some(reason)
        };
        if let Some(reason) = reason_of("AbleToScale") {
            let finding = self.of(object, Step::Controller, What::CannotScale { reason });
            self.note(with_condition(finding, object, "AbleToScale"));
        } else if let Some(reason) = reason_of("ScalingActive") {
            let finding = self.of(object, Step::Controller, What::NoMetrics { reason });
            self.note(with_condition(finding, object, "ScalingActive"));
        } else if let Some((want, have)) = self.short(object) {
            let finding = self.of(object, Step::Controller, What::ShouldScale { want, have });
            let finding = self.with_reason(finding, ControllerId::HorizontalAutoscaler);
            self.note(finding);
        }
    }

    /// What only the lane's verdict knows, and the loop whose work it is.
    fn told_by_verdict(&mut self, object: &Object, what: What, id: ControllerId) {
        if self.short(object).is_some() {
            let finding = self.of(object, Step::Controller, what);
            let finding = self.with_reason(finding, id);
            self.note(finding);
        }
    }

    /// What the lane's verdict says of an object: what is wanted, and what there is.
    fn short(&self, object: &Object) -> Option<(i64, i64)> {
        let mut short = self.world().shortfalls().into_iter();
        let key = object.key();
        short.find(|short| short.object == key).map(|short| (short.want, short.have))
    }

    fn node(&mut self, object: &Object, node: &Node) {
        if let Some(what) = self.node_trouble(&node.metadata.name) {
            return self.note(with_condition(
                self.of(object, Step::Kubelet, what),
                object,
                "Ready",
            ));
        }
        if !Condition::holds(&node.status.conditions, "Ready") {
            let finding = self.of(object, Step::Kubelet, What::NodeNotReady);
            self.note(with_condition(finding, object, "Ready"));
        }
    }

    /// What keeps a machine from doing what it is told, if anything does.
    fn node_trouble(&self, name: &Str) -> Option<What> {
        let world = self.world();
        let number = world.node_number(name)?;
        let node = name.clone();
        let id = ControllerId::Kubelet(number);
        if !world.kubelets().get(usize::from(number))?.is_powered() {
            return Some(What::NodeOff { node });
        }
        if !world.is_connected(number) {
            return Some(What::NodeCut { node });
        }
        let alive = world.process(id).is_some_and(|process| process.alive);
        (!alive).then_some(What::KubeletDown { node })
    }

    /// An object on its way out.
    fn terminating(&mut self, object: &Object) {
        let meta = object.meta();
        let node = object.as_pod().and_then(|pod| pod.spec.node_name.clone());
        if let Some(what) = node.as_ref().and_then(|node| self.node_trouble(node)) {
            return self.note(self.of(object, Step::Kubelet, what));
        }
        let ends = meta.deletion_timestamp.map(|at| at.to_time());
        if let Some(until) = ends.filter(|until| *until > self.now()) {
            let mut finding = self.of(object, Step::Kubelet, What::Grace { until });
            if finding.next != Next::Never {
                finding.next = Next::Retry(until);
            }
            return self.note(finding);
        }
        let mut names: Vec<&str> = meta.finalizers.iter().map(|name| &**name).collect();
        let of_namespace = object.as_generic().filter(|generic| generic.kind == Kind::Namespace);
        let own = of_namespace.map(|namespace| namespace.spec().items("finalizers"));
        names.extend(own.unwrap_or_default().iter().filter_map(|name| name.as_str()));
        let what = match names.is_empty() {
            true => What::Terminating,
            false => What::Finalizers { names: names.join(", ").into() },
        };
        self.note(self.of(object, Step::Controller, what));
    }

    /// A finding of which only the matter is known.
    fn of(&self, object: &Object, step: Step, what: What) -> Finding {
        let evidence = last_warning(self.world(), object).map(Evidence::Event);
        Finding {
            object: object.key(),
            count: 1,
            step,
            what,
            why: None,
            evidence: evidence.into_iter().collect(),
            next: self.next(),
        }
    }

    /// What the verdict says will come.
    fn next(&self) -> Next {
        match &self.verdict {
            Verdict::Stuck { .. } => Next::Never,
            Verdict::Waiting { until, what, .. } if !self.world().is_busy() => {
                Next::Due(*until, (*what).into())
            }
            Verdict::Converged => Next::ByHand,
            _ => Next::UnderWay,
        }
    }

    /// A moment at which it is tried again, unless the lane is known to be stuck.
    fn or_at(&self, at: Option<Time>) -> Next {
        match (self.next(), at.filter(|at| *at > self.now())) {
            (Next::UnderWay, Some(at)) => Next::Retry(at),
            (next, _) => next,
        }
    }

    /// Takes a finding down. The same matter of several objects is one finding.
    fn note(&mut self, finding: Finding) {
        let same = |known: &&mut Finding| {
            known.what == finding.what
                && known.object.kind == finding.object.kind
                && known.object != finding.object
                && known.why == finding.why
        };
        match self.found.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.found.push(finding),
        }
    }

    fn why_loop(&self, role: ControllerId, key: &ObjectKey) -> Why {
        let state = self.state_of(role, key);
        Why::Loop { name: role.name(), state }
    }
}

fn with_condition(mut finding: Finding, object: &Object, kind: &str) -> Finding {
    let found = condition(object, kind).map(Evidence::Condition);
    finding.evidence.splice(0..0, found);
    finding
}
