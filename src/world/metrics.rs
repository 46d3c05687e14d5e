//! The metrics server: every 15 s it asks the kubelets what each container has used since it last
//! asked, so that what it answers is a little old. Containers run no programs here, so the load is
//! what the scenario says.
//!
//! Follows <https://github.com/kubernetes-sigs/metrics-server> with `--metric-resolution=15s`: two
//! points are needed for a rate, so a pod that has just started has no sample. A workload whose
//! load nobody states has none either. An edge-triggered autoscaler is told when what its pods use
//! has changed, as an alerting rule would; a level-triggered one asks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::api::{
    Generic, Kind, LabelSelector, Object, ObjectKey, Pod, PodPhase, Quantity, QuantityFormat, Str,
    Timestamp,
};
use crate::apiserver::{Response, Store, WatchEvent, WatchEventType};
use crate::controllers::horizontal_autoscaler::history::History;
use crate::controllers::horizontal_autoscaler::pods::{StartUp, group};
use crate::controllers::horizontal_autoscaler::readings::Readings;
use crate::controllers::horizontal_autoscaler::reconcile::{Input, decide};
use crate::controllers::horizontal_autoscaler::spec::{Scale, Spec};
use crate::kernel::{Rng, Time, stable_hash};

use super::ControllerId;
use super::options::Flavour;
use super::step::Step;
use super::truth::Shortfall;
use super::world::World;

/// From one scrape to the next.
pub const RESOLUTION: Duration = Duration::from_secs(15);
/// Loads that a run may state.
pub const LOADS_MAX: usize = 2_000;

/// What the pods of a workload use, from a moment on.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// From when.
    pub at: Time,
    /// The workload, or one pod.
    pub target: ObjectKey,
    /// `cpu`, `memory`, or a custom metric of the pods.
    pub metric: Str,
    /// So much, in thousandths.
    pub milli: i64,
    /// All its ready pods together; else each pod.
    pub total: bool,
}

/// The metrics server.
#[derive(Clone, Debug, Default)]
pub struct MetricsServer {
    loads: Vec<Load>,
    samples: BTreeMap<ObjectKey, Value>,
    /// What each edge-triggered autoscaler was told last, as a hash.
    told: BTreeMap<ObjectKey, u64>,
    /// Whether somebody asks.
    runs: bool,
}

impl MetricsServer {
    /// With these loads.
    pub fn new(loads: Vec<Load>) -> MetricsServer {
        let mut server = MetricsServer { loads, ..MetricsServer::default() };
        server.loads.sort_by_key(|load| load.at);
        server
    }

    /// A `PodMetricsList` of a namespace.
    fn list(&self, namespace: &str) -> Object {
        let own = self.samples.iter().filter(|(key, _)| *key.namespace == *namespace);
        let items: Vec<Value> = own.map(|(_, item)| item.clone()).collect();
        let mut list = Generic {
            kind: Kind::PodMetrics,
            metadata: Default::default(),
            rest: Default::default(),
        };
        list.metadata.namespace = namespace.into();
        list.rest.insert("items".into(), items.into());
        Object::Generic(list)
    }

    /// The average of a metric of these targets over the last span, in thousandths, and whether
    /// the ready pods share it.
    fn average(&self, targets: &[ObjectKey], metric: &str, now: Time) -> Option<(i64, bool)> {
        let own: Vec<&Load> = self
            .loads
            .iter()
            .filter(|load| load.at <= now && *load.metric == *metric)
            .filter(|load| targets.contains(&load.target))
            .collect();
        let last = own.last()?;
        let since = now - RESOLUTION;
        let (mut sum, mut until) = (0i128, now);
        for load in own.iter().rev() {
            let from = load.at.max(since);
            sum += i128::from(load.milli) * until.since(from).as_nanos() as i128;
            until = until.min(from);
            if load.at <= since {
                break;
            }
        }
        let span = now.since(since).as_nanos().max(1) as i128;
        Some((i64::try_from(sum / span).unwrap_or(i64::MAX), last.total))
    }
}

impl World {
    /// Whether so many loads more may be stated.
    pub fn takes_loads(&self, more: usize) -> bool {
        self.metrics.loads.len() + more <= LOADS_MAX
    }

    /// Says what the pods of a workload use from now on. One too many is not heard.
    pub fn set_load(&mut self, load: Load) {
        self.hash.text(&format!("{load:?}"));
        if self.takes_loads(1) {
            self.metrics.loads.push(load);
        }
    }

    /// Whether anything is said of memory by now.
    pub(super) fn states_memory(&self) -> bool {
        let mut loads = self.metrics.loads.iter();
        loads.any(|load| &*load.metric == "memory" && load.at <= self.now)
    }

    /// What the containers of a pod take, in thousandths of a byte, if anything is said of it.
    pub(super) fn memory_shares(&self, pod: &Pod) -> Option<Vec<i64>> {
        let targets = targets(self.store(), pod);
        let (value, total) = self.metrics.average(&targets, "memory", self.now)?;
        let value = match (total, pod.is_ready()) {
            (true, true) => value / targets.last().map_or(1, |t| self.ready_pods_of(t)).max(1),
            (true, false) => 0,
            _ => value,
        };
        let count = i64::try_from(pod.spec.containers.len()).unwrap_or(1).max(1);
        Some((0..count).map(|index| share(value, count, index == 0)).collect())
    }

