//! Expectations of a scenario file, checked against a lane of a run.

use std::sync::Arc;

use crate::api::{Condition, Kind, Object, ObjectKey, Quantity, Value, custom};
use crate::kernel::Time;
use crate::world::{LaneId, Occurrence, PassRecord, World};

use super::expectation::{Count, EventWanted, Expectation, Field, Work, fits};
use super::run::Run;
use super::shell;
use super::story::Told;

/// Whether an expectation is met in a lane at this moment, and what was seen. What takes a window
/// (`takes`, `changes`, `order`) is left to whoever looks at each moment of it.
pub fn check(expectation: &Expectation, run: &Run, id: LaneId) -> Result<(), String> {
    let Some(lane) = run.lane(id) else { return Err("there is no such lane".into()) };
    if let Some(wanted) = expectation.verdict {
        let verdict = run.verdict(id);
        if wanted.word() != verdict.word() {
            return Err(format!("the verdict is {}", verdict.word()));
        }
    }
    if let Some(count) = &expectation.count {
        check_count(count, &lane.world)?;
    }
    if let Some(field) = &expectation.field {
        check_field(field, &lane.world)?;
    }
    if let Some(event) = &expectation.event {
        check_event(event, &lane.world)?;
    }
    if let Some(passes) = &expectation.passes {
        check_work(passes, run, id, |_| 1)?;
    }
    if let Some(calls) = &expectation.calls {
        check_work(calls, run, id, |pass| requests(calls, pass))?;
    }
    match &expectation.kubectl {
        Some(line) => check_line(line, expectation, run, id),
        None => Ok(()),
    }
}

/// Kubernetes' own kinds, and those that are defined in this world.
fn kind_of(text: &str, world: &World) -> Result<Kind, String> {
    let find = || Kind::of_argument(text).or_else(|| Kind::of_message(text));
    let kind = custom::serving(world.served(), find);
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
        (!kind.info().namespaced || namespace == "*" || *meta.namespace == *namespace)
            && selector.as_ref().is_none_or(|selector| selector.matches(&meta.labels))
            && count.name.as_ref().is_none_or(|name| is_named(&meta.name, name))
            && count.terminating.is_none_or(|going| meta.is_terminating() == going)
            && count.phase.as_ref().is_none_or(|phase| {
                object.as_pod().is_some_and(|pod| format!("{:?}", pod.phase()) == *phase)
            })
            && count.ready.is_none_or(|ready| is_ready(object) == ready)
            && has_fields(object, count)
    };
    let found = world.store().list(kind).filter(wanted).count() as i64;
    let met = fits(found, count.is, count.min, count.max);
    if met { Ok(()) } else { Err(format!("there are {found}")) }
}

fn has_fields(object: &Object, count: &Count) -> bool {
    if count.with.is_empty() {
        return true;
    }
    let value = object.to_value();
    count.with.iter().all(|(path, wanted)| same(wanted, &at_path(&value, path)))
}

fn is_ready(object: &Object) -> bool {
    match object {
        Object::Pod(pod) => pod.is_ready(),
        Object::Node(node) => Condition::holds(&node.status.conditions, "Ready"),
        _ => false,
    }
}

