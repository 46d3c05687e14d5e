//! Which fields of a right object nothing here acts on. They are kept and shown.

use crate::api::{Kind, Value};

use super::position::Segment;

/// How many fields are named.
const MAX_NAMED: usize = 8;

/// Fields of a pod's spec that nothing reads, with fields of theirs behind a dot.
const OF_PODS: &[&str] = &[
    "activeDeadlineSeconds",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostPID",
    "hostname",
    "imagePullSecrets",
    "resourceClaims",
    "runtimeClassName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "volumes",
];

/// Fields of a container that nothing reads. What its program does follows from its image alone.
const OF_CONTAINERS: &[&str] = &[
    "args",
    "command",
    "env",
    "envFrom",
    "lifecycle.postStart",
    "securityContext",
    "stdin",
    "terminationMessagePath",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
];

/// Where a kind keeps the spec of its pods.
fn pod_spec(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Pod => &["spec"],
        Kind::Deployment
        | Kind::ReplicaSet
        | Kind::ReplicationController
        | Kind::StatefulSet
        | Kind::DaemonSet
        | Kind::Job => &["spec", "template", "spec"],
        Kind::CronJob => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &[],
    }
}

/// The fields, as a list of names, and where the first of them stands. Nothing if all are acted on.
pub fn not_simulated(kind: Kind, value: &Value) -> Option<(Vec<Segment>, String)> {
    let base = pod_spec(kind);
    if base.is_empty() {
        return None;
    }
    let spec = base.iter().try_fold(value, |value, key| value.get(key))?;
    let key = |key: &str| Segment::Key(key.into());
    let start: Vec<Segment> = base.iter().map(|word| key(word)).collect();
    let mut first = None;
    let mut names: Vec<String> = Vec::new();
    let mut note = |place: Vec<Segment>, name: String| {
        first.get_or_insert(place);
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for field in OF_PODS.iter().filter(|field| has(spec, field)) {
        let place = start.iter().cloned().chain(field.split('.').map(key)).collect();
        note(place, format!("{}.{field}", base.join(".")));
    }
    for list in ["initContainers", "containers"] {
        let items = spec.get(list).and_then(Value::as_array);
        for (index, item) in items.into_iter().flatten().enumerate() {
            for field in OF_CONTAINERS.iter().filter(|field| has(item, field)) {
                let inside = [key(list), Segment::Index(index)].into_iter();
                let steps = inside.chain(field.split('.').map(key));
                let place = start.iter().cloned().chain(steps).collect();
                note(place, format!("{}.{list}[*].{field}", base.join(".")));
            }
        }
    }
    let more = names.len() > MAX_NAMED;
    names.truncate(MAX_NAMED);
    let list = names.join(", ") + if more { ", …" } else { "" };
    first.map(|place| (place, list))
}

/// Whether a field is there and says something.
fn has(value: &Value, field: &str) -> bool {
    let found = field.split('.').try_fold(value, |value, key| value.get(key));
    found.is_some_and(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    })
}
