//! A node on a virtual clock, with an API server of a few lines.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::{Kind, Object, ObjectKey, Pod, Timestamp, Value};
use crate::apiserver::{ApiError, Part, Reason, Request, Response};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context};
use crate::kernel::{Agenda, Time};

use crate::node::{Images, Kubelet, Timer};

/// A node, the objects, and what happened.
pub struct Bench {
    pub kubelet: Kubelet,
    pub images: Images,
    pub cache: Cache,
    pub now: Time,
    pub agenda: Agenda<Timer>,
    pub queue: VecDeque<ObjectKey>,
    pub queued: BTreeSet<ObjectKey>,
    pub events: Vec<(f64, String, String)>,
    /// STATUS as kubectl would show it, whenever it changed.
    pub states: Vec<(f64, String)>,
    pub passes: usize,
    pub writes: usize,
    pub last_version: u64,
    /// The API server refuses everything.
    pub is_down: bool,
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

impl Bench {
    pub fn new(images: &str) -> Bench {
        Bench {
            kubelet: Kubelet::new("node-1"),
            images: serde_yaml::from_str(images).expect("images"),
            cache: Cache::default(),
            now: Time::ZERO,
            agenda: Agenda::default(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            events: Vec::new(),
            states: Vec::new(),
            passes: 0,
            writes: 0,
            last_version: 0,
            is_down: false,
        }
    }

    pub fn key() -> ObjectKey {
        ObjectKey::new(Kind::Pod, "default", "web")
    }

    /// Binds a pod called `web` to the node.
    pub fn bind(&mut self, spec: Value) {
        let uid = format!("uid-{}", self.last_version);
        let mut value = json!({
            "metadata": {"name": "web", "namespace": "default", "uid": uid},
            "spec": {"nodeName": "node-1"},
            "status": {"phase": "Pending", "qosClass": "BestEffort"},
        });
        for (key, field) in spec.as_object().expect("a spec") {
            value["spec"][key] = field.clone();
        }
        let pod: Pod = serde_json::from_value(value).expect("a pod");
        self.put(Object::Pod(pod));
    }

    pub fn plain() -> Value {
        json!({"containers": [{"name": "c", "image": "web:1"}]})
    }

    pub fn put(&mut self, mut object: Object) -> Arc<Object> {
        self.last_version += 1;
        object.meta_mut().resource_version = self.last_version;
        let object = Arc::new(object);
        let before = self.cache.put(object.clone());
        let kind = match before {
            None => ChangeKind::Added,
            Some(_) => ChangeKind::Updated,
        };
        self.see(kind, before, object.clone());
        object
    }

    pub fn vanish(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let object = self.cache.remove(key)?;
        self.see(ChangeKind::Deleted, Some(object.clone()), object.clone());
        Some(object)
    }

    fn see(&mut self, kind: ChangeKind, before: Option<Arc<Object>>, object: Arc<Object>) {
        let change = Change { kind, before, object };
        let woken = self.kubelet.wakes(&change);
        self.wake(woken.keys);
    }

    pub fn wake(&mut self, keys: Vec<ObjectKey>) {
        for key in keys {
            if self.queued.insert(key.clone()) {
                self.queue.push_back(key);
            }
        }
    }

    /// Marks the pod as being deleted, as the API server does.
    pub fn delete(&mut self, grace: i64) {
        let mut object = Object::clone(self.cache.get(&Self::key()).expect("a pod"));
        let meta = object.meta_mut();
        meta.deletion_timestamp = Some(Timestamp::from(self.now + Duration::from_secs(30)));
        meta.deletion_grace_period_seconds = Some(grace);
        self.put(object);
    }

    pub fn pod(&self) -> Option<&Pod> {
        self.cache.pod(&Self::key())
    }

    pub fn run(&mut self, until: f64) {
        loop {
            while let Some(key) = self.queue.pop_front() {
                self.queued.remove(&key);
                self.pass(&key);
            }
            let due = self.agenda.next_time().filter(|due| *due <= at(until));
            let (Some(due), Some(entry)) = (due, due.and_then(|_| self.agenda.take())) else {
                break;
            };
            self.now = due;
            let fired = self.kubelet.on_timer(&entry.what, self.now);
            self.expect(fired.timers);
            self.wake(fired.keys);
        }
        self.now = at(until);
    }

    fn expect(&mut self, timers: Vec<(Duration, Timer)>) {
        for (span, timer) in timers {
            self.agenda.put(self.now + span, timer);
        }
    }

    fn pass(&mut self, key: &ObjectKey) {
        self.passes += 1;
        let cx = Context { cache: &self.cache, now: self.now, seed: 1, promises_kept: true };
        let (plan, timers) = self.kubelet.sync(key, &cx, &self.images);
        self.expect(timers);
        for note in plan.events {
            let reason = note.reason.to_string();
            self.events.push((self.now.as_secs_f64(), reason, note.message));
        }
        for intent in plan.batches.into_iter().flatten() {
            let response = self.serve(&intent.request);
            self.kubelet.answered(key, &response);
            if response.is_err_and(|error| !(intent.tolerates)(&error)) {
                break;
            }
        }
        self.note_state();
    }

    fn serve(&mut self, request: &Request) -> Response {
        if self.is_down {
            return Err(ApiError::new(Reason::ServiceUnavailable, "down"));
        }
        self.writes += 1;
        let key = request.key();
        let stored = self.cache.get(&key).cloned();
        let missing = || ApiError::not_found(Kind::Pod, &key.name);
        let stored = stored.ok_or_else(missing)?;
        match request {
            Request::Update(Part::Status, object) => {
                assert_eq!(object.meta().uid, stored.meta().uid);
                let mut next = Object::clone(&stored);
                if let (Object::Pod(next), Some(pod)) = (&mut next, object.as_pod()) {
                    next.status = pod.status.clone();
                }
                Ok(self.put(next))
            }
            Request::Delete(key, options) => {
                assert_eq!(options.grace_period_seconds, Some(0));
                self.vanish(key).ok_or_else(missing)
            }
            other => panic!("the kubelet does not send {other:?}"),
        }
    }

    fn note_state(&mut self) {
        let state = self.pod().map_or("gone".to_string(), shown);
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((self.now.as_secs_f64(), state));
        }
    }

