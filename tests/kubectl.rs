//! kubectl lines against a real API server of the simulation, with no controller behind it.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, Str, Timestamp};
use loopscope::apiserver::{ApiServer, Part, Request, Response};
use loopscope::kernel::Time;
use loopscope::kubectl::{self, Api, Next, Output, Usage};
use proptest::prelude::*;
use serde_json::json;

struct Cluster {
    server: ApiServer,
    now: Time,
    writes: usize,
    /// Whether somebody tells what pods use.
    metrics: bool,
}

impl Api for Cluster {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.server.store().get(key).cloned()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let inside = |o: &&Arc<Object>| namespace.is_none_or(|name| *o.meta().namespace == *name);
        self.server.store().list(kind).filter(inside).cloned().collect()
    }

    fn request(&mut self, request: Request) -> Response {
        self.writes += 1;
        self.server.handle(&request, self.now)
    }

    fn request_as(&mut self, request: Request, manager: &str) -> Response {
        self.writes += 1;
        self.server.handle_as(&request, manager, self.now)
    }

    fn dry_run(&self, request: &Request) -> Response {
        self.server.clone().handle(request, self.now)
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.now)
    }

    fn logs(&self, _: &ObjectKey, _: &Str) -> Option<Vec<String>> {
        Some(vec!["one".into(), "two".into()])
    }

    fn usage(&self, _: &ObjectKey) -> Option<Vec<Usage>> {
        let web = Usage { container: "web".into(), cpu_milli: 250, memory: 64 << 20 };
        self.metrics.then(|| vec![web])
    }
}

