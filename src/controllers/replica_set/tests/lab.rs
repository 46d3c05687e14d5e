//! A cluster in miniature: a store, a watch stream a kind, one ReplicaSet controller. The real API
//! server is not needed to know what the controller makes of its answers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Condition, ConditionStatus, Kind, Object, ObjectKey, Pod, PodPhase, ReplicaSet, Timestamp,
    Value,
};
use crate::apiserver::{ApiError, Part, Reason, Request, Response};
use crate::client::Cache;
use crate::client::expectations::UidTrackingExpectations;
use crate::controllers::promises::{self, expectations_key};
use crate::controllers::replica_set::{Ledger, on_change, on_timer, sync, wakes};
use crate::controllers::{Change, ChangeKind, Context, Deed, Ended, PassRun, Plan, Step, Woken};
use crate::kernel::Time;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flavour {
    Edge,
    Level,
}

pub struct Lab {
    pub flavour: Flavour,
    pub now: Time,
    pub store: BTreeMap<ObjectKey, Arc<Object>>,
    pub cache: Cache,
    pub ledger: Ledger,
    /// Watch events under way, a stream for each kind.
    pub streams: BTreeMap<Kind, VecDeque<(bool, Arc<Object>)>>,
    /// What the edge flavour has yet to handle.
    pub changes: VecDeque<Change>,
    /// What the level flavour has yet to handle.
    pub keys: BTreeSet<ObjectKey>,
    pub timers: BTreeMap<ObjectKey, Time>,
    pub expectations: UidTrackingExpectations,
    /// What was told of every pass that did something.
    pub deeds: Vec<Deed>,
    pub events: Vec<String>,
    /// Requests of these deeds are refused with this error.
    pub refuse: Vec<(Deed, ApiError)>,
    revision: u64,
}

impl Lab {
    pub fn new(flavour: Flavour) -> Lab {
        Lab {
            flavour,
            now: Time::from_secs(1),
            store: BTreeMap::new(),
            cache: Cache::default(),
            ledger: Ledger::default(),
            streams: BTreeMap::new(),
            changes: VecDeque::new(),
            keys: BTreeSet::new(),
            timers: BTreeMap::new(),
            expectations: UidTrackingExpectations::default(),
            deeds: Vec::new(),
            events: Vec::new(),
            refuse: Vec::new(),
            revision: 0,
        }
    }

    // The store.

    pub fn create(&mut self, mut object: Object) -> Arc<Object> {
        self.revision += 1;
        let revision = self.revision;
        let now = Timestamp::from(self.now);
        let meta = object.meta_mut();
        if let Some(prefix) = meta.generate_name.clone().filter(|_| meta.name.is_empty()) {
            meta.name = format!("{prefix}{revision}").into();
        }
        meta.namespace = "default".into();
        meta.uid = format!("uid-{revision}").into();
        meta.generation = 1;
        meta.creation_timestamp = Some(now);
        self.put(object)
    }

    fn put(&mut self, mut object: Object) -> Arc<Object> {
        let key = object.key();
        if let Some(stored) = self.store.get(&key) {
            object.meta_mut().resource_version = stored.meta().resource_version;
            if **stored == object {
                return stored.clone();
            }
        }
        self.revision += 1;
        object.meta_mut().resource_version = self.revision;
        let object = Arc::new(object);
        self.store.insert(key.clone(), object.clone());
        let stream = self.streams.entry(key.kind).or_default();
        stream.push_back((false, object.clone()));
        object
    }

    pub fn change(&mut self, key: &ObjectKey, change: impl FnOnce(&mut Object)) {
        if let Some(stored) = self.store.get(key) {
            let mut object = Object::clone(stored);
            change(&mut object);
            self.put(object);
        }
    }

    pub fn change_pod(&mut self, key: &ObjectKey, change: impl FnOnce(&mut Pod)) {
        self.change(key, |object| {
            if let Object::Pod(pod) = object {
                change(pod);
            }
        });
    }

