//! Quotas, budgets, namespaces and kinds that users define, in whole clusters and in both lanes.

use std::time::Duration;

use loopscope::api::{Kind, Object, ObjectKey, Value};
use loopscope::apiserver::{DeleteOptions, Request, Response};
use loopscope::kernel::Time;
use loopscope::scenario::report::play;
use loopscope::scenario::{Scenario, perform};

use loopscope::world::{Lane, LaneId, Options};

const PLENTY: u64 = 2_000_000;

/// Plays a scenario file: all of its expectations must be met.
fn plays(text: &str) {
    let scenario = Scenario::read("", text).expect("a scenario");
    let report = play(&scenario, None, None, None);
    assert!(report.all_met(), "{}", report.text());
}

struct Cluster(Lane);

impl Cluster {
    fn new(id: LaneId) -> Cluster {
        Cluster(Lane::new(id, Options::default()))
    }

    fn both(test: impl Fn(Cluster)) {
        [LaneId::Edge, LaneId::Level].into_iter().for_each(|id| test(Cluster::new(id)));
    }

    fn run(&mut self, seconds: u64) {
        self.run_for(Duration::from_secs(seconds));
    }

    fn run_for(&mut self, span: Duration) {
        let until = self.0.world.now() + span;
        assert!(self.0.world.run_until(until, PLENTY), "it goes on and on");
    }

    fn kubectl(&mut self, line: &str, stdin: Option<&str>) -> String {
        perform(&mut self.0, line, stdin).text
    }

    fn apply(&mut self, text: &str) -> String {
        self.kubectl("kubectl apply -f -", Some(text))
    }

    fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Value> {
        let key = ObjectKey::new(kind, namespace, name);
        self.0.world.store().get(&key).map(|object| object.to_value())
    }

    fn pods(&self) -> Vec<String> {
        let pods = self.0.world.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        pods.filter(|pod| pod.is_active()).map(|pod| pod.metadata.name.to_string()).collect()
    }

    fn evict(&mut self, pod: &str) -> Response {
        let key = ObjectKey::new(Kind::Pod, "default", pod);
        self.0.world.request(&Request::Evict(key, DeleteOptions::default()))
    }

    fn budget(&self) -> [i64; 4] {
        let budget = self.get(Kind::PodDisruptionBudget, "default", "web").expect("a budget");
        ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"]
            .map(|field| budget["status"][field].as_i64().expect(field))
    }
}

fn deployment(replicas: u32, more: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: main
        image: registry.example/web:1
{more}"
    )
}

#[test]
fn a_full_quota_stalls_a_rollout_and_the_status_says_why() {
    plays(
        r#"
objects: |
  apiVersion: v1
  kind: ResourceQuota
  metadata: {name: namespace-quota}
  spec:
    hard: {limits.cpu: "6", limits.memory: 12Gi}
steps:
- at: 1s
  apply: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - name: main
            image: registry.example/web:1
            resources: {limits: {cpu: 2, memory: 4Gi}}
- {at: 30s, kubectl: "set image deploy/web main=registry.example/web:2"}
expect:
- {at: 29s, verdict: converged}
- {at: 29s, field: {object: quota/namespace-quota, path: status.used, is: {limits.cpu: "6", limits.memory: 12Gi}}}
- {at: 60s, count: {kind: Pod, selector: app=web, phase: Running, ready: true, is: 3}}
- at: 60s
  event:
    object: rs/web-*
    reason: FailedCreate
    contains: "is forbidden: exceeded quota: namespace-quota, requested: limits.cpu=2,limits.memory=4Gi, used: limits.cpu=6,limits.memory=12Gi, limited: limits.cpu=6,limits.memory=12Gi"
- {at: 60s, kubectl: "get deploy web -o yaml", contains: ["ReplicaFailure", "exceeded quota: namespace-quota"]}
- {at: 60s, kubectl: "get quota", contains: ["limits.cpu: 6/6, limits.memory: 12Gi/12Gi"]}
"#,
    );
}

#[test]
fn what_is_deleted_makes_room_in_a_quota() {
    Cluster::both(|mut cluster| {
        cluster.apply(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 2}}",
        );
        cluster.run(1);
        cluster.apply(&deployment(3, ""));
        cluster.run(20);
        assert_eq!(cluster.pods().len(), 2);
        let first = cluster.pods().remove(0);
        cluster.kubectl(&format!("kubectl delete pod {first}"), None);
        cluster.run(60);
        assert_eq!(cluster.pods().len(), 2);
        cluster.kubectl("kubectl scale deploy/web --replicas=1", None);
        cluster.run(60);
        let quota = cluster.get(Kind::ResourceQuota, "default", "q").expect("a quota");
        assert_eq!(quota["status"]["used"]["pods"], "1");
    });
}

