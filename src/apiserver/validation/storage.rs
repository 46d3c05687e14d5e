//! What is stored beside the workloads (`pkg/apis/core/validation/validation.go`): claims of
//! volumes, ConfigMaps, Secrets. Left out: data sources and volume attribute classes of a claim,
//! and, where its spec changes, the list of what has changed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api::{Generic, Kind, LabelSelector, Quantity, QuantityFormat, Value, names};

use super::errors::Errors;

/// How many bytes a ConfigMap or a Secret may hold.
const MAX_DATA_BYTES: usize = 1 << 20;
/// In alphabetical order, as messages list them.
const ACCESS_MODES: [&str; 4] =
    ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const STORAGE: &str = "spec.resources[storage]";
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// One of these kinds; `old` is what it takes the place of.
pub fn storage(object: &Generic, old: Option<&Generic>, errors: &mut Errors) {
    match object.kind {
        Kind::PersistentVolumeClaim => {
            claim(object, errors);
            if let Some(old) = old {
                claim_update(object, old, errors);
            }
        }
        _ => {
            if let Some(old) = old {
                data_update(object, old, errors);
            }
            data(object, errors);
            if object.kind == Kind::Secret {
                secret(object, errors);
            }
        }
    }
}

/// `ValidatePersistentVolumeClaimSpec`.
fn claim(claim: &Generic, errors: &mut Errors) {
    let path = "spec.accessModes";
    let modes = claim.field("spec/accessModes").and_then(Value::as_array);
    let modes: Vec<&str> = modes.into_iter().flatten().filter_map(Value::as_str).collect();
    if modes.is_empty() {
        errors.required(path, "at least 1 access mode is required");
    }
    if let Some(selector) = claim.typed::<LabelSelector>("spec/selector") {
        errors.extend(selector.validate("spec.selector"));
    }
    modes.iter().for_each(|mode| errors.one_of(path, mode, &ACCESS_MODES));
    let others = |mode: &&str| *mode != "ReadWriteOncePod" && ACCESS_MODES.contains(mode);
    if modes.contains(&"ReadWriteOncePod") && modes.iter().any(others) {
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
    match claim.amounts("spec/resources/requests").get("storage") {
        None => errors.required(STORAGE, ""),
        Some(size) if size.nanos <= 0 => {
            errors.invalid(STORAGE, size.to_string(), "must be greater than zero");
        }
        Some(size)
            if Quantity::from_value(size.value(), QuantityFormat::BinarySi).nanos != size.nanos =>
        {
            errors.invalid(STORAGE, size.to_string(), "must be an integer");
        }
        Some(_) => {}
    }
    let class = claim.text("spec/storageClassName");
    if !class.is_empty() {
        errors.rules("spec.storageClassName", class, names::dns1123_subdomain(class));
    }
    if let Some(mode) = claim.field("spec/volumeMode").and_then(Value::as_str) {
        errors.one_of("spec.volumeMode", mode, &["Block", "Filesystem"]);
    }
}

/// `ValidatePersistentVolumeClaimUpdate`: the volume is named once, a bound claim may grow.
fn claim_update(new: &Generic, old: &Generic, errors: &mut Errors) {
    let size = |claim: &Generic, path: &str| claim.amounts(path).get("storage").copied();
    let (requests, requested) = ("spec/resources/requests", "spec.resources.requests.storage");
    let is_bound = new.text("status/phase") == "Bound";
    let kept = |claim: &Generic| {
        let mut spec = claim.field("spec").cloned().unwrap_or(Value::Null);
        if let Some(spec) = spec.as_object_mut() {
            if old.text("spec/volumeName").is_empty() {
                spec.remove("volumeName");
            }
            let requests = spec.get_mut("resources").and_then(|own| own.get_mut("requests"));
            if let Some(requests) = requests.and_then(Value::as_object_mut).filter(|_| is_bound) {
                requests.remove("storage");
            }
        }
        spec
    };
    if kept(new) != kept(old) {
        errors.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and \
             volumeAttributesClassName for bound claims",
        );
    }
    let (Some(is), Some(was)) = (size(new, requests), size(old, requests)) else { return };
    let capacity = size(old, "status/capacity").map_or(0, |capacity| capacity.nanos);
    if is.nanos < was.nanos && is.nanos <= capacity {
        errors.forbidden(requested, "field can not be less than status.capacity");
    }
}

/// `ValidateConfigMap`, `ValidateSecret`: keys and bytes.
fn data(object: &Generic, errors: &mut Errors) {
    let mut bytes = 0;
    let in_base64 = |field: &str| field == "binaryData" || object.kind == Kind::Secret;
    for field in ["data", "binaryData"] {
        let map = object.rest.get(field).and_then(Value::as_object);
        for (key, value) in map.into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            // What is no base64 was refused when it was read.
            let decoded =
                in_base64(field).then(|| STANDARD.decode(text).map_or(0, |own| own.len()));
            bytes += decoded.unwrap_or(text.len());
            errors.rules(&format!("{field}[{key}]"), key, config_key(key));
            let twice = || object.rest.get("data").and_then(|data| data.get(key)).is_some();
            if field == "binaryData" && twice() {
                let detail = "duplicate of key present in data";
                errors.invalid(&format!("{field}[{key}]"), key, detail);
            }
        }
    }
    if bytes > MAX_DATA_BYTES {
        errors.too_long(if object.kind == Kind::Secret { "data" } else { "[]" }, MAX_DATA_BYTES);
    }
}

