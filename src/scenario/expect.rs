//! Expectations of a scenario file, checked against a lane.

use std::sync::Arc;

use crate::api::{Condition, Kind, Object, Value, custom};
use crate::kernel::Time;
use crate::world::{Lane, World};

use super::format::{Count, EventWanted, Expectation, Field};
use super::shell;

/// Whether an expectation is met in a lane at this moment, and what was seen.
pub fn check(expectation: &Expectation, lane: &Lane, verdict: &str) -> Result<(), String> {
    if let Some(wanted) = expectation.verdict
        && wanted.word() != verdict
    {
        return Err(format!("the verdict is {verdict}"));
    }
    if let Some(count) = &expectation.count {
        check_count(count, &lane.world)?;
    }
    if let Some(field) = &expectation.field
        && field.takes.is_empty()
    {
        check_field(field, &lane.world)?;
    }
    if let Some(event) = &expectation.event {
        check_event(event, &lane.world)?;
    }
    match &expectation.kubectl {
        Some(line) => check_line(line, expectation, lane),
        None => Ok(()),
    }
}

/// An expectation in words.
pub fn describe(expectation: &Expectation) -> String {
    let when = match (&expectation.at, &expectation.within) {
        (_, Some((from, to))) => format!("within {:?}..{:?}", from.0, to.0),
        (Some(at), None) => format!("at {:?}", at.0),
        (None, None) => "at the end".to_string(),
    };
    let mut what = Vec::new();
    if let Some(verdict) = expectation.verdict {
        what.push(format!("verdict {}", verdict.word()));
    }
    if let Some(count) = &expectation.count {
        what.push(describe_count(count));
    }
    if let Some(field) = &expectation.field {
        let value = match (&field.is, &field.contains, field.takes.as_slice()) {
            (_, _, [_, ..]) => format!("takes {}", Value::Array(field.takes.clone())),
            (_, Some(words), _) => format!("contains {words:?}"),
            (Some(value), _, _) => format!("is {value}"),
            (None, None, _) => "is not set".to_string(),
        };
        what.push(format!("{} {} {value}", field.object, field.path));
    }
    if let Some(event) = &expectation.event {
        let reason = event.reason.as_deref().unwrap_or("any");
        what.push(format!("Event {reason} of {}", event.object));
    }
    if let Some(line) = &expectation.kubectl {
        what.push(format!("`{line}` prints {:?}", expectation.contains));
    }
    format!("{when}: {}", what.join(", "))
}

fn describe_count(count: &Count) -> String {
    let mut words = vec![count.kind.clone()];
    words.extend(count.selector.iter().map(|selector| format!("-l {selector}")));
    words.extend(count.phase.iter().cloned());
    words.extend(count.ready.map(|ready| if ready { "ready" } else { "not ready" }.to_string()));
    let number = match (count.is, count.min, count.max) {
        (Some(is), _, _) => format!("= {is}"),
        (None, Some(min), Some(max)) => format!("{min} to {max}"),
        (None, Some(min), None) => format!("≥ {min}"),
        (None, None, Some(max)) => format!("≤ {max}"),
        (None, None, None) => "any number".to_string(),
    };
    format!("{} {number}", words.join(" "))
}

/// Kubernetes' own kinds, and those that are defined in this world.
fn kind_of(text: &str, world: &World) -> Result<Kind, String> {
    let kind = custom::serving(world.served(), || Kind::of_argument(text));
    kind.ok_or_else(|| format!("there is no kind {text:?}"))
}

fn check_count(count: &Count, world: &World) -> Result<(), String> {
    let kind = kind_of(&count.kind, world)?;
    let selector = match &count.selector {
        Some(text) => Some(crate::api::selector::Selector::parse(text)?),
        None => None,
    };
    let namespace = count.namespace.as_deref().unwrap_or("default");
    let wanted = |object: &&Arc<Object>| {
        let meta = object.meta();
        (!kind.info().namespaced || *meta.namespace == *namespace)
            && selector.as_ref().is_none_or(|selector| selector.matches(&meta.labels))
            && count.phase.as_ref().is_none_or(|phase| {
                object.as_pod().is_some_and(|pod| format!("{:?}", pod.phase()) == *phase)
            })
            && count.ready.is_none_or(|ready| is_ready(object) == ready)
    };
    let found = world.store().list(kind).filter(wanted).count() as i64;
    let met = count.is.is_none_or(|is| found == is)
        && count.min.is_none_or(|min| found >= min)
        && count.max.is_none_or(|max| found <= max);
    if met { Ok(()) } else { Err(format!("there are {found}")) }
}

fn is_ready(object: &Object) -> bool {
    match object {
        Object::Pod(pod) => pod.is_ready(),
        Object::Node(node) => Condition::holds(&node.status.conditions, "Ready"),
        _ => false,
    }
}

/// The objects that `deploy/web`, `rs/web-*` or `pod/*` name, in any namespace.
fn named(world: &World, text: &str) -> Result<Vec<Arc<Object>>, String> {
    let (kind, name) = text.split_once('/').ok_or_else(|| format!("{text:?} is no kind/name"))?;
    let kind = kind_of(kind, world)?;
    let matches = |object: &&Arc<Object>| is_named(&object.meta().name, name);
    Ok(world.store().list(kind).filter(matches).cloned().collect())
}

