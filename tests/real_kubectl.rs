//! Our kubectl beside the real one, where this machine has it: what it makes of real manifests
//! (`--local`, `--dry-run=client`), what its generators write, and what it prints of the
//! simulation's own API server. Both are told the same lines; neither's answers are written here.
//!
//! `REAL_MANIFESTS` names a folder of real manifests with an index; without it, those tests are skipped.

#[path = "real_kubectl/cluster.rs"]
mod cluster;
#[path = "real_kubectl/server.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use cluster::Cluster;
use loopscope::api::Quantity;
use loopscope::kernel::Time;
use loopscope::manifest;
use serde_json::{Map, Value};

/// The real kubectl, told to speak to `server` and to keep to a folder of its own.
struct Kubectl {
    server: String,
    home: PathBuf,
}

/// What it printed.
struct Printed {
    out: String,
    error: String,
}

impl Kubectl {
    /// The real one, if it is there. It serves `cluster` to it.
    fn find(cluster: &Arc<Mutex<Cluster>>) -> Option<Kubectl> {
        let version = Command::new("kubectl").args(["version", "--client"]).output();
        if !version.is_ok_and(|output| output.status.success()) {
            println!("skipped: no kubectl on this machine");
            return None;
        }
        let home = std::env::temp_dir().join(format!("real-kubectl-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        Some(Kubectl { server: server::serve(cluster.clone()), home })
    }

    fn run(&self, words: &[String]) -> Printed {
        let mut command = Command::new("kubectl");
        command.env("HOME", &self.home).env("KUBECONFIG", self.home.join("none"));
        command
            .env("NO_PROXY", "127.0.0.1")
            .env("KUBE_EDITOR", "true")
            .args(["--server", &self.server])
            .args(words);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Printed { out: text(&output.stdout), error: text(&output.stderr) }
    }

    /// A line without quotes, but for words in single ones.
    fn line(&self, line: &str) -> Printed {
        self.run(&words(line))
    }
}

fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words: Vec<String> = Vec::new();
    let mut joined = false;
    for (at, part) in parts {
        if at % 2 == 1 {
            match words.last_mut().filter(|_| joined) {
                Some(last) => last.push_str(part),
                None => words.push(part.into()),
            }
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
            joined = part.ends_with(|c: char| !c.is_whitespace());
        }
    }
    words
}

/// A file of real manifests.
struct File {
    path: PathBuf,
    text: String,
}

/// The files that both read as objects, one document for each: what is refused is another test's.
fn files() -> Option<Vec<File>> {
    let Ok(folder) = std::env::var("REAL_MANIFESTS") else {
        println!("skipped: REAL_MANIFESTS names no folder of manifests");
        return None;
    };
    let Ok(index) = std::fs::read_to_string(Path::new(&folder).join("index.json")) else {
        println!("skipped: no folder {folder}");
        return None;
    };
    let index: Value = serde_json::from_str(&index).unwrap();
    let mut files = Vec::new();
    for entry in index["files"].as_array().unwrap() {
        let path = Path::new(&folder).join(entry["file"].as_str().unwrap());
        let local = entry["kubectlLocal"].as_str().unwrap_or("");
        let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| local.starts_with("ok"))
        else {
            continue;
        };
        let reading = manifest::read(&text);
        // A version that is gone is refused by our server and taken by a client alone.
        if reading.refusals.is_empty() {
            files.push(File { path, text });
        }
    }
    Some(files)
}

