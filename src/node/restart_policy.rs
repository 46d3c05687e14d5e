//! Whether a container is started again: by the pod's policy, by its own, and by its rules for exit
//! codes.
//!
//! Follows `ShouldContainerBeRestarted` in `pkg/kubelet/container/helpers.go` and
//! `ContainerShouldRestart` in `pkg/api/v1/pod/util.go`, with the gate ContainerRestartRules on, as
//! it is by default in 1.36. Left out: the action `RestartAllContainers`, which is off by default.

use crate::api::{Container, Pod, RestartPolicy, Value};

/// What the runtime says of the newest run of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Made, but not started.
    Created,
    /// It runs.
    Running,
    /// It ended with this code.
    Exited(i32),
    /// The runtime cannot tell.
    Unknown,
}

/// Whether the pod is started again as a whole when something of it fails.
pub fn restarts_on_failure(policy: RestartPolicy) -> bool {
    policy != RestartPolicy::Never
}

/// Whether this is a sidecar: an init container that goes on running beside the others.
pub fn is_sidecar(init_container: &Container) -> bool {
    init_container.restart_policy == Some(RestartPolicy::Always)
}

/// Whether a container that ended with `exit_code` is started again.
pub fn restarts_after_exit(container: &Container, pod: RestartPolicy, exit_code: i32) -> bool {
    let Some(own) = container.restart_policy else {
        return allows(pod, exit_code);
    };
    has_restart_rule_for(container, exit_code) || allows(own, exit_code)
}

fn allows(policy: RestartPolicy, exit_code: i32) -> bool {
    match policy {
        RestartPolicy::Always => true,
        RestartPolicy::OnFailure => exit_code != 0,
        RestartPolicy::Never => false,
    }
}

/// The first of `restartPolicyRules` that matches the code says `Restart`.
fn has_restart_rule_for(container: &Container, exit_code: i32) -> bool {
    let Some(Value::Array(rules)) = container.rest.get("restartPolicyRules") else {
        return false;
    };
    let matching = rules.iter().find(|rule| {
        let codes = &rule["exitCodes"];
        let listed = codes["values"]
            .as_array()
            .is_some_and(|values| values.iter().any(|v| v.as_i64() == Some(exit_code.into())));
        match codes["operator"].as_str() {
            Some("In") => listed,
            Some("NotIn") => !listed,
            _ => false,
        }
    });
    matching.is_some_and(|rule| rule["action"] == "Restart")
}

/// Whether a container shall be started now, given its newest run.
pub fn should_be_restarted(container: &Container, pod: &Pod, newest: Option<RunState>) -> bool {
    if pod.metadata.is_terminating() {
        return false;
    }
    match newest {
        None | Some(RunState::Created | RunState::Unknown) => true,
        Some(RunState::Running) => false,
        Some(RunState::Exited(code)) => {
            let policy = pod.spec.restart_policy.unwrap_or_default();
            restarts_after_exit(container, policy, code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(value: Value) -> Container {
        serde_json::from_value(value).expect("a container")
    }

    #[test]
    fn a_containers_own_policy_outranks_the_pods() {
        use serde_json::json;
        let own = container(json!({"name": "c", "restartPolicy": "Never"}));
        assert!(!restarts_after_exit(&own, RestartPolicy::Always, 1));
        let plain = container(json!({"name": "c"}));
        assert!(restarts_after_exit(&plain, RestartPolicy::Always, 1));
        assert!(!restarts_after_exit(&plain, RestartPolicy::OnFailure, 0));
    }

    #[test]
    fn a_rule_for_the_exit_code_outranks_both() {
        let ruled = container(serde_json::json!({
            "name": "c",
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}},
            ],
        }));
        assert!(restarts_after_exit(&ruled, RestartPolicy::Never, 42));
        assert!(!restarts_after_exit(&ruled, RestartPolicy::Always, 1));
    }
}
