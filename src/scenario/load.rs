//! `load:` of a scenario file, and the console line `load deploy/web cpu=200m`: what the metrics
//! server will report of a workload's pods from a moment on.

use crate::api::{Kind, ObjectKey, Quantity, Str, Value};
use crate::kernel::Time;
use crate::world::{LOADS_MAX, Load, World};

use super::format::{Span, parse_span};

/// Reads one entry: `{at, target, cpu, memory, metrics: {...}}`, each pod; under `total:` the same
/// for all ready pods together, where a bare quantity means cpu.
pub fn read(value: &Value) -> Result<Vec<Load>, String> {
    let Value::Object(map) = value else { return Err("load: takes a list of maps".into()) };
    let at = match map.get("at") {
        None => Span::default(),
        Some(at) => Span(parse_span(&plain(at))?),
    };
    let at = Time::ZERO + at.0;
    let target = map.get("target").and_then(Value::as_str).ok_or("load: needs a target")?;
    let target = parse_target(target)?;
    let mut loads = Vec::new();
    let mut add = |metric: &str, value: &Value, total: bool| -> Result<(), String> {
        let milli = quantity(value)?;
        loads.push(Load { at, target: target.clone(), metric: metric.into(), milli, total });
        Ok(())
    };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("at" | "target", _) => {}
            ("cpu" | "memory", value) => add(key, value, false)?,
            ("metrics", Value::Object(metrics)) => {
                metrics.iter().try_for_each(|(name, value)| add(name, value, false))?;
            }
            ("total", Value::Object(metrics)) => {
                metrics.iter().try_for_each(|(name, value)| add(name, value, true))?;
            }
            ("total", value) => add("cpu", value, true)?,
            (key, _) => {
                let known = "at, target, cpu, memory, metrics, total";
                return Err(format!("load: unknown key {key:?}; there are {known}"));
            }
        }
    }
    match loads.is_empty() {
        true => Err("load: says nothing of cpu, memory, metrics or total".into()),
        false => Ok(loads),
    }
}

/// Does the console line.
pub fn perform(world: &mut World, line: &str) -> Result<String, String> {
    let mut words = line.split_whitespace().skip(1);
    let target = parse_target(words.next().ok_or("which workload? such as deploy/web cpu=200m")?)?;
    let (mut total, mut loads) = (false, Vec::new());
    for word in words {
        match word.split_once('=') {
            None if word == "total" => total = true,
            None => return Err(format!("{word:?} is no metric such as cpu=200m")),
            Some((metric, value)) => {
                let milli = quantity(&value.into())?;
                let (at, target) = (world.now(), target.clone());
                loads.push(Load { at, target, metric: metric.into(), milli, total });
            }
        }
    }
    if loads.is_empty() {
        return Err("how much? such as cpu=200m, or total cpu=2".into());
    }
    if !world.takes_loads(loads.len()) {
        return Err(format!("load: a run takes {LOADS_MAX} at most, and has them"));
    }
    loads.into_iter().for_each(|load| world.set_load(Load { total, ..load }));
    Ok(format!("{line}\n"))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn quantity(value: &Value) -> Result<i64, String> {
    let text = plain(value);
    let quantity = Quantity::parse(&text).map_err(|error| format!("{text:?}: {error}"))?;
    Ok(quantity.milli_value().max(0))
}

/// `deploy/web`, `namespace/deploy/web`, or a pod.
fn parse_target(text: &str) -> Result<ObjectKey, String> {
    let words: Vec<&str> = text.split('/').collect();
    let (namespace, kind, name) = match words[..] {
        [kind, name] => ("default", kind, name),
        [namespace, kind, name] => (namespace, kind, name),
        _ => return Err(format!("{text:?} is no workload such as deploy/web")),
    };
    let kind = Kind::of_argument(kind).ok_or_else(|| format!("there is no kind {kind:?}"))?;
    Ok(ObjectKey::new(kind, Str::from(namespace), name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_may_name_several_metrics_each_or_together() {
        let value = json!({"at": "10s", "target": "deploy/web", "cpu": "80m", "memory": "1Gi"});
        let loads = read(&value).unwrap();
        assert_eq!(loads.len(), 2);
        assert!(loads.iter().all(|load| load.at == Time::from_secs(10) && !load.total));
        let loads = read(&json!({"target": "a/sts/db", "total": 2})).unwrap();
        assert_eq!((&*loads[0].metric, loads[0].milli, loads[0].total), ("cpu", 2_000, true));
        assert_eq!(&*loads[0].target.namespace, "a");
    }

    #[test]
    fn one_too_many_is_refused_with_words() {
        let mut world = World::new(crate::world::Options::default());
        for n in 0..LOADS_MAX {
            perform(&mut world, &format!("load deploy/web-{n} cpu=1")).unwrap();
        }
        let error = perform(&mut world, "load deploy/web cpu=1").unwrap_err();
        assert!(error.contains("2000 at most"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (value, words) in [
            (json!({"cpu": "1"}), "needs a target"),
            (json!({"target": "web", "cpu": "1"}), "no workload"),
            (json!({"target": "deploy/web"}), "says nothing"),
            (json!({"target": "deploy/web", "cpus": "1"}), "unknown key"),
            (json!({"target": "deploy/web", "cpu": "many"}), "many"),
        ] {
            let error = read(&value).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