#[test]
fn a_budget_of_all_replicas_lets_none_go_until_there_is_one_more() {
    Cluster::both(|mut cluster| {
        cluster.apply(&deployment(1, ""));
        cluster.apply(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: \
             {minAvailable: 1, selector: {matchLabels: {app: web}}}",
        );
        cluster.run(20);
        assert_eq!(cluster.budget(), [1, 1, 1, 0]);
        let pod = cluster.pods().remove(0);
        let error = cluster.evict(&pod).expect_err("refused");
        assert_eq!(error.reason.code(), 429);
        assert_eq!(
            error.message,
            "Cannot evict pod as it would violate the pod's disruption budget."
        );
        cluster.kubectl("kubectl scale deploy/web --replicas=2", None);
        cluster.run(20);
        assert_eq!(cluster.budget(), [2, 2, 1, 1]);
        cluster.evict(&pod).expect("let go");
        // The second of two at the same time is refused, before any controller has looked.
        let other = cluster.pods().into_iter().find(|name| *name != pod).expect("another");
        assert!(cluster.evict(&other).is_err());
        cluster.run(60);
        assert_eq!(cluster.budget(), [2, 2, 1, 1]);
        assert!(!cluster.pods().contains(&pod));
        let columns = cluster.kubectl("kubectl get pdb", None);
        assert!(columns.contains("ALLOWED DISRUPTIONS"), "{columns}");
    });
}

#[test]
fn a_budget_that_selects_nothing_protects_nothing() {
    Cluster::both(|mut cluster| {
        cluster.apply(&deployment(1, ""));
        cluster.apply(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: \
             {minAvailable: 1, selector: {matchLabels: {run: web}}}",
        );
        cluster.run(20);
        assert_eq!(cluster.budget(), [0, 0, 1, 0]);
        let pod = cluster.pods().remove(0);
        cluster.evict(&pod).expect("nothing protects it");
        cluster.run(60);
        cluster.apply(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: \
             {minAvailable: 1, selector: {matchLabels: {app: web}}}",
        );
        cluster.run(20);
        assert_eq!(cluster.budget(), [1, 1, 1, 0]);
    });
}

#[test]
fn a_namespace_goes_with_all_that_is_in_it() {
    Cluster::both(|mut cluster| {
        let refused = cluster.kubectl("kubectl apply -n shop -f -", Some(&deployment(2, "")));
        assert!(refused.contains("namespaces \"shop\" not found"), "{refused}");
        cluster.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}");
        cluster.kubectl("kubectl apply -n shop -f -", Some(&deployment(2, "")));
        cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}");
        cluster.run(20);
        assert_eq!(cluster.pods().len(), 2);
        cluster.kubectl("kubectl delete ns shop", None);
        let listed = cluster.kubectl("kubectl get ns", None);
        assert!(listed.contains("Terminating"), "{listed}");
        cluster.run_for(Duration::from_millis(400));
        let going = cluster.get(Kind::Namespace, "", "shop").expect("still there");
        let remaining = going["status"]["conditions"][3].clone();
        assert_eq!(remaining["type"], "NamespaceContentRemaining");
        assert_eq!(remaining["status"], "True", "{remaining}");
        let refused = cluster
            .apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: shop}");
        assert!(refused.contains("because it is being terminated"), "{refused}");
        cluster.run(60);
        assert_eq!(cluster.get(Kind::Namespace, "", "shop"), None);
        let inside =
            |object: &Object| &*object.meta().namespace == "shop" && object.kind() != Kind::Event;
        let left: Vec<_> =
            cluster.0.world.store().all().filter(|o| inside(o)).map(|o| o.key()).collect();
        assert!(left.is_empty(), "{left:?}");
        // The edge-triggered Deployment loop goes on trying to write to what is gone.
        let level = cluster.0.id == LaneId::Level;
        assert!(!(level && cluster.0.world.is_busy()), "nothing is left to do");
    });
}

const WIDGETS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How big it is}
              color: {type: string, default: blue}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
"#;
const WIDGET: &str =
    "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 2}\n";

