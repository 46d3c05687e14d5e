//! Expectations of a scenario file in words, as a report prints them.

use std::time::Duration;

use crate::api::Value;

use super::expectation::{Count, EventWanted, Expectation, Field, Work};

/// An expectation in words.
pub fn describe(expectation: &Expectation) -> String {
    let span = |(from, to): &(super::format::Span, super::format::Span)| {
        format!("{}..{}", short(from.0), short(to.0))
    };
    let when = match (&expectation.at, &expectation.within, &expectation.always) {
        (_, Some(window), _) => format!("within {}", span(window)),
        (_, _, Some(window)) => format!("throughout {}", span(window)),
        (Some(at), ..) => format!("at {}", short(at.0)),
        _ => "at the end".to_string(),
    };
    format!("{when}: {}", what(expectation))
}

fn short(span: Duration) -> String {
    humantime::format_duration(span).to_string().replace(' ', "")
}

/// The expectation without its time.
pub fn what(expectation: &Expectation) -> String {
    let mut what = Vec::new();
    what.extend(expectation.verdict.map(|verdict| format!("verdict {}", verdict.word())));
    what.extend(expectation.count.as_ref().map(count));
    what.extend(expectation.field.as_ref().map(field));
    what.extend(expectation.event.as_ref().map(event));
    what.extend(expectation.passes.as_ref().map(|passes| work("passes", passes)));
    what.extend(expectation.calls.as_ref().map(|calls| work("requests", calls)));
    if let Some(line) = &expectation.kubectl {
        what.push(format!("`{line}` prints {}", expectation.contains));
        if !expectation.lacks.0.is_empty() {
            what.push(format!("not {}", expectation.lacks));
        }
    }
    if !expectation.order.is_empty() {
        let steps: Vec<String> = expectation.order.iter().map(self::what).collect();
        what.push(steps.join(", then "));
    }
    what.join(", ")
}

fn number(is: Option<i64>, min: Option<i64>, max: Option<i64>) -> String {
    match (is, min, max) {
        (Some(is), _, _) => format!("= {is}"),
        (None, Some(min), Some(max)) => format!("{min} to {max}"),
        (None, Some(min), None) => format!("≥ {min}"),
        (None, None, Some(max)) => format!("≤ {max}"),
        (None, None, None) => "any number".to_string(),
    }
}

fn count(count: &Count) -> String {
    let mut words = vec![count.kind.clone()];
    words.extend(count.name.clone());
    words.extend(count.selector.iter().map(|selector| format!("-l {selector}")));
    words.extend(count.namespace.iter().map(|namespace| format!("-n {namespace}")));
    words.extend(count.phase.clone());
    words.extend(count.ready.map(|ready| if ready { "ready" } else { "not ready" }.to_string()));
    let going = |is| if is { "terminating" } else { "not terminating" }.to_string();
    words.extend(count.terminating.map(going));
    words.extend(count.with.iter().map(|(path, value)| format!("{path}={value}")));
    words.push(number(count.is, count.min, count.max));
    words.join(" ")
}

fn field(field: &Field) -> String {
    let mut words = vec![format!("{} {}", field.object, field.path)];
    let mut add = |word: &str, value: &Option<Value>| {
        words.extend(value.as_ref().map(|value| format!("{word} {value}")));
    };
    add("is", &field.is);
    add("is not", &field.not);
    add("≥", &field.min);
    add("≤", &field.max);
    words.extend(field.contains.as_ref().map(|text| format!("contains {text:?}")));
    words.extend(field.same.as_ref().map(|path| format!("is as {path}")));
    words.extend(field.unlike.as_ref().map(|path| format!("is not as {path}")));
    words.extend(field.changes.map(|is| if is { "changes" } else { "does not change" }.into()));
    if !field.takes.is_empty() {
        words.push(format!("takes {}", Value::Array(field.takes.clone())));
    }
    words.join(" ")
}

fn event(event: &EventWanted) -> String {
    let mut words = vec![format!("Event {}", event.reason.as_deref().unwrap_or("any"))];
    words.push(format!("of {}", event.object));
    words.extend(event.kind.clone());
    if !event.contains.0.is_empty() {
        words.push(event.contains.to_string());
    }
    if event.is.or(event.min).or(event.max).is_some() {
        words.push(number(event.is, event.min, event.max));
    }
    words.join(" ")
}

fn work(what: &str, work: &Work) -> String {
    let mut words = vec![what.to_string()];
    words.extend(work.by.as_ref().map(|by| format!("by {by}")));
    words.extend(work.of.as_ref().map(|of| format!("over {of}")));
    words.extend(work.verb.clone());
    words.extend(work.kind.clone());
    words.extend(work.code.map(|code| format!("answered {code}")));
    words.extend(work.error.as_ref().map(|error| format!("failing with {error:?}")));
    if work.since.0 > Duration::ZERO {
        words.push(format!("since {}", short(work.since.0)));
    }
    words.push(number(work.is, work.min, work.max));
    words.join(" ")
}
