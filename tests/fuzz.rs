//! What people might type or paste, slightly wrong: manifests, kubectl lines, scenario files,
//! patches, selectors. Nothing may panic, and nothing may make more than its bound allows: objects,
//! problems, bytes of an answer. A short run by default; `PROPTEST_CASES=100000` makes a long one.

#[path = "real_kubectl/cluster.rs"]
mod cluster;

use cluster::Cluster;
use loopscope::api::selector::Selector;
use loopscope::kernel::Time;
use loopscope::kubectl::{self, Api};
use loopscope::manifest::{self, MAX_DOCUMENTS, MAX_PROBLEMS};
use loopscope::scenario::Scenario;
use proptest::prelude::*;
use serde_json::Value;

/// The longest answer to a line that is accepted, in bytes.
const MAX_ANSWER: usize = 8 << 20;

const MANIFESTS: &[&str] = &[
    "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: \"front\"}
spec:
  replicas: 3
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.25
        ports: [{containerPort: 80}]
        resources: {requests: {cpu: 500m, memory: 128Mi}}
        readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
",
    "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
  data:
    file: |
      a: 1
      b: [2, 3]
- {apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: a, image: b}]}}
",
    "{\"apiVersion\": \"autoscaling/v2\", \"kind\": \"HorizontalPodAutoscaler\", \"metadata\":\n\
     {\"name\": \"web\"}, \"spec\": {\"maxReplicas\": 5, \"scaleTargetRef\": {\"apiVersion\":\n\
     \"apps/v1\", \"kind\": \"Deployment\", \"name\": \"web\"}}}\n",
    "a: &x [1, *y]\n--- # two\nb: !!binary aGk=\n...\n%YAML 1.1\n---\n? {c: d}\n: <<: *x\n",
];

const LINES: &[&str] = &[
    "kubectl get pods,deploy -A -o wide --show-labels -L app,tier --sort-by=.metadata.name",
    "get pods -o jsonpath='{range .items[?(@.spec.nodeName==\"node-1\")]}{.metadata.name}{\"\\n\"}{end}'",
    "get deploy web -o custom-columns=NAME:.metadata.name,I:.spec.template.spec.containers[0:2].image",
    "delete pod -l app=web --limit=1 --grace-period=0 --force --cascade=orphan",
    "delete pods --all --field-selector=status.phase!=Running --now --dry-run=server",
    "create deployment x --image=a/b:c@sha256:d --replicas=2 --port=80 -- sleep 10",
    "create secret docker-registry r --docker-username=u --docker-password=p",
    "create service nodeport x --tcp=80:http --node-port=30080 -o yaml --dry-run=client",
    "create quota q --hard=cpu=1,memory=1Gi,pods=10 --scopes=BestEffort",
    "create cronjob c --image=x --schedule='*/5 * * * *' -- date",
    "create pdb p --selector=app=web --min-available=50%",
    "run x --image=y --env=A=b --labels=a=b --restart=Never --command -- -c 'x y'",
    "scale deploy/web --replicas=5 --current-replicas=3",
    "set image deploy/web web=x *=y",
    "set env deploy/web A=b C- --list -c 'w*'",
    "set resources deploy web --limits=cpu=1,memory=1Gi --requests=cpu=0",
    "label pod/$(app=web)[0] a=b c- --overwrite --list",
    "annotate deploy web note='a b' --dry-run=client -o json",
    "patch deploy web --type=json -p '[{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/-\"}]'",
    "patch deploy web -p '{\"spec\":{\"replicas\":null,\"template\":{\"metadata\":{\"labels\":{}}}}}'",
    "rollout undo deploy/web --to-revision=2 --dry-run=server",
    "rollout history deploy web --revision=1",
    "rollout restart deploy/web",
    "drain node-1 --force --ignore-daemonsets --delete-emptydir-data --pod-selector=a=b",
    "taint nodes node-1 a=b:NoSchedule c:NoExecute- d-",
    "wait pod/one --for=jsonpath='{.status.phase}'=Running --timeout=5s",
    "wait deploy --all --for=condition=Available=True",
    "expose deploy web --port=80 --target-port=http --type=NodePort",
    "autoscale deploy web --min=1 --max=9 --cpu=50% --memory=1Gi",
    "top pods --containers --sort-by=cpu --sum",
    "logs deploy/web --all-containers --previous --tail=3 --prefix --limit-bytes=10",
    "events --for=pod/one --types=Warning -o yaml",
    "explain deploy.spec.template.spec.containers --recursive",
    "api-resources --namespaced=false --api-group=apps -o wide --sort-by=kind",
    "edit deploy/web",
    "diff -f -",
    "apply -f - --dry-run=server -o yaml",
    "replace --force -f -",
    "describe all",
];

