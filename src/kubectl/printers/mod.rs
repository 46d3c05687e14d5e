//! Tables, as the API server's table printer and kubectl make them.
//!
//! Follows `pkg/printers/internalversion/printers.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36> and cli-runtime `pkg/printers`.

pub mod autoscaler;
mod defined;
mod event;
mod generic;
mod job;
mod node;
mod pod;
mod policy;
mod workload;

use std::sync::Arc;

use crate::api::{Kind, Object, Timestamp};

use super::duration::age;

pub use pod::status as pod_status;

/// How a table is asked for.
#[derive(Clone, Copy, Default)]
pub struct Look<'a> {
    /// `-o wide`.
    pub wide: bool,
    /// The kind before the name.
    pub with_kind: bool,
    /// A column with the namespace.
    pub with_namespace: bool,
    /// `--show-labels`.
    pub show_labels: bool,
    /// `-L`.
    pub label_columns: &'a [String],
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The words above the columns.
    pub columns: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// The table of objects of one kind.
pub fn table(kind: Kind, objects: &[Arc<Object>], now: Timestamp, look: &Look<'_>) -> Table {
    let columns: Vec<String> = match kind.is_custom() {
        true => defined::columns(kind, look.wide),
        false => columns(kind, look.wide).into_iter().map(Into::into).collect(),
    };
    let mut table = Table { columns: columns.clone(), rows: Vec::new() };
    for object in objects {
        let mut row = row(object, now, look.wide);
        if look.with_kind {
            let at = columns.iter().position(|column| column == "NAME");
            if let Some(cell) = at.and_then(|at| row.get_mut(at)) {
                *cell = format!("{}/{cell}", kind.printed());
            }
        }
        table.rows.push(row);
    }
    table.add(objects, kind, look);
    table
}

fn columns(kind: Kind, wide: bool) -> Vec<&'static str> {
    let (plain, more): (&[&str], &[&str]) = match kind {
        Kind::Pod => (pod::COLUMNS, pod::WIDE),
        Kind::Deployment => (workload::DEPLOYMENT, workload::WIDE),
        Kind::ReplicaSet | Kind::ReplicationController => (workload::REPLICA_SET, workload::WIDE),
        Kind::StatefulSet => (workload::STATEFUL_SET, workload::WIDE_SHORT),
        Kind::DaemonSet => (workload::DAEMON_SET, workload::WIDE),
        Kind::Node => (node::COLUMNS, node::WIDE),
        Kind::Event if wide => (event::WIDE, &[]),
        Kind::Event => (event::COLUMNS, &[]),
        Kind::Job => (job::COLUMNS, workload::WIDE),
        Kind::HorizontalPodAutoscaler => (autoscaler::COLUMNS, &[]),
        Kind::ResourceQuota => (policy::QUOTA, &[]),
        Kind::LimitRange | Kind::CustomResourceDefinition => (policy::CREATED, &[]),
        other => (generic::columns(other), &[]),
    };
    let more = if wide { more } else { &[] };
    plain.iter().chain(more).copied().collect()
}

fn row(object: &Object, now: Timestamp, wide: bool) -> Vec<String> {
    match object {
        Object::Pod(pod) => pod::row(pod, now, wide),
        Object::Deployment(deployment) => workload::deployment(deployment, now, wide),
        Object::ReplicaSet(set) => workload::replica_set(set, now, wide),
        Object::Node(node) => node::row(node, now, wide),
        Object::Event(event) => event::row(event, now, wide),
        Object::Lease(lease) => {
            let holder = lease.spec.holder_identity.as_deref().unwrap_or("").to_string();
            let meta = &lease.metadata;
            vec![meta.name.to_string(), holder, age(meta.creation_timestamp, now)]
        }
        Object::Generic(object) => match object.kind {
            Kind::Job => job::row(object, now, wide),
            Kind::HorizontalPodAutoscaler => autoscaler::row(object, now),
            Kind::ResourceQuota => policy::quota(object, now),
            Kind::LimitRange | Kind::CustomResourceDefinition => policy::created(object),
            Kind::Custom(_) => defined::row(object, now, wide),
            Kind::StatefulSet | Kind::DaemonSet | Kind::ReplicationController => {
                workload::generic(object, now, wide)
            }
            _ => generic::row(object, now),
        },
    }
}

impl Table {
    /// The columns that any table may have.
    fn add(&mut self, objects: &[Arc<Object>], kind: Kind, look: &Look<'_>) {
        if look.with_namespace && kind.info().namespaced {
            self.columns.insert(0, "NAMESPACE".into());
            for (row, object) in self.rows.iter_mut().zip(objects) {
                row.insert(0, object.meta().namespace.to_string());
            }
        }
        for label in look.label_columns {
            let short = label.rsplit('/').next().unwrap_or(label);
            self.columns.push(short.to_ascii_uppercase());
            for (row, object) in self.rows.iter_mut().zip(objects) {
                let value = object.meta().labels.get(label.as_str());
                row.push(value.map_or(String::new(), |value| value.to_string()));
            }
        }
        if look.show_labels {
            self.columns.push("LABELS".into());
            for (row, object) in self.rows.iter_mut().zip(objects) {
                row.push(pairs(object.meta().labels.iter().map(|(k, v)| (&**k, &**v))));
            }
        }
    }

    /// As text: columns three blanks apart, none behind the last.
    pub fn text(&self, headers: bool) -> String {
        self.aligned(headers, &mut Vec::new())
    }

    /// The same below rows that were printed before: no column is narrower than it was.
    pub fn aligned(&self, headers: bool, widths: &mut Vec<usize>) -> String {
        let head = headers.then_some(&self.columns);
        let rows: Vec<&Vec<String>> = head.into_iter().chain(&self.rows).collect();
        for row in &rows {
            for (at, cell) in row.iter().enumerate() {
                let width = (cell.chars().count() + 3).max(6);
                match widths.get_mut(at) {
                    Some(most) => *most = width.max(*most),
                    None => widths.push(width),
                }
            }
        }
        let mut text = String::new();
        for row in rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if at + 1 < row.len() {
                    let width = widths.get(at).copied().unwrap_or(0);
                    let blanks = width.saturating_sub(cell.chars().count());
                    line.extend(std::iter::repeat_n(' ', blanks));
                }
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

/// `a=b,c=d`, or `<none>`.
pub fn pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let list: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
    if list.is_empty() { "<none>".into() } else { list.join(",") }
}

/// The text, or `<none>` if there is none.
fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_three_blanks_apart() {
        let table = Table {
            columns: vec!["NAME".into(), "A".into(), "AGE".into()],
            rows: vec![vec!["web-1".into(), "1".into(), "5s".into()]],
        };
        assert_eq!(table.text(true), "NAME    A     AGE\nweb-1   1     5s\n");
        assert_eq!(table.text(false), "web-1   1     5s\n");
    }
}
