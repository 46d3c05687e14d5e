//! What a failure of a pod means (`pod_failure_policy.go`): it fails the Job, it does not count, or
//! it counts, or its whole index fails. The first rule that matches decides.

use crate::api::{Condition, ContainerStatus, Fields, Pod, Value};

/// What the policy says of a failed pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the failure counts towards the back-off limit.
    pub counts: bool,
    /// Why the whole Job fails, if it does.
    pub fails_job: Option<String>,
    /// Whether its index is not tried again.
    pub fails_index: bool,
}

const COUNTS: Judgement = Judgement { counts: true, fails_job: None, fails_index: false };

/// Judges a failed pod. Without a policy, or a rule that matches, it counts.
pub fn judge(rules: Option<&[Value]>, pod: &Pod) -> Judgement {
    for (at, rule) in rules.unwrap_or_default().iter().enumerate() {
        let rule = Fields::of(rule);
        let action = rule.text("action").unwrap_or("Count");
        let Some(why) = matched_exit_code(rule, pod).or_else(|| matched_condition(rule, pod))
        else {
            continue;
        };
        return match action {
            "Ignore" => Judgement { counts: false, ..COUNTS },
            "FailIndex" => Judgement { fails_index: true, ..COUNTS },
            "FailJob" => {
                let why = format!("{why} matching FailJob rule at index {at}");
                Judgement { fails_job: Some(why), ..COUNTS }
            }
            _ => COUNTS,
        };
    }
    COUNTS
}

fn matched_exit_code(rule: Fields<'_>, pod: &Pod) -> Option<String> {
    let codes = rule.at("onExitCodes");
    let operator = codes.text("operator")?;
    let container = codes.text("containerName");
    let listed = |code: i32| codes.items("values").iter().any(|v| v.as_i64() == Some(code.into()));
    let code_of = |status: &ContainerStatus| {
        status.state.terminated.as_ref().map(|ended| ended.exit_code).filter(|code| *code != 0)
    };
    let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let (name, code) = statuses
        .filter(|status| container.is_none_or(|name| *status.name == *name))
        .filter_map(|status| Some((&status.name, code_of(status)?)))
        .find(|(_, code)| listed(*code) == (operator == "In"))?;
    let (namespace, pod) = (&pod.metadata.namespace, &pod.metadata.name);
    Some(format!("Container {name} for pod {namespace}/{pod} failed with exit code {code}"))
}

fn matched_condition(rule: Fields<'_>, pod: &Pod) -> Option<String> {
    let patterns = rule.items("onPodConditions").iter().map(Fields::of);
    let kind = patterns
        .filter_map(|pattern| {
            let kind = pattern.text("type")?;
            let wanted = pattern.text("status").unwrap_or("True");
            let found = Condition::find(&pod.status.conditions, kind)?;
            (format!("{:?}", found.status) == wanted).then_some(kind)
        })
        .next()?;
    let (namespace, pod) = (&pod.metadata.namespace, &pod.metadata.name);
    Some(format!("Pod {namespace}/{pod} has condition {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn failed(code: i32) -> Pod {
        let ended = json!({"exitCode": code});
        let status = json!({"name": "main", "state": {"terminated": ended}, "ready": false,
            "restartCount": 0, "image": "", "imageID": ""});
        from_value(json!({
            "metadata": {"name": "p", "namespace": "default"},
            "status": {"phase": "Failed", "containerStatuses": [status],
                "conditions": [{"type": "DisruptionTarget", "status": "True"}]},
        }))
        .expect("a pod")
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rules = [
            json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}),
            json!({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}),
        ];
        let judged = judge(Some(&rules), &failed(42));
        assert_eq!(
            judged.fails_job.as_deref(),
            Some(
                "Container main for pod default/p failed with exit code 42 matching FailJob rule \
                 at index 0"
            )
        );
        assert_eq!(judge(Some(&rules), &failed(1)), Judgement { counts: false, ..COUNTS });
        assert_eq!(judge(None, &failed(1)), COUNTS);
    }
}