/// The objects of an output. `kubectl label` prints them one behind the other with nothing between;
/// keys are sorted, so each begins with its version.
fn documents(yaml: &str) -> Vec<Value> {
    let mut parts: Vec<String> = Vec::new();
    for line in yaml.lines().filter(|line| *line != "---") {
        if line.starts_with("apiVersion:") || parts.is_empty() {
            parts.push(String::new());
        }
        let part = parts.last_mut().unwrap();
        part.push_str(line);
        part.push('\n');
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.map(|part| manifest::value(part).unwrap_or_else(|e| panic!("{e}: {part}"))).collect()
}

/// As commands that know the types print it: no status, and no `false` where that says nothing.
fn typed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| **value != Value::Bool(false));
            Value::Object(said.map(|(key, value)| (key.clone(), typed(value))).collect())
        }
        Value::Array(items) => items.iter().map(typed).collect(),
        other => other.clone(),
    }
}

/// Without nulls and what is empty, which Go's types print and a manifest need not have; amounts in
/// their own form.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (key, value) in fields {
                let value = bare(value);
                let empty = value.is_null() || value == Value::Object(Map::new());
                if !empty {
                    kept.insert(key.clone(), value);
                }
            }
            for list in ["limits", "requests", "hard", "capacity"] {
                let amounts = kept.get_mut(list).and_then(Value::as_object_mut);
                amounts.into_iter().flat_map(Map::values_mut).for_each(as_amount);
            }
            // An autoscaler's target.
            for amount in ["averageValue", "value"] {
                if let Some(amount) = kept.get_mut(amount).filter(|amount| amount.is_number()) {
                    as_amount(amount);
                }
            }
            Value::Object(kept)
        }
        // Go makes an empty text of an item that is not there.
        Value::Array(items) => {
            let item = |item: &Value| if item.is_null() { "".into() } else { bare(item) };
            Value::Array(items.iter().map(item).collect())
        }
        other => other.clone(),
    }
}

fn as_amount(amount: &mut Value) {
    let text = amount.as_str().map_or(amount.to_string(), str::to_string);
    if let Ok(quantity) = Quantity::parse(&text) {
        *amount = serde_json::to_value(quantity).unwrap();
    }
}

/// Where `wanted` is not contained in `found`.
fn missing(wanted: &Value, found: &Value, path: &str) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(key, value)| {
            missing(value, found.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"))
        }),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.find_map(|(at, (a, b))| missing(a, b, &format!("{path}[{at}]")))
        }
        _ if wanted == found => None,
        _ => Some(format!("{path}: wanted {wanted}, got {found}")),
    }
}

/// The same line to both, with each file as input; where they differ.
fn compare_on_files(kubectl: &Kubectl, files: &[File], line: &str) -> Vec<String> {
    let mut words = words(line);
    for file in files {
        words.extend(["-f".to_string(), file.path.display().to_string()]);
    }
    let printed = kubectl.run(&words);
    let real = documents(&printed.out);
    let mut wrong = Vec::new();
    let mut ours = Vec::new();
    for file in files {
        let mut cluster = Cluster::new(Time::ZERO);
        let output = cluster.run(&format!("{line} -f -"), &file.text);
        if output.error {
            wrong.push(format!("{line}: {}: {}", file.path.display(), output.text));
        }
        ours.extend(documents(&output.text));
    }
    if real.len() != ours.len() {
        let error = &printed.error;
        wrong.push(format!("{line}: {} objects, ours {}\n{error}", real.len(), ours.len()));
    }
    for (mut real, mut ours) in real.into_iter().zip(ours) {
        // Typed commands print a status of zeroes.
        if line.starts_with("set ") {
            for value in [&mut real, &mut ours] {
                *value = typed(value);
                value.as_object_mut().map(|fields| fields.remove("status"));
            }
        }
        let (real, ours) = (&real, &ours);
        if let Some(why) = missing(&bare(real), &bare(ours), "") {
            wrong.push(format!("{line}: {} {}: {why}", real["kind"], real["metadata"]["name"]));
        } else if let Some(why) = missing(&bare(ours), &bare(real), "") {
            wrong.push(format!(
                "{line}: {} {}: more: {why}",
                real["kind"], real["metadata"]["name"]
            ));
        }
    }
    wrong
}

