//! `--sort-by` (kubectl `pkg/cmd/get/sorter.go`): numbers by their size, text that is a quantity by
//! its amount, other text by its letters. What lacks the field goes first.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::api::{Object, Quantity, Value};

use super::jsonpath::Template;

/// Sorts by a field. Equals keep their order.
pub fn by(objects: &mut [Arc<Object>], path: &Template) -> Result<(), String> {
    let mut keyed = Vec::new();
    for object in objects.iter() {
        let key = path.find(&object.to_value())?.into_iter().next();
        keyed.push((key, object.clone()));
    }
    if !keyed.is_empty() && keyed.iter().all(|(key, _)| key.is_none()) {
        let path = path.text();
        return Err(format!("couldn't find any field with path {path:?} in the list of objects"));
    }
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    for (place, (_, object)) in objects.iter_mut().zip(keyed) {
        *place = object;
    }
    Ok(())
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.to_string().cmp(&b.to_string()),
        },
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => match (Quantity::parse(a), Quantity::parse(b)) {
            (Ok(a), Ok(b)) => a.compare(&b),
            _ => a.cmp(b),
        },
        _ => a.to_string().cmp(&b.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_ordered_by_their_size() {
        assert_eq!(compare(&"500m".into(), &"1".into()), Ordering::Less);
        assert_eq!(compare(&"1Gi".into(), &"900Mi".into()), Ordering::Greater);
        assert_eq!(compare(&9.into(), &10.into()), Ordering::Less);
        assert_eq!(compare(&"web-9".into(), &"web-10".into()), Ordering::Greater);
    }
}