/// What each type of Secret must hold (`ValidateSecret`).
fn secret(secret: &Generic, errors: &mut Errors) {
    let data = secret.rest.get("data").and_then(Value::as_object);
    let text = |key: &str| data.and_then(|data| data.get(key)).map(|value| value.as_str());
    let at = |key: &str| format!("data[{key}]");
    match secret.text("type") {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            if secret.metadata.annotations.get(key).is_none_or(|name| name.is_empty()) {
                errors.required(&format!("metadata.annotations[{key}]"), "");
            }
        }
        "kubernetes.io/dockercfg" => docker(&at(".dockercfg"), text(".dockercfg"), errors),
        "kubernetes.io/dockerconfigjson" => {
            docker(&at(".dockerconfigjson"), text(".dockerconfigjson"), errors);
        }
        "kubernetes.io/basic-auth" => {
            // Either may be empty, but one must be there.
            let keys = ["username", "password"];
            if keys.iter().all(|key| text(key).is_none()) {
                keys.iter().for_each(|key| errors.required(&at(key), ""));
            }
        }
        "kubernetes.io/ssh-auth" => {
            let key = "ssh-privatekey";
            if text(key).flatten().is_none_or(str::is_empty) {
                errors.required(&at(key), "");
            }
        }
        "kubernetes.io/tls" => {
            let missing = ["tls.crt", "tls.key"].into_iter().filter(|key| text(key).is_none());
            missing.for_each(|key| errors.required(&at(key), ""));
        }
        _ => {}
    }
}

/// The log-in at a registry must be JSON. What the parser says of it is Go's own.
fn docker(path: &str, text: Option<Option<&str>>, errors: &mut Errors) {
    let Some(text) = text else { return errors.required(path, "") };
    let bytes = STANDARD.decode(text.unwrap_or_default()).unwrap_or_default();
    let found = match serde_json::from_slice(&bytes) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(Value::Array(_)) => Ok("array"),
        Ok(Value::String(_)) => Ok("string"),
        Ok(Value::Number(_)) => Ok("number"),
        Ok(Value::Bool(_)) => Ok("bool"),
        Err(error) if error.is_eof() => Err("unexpected end of JSON input"),
        Err(_) => Err("invalid character"),
    };
    let map = "map[string]interface {}";
    let detail = match found {
        Ok(kind) => format!("json: cannot unmarshal {kind} into Go value of type {map}"),
        Err(what) => what.to_owned(),
    };
    errors.invalid(path, "<secret contents redacted>", &detail);
}

/// `ValidateSecretUpdate`, `ValidateConfigMapUpdate`: what was made immutable stays so, and a
/// Secret's type always.
fn data_update(new: &Generic, old: &Generic, errors: &mut Errors) {
    if new.kind == Kind::Secret && new.text("type") != old.text("type") {
        errors.invalid("type", new.text("type"), "field is immutable");
    }
    let is_immutable = |object: &Generic| object.typed("immutable").unwrap_or(false);
    if !is_immutable(old) {
        return;
    }
    if !is_immutable(new) {
        errors.forbidden("immutable", IMMUTABLE);
    }
    let held = |object: &Generic, field: &str| {
        let map = object.rest.get(field).and_then(Value::as_object).cloned();
        map.unwrap_or_default()
    };
    for field in ["data", "binaryData"] {
        if held(new, field) != held(old, field) {
            errors.forbidden(field, IMMUTABLE);
        }
    }
}

