//! The definitions: their defaults, what is wrong with one, its status, the kind it stands for.

use std::sync::Arc;

use serde_json::{Map, json};

use crate::api::custom::{Served, intern};
use crate::api::{Generic, Kind, Object, ObjectKey, Timestamp, Value, names};
use crate::apiserver::store::Store;
use crate::apiserver::validation::Errors;

/// The finalizer that holds a definition until its objects are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// `SetDefaults_CustomResourceDefinitionSpec`.
pub fn complete(definition: &mut Generic) {
    let kind = definition.text("spec/names/kind").to_string();
    let spec = definition.rest.get_mut("spec").and_then(Value::as_object_mut);
    let Some(spec) = spec else { return };
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else { return };
    if !kind.is_empty() {
        names.entry("singular").or_insert_with(|| kind.to_ascii_lowercase().into());
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
    }
}

fn versions(definition: &Generic) -> impl Iterator<Item = &Value> {
    definition.field("spec/versions").and_then(Value::as_array).into_iter().flatten()
}

fn word<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

fn is(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}

/// The version in which objects are kept: the first that ever was the storage version.
pub fn kept_version(definition: &Generic) -> &str {
    let stored = definition.field("status/storedVersions").and_then(|list| list.get(0));
    let now = versions(definition).find(|version| is(version, "storage"));
    stored.and_then(Value::as_str).or(now.map(|version| word(version, "name"))).unwrap_or("")
}

/// What a definition says of the version in which objects are kept.
pub fn version(definition: &Generic) -> Option<&Value> {
    let kept = kept_version(definition);
    let named = versions(definition).find(|version| word(version, "name") == kept);
    named.or_else(|| versions(definition).find(|version| is(version, "storage")))
}

/// The schema of the objects.
pub fn schema(definition: &Generic) -> Option<&Value> {
    version(definition)?.pointer("/schema/openAPIV3Schema")
}

/// Whether the status is written apart from the rest.
pub fn has_status(definition: &Generic) -> bool {
    let status = version(definition).and_then(|version| version.pointer("/subresources/status"));
    status.is_some_and(|status| !status.is_null())
}

/// Where the number of replicas stands, if objects can be scaled: `.spec.replicas`.
pub fn replicas_path(definition: &Generic) -> Option<&str> {
    version(definition)?.pointer("/subresources/scale/specReplicasPath")?.as_str()
}

fn holds(definition: &Generic, condition: &str) -> bool {
    let list = definition.field("status/conditions").and_then(Value::as_array);
    let is_it = |one: &Value| word(one, "type") == condition && word(one, "status") == "True";
    list.into_iter().flatten().any(is_it)
}

/// The kind that a definition stands for, once it is established.
pub fn kind_of(definition: &Generic) -> Option<Kind> {
    holds(definition, "Established").then(|| kind_named(definition)).flatten()
}

fn kind_named(definition: &Generic) -> Option<Kind> {
    let (group, version) = (definition.text("spec/group"), kept_version(definition));
    let (kind, plural) = (definition.text("spec/names/kind"), definition.text("spec/names/plural"));
    let whole = ![group, version, kind, plural].contains(&"");
    let namespaced = definition.text("spec/scope") == "Namespaced";
    whole.then(|| intern(&format!("{group}/{version}"), kind, plural, namespaced)).flatten()
}

/// All kinds that are served, for reading a person's words.
pub fn served<'o>(definitions: impl Iterator<Item = &'o Arc<Object>>) -> Arc<[Served]> {
    let one = |object: &Arc<Object>| {
        let definition = object.as_generic()?;
        let kind = kind_of(definition)?;
        Some(Served { kind, definition: Arc::new(definition.clone()) })
    };
    definitions.filter_map(one).collect()
}

/// The definition of a kind, if it is served.
pub fn of(store: &Store, kind: Kind) -> Option<&Generic> {
    let name = format!("{}.{}", kind.info().plural, kind.group());
    let stored = store.get(&ObjectKey::new(Kind::CustomResourceDefinition, "", name))?;
    stored.as_generic().filter(|definition| kind_of(definition) == Some(kind))
}