    /// The metrics server begins when somebody is there to ask.
    pub(super) fn start_metrics(&mut self) {
        if std::mem::replace(&mut self.metrics.runs, true) {
            return;
        }
        let phase = Rng::stream(self.options.seed, "metrics-server").below(15_000);
        self.put(self.now + Duration::from_millis(phase), Step::Scrape);
    }

    /// What the metrics API answers.
    pub(super) fn read_metrics(&self, key: &ObjectKey) -> Response {
        Ok(Arc::new(self.metrics.list(&key.namespace)))
    }

    pub(super) fn scrape(&mut self) {
        self.put(self.now + RESOLUTION, Step::Scrape);
        let pods = self.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let running: Vec<(&Pod, Vec<ObjectKey>)> = pods
            .filter(|pod| self.is_measured(pod))
            .map(|pod| (pod, targets(self.store(), pod)))
            .collect();
        let mut ready: BTreeMap<&ObjectKey, i64> = BTreeMap::new();
        for (pod, targets) in &running {
            for target in targets {
                *ready.entry(target).or_default() += i64::from(pod.is_ready());
            }
        }
        let mut samples = BTreeMap::new();
        for (pod, targets) in &running {
            let sharing = targets.last().and_then(|target| ready.get(target)).copied();
            if let Some(item) = self.sample(pod, targets, sharing.unwrap_or(0).max(1)) {
                let meta = &pod.metadata;
                let key = ObjectKey::new(Kind::Pod, meta.namespace.clone(), meta.name.clone());
                samples.insert(key, item);
            }
        }
        self.metrics.samples = samples;
        self.alert();
    }

    /// It runs, its machine runs, and it has for a whole span.
    fn is_measured(&self, pod: &Pod) -> bool {
        let node = pod.spec.node_name.as_ref().and_then(|name| self.node_number(name));
        let powered = node
            .and_then(|node| self.kubelets().get(usize::from(node)))
            .is_some_and(|kubelet| kubelet.is_powered());
        let reached = node.is_some_and(|node| self.is_connected(node));
        let began = pod.status.container_statuses.iter().filter_map(|status| {
            status.state.running.as_ref().and_then(|running| running.started_at)
        });
        let began = began.max().map(Timestamp::to_time);
        pod.phase() == PodPhase::Running
            && powered
            && reached
            && began.is_some_and(|began| began + RESOLUTION <= self.now)
    }

    fn sample(&self, pod: &Pod, targets: &[ObjectKey], sharing: i64) -> Option<Value> {
        let mut names: Vec<&Str> = self.metrics.loads.iter().map(|load| &load.metric).collect();
        names.sort();
        names.dedup();
        let (mut usage, mut custom) = (BTreeMap::new(), Map::new());
        for name in names {
            let Some((value, total)) = self.metrics.average(targets, name, self.now) else {
                continue;
            };
            let value = match (total, pod.is_ready()) {
                (true, true) => value / sharing,
                (true, false) => 0,
                _ => value,
            };
            match &**name {
                "cpu" | "memory" => _ = usage.insert(name.clone(), value),
                _ => _ = custom.insert(name.to_string(), text(name, value)),
            }
        }
        if usage.is_empty() && custom.is_empty() {
            return None;
        }
        let count = i64::try_from(pod.spec.containers.len()).unwrap_or(1).max(1);
        let containers = pod.spec.containers.iter().enumerate().map(|(index, container)| {
            let own = |value: i64| share(value, count, index == 0);
            let usage: Map<String, Value> = usage
                .iter()
                .map(|(name, value)| (name.to_string(), text(name, own(*value))))
                .collect();
            json!({"name": container.name, "usage": usage})
        });
        let containers: Vec<Value> = containers.collect();
        let meta = &pod.metadata;
        Some(json!({
            "metadata":
                {"name": meta.name, "namespace": meta.namespace, "labels": meta.labels},
            "timestamp": Timestamp::from(self.now),
            "window": format!("{}s", RESOLUTION.as_secs()),
            "containers": containers,
            "custom": custom,
        }))
    }

    /// Tells edge-triggered autoscalers whose pods' use has changed.
    fn alert(&mut self) {
        let id = ControllerId::HorizontalAutoscaler;
        let Some(stream) = self.news_stream(id, Kind::PodMetrics) else { return };
        let autoscalers: Vec<Arc<Object>> =
            self.store().list(Kind::HorizontalPodAutoscaler).cloned().collect();
        for autoscaler in autoscalers {
            let (key, meta) = (autoscaler.key(), autoscaler.meta());
            let list = self.metrics.list(&meta.namespace);
            let Some(digest) = self.digest(&autoscaler, &list) else { continue };
            if self.metrics.told.insert(key, digest) == Some(digest) {
                continue;
            }
            let mut object = list;
            object.meta_mut().name = meta.name.clone();
            let event = WatchEvent {
                kind: WatchEventType::Modified,
                object: Arc::new(object),
                revision: self.store().revision(),
            };
            self.send(stream, event, false);
        }
    }

