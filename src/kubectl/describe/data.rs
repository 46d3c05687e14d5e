//! ConfigMaps and Secrets (`describeConfigMap`, `describeSecret`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api::{Generic, Kind, Value};

use super::sheet::Sheet;

/// Describes an object of one of these kinds, but for its Events; false if it is of another.
pub fn run(object: &Generic, sheet: &mut Sheet) -> bool {
    match object.kind {
        Kind::ConfigMap => config_map(object, sheet),
        Kind::Secret => secret(object, sheet),
        _ => return false,
    }
    true
}

/// The entries of a field, by their names.
fn entries<'o>(object: &'o Generic, field: &str) -> Vec<(&'o String, &'o str)> {
    let map = object.field(field).and_then(Value::as_object);
    let mut entries: Vec<(&String, &str)> = map
        .into_iter()
        .flatten()
        .map(|(key, value)| (key, value.as_str().unwrap_or_default()))
        .collect();
    entries.sort();
    entries
}

fn bytes(text: &str) -> usize {
    STANDARD.decode(text).map_or(0, |bytes| bytes.len())
}

fn config_map(map: &Generic, sheet: &mut Sheet) {
    sheet.name(&map.metadata);
    sheet.marks(&map.metadata);
    sheet.line(0, "\nData\n====");
    for (key, value) in entries(map, "data") {
        // A tab in the value would part cells.
        let value = value.replace('\t', "    ");
        sheet.line(0, format!("{key}:\n----\n{value}\n"));
    }
    sheet.line(0, "\nBinaryData\n====");
    for (key, value) in entries(map, "binaryData") {
        sheet.line(0, format!("{key}: {} bytes", bytes(value)));
    }
    sheet.line(0, "");
}

fn secret(secret: &Generic, sheet: &mut Sheet) {
    sheet.name(&secret.metadata);
    sheet.marks(&secret.metadata);
    let kind = Some(secret.text("type")).filter(|kind| !kind.is_empty()).unwrap_or("Opaque");
    sheet.line(0, format!("\nType:\t{kind}\n\nData\n===="));
    for (key, value) in entries(secret, "data") {
        sheet.line(0, format!("{key}:\t{} bytes", bytes(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::Output;
    use serde_json::json;

    fn described(kind: Kind, rest: Value) -> String {
        let rest = serde_json::from_value(rest).unwrap();
        let metadata = serde_json::from_value(json!({"name": "a", "namespace": "b"})).unwrap();
        let (mut sheet, mut out) = (Sheet::default(), Output::default());
        assert!(run(&Generic { kind, metadata, rest }, &mut sheet));
        sheet.print(&mut out);
        out.text
    }

    const HEAD: &str = "\
Name:         a
Namespace:    b
Labels:       <none>
Annotations:  <none>
";

    #[test]
    fn a_config_map_shows_its_data() {
        let text = described(Kind::ConfigMap, json!({"data": {"k": "v"}}));
        assert_eq!(text, format!("{HEAD}\nData\n====\nk:\n----\nv\n\n\nBinaryData\n====\n\n"));
    }

    #[test]
    fn a_secret_shows_how_long_its_data_are() {
        let text = described(Kind::Secret, json!({"data": {"password": "aGVsbG8=", "u": "eA=="}}));
        let data = "password:  5 bytes\nu:         1 bytes\n";
        assert_eq!(text, format!("{HEAD}\nType:  Opaque\n\nData\n====\n{data}"));
    }
}
