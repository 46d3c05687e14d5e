//! One console line, done to one lane: a kubectl line, a fault, a push, a load or the ledger.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp, custom};
use crate::apiserver::{ListOptions, Request, Response};
use crate::kubectl::{self, Api, Completion, Output};
use crate::node::Written;
use crate::world::{Fault, Lane, Target, World};

use super::{complete, crowd, ledger, load, repository};

/// Does a line to a lane, and says what it answers.
pub fn perform(lane: &mut Lane, line: &str, stdin: Option<&str>) -> Output {
    let line = line.trim();
    if Fault::is_line(line) {
        let kinds = lane.world.served();
        return match custom::serving(kinds, || Fault::parse_line(line)) {
            Ok(fault) => inflict(&mut lane.world, fault),
            Err(error) => Output::new(format!("error: {error}\n"), true),
        };
    }
    let said = match line.split_whitespace().next() {
        Some("git") => Some(repository::perform(&mut lane.world, line, stdin)),
        Some("crowd") => Some(crowd::perform(&mut lane.world, line, stdin)),
        Some("load") => Some(load::perform(&mut lane.world, line)),
        Some("ledger") => Some(ledger::perform(&lane.world, line)),
        _ => None,
    };
    match said {
        Some(Ok(text)) => return Output::new(text, false),
        Some(Err(error)) => return Output::new(format!("error: {error}\n"), true),
        None => {}
    }
    let stdin = stdin.map(|text| with_uids(text, &lane.world));
    kubectl::run(line, stdin.as_deref(), &mut Shell(&mut lane.world))
}

/// `$(uid secret/issuer)` in a text stands for the uid of that object, in any namespace, or
/// `$(uid one/secret/issuer)` in one: a text cannot know what the server gives out.
fn with_uids(text: &str, world: &World) -> String {
    let mut parts = text.split("$(uid ");
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let found = part.split_once(')').and_then(|(name, rest)| {
            let objects = super::expect::named(world, name.trim()).ok()?;
            Some((objects.first()?.meta().uid.clone(), rest))
        });
        match found {
            Some((uid, rest)) => filled.extend([&*uid, rest]),
            None => filled.extend(["$(uid ", part]),
        }
    }
    filled
}

/// Whether a line, with its moment or without, reads standard input: a manifest, or what a
/// repository shall hold.
pub fn reads_input(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words = match words.as_slice() {
        ["at" | "in", _, rest @ ..] => rest,
        all => all,
    };
    match words {
        ["git", verb, ..] => *verb == "push",
        ["crowd", ..] => true,
        ["fault" | "knob" | "load" | "ledger", ..] => false,
        words => {
            let file = |pair: &[&str]| matches!(pair, ["-f" | "--filename", "-"]);
            let whole = |word: &&str| matches!(*word, "-f-" | "-f=-" | "--filename=-");
            words.windows(2).any(file) || words.iter().any(whole)
        }
    }
}

/// What may stand at the cursor, a byte of the line.
pub fn completions(lane: &Lane, line: &str, cursor: usize) -> Vec<Completion> {
    let before = line.get(..cursor).unwrap_or(line);
    let start = complete::after_moment(before);
    let mut found = of_line(lane, &line[start..], &before[start..], start > 0);
    found.iter_mut().for_each(|completion| completion.start += start);
    if start == 0 && !before.is_empty() {
        let first = ["at", "in"].into_iter().filter(|word| word.starts_with(before));
        found.extend(first.map(|word| Completion { start: 0, text: word.into(), ends: true }));
    }
    found
}

fn of_line(lane: &Lane, line: &str, before: &str, put_off: bool) -> Vec<Completion> {
    if let Some(found) = complete::of_own(lane, before) {
        return found;
    }
    // Objects are shared, so a copy of the world is cheap.
    let mut world = lane.world.clone();
    let mut found = kubectl::complete(line, before.len(), &Shell(&mut world));
    if put_off || !before.is_empty() {
        found.extend(complete::first_words(before, put_off));
    }
    found
}

fn inflict(world: &mut World, fault: Fault) -> Output {
    let refuse = |text: String| Output::new(format!("error: {text}\n"), true);
    let fault = match fault {
        Fault::Container(pod, trouble) => match find_pod(world, &pod) {
            Some(key) => {
                let name = format!("{}/{}", key.namespace, key.name);
                Fault::Container(name.into(), trouble)
            }
            None => return refuse(format!("pods {pod:?} not found")),
        },
        Fault::Power(node, _) | Fault::Network(node, _) if world.node_number(&node).is_none() => {
            return refuse(format!("nodes {node:?} not found"));
        }
        fault => fault,
    };
    let replaced = match &fault {
        Fault::Crash(target, _) => match armed(world, target) {
            Ok(replaced) => replaced,
            Err(why) => return refuse(why),
        },
        _ => String::new(),
    };
    world.inflict(&fault);
    Output::new(format!("{fault}\n{replaced}"), false)
}

