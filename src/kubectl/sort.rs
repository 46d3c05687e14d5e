//! `--sort-by` (kubectl `pkg/cmd/get/sorter.go`): numbers by their size, text that is a quantity by
//! its amount, other text as people order it (`a9` before `a10`). What lacks the field goes first.

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
        return Err("couldn't find any field with path in the list of objects".into());
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
            _ => natural(a, b),
        },
        _ => a.to_string().cmp(&b.to_string()),
    }
}

/// Runs of digits by their number, all else by its letters.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
        };
        let (left, right) = (digits(a), digits(b));
        if left > 0 && right > 0 {
            let (x, rest_a) = a.split_at(left);
            let (y, rest_b) = b.split_at(right);
            let (p, q) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            let order = p.len().cmp(&q.len()).then_with(|| p.cmp(q)).then_with(|| left.cmp(&right));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (rest_a, rest_b);
            continue;
        }
        let mut letters = (a.chars(), b.chars());
        match (letters.0.next(), letters.1.next()) {
            (Some(x), Some(y)) if x == y => (a, b) = (letters.0.as_str(), letters.1.as_str()),
            (x, y) => return x.cmp(&y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_ordered_as_people_order_it() {
        let mut words = ["a10", "a9", "b", "a", "a010", "10", "9", "a9b"];
        words.sort_by(|a, b| natural(a, b));
        assert_eq!(words, ["9", "10", "a", "a9", "a9b", "a10", "a010", "b"]);
    }

    #[test]
    fn amounts_are_ordered_by_their_size() {
        assert_eq!(compare(&"500m".into(), &"1".into()), Ordering::Less);
        assert_eq!(compare(&"1Gi".into(), &"900Mi".into()), Ordering::Greater);
        assert_eq!(compare(&9.into(), &10.into()), Ordering::Less);
    }
}