const WEB: &str = "\
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
      - name: web
        image: nginx:1.25
        resources: {requests: {cpu: \"0.5\"}}
";

const PODS: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {containers: [{name: web, image: \"nginx:1.25\"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-2, labels: {app: web}}
spec: {nodeName: node-1, containers: [{name: web, image: \"nginx:1.25\"}]}
";

impl Cluster {
    fn new() -> Cluster {
        let mut cluster =
            Cluster { server: ApiServer::new(1), now: Time::ZERO, writes: 0, metrics: false };
        let node = json!({"metadata": {"name": "node-1"}});
        let node = Object::from_value(Kind::Node, node).unwrap();
        cluster.request(Request::Create(Arc::new(node))).unwrap();
        cluster.writes = 0;
        cluster
    }

    fn run(&mut self, line: &str) -> Output {
        kubectl::run(line, None, self)
    }

    fn apply(&mut self, text: &str) -> Output {
        kubectl::run("apply -f -", Some(text), self)
    }

    /// What a line prints, where it must succeed.
    fn says(&mut self, line: &str) -> String {
        let output = self.run(line);
        assert!(!output.error, "{line}: {}", output.text);
        output.text
    }

    /// What a line prints, where it must fail.
    fn refuses(&mut self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.error, "{line}: {}", output.text);
        output.text
    }
}

#[test]
fn applying_the_same_text_ten_times_writes_once() {
    let mut cluster = Cluster::new();
    assert_eq!(cluster.apply(WEB).text, "deployment.apps/web created\n");
    for _ in 0..10 {
        assert_eq!(cluster.apply(WEB).text, "deployment.apps/web unchanged\n");
    }
    assert_eq!(cluster.writes, 1);
    let changed = WEB.replace("replicas: 3", "replicas: 5");
    assert_eq!(cluster.apply(&changed).text, "deployment.apps/web configured\n");
    assert_eq!(cluster.says("get deploy web -o jsonpath={.spec.replicas}"), "5\n");
}

#[test]
fn apply_leaves_alone_what_it_never_asked_for_and_takes_back_what_it_did() {
    let mut cluster = Cluster::new();
    let without = WEB.replace("  replicas: 3\n", "");
    cluster.apply(&without);
    cluster.says("scale deploy web --replicas=7");
    assert_eq!(cluster.apply(&without).text, "deployment.apps/web unchanged\n");
    assert_eq!(cluster.says("get deploy web -o jsonpath={.spec.replicas}"), "7\n");
    let labelled = WEB.replace("{name: web}\n", "{name: web, labels: {a: b}}\n");
    cluster.apply(&labelled);
    cluster.apply(WEB);
    assert_eq!(cluster.says("get deploy web -o jsonpath={.metadata.labels}"), "\n");
}

#[test]
fn an_object_made_otherwise_is_taken_over_with_a_warning() {
    let mut cluster = Cluster::new();
    cluster.says("create deployment web --image=nginx:1.25");
    let output = cluster.apply(WEB);
    assert!(output.text.starts_with("Warning: resource deployments/web is missing the kubectl"));
    assert!(output.text.ends_with("deployment.apps/web configured\n"), "{}", output.text);
}

#[test]
fn what_the_server_refuses_is_told_in_kubectls_words_and_the_rest_is_applied() {
    let mut cluster = Cluster::new();
    let text = format!(
        "{WEB}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: b}}\nspec: {{replica: \
         1}}\n---\napiVersion: v1\nkind: Pdo\nmetadata: {{name: c}}\n---\n{}",
        WEB.replace("web}", "d}").replacen("replicas: 3", "replicas: -3", 1)
    );
    let output = cluster.apply(&text);
    assert!(output.error);
    let lines: Vec<&str> = output.text.lines().collect();
    assert_eq!(lines[0], "deployment.apps/web created");
    assert!(lines[1].starts_with("The Deployment \"d\" is invalid: spec.replicas"), "{lines:?}");
    assert!(
        lines[2].contains("Deployment in version \"v1\" cannot be handled as a Deployment: strict")
    );
    assert!(lines[3].contains("no matches for kind \"Pdo\" in version \"v1\""), "{lines:?}");
    let output = cluster.apply("# nothing\n");
    assert_eq!(output.text, "error: no objects passed to apply\n");
    let other = WEB.replace("app: web}}\n  template", "app: x}}\n  template");
    let output = cluster.apply(&other.replace("labels: {app: web}", "labels: {app: x}"));
    assert!(output.text.contains("field is immutable"), "{}", output.text);
}

#[test]
fn what_has_no_name_cannot_be_looked_for() {
    let mut cluster = Cluster::new();
    let nameless = WEB.replacen("{name: web}", "{labels: {a: b}}", 1);
    let expected = "error: error when retrieving current configuration of:\nResource: \
        \"apps/v1, Resource=deployments\", GroupVersionKind: \"apps/v1, Kind=Deployment\"\n\
        Name: \"\", Namespace: \"default\"\nfrom server for: \"STDIN\": resource name may not be \
        empty\n";
    assert_eq!(cluster.apply(&nameless).text, expected);
    let generated = nameless.replacen("labels: {a: b}", "generateName: web-", 1);
    let expected = "error: from web-: cannot use generate name with apply\n";
    assert_eq!(cluster.apply(&generated).text, expected);
}

#[test]
fn of_several_mistakes_the_server_names_the_first_in_the_order_of_names() {
    let mut cluster = Cluster::new();
    let unknown = WEB.replacen("spec:\n", "spec:\n  foo: 1\n  bar: 2\n", 1);
    let text = cluster.apply(&unknown).text;
    let expected =
        "strict decoding error: unknown field \"spec.bar\", unknown field \"spec.foo\"\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn pods_are_deleted_by_name_by_label_and_by_number() {
    let mut cluster = Cluster::new();
    assert_eq!(cluster.apply(PODS).text, "pod/web-1 created\npod/web-2 created\n");
    assert_eq!(
        cluster.says("delete pod -l app=web --limit=1"),
        "pod \"web-1\" deleted from default namespace\n"
    );
    let text = cluster.says("delete pod/$(app=web)[0] --grace-period=0 --force");
    assert!(text.starts_with("Warning: Immediate deletion does not wait"));
    assert!(text.ends_with("pod \"web-2\" force deleted from default namespace\n"));
    assert_eq!(cluster.says("get pods"), "No resources found in default namespace.\n");
    assert_eq!(
        cluster.refuses("delete pod web-2"),
        "Error from server (NotFound): pods \"web-2\" not found\n"
    );
    assert_eq!(cluster.says("delete pods --all"), "No resources found\n");
}

#[test]
fn get_prints_kubectls_columns() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    cluster.now = Time::from_secs(130);
    assert_eq!(
        cluster.says("get po"),
        "NAME    READY   STATUS    RESTARTS   AGE\n\
         web-1   0/1     Pending   0          2m10s\n\
         web-2   0/1     Pending   0          2m10s\n"
    );
    assert_eq!(cluster.says("get pods -o name -l app=web"), "pod/web-1\npod/web-2\n");
    assert_eq!(
        cluster.says("get pod web-2 -o wide --no-headers"),
        "web-2   0/1   Pending   0     2m10s   <none>   node-1   <none>   <none>\n"
    );
    cluster.apply(WEB);
    let all = cluster.says("get all");
    assert!(all.contains("\npod/web-1") && all.contains("\n\nNAME"), "{all}");
    assert!(all.contains("deployment.apps/web   0/3     0            0           0s"), "{all}");
    assert_eq!(
        cluster.refuses("get pod web-9"),
        "Error from server (NotFound): pods \"web-9\" not found\n"
    );
    assert_eq!(
        cluster.says("get nodes"),
        "NAME     STATUS    ROLES    AGE     VERSION\n\
         node-1   Unknown   <none>   2m10s   \n"
    );
    let yaml = cluster.says("get deploy web -o yaml");
    assert!(yaml.starts_with("apiVersion: apps/v1\nkind: Deployment\n"), "{yaml}");
    let list = cluster.says("get pods -A -o json");
    assert!(list.contains("\n    \"kind\": \"List\",\n"), "{list}");
}

#[test]
fn an_object_printed_as_yaml_can_be_applied_again() {
    let mut cluster = Cluster::new();
    let text =
        WEB.replace("labels: {app: web}\n    spec", "labels: {app: web, on: \"on\"}\n    spec");
    assert_eq!(cluster.apply(&text).text, "deployment.apps/web created\n");
    let printed = cluster.says("get deploy web -o yaml");
    let output = cluster.apply(&printed);
    assert!(!output.error, "{printed}\n{}", output.text);
}

#[test]
fn replicas_and_images_are_changed() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    assert_eq!(cluster.says("scale deploy/web --replicas 4"), "deployment.apps/web scaled\n");
    assert_eq!(
        cluster.refuses("scale deploy/web --replicas 4 --current-replicas 9"),
        "error: Expected replicas to be 9, was 4\n"
    );
    assert_eq!(
        cluster.says("set image deploy/web web=nginx:1.26"),
        "deployment.apps/web image updated\n"
    );
    assert_eq!(cluster.says("set image deploy/web *=nginx:1.26"), "");
    assert_eq!(
        cluster.refuses("set image deploy/web side=x"),
        "error: unable to find container named \"side\"\n"
    );
    let path = "get deploy web -o jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(cluster.says(path), "nginx:1.26\n");
    assert_eq!(
        cluster.says("patch deploy web --dry-run=server -p 'spec: {replicas: 2}'"),
        "deployment.apps/web patched (server dry run)\n"
    );
    let shown = cluster.says("patch deploy web --dry-run=client -o yaml -p 'spec: {replicas: 2}'");
    assert!(shown.contains("  replicas: 2\n"), "{shown}");
    assert_eq!(
        cluster.says("patch deploy web -p '{\"spec\":{\"replicas\":2}}'"),
        "deployment.apps/web patched\n"
    );
    assert_eq!(
        cluster.says("patch deploy web -p 'spec: {replicas: 2}'"),
        "deployment.apps/web patched (no change)\n"
    );
    let line = "patch deploy web --type json -p '[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\
                \"value\":9}]'";
    assert_eq!(cluster.says(line), "deployment.apps/web patched\n");
    assert_eq!(cluster.says("get deploy web -o jsonpath={.spec.replicas}"), "9\n");
}

#[test]
fn labels_taints_and_cordons() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    assert_eq!(cluster.says("label pod web-1 tier=front"), "pod/web-1 labeled\n");
    assert!(cluster.refuses("label pod web-1 tier=back").contains("already has a value (front)"));
    assert_eq!(cluster.says("label pod web-1 tier-"), "pod/web-1 unlabeled\n");
    assert_eq!(cluster.says("annotate pod web-1 note='a b'"), "pod/web-1 annotated\n");
    assert_eq!(cluster.says("cordon node-1"), "node/node-1 cordoned\n");
    assert_eq!(cluster.says("cordon node-1"), "node/node-1 already cordoned\n");
    assert!(cluster.says("get nodes").contains("Unknown,SchedulingDisabled"));
    assert_eq!(cluster.says("uncordon node-1"), "node/node-1 uncordoned\n");
    assert_eq!(cluster.says("taint nodes node-1 a=b:NoSchedule"), "node/node-1 tainted\n");
    assert_eq!(cluster.says("taint node node-1 a:NoSchedule-"), "node/node-1 untainted\n");
    assert!(cluster.refuses("taint node node-1 a-").contains("not found"));
}

#[test]
fn a_rollout_is_told_paused_and_restarted() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    let waiting = "Waiting for deployment spec update to be observed...\n";
    assert_eq!(cluster.says("rollout status deploy/web"), waiting);
    assert_eq!(cluster.says("rollout pause deploy/web"), "deployment.apps/web paused\n");
    assert!(cluster.refuses("rollout pause deploy/web").contains("is already paused"));
    assert!(cluster.refuses("rollout restart deploy/web").contains("can't restart paused"));
    assert_eq!(cluster.says("rollout resume deploy/web"), "deployment.apps/web resumed\n");
    assert_eq!(cluster.says("rollout restart deploy/web"), "deployment.apps/web restarted\n");
    let history = cluster.says("rollout history deploy/web");
    assert_eq!(history, "deployment.apps/web \nNo rollout history found.\n");
    assert!(cluster.refuses("rollout undo deploy/web").contains("no rollout history found"));
}

#[test]
fn undo_goes_back_to_the_template_of_the_revision_before() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    let deployment = cluster.get(&ObjectKey::new(Kind::Deployment, "default", "web")).unwrap();
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                        "uid": &*deployment.meta().uid, "controller": true}]);
    for (revision, image) in [("1", "nginx:1.24"), ("2", "nginx:1.25")] {
        let labels = json!({"app": "web", "pod-template-hash": revision});
        let set = json!({
            "metadata": {"name": format!("web-{revision}"), "namespace": "default",
                         "ownerReferences": owner,
                         "annotations": {"deployment.kubernetes.io/revision": revision}},
            "spec": {"selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": image}]}}},
        });
        let set = Object::from_value(Kind::ReplicaSet, set).unwrap();
        cluster.request(Request::Create(Arc::new(set))).unwrap();
    }
    let history = cluster.says("rollout history deploy/web");
    assert!(history.ends_with("CHANGE-CAUSE\n1         <none>\n2         <none>\n"), "{history}");
    assert_eq!(
        cluster.says("rollout history deploy/web --revision=1"),
        "deployment.apps/web with revision #1\nPod Template:\n  Labels:\tapp=web\n\
         \tpod-template-hash=1\n  Containers:\n   web:\n    Image:\tnginx:1.24\n    \
         Port:\t<none>\n    Host Port:\t<none>\n    Environment:\t<none>\n    \
         Mounts:\t<none>\n  Volumes:\t<none>\n  Node-Selectors:\t<none>\n  \
         Tolerations:\t<none>\n"
    );
    let text = cluster.says("describe deploy web");
    let sets = "\nOldReplicaSets:    web-1 (0/1 replicas created), web-2 (0/1 replicas created)\n\
                NewReplicaSet:     <none>\nEvents:            <none>\n";
    assert!(text.ends_with(sets), "{text}");
    assert_eq!(cluster.says("rollout undo deploy/web"), "deployment.apps/web rolled back\n");
    let path = "get deploy web -o jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(cluster.says(path), "nginx:1.24\n");
    let labels = cluster.says("get deploy web -o jsonpath={.spec.template.metadata.labels}");
    assert_eq!(labels, "{\"app\":\"web\"}\n");
}