/// The objects that `deploy/web`, `rs/web-*` or `pod/*` name, in any namespace, or `a/deploy/web`
/// in one.
pub(super) fn named(world: &World, text: &str) -> Result<Vec<Arc<Object>>, String> {
    let words: Vec<&str> = text.split('/').collect();
    let (namespace, kind, name) = match words[..] {
        [kind, name] => (None, kind, name),
        [namespace, kind, name] => (Some(namespace), kind, name),
        _ => return Err(format!("{text:?} is no kind/name")),
    };
    let kind = kind_of(kind, world)?;
    let matches = |object: &&Arc<Object>| {
        is_named(&object.meta().name, name)
            && namespace.is_none_or(|namespace| *object.meta().namespace == *namespace)
    };
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

/// Of several objects that are named, one that fits is enough.
fn check_field(field: &Field, world: &World) -> Result<(), String> {
    let objects = named(world, &field.object)?;
    let mut seen = format!("there is no {}", field.object);
    for object in &objects {
        match check_value(field, &object.to_value()) {
            Ok(()) => return Ok(()),
            Err(error) => seen = error,
        }
    }
    // An object that is gone has no field either.
    let gone = objects.is_empty() && field.is == Some(Value::Null);
    if gone { Ok(()) } else { Err(seen) }
}

fn check_value(field: &Field, object: &Value) -> Result<(), String> {
    let value = at_path(object, &field.path);
    let other = |path: &Option<String>| path.as_ref().map(|path| at_path(object, path));
    let milli = amount(&value);
    let bound = |bound: &Option<Value>, holds: fn(i64, i64) -> bool| {
        let Some(bound) = bound else { return true };
        milli.zip(amount(bound)).is_some_and(|(milli, bound)| holds(milli, bound))
    };
    let text = || value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let met = field.contains.as_ref().is_none_or(|words| text().contains(words))
        && field.is.as_ref().is_none_or(|is| same(is, &value))
        && field.not.as_ref().is_none_or(|not| !same(not, &value))
        && bound(&field.min, |milli, bound| milli >= bound)
        && bound(&field.max, |milli, bound| milli <= bound)
        && other(&field.same).is_none_or(|other| other == value)
        && other(&field.unlike).is_none_or(|other| other != value);
    if met { Ok(()) } else { Err(format!("it is {value}")) }
}

/// A number or a quantity, in thousandths; what is not there is nothing.
fn amount(value: &Value) -> Option<i64> {
    let text = match value {
        Value::Null => return Some(0),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Quantity::parse(&text).ok().map(|quantity| quantity.milli_value())
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
    let fitting = about.iter().filter(|event| {
        wanted.reason.as_ref().is_none_or(|reason| *event.reason == **reason)
            && wanted.kind.as_ref().is_none_or(|kind| format!("{:?}", event.kind) == *kind)
            && wanted.contains.missing_in(&event.message).is_none()
    });
    let told: i64 = fitting.map(|event| i64::from(event.count.max(1))).sum();
    let least = if wanted.is.is_none() && wanted.max.is_none() { Some(1) } else { None };
    if fits(told, wanted.is, wanted.min.or(least), wanted.max) {
        return Ok(());
    }
    let seen: Vec<String> = about
        .iter()
        .rev()
        .take(5)
        .map(|e| format!("{} (x{}): {}", e.reason, e.count, e.message))
        .collect();
    Err(format!("told {told} times; its Events are {seen:?}"))
}

/// The sum over the passes that were meant, up to now.
fn check_work(
    work: &Work,
    run: &Run,
    id: LaneId,
    weight: impl Fn(&PassRecord) -> i64,
) -> Result<(), String> {
    let since = Time::ZERO + work.since.0;
    let past = run.past(id);
    let past = &past[past.partition_point(|entry| entry.at < since)..];
    let passes = past.iter().filter_map(|entry| match &entry.what {
        Told::World(Occurrence::PassEnded(pass)) => Some(pass),
        _ => None,
    });
    let found = passes.filter(|pass| is_meant(work, pass)).map(|pass| weight(pass)).sum();
    let met = fits(found, work.is, work.min, work.max);
    if met { Ok(()) } else { Err(format!("there were {found}")) }
}

fn is_meant(work: &Work, pass: &PassRecord) -> bool {
    let own = |name: &String| *name == pass.controller.to_string();
    let failed = |words: &String| pass.error.as_ref().is_some_and(|error| error.contains(words));
    let about = |of: &String| {
        let (kind, name) = of.split_once('/').unwrap_or((of, "*"));
        is_of_kind(&pass.key, kind) && is_named(&pass.key.name, name)
    };
    work.by.as_ref().is_none_or(own)
        && work.error.as_ref().is_none_or(failed)
        && work.of.as_ref().is_none_or(about)
}

fn is_of_kind(key: &ObjectKey, kind: &str) -> bool {
    let info = key.kind.info();
    let known = Kind::of_argument(kind).or_else(|| Kind::of_message(kind));
    known == Some(key.kind) || info.kind.eq_ignore_ascii_case(kind) || info.plural == kind
}

fn requests(work: &Work, pass: &PassRecord) -> i64 {
    let meant = pass.acts.iter().filter(|act| {
        let code = act.outcome.as_ref().map_or_else(|(code, _)| *code, |_| 200);
        let verb = format!("{:?}", act.verb).to_ascii_lowercase();
        work.verb.as_ref().is_none_or(|wanted| *wanted == verb)
            && work.kind.as_ref().is_none_or(|kind| is_of_kind(&act.object, kind))
            && work.code.is_none_or(|wanted| wanted == code)
    });
    meant.count() as i64
}

fn check_line(line: &str, wanted: &Expectation, run: &Run, id: LaneId) -> Result<(), String> {
    let Some(lane) = run.lane(id) else { return Ok(()) };
    let text = shell::perform(&mut lane.clone(), line, None).text;
    match (wanted.contains.missing_in(&text), wanted.lacks.found_in(&text)) {
        (None, None) => Ok(()),
        (Some(words), _) => Err(format!("it does not print {words:?} but:\n{text}")),
        (_, Some(words)) => Err(format!("it prints {words:?}:\n{text}")),
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
