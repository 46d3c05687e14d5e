//! Reflector, the older queue, and what an informer tells its handlers.

use std::sync::Arc;
use std::time::Duration;

use loopscope::api::{Kind, Object, ObjectKey};
use loopscope::apiserver::{ApiError, Reason};
use loopscope::client::Cache;
use loopscope::client::change::{Change, ChangeKind};
use loopscope::client::delta::{Delta, DeltaType, KnownObjects};
use loopscope::client::delta_queue::DeltaQueue;
use loopscope::client::informer::{Informer, QueueOrder};
use loopscope::client::reflector::{
    AfterWatch, BACKOFF_FACTOR, BACKOFF_INITIAL, BACKOFF_JITTER, BACKOFF_MAX, BACKOFF_RESET,
    ListPage, ListRequest, Listing, Reflector, WATCH_TIMEOUT,
};
use loopscope::kernel::{Rng, Time};
use serde::Deserialize;
use serde_json::{Value, json};

use super::informer_in_order_queue::{Item, Operation, Store, popped_agrees, shown};
use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "check", deny_unknown_fields)]
enum Given {
    #[serde(rename_all = "camelCase")]
    List {
        page_size: Option<u32>,
        list_and_watch_runs: usize,
        list_responses: Vec<ListResponse>,
    },
    #[serde(rename_all = "camelCase")]
    LastVersion {
        list_resource_version: String,
        events: Vec<Seen>,
    },
    #[serde(rename_all = "camelCase")]
    WatchRetry {
        watch_errors: Vec<u16>,
        #[serde(rename = "then")]
        _then: Option<String>,
        then_error_event_in_stream: Option<u16>,
    },
    #[serde(rename_all = "camelCase")]
    InternalErrorRetry {
        max_internal_error_retry_seconds: u64,
        seconds_per_watch: u64,
        #[serde(rename = "clockJumpOneMinuteAtWatch")]
        _jump: Option<u64>,
        #[serde(rename = "everyWatchReturns")]
        _returns: String,
    },
    Constants {},
    #[serde(rename_all = "camelCase")]
    DeltaQueue {
        known_objects: Option<Vec<Item>>,
        operations: Vec<Operation>,
        #[serde(default)]
        emit_replaced: bool,
    },
    #[serde(rename_all = "camelCase")]
    RelistEvents {
        store: Vec<Value>,
        replace_with: Vec<Value>,
    },
    TombstoneKey {
        tombstone: Tombstone,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListResponse {
    for_resource_version: Option<String>,
    for_continue: Option<String>,
    #[serde(default)]
    limit: u32,
    resource_version: Option<String>,
    #[serde(default)]
    items: usize,
    #[serde(rename = "continue")]
    continues: Option<String>,
    error: Option<ListError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListError {
    code: u16,
    #[serde(rename = "reason")]
    _reason: String,
    cause: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Seen {
    #[serde(rename = "type")]
    _kind: String,
    resource_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tombstone {
    key: String,
    last_known_object: Option<Value>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match given(case) {
        Ok(Given::List { page_size, list_and_watch_runs, list_responses }) => {
            match lists(page_size, list_and_watch_runs, &list_responses) {
                Ok(got) => got,
                Err(why) => return Outcome::Failed(why),
            }
        }
        Ok(Given::LastVersion { list_resource_version, events }) => {
            let mut reflector = Reflector::at(number(&list_resource_version));
            let told = events.iter().map(|event| {
                reflector.saw(number(&event.resource_version));
                reflector.version().to_string()
            });
            json!({"storeResourceVersions": told.collect::<Vec<_>>()})
        }
        Ok(Given::WatchRetry { watch_errors, then_error_event_in_stream, .. }) => {
            watches(&watch_errors, then_error_event_in_stream)
        }
        Ok(Given::InternalErrorRetry {
            max_internal_error_retry_seconds,
            seconds_per_watch,
            ..
        }) => {
            if max_internal_error_retry_seconds != 0 {
                return Outcome::NotModelled("only the API server's own caches try so");
            }
            json!({"retries": retries(seconds_per_watch)})
        }
        Ok(Given::Constants {}) => constants(),
        Ok(Given::DeltaQueue { known_objects, operations, emit_replaced }) => {
            let known = known_objects.as_deref().map(Store::of);
            let got = popped(known.as_ref(), &operations, emit_replaced);
            if let Some(outcome) = popped_agrees(expect, &got) {
                return outcome;
            }
            got
        }
        Ok(Given::RelistEvents { store, replace_with }) => relist(&store, &replace_with),
        Ok(Given::TombstoneKey { tombstone }) => {
            let (namespace, name) = tombstone.key.split_once('/').unwrap_or(("", &tombstone.key));
            let object = tombstone.last_known_object.as_ref().map(pod);
            let delta = Delta::tombstone(ObjectKey::new(Kind::Pod, namespace, name), object);
            let key = delta.key();
            json!({"namespace": key.namespace, "name": key.name, "key": text(&key)})
        }
        Err(outcome) => return outcome,
    };
    compare(expect, &got)
}

fn number(version: &str) -> u64 {
    version.parse().expect("the cases have decimal versions")
}

fn text(key: &ObjectKey) -> String {
    format!("{}/{}", key.namespace, key.name)
}

fn rng() -> Rng {
    Rng::stream(1, "reflector")
}

fn refusal(code: u16, cause: Option<&str>) -> ApiError {
    let (reason, text) = match (code, cause) {
        (504, Some("ResourceVersionTooLarge")) => {
            (Reason::Timeout, "Too large resource version: 20, current: 10")
        }
        (410, _) => (Reason::Expired, "too old resource version"),
        (429, _) => (Reason::TooManyRequests, "too many requests"),
        (503, _) => (Reason::ServiceUnavailable, "the server is unable to handle the request"),
        (504, _) => (Reason::Timeout, "timeout"),
        _ => (Reason::InternalError, "an error on the server"),
    };
    ApiError::new(reason, text)
}

fn answer(response: &ListResponse) -> Result<ListPage, ApiError> {
    if let Some(error) = &response.error {
        return Err(refusal(error.code, error.cause.as_deref()));
    }
    let page = response.for_continue.as_deref().unwrap_or("first");
    let item = |index| pod(&json!({"namespace": "default", "name": format!("{page}-{index}")}));
    Ok(ListPage {
        version: number(response.resource_version.as_deref().unwrap_or("0")),
        items: (0..response.items).map(item).collect(),
        continues: response.continues.as_deref().map(Into::into),
    })
}

fn lists(page_size: Option<u32>, runs: usize, responses: &[ListResponse]) -> Result<Value, String> {
    let mut reflector = page_size.map_or_else(Reflector::default, Reflector::with_page_size);
    let (mut informer, mut cache) =
        (Informer::new(Kind::Pod, QueueOrder::InOrder), Cache::default());
    let (mut versions, mut sizes, mut rng) = (Vec::new(), Vec::new(), rng());
    let mut left: Vec<&ListResponse> = responses.iter().collect();
    let answers = |request: &ListRequest, response: &ListResponse| {
        let version = request.version.map_or_else(String::new, |version| version.to_string());
        let same = match &request.continues {
            Some(token) => response.for_continue.as_deref() == Some(&**token),
            None => response.for_resource_version.as_deref() == Some(version.as_str()),
        };
        same && (page_size.is_none() || response.limit == request.limit)
    };
    for _ in 0..runs {
        let mut request = reflector.begin_list();
        loop {
            versions.push(request.version.map_or_else(String::new, |v| v.to_string()));
            // Of several answers to one request each is given once.
            let place = left.iter().position(|response| answers(&request, response));
            let place = place.ok_or_else(|| format!("no answer to {request:?}"))?;
            let response = left.remove(place);
            let answer = match answer(response) {
                Ok(page) => reflector.list_answered(Ok(page), Time::ZERO, &mut rng),
                Err(error) => reflector.list_answered(Err(&error), Time::ZERO, &mut rng),
            };
            match answer {
                Listing::Ask(next) => request = next,
                Listing::Done(objects) => {
                    informer.listed(objects, &cache);
                    informer.drain(&mut cache);
                    break;
                }
                Listing::Failed(_) => return Err("the list failed".into()),
            }
        }
        sizes.push(cache.count(Kind::Pod));
    }
    Ok(json!({"listResourceVersions": versions, "storeSizeAfterRun": sizes}))
}

fn watches(errors: &[u16], in_stream: Option<u16>) -> Value {
    let (mut reflector, mut rng, mut now) = (Reflector::default(), rng(), Time::ZERO);
    let (mut lists, mut watches, mut waits) = (0, 0, 0);
    let mut list = |reflector: &mut Reflector, rng: &mut Rng| {
        reflector.begin_list();
        reflector.list_answered(Ok(ListPage::default()), Time::ZERO, rng);
        lists += 1;
    };
    list(&mut reflector, &mut rng);
    for code in errors.iter().copied().chain(in_stream) {
        watches += 1;
        waits += 1;
        match reflector.watch_failed(&refusal(code, None), now, &mut rng) {
            AfterWatch::Rewatch(wait) => now += wait,
            AfterWatch::Relist(wait) => {
                now += wait;
                list(&mut reflector, &mut rng);
            }
        }
    }
    // In the end it opens and closes.
    watches += 1;
    json!({"listCalls": lists, "watchCalls": watches, "backoffCalls": waits})
}

fn retries(seconds_per_watch: u64) -> usize {
    let (mut reflector, mut rng, mut now) = (Reflector::at(1), rng(), Time::ZERO);
    let error = refusal(500, None);
    let again = std::iter::from_fn(|| {
        now += Duration::from_secs(seconds_per_watch);
        match reflector.watch_failed(&error, now, &mut rng) {
            AfterWatch::Rewatch(wait) => {
                now += wait;
                Some(())
            }
            AfterWatch::Relist(_) => None,
        }
    });
    again.take(1_000).count()
}

fn constants() -> Value {
    json!({
        "initialMilliseconds": BACKOFF_INITIAL.as_millis(),
        "maxSeconds": BACKOFF_MAX.as_secs(),
        "factor": BACKOFF_FACTOR,
        "jitter": BACKOFF_JITTER,
        "resetAfterSeconds": BACKOFF_RESET.as_secs(),
        "minWatchTimeoutSeconds": WATCH_TIMEOUT.0.as_secs(),
        "maxWatchTimeoutSeconds": WATCH_TIMEOUT.1.as_secs(),
    })
}

fn popped(known: Option<&Store>, operations: &[Operation], emit_replaced: bool) -> Value {
    let known = known.map(|known| known as &dyn KnownObjects);
    let mut queue = DeltaQueue::new(emit_replaced);
    let mut popped: Vec<Vec<Delta>> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Add { object } => queue.push(DeltaType::Added, object.object(), known),
            Operation::Update { object } => queue.push(DeltaType::Updated, object.object(), known),
            Operation::Delete { object } => queue.push(DeltaType::Deleted, object.object(), known),
            Operation::Replace { objects } => {
                queue.replace(objects.iter().map(Item::object).collect(), known);
            }
            Operation::Resync => queue.resync(known),
            Operation::Pop => popped.extend(queue.pop()),
        }
    }
    let synced = queue.has_synced();
    let mut before_each = Vec::new();
    loop {
        let was_synced = queue.has_synced();
        let Some(deltas) = queue.pop() else { break };
        before_each.push(was_synced);
        popped.push(deltas);
    }
    let shown: Vec<Vec<Value>> = popped.iter().map(|d| d.iter().map(shown).collect()).collect();
    json!({
        "popped": shown,
        "hasSynced": synced,
        "hasSyncedBeforeEachPop": before_each,
        "hasSyncedAtEnd": queue.has_synced(),
        // What comes before the queue has synced is of the first list.
        "everyPopIsInInitialList": before_each.iter().all(|synced| !synced),
    })
}

fn pod(meta: &Value) -> Arc<Object> {
    let object = Object::from_value(Kind::Pod, json!({"metadata": meta}));
    Arc::new(object.expect("a pod"))
}

fn relist(store: &[Value], replace_with: &[Value]) -> Value {
    let (mut informer, mut cache) =
        (Informer::new(Kind::Pod, QueueOrder::InOrder), Cache::default());
    informer.listed(store.iter().map(pod).collect(), &cache);
    informer.drain(&mut cache);
    informer.listed(replace_with.iter().map(pod).collect(), &cache);
    let mut events = Vec::new();
    while let Some(changes) = informer.pop(&mut cache) {
        events.extend(changes.iter().map(|change| handled(change, &cache)));
    }
    json!({"events": events})
}

fn handled(change: &Change, cache: &Cache) -> Value {
    let version = |object: &Arc<Object>| object.meta().resource_version.to_string();
    let action = match change.kind {
        ChangeKind::Added => "add",
        ChangeKind::Updated => "update",
        ChangeKind::Deleted | ChangeKind::DeletedFinalStateUnknown => "delete",
    };
    json!({
        "action": action,
        "key": text(&change.key()),
        "eventResourceVersion": version(&change.object),
        "storeResourceVersion": cache.get(&change.key()).map_or_else(String::new, version),
    })
}