const KINDS: &str = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  clusterIP: 10.96.0.20
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.244.0.5], conditions: {ready: true}}
- {addresses: [10.244.0.6], conditions: {ready: false}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  schedule: '* * * * *'
  jobTemplate:
    spec:
      template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: a, image: 'a:1'}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: 'a:1'}]}}
";

#[test]
fn kinds_are_described_in_layouts_of_their_own() {
    let mut cluster = Cluster::new();
    let made = cluster.apply(KINDS);
    assert!(!made.error, "{}", made.text);
    let service = cluster.says("describe service web");
    let wanted = "\
Type:                     ClusterIP
IP Family Policy:         SingleStack
IP Families:              IPv4
IP:                       10.96.0.20
IPs:                      <none>
Port:                     http  80/TCP
TargetPort:               8080/TCP
Endpoints:                10.244.0.5:8080
Session Affinity:         None
Internal Traffic Policy:  Cluster
Events:                   <none>
";
    assert!(service.ends_with(wanted), "{service}");
    for (line, wanted) in [
        (
            "describe endpointslices web-1",
            "Ports:\n  Name  Port  Protocol\n  ----  ----  --------\n",
        ),
        ("describe endpointslices web-1", "  - Addresses:  10.244.0.6\n    Conditions:\n"),
        ("describe job once", "\nPods Statuses:    0 Active / 0 Succeeded / 0 Failed\n"),
        ("describe job once", "   a:\n    Image:         a:1\n"),
        ("describe cronjob often", "Schedule:                      * * * * *\n"),
        ("describe cronjob often", "Last Schedule Time:  <unset>\n"),
        ("describe sts db", "Replicas:           1 desired | 0 total\n"),
        ("describe sts db", "\nVolume Claims:     <none>\n"),
        ("describe ds agent", "Desired Number of Nodes Scheduled: 0\n"),
        ("describe ds agent", "Pods Status:  0 Running / 0 Waiting / 0 Succeeded / 0 Failed\n"),
    ] {
        let text = cluster.says(line);
        assert!(text.contains(wanted), "{line}: {wanted}\n{text}");
    }
}

