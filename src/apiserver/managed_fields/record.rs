//! The managers of a stored object: what a write notes, and what is known without having been
//! noted.

use serde_json::json;

use crate::api::{
    FieldSet, Kind, ManagedFields, ManagedFieldsEntry, ManagedFieldsOperation, Object, Str,
    Timestamp, Value,
};

use super::schema::Schema;
use super::{Writer, compare, update};
use crate::apiserver::Part;

/// The annotation in which kubectl keeps what it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const CONTROLLERS: &str = "kube-controller-manager";

/// The field manager that a component of the simulation writes as: all controllers are one
/// program.
pub fn manager_of(component: &str) -> &str {
    match component {
        "" | "kubelet" => component,
        "scheduler" => "kube-scheduler",
        name if name.starts_with("kubectl") || name.starts_with("argocd") => name,
        _ => CONTROLLERS,
    }
}

/// Whether it is one of the cluster's own components, whose writes need not be recorded.
fn is_component(manager: &str) -> bool {
    matches!(manager, "" | "kubelet" | "kube-scheduler" | CONTROLLERS)
}

fn writer(kind: Kind, part: Part, manager: &Str, now: Timestamp) -> Writer {
    let subresource = match part {
        Part::Main => "",
        Part::Status => "status",
        Part::Scale => "scale",
        Part::Finalize => "finalize",
    };
    let manager = if manager.is_empty() { "unknown".into() } else { manager.clone() };
    let api_version = kind.info().api_version.into();
    Writer { manager, api_version, subresource: subresource.into(), now: Some(now) }
}

/// Notes who created an object.
pub fn note_create(object: &mut Object, manager: &Str, now: Timestamp) {
    object.meta_mut().managed_fields = ManagedFields::default();
    object.meta_mut().rest.remove("managedFields");
    if is_component(manager) {
        return;
    }
    let kind = object.kind();
    let mut value = object.to_value();
    if let Some(map) = value.as_object_mut() {
        map.remove("status");
    }
    let mut entries = Vec::new();
    let pair = (&frame(&value), &value);
    update(&Schema::of(kind), &mut entries, pair, &writer(kind, Part::Main, manager, now));
    object.meta_mut().managed_fields = entries.into();
}

/// The parts of an object that are there in Kubernetes' types even when they are empty, and so do
/// not count as made by anybody.
fn frame(value: &Value) -> Value {
    let mut frame = json!({});
    for pointer in [
        "/metadata",
        "/spec",
        "/status",
        "/spec/strategy",
        "/spec/updateStrategy",
        "/spec/containers",
        "/spec/template",
        "/spec/template/metadata",
        "/spec/template/spec",
        "/spec/template/spec/containers",
        "/spec/jobTemplate",
        "/spec/jobTemplate/spec",
        "/spec/jobTemplate/spec/template",
        "/spec/jobTemplate/spec/template/spec",
        "/spec/jobTemplate/spec/template/spec/containers",
    ] {
        let empty = match value.pointer(pointer) {
            Some(Value::Object(_)) => json!({}),
            Some(Value::Array(_)) => json!([]),
            _ => continue,
        };
        let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        if let Some(Value::Object(parent)) = frame.pointer_mut(parent) {
            parent.insert(name.into(), empty);
        }
    }
    frame
}

/// Notes an update from `stored` to `after`. A `managedFields` that the client sent stands in
/// `rest`: a single empty entry forgets all managers, other entries take the place of those that
/// are known.
pub fn note_update(stored: &Object, after: &mut Object, part: Part, manager: &Str, now: Timestamp) {
    let known_before = &stored.meta().managed_fields;
    after.meta_mut().managed_fields = known_before.clone();
    let asked = match after.meta().rest.contains_key("managedFields") {
        true => after.meta_mut().rest.remove("managedFields"),
        false => None,
    };
    if asked.is_none() && !known_before.is_tracked() && is_component(manager) {
        return;
    }
    if asked.is_none() && part == Part::Status && status_is_known(stored, after, manager) {
        return;
    }
    let mut entries = match asked.as_ref().and_then(Value::as_array) {
        Some(list) if !list.is_empty() => {
            list.iter().filter_map(ManagedFieldsEntry::from_value).collect()
        }
        // Only a write of the status needs to know of the status field by field.
        _ if part == Part::Status || !known_before.is_tracked() => known(stored),
        _ => known_before.entries().to_vec(),
    };
    let kind = stored.kind();
    let (old, new) = (settled(stored), settled(after));
    let by = writer(kind, part, manager, now);
    update(&Schema::of(kind), &mut entries, (&old, &new), &by);
    if part == Part::Status {
        fold_status(&mut entries, &by);
    }
    after.meta_mut().managed_fields = entries.into();
}

/// Whether a status write changes nothing that is noted: the status is its writer's as a whole.
fn status_is_known(stored: &Object, after: &Object, manager: &Str) -> bool {
    let entries = stored.meta().managed_fields.entries();
    let mut of_status = entries.iter().filter(|entry| &*entry.subresource == "status");
    let alone = of_status.next().is_some_and(|e| e.whole_status && e.manager == *manager);
    alone && of_status.next().is_none() && stored.meta().annotations == after.meta().annotations
}

/// While it has one writer, all of the status is that writer's.
fn fold_status(entries: &mut [ManagedFieldsEntry], by: &Writer) {
    let others = entries.iter().any(|e| e.manager != by.manager && has_status(e));
    let own = entries.iter_mut().find(|e| {
        e.manager == by.manager
            && e.subresource == by.subresource
            && e.operation == ManagedFieldsOperation::Update
    });
    if let Some(own) = own.filter(|_| !others) {
        own.fields.take("f:status");
        own.whole_status = true;
    }
}

