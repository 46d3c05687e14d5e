//! What the metrics APIs answered: per-pod samples of the metrics server, and, where somebody
//! serves them, custom and external metrics. All values are thousandths, as the real client hands
//! them to the calculator (`pkg/controller/podautoscaler/metrics`).

use std::collections::BTreeMap;

use crate::api::{Object, Quantity, Str, StrMap, Timestamp, Value};

/// One pod's usage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodReading {
    /// The pod.
    pub name: Str,
    /// Its labels.
    pub labels: StrMap,
    /// The end of the span that was measured.
    pub timestamp: Timestamp,
    /// Its length in seconds.
    pub window: i64,
    /// By container, the usage of each resource in thousandths.
    pub containers: Vec<(Str, BTreeMap<Str, i64>)>,
    /// Custom metrics of the pod.
    pub custom: BTreeMap<Str, i64>,
}

/// What was read for one pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// Of the pods of the namespace.
    pub pods: Vec<PodReading>,
    /// Of other objects, by metric name.
    pub objects: BTreeMap<Str, i64>,
    /// External, by metric name: all series.
    pub external: BTreeMap<Str, Vec<i64>>,
    /// Why nothing could be read.
    pub failure: Option<String>,
}

/// A sample as the calculator takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// In thousandths.
    pub value: i64,
    /// The end of its span.
    pub timestamp: Timestamp,
    /// The span's length in seconds.
    pub window: i64,
}

/// Samples by pod name.
pub type Samples = BTreeMap<Str, Sample>;

impl Readings {
    /// Reads a `PodMetricsList`, with what the other two metrics APIs would say beside it; nothing,
    /// if it is none.
    pub fn of_list(list: &Object) -> Readings {
        let items = list.as_generic().and_then(|list| list.rest.get("items"));
        let items = items.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = |field: &str| list.as_generic().and_then(|list| list.rest.get(field));
        let series = |(name, values): (&String, &Value)| {
            let values = values.as_array().map_or(&[][..], Vec::as_slice);
            (Str::from(name.as_str()), values.iter().filter_map(milli).collect())
        };
        let external = rest("external").and_then(Value::as_object).into_iter().flatten();
        Readings {
            pods: items.iter().map(pod_reading).collect(),
            objects: quantities(rest("objects")),
            external: external.map(series).collect(),
            failure: None,
        }
    }

    /// The usage of a resource by the pods that `selects`, of one container or of all
    /// (`GetResourceMetric`).
    pub fn resource(
        &self,
        resource: &str,
        container: Option<&str>,
        selects: impl Fn(&StrMap) -> bool,
    ) -> Result<Samples, String> {
        if let Some(failure) = &self.failure {
            return Err(format!("unable to fetch metrics from resource metrics API: {failure}"));
        }
        let mut chosen = self.pods.iter().filter(|pod| selects(&pod.labels)).peekable();
        if chosen.peek().is_none() {
            return Err("no metrics returned from resource metrics API".into());
        }
        let samples = chosen.filter_map(|pod| {
            let of_container =
                |(name, _): &&(Str, _)| container.is_none_or(|wanted| **name == *wanted);
            let usage: Option<Vec<i64>> = pod
                .containers
                .iter()
                .filter(of_container)
                .map(|(_, usage)| usage.get(resource).copied())
                .collect();
            let usage = usage.filter(|usage| !usage.is_empty())?;
            let value = usage.into_iter().fold(0i64, i64::saturating_add);
            Some((pod.name.clone(), pod.sample(value)))
        });
        Ok(samples.collect())
    }

    /// A custom metric of the pods that `selects` (`GetRawMetric`).
    pub fn custom(
        &self,
        metric: &str,
        selects: impl Fn(&StrMap) -> bool,
    ) -> Result<Samples, String> {
        let failed =
            |why: &str| Err(format!("unable to fetch metrics from custom metrics API: {why}"));
        if let Some(failure) = &self.failure {
            return failed(failure);
        }
        let chosen = self.pods.iter().filter(|pod| selects(&pod.labels));
        let samples: Samples = chosen
            .filter_map(|pod| Some((pod.name.clone(), pod.sample(*pod.custom.get(metric)?))))
            .collect();
        match samples.is_empty() {
            true => failed(&format!("the server could not find the metric {metric} for pods")),
            false => Ok(samples),
        }
    }

    /// A metric of another object.
    pub fn object(&self, metric: &str) -> Result<i64, String> {
        let why = match (self.objects.get(metric), &self.failure) {
            (Some(value), None) => return Ok(*value),
            (_, Some(failure)) => failure.clone(),
            _ => format!("the server could not find the metric {metric}"),
        };
        Err(format!("unable to fetch metrics from custom metrics API: {why}"))
    }

    /// An external metric, summed over its series.
    pub fn external(&self, metric: &str) -> Result<i64, String> {
        let why = match (self.external.get(metric), &self.failure) {
            (Some(series), None) => {
                return Ok(series.iter().fold(0i64, |sum, value| sum.saturating_add(*value)));
            }
            (_, Some(failure)) => failure.clone(),
            _ => "the server could not find the requested resource".into(),
        };
        Err(format!("unable to fetch metrics from external metrics API: {why}"))
    }
}

impl PodReading {
    fn sample(&self, value: i64) -> Sample {
        Sample { value, timestamp: self.timestamp, window: self.window }
    }
}

fn pod_reading(item: &Value) -> PodReading {
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let labels = item.pointer("/metadata/labels").cloned().unwrap_or_default();
    let containers = item.get("containers").and_then(Value::as_array);
    let containers = containers.into_iter().flatten().map(|container| {
        let name = container.get("name").and_then(Value::as_str).unwrap_or("");
        (name.into(), quantities(container.get("usage")))
    });
    PodReading {
        name: text("/metadata/name").into(),
        labels: serde_json::from_value(labels).unwrap_or_default(),
        timestamp: Timestamp::parse(text("/timestamp")).unwrap_or_default(),
        window: text("/window").trim_end_matches('s').parse().unwrap_or(0),
        containers: containers.collect(),
        custom: quantities(item.get("custom")),
    }
}

fn quantities(map: Option<&Value>) -> BTreeMap<Str, i64> {
    let entries = map.and_then(Value::as_object).into_iter().flatten();
    let read = |(name, value): (&String, &Value)| Some((Str::from(name.as_str()), milli(value)?));
    entries.filter_map(read).collect()
}

fn milli(value: &Value) -> Option<i64> {
    Some(Quantity::parse(value.as_str()?).ok()?.milli_value())
}