#[test]
fn a_forced_replacement_takes_the_place_of_a_running_pod() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    let text = PODS.split("---").nth(1).expect("the pod on a node").replace("1.25", "1.26");
    let replaced = kubectl::run("replace --force -f -", Some(&text), &mut cluster);
    assert_eq!(replaced.text, "pod \"web-2\" deleted\npod/web-2 replaced\n");
    let path = "get pod web-2 -o jsonpath={.spec.containers[0].image}";
    assert_eq!(cluster.says(path), "nginx:1.26\n");
}

#[test]
fn create_replace_run_logs_and_explain() {
    let mut cluster = Cluster::new();
    let created = kubectl::run("create -f -", Some(WEB), &mut cluster);
    assert_eq!(created.text, "deployment.apps/web created\n");
    let again = kubectl::run("create -f -", Some(WEB), &mut cluster);
    assert_eq!(
        again.text,
        "Error from server (AlreadyExists): error when creating \"STDIN\": deployments.apps \
         \"web\" already exists\n"
    );
    let replaced = kubectl::run("replace -f -", Some(WEB), &mut cluster);
    assert_eq!(replaced.text, "deployment.apps/web replaced\n");
    let stale = WEB.replace("{name: web}", "{name: web, resourceVersion: \"1\"}");
    let stale = kubectl::run("replace -f -", Some(&stale), &mut cluster);
    assert!(stale.text.contains("(Conflict): error when replacing \"STDIN\": Operation cannot be"));
    assert_eq!(cluster.says("run x --image=busybox"), "pod/x created\n");
    assert_eq!(cluster.says("logs x --tail=1"), "two\n");
    assert_eq!(cluster.says("create namespace test"), "namespace/test created\n");
    assert!(cluster.says("describe pod x").contains("    Image:        busybox\n"));
    assert!(cluster.says("explain pod.spec.containers").contains("imagePullPolicy\t<string>"));
    assert!(cluster.says("api-resources").contains("deployments"));
    assert!(cluster.refuses("exec x -- ls").contains("not part of this simulation"));
    assert!(cluster.says("help").contains("--limit=N"));
    let dry = kubectl::run("delete deploy web --dry-run=client", None, &mut cluster);
    assert_eq!(dry.text, "deployment.apps \"web\" deleted from default namespace (dry run)\n");
}

