//! The fields of a DaemonSet that the controller reads.

use crate::api::{Generic, IntOrString, LabelSelector, PodTemplateSpec, TaintEffect, Toleration};

/// `apps/v1.DaemonSetSpec`, as far as it is read.
#[derive(Clone, Debug)]
pub struct DaemonSpec {
    /// Whether pods are updated only when somebody deletes them.
    pub on_delete: bool,
    /// Pods that may be away during an update.
    pub max_unavailable: IntOrString,
    /// Pods that may be there twice during an update.
    pub max_surge: IntOrString,
    /// Seconds that a pod must have been ready.
    pub min_ready_seconds: i32,
    /// Old revisions that are kept.
    pub history_limit: usize,
    /// Which pods are its own.
    pub selector: LabelSelector,
    /// What its pods look like, with the tolerations that they get.
    pub template: PodTemplateSpec,
}

impl DaemonSpec {
    /// The spec of a DaemonSet.
    pub fn of(set: &Generic) -> DaemonSpec {
        let spec = set.spec();
        let strategy = spec.at("updateStrategy");
        let rolling = strategy.at("rollingUpdate");
        let number = |field: &str, default| {
            let given: Option<IntOrString> = rolling.read(field);
            given.unwrap_or(IntOrString::Int(default))
        };
        let mut template: PodTemplateSpec = spec.read("template");
        add_tolerations(&mut template);
        DaemonSpec {
            on_delete: strategy.text("type") == Some("OnDelete"),
            max_unavailable: number("maxUnavailable", 1),
            max_surge: number("maxSurge", 0),
            min_ready_seconds: spec.int("minReadySeconds").unwrap_or(0),
            history_limit: spec.int("revisionHistoryLimit").map_or(10, |n| n.max(0) as usize),
            selector: spec.read("selector"),
            template,
        }
    }
}

/// What a daemon bears, whatever its template says (`AddOrUpdateDaemonPodTolerations`).
fn add_tolerations(template: &mut PodTemplateSpec) {
    let on_host = template.spec.rest.get("hostNetwork") == Some(&true.into());
    let list = [
        ("not-ready", TaintEffect::NoExecute, true),
        ("unreachable", TaintEffect::NoExecute, true),
        ("disk-pressure", TaintEffect::NoSchedule, true),
        ("memory-pressure", TaintEffect::NoSchedule, true),
        ("pid-pressure", TaintEffect::NoSchedule, true),
        ("unschedulable", TaintEffect::NoSchedule, true),
        ("network-unavailable", TaintEffect::NoSchedule, on_host),
    ];
    for (key, effect, _) in list.into_iter().filter(|(_, _, wanted)| *wanted) {
        let toleration = Toleration {
            key: Some(format!("node.kubernetes.io/{key}").into()),
            operator: Some("Exists".into()),
            effect: Some(effect),
            ..Toleration::default()
        };
        if !template.spec.tolerations.contains(&toleration) {
            template.spec.tolerations.push(toleration);
        }
    }
}
