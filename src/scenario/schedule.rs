//! Lines with a moment: `at 12s fault kill replicaset`, `in 5s kubectl scale deploy web
//! --replicas=5`. The line is done at that moment as if somebody said it then.

use std::time::Duration;

use crate::kernel::Time;
use crate::kubectl;
use crate::world::Fault;

use super::format::parse_span;

/// The latest moment that a link can tell, and so for which something can be put off.
pub const LATEST: Time = Time::from_secs(3_600);

/// The moment and the rest of a line that begins with `at` or `in`; none if it does not. What can
/// be said to be wrong with the rest is said at once.
pub fn read(line: &str, now: Time) -> Result<Option<(Time, &str)>, String> {
    let Some((word, rest)) = first_word(line) else { return Ok(None) };
    if word != "at" && word != "in" {
        return Ok(None);
    }
    let Some((span, rest)) = first_word(rest) else {
        return Err(format!("{word}: when, and what? such as {word} 5s fault kill replicaset"));
    };
    let span = parse_span(span).map_err(|error| format!("{word}: {error}"))?;
    let at = if word == "at" { Time::ZERO + span } else { now + span };
    if at < now {
        let passed = humantime::format_duration(round(now));
        return Err(format!("at: that has passed, it is {passed} now; in 5s is from now on"));
    }
    if at > LATEST {
        return Err(format!("{word}: a run is told up to an hour; that is later"));
    }
    check(word, rest.trim())?;
    Ok(Some((at, rest.trim())))
}

fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn round(now: Time) -> Duration {
    Duration::from_millis(now.as_nanos() / 1_000_000)
}

fn check(word: &str, line: &str) -> Result<(), String> {
    match first_word(line) {
        None => Err(format!("{word}: what? such as {word} 5s fault kill replicaset")),
        Some(("at" | "in", _)) => Err(format!("{word}: takes one moment, not two")),
        _ if Fault::is_line(line) => {
            Fault::parse_line(line).map(|_| ()).map_err(|error| error.message)
        }
        Some(("git" | "load" | "crowd", _)) => Ok(()),
        _ => kubectl::parse(line).map(|_| ()).map_err(|error| error.to_string()),
    }
}

/// `at 12s`, as it is written.
pub fn moment(at: Time) -> String {
    format!("at {}", humantime::format_duration(round(at)).to_string().replace(' ', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_secs(4);

    #[test]
    fn a_line_may_begin_with_its_moment() {
        let kill = "fault kill replicaset";
        let read = |line| read(line, NOW);
        assert_eq!(read("at 12s fault kill replicaset"), Ok(Some((Time::from_secs(12), kill))));
        assert_eq!(read(" in 500ms  fault kill replicaset "), {
            Ok(Some((NOW + Duration::from_millis(500), kill)))
        });
        assert_eq!(read(kill), Ok(None));
        assert_eq!(read("kubectl get pods"), Ok(None));
        let line = "kubectl scale deploy web --replicas=2";
        assert_eq!(read(&format!("in 1m {line}")), Ok(Some((Time::from_secs(64), line))));
        assert_eq!(moment(Time::from_millis(61_500)), "at 1m1s500ms");
    }

    #[test]
    fn what_is_wrong_with_a_moment_or_with_its_line_is_said_at_once() {
        let refused = |line| read(line, NOW).expect_err(line);
        assert!(refused("at").contains("when, and what?"));
        assert!(refused("in soon fault kill replicaset").contains("90s, 1m30s"));
        assert!(refused("at 3s fault kill replicaset").contains("it is 4s now"));
        assert!(refused("in 2h fault kill replicaset").contains("up to an hour"));
        assert!(refused("in 5s").contains("what?"));
        assert!(refused("in 5s at 9s fault kill replicaset").contains("one moment"));
        assert!(refused("in 5s fault explode").contains("there are kill"));
        assert!(refused("in 5s kubectl explode").contains("explode"));
    }
}
