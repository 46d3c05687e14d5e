//! Containers that take more memory than their limit allows: the kernel kills them, and the kubelet
//! reports `OOMKilled`. Containers run no programs here, so what they take is what a scenario's
//! `load` says of their workload, spread as the metrics server reports it.
//!
//! Simplified: the kernel looks with each heartbeat of its node, at containers that have run for as
//! long as it takes to fill their memory (`GROWTH`). A node never runs out of memory as a whole,
//! and without a limit a container is never killed.

use std::time::Duration;

use crate::api::{Kind, ObjectKey, Pod, Timestamp};
use crate::kernel::Time;

use super::world::World;

/// For how long a container runs before it has taken what it will.
const GROWTH: Duration = Duration::from_secs(15);

impl World {
    /// Kills what takes too much memory on a node.
    pub(super) fn kill_for_memory(&mut self, node: u16) {
        if !self.states_memory() {
            return;
        }
        let now = self.now;
        let Some(kubelet) = self.kubelets.get(usize::from(node)) else { return };
        let running: Vec<ObjectKey> = kubelet.running_pods().cloned().collect();
        for key in running {
            let pod = self.store().get(&key).and_then(|object| object.as_pod());
            let greedy = pod.map(|pod| self.greedy(pod)).unwrap_or_default();
            for container in greedy {
                let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) else { return };
                let keys = kubelet.crash_container(&key, Some(&container), now, true);
                self.wake_kubelet(node, keys);
            }
        }
    }

    /// The containers of a pod that take more than they may.
    fn greedy(&self, pod: &Pod) -> Vec<String> {
        let Some(shares) = self.memory_shares(pod) else { return Vec::new() };
        let takes_too_much = |(container, takes): &(&crate::api::Container, i64)| {
            let limit = container.resources.limits.get("memory");
            limit.is_some_and(|limit| *takes > limit.milli_value())
                && has_grown(pod, &container.name, self.now)
        };
        let all = pod.spec.containers.iter().zip(shares);
        all.filter(takes_too_much).map(|(container, _)| container.name.to_string()).collect()
    }

    /// How many ready pods share the load of a workload.
    pub(super) fn ready_pods_of(&self, target: &ObjectKey) -> i64 {
        let pods = self.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let ready = pods.filter(|pod| pod.is_ready());
        ready.filter(|pod| super::metrics::targets(self.store(), pod).contains(target)).count()
            as i64
    }
}

fn has_grown(pod: &Pod, container: &str, now: Time) -> bool {
    let mut statuses = pod.status.container_statuses.iter();
    let status = statuses.find(|status| *status.name == *container);
    let running = status.and_then(|status| status.state.running.as_ref()?.started_at);
    running.map(Timestamp::to_time).is_some_and(|since| now.since(since) >= GROWTH)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::Object;
    use crate::apiserver::Request;
    use crate::world::lab::run_for;
    use crate::world::{Load, Options};

    /// A Deployment of two with this limit, each of which has used 300 MB since 60 s.
    fn cluster(limit: Value, total: bool) -> World {
        let target = ObjectKey::new(Kind::Deployment, "default", "web");
        let (at, milli) = (Time::from_secs(60), 300_000_000 * 1_000);
        let load = Load { at, target, metric: "memory".into(), milli, total };
        let mut world = World::new(Options { load: vec![load], ..Options::default() });
        let container = json!({
            "name": "c", "image": "registry.example/web:1", "resources": {"limits": limit},
        });
        let value = json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]},
                },
            },
        });
        let object = Object::from_value(Kind::Deployment, value).expect("a deployment");
        world.request(&Request::Create(Arc::new(object))).expect("created");
        run_for(&mut world, 59);
        world
    }

    /// How often containers were killed for their memory, by their last end.
    fn killed(world: &World) -> (i32, usize) {
        let pods = world.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let statuses = pods.flat_map(|pod| pod.status.container_statuses.iter());
        let mut sum = (0, 0);
        for status in statuses {
            sum.0 += status.restart_count;
            let ended = status.last_state.terminated.as_ref();
            let is_oom = ended.is_some_and(|e| e.reason.as_deref() == Some("OOMKilled"));
            sum.1 += usize::from(is_oom);
        }
        sum
    }

    #[test]
    fn a_container_that_takes_more_than_its_limit_is_killed_again_and_again() {
        let mut world = cluster(json!({"memory": "200M"}), false);
        assert_eq!(killed(&world), (0, 0));
        run_for(&mut world, 30);
        assert_eq!(killed(&world), (2, 2));
        run_for(&mut world, 300);
        let (restarts, by_memory) = killed(&world);
        assert!((6..=14).contains(&restarts), "{restarts}: with the restarts' back-off");
        assert_eq!(by_memory, 2);
    }

    #[test]
    fn what_stays_below_the_limit_or_has_none_runs_on() {
        let large = || json!({"memory": "400M"});
        for (limit, total) in [(large(), false), (json!({}), false), (json!({"cpu": "1"}), false)] {
            let mut world = cluster(limit, total);
            run_for(&mut world, 120);
            assert_eq!(killed(&world), (0, 0));
        }
        let mut world = cluster(json!({"memory": "200M"}), true);
        run_for(&mut world, 120);
        assert_eq!(killed(&world), (0, 0), "each has half of it");
    }
}