    pub fn reasons(&self) -> Vec<&str> {
        self.events.iter().map(|(_, reason, _)| reason.as_str()).collect()
    }

    pub fn times_of(&self, reason: &str) -> Vec<f64> {
        let of = self.events.iter().filter(|(_, other, _)| other == reason);
        of.map(|(time, _, _)| *time).collect()
    }

    pub fn message_of(&self, reason: &str) -> &str {
        let mut of = self.events.iter().filter(|(_, other, _)| other == reason);
        of.next_back().map_or("", |(_, _, message)| message)
    }
}

/// What kubectl's columns STATUS and READY come from.
fn shown(pod: &Pod) -> String {
    let statuses = &pod.status.container_statuses;
    let first = statuses.first();
    let word = first.and_then(|status| {
        let waiting = status.state.waiting.as_ref().and_then(|w| w.reason.clone());
        let ended = status.state.terminated.as_ref().and_then(|t| t.reason.clone());
        waiting.or(ended)
    });
    let phase = format!("{:?}", pod.phase());
    let word = word.map_or(phase, |word| word.to_string());
    let ready = statuses.iter().filter(|status| status.ready).count();
    let restarts: i32 = statuses.iter().map(|status| status.restart_count).sum();
    format!("{word} {ready}/{} {restarts}", statuses.len())
}

/// The states so far.
pub fn states(bench: &Bench) -> Vec<(f64, &str)> {
    bench.states.iter().map(|(t, s)| (*t, s.as_str())).collect()
}
