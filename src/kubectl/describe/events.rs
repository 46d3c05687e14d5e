//! The Events of an object, below it (`DescribeEvents`).

use std::sync::Arc;

use crate::api::{Event, EventType, Kind, Object, Timestamp, Value};
use crate::kubectl::Api;
use crate::kubectl::duration::age;

use super::sheet::Sheet;

/// Adds them, oldest first.
pub fn events(object: &Object, api: &dyn Api, sheet: &mut Sheet) {
    let meta = object.meta();
    let namespace = if meta.namespace.is_empty() { None } else { Some(&*meta.namespace) };
    let mut events = api.list(Kind::Event, namespace);
    events.retain(|event: &Arc<Object>| match &**event {
        Object::Event(event) => {
            let about = &event.involved_object;
            *about.kind == *object.kind().info().kind
                && about.name == meta.name
                && (about.uid.is_empty() || about.uid == meta.uid)
        }
        _ => false,
    });
    // Of one second, in the order in which they were made, as their names have it in a cluster.
    events.sort_by_key(|event| {
        let last = event.as_event().and_then(|event| event.last_timestamp);
        (last, event.meta().resource_version)
    });
    let rows: Vec<Vec<String>> = events
        .iter()
        .filter_map(|event| event.as_event().map(|event| row(event, api.now())))
        .collect();
    match rows.is_empty() {
        true => sheet.field("Events", "<none>"),
        false => sheet.table("Events", &["Type", "Reason", "Age", "From", "Message"], &rows),
    }
}

fn row(event: &Event, now: Timestamp) -> Vec<String> {
    // Newer Events have an eventTime and a series instead of the two timestamps and the count.
    let rest = |field: &str| event.rest.get(field);
    let time = |value: Option<&Value>| value.and_then(Value::as_str).and_then(Timestamp::parse);
    let first = age(time(rest("eventTime")).or(event.first_timestamp), now);
    let series = rest("series").filter(|series| series.is_object());
    let when = match series {
        Some(series) => {
            let (count, last) = (&series["count"], time(series.get("lastObservedTime")));
            format!("{} (x{count} over {first})", age(last, now))
        }
        None if event.count > 1 => {
            format!("{} (x{} over {first})", age(event.last_timestamp, now), event.count)
        }
        None => first,
    };
    let kind = match event.kind {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    let from = match &*event.source.component {
        "" => rest("reportingComponent").and_then(Value::as_str).unwrap_or("").to_string(),
        component => component.to_string(),
    };
    let message = event.message.trim().replace(['\t', '\n'], " ");
    vec![kind.into(), event.reason.to_string(), when, from, message]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_came_again_says_how_often_and_since_when() {
        let at = |seconds: i64| Timestamp(Timestamp::EPOCH.0 + seconds).to_string();
        let mut value = json!({"type": "Warning", "reason": "BackOff", "message": " again\n",
            "source": {"component": "kubelet"}, "firstTimestamp": at(0), "lastTimestamp": at(90),
            "count": 4});
        let now = Timestamp(Timestamp::EPOCH.0 + 100);
        let read = |value: &Value| serde_json::from_value::<Event>(value.clone()).unwrap();
        let told = row(&read(&value), now);
        assert_eq!(told, ["Warning", "BackOff", "10s (x4 over 100s)", "kubelet", "again"]);
        value["count"] = json!(1);
        assert_eq!(row(&read(&value), now)[2], "100s");
    }
}
