//! What becomes of dependents: the API server's part at the delete, and the collector's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, OwnerReference, Str};
use loopscope::apiserver::{
    ApiError, ApiServer, DeleteOptions, Propagation, Reason, Request, Response,
};
use loopscope::client::Cache;
use loopscope::controllers::garbage_collector::GarbageCollector;
use loopscope::controllers::garbage_collector::graph::Graph;
use loopscope::controllers::garbage_collector::references::{
    remove_owner_references, unblock_owner_references,
};
use loopscope::controllers::{Change, ChangeKind, Context, PassRun, Plan, Step};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::graceful_deletion::{error, valid};
use crate::{Outcome, compare, given};

const NOW: Time = Time::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "check", deny_unknown_fields)]
enum Given {
    #[serde(rename_all = "camelCase")]
    Delete {
        object: Held,
        delete_options: Option<Asked>,
        resource_default_policy: String,
    },
    #[serde(rename_all = "camelCase")]
    DeletePolicyByVersion {
        kind: String,
        api_version: String,
        delete_options: Option<Asked>,
        object: Held,
    },
    #[serde(rename_all = "camelCase")]
    ProcessDependent {
        dependent: Dependent,
        owner_lookup: u16,
    },
    #[serde(rename_all = "camelCase")]
    RemoveOwnerReferences {
        owner_reference_uids: Vec<String>,
        remove_uids: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    UnblockOwnerReferences {
        owner_references: Vec<Value>,
    },
    #[serde(rename_all = "camelCase")]
    Orphan {
        patch_of_dependent: u16,
    },
    Graph {
        events: Vec<GraphEvent>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    finalizers: Vec<String>,
    #[serde(rename = "generation", default)]
    _generation: i64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    orphan_dependents: Option<bool>,
    propagation_policy: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Dependent {
    kind: String,
    name: String,
    owner_references: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GraphEvent {
    #[serde(rename = "type")]
    kind: String,
    uid: String,
    owner_uids: Vec<String>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match given(case) {
        Ok(Given::Delete { object, delete_options, resource_default_policy }) => {
            let kind = match resource_default_policy.as_str() {
                "orphan" => Kind::ReplicationController,
                _ => Kind::ReplicaSet,
            };
            deleted(kind, &object.finalizers, delete_options.unwrap_or_default())
        }
        Ok(Given::DeletePolicyByVersion { kind, api_version, delete_options, object }) => {
            let Some(kind) = Kind::of_manifest(&api_version, &kind) else {
                return Outcome::NotModelled("no such version of the kind");
            };
            let got = deleted(kind, &object.finalizers, delete_options.unwrap_or_default());
            let after = got["finalizers"].as_array().cloned().unwrap_or_default();
            let is_new = |name: &Value| {
                name.as_str().is_some_and(|name| !object.finalizers.iter().any(|f| f == name))
            };
            json!({"finalizersAdded": Vec::from_iter(after.into_iter().filter(is_new))})
        }
        Ok(Given::ProcessDependent { dependent, owner_lookup }) => {
            return requests(expect, &process(&dependent, owner_lookup));
        }
        Ok(Given::RemoveOwnerReferences { owner_reference_uids, remove_uids }) => {
            let references: Vec<_> = owner_reference_uids.iter().map(|uid| owner(uid)).collect();
            let uids: Vec<Str> = remove_uids.iter().map(|uid| uid.as_str().into()).collect();
            let left = remove_owner_references(&references, &uids);
            let left: Vec<_> = left.iter().map(|reference| reference.uid.to_string()).collect();
            json!({"ownerReferenceUids": left})
        }
        Ok(Given::UnblockOwnerReferences { owner_references }) => {
            json!({"ownerReferences": unblocked(&owner_references)})
        }
        Ok(Given::Orphan { patch_of_dependent }) => {
            return error(expect, orphan(patch_of_dependent));
        }
        Ok(Given::Graph { events }) => json!({"invariantHoldsAfterEachEvent": graph(&events)}),
        Err(outcome) => return outcome,
    };
    compare(expect, &got)
}

fn deleted(kind: Kind, finalizers: &[String], asked: Asked) -> Value {
    let mut server = ApiServer::new(1);
    let object = Arc::new(valid(kind, finalizers));
    let stored = server.handle(&Request::Create(object), NOW).expect("it is valid");
    let policy = asked.propagation_policy.as_deref().map(|policy| match policy {
        "Orphan" => Propagation::Orphan,
        "Foreground" => Propagation::Foreground,
        _ => Propagation::Background,
    });
    // The old spelling of the two.
    let old = asked.orphan_dependents.map(|orphans| match orphans {
        true => Propagation::Orphan,
        false => Propagation::Background,
    });
    let options = DeleteOptions { propagation: old.or(policy), ..DeleteOptions::default() };
    server.handle(&Request::Delete(stored.key(), options), NOW).expect("it is there");
    let Some(left) = server.store().get(&stored.key()) else { return json!({"objectGone": true}) };
    let meta = left.meta();
    let finalizers: Vec<_> = meta.finalizers.iter().map(|name| name.to_string()).collect();
    json!({
        "objectGone": false,
        "finalizers": finalizers,
        "deletionTimestampSet": meta.is_terminating(),
        "deletionGracePeriodSeconds": meta.deletion_grace_period_seconds,
        "generationIncreased": meta.generation > stored.meta().generation,
    })
}

fn owner(uid: &str) -> OwnerReference {
    read_reference(&json!({"apiVersion": "v1", "kind": "Pod", "name": uid, "uid": uid}))
}

fn read_reference(value: &Value) -> OwnerReference {
    let mut fields = json!({"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": "0"});
    let (Some(into), Some(from)) = (fields.as_object_mut(), value.as_object()) else {
        panic!("an owner reference");
    };
    into.extend(from.clone());
    serde_json::from_value(fields).expect("an owner reference")
}

/// Not blocking is one thing here, whether it is said or not: what was not said stays so.
fn unblocked(references: &[Value]) -> Vec<Value> {
    let read: Vec<_> = references.iter().map(read_reference).collect();
    let after = unblock_owner_references(&read);
    let show = |(before, after): (&Value, &OwnerReference)| {
        let mut shown = Map::from_iter([("uid".to_string(), json!(after.uid))]);
        if before.get("blockOwnerDeletion").is_some() || after.block_owner_deletion {
            shown.insert("blockOwnerDeletion".into(), json!(after.block_owner_deletion));
        }
        Value::Object(shown)
    };
    references.iter().zip(&after).map(show).collect()
}

fn pod(name: &str, owners: Vec<OwnerReference>) -> Object {
    let meta = json!({"name": name, "namespace": "default", "uid": format!("uid of {name}")});
    let mut pod = Object::from_value(Kind::Pod, json!({"metadata": meta})).expect("a pod");
    pod.meta_mut().owner_references = owners.into();
    pod
}

/// Feeds objects to a collector, and then lets it look at a key until it is content.
struct Bench<F> {
    collector: GarbageCollector,
    cache: Cache,
    asked: Vec<Request>,
    answer: F,
}

impl<F: FnMut(&Request) -> Response> Bench<F> {
    fn new(answer: F) -> Bench<F> {
        let (collector, cache) = (GarbageCollector::default(), Cache::default());
        Bench { collector, cache, asked: Vec::new(), answer }
    }

    fn cx<'a>(cache: &'a Cache) -> Context<'a> {
        Context { cache, now: NOW, seed: 1, promises_kept: true }
    }

    fn see(&mut self, object: Object) -> Vec<ObjectKey> {
        let object = Arc::new(object);
        let before = self.cache.put(object.clone());
        let change = Change { kind: ChangeKind::Added, before, object };
        self.collector.wakes(&change, &Self::cx(&self.cache)).keys
    }

    fn pass(&mut self, key: &ObjectKey) -> (Vec<ObjectKey>, Option<String>) {
        let plan: Plan = self.collector.sync(key, &Self::cx(&self.cache));
        let (mut run, mut woken) = (PassRun::new(plan), Vec::new());
        loop {
            match run.next(NOW) {
                Step::Send(requests) => {
                    for (index, request) in requests.into_iter().enumerate() {
                        let response = (self.answer)(&request);
                        woken.extend(self.collector.answered(key, &request, &response).keys);
                        run.answer(index, &response);
                        self.asked.push(request);
                    }
                }
                Step::Wait => panic!("nothing is outstanding"),
                Step::Ended(ended) => return (woken, ended.error),
            }
        }
    }
}

fn process(dependent: &Dependent, owner_lookup: u16) -> BTreeSet<String> {
    assert_eq!(dependent.kind, "Pod", "the cases have pods");
    let owners: Vec<_> = dependent.owner_references.iter().map(read_reference).collect();
    let object = pod(&dependent.name, owners.clone());
    let key = object.key();
    let mut bench = Bench::new(|request: &Request| match request {
        Request::Get(asked) if *asked != key => {
            if owner_lookup != 200 {
                return Err(refused(owner_lookup));
            }
            let mut found = pod(&asked.name, Vec::new());
            let uid = owners.iter().find(|owner| owner.name == asked.name).map(|o| o.uid.clone());
            found.meta_mut().uid = uid.unwrap_or_default();
            Ok(Arc::new(found))
        }
        _ => Ok(Arc::new(object.clone())),
    });
    let mut keys = bench.see(object.clone());
    keys.push(key.clone());
    for _ in 0..20 {
        let Some(next) = keys.pop() else { break };
        let is_owner = next != key;
        let (woken, _) = bench.pass(&next);
        // A virtual owner is asked for again and again by a timer, which is not waited for.
        keys.extend(woken.into_iter().filter(|woken| !is_owner || *woken == key));
    }
    let asked = std::mem::take(&mut bench.asked);
    let name = |request: &Request| {
        let verb = match request {
            Request::Get(_) => "GET",
            Request::Delete(..) => "DELETE",
            Request::Patch(..) => "PATCH",
            _ => "OTHER",
        };
        let whom = if request.key() == key { "pod" } else { "owner" };
        format!("{verb} {whom}")
    };
    asked.iter().map(name).collect()
}

/// A set: each at least once.
fn requests(expect: &Value, got: &BTreeSet<String>) -> Outcome {
    let wanted: BTreeSet<String> =
        serde_json::from_value(expect["requests"].clone()).expect("a list of requests");
    if wanted == *got { Outcome::Passed } else { Outcome::Failed(format!("got {got:?}")) }
}

fn refused(code: u16) -> ApiError {
    let (reason, text) = match code {
        404 => (Reason::NotFound, "the server could not find the requested resource"),
        409 => (Reason::Conflict, "the server reported a conflict"),
        429 => (Reason::TooManyRequests, "the server has received too many requests"),
        _ => (Reason::InternalError, "an error on the server has prevented the request"),
    };
    ApiError::new(reason, text)
}

/// An owner that waits for its dependents to be orphaned, and the answer to the patch of one.
fn orphan(code: u16) -> Option<String> {
    let mut owner_object = pod("owner", Vec::new());
    let meta = owner_object.meta_mut();
    meta.uid = "1".into();
    meta.finalizers = ["orphan".into()].into();
    meta.deletion_timestamp = Some(NOW.into());
    let owner_key = owner_object.key();
    let mut bench = Bench::new(|request: &Request| match request {
        Request::Patch(_, key, _) if *key != owner_key && code >= 400 => Err(refused(code)),
        _ => Ok(Arc::new(pod("any", Vec::new()))),
    });
    bench.see(owner_object.clone());
    let mut reference = owner("1");
    reference.name = "owner".into();
    bench.see(pod("dependent", vec![reference]));
    bench.pass(&owner_key.clone()).1
}

/// Whether, after every event, a node is among the dependents of another exactly if the other is
/// there and the node's references name it.
fn graph(events: &[GraphEvent]) -> bool {
    let mut graph = Graph::default();
    let mut known: BTreeMap<&str, Object> = BTreeMap::new();
    events.iter().all(|event| {
        let uid = event.uid.as_str();
        if event.kind == "DELETED" {
            graph.remove(uid);
            known.remove(uid);
        } else {
            let mut object = pod(uid, event.owner_uids.iter().map(|uid| owner(uid)).collect());
            object.meta_mut().uid = uid.into();
            graph.observe(known.get(uid), &object);
            known.insert(uid, object);
        }
        holds(&graph)
    })
}

fn holds(graph: &Graph) -> bool {
    let named: BTreeSet<(&str, &str)> = graph
        .nodes()
        .flat_map(|(uid, node)| node.owners.iter().map(move |owner| (&*owner.uid, &**uid)))
        .filter(|(owner, _)| graph.node(owner).is_some())
        .collect();
    let listed: BTreeSet<(&str, &str)> = graph
        .nodes()
        .flat_map(|(uid, node)| node.dependents.iter().map(move |of| (&**uid, &**of)))
        .collect();
    named == listed
}