/// What is to be said of a crash that is about to be armed: which one it replaces. An error if
/// nobody is alive who could crash.
fn armed(world: &World, target: &Target) -> Result<String, String> {
    let ids = world.targets(target);
    let processes: Vec<_> = ids.iter().filter_map(|id| world.process(*id)).collect();
    if !processes.is_empty() && processes.iter().all(|process| !process.alive) {
        return Err(format!("{target} is dead and makes no pass; first: fault restart {target}"));
    }
    let before = processes.iter().find_map(|process| process.crash_at);
    Ok(before.map_or_else(String::new, |point| format!("instead of point={}\n", point.word())))
}

/// The pod that `name`, `namespace/name` or `$(selector)[n]` names.
fn find_pod(world: &World, text: &str) -> Option<ObjectKey> {
    if let Some(rest) = text.strip_prefix("$(") {
        let (selector, index) = rest.split_once(')')?;
        let index: usize = match index {
            "" => 0,
            index => index.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?,
        };
        let selector = crate::api::selector::Selector::parse(selector).ok()?;
        let pods = world.store().list(Kind::Pod);
        let chosen = pods.filter(|pod| selector.matches(&pod.meta().labels)).nth(index)?;
        return Some(chosen.key());
    }
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    let key = ObjectKey::new(Kind::Pod, namespace, name);
    world.store().get(&key).map(|pod| pod.key())
}

/// kubectl's view of a world.
struct Shell<'a>(&'a mut World);

impl Api for Shell<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.0.api().get(key, "").ok()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let options = ListOptions { namespace: namespace.map(Str::from), ..Default::default() };
        self.0.api().list(kind, &options).map(|listed| listed.items).unwrap_or_default()
    }

    fn request(&mut self, request: Request) -> Response {
        self.0.request(&request)
    }

    fn request_as(&mut self, request: Request, manager: &str) -> Response {
        self.0.request_as(&request, manager)
    }

    fn dry_run(&self, request: &Request) -> Response {
        self.0.dry_run(request)
    }

    fn dry_run_as(&self, request: &Request, manager: &str) -> Response {
        self.0.dry_run_as(request, manager)
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.0.now())
    }

    fn logs(&self, pod: &ObjectKey, container: &Str) -> Option<Vec<String>> {
        let kubelets = self.0.kubelets();
        kubelets.iter().find_map(|kubelet| kubelet.logs(pod, Some(container), false).ok())
    }

    fn written(&self, container_id: &str) -> Option<Written> {
        self.0.kubelets().iter().find_map(|kubelet| kubelet.written(container_id))
    }

    fn read_logs(
        &self,
        pod: &ObjectKey,
        container: &Str,
        previous: bool,
    ) -> Result<Vec<String>, String> {
        let read = |name: &str| {
            let node = self.0.node_number(name)?;
            Some(self.0.kubelets().get(usize::from(node))?.logs(pod, Some(container), previous))
        };
        let found = self.0.store().get(pod);
        let node = found.and_then(|pod| pod.as_pod()?.spec.node_name.clone());
        // A pod without a node has no kubelet to ask.
        node.and_then(|node| read(&node)).unwrap_or_else(|| {
            let name = &pod.name;
            Err(format!("pod {name} does not have a host assigned"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{In, Run, Scenario};
    use crate::world::LaneId;

    fn said(run: &mut Run, line: &str) -> (String, bool) {
        let answers = run.act(line, None, In::Level).expect("there is room");
        let (_, output) = answers.into_iter().find(|(lane, _)| *lane == LaneId::Level).expect("it");
        (output.text, output.error)
    }

    #[test]
    fn a_line_says_whether_it_reads_standard_input() {
        for line in ["kubectl apply -f -", "k delete --filename=-", "git push", "crowd 3"] {
            assert!(reads_input(line), "{line}");
            assert!(reads_input(&format!("in 5s {line}")), "{line}");
        }
        for line in
            ["kubectl get pods", "git revert", "load deploy/web cpu=1", "fault kill -f -", ""]
        {
            assert!(!reads_input(line), "{line}");
        }
    }

    #[test]
    fn a_crash_of_the_dead_is_refused_and_one_that_replaces_another_says_so() {
        let scenario = Scenario::read("test", "title: Test\n").expect("a scenario");
        let mut run = Run::new(Arc::new(scenario), 1, Vec::new());
        let first = said(&mut run, "fault crash replicaset");
        assert_eq!(first, ("fault crash replicaset point=beforeWrite\n".into(), false));
        let second = said(&mut run, "fault crash replicaset point=beforeRead");
        let expected = "fault crash replicaset point=beforeRead\ninstead of point=beforeWrite\n";
        assert_eq!(second, (expected.into(), false));
        said(&mut run, "fault kill replicaset");
        let refused = said(&mut run, "fault crash replicaset");
        let expected =
            "error: replicaset is dead and makes no pass; first: fault restart replicaset\n";
        assert_eq!(refused, (expected.into(), true));
        assert!(!said(&mut run, "fault restart replicaset").1);
        assert!(!said(&mut run, "fault crash replicaset").1);
    }
}