    pub fn change_set(&mut self, change: impl FnOnce(&mut ReplicaSet)) {
        self.change(&set_key(), |object| {
            if let Object::ReplicaSet(set) = object {
                let before = set.spec.clone();
                change(set);
                set.metadata.generation += i64::from(set.spec != before);
            }
        });
    }

    pub fn remove(&mut self, key: &ObjectKey) {
        if let Some(stored) = self.store.remove(key) {
            self.revision += 1;
            let mut object = Object::clone(&stored);
            object.meta_mut().resource_version = self.revision;
            let stream = self.streams.entry(key.kind).or_default();
            stream.push_back((true, Arc::new(object)));
        }
    }

    pub fn answer(&mut self, deed: Deed, request: &Request) -> Response {
        if let Some((_, error)) = self.refuse.iter().find(|(refused, _)| *refused == deed) {
            return Err(error.clone());
        }
        let key = request.key();
        if let Request::Create(object) = request {
            return Ok(self.create(Object::clone(object)));
        }
        let stored = self.store.get(&key).cloned();
        let stored = stored.ok_or_else(|| ApiError::not_found(key.kind, &key.name))?;
        match request {
            Request::Update(Part::Status, object) => {
                let asked = object.meta();
                let version = asked.resource_version;
                let moved = version != 0 && version != stored.meta().resource_version;
                if moved || asked.uid != stored.meta().uid {
                    return Err(ApiError::conflict(key.kind, &key.name, "it was modified"));
                }
                let (Some(old), Some(new)) = (stored.as_replica_set(), object.as_replica_set())
                else {
                    return Ok(stored);
                };
                let mut merged = old.clone();
                merged.status = new.status.clone();
                Ok(self.put(Object::from(merged)))
            }
            Request::Patch(_, _, patch) => self.patch(&stored, patch),
            Request::Delete(..) => {
                self.delete(&key, false);
                Ok(stored)
            }
            _ => Ok(stored),
        }
    }

    fn patch(&mut self, stored: &Arc<Object>, patch: &Value) -> Response {
        let meta = &patch["metadata"];
        if meta["uid"] != json!(stored.meta().uid) {
            let why = "Precondition failed: UID in precondition: a, UID in object meta: b";
            return Err(ApiError::conflict(stored.kind(), &stored.meta().name, why));
        }
        let mut object = Object::clone(stored);
        let owners = serde_json::from_value(meta["ownerReferences"].clone());
        object.meta_mut().owner_references = owners.unwrap_or_default();
        Ok(self.put(object))
    }

    /// A graceful deletion of a pod that has a node leaves the rest to the kubelet.
    pub fn delete(&mut self, key: &ObjectKey, force: bool) {
        let pod = self.store.get(key).and_then(|object| object.as_pod());
        let graceful = pod.is_some_and(|pod| pod.spec.node_name.is_some() && !pod.is_finished());
        if graceful && !force {
            let now = Timestamp::from(self.now);
            self.change_pod(key, |pod| {
                pod.metadata.deletion_timestamp.get_or_insert(now);
            });
        } else {
            self.remove(key);
        }
    }

    // The controller.

    /// The next watch event of a kind reaches the cache, and what hangs on it.
    pub fn deliver(&mut self, kind: Kind) -> bool {
        match self.receive(kind) {
            Some(change) => {
                self.tell(change);
                true
            }
            None => false,
        }
    }

    /// The next watch event of a kind reaches the cache, and no more.
    pub fn receive(&mut self, kind: Kind) -> Option<Change> {
        let (is_gone, object) = self.streams.get_mut(&kind)?.pop_front()?;
        let before =
            if is_gone { self.cache.remove(&object.key()) } else { self.cache.put(object.clone()) };
        let kind = match (is_gone, &before) {
            (true, _) => ChangeKind::Deleted,
            (false, None) => ChangeKind::Added,
            (false, Some(_)) => ChangeKind::Updated,
        };
        Some(Change { kind, before, object })
    }

