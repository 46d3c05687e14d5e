//! One flavour of the controller in a cluster without a network: what the server commits waits in
//! an inbox until it is told. ReplicaSets and pods are played, step by step, as somebody chooses.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Condition, ConditionStatus, Deployment, Kind, Object, ObjectKey, OwnerReference, Pod,
    ReplicaSet, Str,
};
use crate::apiserver::{
    ApiError, ApiServer, DeleteOptions, Part, Request, Response, WatchEventType,
};
use crate::client::Cache;
use crate::controllers::deployment::{Ledger, on_change, on_timer, sync, wakes};
use crate::controllers::{Change, ChangeKind, Context, PassRun, Plan, Step};
use crate::kernel::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Edge,
    Level,
}

/// Something that the played part of the cluster can do next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// A ReplicaSet's controller makes and deletes pods and writes the status.
    Sync(Str),
    /// A pod becomes ready.
    Ready(Str),
    /// A pod that is being deleted is gone.
    Gone(Str),
}

pub struct Lane {
    pub flavour: Flavour,
    pub server: ApiServer,
    pub cache: Cache,
    pub ledger: Ledger,
    pub inbox: VecDeque<Change>,
    pub now: Time,
    /// `Reason: message` of every Event.
    pub events: Vec<String>,
    /// Answers with an error what it likes to.
    pub refuse: fn(&Request) -> Option<ApiError>,
    pub errors: Vec<String>,
    pub requeue_after: Option<std::time::Duration>,
    seen: u64,
    queue: VecDeque<ObjectKey>,
}

pub fn key(kind: Kind, name: &str) -> ObjectKey {
    ObjectKey::new(kind, "default", name)
}

/// The Deployment `web`, as the server's defaults leave it.
pub fn web(replicas: i32, image: &str) -> Deployment {
    let value = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    });
    serde_json::from_value(value).unwrap()
}

pub fn set_image(deployment: &mut Deployment, image: &str) {
    deployment.spec.template.spec.containers[0].image = Some(image.into());
}

impl Lane {
    pub fn new(flavour: Flavour) -> Lane {
        Lane {
            flavour,
            server: ApiServer::new(7),
            cache: Cache::default(),
            ledger: Ledger::default(),
            inbox: VecDeque::new(),
            now: Time::from_secs(1),
            events: Vec::new(),
            refuse: |_| None,
            errors: Vec::new(),
            requeue_after: None,
            seen: 0,
            queue: VecDeque::new(),
        }
    }

    /// A lane in which `web` runs.
    pub fn with_web(flavour: Flavour, replicas: i32) -> Lane {
        let mut lane = Lane::new(flavour);
        lane.ask(Request::Create(Arc::new(web(replicas, "web:1").into())));
        lane.converge();
        lane
    }

    /// Asks as somebody else.
    pub fn ask(&mut self, request: Request) -> Arc<Object> {
        let answer = self.server.handle(&request, self.now).expect("a good request");
        self.fill_inbox();
        answer
    }

    pub fn edit(&mut self, change: impl FnOnce(&mut Deployment)) {
        let mut deployment = self.deployment();
        change(&mut deployment);
        deployment.metadata.resource_version = 0;
        self.ask(Request::Update(Part::Main, Arc::new(deployment.into())));
    }

    pub fn deployment(&self) -> Deployment {
        let stored = self.server.store().get(&key(Kind::Deployment, "web"));
        stored.and_then(|object| object.as_deployment()).expect("web").clone()
    }

    pub fn sets(&self) -> Vec<ReplicaSet> {
        let sets = self.server.store().list(Kind::ReplicaSet);
        sets.filter_map(|object| object.as_replica_set().cloned()).collect()
    }

    pub fn pods(&self) -> Vec<Pod> {
        let pods = self.server.store().list(Kind::Pod);
        pods.filter_map(|object| object.as_pod().cloned()).collect()
    }

    /// The set of this image.
    pub fn set_of(&self, image: &str) -> Option<ReplicaSet> {
        let has = |set: &ReplicaSet| {
            let container = set.spec.template.spec.containers.first();
            container.is_some_and(|c| c.image.as_deref() == Some(image))
        };
        self.sets().into_iter().find(has)
    }

    /// The size of the set of this image; 0 if there is none.
    pub fn size_of(&self, image: &str) -> i32 {
        self.set_of(image).map_or(0, |set| set.spec.replicas())
    }

