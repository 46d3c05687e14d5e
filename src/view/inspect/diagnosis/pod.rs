//! Where a pod stopped: without a node, without an image, in a crash, before its probe.

use crate::api::{
    Condition, Container, ContainerStatus, Kind, Object, ObjectKey, Pod, PodPhase, Str,
};
use crate::kernel::Time;
use crate::world::ControllerId;

use super::super::finding::{Evidence, Finding, LoopState, Step, What, Why};
use super::super::notes::condition;
use super::{Walk, requests, with_condition};

/// Reasons for which a container has no image.
const NO_IMAGE: [&str; 4] =
    ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];

impl Walk<'_> {
    /// A pod that should run and be ready.
    pub(super) fn pod(&mut self, object: &Object, pod: &Pod) {
        if self.world().is_truly_ready(pod) || pod.phase() == PodPhase::Succeeded {
            return;
        }
        let finding = match (&pod.spec.node_name, pod.phase()) {
            (_, PodPhase::Failed) => self.failed(object, pod),
            (None, _) => self.without_node(object, pod),
            (Some(node), _) => match self.node_trouble(node) {
                Some(what) => self.of(object, Step::Kubelet, what),
                None => self.containers(object, pod),
            },
        };
        self.note(finding);
    }

    fn failed(&self, object: &Object, pod: &Pod) -> Finding {
        let ended = pod.status.container_statuses.iter().find_map(|status| {
            let ended = status.state.terminated.as_ref().filter(|ended| ended.exit_code != 0)?;
            Some((status.name.clone(), ended))
        });
        let what = match (&pod.status.reason, ended) {
            (Some(reason), _) => What::PodFailed { reason: reason.clone() },
            (None, Some((container, ended))) => What::Ended {
                container,
                code: ended.exit_code,
                reason: ended.reason.clone().unwrap_or_else(|| "Error".into()),
            },
            (None, None) => What::PodFailed { reason: "Failed".into() },
        };
        self.of(object, Step::Container, what)
    }

    fn without_node(&self, object: &Object, pod: &Pod) -> Finding {
        let scheduled = Condition::find(&pod.status.conditions, "PodScheduled");
        if scheduled.is_some_and(|held| held.reason.is_some()) {
            let finding = self.of(object, Step::Scheduler, What::Unschedulable);
            let at = self.due_at(ControllerId::Scheduler, object);
            let next = self.or_at(at);
            return with_condition(Finding { next, ..finding }, object, "PodScheduled");
        }
        let mut finding = self.of(object, Step::Scheduler, What::NoNode);
        finding.why = Some(self.why_loop(ControllerId::Scheduler, &object.key()));
        finding
    }

    fn due_at(&self, role: ControllerId, object: &Object) -> Option<Time> {
        let mut own = self.world().processes().filter(|process| process.id.role() == role);
        own.find_map(|process| {
            let flushes = Some(process.flushes).filter(|at| *at != Time::MAX);
            process.queue.due(&object.key()).or(flushes)
        })
    }

    fn containers(&self, object: &Object, pod: &Pod) -> Finding {
        let status = &pod.status;
        let init = pod.spec.init_containers.iter().zip(&status.init_container_statuses);
        let main = pod.spec.containers.iter().zip(&status.container_statuses);
        let mut rest = None;
        // Init containers first: the others wait for them. In each list, what is worst first.
        for (spec, status) in init.chain(main) {
            let Some(found) = self.container(object, pod, spec, status) else { continue };
            let starts = matches!(found.what, What::Starting { .. });
            match starts {
                false => return found,
                true => _ = rest.get_or_insert(found),
            }
        }
        rest.unwrap_or_else(|| match status.container_statuses.is_empty() {
            true => {
                let reason = "ContainerCreating".into();
                let container = pod.spec.containers.first().map(|c| c.name.clone());
                let container = container.unwrap_or_else(|| "".into());
                self.of(object, Step::Kubelet, What::Starting { container, reason })
            }
            false => self.not_ready(object, pod),
        })
    }

    fn container(
        &self,
        object: &Object,
        pod: &Pod,
        spec: &Container,
        status: &ContainerStatus,
    ) -> Option<Finding> {
        let container = spec.name.clone();
        if let Some(ended) = &status.state.terminated {
            let is_init = pod.spec.init_containers.iter().any(|init| init.name == spec.name);
            let well = ended.exit_code == 0;
            let reason = ended.reason.clone().unwrap_or_else(|| "Error".into());
            let what = What::Ended { container, code: ended.exit_code, reason };
            return (!(is_init && well)).then(|| {
                let next = self.or_at(self.tries_again_at(pod, spec));
                Finding { next, ..self.of(object, Step::Container, what) }
            });
        }
        if status.state.running.is_some() {
            if status.ready {
                return None;
            }
            if status.started == Some(false) {
                let what = What::StartupProbe { container };
                return Some(self.of(object, Step::Probe, what));
            }
            let probe = spec.readiness_probe.is_some();
            let since = condition(object, "Ready").and_then(|row| row.since);
            let what = What::NotReady { container, probe, since };
            return Some(with_condition(self.of(object, Step::Probe, what), object, "Ready"));
        }
        let waiting = status.state.waiting.as_ref();
        let reason = waiting.and_then(|waiting| waiting.reason.clone());
        let reason = reason.unwrap_or_else(|| "ContainerCreating".into());
        let (step, what) = self.waiting(spec, status, reason);
        let next = self.or_at(self.tries_again_at(pod, spec));
        Some(Finding { next, ..self.of(object, step, what) })
    }

    fn waiting(&self, spec: &Container, status: &ContainerStatus, reason: Str) -> (Step, What) {
        let container = spec.name.clone();
        if NO_IMAGE.contains(&&*reason) {
            let image = spec.image.clone().unwrap_or_else(|| "".into());
            return (Step::Kubelet, What::NotPulled { container, image, reason });
        }
        if *reason == *"CrashLoopBackOff" {
            let ended = status.last_state.terminated.as_ref().or(status.state.terminated.as_ref());
            let code = ended.map_or(0, |ended| ended.exit_code);
            let restarts = status.restart_count;
            return (Step::Container, What::CrashLoop { container, code, restarts });
        }
        (Step::Kubelet, What::Starting { container, reason })
    }

    /// All its containers are ready, and it is not: somebody else must say so.
    fn not_ready(&self, object: &Object, pod: &Pod) -> Finding {
        let ready = Condition::find(&pod.status.conditions, "Ready");
        let reason = ready.and_then(|held| held.reason.clone()).unwrap_or_else(|| "".into());
        let what = What::Condition { kind: "Ready".into(), reason };
        with_condition(self.of(object, Step::Probe, what), object, "Ready")
    }

    fn tries_again_at(&self, pod: &Pod, spec: &Container) -> Option<Time> {
        let world = self.world();
        let node = world.node_number(pod.spec.node_name.as_deref()?)?;
        let kubelet = world.kubelets().get(usize::from(node))?;
        let image = spec.image.as_deref().unwrap_or("");
        kubelet.tries_again_at(&pod.metadata.uid, &spec.name, image)
    }

    /// The pods of an owner that are not as they should be.
    pub(super) fn pods_of(&mut self, uid: &str) {
        let world = &self.lane.world;
        let pods = world.store().list(Kind::Pod);
        let own: Vec<_> = pods.filter(|o| o.meta().is_controlled_by(uid)).cloned().collect();
        for object in own {
            if let Some(pod) = object.as_pod().filter(|pod| pod.is_active()) {
                self.pod(&object, pod);
            }
        }
    }

    /// With the reason why a loop does not put it right: its newest request for it was refused, or
    /// how it stands.
    pub(super) fn with_reason(&self, mut finding: Finding, role: ControllerId) -> Finding {
        let key = &finding.object;
        let state = self.state_of(role, key);
        let at = match &state {
            LoopState::Due { at, .. } | LoopState::PausedUntil(at) => Some(*at),
            _ => None,
        };
        let (why, evidence) = match self.refusal(role, key, &state) {
            Some((why, request)) => (why, Some(request)),
            None => {
                let struck = match &state {
                    LoopState::EventLost { event, object, at } => {
                        let (at, event, object) = (*at, *event, object.clone());
                        Some(Evidence::Struck { at, event, object })
                    }
                    _ => None,
                };
                (Why::Loop { name: role.name(), state }, struck)
            }
        };
        finding.evidence.splice(0..0, evidence);
        finding.why = Some(why);
        finding.next = self.or_at(at);
        finding
    }

    /// The newest request for what is missing, if it was refused and the loop can still try again:
    /// what keeps it from that comes first.
    pub(super) fn refusal(
        &self,
        role: ControllerId,
        key: &ObjectKey,
        state: &LoopState,
    ) -> Option<(Why, Evidence)> {
        let kept = matches!(
            state,
            LoopState::ServerDown | LoopState::Down | LoopState::Cut | LoopState::PausedUntil(_)
        );
        let refused = || requests::refused(self.run, self.lane.id, role, key);
        if kept { None } else { refused() }
    }
}
