//! What of a Job may change (`ValidateJobUpdate`).

use crate::api::{Fields, Generic, Value};

use super::errors::Errors;
use super::update::same;

/// What is wrong with a Job in the place of another.
pub fn job(old: &Generic, new: &Generic, errors: &mut Errors) {
    let part = |job: Fields<'_>, field: &str| job.at(field).value().cloned().unwrap_or(Value::Null);
    let (before, after) = (old.spec(), new.spec());
    completions(before, after, errors);
    same("spec.selector", &part(before, "selector"), &part(after, "selector"), errors);
    let (mut kept, template) = (part(before, "template"), part(after, "template"));
    if before.flag("suspend") && old.status().text("startTime").is_none() {
        take_directives(&mut kept, &template);
    }
    same("spec.template", &kept, &template, errors);
    for field in
        ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        same(&format!("spec.{field}"), &part(before, field), &part(after, field), errors);
    }
}

/// An indexed Job may grow and shrink, if as many pods run as are to complete.
fn completions(old: Fields<'_>, new: Fields<'_>, errors: &mut Errors) {
    let path = "spec.completions";
    let (before, after) = (old.long("completions"), new.long("completions"));
    if new.text("completionMode") != Some("Indexed") {
        return same(path, &before, &after, errors);
    }
    let is_set = before.is_some() && after.is_some();
    if is_set && before != after && after != new.long("parallelism") {
        errors.invalid(path, after, "can only be modified in tandem with spec.parallelism");
    }
}

/// Where the pods of a Job go that never started may still be said: takes that over.
fn take_directives(kept: &mut Value, new: &Value) {
    let places: [(&str, &[&str]); 3] = [
        ("/metadata", &["annotations", "labels"]),
        ("/spec", &["nodeSelector", "tolerations", "schedulingGates"]),
        ("/spec/affinity", &["nodeAffinity"]),
    ];
    for (parent, fields) in places {
        let wanted = |field: &str| new.pointer(parent).and_then(|parent| parent.get(field));
        let any = fields.iter().any(|field| wanted(field).is_some());
        if any && kept.pointer(parent).is_none_or(Value::is_null) {
            let (outer, name) = parent.rsplit_once('/').unwrap_or_default();
            let outer = kept.pointer_mut(outer).and_then(Value::as_object_mut);
            outer.map(|outer| outer.insert(name.into(), Value::Object(Default::default())));
        }
        let Some(part) = kept.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
        for field in fields {
            match wanted(field) {
                Some(value) => part.insert((*field).into(), value.clone()),
                None => part.remove(*field),
            };
        }
    }
    for (outer, inner) in [("", "metadata"), ("/spec", "affinity")] {
        let is_empty = |value: &Value| value.as_object().is_some_and(|fields| fields.is_empty());
        let is_gone = new.pointer(&format!("{outer}/{inner}")).is_none();
        let parent = kept.pointer_mut(outer).and_then(Value::as_object_mut);
        if let Some(parent) =
            parent.filter(|parent| is_gone && parent.get(inner).is_some_and(is_empty))
        {
            parent.remove(inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::validate_update;
    use crate::api::{Kind, Object, Value};
    use serde_json::json;

    fn job(more: Value) -> Value {
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "a", "image": "a:1"}], "restartPolicy": "Never"}});
        let mut value = json!({
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
        });
        value["spec"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    }

    fn said(old: &Value, new: &Value) -> Vec<String> {
        let object = |value: &Value| Object::from_value(Kind::Job, value.clone()).unwrap();
        validate_update(&object(old), &object(new))
    }

    #[test]
    fn how_a_job_counts_and_fails_is_immutable() {
        for (field, old, new) in [
            ("completions", json!(1), json!(2)),
            ("completions", Value::Null, json!(2)),
            ("managedBy", json!("example.com/a"), json!("example.com/b")),
            ("podFailurePolicy", json!({"rules": []}), Value::Null),
        ] {
            let found = said(&job(json!({field: old})), &job(json!({field: new.clone()})));
            let wanted = format!("spec.{field}: Invalid value: {new}: field is immutable");
            assert_eq!(found, [wanted]);
        }
        let limit = |limit: i64| {
            job(json!({"completionMode": "Indexed", "completions": 1, "parallelism": 1,
                "backoffLimitPerIndex": limit}))
        };
        let found = said(&limit(1), &limit(2));
        assert_eq!(found, ["spec.backoffLimitPerIndex: Invalid value: 2: field is immutable"]);
        assert_eq!(said(&job(json!({"parallelism": 1})), &job(json!({"parallelism": 4}))), [""; 0]);
    }

    #[test]
    fn an_indexed_job_is_resized_with_its_parallelism() {
        let sized = |completions: i64, parallelism: i64| {
            job(json!({"completionMode": "Indexed", "completions": completions,
                "parallelism": parallelism}))
        };
        assert_eq!(said(&sized(2, 2), &sized(5, 5)), [""; 0]);
        let words = "spec.completions: Invalid value: 5: can only be modified in tandem with \
                     spec.parallelism";
        assert_eq!(said(&sized(2, 2), &sized(5, 2)), [words]);
    }

    #[test]
    fn where_pods_go_may_be_said_until_the_job_starts() {
        let moved = |value: &Value| {
            let mut value = value.clone();
            let template = &mut value["spec"]["template"];
            template["metadata"]["annotations"] = json!({"x": "y"});
            template["spec"]["nodeSelector"] = json!({"zone": "a"});
            template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
            template["spec"]["affinity"] = json!({"nodeAffinity": {}});
            value
        };
        let waiting = job(json!({"suspend": true}));
        assert_eq!(said(&waiting, &moved(&waiting)), [""; 0]);
        assert_eq!(said(&moved(&waiting), &waiting), [""; 0]);
        let mut started = waiting.clone();
        started["status"] = json!({"startTime": "2026-01-01T00:00:00Z"});
        for old in [started, job(json!({}))] {
            let found = said(&old, &moved(&old));
            assert!(found[0].starts_with("spec.template: Invalid value"), "{found:?}");
            assert!(found[0].ends_with("field is immutable"), "{found:?}");
        }
        let mut other = waiting.clone();
        other["spec"]["template"]["spec"]["containers"][0]["image"] = json!("a:2");
        assert!(said(&waiting, &other)[0].ends_with("field is immutable"));
    }
}
