//! Manifests: real ones from public repositories and bad ones with Kubernetes' answers, both read
//! from the folder beside the clone that holds them (`SHARED_DIR` names another one); and our own,
//! which are always there.

#[path = "real_kubectl/cluster.rs"]
mod cluster;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cluster::Cluster;
use loopscope::kernel::Time;
use loopscope::manifest::{self, Hint, Problem, Reading, Severity};
use proptest::prelude::*;
use serde_json::Value;

/// The folder with the manifests, if this machine has it.
fn shared() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
    let folders = [std::env::var("SHARED_DIR").ok(), Some(beside.into())];
    let mut manifests = folders.into_iter().flatten().map(|f| PathBuf::from(f).join("manifests"));
    let found = manifests.find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no folder ../shared/manifests beside the clone, and no SHARED_DIR");
    }
    found
}

fn index(path: PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    index["files"].as_array().unwrap().clone()
}

/// What an apply of the text would complain about, an empty text included.
fn complaints(reading: &Reading) -> Vec<(String, u32)> {
    let told = |problem: &Problem| (problem.message.clone(), problem.line);
    let mut complaints: Vec<_> = reading.errors().map(told).collect();
    if complaints.is_empty() && reading.documents.is_empty() {
        complaints.push(("error: no objects passed to apply".into(), 1));
    }
    complaints
}

/// Why the answer to a bad file is not the one that its index entry wants.
fn wrong(file: &Value, reading: &Reading) -> Option<String> {
    let complaints = complaints(reading);
    if file["rejectedBy"] == "accepted" {
        let refused = !complaints.is_empty();
        let line = file["actualLineOfMistake"].as_u64();
        // Accepted, but an editor should say something where the mistake is, if there is one to
        // see.
        let silent = line.is_some_and(|line| {
            let told = |problem: &Problem| {
                problem.severity == Severity::Warning && u64::from(problem.line) == line
            };
            !reading.problems.iter().any(told)
        });
        return (refused || silent).then(|| format!("{:?}", reading.problems));
    }
    let alternatives = file["alternativeMessages"].as_array().cloned().unwrap_or_default();
    let words = std::iter::once(&file["expectedMessageContains"]).chain(&alternatives);
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let line = file["actualLineOfMistake"].as_u64();
    let right = |(message, at): &(String, u32)| {
        let said = words.iter().any(|words| message.contains(words));
        said && line.is_none_or(|line| line == u64::from(*at))
    };
    let found = complaints.iter().any(right);
    (!found).then(|| format!("wanted {words:?} on line {line:?}, got {complaints:?}"))
}