/// `IsConfigMapKey`.
fn config_key(key: &str) -> Vec<String> {
    let mut broken = Vec::new();
    if key.len() > 253 {
        broken.push("must be no more than 253 characters".to_string());
    }
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    if key.is_empty() || !key.bytes().all(legal) {
        broken.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
             'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
             '[-._a-zA-Z0-9]+')"
                .into(),
        );
    }
    match key {
        "." => broken.push("must not be '.'".into()),
        ".." => broken.push("must not be '..'".into()),
        _ if key.starts_with("..") => broken.push("must not start with '..'".into()),
        _ => {}
    }
    broken
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Object;
    use crate::apiserver::validation::{validate_create, validate_update};

    fn object(kind: Kind, mut value: Value) -> Object {
        value["metadata"]["name"] = "one".into();
        value["metadata"]["namespace"] = "default".into();
        Object::from_value(kind, value).expect("an object")
    }

    fn claim(spec: Value) -> Object {
        object(Kind::PersistentVolumeClaim, json!({ "spec": spec }))
    }

    fn sound(size: &str) -> Value {
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}})
    }

    #[test]
    fn a_claim_says_how_it_is_used_and_how_large_it_is() {
        assert_eq!(validate_create(&claim(sound("1Gi"))), [""; 0]);
        assert_eq!(
            validate_create(&claim(json!({}))),
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ]
        );
        let modes = ["ReadWriteOncePod", "ReadWriteOnce", "ReadWriteTwice"];
        let odd = json!({
            "accessModes": modes, "resources": {"requests": {"storage": "0"}},
            "storageClassName": "Fast", "volumeMode": "Tape",
        });
        let found = validate_create(&claim(odd));
        let expected = [
            "spec.accessModes: Unsupported value: \"ReadWriteTwice\": supported values: \
             \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            "spec.resources[storage]: Invalid value: \"0\": must be greater than zero",
            "spec.storageClassName: Invalid value: \"Fast\": a lowercase RFC 1123 subdomain",
            "spec.volumeMode: Unsupported value: \"Tape\": supported values: \"Block\", \
             \"Filesystem\"",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_claim_stays_as_it_is_but_for_its_volume_and_its_growth_once_bound() {
        let with = |size: &str, volume: Option<&str>, phase: &str| {
            let mut spec = sound(size);
            spec["volumeName"] = json!(volume);
            let status = json!({"phase": phase, "capacity": {"storage": "1Gi"}});
            object(Kind::PersistentVolumeClaim, json!({"spec": spec, "status": status}))
        };
        let immutable = "spec: Forbidden: spec is immutable after creation except \
            resources.requests and volumeAttributesClassName for bound claims";
        let shrinks = "spec.resources.requests.storage: Forbidden: field can not be less than \
            status.capacity";
        for (old, new, expected) in [
            (with("1Gi", None, "Pending"), with("1Gi", Some("pv-1"), "Pending"), &[][..]),
            (with("1Gi", Some("a"), "Bound"), with("1Gi", Some("b"), "Bound"), &[immutable]),
            (with("1Gi", Some("a"), "Bound"), with("2Gi", Some("a"), "Bound"), &[]),
            (with("1Gi", None, "Pending"), with("2Gi", None, "Pending"), &[immutable]),
            (with("2Gi", Some("a"), "Bound"), with("1Gi", Some("a"), "Bound"), &[shrinks]),
        ] {
            assert_eq!(validate_update(&old, &new), expected);
        }
    }

    #[test]
    fn a_secret_holds_what_its_type_asks_for() {
        let wrong = |kind: &str, data: Value| {
            validate_create(&object(Kind::Secret, json!({"type": kind, "data": data})))
        };
        let base64 = |text: &str| STANDARD.encode(text);
        assert_eq!(wrong("Opaque", json!({})), [""; 0]);
        assert_eq!(wrong("shop.example/any", json!({})), [""; 0]);
        assert_eq!(
            wrong("kubernetes.io/tls", json!({"tls.crt": ""})),
            ["data[tls.key]: Required value"]
        );
        assert_eq!(
            wrong("kubernetes.io/basic-auth", json!({})),
            ["data[username]: Required value", "data[password]: Required value"]
        );
        assert_eq!(wrong("kubernetes.io/basic-auth", json!({"password": ""})), [""; 0]);
        assert_eq!(
            wrong("kubernetes.io/ssh-auth", json!({"ssh-privatekey": ""})),
            ["data[ssh-privatekey]: Required value"]
        );
        assert_eq!(
            wrong("kubernetes.io/dockerconfigjson", json!({})),
            ["data[.dockerconfigjson]: Required value"]
        );
        let cut = json!({".dockercfg": base64("{")});
        assert_eq!(
            wrong("kubernetes.io/dockercfg", cut),
            ["data[.dockercfg]: Invalid value: \"<secret contents redacted>\": unexpected end of \
              JSON input"]
        );
        assert_eq!(
            wrong("kubernetes.io/service-account-token", json!({})),
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"]
        );
    }

    #[test]
    fn what_was_made_immutable_stays_so() {
        let with = |immutable: bool, value: &str| {
            let data = json!({ "key": STANDARD.encode(value) });
            let value = json!({"type": "Opaque", "immutable": immutable, "data": data});
            object(Kind::Secret, value)
        };
        let said = |field: &str| format!("{field}: Forbidden: {IMMUTABLE}");
        assert_eq!(validate_update(&with(false, "a"), &with(true, "b")), [""; 0]);
        let found = validate_update(&with(true, "a"), &with(false, "b"));
        assert_eq!(found, [said("immutable"), said("data")]);
        let other = object(Kind::Secret, json!({"type": "shop.example/any"}));
        let found = validate_update(&with(false, "a"), &other);
        assert_eq!(found, ["type: Invalid value: \"shop.example/any\": field is immutable"]);
    }
}
