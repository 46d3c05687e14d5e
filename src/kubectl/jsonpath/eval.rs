//! A template against a value.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::api::Value;

use super::{Node, Operator, Slice};

/// How many values one template may come upon.
const MAX_VALUES: usize = 100_000;
/// How much text it may make, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// A value of the object, or a literal of the template.
type Found<'v> = Cow<'v, Value>;

/// What is left of the bounds.
struct Budget {
    values: usize,
}

impl Budget {
    fn take(&mut self, count: usize) -> Result<(), String> {
        match self.values.checked_sub(count) {
            Some(left) => {
                self.values = left;
                Ok(())
            }
            None => Err("the template comes upon too many values".into()),
        }
    }
}

/// The template as text.
pub fn fill(nodes: &[Node], value: &Value) -> Result<String, String> {
    let mut out = String::new();
    let mut budget = Budget { values: MAX_VALUES };
    write(nodes, Cow::Borrowed(value), &mut budget, &mut out)?;
    Ok(out)
}

/// The values that the actions lead to.
pub fn find(nodes: &[Node], value: &Value) -> Result<Vec<Value>, String> {
    let mut budget = Budget { values: MAX_VALUES };
    let mut found = Vec::new();
    for node in nodes {
        if let Node::List(steps) = node {
            let values = walk(steps, vec![Cow::Borrowed(value)], &mut budget)?;
            found.extend(values.into_iter().map(Cow::into_owned));
        }
    }
    Ok(found)
}

fn write(
    nodes: &[Node],
    value: Found<'_>,
    budget: &mut Budget,
    out: &mut String,
) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::List(steps) => {
                let found = walk(steps, vec![value.clone()], budget)?;
                for (index, value) in found.iter().enumerate() {
                    if index > 0 {
                        out.push(' ');
                    }
                    out.push_str(&plain(value));
                }
            }
            Node::Range(steps, inner) => {
                for item in walk(steps, vec![value.clone()], budget)? {
                    budget.take(1)?;
                    write(inner, item, budget, out)?;
                }
            }
            _ => {}
        }
        if out.len() > MAX_TEXT {
            return Err("the template makes too much text".into());
        }
    }
    Ok(())
}

/// What the steps lead to, from each of `values` on.
fn walk<'v>(
    steps: &[Node],
    mut values: Vec<Found<'v>>,
    budget: &mut Budget,
) -> Result<Vec<Found<'v>>, String> {
    for step in steps {
        budget.take(1 + values.len())?;
        values = match step {
            // A text or a literal is a value of its own.
            Node::Text(text) => vec![Cow::Owned(Value::String(text.clone()))],
            Node::Literal(literal) => vec![Cow::Owned(literal.clone())],
            Node::List(steps) => walk(steps, values, budget)?,
            Node::Union(members) => {
                let mut all = Vec::new();
                for value in &values {
                    for member in members {
                        let one = vec![value.clone()];
                        all.extend(walk(std::slice::from_ref(member), one, budget)?);
                    }
                }
                all
            }
            Node::Filter(left, operator, right) => {
                let mut kept = Vec::new();
                for value in values {
                    for item in items(value, budget)? {
                        if passes(&item, left, *operator, right, budget)? {
                            kept.push(item);
                        }
                    }
                }
                kept
            }
            Node::Recursive => {
                let mut all = Vec::new();
                for value in values {
                    below(value, budget, &mut all)?;
                }
                all
            }
            Node::Wildcard => {
                let mut all = Vec::new();
                for value in values {
                    all.extend(children(value, budget)?);
                }
                all
            }
            Node::Field(name) => {
                values.into_iter().filter_map(|value| field(value, name)).collect()
            }
            Node::Slice(slice) => {
                let mut all = Vec::new();
                for value in values {
                    all.extend(sliced(value, *slice)?);
                }
                all
            }
            Node::Range(..) => values,
        };
    }
    Ok(values)
}