#[test]
fn a_kind_that_a_user_defines_is_served_like_any_other() {
    let mut cluster = Cluster::new(LaneId::Level);
    let refused = cluster.apply(WIDGET);
    assert!(refused.contains("no matches for kind \"Widget\" in version \"example.com/v1\""));
    let made = cluster.apply(WIDGETS);
    assert!(made.contains("widgets.example.com created"), "{made}");
    assert_eq!(cluster.apply(WIDGET), "widget.example.com/a created\n");
    assert_eq!(cluster.apply(WIDGET), "widget.example.com/a unchanged\n");
    cluster.run(5);
    assert_eq!(cluster.kubectl("kubectl get wd", None), "NAME   SIZE   AGE\na      2      5s\n");
    let wide = cluster.kubectl("kubectl get widgets -o wide", None);
    assert_eq!(wide, "NAME   SIZE   COLOR   AGE\na      2      blue    5s\n");
    let bad = cluster.apply(&WIDGET.replace("size: 2", "size: 2, shape: round"));
    assert!(
        bad.contains(
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: \
             unknown field \"spec.shape\""
        ),
        "{bad}"
    );
    let bad = cluster.apply(&WIDGET.replace("size: 2", "size: 0"));
    assert!(bad.contains("should be greater than or equal to 1"), "{bad}");
    assert_eq!(
        cluster.kubectl("kubectl scale wd/a --replicas=4", None),
        "widget.example.com/a scaled\n"
    );
    for (line, said) in [
        ("kubectl scale wd/a --replicas=9 --dry-run=server", "scaled (server dry run)\n"),
        ("kubectl scale wd/a --replicas=9 --dry-run=client", "scaled (dry run)\n"),
        (
            "kubectl scale wd/a --replicas=9 --current-replicas=3",
            "error: Expected replicas to be 3, was 4\n",
        ),
        ("kubectl scale wd/a --replicas=4 --current-replicas=4", "a scaled\n"),
    ] {
        let text = cluster.kubectl(line, None);
        assert!(text.ends_with(said), "{line}: {text}");
    }
    let text = cluster.kubectl("kubectl patch wd a -p '{\"spec\":{\"size\":7}}'", None);
    assert!(text.starts_with("Error from server (UnsupportedMediaType): the body of"), "{text}");
    let line = "kubectl patch wd a -p '{\"spec\":{\"size\":7}}' --dry-run=client";
    assert_eq!(
        cluster.kubectl(line, None),
        "error: strategic merge patch is not supported for example.com/v1, Kind=Widget locally, \
         try --type merge\n"
    );
    let text = cluster.kubectl("kubectl get wd a -o yaml", None);
    assert!(text.contains("size: 4") && text.contains("apiVersion: example.com/v1"), "{text}");
    let text = cluster.kubectl("kubectl explain wd.spec", None);
    assert!(text.contains("size\t<integer> -required-"), "{text}");
    let text = cluster.kubectl("kubectl describe wd a", None);
    assert!(text.contains("color: blue"), "{text}");
    let text = cluster.kubectl("kubectl api-resources", None);
    assert!(text.contains("example.com/v1"), "{text}");
    cluster.kubectl("kubectl delete crd widgets.example.com", None);
    let text = cluster.kubectl("kubectl get wd", None);
    assert!(text.contains("the server doesn't have a resource type \"wd\""), "{text}");
}

#[test]
fn what_a_defined_object_owns_goes_with_it() {
    let mut cluster = Cluster::new(LaneId::Level);
    cluster.apply(WIDGETS);
    cluster.apply(WIDGET);
    cluster.run(1);
    let kind = loopscope::apiserver::custom::served(
        cluster.0.world.store().list(Kind::CustomResourceDefinition),
    )[0]
    .kind;
    let uid = cluster.get(kind, "default", "a").expect("it")["metadata"]["uid"].clone();
    cluster.apply(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, ownerReferences: [{{apiVersion: \
         example.com/v1, kind: Widget, name: a, uid: {uid}}}]}}"
    ));
    cluster.run(5);
    assert!(cluster.get(Kind::ConfigMap, "default", "c").is_some());
    cluster.kubectl("kubectl delete wd a", None);
    cluster.run(5);
    assert!(cluster.get(Kind::ConfigMap, "default", "c").is_none());
}

#[test]
fn a_fork_knows_its_own_kinds_only() {
    let mut cluster = Cluster::new(LaneId::Level);
    cluster.run(1);
    let mut other = Cluster(cluster.0.clone());
    cluster.apply(WIDGETS);
    let text = cluster.kubectl("kubectl get widgets", None);
    assert_eq!(text, "No resources found in default namespace.\n");
    let text = other.kubectl("kubectl get widgets", None);
    assert!(text.contains("doesn't have a resource type"), "{text}");
    assert_eq!(other.0.world.now(), Time::from_secs(1));
}

/// The numbers of kinds depend on what the program did before; nothing else may.
#[test]
fn a_run_does_not_depend_on_the_kinds_that_others_defined_before() {
    let run = || {
        let mut cluster = Cluster::new(LaneId::Level);
        cluster.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}");
        for plural in ["zebras", "apes"] {
            let text = WIDGETS.replace("widgets", plural).replace("widget", plural);
            let text = text.replace("Widget", &plural.to_uppercase()).replace("wd", plural);
            cluster.apply(&text);
            cluster.apply(
                &WIDGET
                    .replace("Widget", &plural.to_uppercase())
                    .replace("name: a", "name: a, namespace: shop"),
            );
        }
        cluster.apply(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: \
             {hard: {count/zebras.example.com: 1}}",
        );
        cluster.run(10);
        let used = cluster.get(Kind::ResourceQuota, "shop", "q").expect("a quota");
        assert_eq!(used["status"]["used"]["count/zebras.example.com"], "1");
        cluster.kubectl("kubectl delete ns shop", None);
        cluster.run(60);
        assert_eq!(cluster.get(Kind::Namespace, "", "shop"), None);
        cluster.0.world.trace_hash()
    };
    let first = run();
    let mut other = Cluster::new(LaneId::Edge);
    other.apply(&WIDGETS.replace("example.com", "aaa.example.org"));
    assert_eq!(run(), first);
}