/// Sets names and conditions, as the naming and establishing controllers do.
pub fn accept(store: &Store, definition: &mut Generic, now: Timestamp) {
    let conflict = conflict(store, definition);
    let known = conflict.is_none() && kind_named(definition).is_some();
    let naming = match (&conflict, known) {
        (Some((reason, message)), _) => (false, *reason, message.as_str()),
        (None, true) => (true, "NoConflicts", "no conflicts found"),
        (None, false) => (false, "TooManyKinds", "the simulation knows too many kinds already"),
    };
    let established = match naming.0 {
        true => (true, "InitialNamesAccepted", "the initial names have been accepted"),
        false => (false, "NotAccepted", "not all names are accepted"),
    };
    let mut conditions = definition.field("status/conditions").cloned().unwrap_or(json!([]));
    set_condition(&mut conditions, "NamesAccepted", naming, now);
    // Once established, always established.
    if !holds(definition, "Established") {
        set_condition(&mut conditions, "Established", established, now);
    }
    definition.set_field("status", "conditions", conditions);
    if naming.0 {
        let names = definition.field("spec/names").cloned().unwrap_or(json!({}));
        definition.set_field("status", "acceptedNames", names);
    }
    let storage = versions(definition).find(|version| is(version, "storage"));
    let storage = storage.map(|version| Value::from(word(version, "name")));
    let mut stored = definition.field("status/storedVersions").cloned().unwrap_or(json!([]));
    if let (Some(stored), Some(storage)) = (stored.as_array_mut(), storage)
        && !stored.contains(&storage)
    {
        stored.push(storage);
    }
    definition.set_field("status", "storedVersions", stored);
}

/// Says that a definition is on its way out.
pub fn terminate(definition: &mut Generic, now: Timestamp) {
    let mut conditions = definition.field("status/conditions").cloned().unwrap_or(json!([]));
    let why = (true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    set_condition(&mut conditions, "Terminating", why, now);
    definition.set_field("status", "conditions", conditions);
}

fn set_condition(
    conditions: &mut Value,
    kind: &str,
    (holds, reason, message): (bool, &str, &str),
    now: Timestamp,
) {
    let Some(list) = conditions.as_array_mut() else { return };
    let status = if holds { "True" } else { "False" };
    let found = list.iter().position(|one| word(one, "type") == kind);
    let since = found
        .filter(|at| word(&list[*at], "status") == status)
        .and_then(|at| list[at].get("lastTransitionTime").cloned());
    let new = json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since.unwrap_or_else(|| now.to_string().into()),
    });
    match found {
        Some(at) => list[at] = new,
        None => list.push(new),
    }
}

/// A name that another kind of the same group has already.
fn conflict(store: &Store, definition: &Generic) -> Option<(&'static str, String)> {
    let group = definition.text("spec/group");
    let mut taken: Vec<String> = Vec::new();
    let mut kinds: Vec<String> = Vec::new();
    for info in Kind::all().iter().filter(|info| info.id.group() == group) {
        taken
            .extend(std::iter::once(info.plural).chain(info.short.iter().copied()).map(Into::into));
        taken.push(info.kind.to_ascii_lowercase());
        kinds.push(info.kind.into());
    }
    let others =
        store.list(Kind::CustomResourceDefinition).filter_map(|object| object.as_generic());
    for other in others.filter(|other| other.metadata.name != definition.metadata.name) {
        let names =
            other.field("status/acceptedNames").filter(|_| other.text("spec/group") == group);
        let Some(names) = names else { continue };
        taken.extend(["plural", "singular"].iter().map(|field| word(names, field).to_string()));
        taken.extend(short_names(names).map(Into::into));
        kinds.extend(["kind", "listKind"].iter().map(|field| word(names, field).to_string()));
    }
    let names = definition.field("spec/names")?;
    let fields: [(&'static str, &str, &[String]); 4] = [
        ("PluralConflict", word(names, "plural"), &taken),
        ("SingularConflict", word(names, "singular"), &taken),
        ("KindConflict", word(names, "kind"), &kinds),
        ("ListKindConflict", word(names, "listKind"), &kinds),
    ];
    let clash = |name: &str, taken: &[String]| taken.iter().any(|other| other == name);
    let text = |name: &str| format!("{name:?} is already in use");
    let short = short_names(names).find(|name| clash(name, &taken));
    let mut found = fields.into_iter().filter(|(_, name, taken)| clash(name, taken));
    found
        .next()
        .map(|(reason, name, _)| (reason, text(name)))
        .or_else(|| short.map(|name| ("ShortNamesConflict", text(name))))
}

fn short_names(names: &Value) -> impl Iterator<Item = &str> {
    let list = names.get("shortNames").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// `ValidateCustomResourceDefinition`, as far as people get it wrong.
pub fn validate(definition: &Generic, errors: &mut Errors) {
    let (group, plural) = (definition.text("spec/group"), definition.text("spec/names/plural"));
    let name = &*definition.metadata.name;
    if !name.is_empty() && *name != format!("{plural}.{group}") {
        errors.invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    }
    protected_group(definition, group, errors);
    if group.is_empty() {
        errors.required("spec.group", "");
    } else {
        errors.rules("spec.group", group, names::dns1123_subdomain(group));
        if !group.contains('.') {
            errors.invalid("spec.group", group, "should be a domain with at least one dot");
        }
    }
    match definition.text("spec/scope") {
        "" => errors.required("spec.scope", ""),
        scope => errors.one_of("spec.scope", scope, &["Cluster", "Namespaced"]),
    }
    validate_names(definition, errors);
    let storage = versions(definition).filter(|version| is(version, "storage")).count();
    let list = definition.field("spec/versions").cloned().unwrap_or(json!([]));
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.invalid("spec.versions", list, detail);
    }
    for (index, version) in versions(definition).enumerate() {
        validate_version(version, &format!("spec.versions[{index}]"), errors);
    }
}

fn protected_group(definition: &Generic, group: &str, errors: &mut Errors) {
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|end| group == *end || group.ends_with(&format!(".{end}")));
    let annotation = "api-approved.kubernetes.io";
    if protected && !definition.metadata.annotations.contains_key(annotation) {
        errors.required(
            &format!("metadata.annotations[{annotation}]"),
            "protected groups must have approval annotation \"api-approved.kubernetes.io\", see \
             https://github.com/kubernetes/enhancements/pull/1111",
        );
    }
}

