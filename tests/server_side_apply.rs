//! Server-side apply and patches by type as kubectl lines, against a real API server of the
//! simulation with no controller behind it.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, Str, Timestamp, Value};
use loopscope::apiserver::{
    ApiServer, ListOptions, Part, Patch, PatchRequest, Request, Response, managed_fields,
};
use loopscope::kernel::Time;
use loopscope::kubectl::{self, Api, Output};
use proptest::prelude::*;
use serde_json::json;

struct Cluster {
    server: ApiServer,
}

impl Api for Cluster {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.server.get(key, "").ok()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let options = ListOptions { namespace: namespace.map(Str::from), ..Default::default() };
        self.server.list(kind, &options).unwrap().items
    }

    fn request(&mut self, request: Request) -> Response {
        self.server.handle(&request, Time::ZERO)
    }

    fn request_as(&mut self, request: Request, manager: &str) -> Response {
        self.server.handle_as(&request, manager, Time::ZERO)
    }

    fn dry_run_as(&self, request: &Request, manager: &str) -> Response {
        self.server.clone().handle_as(request, manager, Time::ZERO)
    }

    fn now(&self) -> Timestamp {
        Timestamp::EPOCH
    }

    fn logs(&self, _: &ObjectKey, _: &Str) -> Option<Vec<String>> {
        None
    }
}

impl Cluster {
    fn new() -> Cluster {
        Cluster { server: ApiServer::new(1) }
    }

    fn run(&mut self, line: &str, stdin: &str) -> Output {
        kubectl::run(line, Some(stdin), self)
    }

    fn says(&mut self, line: &str, stdin: &str) -> String {
        let output = self.run(line, stdin);
        assert!(!output.error, "{line}: {}", output.text);
        output.text
    }

    fn web(&self) -> Arc<Object> {
        self.server.get(&ObjectKey::new(Kind::Deployment, "default", "web"), "").unwrap()
    }

    /// Managers with how they came to their fields, and their fields.
    fn managers(&self) -> Vec<(String, Vec<String>)> {
        let entries = managed_fields::known(&self.web()).into_iter();
        let name = |manager: &str, how: &str| format!("{manager} {how}");
        entries.map(|e| (name(&e.manager, e.operation.word()), e.fields.paths())).collect()
    }