fn has_status(entry: &ManagedFieldsEntry) -> bool {
    entry.fields.child("f:status").is_some()
}

/// An object as its fields are compared: without what the server counts.
fn settled(object: &Object) -> Value {
    let mut value = object.to_value();
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("resourceVersion");
        meta.remove("generation");
    }
    value
}

/// The managers of an object, field by field: those that were noted, or else those that follow
/// from its kind.
pub fn known(object: &Object) -> Vec<ManagedFieldsEntry> {
    let noted = &object.meta().managed_fields;
    if !noted.is_tracked() {
        return implied(object);
    }
    let mut entries = noted.entries().to_vec();
    for entry in &mut entries {
        if std::mem::take(&mut entry.whole_status) {
            entry.fields.put("f:status", status_fields(object));
        }
    }
    entries
}

fn status_fields(object: &Object) -> FieldSet {
    let value = object.to_value();
    let status = json!({"status": value.get("status").cloned().unwrap_or(json!({}))});
    let found = compare(&Schema::of(object.kind()), &json!({"status": {}}), &status);
    let mut fields = found.added;
    fields.take("f:status")
}

/// Who writes what of an object that no person wrote: its maker all but the status, and the status
/// whoever reports it. What no component is known for was there before the first application.
fn implied(object: &Object) -> Vec<ManagedFieldsEntry> {
    let owned = object.meta().controller().is_some();
    let (maker, reporter) = match object.kind() {
        Kind::Pod if owned => (CONTROLLERS, "kubelet"),
        Kind::Node | Kind::Lease => ("kubelet", "kubelet"),
        Kind::Event => return Vec::new(),
        _ if owned => (CONTROLLERS, CONTROLLERS),
        _ => ("before-first-apply", "before-first-apply"),
    };
    let kind = object.kind();
    let value = settled(object);
    let mut fields = compare(&Schema::of(kind), &frame(&value), &value).added;
    let mut status = FieldSet::default();
    status.put("f:status", fields.take("f:status"));
    let created = object.meta().creation_timestamp.unwrap_or_default();
    let entry = |manager: &str, part, fields| {
        let by = writer(kind, part, &manager.into(), created);
        by.entry(ManagedFieldsOperation::Update, super::without_meta(fields))
    };
    let mut entries = vec![entry(maker, Part::Main, fields), entry(reporter, Part::Status, status)];
    entries.retain(|entry| !entry.fields.is_empty());
    entries
}

/// `metadata.managedFields` of an object.
pub fn to_value(object: &Object) -> Value {
    let entries = ManagedFields::from(known(object));
    Value::Array(entries.entries().iter().map(ManagedFieldsEntry::to_value).collect())
}

/// The fields that kubectl applied itself, before it knew of managers, and that still have the
/// value that it gave them: it may take them over without a conflict (`lastAppliedManager`).
pub fn adopt(kind: Kind, live: &Value) -> FieldSet {
    let annotation = live.pointer("/metadata/annotations").and_then(|map| map.get(LAST_APPLIED));
    let text = annotation.and_then(Value::as_str).unwrap_or("");
    let Ok(last @ Value::Object(_)) = serde_json::from_str::<Value>(text) else {
        return FieldSet::default();
    };
    let schema = Schema::of(kind);
    let found = compare(&schema, &last, live);
    let differs = found.modified.union(&found.added).union(&found.removed);
    super::fields_of(&schema, &last).difference(&differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_map(data: Value) -> Object {
        let value = json!({"metadata": {"name": "a", "namespace": "default"}, "data": data});
        Object::from_value(Kind::ConfigMap, value).unwrap()
    }

    fn managers(object: &Object) -> Vec<(String, Vec<String>)> {
        let entries = known(object).into_iter();
        entries.map(|entry| ((*entry.manager).to_string(), entry.fields.paths())).collect()
    }

    #[test]
    fn nothing_is_noted_of_an_object_until_a_person_writes_it() {
        let now = Timestamp(1);
        let mut stored = config_map(json!({"a": "1"}));
        note_create(&mut stored, &CONTROLLERS.into(), now);
        assert!(!stored.meta().managed_fields.is_tracked());
        let mut after = config_map(json!({"a": "1", "b": "2"}));
        note_update(&stored, &mut after, Part::Main, &"kubectl-patch".into(), now);
        let names = |path: &str| vec![path.to_string()];
        assert_eq!(
            managers(&after),
            [
                ("before-first-apply".into(), vec![".data".into(), ".data.a".into()]),
                ("kubectl-patch".into(), names(".data.b")),
            ]
        );
    }

    #[test]
    fn the_status_is_its_one_writers_as_a_whole() {
        let status = |ready: i64| {
            let value = json!({"metadata": {"name": "a"}, "status": {"readyReplicas": ready}});
            Object::from_value(Kind::ReplicaSet, value).unwrap()
        };
        let now = Timestamp(1);
        let mut stored = status(0);
        note_create(&mut stored, &"kubectl-create".into(), now);
        let mut after = status(1);
        note_update(&stored, &mut after, Part::Status, &CONTROLLERS.into(), now);
        let entries = after.meta().managed_fields.entries();
        let entry = entries.iter().find(|entry| &*entry.subresource == "status").unwrap();
        assert!(entry.whole_status && entry.fields.is_empty());
        let mut later = status(2);
        note_update(&after, &mut later, Part::Status, &CONTROLLERS.into(), now);
        assert_eq!(later.meta().managed_fields, after.meta().managed_fields);
        let all = managers(&later);
        let (_, own) = all.iter().find(|(name, _)| name == CONTROLLERS).unwrap();
        assert!(own.contains(&".status.readyReplicas".to_string()));
        assert!(own.iter().all(|path| path.starts_with(".status.")), "{own:?}");
    }
}