fn is_named(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((prefix, suffix)) => {
            name.len() >= prefix.len() + suffix.len()
                && name.starts_with(prefix)
                && name.ends_with(suffix)
        }
        None => name == pattern,
    }
}

/// The value of a field in the first object that is named.
pub fn field_value(field: &Field, world: &World) -> Result<Value, String> {
    let objects = named(world, &field.object)?;
    let Some(object) = objects.first() else {
        return Err(format!("there is no {}", field.object));
    };
    Ok(at_path(&object.to_value(), &field.path))
}

fn check_field(field: &Field, world: &World) -> Result<(), String> {
    let value = match field_value(field, world) {
        // An object that is gone has no field either.
        Err(_) if field.is == Some(Value::Null) => return Ok(()),
        value => value?,
    };
    if let Some(words) = &field.contains {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        if !text.contains(words) {
            return Err(format!("it is {value}"));
        }
    }
    match &field.is {
        Some(is) if !same(is, &value) => Err(format!("it is {value}")),
        _ => Ok(()),
    }
}

/// Whether a field has a value; one that Kubernetes leaves out is zero, false or empty.
pub fn same(wanted: &Value, value: &Value) -> bool {
    wanted == value
        || (value.is_null()
            && (*wanted == 0
                || *wanted == false
                || *wanted == ""
                || *wanted == Value::Array(vec![])))
}

/// Follows `status.conditions[type=Available].status`, `spec.containers[0]`,
/// `metadata.labels['a.b']`.
fn at_path(value: &Value, path: &str) -> Value {
    let mut value = value;
    let mut rest = path.trim_start_matches('.');
    while !rest.is_empty() {
        let found = if let Some(inner) = rest.strip_prefix('[') {
            let Some((step, after)) = inner.split_once(']') else { return Value::Null };
            rest = after.trim_start_matches('.');
            in_brackets(value, step)
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after.trim_start_matches('.');
            value.get(name)
        };
        match found {
            Some(found) => value = found,
            None => return Value::Null,
        }
    }
    value.clone()
}

fn in_brackets<'a>(value: &'a Value, step: &str) -> Option<&'a Value> {
    if let Ok(index) = step.parse::<usize>() {
        return value.get(index);
    }
    let quoted = step.trim_matches(['\'', '"']);
    if quoted.len() != step.len() {
        return value.get(quoted);
    }
    let (key, wanted) = step.split_once('=')?;
    let has = |item: &&Value| match item.get(key) {
        Some(Value::String(text)) => text == wanted,
        Some(other) => serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *other),
        None => false,
    };
    value.as_array()?.iter().find(has)
}

fn check_event(wanted: &EventWanted, world: &World) -> Result<(), String> {
    let (kind, name) = wanted.object.split_once('/').unwrap_or((&wanted.object, "*"));
    let kind = kind_of(kind, world)?;
    let about: Vec<_> = world
        .store()
        .list(Kind::Event)
        .filter_map(|object| object.as_event())
        .filter(|event| {
            *event.involved_object.kind == *kind.info().kind
                && is_named(&event.involved_object.name, name)
        })
        .collect();
    let met = about.iter().any(|event| {
        wanted.reason.as_ref().is_none_or(|reason| *event.reason == **reason)
            && wanted.contains.as_ref().is_none_or(|words| event.message.contains(words))
    });
    if met {
        return Ok(());
    }
    let seen: Vec<String> =
        about.iter().rev().take(5).map(|e| format!("{}: {}", e.reason, e.message)).collect();
    Err(format!("its Events are {seen:?}"))
}

fn check_line(line: &str, expectation: &Expectation, lane: &Lane) -> Result<(), String> {
    let text = shell::perform(&mut lane.clone(), line, None).text;
    let missing = expectation.contains.iter().find(|words| !text.contains(*words));
    let surplus = expectation.lacks.iter().find(|words| text.contains(*words));
    match (missing, surplus) {
        (None, None) => Ok(()),
        (Some(words), _) => Err(format!("it does not print {words:?} but:\n{text}")),
        (_, Some(words)) => Err(format!("it prints {words:?}:\n{text}")),
    }
}

/// When an expectation is checked: at a moment, or from a moment on.
pub fn due(expectation: &Expectation, end: Time) -> Time {
    match (&expectation.at, &expectation.within) {
        (_, Some((from, _))) => Time::ZERO + from.0,
        (Some(at), None) => Time::ZERO + at.0,
        (None, None) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_goes_through_maps_lists_and_selectors() {
        let value = json!({"a": {"x.y/z": 1}, "c": [{"type": "Ready", "status": "True"}]});
        assert_eq!(at_path(&value, "a['x.y/z']"), 1);
        assert_eq!(at_path(&value, "c[type=Ready].status"), "True");
        assert_eq!(at_path(&value, "c[0].type"), "Ready");
        assert_eq!(at_path(&value, "c[9].type"), Value::Null);
        assert_eq!(at_path(&value, "c[type"), Value::Null);
    }

    #[test]
    fn a_star_stands_for_any_ending() {
        assert!(is_named("web-5d9", "web-*") && is_named("web", "web"));
        assert!(!is_named("we", "web-*") && !is_named("aba", "ab*ba"));
    }
}
