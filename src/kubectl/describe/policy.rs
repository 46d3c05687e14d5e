//! `kubectl describe` of quotas, limits, budgets, priority classes and namespaces
//! (`pkg/describe/describe.go`).

use serde_json::Value;

use crate::api::{Generic, Kind, LabelSelector, amounts};

use crate::kubectl::{Api, Output};

use super::autoscaler;

/// Lines of cells; a cell with another behind it is as wide as the widest of its column, and two
/// blanks more (Go's tabwriter).
#[derive(Default)]
pub(super) struct Tabs(Vec<Vec<String>>);

impl Tabs {
    pub(super) fn line<const N: usize>(&mut self, cells: [&str; N]) {
        self.0.push(cells.iter().map(|cell| cell.to_string()).collect());
    }

    pub(super) fn print(self, out: &mut Output) {
        let mut widths: Vec<usize> = Vec::new();
        for line in &self.0 {
            for (at, cell) in line.iter().take(line.len().saturating_sub(1)).enumerate() {
                let width = cell.chars().count() + 2;
                match widths.get_mut(at) {
                    Some(most) => *most = width.max(*most),
                    None => widths.push(width),
                }
            }
        }
        for line in self.0 {
            let last = line.len().saturating_sub(1);
            let mut text = String::new();
            for (at, cell) in line.iter().enumerate() {
                text.push_str(cell);
                let width = if at < last { widths.get(at).copied().unwrap_or(0) } else { 0 };
                let blanks = width.saturating_sub(cell.chars().count());
                text.extend(std::iter::repeat_n(' ', blanks));
            }
            out.line(text);
        }
    }
}

/// Describes an object of one of these kinds, but for its Events; false if it is of another.
pub fn run(object: &Generic, api: &dyn Api, out: &mut Output) -> bool {
    let mut tabs = Tabs::default();
    tabs.line(["Name:", &object.metadata.name]);
    if object.kind.info().namespaced {
        tabs.line(["Namespace:", &object.metadata.namespace]);
    }
    match object.kind {
        Kind::ResourceQuota => quota(object, &mut tabs),
        Kind::LimitRange => limits(object, &mut tabs),
        Kind::PodDisruptionBudget => budget(object, &mut tabs),
        Kind::PriorityClass => priority_class(object, &mut tabs),
        Kind::HorizontalPodAutoscaler => {
            autoscaler::run(object, tabs, out);
            return true;
        }
        Kind::Namespace => {
            namespace(object, &mut tabs);
            tabs.print(out);
            quotas_and_limits(object, api, out);
            return true;
        }
        _ => return false,
    }
    tabs.print(out);
    true
}

fn quota(quota: &Generic, tabs: &mut Tabs) {
    let scopes = quota.field("spec/scopes").and_then(Value::as_array);
    let scopes: Vec<&str> = scopes.into_iter().flatten().filter_map(Value::as_str).collect();
    if !scopes.is_empty() {
        tabs.line(["Scopes:", &scopes.join(", ")]);
    }
    quota_lines(quota, "", tabs);
}

fn quota_lines(quota: &Generic, before: &str, tabs: &mut Tabs) {
    let (hard, used) = (quota.amounts("status/hard"), quota.amounts("status/used"));
    tabs.line([&format!("{before}Resource"), "Used", "Hard"]);
    tabs.line([&format!("{before}--------"), if before.is_empty() { "----" } else { "---" }, {
        if before.is_empty() { "----" } else { "---" }
    }]);
    for (name, hard) in &hard {
        let used = used.get(name).copied().unwrap_or_default();
        tabs.line([&format!("{before}{name}"), &used.to_string(), &hard.to_string()]);
    }
}

fn limits(range: &Generic, tabs: &mut Tabs) {
    limit_lines(range, "", tabs);
}

fn limit_lines(range: &Generic, before: &str, tabs: &mut Tabs) {
    let heads = ["Type", "Resource", "Min", "Max", "Default Request", "Default Limit"];
    let [kind, resource, min, max, request, limit] = heads;
    let ratio = "Max Limit/Request Ratio";
    tabs.line([&format!("{before}{kind}"), resource, min, max, request, limit, ratio]);
    let dashes = |head: &str| "-".repeat(head.len());
    tabs.line([
        &format!("{before}{}", dashes(kind)),
        &dashes(resource),
        &dashes(min),
        &dashes(max),
        &dashes(request),
        &dashes(limit),
        &dashes(ratio),
    ]);
    let items = range.field("spec/limits").and_then(Value::as_array);
    for item in items.into_iter().flatten() {
        let fields = ["min", "max", "defaultRequest", "default", "maxLimitRequestRatio"];
        let lists = fields.map(|field| amounts(item.get(field)));
        let names: std::collections::BTreeSet<_> = lists.iter().flat_map(|l| l.keys()).collect();
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("");
        for name in names {
            let cells =
                lists.each_ref().map(|list| list.get(name).map_or("-".into(), |q| q.to_string()));
            let [min, max, request, limit, ratio] = cells.each_ref().map(String::as_str);
            tabs.line([&format!("{before}{kind}"), name, min, max, request, limit, ratio]);
        }
    }
}

