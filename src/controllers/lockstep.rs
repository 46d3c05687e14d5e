//! For tests: one controller beside a real API server, with no network between them. What the
//! server commits is told at once, requests are answered at once, time moves only on demand.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use crate::api::{Kind, Object, ObjectKey, Value};
use crate::apiserver::{ApiError, ApiServer, Part, Request, Response, Verb, WatchEventType};
use crate::client::Cache;
use crate::kernel::Time;

use super::{Change, ChangeKind, Context, EventNote, PassRun, Plan, Step, Woken};

/// A controller that can be tried here.
pub trait Loop: Default {
    /// What a change wakes.
    fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken;
    /// What is to be done about a key.
    fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan;
    /// What an answer wakes.
    fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) -> Woken;
    /// What the timer wakes.
    fn monitor(&mut self, _cx: &Context<'_>) -> Vec<ObjectKey> {
        Vec::new()
    }
}

/// For the tests of a controller without memory: its two functions as a loop.
macro_rules! stateless_loop {
    ($name:ident, $controller:path) => {
        #[derive(Default)]
        struct $name;

        impl $crate::controllers::lockstep::Loop for $name {
            fn wakes(
                &mut self,
                change: &$crate::controllers::Change,
                cx: &$crate::controllers::Context<'_>,
            ) -> $crate::controllers::Woken {
                use $controller as controller;
                controller::wakes(change, cx)
            }
            fn sync(
                &mut self,
                key: &$crate::api::ObjectKey,
                cx: &$crate::controllers::Context<'_>,
            ) -> $crate::controllers::Plan {
                use $controller as controller;
                controller::sync(key, cx)
            }
            fn answered(
                &mut self,
                _: &$crate::api::ObjectKey,
                _: &$crate::apiserver::Request,
                _: &$crate::apiserver::Response,
            ) -> $crate::controllers::Woken {
                Default::default()
            }
        }
    };
}
pub(super) use stateless_loop;

/// The controller, its cache and queue, and the server.
pub struct Lockstep<L> {
    pub server: ApiServer,
    pub cache: Cache,
    pub now: Time,
    pub controller: L,
    /// Answers with an error what it likes to.
    pub refuse: fn(&Request) -> Option<ApiError>,
    /// `Kind namespace/name: Reason: message`.
    pub events: Vec<String>,
    /// `Verb Kind namespace/name`.
    pub requests: Vec<String>,
    seen: u64,
    queue: VecDeque<ObjectKey>,
    later: Vec<(Time, ObjectKey)>,
}

impl<L: Loop> Lockstep<L> {
    pub fn new() -> Lockstep<L> {
        Lockstep {
            server: ApiServer::new(1),
            cache: Cache::default(),
            now: Time::ZERO,
            controller: L::default(),
            refuse: |_| None,
            events: Vec::new(),
            requests: Vec::new(),
            seen: 0,
            queue: VecDeque::new(),
            later: Vec::new(),
        }
    }

    /// Stores an object, with the status that it brings along.
    pub fn create(&mut self, kind: Kind, value: Value) -> Object {
        let value = complete(kind, value);
        let has_status = value.get("status").is_some();
        let mut object = Object::from_value(kind, value).expect("an object");
        let request = Request::Create(object.clone().into());
        let mut stored = self.server.handle(&request, self.now).expect("created");
        if has_status {
            *object.meta_mut() = stored.meta().clone();
            let request = Request::Update(Part::Status, object.into());
            stored = self.server.handle(&request, self.now).expect("status");
        }
        self.settle();
        Object::clone(&stored)
    }

    /// Asks the server as somebody else, and lets the controller settle.
    pub fn ask(&mut self, request: Request) -> Response {
        let response = self.server.handle(&request, self.now);
        self.settle();
        response
    }

    pub fn stored(&self, key: &ObjectKey) -> Option<&Object> {
        self.server.store().get(key).map(|object| &**object)
    }