    fn fields_of(&self, name: &str) -> Vec<String> {
        let found = self.managers().into_iter().find(|(manager, _)| manager == name);
        found.map(|(_, fields)| fields).unwrap_or_default()
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
        ports: [{containerPort: 80}]
";

const APPLY: &str = "apply --server-side -f -";

#[test]
fn the_applier_owns_what_it_wrote_and_not_the_defaults() {
    let mut cluster = Cluster::new();
    assert_eq!(cluster.says(APPLY, WEB), "deployment.apps/web serverside-applied\n");
    assert_eq!(
        cluster.fields_of("kubectl Apply"),
        [
            ".spec.replicas",
            ".spec.selector",
            ".spec.template.metadata.labels.app",
            ".spec.template.spec.containers[name=\"web\"]",
            ".spec.template.spec.containers[name=\"web\"].image",
            ".spec.template.spec.containers[name=\"web\"].name",
            ".spec.template.spec.containers[name=\"web\"].ports\
             [containerPort=80,protocol=\"TCP\"]",
            ".spec.template.spec.containers[name=\"web\"].ports\
             [containerPort=80,protocol=\"TCP\"].containerPort",
        ]
    );
    let version = cluster.web().meta().resource_version;
    cluster.says(APPLY, WEB);
    assert_eq!(cluster.web().meta().resource_version, version, "nothing is written twice");
    let hidden = cluster.says("get deploy web -o yaml", "");
    assert!(!hidden.contains("managedFields"));
    let shown = cluster.says("get deploy web -o yaml --show-managed-fields", "");
    assert!(shown.contains("managedFields:") && shown.contains("f:replicas: {}"), "{shown}");
}

#[test]
fn a_scaled_deployment_conflicts_until_it_is_forced_or_left_alone() {
    let mut cluster = Cluster::new();
    cluster.says(APPLY, WEB);
    cluster.says("scale deploy web --replicas=7", "");
    let refused = cluster.run(APPLY, WEB);
    let conflict = "error: Apply failed with 1 conflict: conflict with \"kubectl\" with \
                    subresource \"scale\" using apps/v1: .spec.replicas\nPlease review";
    assert!(refused.error && refused.text.starts_with(conflict), "{}", refused.text);
    let silent = WEB.replace("  replicas: 3\n", "");
    cluster.says(APPLY, &silent);
    let replicas = "get deploy web -o jsonpath={.spec.replicas}";
    assert_eq!(cluster.says(replicas, ""), "7\n");
    cluster.says("apply --server-side --force-conflicts -f -", WEB);
    assert_eq!(cluster.says(replicas, ""), "3\n");
    let refused = cluster.run("apply --force-conflicts -f -", WEB);
    assert_eq!(refused.text, "error: --force-conflicts only works with --server-side\n");
}

#[test]
fn a_dry_run_is_asked_of_the_server_and_tells_conflicts_without_a_change() {
    let mut cluster = Cluster::new();
    let dry = "apply --server-side --dry-run=server -f -";
    let said = "deployment.apps/web serverside-applied (server dry run)\n";
    assert_eq!(cluster.says(dry, WEB), said);
    assert!(
        cluster.server.list(Kind::Deployment, &ListOptions::default()).unwrap().items.is_empty()
    );
    cluster.says("apply -f -", WEB);
    let before = cluster.web();
    assert_eq!(cluster.says(dry, WEB), said);
    assert_eq!(cluster.web(), before, "what kubectl applied itself is not handed over");
    cluster.says("scale deploy web --replicas=7", "");
    let refused = cluster.run(dry, WEB);
    assert!(refused.error && refused.text.contains("Apply failed with 1 conflict"), "{refused:?}");
    let forced = format!("{dry} --force-conflicts");
    assert_eq!(cluster.says(&forced, WEB), said);
    let text = cluster.says(&format!("{forced} -o yaml"), WEB);
    assert!(text.contains("  replicas: 3\n"), "{text}");
    assert_eq!(cluster.says("get deploy web -o jsonpath={.spec.replicas}", ""), "7\n");
    let wrong = cluster.run(&forced, &WEB.replace("replicas: 3", "replicas: -3"));
    assert!(wrong.text.contains("must be greater than or equal to 0"), "{wrong:?}");
}

#[test]
fn two_appliers_share_a_deployment_and_each_takes_back_its_own() {
    let mut cluster = Cluster::new();
    cluster.says(APPLY, WEB);
    let sidecar = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {mesh: 'on'}}
spec: {template: {spec: {containers: [{name: proxy, image: 'proxy:1'}]}}}
";
    let mesh = "apply --server-side --field-manager=mesh -f -";
    cluster.says(mesh, sidecar);
    let names = "get deploy web -o jsonpath={.spec.template.spec.containers[*].name}";
    assert_eq!(cluster.says(names, ""), "web proxy\n");
    cluster.says(APPLY, &WEB.replace("        ports: [{containerPort: 80}]\n", ""));
    assert_eq!(cluster.says(names, ""), "web proxy\n");
    let without = sidecar.replace(", labels: {mesh: 'on'}", "");
    let without = without
        .replace("spec: {template: {spec: {containers: [{name: proxy, image: 'proxy:1'}]}}}\n", "");
    cluster.says(mesh, &without);
    assert_eq!(cluster.says(names, ""), "web\n");
    assert!(cluster.web().meta().labels.is_empty());
}

#[test]
fn what_kubectl_applied_itself_is_handed_over() {
    let mut cluster = Cluster::new();
    let labelled = WEB.replace("{name: web}\n", "{name: web, labels: {old: x}}\n");
    cluster.says("apply -f -", &labelled);
    assert!(!cluster.fields_of("kubectl-client-side-apply Update").is_empty());
    // Another value, no conflict; and the label that is no longer asked for goes at once.
    let changed = WEB.replace("replicas: 3", "replicas: 4");
    cluster.says(APPLY, &changed);
    assert!(cluster.fields_of("kubectl-client-side-apply Update").is_empty());
    let web = cluster.web();
    assert!(web.meta().labels.is_empty(), "{:?}", web.meta().labels);
    assert_eq!(web.as_deployment().and_then(|web| web.spec.replicas), Some(4));
    let kept = cluster.fields_of("kubectl-last-applied Apply");
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn other_verbs_are_noted_as_updates() {
    let mut cluster = Cluster::new();
    cluster.says("create -f -", WEB);
    assert!(cluster.fields_of("kubectl-create Update").contains(&".spec.replicas".to_string()));
    cluster.says("label deploy web a=b", "");
    assert_eq!(
        cluster.fields_of("kubectl-label Update"),
        [".metadata.labels", ".metadata.labels.a"]
    );
    cluster.says("set image deploy/web web=nginx:1.26", "");
    assert_eq!(
        cluster.fields_of("kubectl-set Update"),
        [".spec.template.spec.containers[name=\"web\"].image"]
    );
    let status = json!({"status": {"replicas": 3}});
    let key = ObjectKey::new(Kind::Deployment, "default", "web");
    let request = Request::Patch(Part::Status, key, status);
    cluster.request_as(request, "kube-controller-manager").unwrap();
    assert_eq!(cluster.fields_of("kube-controller-manager Update"), [".status.replicas"]);
    let reset = "patch deploy web --type=merge -p '{\"metadata\":{\"managedFields\":[{}]}}'";
    cluster.says(reset, "");
    assert!(cluster.managers().is_empty(), "{:?}", cluster.managers());
}

#[test]
fn each_patch_has_its_type_and_its_subresource() {
    let mut cluster = Cluster::new();
    cluster.says("apply -f -", WEB);
    let strategic = "patch deploy web -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":\
                     [{\"name\":\"side\",\"image\":\"side:1\"}]}}}}'";
    cluster.says(strategic, "");
    let names = "get deploy web -o jsonpath={.spec.template.spec.containers[*].name}";
    assert_eq!(cluster.says(names, ""), "side web\n");
    let json = "patch deploy web --type=json -p '[{\"op\":\"test\",\"path\":\"/spec/replicas\",\
                \"value\":9},{\"op\":\"remove\",\"path\":\"/spec/replicas\"}]'";
    let refused = cluster.run(json, "");
    let words = "The request is invalid: the server rejected our request due to an error in our \
                 request: testing value /spec/replicas failed";
    assert!(refused.error && refused.text.starts_with(words), "{}", refused.text);
    let scale = "patch deploy web --subresource=scale --type=merge -p \
                 '{\"spec\":{\"replicas\":2,\"paused\":true}}'";
    cluster.says(scale, "");
    let web = cluster.web();
    let spec = &web.as_deployment().unwrap().spec;
    assert_eq!((spec.replicas, spec.paused), (Some(2), false));
    let status = "patch deploy web --subresource=status --type=merge -p \
                  '{\"status\":{\"replicas\":1,\"readyReplicas\":2}}'";
    let refused = cluster.run(status, "");
    assert!(refused.text.contains("status.readyReplicas: Invalid value: 2"), "{}", refused.text);
    let word = "patch deploy web -p '{\"spec\":{\"strategy\":{\"type\":\"Rolling\"}}}'";
    let refused = cluster.run(word, "");
    assert!(
        refused.text.contains("spec.strategy: Unsupported value: {\"Type\":\"Rolling\""),
        "{}",
        refused.text
    );
    let stale = "patch deploy web -p '{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":\
                 {\"replicas\":5}}'";
    assert!(cluster.run(stale, "").text.contains("the object has been modified"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    let word = prop_oneof![
        Just("spec".to_string()),
        Just("containers".to_string()),
        Just("template".to_string()),
        Just("metadata".to_string()),
        Just("labels".to_string()),
        Just("finalizers".to_string()),
        Just("name".to_string()),
        Just("$patch".to_string()),
        Just("$retainKeys".to_string()),
        Just("$setElementOrder/containers".to_string()),
        Just("op".to_string()),
        Just("path".to_string()),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_patch_makes_the_server_fall_over(patches in prop::collection::vec(any_json(), 1..5)) {
        let mut cluster = Cluster::new();
        cluster.says("apply -f -", WEB);
        for (index, patch) in patches.into_iter().enumerate() {
            let key = ObjectKey::new(Kind::Deployment, "default", "web");
            let mut config = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                                    "metadata": {"name": "web"}});
            config["spec"] = patch["spec"].clone();
            for patch in [
                Patch::Json(patch.clone()),
                Patch::Merge(patch.clone()),
                Patch::Strategic(patch.clone()),
                Patch::Apply { config, force: index % 2 == 0 },
            ] {
                let request = PatchRequest { part: Part::Main, key: key.clone(), patch };
                let _ = cluster.request_as(Request::PatchWith(Box::new(request)), "someone");
            }
            prop_assert!(cluster.server.get(&key, "").is_ok());
        }
    }
}