fn served() -> Option<(Arc<Mutex<Cluster>>, Kubectl)> {
    let cluster = Arc::new(Mutex::new(Cluster::new(Time::from_secs(0))));
    let kubectl = Kubectl::find(&cluster)?;
    Some((cluster, kubectl))
}

#[test]
fn real_manifests_come_out_of_both_alike() {
    let Some((_, kubectl)) = served() else { return };
    let Some(files) = files() else { return };
    assert!(files.len() > 30, "{} files", files.len());
    let mut wrong = Vec::new();
    for line in [
        "create --dry-run=client --validate=false -o yaml",
        "label --local -o yaml a=b example.com/long=value",
        "annotate --local -o yaml 'note=two words'",
    ] {
        wrong.extend(compare_on_files(&kubectl, &files, line));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_manifests_with_pods_are_changed_by_both_alike() {
    let Some((_, kubectl)) = served() else { return };
    let Some(files) = files() else { return };
    // Those of which every object has pods: the others are refused by both.
    let has_pods = |file: &&File| {
        let reading = manifest::read(&file.text);
        let pods = ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "Pod"];
        let known = |kind: &str| pods.contains(&kind) || kind == "ReplicationController";
        reading.documents.iter().all(|document| known(document.object.kind().info().kind))
    };
    let (files, _): (Vec<File>, Vec<File>) = files.into_iter().partition(|file| has_pods(&file));
    assert!(files.len() > 10, "{} files", files.len());
    let mut wrong = Vec::new();
    for line in [
        "set image --local -o yaml '*=registry.example/x:2'",
        "set resources --local -o yaml --limits=cpu=200m,memory=512Mi --requests=cpu=0.1",
        "set env --local -o yaml MODE=test EXTRA=1",
        "set serviceaccount --local -o yaml robot",
    ] {
        wrong.extend(compare_on_files(&kubectl, &files, line));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_written_is_in_what_get_prints() {
    let Some((_, kubectl)) = served() else { return };
    let Some(files) = files() else { return };
    let mut words = words("create --dry-run=client --validate=false -o yaml");
    for file in &files {
        words.extend(["-f".to_string(), file.path.display().to_string()]);
    }
    let mut real = documents(&kubectl.run(&words).out).into_iter();
    let mut wrong = Vec::new();
    for file in &files {
        let mut cluster = Cluster::new(Time::ZERO);
        cluster.run("apply -f -", &file.text);
        for document in manifest::read(&file.text).documents {
            let mut real = real.next().expect("as many objects");
            if let Some(fields) = real.as_object_mut() {
                fields.remove("status");
                let meta = fields["metadata"].as_object_mut().unwrap();
                for field in
                    ["creationTimestamp", "managedFields", "uid", "resourceVersion", "generation"]
                {
                    meta.remove(field);
                }
                if let Some(annotations) =
                    meta.get_mut("annotations").and_then(Value::as_object_mut)
                {
                    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
                }
            }
            let key = document.object.key();
            let plural = key.kind.info().plural;
            let line = format!("get {plural} {} -n '{}' -o yaml", key.name, key.namespace);
            let output = cluster.run(&line, "");
            if output.error {
                // Refused when it was applied, which the test of manifests looks at.
                continue;
            }
            let ours = manifest::value(&output.text).unwrap();
            if real["apiVersion"] == ours["apiVersion"]
                && let Some(why) = missing(&bare(&real), &bare(&ours), "")
            {
                wrong.push(format!("{}: {key}: {why}", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn generators_write_what_kubectls_do() {
    let Some((cluster, kubectl)) = served() else { return };
    const GENERATORS: &[&str] = &[
        "create deployment web --image=nginx:1.25 --replicas=3 --port=80",
        "create deployment web --image=registry.example:5000/a/b@sha256:abc",
        "create deployment web --image=a,b",
        "create deployment web --image=busybox -- sleep 100",
        "create namespace test",
        "create configmap c --from-literal=a=b --from-literal=c=d=e",
        "create configmap c",
        "create secret generic s --from-literal=a=b --type=x/y",
        "create secret docker-registry r --docker-username=u --docker-password=p \
         --docker-server=x.example --docker-email=a@b",
        "create service clusterip web --tcp=80:8080 --tcp=443",
        "create service clusterip web --clusterip=None",
        "create service nodeport web --tcp=80:http --node-port=30080",
        "create service loadbalancer web --tcp=80",
        "create service externalname web --external-name=x.example",
        "create job j --image=busybox -- date",
        "create cronjob j --image=busybox --schedule='*/1 * * * *' --restart=Never -- date",
        "create quota q --hard=cpu=1,memory=1G,pods=2 --scopes=BestEffort",
        "create poddisruptionbudget p --selector=app=web --min-available=1",
        "create pdb p --selector=app=web --max-unavailable=50%",
        "create priorityclass high --value=1000 --description=x --global-default",
        "create serviceaccount robot -n test",
        "create role r --verb=get,list --resource=pods,deployments.apps,pods/log \
         --resource-name=a",
        "create clusterrole r --verb=get --resource=nodes",
        "create rolebinding b --role=r --user=u --group=g --serviceaccount=ns:sa",
        "create clusterrolebinding b --clusterrole=r --serviceaccount=ns:sa",
        "run web --image=nginx --port=80 --env=A=b --labels=app=web,tier=x",
        "run web --image=nginx --restart=Never --command -- sleep 5",
        "run web --image=nginx --image-pull-policy=Never --annotations=a=b -- -c x",
    ];
    let mut wrong = Vec::new();
    for line in GENERATORS {
        // Before the dashes.
        let (head, tail) = line
            .split_once(" -- ")
            .map_or((*line, String::new()), |(head, tail)| (head, format!(" -- {tail}")));
        let line = format!("{head} --dry-run=client -o yaml{tail}");
        let real = kubectl.line(&line);
        let ours = cluster.lock().unwrap().run(&line, "");
        let (real, ours) = (without_times(&real.out, &real.error), ours.text);
        if real != ours {
            wrong.push(format!("{line}\n--- real\n{real}--- ours\n{ours}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A newer kubectl writes no empty creationTimestamp.
fn without_times(out: &str, error: &str) -> String {
    const EMPTY: &str = "creationTimestamp: null";
    let lines: Vec<&str> = out.lines().chain(error.lines()).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim() == EMPTY {
            continue;
        }
        text.push_str(line);
        let next = lines.get(at + 1).filter(|next| next.trim() == EMPTY);
        let after = lines.get(at + 2).map_or(0, |after| indent(after));
        if next.is_some_and(|next| after < indent(next)) {
            text.push_str(" {}");
        }
        text.push('\n');
    }
    text
}

/// What the lines below look at.
const SETUP: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}, annotations: {note: x}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers:
      - {name: init, image: \"busybox:1\"}
      containers:
      - name: web
        image: nginx:1.25
        ports: [{containerPort: 80}, {containerPort: 443}]
        resources: {requests: {cpu: \"0.5\", memory: 128Mi}}
      - {name: side, image: \"envoy:2\", env: [{name: A, value: b}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-9, labels: {app: web, tier: front}, generateName: web-}
spec: {nodeName: node-1, containers: [{name: web, image: \"nginx:1.25\"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-10, labels: {app: web}}
spec: {nodeName: node-2, containers: [{name: web, image: \"nginx:1.24\"}, {name: b, image: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: kube-system, labels: {app: dns}}
spec:
  nodeName: node-1
  volumes: [{name: tmp, emptyDir: {}}]
  containers: [{name: dns, image: \"dns:1\"}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: \"1\", b: \"2\"}
";

/// Lines that only look.
const LOOKS: &[&str] = &[
    "get pods",
    "get pods -o wide",
    "get pods -A",
    "get pods --no-headers",
    "get pods --show-labels -L tier,app",
    "get pods web-9",
    "get pod/web-9 deploy/web",
    "get pods,deploy,svc",
    "get all",
    "get all -A",
    "get nodes",
    "get nothing",
    "get pods nope",
    "get pods web-9 nope",
    "get pods -n empty",
    "get pods nope --ignore-not-found",
    "get pods -l app=none",
    "get cm",
    "get pods -o name",
    "get pods,svc -o name",
    "get pods -o custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image,X:.x.y",
    "get deploy web -o custom-columns=L:.metadata.labels,S:.spec.selector",
    "get pods --no-headers -o custom-columns=N:metadata.name",
    "get pods -o jsonpath='{.items[*].metadata.name}'",
    "get pods -o jsonpath='{range .items[*]}{.metadata.name}{\"\\t\"}{.spec.nodeName}{\"\\n\"}{end}'",
    "get pods -o jsonpath='{.items[?(@.metadata.name==\"web-9\")].spec.nodeName}'",
    "get pods -o jsonpath='{.items[?(@.metadata.labels.tier)].metadata.name}'",
    "get pods -o jsonpath='{.items[-1].metadata.name}{.items[0:1].metadata.name}'",
    "get pods -o jsonpath='{.items[0,1].metadata.name}'",
    "get pods -o jsonpath='{..image}'",
    "get pods -o jsonpath='{.items[0].metadata.labels}'",
    "get pods -o jsonpath='{.items[*].spec.containers[0][\\'name\\',\\'image\\']}'",
    "get deploy web -o jsonpath='{.spec.replicas}{\" of \"}{.kind}'",
    "get deploy web -o jsonpath='{.spec.template.spec.containers[?(@.name!=\"web\")].env}'",
    "get deploy web -o jsonpath='{.metadata.annotations.note}'",
    "get deploy web -o jsonpath='{.spec.nothing.at.all}'",
    "get pods --sort-by=.metadata.name",
    "get pods --sort-by='{.spec.containers[0].image}'",
    "get pods --sort-by=.spec.containers[0].image -o name",
    "get deploy web -o yaml",
    "get deploy web -o json",
    "get cm -o yaml",
    "get pods -o jsonpath='{.items[0'",
    "get pods --colour",
    "get pods -q",
    "get",
    "get pods web-9 -l app=web",
    "get pod/web-9 web-10",
    "get pods --field-selector=spec.nodeName=node-1",
    "delete pods",
    "delete pod web-9 --cascade=maybe --dry-run=client",
    "delete pod web-9 --dry-run=client",
    "delete pod web-9 --dry-run=server",
    "delete pods -l app=web --dry-run=client -o name",
    "delete pods --all --dry-run=client",
    "delete pod nope",
    "delete pod web-9 --now --grace-period=5",
    "delete pod web-9 --force --grace-period=5",
    "scale deploy web",
    "scale deploy web --replicas=2 --dry-run=client",
    "scale deploy web --replicas=2 --current-replicas=7",
    "scale cm settings --replicas=2",
    "set image deploy/web nope=x",
    "set image deploy/web",
    "set image deploy/web web=x:1 --dry-run=client -o name",
    "set image deploy/web '*=x:1' --dry-run=client",
    "set resources deploy web",
    "set resources deploy web -c=side --limits=cpu=1 --dry-run=client",
    "set env deploy/web --list",
    "set env deploy/web A- --dry-run=client",
    "set selector svc web app=x --dry-run=client",
    "set sa deploy web robot --dry-run=client",
    "label pod web-9 tier=back",
    "label pod web-9 tier=back --overwrite --dry-run=client",
    "label pod web-9 nope- --dry-run=client",
    "label pod web-9 tier- --dry-run=client",
    "label pod web-9",
    "label pods --all x=y --dry-run=client",
    "label pod web-10 --list",
    "get pods --sort-by=.nope -o name",
    "get pods --sort-by=.metadata.labels.tier -o name",
    "get pods -o jsonpath='{.items[9].a}'",
    "get pods -o jsonpath='{.items[?(@.metadata.name>1)].kind}'",
    "annotate deploy web note=y",
    "annotate deploy web note=y --overwrite --dry-run=client",
    "annotate deploy web --list",
    "expose deploy web --dry-run=client -o yaml",
    "expose deploy web --port=80 --target-port=http --type=NodePort --name=x --dry-run=client -o yaml",
    "expose pod web-9 --port=80 --dry-run=client",
    "expose cm settings --port=80",
    "expose pod web-9",
    "autoscale deploy web --max=5 --min=2 --cpu-percent=60 --dry-run=client",
    "autoscale deploy web --min=2",
    "autoscale deploy web --max=1 --min=2",
    "autoscale cm settings --max=1",
    "rollout history deploy/web",
    "rollout status deploy/web --watch=false",
    "rollout undo deploy/web",
    "rollout status svc/web --watch=false",
    "rollout pause svc/web",
    "rollout restart svc/web",
    "rollout resume deploy/web",
    "rollout stat deploy/web",
    "rollout status",
    "cordon",
    "cordon nope",
    "cordon node-1 --dry-run=client",
    "uncordon node-1",
    "taint node node-1",
    "taint node node-1 a-",
    "taint node node-1 a=b:Never",
    "taint pod web-9 a=b:NoSchedule",
    "drain node-1 --dry-run=client",
    "drain node-1 --dry-run=client --force",
    "drain node-1 --dry-run=client --force --delete-emptydir-data",
    "drain node-1 node-2 --dry-run=client --force --pod-selector=app=web",
    "drain",
    "drain nope",
    "wait pod web-9 --for=condition=Ready --timeout=0",
    "wait pod nope --for=condition=Ready --timeout=0",
    "wait pod -l app=none --for=condition=Ready --timeout=0",
    "wait pod web-9 --for=jsonpath='{.spec.nodeName}'=node-1 --timeout=0",
    "wait pod web-9 --for=jsonpath='{.spec.nodeName}' --timeout=0",
    "wait pod web-9 --for=maybe",
    "wait pod web-9 --for=delete --timeout=0",
    "wait pod nope --for=delete --timeout=0",
    "create deployment x",
    "create deployment --image=x",
    "create ns default --dry-run=client",
    "create quota",
    "create secret generik x",
    "create service nodeport x",
    "create pdb x --selector=a=b",
    "create configmap c --from-literal=ab",
    "create job x",
    "run x",
    "run --image=x",
    "run x --image=y --restart=Maybe",
    "run x --image=y --dry-run=client",
    "logs",
    "logs nope",
    "api-resources --nope",
    "explain",
    "patch deploy web",
    "apply",
    "replace",
    "edit",
    "top pods nope nope",
];

#[test]
fn what_only_looks_prints_the_same() {
    let Some((cluster, kubectl)) = served() else { return };
    let said = cluster.lock().unwrap().run("apply -f -", SETUP);
    assert!(!said.error, "{}", said.text);
    // Several at once: most of the time goes into starting them.
    let look = |lines: &[&'static str]| -> Vec<(&'static str, Printed)> {
        lines.iter().map(|line| (*line, kubectl.line(line))).collect()
    };
    let real: Vec<(&str, Printed)> = std::thread::scope(|scope| {
        let share = LOOKS.len().div_ceil(4);
        let look = &look;
        let threads = LOOKS.chunks(share).map(|lines| scope.spawn(move || look(lines)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut wrong = Vec::new();
    for (line, real) in real {
        let words = words(line).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let ours = cluster.lock().unwrap().run(&words, "");
        let said = |real: &Printed| format!("{}{}", real.out, real.error);
        // Four at once on a busy machine: a client may have given up waiting. Alone it does not.
        if !alike(&said(&real), &ours.text) && !alike(&said(&kubectl.line(line)), &ours.text) {
            wrong.push(format!("$ {line}\n--- real\n{}--- ours\n{}", said(&real), ours.text));
        }
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{}\n{count} of {}", wrong.join("\n"), LOOKS.len());
}

fn quoted(word: &str) -> String {
    format!("'{word}'")
}

/// The same words, in any order, since a shell mixes two streams. What differs by the age or the
/// make of kubectl is evened out: the word `Error`, the namespace behind a deletion (since 1.33), the
/// wrapper that logs instead of printing.
fn alike(real: &str, ours: &str) -> bool {
    let plain = |text: &str| {
        let text = text.split("\nDid you mean this?").next().unwrap_or("");
        let kept = without_times(text, "");
        let mut lines: Vec<String> = kept
            .lines()
            .map(|line| match line.split_once("\"command failed\" err=\"") {
                Some((_, rest)) => {
                    format!("error: {}", rest.trim_end_matches('"').replace('\\', ""))
                }
                None => line.trim_end().replacen("Error: ", "error: ", 1),
            })
            .map(|line| line.replace(" from default namespace", ""))
            .filter(|line| !line.starts_with("# ") && !line.is_empty())
            .filter(|line| !line.starts_with("You must specify the type of resource to get"))
            .collect();
        // The object that a template was given is left out by us.
        if let Some(at) = lines.iter().position(|line| line.contains("object given to jsonpath")) {
            lines.truncate(at);
        }
        lines.sort();
        lines
    };
    plain(real) == plain(ours)
}

/// Lines that change something. Each is told to a cluster that the lines before have changed.
const CHANGES: &[&str] = &[
    "label pod web-9 tier=back --overwrite",
    "label pod web-9 nope-",
    "label pod web-9 tier-",
    "label pods --all x=y",
    "label pods --all x=y",
    "label pods -l x=y x-",
    "annotate deploy web note=z --overwrite",
    "annotate deploy web note-",
    "annotate pods --all a=b",
    "scale deploy web --replicas=5",
    "scale deploy/web --replicas=5 --current-replicas=5",
    "scale deploy web --replicas=2 --current-replicas=9",
    "cordon node-2",
    "cordon node-2",
    "uncordon node-2",
    "delete cm settings --wait=false",
    "delete cm settings --wait=false",
    "delete cm settings --ignore-not-found",
    "delete svc --all --wait=false",
    "delete pod web-10 --now --wait=false",
    "rollout pause deploy/web",
    "rollout pause deploy/web",
    "rollout restart deploy/web",
    "rollout resume deploy/web",
    "rollout restart deploy/web",
    "get all,cm -o name",
];

#[test]
fn what_changes_something_prints_the_same_and_leaves_the_same_behind() {
    let Some((cluster, kubectl)) = served() else { return };
    let said = cluster.lock().unwrap().run("apply -f -", SETUP);
    assert!(!said.error, "{}", said.text);
    let mut own = cluster.lock().unwrap().clone();
    let mut wrong = Vec::new();
    for line in CHANGES {
        let real = kubectl.line(line);
        let ours = own.run(line, "");
        let text = format!("{}{}", real.out, real.error);
        if !alike(&text, &ours.text) {
            wrong.push(format!("$ {line}\n--- real\n{text}--- ours\n{}", ours.text));
        }
    }
    let look = "get deploy,pods,svc,cm,nodes -A -o yaml";
    let real = cluster.lock().unwrap().run(look, "").text;
    let differs = |(real, ours): &(&str, &str)| {
        // When it was restarted is the real clock's.
        real != ours && !real.contains("restartedAt") && !real.contains("resourceVersion")
    };
    let ours = own.run(look, "").text;
    let first = real.lines().zip(ours.lines()).find(differs);
    wrong.extend(first.map(|(real, ours)| format!("left behind: {real} | {ours}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