#[test]
fn describe_tells_where_a_pod_is_and_since_when() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    // Without the blanks that line the columns up.
    let told = |cluster: &mut Cluster, name: &str| {
        let text = cluster.says(&format!("describe pod {name}"));
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect::<Vec<_>>()
    };
    let without = told(&mut cluster, "web-1");
    assert!(without.contains(&"IPs: <none>".to_string()), "{without:#?}");
    let key = ObjectKey::new(Kind::Pod, "default", "web-2");
    let status = json!({"status": {"hostIP": "192.168.0.2", "podIP": "10.244.1.7",
        "podIPs": [{"ip": "10.244.1.7"}], "startTime": "2026-01-01T00:00:03Z"}});
    cluster.request(Request::Patch(Part::Status, key, status)).unwrap();
    let placed = told(&mut cluster, "web-2");
    for line in [
        "Node: node-1/192.168.0.2",
        "Start Time: Thu, 01 Jan 2026 00:00:03 +0000",
        "IPs:",
        "IP: 10.244.1.7",
        "QoS Class: BestEffort",
    ] {
        assert!(placed.contains(&line.to_string()), "{line} is missing in {placed:#?}");
    }
}

#[test]
fn status_words_of_the_server_are_kept() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    let key = ObjectKey::new(Kind::Pod, "default", "web-1");
    let status = json!({"status": {"phase": "Running", "containerStatuses": [
        {"name": "web", "ready": false, "restartCount": 4, "image": "", "imageID": "",
         "state": {"waiting": {"reason": "CrashLoopBackOff"}},
         "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:00Z"}}}]}});
    cluster.request(Request::Patch(Part::Status, key, status)).unwrap();
    cluster.now = Time::from_secs(10);
    assert_eq!(
        cluster.refuses("get pods --field-selector=spec.foo=bar,status.phase!=x -l app=web"),
        "Error from server (BadRequest): Unable to find \"/v1, Resource=pods\" that match label \
         selector \"app=web\", field selector \"spec.foo=bar,status.phase!=x\": field label not \
         supported: spec.foo\n"
    );
    let text = cluster.says("get pods --field-selector=metadata.name=web-1");
    assert!(text.contains("web-1   0/1     CrashLoopBackOff   4 (10s ago)   10s"), "{text}");
}

