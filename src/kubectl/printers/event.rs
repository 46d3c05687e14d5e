//! Events (`printEvent`).

use crate::api::{Event, EventType, Timestamp, Value};
use crate::kubectl::duration::age;

pub const COLUMNS: &[&str] = &["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];
pub const WIDE: &[&str] = &[
    "LAST SEEN",
    "TYPE",
    "REASON",
    "OBJECT",
    "SUBOBJECT",
    "SOURCE",
    "MESSAGE",
    "FIRST SEEN",
    "COUNT",
    "NAME",
];

pub fn row(event: &Event, now: Timestamp, wide: bool) -> Vec<String> {
    // Newer Events have an eventTime and a series instead of the two timestamps and the count.
    let rest = |pointer: &str| {
        let (field, inner) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
        event.rest.get(field).and_then(|value| value.pointer(inner))
    };
    let time = |pointer| rest(pointer).and_then(Value::as_str).and_then(Timestamp::parse);
    let first_seen = event.first_timestamp.or_else(|| time("eventTime"));
    let first = age(first_seen, now);
    let last_seen = time("series/lastObservedTime").or(event.last_timestamp).or(first_seen);
    let last = age(last_seen, now);
    let of_series = rest("series/count").and_then(Value::as_i64);
    let count = of_series.unwrap_or(i64::from(event.count).max(1));
    let about = &event.involved_object;
    let object = match &*about.name {
        "" => about.kind.to_ascii_lowercase(),
        name => format!("{}/{name}", about.kind.to_ascii_lowercase()),
    };
    let kind = match event.kind {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    let message = event.message.trim().to_string();
    let mut row = vec![last, kind.into(), event.reason.to_string(), object];
    if !wide {
        row.push(message);
        return row;
    }
    let or_reporting = |source: &str, field: &str| match source {
        "" => rest(field).and_then(Value::as_str).unwrap_or("").to_string(),
        source => source.to_string(),
    };
    let component = or_reporting(&event.source.component, "reportingComponent");
    let host = event.source.host.as_deref().unwrap_or("");
    let source = match or_reporting(host, "reportingInstance").as_str() {
        "" => component,
        host => format!("{component}, {host}"),
    };
    row.push(about.field_path.as_deref().unwrap_or("").into());
    row.extend([source, message, first, count.to_string()]);
    row.push(event.metadata.name.to_string());
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_without_a_source_names_who_reported_it() {
        let event: Event = serde_json::from_value(json!({
            "reportingComponent": "kubelet", "reportingInstance": "test",
        }))
        .expect("an Event");
        assert_eq!(row(&event, Timestamp(0), true)[5], "kubelet, test");
    }
}