#[test]
fn bad_manifests_are_answered_as_kubernetes_does_at_the_right_line() {
    let Some(folder) = shared() else { return };
    let mut wrong_ones = Vec::new();
    for file in index(folder.join("bad/index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join("bad").join(name)).unwrap();
        let reading = manifest::read_bytes(&bytes);
        wrong_ones.extend(wrong(&file, &reading).map(|why| format!("{name}: {why}")));
    }
    assert!(wrong_ones.is_empty(), "{}", wrong_ones.join("\n"));
}

/// Real files that a cluster of version 1.36 refuses, with words of its answer. The index only says
/// whether kubectl could take them apart.
const REFUSED: &[(&str, &str)] = &[
    ("_archived__cockroachdb__cockroachdb-statefulset.yaml", "policy/v1beta1"),
    ("api__testdata__hpa__hpa-v2beta2.yaml", "autoscaling/v2beta2"),
    ("hack__testdata__list.yaml", "extensions/v1beta1"),
    ("application__job__cronjob.yaml", "batch/v1beta1"),
    ("k8s__ytt__2-functions__app.yaml", "image: Required value"),
    ("application__job__job-tmpl.yaml", "metadata.name: Invalid value: \"process-item-$ITEM\""),
    ("vllm-llama3-8b-instruct.yaml", "mapping values are not allowed in this context"),
    ("pod__busybox-broken.yaml", "kind not set"),
];

#[test]
fn real_manifests_apply_cleanly_or_are_refused_for_a_known_reason() {
    let Some(folder) = shared() else { return };
    let mut wrong = Vec::new();
    for file in index(folder.join("index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let reading = manifest::read_bytes(&bytes);
        let errors: Vec<&Problem> = reading.errors().collect();
        match REFUSED.iter().find(|(end, _)| name.ends_with(end)) {
            Some((_, words)) => {
                let odd = errors.iter().find(|error| !error.message.contains(words));
                if errors.is_empty() || odd.is_some() {
                    wrong.push(format!("{name}: wanted {words}, got {errors:?}"));
                }
            }
            None if !errors.is_empty() => wrong.push(format!("{name}: {errors:?}")),
            None => {
                let objects = file["kubectlLocal"].as_str().and_then(|words| {
                    words.strip_prefix("ok, ")?.split(' ').next()?.parse::<usize>().ok()
                });
                if objects.is_some_and(|objects| objects != reading.documents.len()) {
                    wrong.push(format!("{name}: {} objects", reading.documents.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `apply -f -` of a text says, line by line, in a cluster of its own.
fn applied(cluster: &mut Cluster, bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let output = cluster.run("apply -f -", &text);
    output.text.lines().map(str::to_string).collect()
}

#[test]
fn real_manifests_are_created_and_then_unchanged_or_refused_in_kubectls_words() {
    let Some(folder) = shared() else { return };
    let mut wrong = Vec::new();
    for file in index(folder.join("index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let mut cluster = Cluster::new(Time::ZERO);
        let first = applied(&mut cluster, &bytes);
        let refused = REFUSED.iter().find(|(end, _)| name.ends_with(end));
        let done = |lines: &[String], word: &str| {
            lines.iter().filter(|line| line.ends_with(&format!(" {word}"))).count()
        };
        let objects = manifest::read_bytes(&bytes).documents.len();
        let created = done(&first, "created");
        match refused {
            None if created != objects || first.len() != objects => {
                wrong.push(format!("{name}: {objects} objects: {first:?}"));
            }
            Some((_, words)) if !first.iter().any(|line| line.contains(words)) => {
                wrong.push(format!("{name}: wanted {words}: {first:?}"));
            }
            _ => {}
        }
        let second = applied(&mut cluster, &bytes);
        // A manifest with the uid of another cluster's object may create one, and then misses it.
        let has_uid = String::from_utf8_lossy(&bytes).contains("\n  uid: ");
        if done(&second, "unchanged") != created && !has_uid {
            wrong.push(format!("{name}: again: {second:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_manifests_are_refused_by_apply_with_the_same_words_or_created() {
    let Some(folder) = shared() else { return };
    let mut wrong = Vec::new();
    for file in index(folder.join("bad/index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join("bad").join(name)).unwrap();
        let lines = applied(&mut Cluster::new(Time::ZERO), &bytes);
        let text = lines.join("\n");
        let made = lines.iter().any(|line| line.ends_with(" created"));
        let alternatives = file["alternativeMessages"].as_array().cloned().unwrap_or_default();
        let words = std::iter::once(&file["expectedMessageContains"]).chain(&alternatives);
        let said = words.filter_map(Value::as_str).any(|words| text.contains(words));
        // A file of several documents may be refused in part.
        let right = match file["rejectedBy"].as_str() {
            Some("accepted") => made && lines.iter().all(|line| line.ends_with(" created")),
            _ => said && !text.is_empty(),
        };
        if !right {
            wrong.push(format!("{name}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.25
";

/// The web Deployment with a change: what is said, where, and with which hint.
#[test]
fn our_own_bad_manifests_are_answered_where_the_mistake_is() {
    let cases: &[(&str, &str, u32, &str, Option<Hint>)] = &[
        ("  replicas: 3", "\treplicas: 3", 6, "cannot start any token", Some(Hint::TabIndent)),
        ("  replicas: 3", "\u{a0} replicas: 3", 6, "yaml: line", Some(Hint::NonBreakingSpace)),
        ("replicas: 3", "replicas: {{ .Values.n }}", 6, "map key", Some(Hint::HelmTemplate)),
        (
            "replicas: 3",
            "replcias: 3",
            6,
            "strict decoding error: unknown field \"spec.replcias\"",
            Some(Hint::DidYouMean("replicas".into())),
        ),
        (
            "replicas: 3",
            "replicas: \"3\"",
            6,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of \
             type int32",
            Some(Hint::Unquote("3".into())),
        ),
        (
            "kind: Deployment",
            "kind: Deploymnet",
            2,
            "no matches for kind \"Deploymnet\" in version \"apps/v1\"",
            Some(Hint::DidYouMean("Deployment".into())),
        ),
        ("kind: Deployment\n", "", 1, "kind not set", None),
        ("replicas: 3", "replicas: -3", 6, "must be greater than or equal to 0", None),
        ("name: web\nspec", "name: Web_1\nspec", 4, "RFC 1123 subdomain", None),
        (
            "name: web\nspec",
            "name: web\n  labels:\n    on: no\nspec",
            6,
            "cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels",
            Some(Hint::QuoteIt("no".into())),
        ),
        (
            "image: nginx:1.25",
            "image: nginx:1.25\n        args: [-p, 8080]",
            16,
            "cannot unmarshal number into Go struct field \
             Container.spec.template.spec.containers.args of type string",
            Some(Hint::QuoteIt("8080".into())),
        ),
        (
            "      - name: web",
            "        name: web",
            13,
            "of type []v1.Container",
            Some(Hint::NeedsDash),
        ),
        ("image: nginx:1.25", "resources: {limits: {cpu: 1 m}}", 15, "quantities must match", None),
        ("labels: {app: web}", "labels: {app: api}", 11, "`selector` does not match", None),
        (
            "      containers:",
            "      restartPolicy: Never\n      containers:",
            13,
            "Unsupported value: \"Never\": supported values: \"Always\"",
            None,
        ),
        (
            "spec:\n  replicas",
            "spec:\n    paused: true\n  replicas",
            6,
            "did not find expected",
            None,
        ),
        ("metadata:\n  name: web", "metadata: &a\n  name: *b", 4, "unknown anchor 'b'", None),
        ("{app: web}\n  template", "{}\n  template", 8, "empty selector is invalid for", None),
        (
            "spec:\n  replicas",
            "spec:\n  strategy:\n    type: Recreate\n    rollingUpdate:\n      maxSurge: 1\n  \
             replicas",
            8,
            "spec.strategy.rollingUpdate: Forbidden",
            None,
        ),
    ];
    for (from, to, line, words, hint) in cases {
        let text = WEB.replacen(from, to, 1);
        assert_ne!(text, WEB, "{from}");
        let reading = manifest::read(&text);
        let errors: Vec<&Problem> = reading.errors().collect();
        let fits = |error: &&Problem| {
            error.message.contains(words) && error.line == *line && error.hint == *hint
        };
        assert!(errors.iter().any(fits), "{to}: wanted {words} {line} {hint:?}, got {errors:?}");
    }
}

#[test]
fn kubectl_accepts_some_things_silently_and_we_with_a_warning() {
    let warning = |text: &[u8]| {
        let reading = manifest::read_bytes(text);
        assert!(!reading.has_errors(), "{:?}", reading.problems);
        assert_eq!(reading.documents.len(), 1);
        let warns = |problem: &&Problem| problem.severity == Severity::Warning;
        reading.problems.iter().find(warns).map(|problem| (problem.line, problem.hint.clone()))
    };
    let changed = |from, to| WEB.replacen(from, to, 1).into_bytes();
    assert_eq!(warning(WEB.as_bytes()), None);
    assert_eq!(warning(format!("\u{feff}{WEB}").as_bytes()), None);
    assert_eq!(warning(WEB.replace('\n', "\r\n").as_bytes()), None);
    assert_eq!(warning(format!("---\n\n---\n# x\n---\n{WEB}---\n").as_bytes()), None);
    let twice = changed("  replicas: 3\n", "  replicas: 3\n  replicas: 5\n");
    assert_eq!(warning(&twice), Some((7, Some(Hint::LastWins))));
    let octal = changed("  replicas: 3\n", "  replicas: 010\n");
    assert_eq!(warning(&octal), Some((6, Some(Hint::Octal(8)))));
    let mut latin = changed("name: web\nspec", "name: web\n  annotations: {a: d?ja}\nspec");
    let at = latin.iter().position(|byte| *byte == b'?').unwrap();
    latin[at] = 0xe9;
    assert_eq!(warning(&latin), Some((5, Some(Hint::NotUtf8))));
}

#[test]
fn a_text_may_hold_several_documents_a_list_and_json() {
    let list = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n\
                {\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"}},\n\
                {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\"}, \"spec\":\n\
                \t{\"containers\": [{\"name\": \"c\", \"image\": \"d\"}]}}]}";
    let reading = manifest::read(&format!("{WEB}---\n{list}\n---\n{WEB}"));
    assert!(!reading.has_errors(), "{:?}", reading.problems);
    let lines: Vec<u32> = reading.documents.iter().map(|document| document.line).collect();
    assert_eq!(lines, [1, 18, 19, 22]);
    let namespaces = reading.documents.iter().map(|d| d.object.meta().namespace.to_string());
    assert_eq!(namespaces.collect::<Vec<_>>(), ["default", "", "default", "default"]);
}

#[test]
fn one_bad_document_does_not_spoil_the_others_and_all_mistakes_are_told() {
    let bad = WEB.replace("replicas: 3", "replica: 3\n  pause: true");
    let reading = manifest::read(&format!("{WEB}---\na: [\n---\n{bad}---\n{WEB}"));
    assert_eq!(reading.documents.len(), 2);
    let lines: Vec<u32> = reading.errors().map(|error| error.line).collect();
    assert_eq!(lines, [18, 24, 25]);
    assert_eq!(reading.refusals.len(), 2);
    let both =
        "strict decoding error: unknown field \"spec.pause\", unknown field \"spec.replica\"";
    assert!(reading.refusals[1].ends_with(both), "{:?}", reading.refusals);
}

#[test]
fn a_kind_that_is_only_kept_gets_a_quiet_note() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n";
    let reading = manifest::read(text);
    assert_eq!(reading.documents.len(), 1);
    let problem = &reading.problems[0];
    assert_eq!((problem.severity, problem.line), (Severity::Note, 2));
    assert_eq!(problem.hint, Some(Hint::NotSimulated));
}

#[test]
fn fields_that_nothing_acts_on_get_one_quiet_note_for_each_object() {
    let text = WEB.replace(
        "        image: nginx:1.25\n",
        "        image: nginx:1.25\n        env: [{name: A, value: b}]\n        command: [x]\n",
    );
    let text = text.replace("    spec:\n", "    spec:\n      volumes: [{name: a, emptyDir: {}}]\n");
    let reading = manifest::read(&format!("{text}---\n{WEB}"));
    assert!(!reading.has_errors());
    let notes: Vec<_> =
        reading.problems.iter().map(|p| (p.severity, p.line, &*p.message)).collect();
    let words = "kept, but not simulated: spec.template.spec.volumes, \
                 spec.template.spec.containers[*].command, spec.template.spec.containers[*].env";
    assert_eq!(notes, [(Severity::Note, 13, words)]);
}

#[test]
fn more_pods_than_a_simulation_carries_are_told_where_they_are_asked_for() {
    let reading = manifest::read(&WEB.replace("replicas: 3", "replicas: 1000000000"));
    assert!(!reading.has_errors());
    let problem = &reading.problems[0];
    assert_eq!((problem.severity, problem.line), (Severity::Warning, 6));
}

/// Reads a text that must be refused, in time: the machine's, not the simulation's.
#[allow(clippy::disallowed_methods)]
fn refused_in_time(text: &str) -> Problem {
    let start = Instant::now();
    let reading = manifest::read(text);
    let took = start.elapsed();
    // Without optimization and beside other tests; the browser takes a twentieth of it.
    assert!(took < Duration::from_secs(20), "took {took:?}");
    reading.errors().next().expect("refused").clone()
}

#[test]
fn no_text_takes_long() {
    let nested = refused_in_time(&format!("{WEB}  x: {}", "[".repeat(100_000)));
    assert!(nested.message.contains("max depth") && nested.line == 16, "{nested:?}");
    let nested = refused_in_time(&format!("x:\n{}a", "- ".repeat(100_000)));
    assert!(nested.message.contains("max depth"), "{nested:?}");
    let staircase: String = (0..2_000).map(|depth| " ".repeat(depth) + "a:\n").collect();
    assert!(refused_in_time(&staircase).message.contains("Too long"));
    let staircase: String = (0..1_000).map(|depth| " ".repeat(depth) + "a:\n").collect();
    assert!(refused_in_time(&staircase).message.contains("max depth"));
    let big = format!("kind: ConfigMap\ndata:\n  a: |\n{}", "    0123456789\n".repeat(140_000));
    let big = refused_in_time(&big);
    assert!(big.message.contains("1048576 bytes") && big.line == 3, "{big:?}");
    let mut laughs = "a0: &a0 [lol, lol]\n".to_string();
    for level in 1..40 {
        let below = format!("*a{}", level - 1);
        laughs += &format!("a{level}: &a{level} [{below}, {below}, {below}]\n");
    }
    let laughs = refused_in_time(&laughs);
    assert!(laughs.message.contains("excessive aliasing") && laughs.line == 2, "{laughs:?}");
    let long = "x".repeat(1000);
    let copies = format!("a: &a \"{long}\"\nb: [{}]\n", "*a, ".repeat(20_000));
    assert!(refused_in_time(&copies).message.contains("excessive aliasing"));
    refused_in_time(&"---\na: 1\n".repeat(100_000));
    refused_in_time(&format!("a: [{}]", "a,".repeat(500_000)));
    refused_in_time(&"%TAG !a! x\n".repeat(80_000));
    refused_in_time(&"a: &x {<<: *x}\n".repeat(60_000));
    refused_in_time(&format!("{WEB}{}", "  x: 1\n".repeat(100_000)));
    let many = manifest::read(&WEB.replace("replicas: 3", "replicas: 1000000000"));
    assert!(!many.has_errors());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        manifest::read(&text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        manifest::read_bytes(&bytes);
    }

    /// A manifest with a few characters replaced is much like what people type.
    #[test]
    fn no_slip_makes_the_reader_panic(
        slips in prop::collection::vec((0..WEB.len(), "[\\PC\t\n]{0,2}"), 1..6),
    ) {
        let mut text = WEB.to_string();
        for (at, put) in slips {
            let before = |at: &usize| text.is_char_boundary(*at);
            let at = (0..=at.min(text.len())).rev().find(before).unwrap_or(0);
            let end = (at + 1..=text.len()).find(|end| text.is_char_boundary(*end));
            text.replace_range(at..end.unwrap_or(at), &put);
        }
        let reading = manifest::read(&text);
        for problem in &reading.problems {
            prop_assert!(problem.line >= 1 && problem.column >= 1);
            prop_assert!(problem.line as usize <= text.lines().count() + 1, "{problem:?}");
        }
        prop_assert!(!reading.documents.is_empty() || reading.has_errors() || text.trim().is_empty()
            || !reading.refusals.is_empty() || reading.problems.is_empty());
    }
}
