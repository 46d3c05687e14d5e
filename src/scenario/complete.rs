//! Completion of fault and knob lines, and of the moment before any line.

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

/// What may come next on a fault line, typed up to the cursor; none if it is no fault line.
pub fn of_fault(lane: &Lane, before: &str) -> Option<Vec<Completion>> {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let typed = &before[start..];
    let mut words: Vec<&str> = before[..start].split_whitespace().collect();
    if words.first() == Some(&"fault") {
        words.remove(0);
    } else if words.first() != Some(&"knob") {
        return None;
    }
    let fits = next_words(lane, &words, typed).into_iter().filter(|word| word.starts_with(typed));
    let offer = |text: String| Completion { start, ends: !text.ends_with('='), text };
    Some(fits.map(offer).collect())
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
        let simulation = scenario.simulation(1);
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
    fn a_line_with_a_moment_is_completed_as_the_line_itself() {
        assert_eq!(offered("in 5s fault kill rep"), ["in 5s fault kill replicaset"]);
        assert_eq!(offered("at 1m kubectl cord"), ["at 1m kubectl cordon"]);
        assert!(offered("in 5s ").contains(&"in 5s fault".to_string()));
        // A line that only reads cannot be put off.
        assert!(offered("led").contains(&"ledger".to_string()));
        assert!(!offered("in 5s ").contains(&"in 5s ledger".to_string()));
    }
}
