//! Kinds that admission and the disruption controller read: ResourceQuota, LimitRange,
//! PodDisruptionBudget, PriorityClass (`pkg/apis/{core,policy,scheduling}/validation`).

use std::collections::BTreeSet;

use crate::api::{
    Generic, IntOrString, Kind, LabelSelector, Quantity, QuantityFormat, Value, amounts, names,
};

use super::errors::Errors;
use super::values::text;

/// The largest value of a class that is not one of the system's.
const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;

/// One of these kinds.
pub fn policy(object: &Generic, errors: &mut Errors) {
    match object.kind {
        Kind::ResourceQuota => quota(object, errors),
        Kind::LimitRange => limit_range(object, errors),
        Kind::PodDisruptionBudget => budget(object, errors),
        Kind::PriorityClass => priority_class(object, errors),
        _ => {}
    }
}

/// `ValidateResourceQuotaSpec`.
fn quota(quota: &Generic, errors: &mut Errors) {
    for (name, amount) in quota.amounts("spec/hard") {
        let path = format!("spec.hard[{name}]");
        let broken = names::qualified_name(&name);
        errors.rules(&path, &name, broken);
        amount_of(&name, amount, &path, errors);
    }
    let scopes = quota.field("spec/scopes").and_then(Value::as_array);
    let scopes: Vec<&str> = scopes.into_iter().flatten().filter_map(Value::as_str).collect();
    let known = [
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
    ];
    let hard = quota.amounts("spec/hard");
    for scope in &scopes {
        if !known.contains(scope) {
            errors.invalid("spec.scopes", *scope, "unsupported scope");
        }
        let beyond_pods = hard.keys().any(|name| &**name != "pods" && &**name != "count/pods");
        if *scope == "BestEffort" && beyond_pods {
            errors.invalid("spec.scopes", &scopes, "unsupported scope applied to resource");
        }
    }
    for pair in [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            errors.invalid("spec.scopes", &scopes, "conflicting scopes");
        }
    }
}

fn amount_of(name: &str, amount: Quantity, path: &str, errors: &mut Errors) {
    if amount.nanos < 0 {
        errors.invalid(path, amount.to_string(), "must be greater than or equal to 0");
    }
    let compute = ["cpu", "memory", "ephemeral-storage", "storage"];
    let bare = name.rsplit('.').next().unwrap_or(name);
    let whole = Quantity::from_value(amount.value(), QuantityFormat::DecimalSi);
    if !compute.contains(&bare) && whole.nanos != amount.nanos {
        errors.invalid(path, amount.to_string(), "must be an integer");
    }
}

/// `ValidateLimitRange`.
fn limit_range(range: &Generic, errors: &mut Errors) {
    let items = range.field("spec/limits").and_then(Value::as_array);
    let mut seen = BTreeSet::new();
    for (index, item) in items.into_iter().flatten().enumerate() {
        let path = format!("spec.limits[{index}]");
        let kind = text(item, "type");
        if kind.is_empty() {
            errors.required(&format!("{path}.type"), "");
        } else if !seen.insert(kind) {
            errors.duplicate(&format!("{path}.type"), kind);
        }
        let some = |field: &str| !amounts(item.get(field)).is_empty();
        if kind == "Pod" {
            for field in ["default", "defaultRequest"].into_iter().filter(|field| some(field)) {
                let detail = "may not be specified when `type` is 'Pod'";
                errors.forbidden(&format!("{path}.{field}"), detail);
            }
        }
        let storage = |field: &str| amounts(item.get(field)).contains_key("storage");
        if kind == "PersistentVolumeClaim" && !storage("min") && !storage("max") {
            let detail = "either minimum or maximum storage value is required, but neither was \
                          provided";
            errors.required(&format!("{path}.limits"), detail);
        }
        limit_item(item, &path, errors);
    }
}