    pub fn tell(&mut self, change: Change) {
        if self.flavour == Flavour::Edge {
            self.changes.push_back(change);
            return;
        }
        let woken = wakes(&change, &self.context());
        self.wake(woken);
    }

    fn wake(&mut self, woken: Woken) {
        promises::observe(&woken, &mut self.expectations);
        for (key, wait) in woken.later {
            self.set_timer(key, self.now + wait);
        }
        self.keys.extend(woken.keys);
    }

    fn set_timer(&mut self, key: ObjectKey, at: Time) {
        let timer = self.timers.entry(key).or_insert(at);
        *timer = at.min(*timer);
    }

    pub fn context(&self) -> Context<'_> {
        Context { cache: &self.cache, now: self.now, seed: 1, promises_kept: true }
    }

    /// Decides about the next thing in the queue, and carries it out.
    pub fn pass(&mut self) -> Option<Ended> {
        let (key, plan) = match self.flavour {
            Flavour::Edge => {
                let change = self.changes.pop_front()?;
                let mut ledger = std::mem::take(&mut self.ledger);
                let plan = on_change(&change, &self.context(), &mut ledger);
                self.ledger = ledger;
                (set_key(), plan)
            }
            Flavour::Level => {
                let key = self.keys.pop_first()?;
                let kept = self.expectations.satisfied(&expectations_key(&key), self.now);
                let cx = Context { promises_kept: kept, ..self.context() };
                let plan = sync(&key, &cx);
                (key, plan)
            }
        };
        Some(self.run(key, plan))
    }

    pub fn run(&mut self, key: ObjectKey, plan: Plan) -> Ended {
        if let Some(promise) = &plan.promise {
            promises::expect(promise, &key, &mut self.expectations, self.now);
        }
        if let Some(wait) = plan.requeue_after {
            self.set_timer(key.clone(), self.now + wait);
        }
        let deeds: Vec<Vec<Deed>> =
            plan.batches.iter().map(|b| b.iter().map(|i| i.deed).collect()).collect();
        let mut deeds = deeds.into_iter();
        let mut run = PassRun::new(plan);
        let ended = loop {
            match run.next(self.now) {
                Step::Send(requests) => {
                    let deeds = deeds.next().unwrap_or_default();
                    for (index, request) in requests.iter().enumerate() {
                        let deed = deeds.get(index).copied().unwrap_or(Deed::Status);
                        let response = self.answer(deed, request);
                        self.deeds.extend(response.is_ok().then_some(deed));
                        run.answer(index, &response);
                    }
                }
                Step::Wait => unreachable!("all were answered"),
                Step::Ended(ended) => break ended,
            }
        };
        promises::give_up(&run.take_broken_promises(), &key, &mut self.expectations);
        let told = run.take_events().into_iter();
        self.events.extend(told.map(|note| format!("{} {}", note.reason, note.message)));
        if ended.error.is_some() && self.flavour == Flavour::Level {
            self.keys.insert(key);
        }
        ended
    }

    pub fn ring_timers(&mut self) {
        let now = self.now;
        let due: Vec<_> = self.timers.iter().filter(|(_, at)| **at <= now).collect();
        let due: Vec<ObjectKey> = due.into_iter().map(|(key, _)| key.clone()).collect();
        for key in due {
            self.timers.remove(&key);
            match self.flavour {
                Flavour::Level => {
                    self.keys.insert(key);
                }
                Flavour::Edge => {
                    let mut ledger = std::mem::take(&mut self.ledger);
                    let plan = on_timer(&key, &self.context(), &mut ledger);
                    self.ledger = ledger;
                    self.run(key, plan);
                }
            }
        }
    }

    /// The cache is told once more.
    pub fn resync(&mut self) {
        let known: Vec<_> = [Kind::ReplicaSet, Kind::Pod]
            .iter()
            .flat_map(|kind| self.cache.all(*kind).cloned())
            .collect();
        for object in known {
            let before = Some(object.clone());
            let kind = ChangeKind::Updated;
            self.tell(Change { kind, before, object });
        }
    }

    /// Everything under way arrives, everything queued is done; the kubelet does nothing meanwhile.
    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            let moved =
                self.deliver(Kind::ReplicaSet) || self.deliver(Kind::Pod) || self.pass().is_some();
            self.ring_timers();
            if !moved && self.keys.is_empty() && self.timers.values().all(|at| *at > self.now) {
                return;
            }
        }
        panic!("does not come to rest");
    }

    // The kubelet, in one breath: pods get nodes and become ready; those being deleted go.

    pub fn kubelet(&mut self) -> bool {
        let pods: Vec<ObjectKey> = self.pods(|_| true);
        let mut moved = false;
        for key in pods {
            moved |= self.kubelet_step(&key);
        }
        moved
    }

    pub fn kubelet_step(&mut self, key: &ObjectKey) -> bool {
        let Some(pod) = self.store.get(key).and_then(|object| object.as_pod()) else {
            return false;
        };
        let (going, works) = (pod.metadata.is_terminating(), pod.is_ready() || pod.is_finished());
        if going {
            self.remove(key);
        } else if !works {
            let now = self.now;
            self.change_pod(key, |pod| make_ready(pod, true, now));
        }
        going || !works
    }

    // Looking on.

    pub fn pods(&self, wanted: impl Fn(&Pod) -> bool) -> Vec<ObjectKey> {
        let pods = self.store.iter().filter(|(_, object)| object.as_pod().is_some_and(&wanted));
        pods.map(|(key, _)| key.clone()).collect()
    }

    pub fn set(&self) -> &ReplicaSet {
        self.store.get(&set_key()).and_then(|set| set.as_replica_set()).expect("there is a set")
    }

    /// The active pods that the set owns.
    pub fn own(&self) -> Vec<ObjectKey> {
        let set = self.store.get(&set_key());
        let uid = set.map_or("", |set| &set.meta().uid);
        self.pods(|pod| pod.metadata.is_controlled_by(uid) && pod.is_active())
    }

    /// replicas, readyReplicas, availableReplicas, terminatingReplicas.
    pub fn numbers(&self) -> (i32, i32, i32, Option<i32>) {
        let status = &self.set().status;
        (
            status.replicas,
            status.ready_replicas,
            status.available_replicas,
            status.terminating_replicas,
        )
    }

    pub fn count(&self, deed: Deed) -> usize {
        self.deeds.iter().filter(|done| **done == deed).count()
    }
}

