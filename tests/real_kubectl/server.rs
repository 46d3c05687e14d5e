//! The simulation's API server behind a socket, as much of the real one's protocol as kubectl needs
//! for the lines of this test: discovery, lists and single objects, tables, create, merge patch,
//! scale, delete, evict. Left out: watches, OpenAPI, strategic patches with directives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use loopscope::api::selector::Selector;
use loopscope::api::{Kind, KindInfo, Object, ObjectKey};
use loopscope::apiserver::{ApiError, DeleteOptions, Part, Request};
use loopscope::kubectl::{Api, Look, table};
use loopscope::manifest;
use serde_json::{Value, json};

use super::cluster::Cluster;

/// What a client asked.
struct Asked {
    method: String,
    path: Vec<String>,
    query: Vec<(String, String)>,
    accept: String,
    body: String,
}

/// Serves a cluster for as long as the test runs; the address.
pub fn serve(cluster: Arc<Mutex<Cluster>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let cluster = cluster.clone();
            std::thread::spawn(move || talk(stream, &cluster));
        }
    });
    format!("http://{address}")
}

fn talk(stream: TcpStream, cluster: &Mutex<Cluster>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let asked = read(&mut reader)?;
        let (code, body) = {
            let mut cluster = cluster.lock().ok()?;
            answer(&asked, &mut cluster)
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        writer.write_all(head.as_bytes()).ok()?;
        writer.write_all(body.as_bytes()).ok()?;
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_string(), words.next()?.to_string());
    let (mut length, mut accept) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "accept" => accept = value.into(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key.to_string(), unescape(value))
    };
    Some(Asked {
        method,
        path: path.split('/').filter(|part| !part.is_empty()).map(unescape).collect(),
        query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        accept,
        body: String::from_utf8(body).ok()?,
    })
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Asked {
    fn query(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn answer(asked: &Asked, cluster: &mut Cluster) -> (u16, Value) {
    let path: Vec<&str> = asked.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api"] => (200, json!({"kind": "APIVersions", "versions": ["v1"]})),
        ["apis"] => (200, groups()),
        ["version"] => (200, json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"})),
        ["api", "v1", rest @ ..] => resource("v1", rest, asked, cluster),
        ["apis", group, version, rest @ ..] => {
            resource(&format!("{group}/{version}"), rest, asked, cluster)
        }
        _ => failure(404, "NotFound", "the server could not find the requested resource"),
    }
}

fn failure(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code, "details": {},
    });
    (code, status)
}

fn refused(error: &ApiError) -> (u16, Value) {
    let reason = error.reason.word();
    let code = match reason {
        "NotFound" => 404,
        "AlreadyExists" | "Conflict" => 409,
        "Invalid" => 422,
        "Forbidden" => 403,
        _ => 400,
    };
    failure(code, reason, &error.message)
}

