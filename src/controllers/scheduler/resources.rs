//! What pods request and nodes have, as the scheduler adds it up
//! (`k8s.io/component-helpers/resource`, `PodRequests`; `pkg/scheduler/framework`, `Resource`).
//! Pod-level `spec.resources` and the sizes of resizes under way are left out.

use std::collections::BTreeMap;

use crate::api::{Container, PodSpec, Quantity, RestartPolicy, Str};

use super::ports::HostPort;

/// What a container without a cpu request counts as when nodes are scored (`GetNonzeroRequests`).
pub const DEFAULT_CPU_MILLI: i64 = 100;
/// The same for memory: 200 MiB.
pub const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

/// Amounts of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Thousandths of a cpu.
    pub cpu_milli: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral_storage: i64,
    /// Places for pods; only of nodes.
    pub pods: i64,
    /// Huge pages and extended resources, by name.
    pub others: BTreeMap<Str, i64>,
}

impl Resources {
    /// The amounts of a resource list.
    pub fn of(list: &BTreeMap<Str, Quantity>) -> Resources {
        let mut sum = Resources::default();
        for (name, quantity) in list {
            match &**name {
                "cpu" => sum.cpu_milli = quantity.milli_value(),
                "memory" => sum.memory = quantity.value(),
                "ephemeral-storage" => sum.ephemeral_storage = quantity.value(),
                "pods" => sum.pods = quantity.value(),
                _ => {
                    sum.others.insert(name.clone(), quantity.value());
                }
            }
        }
        sum
    }

    fn each(&mut self, other: &Resources, change: fn(i64, i64) -> i64) {
        self.cpu_milli = change(self.cpu_milli, other.cpu_milli);
        self.memory = change(self.memory, other.memory);
        self.ephemeral_storage = change(self.ephemeral_storage, other.ephemeral_storage);
        self.pods = change(self.pods, other.pods);
        for (name, amount) in &other.others {
            let own = self.others.entry(name.clone()).or_default();
            *own = change(*own, *amount);
        }
    }

    /// Adds other amounts.
    pub fn add(&mut self, other: &Resources) {
        self.each(other, i64::saturating_add);
    }

    /// Takes other amounts away.
    pub fn subtract(&mut self, other: &Resources) {
        self.each(other, i64::saturating_sub);
    }

    /// Raises each amount to at least that of the other.
    pub fn raise_to(&mut self, other: &Resources) {
        self.each(other, i64::max);
    }

    /// The amount of the resource of this name.
    pub fn amount(&self, name: &str) -> i64 {
        match name {
            "cpu" => self.cpu_milli,
            "memory" => self.memory,
            "ephemeral-storage" => self.ephemeral_storage,
            "pods" => self.pods,
            _ => self.others.get(name).copied().unwrap_or_default(),
        }
    }
}

/// What a pod takes on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// What it requests.
    pub request: Resources,
    /// Thousandths of a cpu that scoring counts: containers without a request count by default.
    pub scored_cpu_milli: i64,
    /// The same for memory, in bytes.
    pub scored_memory: i64,
    /// Ports of the machine.
    pub ports: Vec<HostPort>,
}

impl Usage {
    /// What a pod of this spec takes.
    pub fn of(spec: &PodSpec) -> Usage {
        let scored = pod_total(spec, |container| {
            let requests = &container.resources.requests;
            let of = |name: &str, default, read: fn(&Quantity) -> i64| {
                requests.get(name).map_or(default, read)
            };
            Resources {
                cpu_milli: of("cpu", DEFAULT_CPU_MILLI, Quantity::milli_value),
                memory: of("memory", DEFAULT_MEMORY, Quantity::value),
                ..Resources::default()
            }
        });
        Usage {
            request: pod_total(spec, |c| Resources::of(&c.resources.requests)),
            scored_cpu_milli: scored.cpu_milli,
            scored_memory: scored.memory,
            ports: HostPort::of(spec),
        }
    }
}

/// All containers run together, beside the sidecars; before that each init container runs beside
/// the sidecars that stand before it. A pod needs the larger of the two, and its overhead.
fn pod_total(spec: &PodSpec, of: impl Fn(&Container) -> Resources) -> Resources {
    let mut total = Resources::default();
    for container in &spec.containers {
        total.add(&of(container));
    }
    let (mut sidecars, mut largest) = (Resources::default(), Resources::default());
    for container in &spec.init_containers {
        let mut now = of(container);
        now.add(&sidecars);
        if container.restart_policy == Some(RestartPolicy::Always) {
            sidecars = now.clone();
        }
        largest.raise_to(&now);
    }
    total.add(&sidecars);
    total.raise_to(&largest);
    if let Some(overhead) = spec.rest.get("overhead") {
        let list = serde_json::from_value(overhead.clone()).unwrap_or_default();
        total.add(&Resources::of(&list));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn usage(spec: serde_json::Value) -> Usage {
        Usage::of(&serde_json::from_value(spec).expect("a pod spec"))
    }

    fn container(cpu: &str) -> serde_json::Value {
        json!({"name": "c", "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn containers_add_up_and_the_largest_init_container_counts_alone() {
        let spec = json!({
            "containers": [container("100m"), container("200m")],
            "initContainers": [container("250m"), container("400m")],
        });
        assert_eq!(usage(spec).request.cpu_milli, 400);
    }

    #[test]
    fn a_sidecar_counts_beside_the_containers_and_beside_later_init_containers() {
        let mut sidecar = container("50m");
        sidecar["restartPolicy"] = json!("Always");
        let spec = json!({
            "containers": [container("100m")],
            "initContainers": [container("120m"), sidecar, container("80m")],
            "overhead": {"cpu": "1"},
        });
        assert_eq!(usage(spec).request.cpu_milli, 1150);
    }

    #[test]
    fn a_container_without_a_request_counts_by_default_when_scored() {
        let spec = json!({"containers": [{"name": "a"}, container("0")]});
        let usage = usage(spec);
        assert_eq!(usage.request, Resources::default());
        assert_eq!(usage.scored_cpu_milli, DEFAULT_CPU_MILLI);
        assert_eq!(usage.scored_memory, 2 * DEFAULT_MEMORY);
    }
}
