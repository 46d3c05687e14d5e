//! Ports of the machine that pods take (`pkg/scheduler/framework`, `HostPortInfo`; plugin
//! NodePorts). Two pods with the same one do not fit on one node. The kubelet asks the same before
//! it runs a pod.

use crate::api::{Container, PodSpec, RestartPolicy, Str, Value};

const ANY_ADDRESS: &str = "0.0.0.0";

/// A port of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    number: i64,
    protocol: Str,
    address: Str,
}

impl HostPort {
    /// Those that a pod of this spec takes, its sidecars' included.
    pub fn of(spec: &PodSpec) -> Vec<HostPort> {
        let is_sidecar = |c: &&Container| c.restart_policy == Some(RestartPolicy::Always);
        let sidecars = spec.init_containers.iter().filter(is_sidecar);
        let ports = sidecars.chain(&spec.containers).filter_map(|c| c.rest.get("ports"));
        ports.filter_map(Value::as_array).flatten().filter_map(HostPort::read).collect()
    }

    fn read(port: &Value) -> Option<HostPort> {
        let text = |key: &str, default: &str| {
            let text = port.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            Str::from(text.unwrap_or(default))
        };
        let number = port.get("hostPort").and_then(Value::as_i64).filter(|number| *number > 0)?;
        Some(HostPort {
            number,
            protocol: text("protocol", "TCP"),
            address: text("hostIP", ANY_ADDRESS),
        })
    }

    /// Whether both cannot be had on one machine.
    pub fn conflicts(&self, other: &HostPort) -> bool {
        let any = &*self.address == ANY_ADDRESS || &*other.address == ANY_ADDRESS;
        self.number == other.number
            && self.protocol == other.protocol
            && (any || self.address == other.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ports(ports: Value) -> Vec<HostPort> {
        let spec = json!({"containers": [{"name": "c", "ports": ports}]});
        HostPort::of(&serde_json::from_value(spec).expect("a pod spec"))
    }

    #[test]
    fn a_port_of_all_addresses_conflicts_with_that_of_one() {
        let all = ports(json!([{"containerPort": 80, "hostPort": 80}]));
        let one = ports(json!([{"containerPort": 81, "hostPort": 80, "hostIP": "10.0.0.1"}]));
        let other = ports(json!([{"containerPort": 81, "hostPort": 80, "hostIP": "10.0.0.2"}]));
        let udp = ports(json!([{"containerPort": 80, "hostPort": 80, "protocol": "UDP"}]));
        assert!(all[0].conflicts(&one[0]) && one[0].conflicts(&all[0]));
        assert!(!one[0].conflicts(&other[0]) && !all[0].conflicts(&udp[0]));
    }

    #[test]
    fn a_port_of_the_container_alone_takes_none_of_the_machine() {
        assert!(ports(json!([{"containerPort": 80}])).is_empty());
    }

    #[test]
    fn of_the_init_containers_only_sidecars_keep_their_ports() {
        let init = |policy: Value| {
            let ports = json!([{"containerPort": 80, "hostPort": 80}]);
            let init = json!({"name": "i", "restartPolicy": policy, "ports": ports});
            let spec = json!({"containers": [], "initContainers": [init]});
            HostPort::of(&serde_json::from_value(spec).expect("a pod spec")).len()
        };
        assert_eq!((init(json!("Always")), init(json!("OnFailure")), init(json!(null))), (1, 0, 0));
    }
}
