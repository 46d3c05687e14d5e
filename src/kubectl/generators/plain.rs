//! Objects that are little more than what was said.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Named, map};
use crate::api::selector::Selector;
use crate::api::{Quantity, Value};
use crate::kubectl::errors::UsageError;
use crate::kubectl::parse::pairs;

/// `create namespace`.
pub fn namespace(named: &Named<'_>) -> Result<Value, UsageError> {
    Ok(json!({"metadata": named.metadata(), "spec": {}, "status": {}}))
}

/// `create serviceaccount`.
pub fn service_account(named: &Named<'_>) -> Result<Value, UsageError> {
    Ok(json!({"metadata": named.metadata()}))
}

/// What `--from-literal` says.
fn literals(named: &Named<'_>) -> Result<BTreeMap<String, String>, UsageError> {
    named.no_files(&["from-file", "from-env-file"])?;
    let mut data = BTreeMap::new();
    for literal in named.flags.values("from-literal") {
        let pair = literal.split_once('=').filter(|(key, _)| !key.is_empty());
        let Some((key, value)) = pair else {
            let message = format!("invalid literal source {literal}, expected key=value");
            return Err(UsageError::plain(message));
        };
        let value = value.trim_matches(['\'', '"']).to_string();
        if data.insert(key.to_string(), value).is_some() {
            return Err(UsageError::plain(format!(
                "cannot add key {key:?}, another key by that name already exists in Data for \
                 ConfigMap {:?}",
                named.name
            )));
        }
    }
    Ok(data)
}

/// `create configmap`.
pub fn config_map(named: &Named<'_>) -> Result<Value, UsageError> {
    let data = literals(named)?;
    Ok(match data.is_empty() {
        true => json!({"metadata": named.metadata()}),
        false => json!({"data": data, "metadata": named.metadata()}),
    })
}

/// `create secret generic`.
pub fn secret(named: &Named<'_>) -> Result<Value, UsageError> {
    let encoded = |(key, value): (String, String)| (key, STANDARD.encode(value));
    let data: BTreeMap<_, _> = literals(named)?.into_iter().map(encoded).collect();
    let mut value = json!({"metadata": named.metadata()});
    if !data.is_empty() {
        value["data"] = json!(data);
    }
    if let Some(kind) = named.flags.value("type") {
        value["type"] = kind.into();
    }
    Ok(value)
}

/// `create secret docker-registry`.
pub fn docker_secret(named: &Named<'_>) -> Result<Value, UsageError> {
    named.no_files(&["from-file"])?;
    let user = named.flags.value("docker-username").unwrap_or("");
    let password = named.flags.value("docker-password").unwrap_or("");
    if user.is_empty() || password.is_empty() {
        let message = "either --from-file or the combination of --docker-username, \
                       --docker-password and --docker-server is required";
        return Err(UsageError::plain(message));
    }
    let server = named.flags.value("docker-server").unwrap_or("https://index.docker.io/v1/");
    let mut entry = json!({
        "auth": STANDARD.encode(format!("{user}:{password}")),
        "password": password,
        "username": user,
    });
    if let Some(email) = named.flags.value("docker-email") {
        entry["email"] = email.into();
    }
    // In the order of the fields of kubectl's own type, which is not that of their names.
    let order = ["username", "password", "email", "auth"];
    let fields = order.iter().filter_map(|key| Some(format!("{key:?}:{}", entry.get(*key)?)));
    let fields: Vec<String> = fields.collect();
    let text = format!("{{\"auths\":{{{}:{{{}}}}}}}", json!(server), fields.join(","));
    Ok(json!({
        "data": {".dockerconfigjson": STANDARD.encode(text)},
        "metadata": named.metadata(),
        "type": "kubernetes.io/dockerconfigjson",
    }))
}

/// `create quota`.
pub fn quota(named: &Named<'_>) -> Result<Value, UsageError> {
    let mut hard = BTreeMap::new();
    for part in named.list("hard") {
        let Some((resource, amount)) = part.split_once('=') else {
            let message = format!("Invalid argument syntax {part}, expected <resource>=<value>");
            return Err(UsageError::plain(message));
        };
        let amount = Quantity::parse(amount).map_err(|e| UsageError::plain(e.to_string()))?;
        hard.insert(resource.to_string(), amount);
    }
    let mut spec = json!({});
    if !hard.is_empty() {
        spec["hard"] = json!(hard);
    }
    let scopes = named.list("scopes");
    if !scopes.is_empty() {
        spec["scopes"] = json!(scopes);
    }
    Ok(json!({"metadata": named.metadata(), "spec": spec, "status": {}}))
}

/// A number, or text such as `50%`.
fn amount(text: &str) -> Value {
    text.parse::<i32>().map_or_else(|_| text.into(), Value::from)
}

/// `create poddisruptionbudget`.
pub fn budget(named: &Named<'_>) -> Result<Value, UsageError> {
    let selector = named.flags.value("selector");
    let Some(selector) = selector.filter(|text| !text.is_empty()) else {
        return Err(UsageError::plain("a selector must be specified"));
    };
    Selector::parse(selector).map_err(UsageError::plain)?;
    let least = named.flags.value("min-available");
    let most = named.flags.value("max-unavailable");
    let mut spec = json!({"selector": {"matchLabels": map(&pairs(selector))}});
    match (least, most) {
        (None, None) => {
            let message = "one of min-available or max-unavailable must be specified";
            return Err(UsageError::plain(message));
        }
        (Some(_), Some(_)) => {
            let message = "min-available and max-unavailable cannot be both specified";
            return Err(UsageError::plain(message));
        }
        (Some(least), None) => spec["minAvailable"] = amount(least),
        (None, Some(most)) => spec["maxUnavailable"] = amount(most),
    }
    Ok(json!({
        "metadata": named.metadata(),
        "spec": spec,
        "status": {
            "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0,
        },
    }))
}

/// `create priorityclass`.
pub fn priority_class(named: &Named<'_>) -> Result<Value, UsageError> {
    let value = named.flags.number("value")?.unwrap_or(0);
    let policy = named.flags.value("preemption-policy").unwrap_or("PreemptLowerPriority");
    let mut class = json!({
        "metadata": named.metadata(),
        "preemptionPolicy": policy,
        "value": value,
    });
    if named.flags.has("global-default") {
        class["globalDefault"] = true.into();
    }
    if let Some(text) = named.flags.value("description") {
        class["description"] = text.into();
    }
    Ok(class)
}