fn field<'v>(value: Found<'v>, name: &str) -> Option<Found<'v>> {
    let found = match value {
        Cow::Borrowed(value) => Cow::Borrowed(value.get(name)?),
        Cow::Owned(value) => Cow::Owned(value.get(name)?.clone()),
    };
    (!found.is_null()).then_some(found)
}

fn list(value: Found<'_>) -> Option<Vec<Found<'_>>> {
    match value {
        Cow::Borrowed(Value::Array(items)) => Some(items.iter().map(Cow::Borrowed).collect()),
        Cow::Owned(Value::Array(items)) => Some(items.into_iter().map(Cow::Owned).collect()),
        _ => None,
    }
}

fn items<'v>(value: Found<'v>, budget: &mut Budget) -> Result<Vec<Found<'v>>, String> {
    let items = list(value).ok_or("the value is not array or slice and cannot be filtered")?;
    budget.take(items.len())?;
    Ok(items)
}

fn children<'v>(value: Found<'v>, budget: &mut Budget) -> Result<Vec<Found<'v>>, String> {
    let children: Vec<Found<'v>> = match value {
        Cow::Borrowed(Value::Object(fields)) => fields.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Object(fields)) => {
            fields.into_iter().map(|(_, value)| Cow::Owned(value)).collect()
        }
        other => list(other).unwrap_or_default(),
    };
    budget.take(children.len())?;
    Ok(children)
}

/// A value and all that is in it; values nest no deeper than a manifest may.
fn below<'v>(
    value: Found<'v>,
    budget: &mut Budget,
    all: &mut Vec<Found<'v>>,
) -> Result<(), String> {
    all.push(value.clone());
    for child in children(value, budget)? {
        below(child, budget, all)?;
    }
    Ok(())
}

fn sliced(value: Found<'_>, slice: Slice) -> Result<Vec<Found<'_>>, String> {
    let Some(items) = list(value) else {
        return Err("the value is not array or slice".into());
    };
    let length = items.len() as i64;
    let from_end = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    if slice.one {
        let index = slice.start.unwrap_or(0);
        let at = usize::try_from(from_end(index)).ok();
        return match at.and_then(|at| items.into_iter().nth(at)) {
            Some(item) => Ok(vec![item]),
            None => Err(format!("array index out of bounds: index {index}, length {length}")),
        };
    }
    let start = from_end(slice.start.unwrap_or(0)).clamp(0, length) as usize;
    let end = from_end(slice.end.unwrap_or(length)).clamp(0, length) as usize;
    let step = match slice.step {
        Some(step) if step <= 0 => return Err("step must be > 0".into()),
        Some(step) => usize::try_from(step).unwrap_or(usize::MAX),
        None => 1,
    };
    let count = end.saturating_sub(start);
    Ok(items.into_iter().skip(start).take(count).step_by(step).collect())
}

fn passes(
    item: &Value,
    left: &[Node],
    operator: Operator,
    right: &[Node],
    budget: &mut Budget,
) -> Result<bool, String> {
    let lefts = walk(left, vec![Cow::Borrowed(item)], budget)?;
    let [left] = lefts.as_slice() else {
        return match lefts.len() {
            0 => Ok(false),
            _ if operator == Operator::Exists => Ok(true),
            _ => Err("can only compare one element at a time".into()),
        };
    };
    if operator == Operator::Exists {
        return Ok(true);
    }
    let rights = walk(right, vec![Cow::Borrowed(item)], budget)?;
    let [right] = rights.as_slice() else {
        return match rights.len() {
            0 => Ok(false),
            _ => Err("can only compare one element at a time".into()),
        };
    };
    let order = compare(left, right).ok_or("incompatible types for comparison")?;
    Ok(match operator {
        Operator::Exists => true,
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    })
}

/// Values of one type have an order; others have none.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        _ => (left == right).then_some(Ordering::Equal),
    }
}

/// As `-o jsonpath` prints a value.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// As Go's `fmt.Sprint` prints a value: in custom columns.
pub fn go_print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_print).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| format!("{key}:{}", go_print(value));
            let pairs: Vec<String> = fields.iter().map(pair).collect();
            format!("map[{}]", pairs.join(" "))
        }
        other => plain(other),
    }
}