    /// What an autoscaler could make of the samples: its pods, what they use, and whether each
    /// counts.
    fn digest(&self, autoscaler: &Object, list: &Object) -> Option<u64> {
        let spec = Spec::read(autoscaler.as_generic()?);
        let scale = Scale::of(self.store().get(spec.target.as_ref()?)?)?;
        let (pods, readings) =
            (self.selected(autoscaler, &scale.selector), Readings::of_list(list));
        let samples = readings.resource("cpu", None, |labels| scale.selector.matches(labels));
        let samples = samples.unwrap_or_default();
        let now = Timestamp::from(self.now);
        let groups = group(&pods, &samples, "cpu", StartUp::default(), now);
        let used: Vec<_> = readings
            .pods
            .iter()
            .filter(|pod| scale.selector.matches(&pod.labels))
            .map(|pod| (&pod.name, &pod.containers, &pod.custom))
            .collect();
        Some(stable_hash(0, format!("{groups:?}{used:?}").as_bytes()))
    }

    fn selected(&self, autoscaler: &Object, selector: &LabelSelector) -> Vec<&Pod> {
        let pods = self.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let namespace = &autoscaler.meta().namespace;
        pods.filter(|pod| {
            pod.metadata.namespace == *namespace && selector.matches(&pod.metadata.labels)
        })
        .collect()
    }

    /// Autoscalers whose target is not as large as the present metrics ask for.
    pub(super) fn autoscaler_shortfalls(&self) -> Vec<Shortfall> {
        let autoscalers = self.store().list(Kind::HorizontalPodAutoscaler);
        autoscalers.filter_map(|object| self.autoscaler_shortfall(object)).collect()
    }

    fn autoscaler_shortfall(&self, object: &Arc<Object>) -> Option<Shortfall> {
        let spec = Spec::read(object.as_generic()?);
        let scale = Scale::of(self.store().get(spec.target.as_ref()?)?)?;
        let readings = Readings::of_list(&self.metrics.list(&object.meta().namespace));
        let pods = self.selected(object, &scale.selector);
        let (scale, start_up, now) = (Ok(scale), StartUp::default(), self.now);
        let rivals = self.rivals_of(object, &pods);
        let readings = &readings;
        let input = Input { object, spec: &spec, scale, pods, rivals, readings, start_up, now };
        let decision = decide(&input, &mut History::default());
        let want = decision.raw.unwrap_or(decision.desired);
        let (want, have) = (i64::from(want), i64::from(decision.current));
        (want != have).then(|| Shortfall { object: object.key(), want, have })
    }

    /// Other autoscalers that count one of these pods.
    fn rivals_of(&self, object: &Arc<Object>, pods: &[&Pod]) -> Vec<ObjectKey> {
        let counts = |other: &&Arc<Object>| {
            let target = other.as_generic().and_then(|own| Spec::read(own).target);
            let scale = target.and_then(|target| Scale::of(self.store().get(&target)?));
            scale.is_some_and(|scale| {
                pods.iter().any(|pod| scale.selector.matches(&pod.metadata.labels))
            })
        };
        let all = self.store().list(Kind::HorizontalPodAutoscaler).filter(|other| {
            other.meta().namespace == object.meta().namespace
                && other.meta().name != object.meta().name
        });
        all.filter(counts).map(|other| other.key()).collect()
    }

    /// The stream by which the outside world tells a process something, if it listens.
    pub(super) fn news_stream(&self, id: ControllerId, kind: Kind) -> Option<usize> {
        let process = self.process(id)?;
        let told = process.flavour == Flavour::Edge && process.alive;
        let of_kind = |stream: &super::stream::Stream| stream.owner == id && stream.kind == kind;
        let index = self.streams().iter().position(of_kind)?;
        (told && self.streams()[index].open).then_some(index)
    }
}

/// A pod's own key, its owner's, and its owner's owner's.
pub(super) fn targets(store: &Store, pod: &Pod) -> Vec<ObjectKey> {
    let meta = &pod.metadata;
    let mut keys = vec![ObjectKey::new(Kind::Pod, meta.namespace.clone(), meta.name.clone())];
    let mut owner = meta.controller().cloned();
    while let Some(reference) = owner.filter(|_| keys.len() < 4) {
        let Some(kind) = Kind::of_manifest(&reference.api_version, &reference.kind) else { break };
        let key = ObjectKey::new(kind, meta.namespace.clone(), reference.name.clone());
        owner = store.get(&key).and_then(|object| object.meta().controller().cloned());
        keys.push(key);
    }
    keys
}

/// What one of so many containers has of their pod's use: the first has what does not divide.
fn share(value: i64, count: i64, is_first: bool) -> i64 {
    value / count + if is_first { value % count } else { 0 }
}

fn text(metric: &str, milli: i64) -> Value {
    let quantity = match metric {
        "memory" => Quantity::from_value(milli / 1_000, QuantityFormat::BinarySi),
        _ => Quantity::from_milli(milli, QuantityFormat::DecimalSi),
    };
    quantity.to_string().into()
}
