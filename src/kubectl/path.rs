//! Paths into objects, as in `--sort-by`, `--field-selector` and `-o jsonpath`.
//! Left out of JSONPath: recursion, slices, and filters other than `[?(@.a=="b")]`.

use crate::api::Value;

/// All values at a path such as `.items[*].metadata.name`.
pub fn find<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for step in steps(path) {
        let mut next = Vec::new();
        for value in found {
            match &step {
                Step::Key(key) => next.extend(value.get(key)),
                Step::Index(index) => {
                    let items = value.as_array().map_or(&[][..], Vec::as_slice);
                    let at = match usize::try_from(*index) {
                        Ok(at) => Some(at),
                        Err(_) => items.len().checked_sub(index.unsigned_abs() as usize),
                    };
                    next.extend(at.and_then(|at| items.get(at)));
                }
                Step::Every => match value {
                    Value::Array(items) => next.extend(items),
                    Value::Object(fields) => next.extend(fields.values()),
                    _ => {}
                },
                Step::Where(path, wanted) => {
                    let items = value.as_array().into_iter().flatten();
                    next.extend(items.filter(|item| text(item, path) == *wanted));
                }
            }
        }
        found = next;
    }
    found
}

/// The value at a path as text; empty if there is none.
pub fn text(value: &Value, path: &str) -> String {
    find(value, path).first().map(|value| plain(value)).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Fills a template such as `{.status.phase}{"\n"}`.
pub fn fill(template: &str, value: &Value) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let Some((inner, after)) = behind.split_once('}') else {
            return Err("unclosed action".into());
        };
        rest = after;
        let inner = inner.trim();
        if let Some(quoted) = inner.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            out.push_str(&quoted.replace("\\n", "\n").replace("\\t", "\t"));
        } else if inner.starts_with("range") || inner == "end" {
            return Err(format!("{inner}: not part of this simulation yet"));
        } else {
            let found: Vec<String> = find(value, inner).into_iter().map(plain).collect();
            out.push_str(&found.join(" "));
        }
    }
    out.push_str(rest);
    Ok(out)
}

enum Step {
    Key(String),
    Index(i64),
    Every,
    Where(String, String),
}

fn steps(path: &str) -> Vec<Step> {
    let path = path.trim().trim_start_matches('{').trim_end_matches('}');
    let path = path.strip_prefix('$').or(path.strip_prefix('@')).unwrap_or(path);
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (word, behind) = inner.split_once(']').unwrap_or((inner, ""));
            steps.push(bracket(word));
            rest = behind;
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        // A backslash keeps a dot in a key: `.metadata.labels.app\.kubernetes\.io/name`.
        let mut key = String::new();
        let mut letters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => key.extend(letters.next().map(|(_, next)| next)),
                '.' | '[' => {
                    end = at;
                    break;
                }
                _ => key.push(letter),
            }
        }
        rest = rest.get(end..).unwrap_or("");
        match key.as_str() {
            "" => {}
            "*" => steps.push(Step::Every),
            _ => steps.push(Step::Key(key)),
        }
    }
    steps
}

fn bracket(word: &str) -> Step {
    let word = word.trim();
    if word == "*" {
        return Step::Every;
    }
    if let Ok(index) = word.parse() {
        return Step::Index(index);
    }
    let condition = word.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')'));
    if let Some((path, wanted)) = condition.and_then(|text| text.split_once("==")) {
        let wanted = wanted.trim().trim_matches(['"', '\'']);
        return Step::Where(path.trim().into(), wanted.into());
    }
    Step::Key(word.trim_matches(['"', '\'']).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_into_maps_and_lists() {
        let value = json!({
            "metadata": {"labels": {"app.io/name": "web"}},
            "items": [{"a": 1}, {"a": 2, "type": "x"}],
        });
        assert_eq!(text(&value, "{.items[1].a}"), "2");
        assert_eq!(text(&value, "items[-1].a"), "2");
        assert_eq!(text(&value, ".metadata.labels.app\\.io/name"), "web");
        assert_eq!(text(&value, ".items[?(@.type==\"x\")].a"), "2");
        assert_eq!(text(&value, ".nothing.here"), "");
        assert_eq!(fill("{.items[*].a}{\"\\n\"}", &value), Ok("1 2\n".into()));
        assert!(fill("{.a", &value).is_err());
    }
}
