use serde_json::{Value, json};

use super::*;
use crate::apiserver::{ApiServer, Part};
use crate::client::Cache;
use crate::controllers::{ChangeKind, PassRun, Step};

fn object(kind: Kind, value: Value) -> Arc<Object> {
    Arc::new(Object::from_value(kind, value).unwrap())
}

fn web(replicas: i64, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    })
}

fn revision(id: &str, objects: &[Value]) -> Arc<Object> {
    let metadata = json!({"name": "demo", "namespace": "argocd"});
    object(Kind::GitRevision, json!({"metadata": metadata, "revision": id, "objects": objects}))
}

/// A server, a controller that sees all of it at once, and a repository.
struct Lab {
    server: ApiServer,
    controller: GitOps,
    git: Arc<Object>,
    key: ObjectKey,
    now: Time,
}

impl Lab {
    fn new(policy: Value, extra: Value) -> Lab {
        let mut spec = json!({
            "project": "default", "source": {"repoURL": "r", "path": "p"},
            "destination": {"server": "s", "namespace": "default"},
            "syncPolicy": policy,
        });
        if let (Value::Object(spec), Value::Object(extra)) = (&mut spec, extra) {
            spec.extend(extra);
        }
        let metadata = json!({"name": "demo", "namespace": "argocd"});
        let application = object(Kind::Application, json!({"metadata": metadata, "spec": spec}));
        let mut server = ApiServer::new(1);
        let stored = server.handle(&Request::Create(application), Time::ZERO).unwrap();
        let git = revision("aaaaaaa1", &[web(2, "x:1")]);
        let (controller, now) = (GitOps::default(), Time::from_secs(1));
        Lab { server, controller, git, key: stored.key(), now }
    }

    fn cache(&self) -> Cache {
        let mut cache = Cache::default();
        self.server.store().all().for_each(|object| _ = cache.put(object.clone()));
        cache
    }

    /// One pass of the level-triggered loop; what it wrote.
    fn pass(&mut self) -> usize {
        let mut writes = 0;
        for _ in 0..2 {
            let cache = self.cache();
            let cx = Context { cache: &cache, now: self.now, seed: 1, promises_kept: true };
            let plan = self.controller.sync(&self.key.clone(), &cx);
            let goes_on = plan.goes_on;
            writes += self.carry_out(plan);
            if !goes_on {
                break;
            }
        }
        writes
    }

    fn carry_out(&mut self, plan: Plan) -> usize {
        let (mut run, mut writes) = (PassRun::new(plan), 0);
        while let Step::Send(requests) = run.next(self.now) {
            for (index, request) in requests.iter().enumerate() {
                let response = match request {
                    Request::Get(key) if key.kind == Kind::GitRevision => Ok(self.git.clone()),
                    request => self.server.handle(request, self.now),
                };
                let own = request.key().kind != Kind::Application;
                writes += usize::from(request.is_write() && own);
                self.controller.answered(&self.key, request, &response, self.now);
                run.answer(index, &response);
            }
        }
        writes
    }