const SCENARIOS: &[&str] = &[
    include_str!("../src/scenario/shipped/lost-event.yaml"),
    include_str!("../src/scenario/shipped/rolling-update.yaml"),
    include_str!("../src/scenario/shipped/node-lost.yaml"),
];

const SELECTORS: &[&str] =
    &["a=b,c!=d", "a in (b, c),d notin (e),!f,g", "x>1,y<2", "example.com/a==b"];

const PATCHES: &[&str] = &[
    "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"x\"},{\"name\":\"y\"}]}}}}",
    "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3},{\"op\":\"remove\",\"path\":\"/metadata/labels/a~1b\"}]",
    "{\"metadata\":{\"labels\":null,\"finalizers\":[\"a/b\"]},\"status\":{\"replicas\":7}}",
    "spec: {strategy: {$retainKeys: [type], type: Recreate}}",
];

/// What slips into a text.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    ":",
    "-",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "|",
    "&a",
    "*a",
    "!",
    "%",
    "#",
    ",",
    "=",
    "==",
    "$",
    "(",
    ")",
    "@",
    "..",
    "*",
    "?",
    "~",
    "0",
    "-1",
    "99999999999999999999",
    "1e999",
    "null",
    "true",
    "\u{0}",
    "\u{feff}",
    "\u{2028}",
    "é",
    "💥",
    "---\n",
    "<<",
    "{{ x }}",
    "--",
];

/// How a text is changed: at, how many characters go, what comes, whether a part of the text itself
/// comes too.
type Slip = (usize, usize, usize, usize);

fn slips() -> impl Strategy<Value = Vec<Slip>> {
    prop::collection::vec((0..4_000usize, 0..6usize, 0..PIECES.len() + 8, 0..400usize), 0..6)
}

