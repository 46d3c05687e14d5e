//! When a container of a Job's pod ends by itself: it is meant to. The simulation runs no programs,
//! so of a command only what is plainly said is understood: `exit 3`, `sleep 20`, `false`. Anything
//! else takes five seconds and ends well, unless the scenario says how its image behaves.

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

/// The words of command and arguments.
fn words(container: &Container) -> Vec<String> {
    let list = |field: &str| container.rest.get(field).and_then(Value::as_array);
    let texts = ["command", "args"].into_iter().filter_map(list).flatten();
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
}
