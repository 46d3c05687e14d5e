//! Completion of fault and knob lines, of the lines that reach outside of the cluster, and of the
//! moment before any line.

use crate::api::Kind;
use crate::kubectl::Completion;
use crate::world::{ControllerId, CrashPoint, KNOBS, Lane, Manner};

/// The verbs of faults.
const FAULTS: [&str; 18] = [
    "apiserver",
    "compact",
    "container",
    "crash",
    "cut",
    "delay",
    "drop",
    "duplicate",
    "fail",
    "hold",
    "kill",
    "knob",
    "leader",
    "node",
    "release",
    "reorder",
    "restart",
    "resync",
];

/// Verbs that are about one process, named right after them.
const OF_PROCESS: [&str; 7] = ["crash", "cut", "kill", "knob", "leader", "restart", "resync"];
/// Verbs that are about watch events.
const OF_EVENT: [&str; 6] = ["delay", "drop", "duplicate", "hold", "release", "reorder"];

/// First words of lines that are no kubectl lines, and whether such a line can be put off: it does
/// something.
const OWN: [(&str, bool); 6] = [
    ("fault", true),
    ("knob", true),
    ("git", true),
    ("load", true),
    ("crowd", true),
    ("ledger", false),
];
/// Kinds whose pods a load can be of.
const LOADED: [Kind; 6] =
    [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicaSet, Kind::Job, Kind::Pod];

/// How far a line has a moment before it: the byte at which the line itself begins.
pub fn after_moment(before: &str) -> usize {
    let mut words = before.split_inclusive(char::is_whitespace);
    let (Some(first), Some(second), Some(_)) = (words.next(), words.next(), words.next()) else {
        let ends = before.ends_with(char::is_whitespace);
        let two = before.split_whitespace().count() == 2 && ends;
        return if two && has_moment(before) { before.len() } else { 0 };
    };
    if has_moment(before) { first.len() + second.len() } else { 0 }
}

fn has_moment(before: &str) -> bool {
    matches!(before.split_whitespace().next(), Some("at" | "in"))
}

/// The first words of lines that are no kubectl lines, typed up to the cursor.
pub fn first_words(before: &str, put_off: bool) -> impl Iterator<Item = Completion> + '_ {
    let own = OWN.iter().filter(move |(word, does)| {
        // What can be put off is what does something.
        word.starts_with(before) && (*does || !put_off)
    });
    own.map(|(word, _)| Completion { start: 0, text: (*word).into(), ends: true })
}

/// What may come next on a line that is no kubectl line, typed up to the cursor; none if it is one.
pub fn of_own(lane: &Lane, before: &str) -> Option<Vec<Completion>> {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let typed = &before[start..];
    let words: Vec<&str> = before[..start].split_whitespace().collect();
    let next = match words.split_first()? {
        (&"fault", rest) => next_words(lane, rest, typed),
        (&"knob", _) => next_words(lane, &words, typed),
        (&"git", []) => owned(&["log", "push", "revert"]),
        (&"load", []) => loaded(lane, typed),
        (&"load", rest) => {
            let said = |word: &String| rest.iter().any(|said| said.starts_with(word.as_str()));
            let all = owned(&["cpu=", "memory=", "total"]);
            all.into_iter().filter(|word| !said(word)).collect()
        }
        (&("git" | "crowd" | "ledger"), _) => Vec::new(),
        _ => return None,
    };
    let fits = next.into_iter().filter(|word| word.starts_with(typed));
    let offer = |text: String| Completion { start, ends: !text.ends_with('='), text };
    Some(fits.map(offer).collect())
}

/// `deploy/web`, by the word for the kind that was typed, else by its short name.
fn loaded(lane: &Lane, typed: &str) -> Vec<String> {
    let word = typed.split_once('/').map(|(word, _)| word);
    let kinds = match word {
        Some(word) => Kind::of_argument(word).into_iter().collect(),
        None => LOADED.to_vec(),
    };
    let names = kinds.into_iter().filter(|kind| LOADED.contains(kind)).flat_map(|kind| {
        let info = kind.info();
        let word = word.or(info.short.first().copied()).unwrap_or(info.plural);
        lane.world.store().list(kind).map(move |object| {
            let meta = object.meta();
            match &*meta.namespace {
                "default" => format!("{word}/{}", meta.name),
                namespace => format!("{namespace}/{word}/{}", meta.name),
            }
        })
    });
    names.collect()
}

