//! When a container of a Job's pod ends by itself: it is meant to. The simulation runs no programs,
//! so of a command only what is plainly said is understood: `exit 3`, `sleep 20`, `false`. Anything
//! else takes five seconds and ends well, unless the scenario says how its image behaves. Init
//! containers and preStop hooks are understood only if nothing else stands in their command.

use std::time::Duration;

use crate::api::{Container, Value};

use super::image::ImageBehaviour;

/// How long a program takes of which nothing is known.
const USUAL: Duration = Duration::from_secs(5);
/// What a command takes that does nothing but end.
const AT_ONCE: Duration = Duration::from_secs(1);
/// A year: more than any run.
const LONGEST: u64 = 365 * 24 * 3600;

/// The behaviour of a container that is meant to end. What the image says
/// goes before what the command says.
pub fn to_its_end(behaviour: ImageBehaviour, container: &Container) -> ImageBehaviour {
    if behaviour.exits_after.is_some() {
        return behaviour;
    }
    let words = words(container);
    let after = |word: &str| {
        let at = words.iter().position(|other| other == word)?;
        words.get(at + 1)
    };
    let exit_code = after("exit").and_then(|code| code.parse::<u8>().ok());
    let sleep = after("sleep").map(|span| span.trim_end_matches('s'));
    if sleep.is_some_and(|span| span.starts_with("inf")) {
        return behaviour;
    }
    let sleep = sleep.and_then(|span| span.parse::<u64>().ok());
    let sleep = sleep.map(|seconds| Duration::from_secs(seconds.min(LONGEST)));
    let plain = words.len() == 1 && matches!(words[0].as_str(), "true" | "false");
    let fails = plain && words[0] == "false";
    let default = if exit_code.is_some() || plain { AT_ONCE } else { USUAL };
    ImageBehaviour {
        exits_after: Some(sleep.unwrap_or(default)),
        exit_code: exit_code.map_or(i32::from(fails), i32::from).max(behaviour.exit_code),
        ..behaviour
    }
}

/// The behaviour of an init container: that of a container that is meant to end, if its command
/// says nothing but how.
pub fn of_init(behaviour: ImageBehaviour, container: &Container) -> ImageBehaviour {
    let words = words(container);
    if words.is_empty() || !words.iter().all(|word| is_plain(word)) {
        return behaviour;
    }
    to_its_end(behaviour, container)
}

/// How long a hook's command takes, if it says nothing but that.
pub fn sleeps_for(command: &Value) -> Duration {
    let words = words_of(command.as_array().into_iter().flatten());
    let at =
        words.iter().position(|word| word == "sleep").filter(|_| words.iter().all(|w| is_plain(w)));
    let span = at.and_then(|at| words.get(at + 1)?.trim_end_matches('s').parse::<u64>().ok());
    Duration::from_secs(span.unwrap_or(0).min(LONGEST))
}

/// Whether a word is a shell, or says how a command ends.
fn is_plain(word: &str) -> bool {
    let known = ["sh", "bash", "-c", "-ec", "sleep", "exit", "true", "false"];
    let name = word.rsplit('/').next().unwrap_or(word);
    known.contains(&name) || name.trim_end_matches('s').parse::<u64>().is_ok()
}

/// The words of command and arguments.
fn words(container: &Container) -> Vec<String> {
    let list = |field: &str| container.rest.get(field).and_then(Value::as_array);
    words_of(["command", "args"].into_iter().filter_map(list).flatten())
}

fn words_of<'a>(texts: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|');
    texts
        .filter_map(Value::as_str)
        .flat_map(|text| text.split(is_break))
        .filter(|word| !word.is_empty())
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(command: Value) -> (Option<u64>, i32) {
        let container = json!({"name": "a", "command": command});
        let container = serde_json::from_value(container).expect("a container");
        let found = to_its_end(ImageBehaviour::default(), &container);
        (found.exits_after.map(|span| span.as_secs()), found.exit_code)
    }

    #[test]
    fn a_command_says_how_it_ends() {
        assert_eq!(of(json!(["sh", "-c", "exit 1"])), (Some(1), 1));
        assert_eq!(of(json!(["sh", "-c", "sleep 20; exit 3"])), (Some(20), 3));
        assert_eq!(of(json!(["false"])), (Some(1), 1));
        assert_eq!(of(json!(["perl", "-wle", "print bpi(2000)"])), (Some(5), 0));
        assert_eq!(of(json!(["sleep", "infinity"])), (None, 0));
    }

    #[test]
    fn an_init_container_is_understood_only_if_nothing_else_is_said() {
        let of = |command: Value| {
            let container = json!({"name": "a", "command": command});
            let container = serde_json::from_value(container).expect("a container");
            let found = of_init(ImageBehaviour::default(), &container);
            (found.exits_after.map(|span| span.as_secs()), found.exit_code)
        };
        assert_eq!(of(json!(["/bin/sh", "-c", "sleep 3; exit 2"])), (Some(3), 2));
        assert_eq!(of(json!(["sh", "-c", "[ -f /a ] || exit 1"])), (None, 0));
        assert_eq!(of(json!([])), (None, 0));
    }

    #[test]
    fn a_hook_sleeps_for_as_long_as_it_says() {
        let of = |command: Value| sleeps_for(&command).as_secs();
        assert_eq!(of(json!(["sleep", "5"])), 5);
        assert_eq!(of(json!(["/bin/sh", "-c", "sleep 15s"])), 15);
        assert_eq!(of(json!(["/bin/sh", "-c", "nginx -s quit; sleep 15"])), 0);
        assert_eq!(of(json!(null)), 0);
    }
}
