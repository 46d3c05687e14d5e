//! What the API server answers to faulty manifests. Each case is a change to a sound object.

#[path = "validation_errors/policy.rs"]
mod policy;

use loopscope::api::{Kind, Object};
use loopscope::apiserver::{defaults, validation};
use loopscope::manifest;
use serde_json::{Value, json};

use crate::Outcome;

pub fn check(given: &Value, expect: &Value) -> Outcome {
    let errors = match given["kind"].as_str().unwrap_or("") {
        "Deployment" => created(Kind::Deployment, deployment(given)),
        "Scale" => created(Kind::Deployment, deployment(given)),
        "DeploymentStatus" => {
            let mut status = given.clone();
            status.as_object_mut().expect("a map").remove("kind");
            updated(json!({}), status)
        }
        "DeploymentStatusUpdate" => {
            let status = |count: &Value| match count {
                Value::Null => json!({}),
                count => json!({ "collisionCount": count }),
            };
            updated(status(&given["from"]), status(&given["to"]))
        }
        "HorizontalPodAutoscaler" => created(Kind::HorizontalPodAutoscaler, autoscaler(given)),
        "Pod" => created(Kind::Pod, pod(given)),
        "any" => Ok(unknown_fields(given)),
        "LimitRange" => return policy::limit_range(given, expect),
        "ResourceQuota" => return policy::quota(given, expect),
        other => return Outcome::Failed(format!("no kind {other}")),
    };
    match errors {
        Ok(errors) => judge(&errors, expect),
        Err(error) => Outcome::Failed(error),
    }
}

fn judge(errors: &[String], expect: &Value) -> Outcome {
    if expect["valid"].as_bool() != Some(errors.is_empty()) {
        return Outcome::Failed(format!("expected {expect}, got {errors:?}"));
    }
    if let Some(whole) = expect["errors"].as_array() {
        let whole: Vec<&str> = whole.iter().filter_map(Value::as_str).collect();
        if whole != errors {
            return Outcome::Failed(format!("expected {whole:?}, got {errors:?}"));
        }
    }
    let first = errors.first().map_or("", String::as_str);
    let words = expect["firstErrorContains"].as_str().unwrap_or("");
    if !first.contains(words) {
        return Outcome::Failed(format!("expected {words:?}, got {errors:?}"));
    }
    Outcome::Passed
}

fn created(kind: Kind, mut value: Value) -> Result<Vec<String>, String> {
    let words = validation::validate_words(kind, &mut value);
    if !words.is_empty() {
        return Ok(words);
    }
    let mut object = Object::from_value(kind, value).map_err(|error| error.to_string())?;
    defaults::default_object(&mut object);
    Ok(validation::validate_create(&object))
}

fn updated(old: Value, new: Value) -> Result<Vec<String>, String> {
    let object = |status: Value| {
        let value = json!({"metadata": {"name": "abc"}, "status": status});
        Object::from_value(Kind::Deployment, value).map_err(|error| error.to_string())
    };
    Ok(validation::validate_status(&object(old)?, &object(new)?))
}

fn deployment(given: &Value) -> Value {
    let or = |field: &str, other: Value| match &given[field] {
        Value::Null => other,
        value => value.clone(),
    };
    let labels = json!({"name": "abc"});
    let mut strategy = json!({
        "type": or("strategyType", "RollingUpdate".into()),
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1},
    });
    if given["strategyType"] == "Recreate" {
        strategy["rollingUpdate"] = given["rollingUpdate"].clone();
    }
    if !given["maxSurge"].is_null() || !given["maxUnavailable"].is_null() {
        let (surge, unavailable) = (or("maxSurge", 0.into()), or("maxUnavailable", 0.into()));
        strategy["rollingUpdate"] = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    }
    let mut pod = json!({
        "containers": [{"name": "abc", "image": "image"}],
        "restartPolicy": or("restartPolicy", "Always".into()),
    });
    if let Some(count) = given["ephemeralContainers"].as_u64() {
        pod["ephemeralContainers"] = (0..count).map(|_| json!({"name": "debug"})).collect();
    }
    let mut value = json!({
        "metadata": {"name": "abc", "namespace": "default"},
        "spec": {
            "replicas": or("replicas", 1.into()),
            "minReadySeconds": or("minReadySeconds", 0.into()),
            "selector": {"matchLabels": or("selector", labels.clone())},
            "strategy": strategy,
            "template": {"metadata": {"labels": or("templateLabels", labels)}, "spec": pod},
        },
    });
    if given["progressDeadlineSeconds"].is_i64() {
        value["spec"]["progressDeadlineSeconds"] = given["progressDeadlineSeconds"].clone();
    }
    if given["change"] == "metadata.name left out" {
        value["metadata"].as_object_mut().expect("a map").remove("name");
    }
    value
}