/// The bounds of one item must not contradict each other.
fn limit_item(item: &Value, path: &str, errors: &mut Errors) {
    let fields = ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"];
    let [min, max, default, request, ratio] = fields.map(|field| amounts(item.get(field)));
    let lists = [&min, &max, &default, &request, &ratio];
    let names: BTreeSet<_> = lists.iter().flat_map(|list| list.keys()).collect();
    for name in names {
        let rules = [
            ("min", &min, &min, &max, "min value {} is greater than max value {}"),
            (
                "defaultRequest",
                &request,
                &min,
                &request,
                "min value {} is greater than default request value {}",
            ),
            (
                "defaultRequest",
                &request,
                &request,
                &max,
                "default request value {} is greater than max value {}",
            ),
            (
                "defaultRequest",
                &request,
                &request,
                &default,
                "default request value {} is greater than default limit value {}",
            ),
            ("default", &min, &min, &default, "min value {} is greater than default value {}"),
            ("default", &max, &default, &max, "default value {} is greater than max value {}"),
        ];
        for (field, shown, low, high, words) in rules {
            if let (Some(shown), Some(low), Some(high)) =
                (shown.get(name), low.get(name), high.get(name))
                && low.nanos > high.nanos
            {
                let words = words.replacen("{}", &low.to_string(), 1);
                let words = words.replacen("{}", &high.to_string(), 1);
                errors.invalid(&format!("{path}.{field}[{name}]"), shown.to_string(), &words);
            }
        }
        let one = Quantity::from_value(1, QuantityFormat::DecimalSi);
        if let Some(ratio) = ratio.get(name).filter(|ratio| ratio.nanos < one.nanos) {
            let at = format!("{path}.maxLimitRequestRatio[{name}]");
            errors.invalid(&at, ratio.to_string(), &format!("ratio {ratio} is less than 1"));
        }
    }
}

/// `ValidatePodDisruptionBudgetSpec`.
fn budget(budget: &Generic, errors: &mut Errors) {
    let fields = ["minAvailable", "maxUnavailable"];
    let given = |field: &str| budget.typed::<IntOrString>(&format!("spec/{field}"));
    if fields.iter().all(|field| given(field).is_some()) {
        let spec = budget.field("spec").cloned().unwrap_or(Value::Null);
        errors.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in fields {
        let path = format!("spec.{field}");
        match given(field) {
            Some(IntOrString::Int(number)) => errors.non_negative(&path, number),
            Some(IntOrString::String(text)) => {
                errors.rules(&path, &text, names::percent(&text));
                let percent = text.strip_suffix('%').and_then(|digits| digits.parse::<i64>().ok());
                if percent.is_some_and(|percent| percent > 100) {
                    errors.invalid(&path, &*text, "must not be greater than 100%");
                }
            }
            None => {}
        }
    }
    let policy = budget.text("spec/unhealthyPodEvictionPolicy");
    if !policy.is_empty() {
        let path = "spec.unhealthyPodEvictionPolicy";
        errors.one_of(path, policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
    if let Some(selector) = budget.typed::<LabelSelector>("spec/selector") {
        errors.extend(selector.validate("spec.selector"));
    }
}

/// `ValidatePriorityClass`.
fn priority_class(class: &Generic, errors: &mut Errors) {
    let (name, value) = (&*class.metadata.name, class.whole_number("value").unwrap_or(0));
    if name.starts_with("system-") {
        system_class(name, value, class, errors);
    } else if value > HIGHEST_USER_PRIORITY {
        let detail =
            format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        errors.forbidden("value", &detail);
    }
    let policy = class.text("preemptionPolicy");
    if !policy.is_empty() {
        errors.one_of("preemptionPolicy", policy, &["Never", "PreemptLowerPriority"]);
    }
}

fn system_class(name: &str, value: i64, class: &Generic, errors: &mut Errors) {
    let known = crate::apiserver::admission::priority::SYSTEM;
    let global = class.field("globalDefault") == Some(&Value::Bool(true));
    let why = match known.iter().find(|(known, ..)| *known == name) {
        None => format!("{name} is not a known system priority class"),
        Some((_, right, _)) if *right != value => {
            format!("value of {name} PriorityClass must be {right}")
        }
        Some(_) if global => format!("globalDefault of {name} PriorityClass must be false"),
        Some(_) => return,
    };
    let detail =
        "priority class names with 'system-' prefix are reserved for system use only. error";
    errors.forbidden("metadata.name", &format!("{detail}: {why}"));
}

/// What may not change of these kinds.
pub fn policy_update(old: &Generic, new: &Generic, errors: &mut Errors) {
    let differs = |path: &str| old.field(path) != new.field(path);
    match new.kind {
        Kind::PriorityClass => {
            if differs("value") {
                errors.forbidden("value", "may not be changed in an update.");
            }
            if differs("preemptionPolicy") {
                let policy = new.text("preemptionPolicy");
                errors.invalid("preemptionPolicy", policy, "field is immutable");
            }
        }
        Kind::ResourceQuota if differs("spec/scopes") => {
            let scopes = new.field("spec/scopes").cloned().unwrap_or(Value::Null);
            errors.invalid("spec.scopes", scopes, "field is immutable");
        }
        Kind::CustomResourceDefinition => {
            for (path, pointer) in [("spec.group", "spec/group"), ("spec.scope", "spec/scope")] {
                if differs(pointer) {
                    errors.invalid(path, new.text(pointer), "field is immutable");
                }
            }
        }
        _ => {}
    }
}
