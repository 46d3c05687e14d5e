//! What one sync of a pod does to its sandbox and containers.
//!
//! Follows `computePodActions` (`pkg/kubelet/kuberuntime/kuberuntime_manager.go`),
//! `computeInitContainerActions` (`kuberuntime_container.go`) and `PodSandboxChanged`
//! (`util/util.go`). Left out: ephemeral containers and resizing in place.

use crate::api::{Container, Pod, RestartPolicy};

use super::probe::ProbeResult;
use super::restart_policy::{
    RunState, is_sidecar, restarts_after_exit, restarts_on_failure, should_be_restarted,
};

/// The newest sandbox of a pod: what its containers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether it stands.
    pub ready: bool,
    /// Whether it has an address.
    pub has_ip: bool,
    /// How many there were before it.
    pub attempt: u32,
}

/// The newest run of a container, as the decision sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// What the runtime says.
    pub state: RunState,
    /// Whether it runs in the newest sandbox, and that sandbox is ready.
    pub is_active: bool,
    /// Whether its image is no longer the one that the pod wants.
    pub is_outdated: bool,
    /// The stored result of its liveness probe.
    pub liveness: Option<ProbeResult>,
    /// The stored result of its startup probe.
    pub startup: Option<ProbeResult>,
}

impl Run {
    /// A run in this state in the newest sandbox, with nothing else to say of it.
    pub fn plain(state: RunState) -> Run {
        Run { state, is_active: true, is_outdated: false, liveness: None, startup: None }
    }
}

/// What the runtime has of a pod. A container that never ran is None.
#[derive(Clone, Debug, Default)]
pub struct PodRuns {
    /// The newest sandbox.
    pub sandbox: Option<Sandbox>,
    /// One for each init container of the pod.
    pub init: Vec<Option<Run>>,
    /// One for each container of the pod.
    pub main: Vec<Option<Run>>,
}

/// Which container of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The init container of this index.
    Init(usize),
    /// The container of this index.
    Main(usize),
}

/// What one sync does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodActions {
    /// Stop everything, the sandbox included.
    pub kill_pod: bool,
    /// Then make a new sandbox.
    pub create_sandbox: bool,
    /// Its number.
    pub attempt: u32,
    /// Init containers to start, in order.
    pub start_init: Vec<usize>,
    /// Containers to start, in order.
    pub start: Vec<usize>,
    /// Containers to stop one by one, with the reason in words.
    pub kill: Vec<(Slot, String)>,
}

/// Whether the pod has no address of its own.
pub fn is_on_host_network(pod: &Pod) -> bool {
    pod.spec.rest.get("hostNetwork") == Some(&true.into())
}

/// Whether a new sandbox is needed, and its number (or that of the one that stands).
pub fn sandbox_changed(pod: &Pod, sandbox: Option<Sandbox>) -> (bool, u32) {
    let Some(sandbox) = sandbox else {
        return (true, 0);
    };
    if sandbox.ready && (sandbox.has_ip || is_on_host_network(pod)) {
        (false, sandbox.attempt)
    } else {
        (true, sandbox.attempt + 1)
    }
}

/// What one sync of the pod does.
pub fn compute(pod: &Pod, runs: &PodRuns) -> PodActions {
    let (create_sandbox, attempt) = sandbox_changed(pod, runs.sandbox);
    let mut actions =
        PodActions { kill_pod: create_sandbox, create_sandbox, attempt, ..PodActions::default() };
    if create_sandbox {
        begin_anew(pod, runs, &mut actions);
        return actions;
    }
    let initialized = init_actions(pod, runs, &mut actions);
    if actions.kill_pod || !initialized {
        return actions;
    }
    let mut kept = 0;
    for (index, container) in pod.spec.containers.iter().enumerate() {
        let run = runs.main.get(index).copied().flatten();
        kept += usize::from(main_action(pod, container, index, run, &mut actions));
    }
    if kept == 0 && actions.start.is_empty() {
        actions.kill_pod = true;
        // Sidecars must not keep a pod alive that has nothing else to do.
        actions.start_init.clear();
    }
    actions
}