#[test]
fn drain_sends_pods_away_or_says_why_it_does_not() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    let refused = cluster.refuses("drain node-1");
    assert!(refused.starts_with("node/node-1 cordoned\nerror: unable to drain node"), "{refused}");
    assert!(refused.contains("declare no controller (use --force to override): default/web-2"));
    assert_eq!(
        cluster.says("drain node-1 --force"),
        "node/node-1 already cordoned\n\
         Warning: deleting Pods that declare no controller: default/web-2\n\
         evicting pod default/web-2\npod/web-2 evicted\nnode/node-1 drained\n"
    );
    assert!(cluster.says("get pod web-2").contains("Terminating"));
}

#[test]
fn wait_says_how_things_stand() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    let line = "wait pod/web-2 --for=jsonpath='{.spec.nodeName}'=node-1";
    assert_eq!(cluster.says(line), "pod/web-2 condition met\n");
    let late = cluster.refuses("wait pod/web-1 --for=condition=Ready --timeout=30s");
    assert!(
        late.starts_with("error: timed out waiting for the condition on pods/web-1\n"),
        "{late}"
    );
    assert!(cluster.refuses("wait pod/web-1 --for=delete").contains("timed out"));
    assert_eq!(cluster.says("wait pod/web-9 --for=delete"), "");
    assert!(
        cluster.refuses("wait pod -l a=b --for=delete").contains("no matching resources found")
    );
    assert!(cluster.refuses("wait pod/web-1 --for=x").contains("unrecognized condition"));
}

#[test]
fn nobody_tells_of_usage_without_a_metrics_server() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    assert_eq!(cluster.refuses("top pods"), "error: Metrics API not available\n");
    cluster.metrics = true;
    assert_eq!(
        cluster.says("top pods --sum"),
        "NAME    CPU(cores)   MEMORY(bytes)\nweb-1   250m         64Mi\nweb-2   250m         64Mi\n        \
         ________     ________\n        500m         128Mi\n"
    );
    assert!(cluster.says("top pod --containers").contains("web-1   web    250m         64Mi\n"));
    assert!(cluster.says("top nodes").contains("node-1   250m         <unknown>   64Mi"));
}

