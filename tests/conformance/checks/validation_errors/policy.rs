//! The rows about LimitRanges and ResourceQuotas: a server that has one refuses an object.

use std::sync::Arc;

use loopscope::api::{Kind, Object};
use loopscope::apiserver::{ApiServer, Part, Request};
use loopscope::kernel::Time;
use serde_json::{Value, json};

use crate::Outcome;

struct Server(ApiServer);

impl Server {
    fn send(&mut self, request: Request) -> Result<Arc<Object>, String> {
        self.0.handle(&request, Time::ZERO).map_err(|error| error.message)
    }

    fn create(&mut self, kind: Kind, value: Value) -> Result<Arc<Object>, String> {
        let mut object = Object::from_value(kind, value).map_err(|error| error.to_string())?;
        object.meta_mut().namespace = "default".into();
        self.send(Request::Create(Arc::new(object)))
    }
}

fn pod(resources: Value) -> Value {
    pod_of(&[resources])
}

/// A pod with a container for each of these resources.
fn pod_of(resources: &[Value]) -> Value {
    let container = |(index, resources): (usize, &Value)| json!({"name": format!("c{index}"), "image": "web:1", "resources": resources});
    let containers: Vec<Value> = resources.iter().enumerate().map(container).collect();
    json!({"metadata": {"name": "web"}, "spec": {"containers": containers}})
}

/// A pod that a minimum refuses. Containers get what they do not request from the minimum itself,
/// so that only a pod's own minimum can find no request at all.
pub fn limit_range(given: &Value, expect: &Value) -> Outcome {
    let (kind, resources) = match given["case"].as_str().unwrap_or("") {
        "request missing" => ("Pod", vec![json!({})]),
        "request below minimum" => ("Container", vec![json!({"requests": {"cpu": "50m"}})]),
        // No container may request more than its limit, but a pod may, all in all.
        "limit below minimum" => {
            let limited = json!({"requests": {"cpu": "20m"}, "limits": {"cpu": "70m"}});
            ("Pod", vec![limited, json!({"requests": {"cpu": "90m"}})])
        }
        other => return Outcome::Failed(format!("no such case: {other}")),
    };
    let mut server = Server(ApiServer::new(1));
    let range = json!({
        "metadata": {"name": "limits"},
        "spec": {"limits": [{"type": kind, "min": {"cpu": "100m"}}]},
    });
    if let Err(error) = server.create(Kind::LimitRange, range) {
        return Outcome::Failed(error);
    }
    let words = [("RES", "cpu"), ("TYPE", kind), ("MIN", "100m"), ("REQ", "50m"), ("LIM", "70m")];
    let shape = expect["messageShape"].as_str().unwrap_or("").to_string();
    let text = words.iter().fold(shape, |text, (place, word)| text.replace(place, word));
    let wanted = format!("pods \"web\" is forbidden: {text}");
    match server.create(Kind::Pod, pod_of(&resources)) {
        Err(error) if error == wanted => Outcome::Passed,
        got => Outcome::Failed(format!("expected {wanted:?}, got {got:?}")),
    }
}

/// A quota of which so much is used, and an object that asks for so much more.
pub fn quota(given: &Value, expect: &Value) -> Outcome {
    let word = |field: &str| given[field].as_str().unwrap_or("").to_string();
    let (name, resource, requested) = (word("quota"), word("resource"), word("requested"));
    let mut server = Server(ApiServer::new(1));
    let amounts = |field: &str| json!({resource.as_str(): given[field]});
    // Names of objects are in small letters; the row's placeholder is put back afterwards.
    let quota = json!({
        "metadata": {"name": name.to_lowercase()}, "spec": {"hard": amounts("hard")},
    });
    let stored = server.create(Kind::ResourceQuota, quota).and_then(|quota| {
        let mut value = quota.to_value();
        value["status"] = json!({"hard": amounts("hard"), "used": amounts("used")});
        let object = Object::from_value(Kind::ResourceQuota, value).map_err(|e| e.to_string())?;
        server.send(Request::Update(Part::Status, Arc::new(object)))
    });
    if let Err(error) = stored {
        return Outcome::Failed(error);
    }
    let (kind, value) = asking(&resource, &requested);
    let wanted = expect["firstErrorContains"].as_str().unwrap_or("");
    match (server.create(kind, value), expect["valid"] == true) {
        (Ok(_), true) => Outcome::Passed,
        (Err(error), false) if error.replace(&name.to_lowercase(), &name).contains(wanted) => {
            Outcome::Passed
        }
        (got, _) => Outcome::Failed(format!("expected {expect}, got {got:?}")),
    }
}

/// An object that uses so much of a resource.
fn asking(resource: &str, amount: &str) -> (Kind, Value) {
    let (list, name) = resource.split_once('.').unwrap_or(("requests", resource));
    let compute = ["cpu", "memory", "ephemeral-storage"].contains(&name);
    if compute {
        return (Kind::Pod, pod(json!({list: {name: amount}})));
    }
    let plural = resource.strip_prefix("count/").unwrap_or(resource);
    let kind = Kind::of_argument(plural).unwrap_or(Kind::Pod);
    let body = match kind {
        Kind::Pod => pod(json!({})),
        _ => json!({"metadata": {"name": "web"}}),
    };
    (kind, body)
}