/// A new sandbox means that all of the pod begins anew, unless it is done.
fn begin_anew(pod: &Pod, runs: &PodRuns, actions: &mut PodActions) {
    let policy = pod.spec.restart_policy.unwrap_or_default();
    let has_runs = runs.init.iter().chain(&runs.main).any(Option::is_some);
    if !restarts_on_failure(policy) && actions.attempt != 0 && has_runs {
        actions.create_sandbox = false;
        return;
    }
    let is_done = |(index, container): &(usize, &Container)| {
        let runs_once = container.restart_policy.unwrap_or(policy) == RestartPolicy::OnFailure;
        let state = runs.main.get(*index).copied().flatten().map(|r| r.state);
        runs_once && state == Some(RunState::Exited(0))
    };
    let containers = pod.spec.containers.iter().enumerate();
    let start: Vec<usize> = containers.filter(|c| !is_done(c)).map(|c| c.0).collect();
    let known = |run: &Run| run.state != RunState::Unknown;
    if start.is_empty() && runs.main.iter().flatten().any(known) {
        actions.create_sandbox = false;
    } else if !pod.spec.init_containers.is_empty() {
        actions.start_init.push(0);
    } else {
        actions.start = start;
    }
}

/// Returns whether the container goes on running.
fn main_action(
    pod: &Pod,
    container: &Container,
    index: usize,
    run: Option<Run>,
    actions: &mut PodActions,
) -> bool {
    let running = run.filter(|r| r.state == RunState::Running);
    let Some(running) = running else {
        if should_be_restarted(container, pod, run.map(|r| r.state)) {
            actions.start.push(index);
            if run.is_some_and(|r| r.state == RunState::Unknown) {
                let why = "Container is in \"unknown\" state, try killing it before restart";
                actions.kill.push((Slot::Main(index), why.into()));
            }
        }
        return false;
    };
    let policy = pod.spec.restart_policy.unwrap_or_default();
    let name = &container.name;
    let own = container.restart_policy.unwrap_or(policy);
    let (mut message, restart) = if running.is_outdated {
        // Whatever the policy says: it is another container now.
        (format!("Container {name} definition changed"), true)
    } else if running.liveness == Some(ProbeResult::Failure) {
        let message = format!("Container {name} failed liveness probe");
        (message, restarts_on_failure(own))
    } else if running.startup == Some(ProbeResult::Failure) {
        let message = format!("Container {name} failed startup probe");
        (message, restarts_on_failure(own))
    } else {
        return true;
    };
    if restart {
        message.push_str(", will be restarted");
        actions.start.push(index);
    }
    actions.kill.push((Slot::Main(index), message));
    false
}

/// Returns whether initialization is over. Goes through the init containers from the last to the
/// first, since those that ended may be gone from the runtime.
fn init_actions(pod: &Pod, runs: &PodRuns, actions: &mut PodActions) -> bool {
    let containers = &pod.spec.init_containers;
    if containers.is_empty() {
        return true;
    }
    let started = runs.main.iter().flatten().any(|run| run.is_active);
    let mut walk = InitWalk { pod, initialized: started, later_one_ran: started };
    for (index, container) in containers.iter().enumerate().rev() {
        let run = runs.init.get(index).copied().flatten();
        match run.filter(|r| r.is_active) {
            // A sidecar that was there before and is gone.
            None if walk.later_one_ran && is_sidecar(container) => actions.start_init.push(index),
            None => {}
            Some(_) if walk.later_one_ran && !is_sidecar(container) => {}
            Some(run) => {
                if !walk.visit(index, container, run, actions) {
                    actions.kill_pod = true;
                    actions.start_init.clear();
                    return false;
                }
                walk.later_one_ran = true;
            }
        }
    }
    if !walk.later_one_ran {
        actions.start_init.push(0);
    }
    actions.start_init.reverse();
    walk.initialized
}

struct InitWalk<'a> {
    pod: &'a Pod,
    initialized: bool,
    /// Whether an init container after this one, or a container, has run: so this one was over.
    later_one_ran: bool,
}