#[test]
fn a_service_and_an_autoscaler_are_made_for_what_is_there() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    assert_eq!(cluster.says("expose deploy web --port=80"), "service/web exposed\n");
    assert!(cluster.says("get svc web -o yaml").contains("selector:\n    app: web\n"));
    assert!(cluster.refuses("expose deploy web").contains("couldn't find port"));
    assert_eq!(
        cluster.says("autoscale deploy web --min=2 --max=5 --cpu=60%"),
        "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    );
    let path = "get hpa web -o jsonpath={.spec.metrics[0].resource.target.averageUtilization}";
    assert_eq!(cluster.says(path), "60\n");
}

#[test]
fn edit_hands_the_object_to_an_editor_and_what_comes_back_can_be_applied() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    let Next::Edit(text) = cluster.run("edit deploy web").next else { panic!("no text") };
    assert!(!text.contains("uid:") && !text.contains("last-applied"), "{text}");
    assert_eq!(cluster.apply(&text).text, "deployment.apps/web configured\n");
    let changed = text.replace("replicas: 3", "replicas: 4");
    assert_eq!(cluster.apply(&changed).text, "deployment.apps/web configured\n");
    assert!(cluster.refuses("edit deploy nope").contains("not found"));
}

#[test]
fn diff_shows_what_apply_would_change_and_changes_nothing() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    let diff =
        |cluster: &mut Cluster, text: &str| kubectl::run("diff -f -", Some(text), cluster).text;
    assert_eq!(diff(&mut cluster, WEB), "");
    let text = diff(&mut cluster, &WEB.replace("replicas: 3", "replicas: 5"));
    assert!(text.contains("-  generation: 1\n+  generation: 2\n"), "{text}");
    assert!(text.contains("-  replicas: 3\n+  replicas: 5\n"), "{text}");
    assert_eq!(cluster.says("get deploy web -o jsonpath={.spec.replicas}"), "3\n");
    assert!(diff(&mut cluster, PODS).contains("+  name: web-1\n"));
}

#[test]
fn a_dry_run_says_everything_and_does_nothing() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    cluster.writes = 0;
    for (line, said) in [
        ("delete pod web-1 --dry-run=server", "from default namespace (server dry run)\n"),
        ("label pod web-1 a=b --dry-run=server", "pod/web-1 labeled (server dry run)\n"),
        ("run x --image=y --dry-run=server", "pod/x created (server dry run)\n"),
        ("create deploy x --image=y --dry-run=client", "deployment.apps/x created (dry run)\n"),
        ("cordon node-1 --dry-run=client", "node/node-1 cordoned (dry run)\n"),
        ("taint node node-1 a=b:NoSchedule --dry-run=client", "node/node-1 tainted (dry run)\n"),
    ] {
        assert!(cluster.says(line).ends_with(said), "{line}");
    }
    let text = cluster.says("run x --image=y --dry-run=server -o yaml");
    assert!(text.contains("phase: Pending"), "{text}");
    let refused = cluster.refuses("run web-1 --image=y --dry-run=server");
    assert!(refused.contains("already exists"), "{refused}");
    let dry = kubectl::run("apply -f - --dry-run=client", Some(WEB), &mut cluster);
    assert_eq!(dry.text, "deployment.apps/web created (dry run)\n");
    assert_eq!(cluster.writes, 0);
}

#[test]
fn a_text_names_objects_for_other_verbs_too() {
    let mut cluster = Cluster::new();
    cluster.apply(PODS);
    let with = |cluster: &mut Cluster, line: &str| kubectl::run(line, Some(PODS), cluster).text;
    let labelled = with(&mut cluster, "label -f - a=b");
    assert_eq!(labelled, "pod/web-1 labeled\npod/web-2 labeled\n");
    assert!(with(&mut cluster, "get -f - -o name").starts_with("pod/web-1\npod/web-2\n"));
    assert!(with(&mut cluster, "delete -f -").contains("pod \"web-2\" deleted"));
}