fn groups() -> Value {
    let mut versions: Vec<(&str, &str)> =
        Kind::all().iter().filter_map(|info| info.api_version.split_once('/')).collect();
    versions.sort_unstable();
    versions.dedup();
    let one = |(group, version): &(&str, &str)| {
        let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
        json!({"name": group, "versions": [version], "preferredVersion": version})
    };
    let mut groups: Vec<Value> = versions.iter().map(one).collect();
    // Read and turned into v2, as by the real server.
    for group in groups.iter_mut().filter(|group| group["name"] == "autoscaling") {
        let version = json!({"groupVersion": "autoscaling/v1", "version": "v1"});
        group["versions"].as_array_mut().expect("a list").push(version);
    }
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn scales(kind: &str) -> bool {
    matches!(kind, "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet")
}

fn resources(version: &str) -> Value {
    const ALL: [&str; 10] = [
        "Pod",
        "Service",
        "ReplicationController",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "CronJob",
        "HorizontalPodAutoscaler",
    ];
    let one = |info: &KindInfo| {
        let categories: &[&str] = if ALL.contains(&info.kind) { &["all"] } else { &[] };
        json!({
            "name": info.plural, "singularName": info.kind.to_lowercase(), "kind": info.kind,
            "namespaced": info.namespaced, "shortNames": info.short, "categories": categories,
            "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        })
    };
    let kept = if version == "autoscaling/v1" { "autoscaling/v2" } else { version };
    let of = Kind::all().iter().filter(|info| info.api_version == kept);
    let mut list: Vec<Value> = of.map(one).collect();
    for info in Kind::all().iter().filter(|info| info.api_version == version) {
        if scales(info.kind) {
            list.push(json!({
                "name": format!("{}/scale", info.plural), "singularName": "", "kind": "Scale",
                "namespaced": true, "group": "autoscaling", "version": "v1",
                "verbs": ["get", "patch", "update"],
            }));
        }
    }
    if version == "v1" {
        list.push(json!({
            "name": "pods/eviction", "singularName": "", "kind": "Eviction", "namespaced": true,
            "group": "policy", "version": "v1", "verbs": ["create"],
        }));
    }
    json!({"kind": "APIResourceList", "groupVersion": version, "resources": list})
}

fn resource(version: &str, path: &[&str], asked: &Asked, cluster: &mut Cluster) -> (u16, Value) {
    let (namespace, path) = match path {
        [] => return (200, resources(version)),
        ["namespaces", name, rest @ ..] if !rest.is_empty() => (*name, rest),
        path => ("", path),
    };
    let found = Kind::all().iter().find(|info| {
        info.api_version == version && path.first().is_some_and(|plural| info.plural == *plural)
    });
    let Some(info) = found else {
        return failure(404, "NotFound", "the server could not find the requested resource");
    };
    match (asked.method.as_str(), path) {
        ("GET", [_]) => (200, list(info, namespace, asked, cluster)),
        ("POST", [_]) => create(info, namespace, asked, cluster),
        (_, [_, name, sub @ ..]) => {
            let key = ObjectKey::new(info.id, namespace, *name);
            single(key, sub.first().copied().unwrap_or(""), asked, cluster)
        }
        _ => failure(405, "MethodNotAllowed", "the server does not allow this method"),
    }
}

fn list(info: &KindInfo, namespace: &str, asked: &Asked, cluster: &Cluster) -> Value {
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    let mut objects = cluster.list(info.id, namespace);
    if let Some(text) = asked.query("labelSelector") {
        let selector = Selector::parse(text).expect("kubectl parsed it");
        objects.retain(|object| selector.matches(&object.meta().labels));
    }
    for field in asked.query("fieldSelector").into_iter().flat_map(|list| list.split(',')) {
        let (path, value) = field.split_once('=').unwrap_or((field, ""));
        let pointer = format!("/{}", path.replace('.', "/"));
        objects.retain(|object| {
            object.to_value().pointer(&pointer).and_then(Value::as_str).unwrap_or("") == value
        });
    }
    if asked.accept.contains("as=Table") {
        return rows(info.id, &objects, cluster);
    }
    let items: Vec<Value> = objects.iter().map(|object| object.to_value()).collect();
    json!({
        "apiVersion": info.api_version, "kind": format!("{}List", info.kind),
        "metadata": {"resourceVersion": "1"}, "items": items,
    })
}

fn rows(kind: Kind, objects: &[Arc<Object>], cluster: &Cluster) -> Value {
    let plain = table(kind, &[], cluster.now(), &Look::default()).columns.len();
    let table = table(kind, objects, cluster.now(), &Look { wide: true, ..Look::default() });
    let column = |(at, name): (usize, &String)| {
        let format = if name == "NAME" { "name" } else { "" };
        json!({
            "name": name, "type": "string", "format": format, "description": "",
            "priority": i32::from(at >= plain),
        })
    };
    let columns: Vec<Value> = table.columns.iter().enumerate().map(column).collect();
    let row = |(cells, object): (&Vec<String>, &Arc<Object>)| json!({"cells": cells, "object": object.to_value()});
    let rows: Vec<Value> = table.rows.iter().zip(objects).map(row).collect();
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": {"resourceVersion": "1"},
        "columnDefinitions": columns, "rows": rows,
    })
}

fn reply(asked: &Asked, request: Request, cluster: &mut Cluster) -> (u16, Value) {
    // A delete has its options in the body.
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    let is_dry = asked.query("dryRun").is_some() || body.get("dryRun").is_some();
    let answer = match is_dry {
        true => cluster.dry_run(&request),
        false => cluster.request(request),
    };
    match answer {
        Ok(object) => (if asked.method == "POST" { 201 } else { 200 }, object.to_value()),
        Err(error) => refused(&error),
    }
}

fn create(info: &KindInfo, namespace: &str, asked: &Asked, cluster: &mut Cluster) -> (u16, Value) {
    let reading = manifest::read(&asked.body);
    let Some(document) = reading.documents.first() else {
        return failure(400, "BadRequest", &format!("{:?}", reading.problems));
    };
    let mut object = (*document.object).clone();
    if info.namespaced {
        object.meta_mut().namespace = namespace.into();
    }
    reply(asked, Request::Create(Arc::new(object)), cluster)
}

fn single(key: ObjectKey, sub: &str, asked: &Asked, cluster: &mut Cluster) -> (u16, Value) {
    let Some(object) = cluster.get(&key) else {
        return refused(&ApiError::not_found(key.kind, &key.name));
    };
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    match (asked.method.as_str(), sub) {
        ("GET", "") if asked.accept.contains("as=Table") => {
            (200, rows(key.kind, &[object], cluster))
        }
        ("GET", "") => (200, object.to_value()),
        (_, "scale") if !scales(key.kind.info().kind) => {
            failure(404, "NotFound", "the server could not find the requested resource")
        }
        ("GET", "scale") => (200, scale(&object)),
        ("PATCH" | "PUT", "scale") => {
            let replicas = body["spec"]["replicas"].clone();
            let patch = json!({"spec": {"replicas": replicas}});
            let (code, _) = reply(asked, Request::Patch(Part::Scale, key.clone(), patch), cluster);
            (code, cluster.get(&key).map_or(Value::Null, |object| scale(&object)))
        }
        ("PATCH", "") => reply(asked, Request::Patch(Part::Main, key, body), cluster),
        ("DELETE", "") => {
            let options = DeleteOptions {
                grace_period_seconds: body["gracePeriodSeconds"].as_i64(),
                ..DeleteOptions::default()
            };
            reply(asked, Request::Delete(key, options), cluster)
        }
        ("POST", "eviction") => {
            let (code, value) =
                reply(asked, Request::Delete(key, DeleteOptions::default()), cluster);
            match code {
                201 => (201, json!({"apiVersion": "v1", "kind": "Status", "status": "Success"})),
                _ => (code, value),
            }
        }
        _ => failure(405, "MethodNotAllowed", "the server does not allow this method"),
    }
}

fn scale(object: &Object) -> Value {
    let value = object.to_value();
    json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {
            "name": value["metadata"]["name"], "namespace": value["metadata"]["namespace"],
            "resourceVersion": value["metadata"]["resourceVersion"],
        },
        "spec": {"replicas": value["spec"]["replicas"]},
        "status": {"replicas": 0},
    })
}