fn next_words(lane: &Lane, words: &[&str], typed: &str) -> Vec<String> {
    let Some((verb, rest)) = words.split_first() else {
        return owned(&FAULTS);
    };
    if let Some((key, _)) = typed.split_once('=') {
        let values = values_of(lane, verb, key);
        return values.into_iter().map(|value| format!("{key}={value}")).collect();
    }
    if OF_PROCESS.contains(verb) && rest.is_empty() {
        return targets(lane);
    }
    let keys: Vec<String> = match *verb {
        "knob" => KNOBS.iter().map(|knob| format!("{knob}=")).collect(),
        "apiserver" if rest.is_empty() => owned(&["down", "slow", "throttle"]),
        "node" if rest.is_empty() => nodes(lane),
        "node" => owned(&["power=", "network="]),
        "crash" => owned(&["point="]),
        "delay" => owned(&["to=", "kind=", "type=", "name=", "count=", "by=", "at="]),
        verb if OF_EVENT.contains(&verb) => {
            owned(&["to=", "kind=", "type=", "name=", "count=", "at="])
        }
        "fail" => owned(&["from=", "verb=", "kind=", "with=", "count="]),
        "leader" => owned(&["replicas=2", "paused", "for="]),
        "kill" | "cut" | "apiserver" => owned(&["for="]),
        _ => Vec::new(),
    };
    let said = |key: &String| rest.iter().any(|word| word.starts_with(key.as_str()));
    keys.into_iter().filter(|key| !said(key)).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn targets(lane: &Lane) -> Vec<String> {
    let kubelets = nodes(lane).into_iter().map(|node| format!("kubelet/{node}"));
    ControllerId::central_names().map(str::to_string).chain(kubelets).collect()
}

fn nodes(lane: &Lane) -> Vec<String> {
    let kubelets = lane.world.kubelets().iter();
    kubelets.map(|kubelet| kubelet.node_name().to_string()).collect()
}

fn values_of(lane: &Lane, verb: &str, key: &str) -> Vec<String> {
    let fixed: &[&str] = match (verb, key) {
        (_, "to" | "from") => return targets(lane),
        (_, "flavour") => return owned(&Manner::ALL.map(Manner::word)),
        (_, "point") => return owned(&CrashPoint::ALL.map(CrashPoint::word)),
        (_, "type") => &["ADDED", "MODIFIED", "DELETED"],
        (_, "at") => &["door", "wire"],
        (_, "power") => &["off", "on"],
        (_, "network") => &["cut", "restored"],
        (_, "kind") => &["Pod", "ReplicaSet", "Deployment", "Node"],
        ("fail", "verb") => &["create", "update", "patch", "delete", "bind", "evict"],
        ("fail", "with") => {
            &["timeout", "conflict", "forbidden", "throttled", "internal", "unavailable"]
        }
        ("knob", "relistOnStart" | "expectations" | "dedup" | "ignoresTimeouts") => {
            &["true", "false"]
        }
        ("knob", "informerQueue") => &["inOrder", "perKey"],
        _ => &[],
    };
    owned(fixed)
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    fn offered(line: &str) -> Vec<String> {
        let scenario = Scenario::read("", "title: x\ncluster: {nodes: 2}\n").unwrap();
        let mut simulation = scenario.simulation(1);
        let web = "create deployment web --image=registry.example/web:1";
        crate::scenario::perform(&mut simulation.lanes[0], web, None);
        let found = crate::scenario::completions(&simulation.lanes[0], line, line.len());
        let whole = |one: crate::kubectl::Completion| format!("{}{}", &line[..one.start], one.text);
        found.into_iter().map(whole).collect()
    }

    #[test]
    fn a_fault_line_is_completed_word_by_word() {
        assert_eq!(offered("fault rel"), ["fault release"]);
        assert_eq!(offered("fault kill rep"), ["fault kill replicaset"]);
        assert_eq!(offered("fault hold to=kubelet/"), {
            ["fault hold to=kubelet/node-1", "fault hold to=kubelet/node-2"]
        });
        assert_eq!(offered("fault crash replicaset point=before"), {
            ["beforeRead", "beforeWrite", "beforeStatus"]
                .map(|point| format!("fault crash replicaset point={point}"))
        });
    }

    #[test]
    fn a_knob_line_is_completed_with_or_without_fault_before_it() {
        for start in ["", "fault "] {
            let line = format!("{start}knob replicaset flavour=edge-r");
            let both = ["edge-relist", "edge-resync"];
            assert_eq!(
                offered(&line),
                both.map(|word| { format!("{start}knob replicaset flavour={word}") })
            );
            assert_eq!(offered(&format!("{start}knob replicaset wor")), {
                [format!("{start}knob replicaset workers=")]
            });
        }
        assert!(
            !offered("knob replicaset workers=2 ").iter().any(|line| line.ends_with("workers="))
        );
    }

    #[test]
    fn lines_that_reach_outside_of_the_cluster_are_completed() {
        for word in ["git", "load", "crowd", "fault", "knob", "ledger", "at", "in", "kubectl"] {
            let typed = &word[..word.len() - 1];
            assert!(offered(typed).contains(&word.to_string()), "{typed}");
        }
        assert_eq!(offered("git "), ["git log", "git push", "git revert"]);
        assert_eq!(offered("load dep"), ["load deploy/web"]);
        assert_eq!(offered("load deployment/"), ["load deployment/web"]);
        assert_eq!(offered("load pod"), Vec::<String>::new(), "there is no pod yet");
        assert_eq!(offered("load deploy/web c"), ["load deploy/web cpu="]);
        let more = ["memory=", "total"].map(|word| format!("load deploy/web cpu=2 {word}"));
        assert_eq!(offered("load deploy/web cpu=2 "), more);
        assert_eq!(offered("crowd 3 "), Vec::<String>::new());
        assert_eq!(offered("in 5s g"), ["in 5s get", "in 5s git"]);
        assert_eq!(offered("at 1m load dep"), ["at 1m load deploy/web"]);
    }

    #[test]
    fn a_line_with_a_moment_is_completed_as_the_line_itself() {
        assert_eq!(offered("in 5s fault kill rep"), ["in 5s fault kill replicaset"]);
        assert_eq!(offered("at 1m kubectl cord"), ["at 1m kubectl cordon"]);
        assert!(offered("in 5s ").contains(&"in 5s fault".to_string()));
        // A line that only reads cannot be put off.
        assert!(offered("led").contains(&"ledger".to_string()));
        assert!(!offered("in 5s ").contains(&"in 5s ledger".to_string()));
    }
}