pub fn make_ready(pod: &mut Pod, ready: bool, now: Time) {
    pod.spec.node_name = Some("node-1".into());
    pod.status.phase = Some(PodPhase::Running);
    pod.status.conditions = [Condition {
        kind: "Ready".into(),
        status: ConditionStatus::from(ready),
        last_transition_time: Some(Timestamp::from(now)),
        ..Condition::default()
    }]
    .into();
}

pub fn set_key() -> ObjectKey {
    ObjectKey::new(Kind::ReplicaSet, "default", "web")
}

pub fn web(replicas: i32) -> Object {
    let set = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}},
        },
    });
    Object::from_value(Kind::ReplicaSet, set).expect("a set")
}

pub fn orphan(app: &str) -> Object {
    let mut pod = Pod::default();
    pod.metadata.generate_name = Some("orphan-".into());
    pod.metadata.labels = [("app".into(), app.into())].into();
    make_ready(&mut pod, true, Time::ZERO);
    Object::from(pod)
}

pub fn forbidden() -> ApiError {
    ApiError::new(Reason::Forbidden, "pods \"web-x\" is forbidden: exceeded quota: q")
}

/// A lab in which a set of three has come to rest.
pub fn three(flavour: Flavour) -> Lab {
    let mut lab = Lab::new(flavour);
    lab.create(web(3));
    rest(&mut lab);
    lab.deeds.clear();
    lab.events.clear();
    lab
}

/// Until nothing moves any more, the kubelet included.
pub fn rest(lab: &mut Lab) {
    lab.settle();
    while lab.kubelet() {
        lab.settle();
    }
}