fn pod(given: &Value) -> Value {
    let resources = json!({"requests": given["requests"], "limits": given["limits"]});
    let container = json!({"name": "abc", "image": "image", "resources": resources});
    let spec = json!({ "containers": [container] });
    json!({"metadata": {"name": "abc", "namespace": "default"}, "spec": spec})
}

fn autoscaler(given: &Value) -> Value {
    let or = |field: &str, other: Value| match &given[field] {
        Value::Null => other,
        value => value.clone(),
    };
    let named = ["targetAverageUtilization", "targetAverageValue", "resource"];
    let own = named.iter().any(|field| !given[*field].is_null());
    let metric = if own {
        let mut target = json!({"type": "Utilization"});
        if given["targetAverageUtilization"].is_i64() {
            target["averageUtilization"] = given["targetAverageUtilization"].clone();
        }
        if given["targetAverageValue"].is_string() {
            target["averageValue"] = given["targetAverageValue"].clone();
        }
        json!({"type": "Resource", "resource": {"name": given["resource"], "target": target}})
    } else {
        let target = json!({"type": "Utilization", "averageUtilization": 70});
        json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    };
    let reference = json!({"kind": "Deployment", "name": "abc", "apiVersion": "apps/v1"});
    json!({
        "metadata": {"name": "abc", "namespace": "default"},
        "spec": {
            "scaleTargetRef": or("scaleTargetRef", reference),
            "minReplicas": or("minReplicas", 1.into()),
            "maxReplicas": or("maxReplicas", 5.into()),
            "metrics": or("metrics", json!([metric])),
        },
    })
}

/// What the server says of the whole document, which is what kubectl prints of it. Any kind has
/// these fields; a template is in a Deployment.
fn unknown_fields(given: &Value) -> Vec<String> {
    let one = given["unknownField"].as_str();
    let many = given["unknownFields"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let paths: Vec<&str> = one.into_iter().chain(many).collect();
    let of_workload = ["spec.template", "spec.strategy", "spec.selector"];
    let is_of = |path: &&str| of_workload.iter().any(|start| path.starts_with(start));
    let (version, kind) = match paths.iter().any(is_of) {
        true => ("apps/v1", "Deployment"),
        false => ("v1", "Pod"),
    };
    let mut fields = Tree::default();
    for path in paths {
        fields.reach(&path.replace("[0]", ".0"));
    }
    let mut text = format!("apiVersion: {version}\nkind: {kind}\n");
    if !fields.0.iter().any(|(name, _)| name == "metadata") {
        text.push_str("metadata: {name: a}\n");
    }
    for (name, below) in &fields.0 {
        text.push_str(&format!("{name}: {}\n", below.flow(name == "metadata")));
    }
    let refusals = manifest::read(&text).refusals;
    let words = |line: &String| {
        let (_, words) = line.split_once(&format!("cannot be handled as a {kind}: "))?;
        Some(words.to_string())
    };
    refusals.iter().filter_map(words).collect()
}

/// Fields in the order in which they came; 0 is the first item of a list.
#[derive(Default)]
struct Tree(Vec<(String, Tree)>);

impl Tree {
    fn reach(&mut self, path: &str) {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        if name.is_empty() {
            return;
        }
        let place = self.0.iter().position(|(other, _)| other == name);
        let place = place.unwrap_or_else(|| {
            self.0.push((name.into(), Tree::default()));
            self.0.len() - 1
        });
        self.0[place].1.reach(rest);
    }

    fn flow(&self, named: bool) -> String {
        match self.0.as_slice() {
            [] => "1".into(),
            [(first, below)] if first == "0" => format!("[{}]", below.flow(false)),
            fields => {
                let fields =
                    fields.iter().map(|(name, below)| format!("{name}: {}", below.flow(false)));
                let name = named.then(|| "name: a".to_string());
                let fields: Vec<String> = name.into_iter().chain(fields).collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }
}