fn budget(budget: &Generic, tabs: &mut Tabs) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    if let Some(min) = budget.field("spec/minAvailable") {
        tabs.line(["Min available:", &text(min)]);
    } else if let Some(max) = budget.field("spec/maxUnavailable") {
        tabs.line(["Max unavailable:", &text(max)]);
    }
    let selector = budget.typed::<LabelSelector>("spec/selector");
    let selector = selector.map_or("<unset>".into(), |selector| selector.format());
    tabs.line(["Selector:", &selector]);
    tabs.line(["Status:"]);
    for (name, field) in [
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ] {
        let number = budget.whole_number(&format!("status/{field}")).unwrap_or(0);
        tabs.line([&format!("    {name}:"), &number.to_string()]);
    }
}

fn priority_class(class: &Generic, tabs: &mut Tabs) {
    let global = class.field("globalDefault") == Some(&Value::Bool(true));
    tabs.line(["Value:", &class.whole_number("value").unwrap_or(0).to_string()]);
    tabs.line(["GlobalDefault:", &global.to_string()]);
    tabs.line(["PreemptionPolicy:", class.text("preemptionPolicy")]);
    tabs.line(["Description:", class.text("description")]);
}

fn namespace(namespace: &Generic, tabs: &mut Tabs) {
    let mut labels = namespace.metadata.labels.iter();
    let first = labels.next().map_or("<none>".into(), |(key, value)| format!("{key}={value}"));
    tabs.line(["Labels:", &first]);
    for (key, value) in labels {
        tabs.line(["", &format!("{key}={value}")]);
    }
    tabs.line(["Status:", namespace.text("status/phase")]);
    let conditions = namespace.field("status/conditions").and_then(Value::as_array);
    let Some(conditions) = conditions.filter(|list| !list.is_empty()) else { return };
    tabs.line(["Conditions:"]);
    tabs.line(["  Type", "Status", "LastTransitionTime", "Reason", "Message"]);
    tabs.line(["  ----", "------", "------------------", "------", "-------"]);
    for condition in conditions {
        let word = |field: &str| condition.get(field).and_then(Value::as_str).unwrap_or("");
        let [kind, status, since] = ["type", "status", "lastTransitionTime"].map(word);
        tabs.line([&format!("  {kind}"), status, since, word("reason"), word("message")]);
    }
}

/// What limits a namespace stands below it.
fn quotas_and_limits(namespace: &Generic, api: &dyn Api, out: &mut Output) {
    type Lines = fn(&Generic, &str, &mut Tabs);
    let parts: [(Kind, &str, &str, Lines); 2] = [
        (Kind::ResourceQuota, "Resource Quotas", "No resource quota.", |quota, before, tabs| {
            tabs.line([&format!("{before}Name:"), &quota.metadata.name]);
            quota_lines(quota, before, tabs);
        }),
        (Kind::LimitRange, "Resource Limits", "No LimitRange resource.", limit_lines),
    ];
    for (kind, title, none, lines) in parts {
        out.line("");
        let found = api.list(kind, Some(&namespace.metadata.name));
        if found.is_empty() {
            out.line(none);
            continue;
        }
        out.line(title);
        for object in found.iter().filter_map(|object| object.as_generic()) {
            let mut tabs = Tabs::default();
            lines(object, " ", &mut tabs);
            tabs.print(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(kind: Kind, rest: Value, of: fn(&Generic, &mut Tabs)) -> String {
        let rest = serde_json::from_value(rest).unwrap();
        let object = Generic { kind, metadata: Default::default(), rest };
        let (mut tabs, mut out) = (Tabs::default(), Output::default());
        of(&object, &mut tabs);
        tabs.print(&mut out);
        out.text
    }

    #[test]
    fn a_quota_shows_what_is_used_of_what() {
        let status = json!({"hard": {"pods": "5", "limits.cpu": "6"}, "used": {"pods": "2"}});
        assert_eq!(
            lines(Kind::ResourceQuota, json!({ "status": status }), quota),
            "Resource    Used  Hard\n--------    ----  ----\n\
             limits.cpu  0     6\npods        2     5\n"
        );
    }

    #[test]
    fn a_budget_shows_its_numbers() {
        let rest = json!({
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1,
                       "expectedPods": 1},
        });
        assert_eq!(
            lines(Kind::PodDisruptionBudget, rest, budget),
            "Min available:            1\nSelector:                 app=web\nStatus:\n    Allowed \
             disruptions:  0\n    Current:              1\n    Desired:              1\n    \
             Total:                1\n"
        );
    }
}