impl InitWalk<'_> {
    /// Returns false if the pod has failed for good.
    fn visit(&mut self, i: usize, container: &Container, run: Run, to: &mut PodActions) -> bool {
        let policy = self.pod.spec.restart_policy.unwrap_or_default();
        match (run.state, is_sidecar(container)) {
            (RunState::Created, _) | (RunState::Exited(_), true) => to.start_init.push(i),
            (RunState::Running, true) => self.visit_running_sidecar(i, container, run, to),
            (RunState::Running, false) => {}
            (RunState::Exited(0), false) => self.one_is_over(i, to),
            (RunState::Exited(code), false) => {
                if !restarts_after_exit(container, policy, code) {
                    return false;
                }
                to.start_init.push(i);
            }
            (RunState::Unknown, sidecar) => {
                let own = container.restart_policy.unwrap_or(policy);
                if !sidecar && !restarts_on_failure(own) {
                    return false;
                }
                let why = "Init container is in \"unknown\" state, try killing it before restart";
                to.kill.push((Slot::Init(i), why.into()));
                to.start_init.push(i);
            }
        }
        true
    }

    fn visit_running_sidecar(&mut self, i: usize, c: &Container, run: Run, to: &mut PodActions) {
        let has_come_up = c.startup_probe.is_none() || run.startup == Some(ProbeResult::Success);
        if has_come_up && !self.later_one_ran {
            self.one_is_over(i, to);
        } else if has_come_up && i + 1 == self.pod.spec.init_containers.len() {
            self.initialized = true;
        }
        let why = if !has_come_up {
            let failed = run.startup == Some(ProbeResult::Failure);
            failed.then_some("failed startup probe")
        } else if run.is_outdated {
            Some("definition changed")
        } else {
            let failed = run.liveness == Some(ProbeResult::Failure);
            failed.then_some("failed liveness probe")
        };
        if let Some(why) = why {
            let message = format!("Init container {} {why}", c.name);
            to.kill.push((Slot::Init(i), message));
            to.start_init.push(i);
        }
    }

    /// The next one's turn has come.
    fn one_is_over(&mut self, i: usize, to: &mut PodActions) {
        if i + 1 == self.pod.spec.init_containers.len() {
            self.initialized = true;
        } else {
            to.start_init.push(i + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(value: crate::api::Value) -> Pod {
        serde_json::from_value(value).expect("a pod")
    }

    fn standing() -> Option<Sandbox> {
        Some(Sandbox { ready: true, has_ip: true, attempt: 0 })
    }

    #[test]
    fn a_sidecar_that_runs_lets_the_next_one_begin_and_keeps_no_pod_alive() {
        let pod = pod(json!({"spec": {
            "restartPolicy": "Never",
            "initContainers": [{"name": "side", "restartPolicy": "Always"}, {"name": "init"}],
            "containers": [{"name": "main"}],
        }}));
        let mut runs = PodRuns {
            sandbox: standing(),
            init: vec![Some(Run::plain(RunState::Running)), None],
            main: vec![None],
        };
        let actions = compute(&pod, &runs);
        assert_eq!((actions.start_init, actions.start), (vec![1], vec![]));

        runs.init[1] = Some(Run::plain(RunState::Exited(0)));
        assert_eq!(compute(&pod, &runs).start, [0]);

        runs.main[0] = Some(Run::plain(RunState::Exited(0)));
        assert!(compute(&pod, &runs).kill_pod);
    }

    #[test]
    fn an_init_container_that_fails_for_good_takes_the_pod_with_it() {
        let pod = pod(json!({"spec": {
            "restartPolicy": "Never",
            "initContainers": [{"name": "init"}],
            "containers": [{"name": "main"}],
        }}));
        let runs = PodRuns {
            sandbox: standing(),
            init: vec![Some(Run::plain(RunState::Exited(1)))],
            main: vec![None],
        };
        let actions = compute(&pod, &runs);
        assert!(actions.kill_pod && actions.start_init.is_empty());
    }
}