    fn later(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    fn replicas(&self) -> Option<i32> {
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        self.server.store().get(&key).map(|web| web.as_deployment().unwrap().spec.replicas())
    }

    fn scale(&mut self, replicas: i32) {
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        let patch = json!({"spec": {"replicas": replicas}});
        self.server.handle(&Request::Patch(Part::Scale, key, patch), self.now).unwrap();
    }

    fn status(&self, pointer: &str) -> Value {
        let value = self.server.store().get(&self.key).unwrap().to_value();
        value.pointer(&format!("/status{pointer}")).cloned().unwrap_or_default()
    }
}

fn automated(self_heal: bool) -> Value {
    json!({"automated": {"prune": true, "selfHeal": self_heal}})
}

#[test]
fn a_first_look_makes_what_git_has_and_the_next_finds_it_synced() {
    let mut lab = Lab::new(automated(false), json!({}));
    assert_eq!(lab.pass(), 1);
    assert_eq!(lab.replicas(), Some(2));
    assert_eq!(lab.status("/operationState/phase"), "Succeeded");
    lab.later(1);
    assert_eq!(lab.pass(), 0);
    assert_eq!(lab.status("/sync/status"), "Synced");
}

#[test]
fn without_self_heal_a_change_by_hand_is_told_of_and_stays() {
    let mut lab = Lab::new(automated(false), json!({}));
    lab.pass();
    lab.later(10);
    lab.scale(5);
    assert_eq!((lab.pass(), lab.replicas()), (0, Some(5)));
    assert_eq!(lab.status("/sync/status"), "OutOfSync");
    lab.later(1_800);
    assert_eq!((lab.pass(), lab.replicas()), (0, Some(5)));
}

#[test]
fn self_heal_waits_longer_each_time() {
    let mut lab = Lab::new(automated(true), json!({}));
    lab.pass();
    let mut waits = Vec::new();
    for _ in 0..4 {
        lab.scale(5);
        let mut waited = 0;
        while lab.pass() == 0 {
            lab.later(1);
            waited += 1;
        }
        assert_eq!(lab.replicas(), Some(2));
        waits.push(waited);
    }
    assert_eq!(waits, [0, 2, 6, 18]);
}

#[test]
fn an_ignored_field_counts_as_synced_and_is_written_all_the_same_by_the_next_sync() {
    let ignored =
        json!([{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]);
    for (options, left) in [(json!([]), 2), (json!(["RespectIgnoreDifferences=true"]), 4)] {
        let mut policy = automated(true);
        policy["syncOptions"] = options;
        let mut lab = Lab::new(policy, json!({"ignoreDifferences": ignored}));
        lab.pass();
        lab.later(5);
        lab.scale(4);
        assert_eq!((lab.pass(), lab.replicas()), (0, Some(4)));
        assert_eq!(lab.status("/sync/status"), "Synced");
        lab.git = revision("bbbbbbb2", &[web(2, "x:2")]);
        lab.later(200);
        assert_eq!(lab.pass(), 1);
        assert_eq!(lab.replicas(), Some(left));
    }
}

#[test]
fn what_git_no_longer_has_is_pruned_but_never_all_of_it() {
    let mut lab = Lab::new(automated(true), json!({}));
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}]},
    });
    lab.git = revision("aaaaaaa1", &[web(2, "x:1"), service]);
    assert_eq!(lab.pass(), 2);
    lab.git = revision("bbbbbbb2", &[web(2, "x:1")]);
    lab.later(200);
    assert_eq!(lab.pass(), 1);
    // In the foreground: the garbage collector lets it go.
    let services = lab.server.store().list(Kind::Service);
    assert!(services.into_iter().all(|service| service.meta().is_terminating()));
    lab.git = revision("ccccccc3", &[]);
    lab.later(200);
    assert_eq!(lab.pass(), 0);
    assert_eq!(lab.status("/conditions/0/type"), "SyncError");
    assert_eq!(lab.replicas(), Some(2));
}

#[test]
fn a_push_is_not_noticed_before_the_next_poll_unless_somebody_asks() {
    let mut lab = Lab::new(automated(false), json!({}));
    lab.pass();
    lab.git = revision("bbbbbbb2", &[web(3, "x:1")]);
    lab.later(60);
    assert_eq!((lab.pass(), lab.replicas()), (0, Some(2)));
    let patch = json!({"metadata": {"annotations": {REFRESH: "normal"}}});
    lab.server.handle(&Request::Patch(Part::Main, lab.key.clone(), patch), lab.now).unwrap();
    lab.later(6);
    assert_eq!((lab.pass(), lab.replicas()), (1, Some(3)));
}

#[test]
fn a_sync_by_hand_is_carried_out_once() {
    let mut lab = Lab::new(json!({}), json!({}));
    assert_eq!(lab.pass(), 0);
    assert_eq!(lab.status("/health/status"), "Missing");
    let patch = json!({"operation": {"sync": {"revision": ""}}});
    lab.server.handle(&Request::Patch(Part::Main, lab.key.clone(), patch), lab.now).unwrap();
    assert_eq!(lab.pass(), 1);
    lab.later(1);
    assert_eq!(lab.pass(), 0);
    assert_eq!(lab.status("/operationState/operation/initiatedBy/automated"), false);
}

#[test]
fn edge_applies_what_a_commit_changed_and_nothing_else() {
    let mut lab = Lab::new(automated(false), json!({}));
    let map = |text: &str| {
        let (metadata, data) = (json!({"name": "m"}), json!({"a": text}));
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    };
    lab.git = revision("aaaaaaa1", &[web(2, "x:1"), map("1")]);
    lab.pass();
    lab.later(10);
    lab.scale(5);
    let push = revision("bbbbbbb2", &[web(2, "x:1"), map("2")]);
    let change = Change { kind: ChangeKind::Updated, before: None, object: push };
    let cache = lab.cache();
    let cx = Context { cache: &cache, now: lab.now, seed: 1, promises_kept: true };
    let plan = lab.controller.on_change(&change, &cx);
    assert_eq!(lab.carry_out(plan), 1);
    assert_eq!(lab.replicas(), Some(5));
}
