//! `kubectl top` (kubectl `pkg/metricsutil`), from what the metrics server tells.

use std::sync::Arc;

use crate::api::{Kind, Object, Quantity};

use super::command::Top;
use super::resources::{find, nothing_found};
use super::{Api, Output, Table, Usage};

const MEBIBYTE: i64 = 1 << 20;

/// Shows what pods or nodes use.
pub fn run(top: &Top, api: &dyn Api, out: &mut Output) {
    let pods = api.list(Kind::Pod, None);
    // With pods and nothing told of any of them, there is nobody to tell it.
    if pods.iter().all(|pod| api.usage(&pod.key()).is_none()) {
        return out.fail("error: Metrics API not available");
    }
    match top.nodes {
        true => nodes(top, &pods, api, out),
        false => self::pods(top, api, out),
    }
}

/// The sum of what containers use.
fn total(usage: &[Usage]) -> (i64, i64) {
    let add = |(cpu, memory): (i64, i64), usage: &Usage| {
        (cpu.saturating_add(usage.cpu_milli), memory.saturating_add(usage.memory))
    };
    usage.iter().fold((0, 0), add)
}

fn cells((cpu, memory): (i64, i64)) -> [String; 2] {
    [format!("{cpu}m"), format!("{}Mi", memory / MEBIBYTE)]
}

/// By what `--sort-by` says, most first, else by name.
fn sort<T>(rows: &mut [(T, (i64, i64))], top: &Top) {
    match top.sort_by.as_deref() {
        Some("cpu") => rows.sort_by_key(|(_, (cpu, _))| std::cmp::Reverse(*cpu)),
        Some("memory") => rows.sort_by_key(|(_, (_, memory))| std::cmp::Reverse(*memory)),
        _ => {}
    }
}

fn pods(top: &Top, api: &dyn Api, out: &mut Output) {
    let mut rows = Vec::new();
    for found in find(&top.select, api) {
        if let Some(missing) = found.missing {
            return out.fail(missing);
        }
        for object in found.objects {
            let usage = api.usage(&object.key()).unwrap_or_default();
            if !usage.is_empty() {
                let sum = total(&usage);
                rows.push(((object, usage), sum));
            }
        }
    }
    if rows.is_empty() {
        return nothing_found(&top.select, out);
    }
    sort(&mut rows, top);
    let all = rows.iter().fold((0, 0), |(a, b), (_, (cpu, memory))| (a + cpu, b + memory));
    let mut table = Table::default();
    let everywhere = top.select.namespace.is_none();
    let columns: &[&str] = match top.containers {
        true => &["POD", "NAME", "CPU(cores)", "MEMORY(bytes)"],
        false => &["NAME", "CPU(cores)", "MEMORY(bytes)"],
    };
    table.columns.extend(everywhere.then(|| "NAMESPACE".to_string()));
    table.columns.extend(columns.iter().map(|column| column.to_string()));
    let mut row = |object: &Object, name: Option<&str>, sum: (i64, i64)| {
        let meta = object.meta();
        let mut row: Vec<String> = Vec::new();
        row.extend(everywhere.then(|| meta.namespace.to_string()));
        row.push(meta.name.to_string());
        row.extend(name.map(str::to_string));
        row.extend(cells(sum));
        table.rows.push(row);
    };
    for ((object, usage), sum) in &rows {
        if !top.containers {
            row(object, None, *sum);
            continue;
        }
        for container in usage {
            row(object, Some(&container.container), (container.cpu_milli, container.memory));
        }
    }
    if top.sum {
        let before = table.columns.len().saturating_sub(2);
        let blank = |_| String::new();
        let rule = (0..before).map(blank).chain(["________".into(), "________".into()]);
        table.rows.push(rule.collect());
        table.rows.push((0..before).map(blank).chain(cells(all)).collect());
    }
    out.text.push_str(&table.text(!top.no_headers));
}

fn nodes(top: &Top, pods: &[Arc<Object>], api: &dyn Api, out: &mut Output) {
    let mut rows = Vec::new();
    for found in find(&top.select, api) {
        if let Some(missing) = found.missing {
            return out.fail(missing);
        }
        for object in found.objects {
            let name = object.meta().name.clone();
            let here = pods.iter().filter(|pod| {
                pod.as_pod().is_some_and(|pod| pod.spec.node_name.as_ref() == Some(&name))
            });
            let usage: Vec<Usage> =
                here.filter_map(|pod| api.usage(&pod.key())).flatten().collect();
            rows.push((object, total(&usage)));
        }
    }
    sort(&mut rows, top);
    let columns = ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"];
    let mut table = Table { columns: columns.map(String::from).to_vec(), rows: Vec::new() };
    for (object, (cpu, memory)) in &rows {
        let Some(node) = object.as_node() else { continue };
        let allocatable = |resource: &str| node.status.allocatable.get(resource);
        let percent = |used: i64, all: Option<i64>| match all {
            Some(all) if all > 0 => format!("{}%", used.saturating_mul(100) / all),
            _ => "<unknown>".into(),
        };
        let [cores, bytes] = cells((*cpu, *memory));
        table.rows.push(vec![
            object.meta().name.to_string(),
            cores,
            percent(*cpu, allocatable("cpu").map(Quantity::milli_value)),
            bytes,
            percent(*memory, allocatable("memory").map(Quantity::value)),
        ]);
    }
    out.text.push_str(&table.text(!top.no_headers));
}