#[test]
fn what_set_sets_is_in_the_template() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    let deploy = "deployment.apps/web";
    let at = "get deploy web -o jsonpath={.spec.template.spec.";
    for (line, words, path, value) in [
        ("env deploy/web A=b C=d", "env updated", "containers[0].env[1].value}", "d"),
        ("env deploy/web A-", "env updated", "containers[0].env[*].name}", "C"),
        (
            "resources deploy web --limits=cpu=1 -c web",
            "resource requirements updated",
            "containers[0].resources.limits.cpu}",
            "1",
        ),
        ("sa deploy web robot", "serviceaccount updated", "serviceAccountName}", "robot"),
    ] {
        assert_eq!(cluster.says(&format!("set {line}")), format!("{deploy} {words}\n"), "{line}");
        assert_eq!(cluster.says(&format!("{at}{path}")), format!("{value}\n"), "{line}");
    }
    assert!(cluster.refuses("set resources deploy web").contains("you must specify an update"));
    assert!(cluster.refuses("set env node/node-1 A=b").contains("does not have a pod template"));
}

#[test]
fn what_comes_next_is_offered() {
    let mut cluster = Cluster::new();
    cluster.apply(WEB);
    cluster.apply(PODS);
    let offered = |line: &str| -> Vec<String> {
        let found = kubectl::complete(line, line.len(), &cluster);
        found.into_iter().map(|c| format!("{}{}", &line[..c.start], c.text)).collect()
    };
    for (line, wanted) in [
        ("", "kubectl"),
        ("kubectl sc", "kubectl scale"),
        ("kubectl rollout un", "kubectl rollout undo"),
        ("k create secret g", "k create secret generic"),
        ("get depl", "get deployments"),
        ("get pods,repl", "get pods,replicasets"),
        ("get pod web-", "get pod web-1"),
        ("get pod web-1 web", "get pod web-1 web-2"),
        ("delete pod/web-2", "delete pod/web-2"),
        ("-n default logs w", "-n default logs web-1"),
        ("logs web-1 -c ", "logs web-1 -c web"),
        ("drain n", "drain node-1"),
        ("get pods --namesp", "get pods --namespace="),
        ("get pods --namespace=d", "get pods --namespace=default"),
        ("get pods -n d", "get pods -n default"),
        ("get pods -o y", "get pods -o yaml"),
        ("get pods -l app", "get pods -l app=web"),
        ("delete pod web-1 --casc", "delete pod web-1 --cascade"),
        ("set image deploy/web w", "set image deploy/web web="),
        ("rollout undo d", "rollout undo deployments"),
        ("explain pod.spec.cont", "explain pod.spec.containers"),
        ("wait pod web-1 --for=cond", "wait pod web-1 --for=condition=Ready"),
        ("apply -f ", "apply -f -"),
    ] {
        let found = offered(line);
        assert!(found.iter().any(|line| line == wanted), "{line:?}: {found:?}");
    }
    assert_eq!(offered("get pod web-1 web-2 web"), Vec::<String>::new());
    assert_eq!(offered("label pod 'web"), Vec::<String>::new());
    assert_eq!(offered("nothing here "), Vec::<String>::new());
}

proptest! {
    #[test]
    fn no_line_makes_kubectl_panic(line in "\\PC{0,80}", stdin in "\\PC{0,80}") {
        kubectl::run(&line, Some(&stdin), &mut Cluster::new());
    }

    #[test]
    fn no_line_of_its_own_words_makes_kubectl_panic(words in prop::collection::vec(
        prop::sample::select(vec![
            "get", "delete", "apply", "scale", "set", "image", "label", "rollout", "undo", "logs",
            "describe", "patch", "taint", "cordon", "create", "explain", "events", "run", "pods",
            "deploy", "web", "pod/web-1", "pod/$(app=web)[0]", "pod/$(", "a=b", "a-", "-l",
            "app=web",
            "-n", "-o", "yaml", "json", "wide", "-f", "-", "--all", "--limit=1", "--replicas=3",
            "--replicas=99999999999", "-p", "{}", "[{}]", "--type=json", "--force", "all", "-A",
            "nodes", "node-1", "a:NoSchedule", "--", "'x'", "-o=jsonpath={.a[-1]}", "/", "$",
        ]), 0..7)) {
        let mut cluster = Cluster::new();
        cluster.apply(WEB);
        cluster.apply(PODS);
        kubectl::run(&words.join(" "), Some(WEB), &mut cluster);
    }
}
