//! Patches with a type at the server: what each makes of the stored object, and server-side apply.
//! Kubernetes: apiserver `pkg/endpoints/handlers/patch.go`, apimachinery
//! `pkg/util/managedfields/internal`.

use crate::api::{
    FieldSet, Kind, ManagedFields, ManagedFieldsEntry, Object, ObjectKey, Timestamp, Value,
};
use crate::kernel::Time;

use super::managed_fields::{self, Conflict, Schema, Writer};
use super::patch::{Patch, PatchRequest, patched};
use super::server::check_preconditions;
use super::validation::validate_words;
use super::{ApiError, ApiServer, Part, Reason, Response, completion, strategy};

impl ApiServer {
    /// Carries out a patch with a type.
    pub(super) fn patch_with(&mut self, request: &PatchRequest, now: Time) -> Response {
        let PatchRequest { part, key, patch } = request;
        if let Patch::Apply { config, force } = patch {
            return self.apply(*part, key, config, *force, now);
        }
        if matches!(patch, Patch::Strategic(_)) && key.kind.is_custom() {
            // By which key the items of its lists are told apart only Kubernetes' own types say.
            let text = "the body of the request was in an unknown format - accepted media types \
                        include: application/json-patch+json, application/merge-patch+json, \
                        application/apply-patch+yaml";
            return Err(ApiError::new(Reason::UnsupportedMediaType, text));
        }
        let stored = self.read(key)?.clone();
        let mut value = stored.to_value();
        // A JSON patch may name its places in `managedFields`.
        let shown = mentions(patch).then(|| managed_fields::to_value(&stored));
        if let (Some(shown), Some(meta)) = (&shown, value.pointer_mut("/metadata")) {
            meta["managedFields"] = shown.clone();
        }
        let mut value = patched(patch, value)?;
        let meta = value.pointer_mut("/metadata").and_then(Value::as_object_mut);
        if let (Some(shown), Some(meta)) = (shown, meta)
            && meta.get("managedFields") == Some(&shown)
        {
            meta.remove("managedFields");
        }
        let after = self.merged(*part, &stored, value)?;
        self.store_update(*part, &stored, after)
    }

    /// The stored object with what a patched value says of a part.
    pub(super) fn merged(
        &self,
        part: Part,
        stored: &Object,
        mut value: Value,
    ) -> Result<Object, ApiError> {
        let key = stored.key();
        let errors = validate_words(key.kind, &mut value);
        if !errors.is_empty() {
            return Err(ApiError::invalid(key.kind, &key.name, &errors));
        }
        let patched = Object::from_value(key.kind, value)
            .map_err(|error| ApiError::new(Reason::BadRequest, error.to_string()))?;
        if patched.key() != key {
            let why = "metadata.name: Invalid value: field is immutable".to_string();
            return Err(ApiError::invalid(key.kind, &key.name, &[why]));
        }
        let asked = patched.meta();
        check_preconditions(stored, &asked.uid, asked.resource_version)?;
        let mut after = strategy::merge_update(part, stored, &patched);
        if part == Part::Main {
            completion::complete_update(stored, &mut after, self.store(), self.seed);
        }
        self.admit_update(part, stored, &patched, after)
    }