fn slipped(text: &str, slips: &[Slip]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for &(at, gone, piece, length) in slips {
        let at = if letters.is_empty() { 0 } else { at % (letters.len() + 1) };
        let end = (at + gone).min(letters.len());
        let comes: Vec<char> = match PIECES.get(piece) {
            Some(piece) => piece.chars().collect(),
            // A part again, somewhere else.
            None => letters.iter().copied().skip(at / 2).take(length).collect(),
        };
        letters.splice(at..end, comes);
    }
    letters.into_iter().collect()
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new(Time::from_secs(60));
    for text in MANIFESTS {
        cluster.run("apply -f -", text);
    }
    cluster
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(300), failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn manifests(seed in 0..MANIFESTS.len(), slips in slips()) {
        let text = slipped(MANIFESTS[seed], &slips);
        let reading = manifest::read(&text);
        prop_assert!(reading.documents.len() <= MAX_DOCUMENTS);
        prop_assert!(reading.problems.len() <= MAX_PROBLEMS + 1);
        let lines = text.split(['\n', '\r']).count() as u32 + 1;
        for problem in &reading.problems {
            prop_assert!(problem.line >= 1 && problem.line <= lines, "{problem:?}");
            prop_assert!(problem.column >= 1 && problem.end_column > problem.column);
        }
        let output = cluster().run("apply -f -", &text);
        prop_assert!(output.text.len() <= MAX_ANSWER);
        // What is refused is said, and what is said to be refused is an error.
        prop_assert!(output.error || (reading.refusals.is_empty() && !output.text.is_empty()));
    }

    #[test]
    fn what_is_read_can_be_printed_and_read_again(seed in 0..MANIFESTS.len(), slips in slips()) {
        let text = slipped(MANIFESTS[seed], &slips);
        let mut cluster = Cluster::new(Time::ZERO);
        cluster.run("apply -f -", &text);
        for document in manifest::read(&text).documents {
            let key = document.object.key();
            let Some(object) = cluster.get(&key) else { continue };
            let line = format!("get {} {} -n '{}' -o yaml", key.kind.info().plural, key.name, key.namespace);
            let printed = cluster.run(&line, "");
            prop_assert!(!printed.error, "{}", printed.text);
            let value = manifest::value(&printed.text).map_err(TestCaseError::fail)?;
            prop_assert_eq!(value, object.to_value(), "{}", printed.text);
        }
    }

    #[test]
    fn kubectl_lines(seed in 0..LINES.len(), slips in slips(), stdin in 0..MANIFESTS.len()) {
        let line = slipped(LINES[seed], &slips);
        let output = cluster().run(&line, MANIFESTS[stdin]);
        prop_assert!(output.text.len() <= MAX_ANSWER);
    }

    #[test]
    fn kubectl_lines_of_two(
        first in 0..LINES.len(),
        second in 0..LINES.len(),
        cut in 0..12usize,
        slips in slips(),
    ) {
        let words = LINES[first].split(' ').take(cut).chain(LINES[second].split(' ').skip(cut / 2));
        let line = slipped(&words.collect::<Vec<_>>().join(" "), &slips[..slips.len().min(2)]);
        let output = cluster().run(&line, MANIFESTS[0]);
        prop_assert!(output.text.len() <= MAX_ANSWER);
    }

    #[test]
    fn completions(seed in 0..LINES.len(), slips in slips(), cursor in 0..200usize) {
        let line = slipped(LINES[seed], &slips);
        for completion in kubectl::complete(&line, cursor, &cluster()) {
            prop_assert!(line.is_char_boundary(completion.start));
            prop_assert!(completion.start <= cursor.min(line.len()));
        }
    }

    #[test]
    fn templates(slips in slips(), seed in 0..3usize) {
        let templates = [LINES[1], LINES[2], "get all -o jsonpath='{..}{.items[*]['metadata','spec']}'"];
        let line = slipped(templates[seed], &slips);
        let output = cluster().run(&line, "");
        prop_assert!(output.text.len() <= MAX_ANSWER);
    }

    #[test]
    fn scenarios(seed in 0..SCENARIOS.len(), slips in slips()) {
        let text = slipped(SCENARIOS[seed], &slips);
        if let Err(error) = Scenario::read("fuzz", &text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn patches(seed in 0..PATCHES.len(), slips in slips(), kind in 0..3usize) {
        let kind = ["strategic", "merge", "json"][kind];
        let patch = slipped(PATCHES[seed], &slips).replace('\'', "");
        let mut cluster = cluster();
        let output = cluster.run(&format!("patch deploy web --type={kind} -p '{patch}'"), "");
        prop_assert!(output.text.len() <= MAX_ANSWER);
        // Whatever it did, the object is still one.
        let after = cluster.run("get deploy web -o json", "");
        prop_assert!(serde_json::from_str::<Value>(&after.text).is_ok(), "{}", after.text);
    }

    #[test]
    fn selectors(seed in 0..SELECTORS.len(), slips in slips()) {
        if let Ok(selector) = Selector::parse(&slipped(SELECTORS[seed], &slips)) {
            let again = Selector::parse(&selector.to_string());
            prop_assert_eq!(again.map(|again| again.to_string()), Ok(selector.to_string()));
        }
    }
}