    pub fn progressing(&self) -> (ConditionStatus, String) {
        let status = self.deployment().status;
        let condition = Condition::find(&status.conditions, "Progressing").expect("Progressing");
        (condition.status, condition.reason.as_deref().unwrap_or("").to_string())
    }

    fn fill_inbox(&mut self) {
        let commits = self.server.store().since(self.seen).expect("history");
        let events: Vec<_> = commits.filter_map(|c| c.seen_through(|_| true)).collect();
        for event in events {
            self.seen = event.revision;
            let object = event.object;
            let (kind, before) = if event.kind == WatchEventType::Deleted {
                (ChangeKind::Deleted, self.cache.remove(&object.key()))
            } else {
                let before = self.cache.put(object.clone());
                let is_new = before.is_none();
                (if is_new { ChangeKind::Added } else { ChangeKind::Updated }, before)
            };
            self.inbox.push_back(Change { kind, before, object });
        }
    }

    /// The flavour hears of a change. (The cache has it already, and all later ones.)
    pub fn tell(&mut self, change: &Change) {
        let (now, promises_kept) = (self.now, true);
        let cx = Context { cache: &self.cache, now, seed: 1, promises_kept };
        match self.flavour {
            Flavour::Level => {
                for key in wakes(change, &cx).keys {
                    if !self.queue.contains(&key) {
                        self.queue.push_back(key);
                    }
                }
            }
            Flavour::Edge => {
                let plan = on_change(change, &cx, &mut self.ledger);
                self.carry_out(&plan);
            }
        }
    }

    /// Wakes the Deployment without any change.
    pub fn wake(&mut self) {
        match self.flavour {
            Flavour::Level => self.queue.push_back(key(Kind::Deployment, "web")),
            Flavour::Edge => {
                let cx =
                    Context { cache: &self.cache, now: self.now, seed: 1, promises_kept: true };
                let plan = on_timer(&key(Kind::Deployment, "web"), &cx, &mut self.ledger);
                self.carry_out(&plan);
            }
        }
        self.settle();
    }

    /// Lets the controller work until nothing waits for it.
    pub fn settle(&mut self) {
        for _ in 0..10_000 {
            if let Some(change) = self.inbox.pop_front() {
                self.tell(&change);
            } else if !self.pass_once() {
                return;
            }
        }
        panic!("the controller never rests: {:?}", self.errors.last());
    }

    /// One pass of the level flavour, if a key waits.
    pub fn pass_once(&mut self) -> bool {
        let Some(next) = self.queue.pop_front() else {
            return false;
        };
        let cx = Context { cache: &self.cache, now: self.now, seed: 1, promises_kept: true };
        let plan = sync(&next, &cx);
        if !self.carry_out(&plan) {
            self.queue.push_back(next);
        }
        true
    }

    /// Whether it went well.
    fn carry_out(&mut self, plan: &Plan) -> bool {
        self.requeue_after = plan.requeue_after.or(self.requeue_after);
        let mut run = PassRun::new(plan.clone());
        loop {
            let step = run.next(self.now);
            self.events.extend(
                run.take_events().into_iter().map(|e| format!("{}: {}", e.reason, e.message)),
            );
            match step {
                Step::Send(requests) => {
                    for (index, request) in requests.iter().enumerate() {
                        let response = self.handle(request);
                        run.answer(index, &response);
                    }
                }
                Step::Wait => unreachable!("every request was answered"),
                Step::Ended(ended) => {
                    self.fill_inbox();
                    self.errors.extend(ended.error.clone());
                    return ended.error.is_none();
                }
            }
        }
    }

    fn handle(&mut self, request: &Request) -> Response {
        match (self.refuse)(request) {
            Some(error) => Err(error),
            None => self.server.handle(request, self.now),
        }
    }

    /// What the played part of the cluster can do now.
    pub fn acts(&self) -> BTreeSet<Act> {
        let mut acts = BTreeSet::new();
        for set in self.sets() {
            let (pods, status) = self.look(&set);
            let size = set.spec.replicas() as usize;
            if status != set.status || pods.len() != size {
                acts.insert(Act::Sync(set.metadata.name.clone()));
            }
        }
        for pod in self.pods() {
            let name = pod.metadata.name.clone();
            if pod.metadata.is_terminating() {
                acts.insert(Act::Gone(name));
            } else if !pod.is_ready() && !is_broken(&pod) {
                acts.insert(Act::Ready(name));
            }
        }
        acts
    }