    fn apply(
        &mut self,
        part: Part,
        key: &ObjectKey,
        config: &Value,
        force: bool,
        now: Time,
    ) -> Response {
        check_config(key, config)?;
        let Some(stored) = self.store().get(key).cloned() else {
            if part != Part::Main {
                return Err(ApiError::not_found(key.kind, &key.name));
            }
            return self.apply_new(key, config, now);
        };
        let schema = Schema::of(key.kind);
        let writer = self.applier(key.kind, part, now);
        let config = only(part, config);
        let before = managed_fields::known(&stored);
        let mut live = stored.to_value();
        if let Some(meta) = live.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            meta.remove("resourceVersion");
        }
        let mut entries = before.clone();
        let pair = (&live, &config);
        let mut applied = managed_fields::apply(&schema, &mut entries, pair, &writer, force);
        if let Err(conflicts) = &mut applied
            && &*writer.manager == "kubectl"
        {
            // What kubectl applied before it knew of managers is its own.
            let own = managed_fields::adopt(key.kind, &live);
            if without(conflicts, &own).is_empty() {
                applied = managed_fields::apply(&schema, &mut entries, pair, &writer, true);
            } else {
                *conflicts = without(conflicts, &own);
            }
        }
        let value = applied.map_err(|conflicts| {
            ApiError::new(Reason::Conflict, managed_fields::conflict_message(&conflicts))
        })?;
        let mut after = self.merged(part, &stored, value)?;
        after.meta_mut().rest.remove("managedFields");
        let entries = ManagedFields::from(entries);
        // The same managers are not noted anew, so that nothing is written for their sake.
        let same = entries == ManagedFields::from(before);
        let noted = stored.meta().managed_fields.clone();
        after.meta_mut().managed_fields = if same { noted } else { entries };
        self.store_noted(part, &stored, after)
    }

    /// An application makes an object that is not there.
    fn apply_new(&mut self, key: &ObjectKey, config: &Value, now: Time) -> Response {
        if config.pointer("/metadata/uid").is_some_and(|uid| uid != "") {
            return Err(ApiError::not_found(key.kind, &key.name));
        }
        let mut value = only(Part::Main, config);
        let errors = validate_words(key.kind, &mut value);
        if !errors.is_empty() {
            return Err(ApiError::invalid(key.kind, &key.name, &errors));
        }
        let object = Object::from_value(key.kind, value.clone())
            .map_err(|error| ApiError::new(Reason::BadRequest, error.to_string()))?;
        let writer = self.applier(key.kind, Part::Main, now);
        let schema = Schema::of(key.kind);
        let mut entries: Vec<ManagedFieldsEntry> = Vec::new();
        let none = Value::Object(Default::default());
        // On nothing there is nobody to conflict with.
        let _ = managed_fields::apply(&schema, &mut entries, (&none, &value), &writer, true);
        self.create_noted(&object, Some(entries.into()), now)
    }

    fn applier(&self, kind: Kind, part: Part, now: Time) -> Writer {
        let subresource = match part {
            Part::Main => "",
            Part::Status => "status",
            Part::Scale => "scale",
            Part::Finalize => "finalize",
        };
        let now = Some(Timestamp::from(now));
        let api_version = kind.info().api_version.into();
        let manager = match &**self.writer() {
            "" => "unknown".into(),
            _ => self.writer().clone(),
        };
        Writer { manager, api_version, subresource: subresource.into(), now }
    }
}

/// Whether a patch speaks of managers.
fn mentions(patch: &Patch) -> bool {
    let Patch::Json(operations) = patch else { return false };
    let starts = |operation: &Value, field: &str| {
        let path = operation.get(field).and_then(Value::as_str);
        path.is_some_and(|path| path.starts_with("/metadata/managedFields"))
    };
    let mut operations = operations.as_array().into_iter().flatten();
    operations.any(|operation| starts(operation, "path") || starts(operation, "from"))
}

fn check_config(key: &ObjectKey, config: &Value) -> Result<(), ApiError> {
    let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let bad = |text: String| Err(ApiError::new(Reason::BadRequest, text));
    let managed = config.pointer("/metadata/managedFields").and_then(Value::as_array);
    if managed.is_some_and(|list| !list.is_empty()) {
        return bad("metadata.managedFields must be nil".into());
    }
    let (version, kind) = (key.kind.info().api_version, key.kind.info().kind);
    if text("/apiVersion") != version || text("/kind") != kind {
        return bad(format!(
            "invalid object type: {}, Kind={}, expected {version}, Kind={kind}",
            text("/apiVersion"),
            text("/kind")
        ));
    }
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    if *name != *key.name {
        return bad(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            key.name
        ));
    }
    if !namespace.is_empty() && *namespace != *key.namespace {
        return bad("the namespace of the provided object does not match the namespace sent on \
                    the request"
            .into());
    }
    Ok(())
}

/// A configuration without the parts that its request does not reach.
fn only(part: Part, config: &Value) -> Value {
    let mut config = config.clone();
    let Some(map) = config.as_object_mut() else { return config };
    match part {
        Part::Main => _ = map.remove("status"),
        Part::Status | Part::Scale | Part::Finalize => {
            let kept = if part == Part::Status { "status" } else { "spec" };
            map.retain(|field, _| ["apiVersion", "kind", "metadata", kept].contains(&&**field));
            if let Some(meta) = map.get_mut("metadata").and_then(Value::as_object_mut) {
                meta.retain(|field, _| field == "name" || field == "namespace");
            }
        }
    }
    if let Some(meta) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        // Unset by those who print objects.
        meta.retain(|field, value| field != "creationTimestamp" || !value.is_null());
    }
    config
}

/// The conflicts without those over some fields.
fn without(conflicts: &[Conflict], own: &FieldSet) -> Vec<Conflict> {
    let left = conflicts.iter().map(|conflict| Conflict {
        manager: conflict.manager.clone(),
        fields: conflict.fields.difference(own),
    });
    left.filter(|conflict| !conflict.fields.is_empty()).collect()
}