fn validate_names(definition: &Generic, errors: &mut Errors) {
    for field in ["plural", "singular"] {
        let name = definition.text(&format!("spec/names/{field}"));
        let path = format!("spec.names.{field}");
        match name {
            "" if field == "plural" => errors.required(&path, ""),
            "" => {}
            name => errors.rules(&path, name, names::dns1035_label(name)),
        }
    }
    for field in ["kind", "listKind"] {
        let name = definition.text(&format!("spec/names/{field}"));
        let path = format!("spec.names.{field}");
        if name.is_empty() {
            errors.required(&path, "");
        }
        for broken in names::dns1035_label(&name.to_ascii_lowercase()) {
            if !name.is_empty() {
                let detail = format!("may have mixed case, but should otherwise match: {broken}");
                errors.invalid(&path, name, &detail);
            }
        }
    }
    let (kind, list) = (definition.text("spec/names/kind"), definition.text("spec/names/listKind"));
    if !kind.is_empty() && kind == list {
        let detail = "kind and listKind may not be the same";
        errors.invalid("spec.names.listKind", list, detail);
    }
}

fn validate_version(version: &Value, path: &str, errors: &mut Errors) {
    let name = word(version, "name");
    let path_of_name = format!("{path}.name");
    errors.rules(&path_of_name, name, names::dns1035_label(name));
    let at = format!("{path}.schema.openAPIV3Schema");
    match version.pointer("/schema/openAPIV3Schema").and_then(Value::as_object) {
        None => errors.required(&at, "schemas are required"),
        Some(schema) => {
            match schema.get("type").and_then(Value::as_str).unwrap_or("") {
                "" => errors.required(&format!("{at}.type"), "must not be empty at the root"),
                "object" => {}
                other => {
                    errors.invalid(&format!("{at}.type"), other, "must be object at the root");
                }
            }
            structural(schema, &at, 0, errors);
        }
    }
}

/// Every part of a schema says its type, or that it may be anything.
fn structural(schema: &Map<String, Value>, path: &str, depth: usize, errors: &mut Errors) {
    const DEPTH_MAX: usize = 64;
    if depth > DEPTH_MAX {
        return;
    }
    let below = |path: String, inner: &Value, what: &str, errors: &mut Errors| {
        let Some(inner) = inner.as_object() else { return };
        let flag = |name: &str| inner.get(name).and_then(Value::as_bool).unwrap_or(false);
        let free = flag("x-kubernetes-int-or-string")
            || flag("x-kubernetes-preserve-unknown-fields")
            || flag("x-kubernetes-embedded-resource");
        if !free && inner.get("type").and_then(Value::as_str).unwrap_or("").is_empty() {
            let detail = format!("must not be empty for specified {what}");
            errors.required(&format!("{path}.type"), &detail);
        }
        structural(inner, &path, depth + 1, errors);
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, inner) in properties.into_iter().flatten() {
        below(format!("{path}.properties[{name}]"), inner, "object fields", errors);
    }
    if let Some(items) = schema.get("items") {
        below(format!("{path}.items"), items, "array items", errors);
    }
    if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
        below(format!("{path}.additionalProperties"), inner, "object fields", errors);
    }
}