    /// Lets the controller work until its queue is empty.
    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            self.deliver();
            let Some(key) = self.queue.pop_front() else {
                return;
            };
            self.pass(&key);
        }
        panic!("the queue never gets empty");
    }

    /// Lets time pass; `monitor` is called every five seconds.
    pub fn advance(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let tick = Time::from_secs(self.now.elapsed().as_secs() / 5 * 5 + 5);
            self.later.sort();
            let due = self.later.first().map_or(Time::MAX, |(at, _)| *at);
            let next = due.min(tick);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            if due <= tick {
                let (_, key) = self.later.remove(0);
                self.wake(key);
            } else {
                for key in self.with_context(|controller, cx| controller.monitor(cx)) {
                    self.wake(key);
                }
            }
            self.settle();
        }
        self.now = end;
    }

    /// Kills the controller and brings it back: it lists everything again.
    pub fn restart(&mut self) {
        self.controller = L::default();
        self.cache = Cache::default();
        (self.queue, self.later, self.seen) = Default::default();
        let objects: Vec<_> = self.server.store().all().cloned().collect();
        self.seen = self.server.store().revision();
        for object in &objects {
            self.cache.put(object.clone());
        }
        for object in objects {
            self.tell(Change { kind: ChangeKind::Added, before: None, object });
        }
        self.settle();
    }

    /// Takes what the server committed into the cache, without telling the controller.
    pub fn lose_changes(&mut self) {
        for change in self.take_changes() {
            drop(change);
        }
    }

    fn deliver(&mut self) {
        for change in self.take_changes() {
            self.tell(change);
        }
    }

    fn take_changes(&mut self) -> Vec<Change> {
        let commits = self.server.store().since(self.seen).expect("history");
        let events: Vec<_> = commits.filter_map(|c| c.seen_through(|_| true)).collect();
        let mut changes = Vec::new();
        for event in events {
            self.seen = event.revision;
            let object = event.object;
            let (kind, before) = if event.kind == WatchEventType::Deleted {
                (ChangeKind::Deleted, self.cache.remove(&object.key()))
            } else {
                let before = self.cache.put(object.clone());
                let added = before.is_none();
                let kind = if added { ChangeKind::Added } else { ChangeKind::Updated };
                (kind, before)
            };
            changes.push(Change { kind, before, object });
        }
        changes
    }

    fn with_context<T>(&mut self, f: impl FnOnce(&mut L, &Context<'_>) -> T) -> T {
        let cx = Context { cache: &self.cache, now: self.now, seed: 1, promises_kept: true };
        f(&mut self.controller, &cx)
    }

    fn tell(&mut self, change: Change) {
        let woken = self.with_context(|controller, cx| controller.wakes(&change, cx));
        self.take_woken(woken);
    }

    fn take_woken(&mut self, woken: Woken) {
        woken.keys.into_iter().for_each(|key| self.wake(key));
        let now = self.now;
        let later = woken.later.into_iter().map(|(key, after)| (now + after, key));
        self.later.extend(later);
    }

    fn wake(&mut self, key: ObjectKey) {
        if !self.queue.contains(&key) {
            self.queue.push_back(key);
        }
    }

    fn pass(&mut self, key: &ObjectKey) {
        let plan = self.with_context(|controller, cx| controller.sync(key, cx));
        if let Some(after) = plan.requeue_after {
            self.later.push((self.now + after, key.clone()));
        }
        let mut run = PassRun::new(plan);
        loop {
            let step = run.next(self.now);
            self.note_events(run.take_events());
            match step {
                Step::Send(requests) => {
                    for (index, request) in requests.iter().enumerate() {
                        let response = self.carry_out(request);
                        let woken = self.controller.answered(key, request, &response);
                        self.take_woken(woken);
                        run.answer(index, &response);
                    }
                }
                Step::Wait => unreachable!("every request was answered"),
                Step::Ended(ended) => {
                    if ended.error.is_some() {
                        self.later.push((self.now + Duration::from_secs(1), key.clone()));
                    }
                    return;
                }
            }
        }
    }

    fn carry_out(&mut self, request: &Request) -> Response {
        let verb: Verb = request.verb();
        self.requests.push(format!("{verb:?} {}", request.key()));
        match (self.refuse)(request) {
            Some(error) => Err(error),
            None => self.server.handle(request, self.now),
        }
    }

    fn note_events(&mut self, notes: Vec<EventNote>) {
        for note in notes {
            let EventNote { about, reason, message, .. } = note;
            self.events.push(format!("{}: {reason}: {message}", about.key()));
        }
    }
}

/// What the server requires and a test does not care about.
fn complete(kind: Kind, mut value: Value) -> Value {
    let container = || json!({"name": "main", "image": "registry.example/web:1"});
    match kind {
        Kind::Pod => {
            let containers = &mut value["spec"]["containers"];
            if containers.as_array().is_none_or(|containers| containers.is_empty()) {
                *containers = json!([container()]);
            }
            for own in containers.as_array_mut().into_iter().flatten() {
                own["image"] = container()["image"].clone();
            }
        }
        Kind::ReplicaSet | Kind::Deployment => {
            let labels = json!({"app": "web"});
            value["spec"]["selector"] = json!({"matchLabels": labels});
            let spec = json!({"containers": [container()]});
            value["spec"]["template"] = json!({"metadata": {"labels": labels}, "spec": spec});
        }
        _ => {}
    }
    value
}

macro_rules! looped {
    ($type:ty $(, $monitor:ident)?) => {
        impl Loop for $type {
            fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken {
                <$type>::wakes(self, change, cx)
            }
            fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
                <$type>::sync(self, key, cx)
            }
            fn answered(&mut self, key: &ObjectKey, ask: &Request, answer: &Response) -> Woken {
                <$type>::answered(self, key, ask, answer)
            }
            $(
                fn $monitor(&mut self, cx: &Context<'_>) -> Vec<ObjectKey> {
                    <$type>::$monitor(self, cx)
                }
            )?
        }
    };
}

looped!(super::scheduler::Scheduler, monitor);
looped!(super::garbage_collector::GarbageCollector);
looped!(super::node_lifecycle::NodeLifecycle, monitor);
looped!(super::job::Memory);