    /// The active pods of a set, and the status that they make.
    fn look(&self, set: &ReplicaSet) -> (Vec<Pod>, crate::api::ReplicaSetStatus) {
        let mine = |pod: &Pod| pod.metadata.is_controlled_by(&set.metadata.uid);
        let (going, active): (Vec<Pod>, Vec<Pod>) =
            self.pods().into_iter().filter(mine).partition(|p| p.metadata.is_terminating());
        let ready = active.iter().filter(|pod| pod.is_ready()).count() as i32;
        let status = crate::api::ReplicaSetStatus {
            replicas: active.len() as i32,
            fully_labeled_replicas: active.len() as i32,
            ready_replicas: ready,
            available_replicas: ready,
            terminating_replicas: Some(going.len() as i32),
            observed_generation: set.metadata.generation,
            ..Default::default()
        };
        (active, status)
    }

    pub fn act(&mut self, act: &Act) {
        match act {
            Act::Sync(name) => self.sync_set(name),
            Act::Ready(name) => {
                let stored = self.server.store().get(&key(Kind::Pod, name)).expect("a pod");
                let mut pod = stored.as_pod().expect("a pod").clone();
                pod.status.conditions = [Condition {
                    kind: "Ready".into(),
                    status: ConditionStatus::True,
                    ..Condition::default()
                }]
                .into();
                self.ask(Request::Update(Part::Status, Arc::new(pod.into())));
            }
            Act::Gone(name) => {
                let now = DeleteOptions { grace_period_seconds: Some(0), ..Default::default() };
                self.ask(Request::Delete(key(Kind::Pod, name), now));
            }
        }
    }

    fn sync_set(&mut self, name: &str) {
        let set_key = key(Kind::ReplicaSet, name);
        let stored = self.server.store().get(&set_key).expect("a set").clone();
        let set = stored.as_replica_set().expect("a set");
        let (mut active, _) = self.look(set);
        let size = set.spec.replicas() as usize;
        for _ in active.len()..size {
            self.ask(Request::Create(Arc::new(pod_of(set).into())));
        }
        // Those that are not ready go first.
        active.sort_by_key(|pod| pod.is_ready());
        let surplus = active.len().saturating_sub(size);
        for pod in active.iter().take(surplus) {
            let pod = key(Kind::Pod, &pod.metadata.name);
            self.ask(Request::Delete(pod, DeleteOptions::default()));
        }
        let mut after = set.clone();
        after.status = self.look(set).1;
        after.metadata.resource_version = 0;
        self.ask(Request::Update(Part::Status, Arc::new(after.into())));
    }

    /// Lets everything happen until nothing more can.
    pub fn converge(&mut self) {
        for _ in 0..2_000 {
            self.settle();
            let Some(act) = self.acts().into_iter().next() else {
                return;
            };
            self.act(&act);
        }
        panic!("the cluster never rests");
    }

    /// Somebody deletes a set, and the garbage collector its pods.
    pub fn delete_set(&mut self, name: &str) {
        let gone = self.ask(Request::Delete(key(Kind::ReplicaSet, name), DeleteOptions::default()));
        for pod in self.pods() {
            if pod.metadata.is_controlled_by(&gone.meta().uid) {
                self.act(&Act::Gone(pod.metadata.name));
            }
        }
    }
}

fn is_broken(pod: &Pod) -> bool {
    let container = pod.spec.containers.first();
    container.is_some_and(|c| c.image.as_deref().is_some_and(|image| image.ends_with("broken")))
}

fn pod_of(set: &ReplicaSet) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.generate_name = Some(format!("{}-", set.metadata.name).into());
    pod.metadata.namespace = set.metadata.namespace.clone();
    pod.metadata.labels = set.spec.template.metadata.labels.clone();
    let owner = OwnerReference::controller_of(Kind::ReplicaSet, &set.metadata);
    pod.metadata.owner_references = [owner].into();
    pod.spec = set.spec.template.spec.clone();
    // On a node, so that a deletion takes its time.
    pod.spec.node_name = Some("node-1".into());
    pod
}
