//! How many replicas one metric asks for (`pkg/controller/podautoscaler/replica_calculator.go` of
//! Kubernetes 1.36): before minimum, maximum, stabilization and rate limits.
//!
//! Kubernetes computes the ratio of usage and target, and what follows from it, in 64-bit floats,
//! and rounds the product up: at some ratios its answer is one more than exact arithmetic would
//! give. So floats are used here too, for `+ - * /` and `ceil` only, which IEEE 754 defines to the
//! last bit, natively as in WebAssembly.

use std::collections::BTreeMap;

use crate::api::{Pod, Str, StrMap, Timestamp};

use super::pods::{Groups, StartUp, group, requests};
use super::readings::{Readings, Sample, Samples};

/// How far the ratio may be off before anything is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Below one.
    pub down: f64,
    /// Above one.
    pub up: f64,
}

/// `--horizontal-pod-autoscaler-tolerance`.
pub const TOLERANCE: f64 = 0.1;

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances { down: TOLERANCE, up: TOLERANCE }
    }
}

impl Tolerances {
    fn contains(self, ratio: f64) -> bool {
        (1.0 - self.down) <= ratio && ratio <= (1.0 + self.up)
    }
}

/// What the calculator looks at: the target's pods, as the informer's cache shows them, and what
/// the metrics APIs answered.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The pods that the target's selector finds.
    pub pods: &'a [&'a Pod],
    /// What was read.
    pub readings: &'a Readings,
    /// Which labels the target's selector selects.
    pub selects: &'a dyn Fn(&StrMap) -> bool,
    /// `spec.replicas` of the target.
    pub current: i32,
    /// `status.replicas` of the target.
    pub reported: i32,
    /// How far a ratio may be off.
    pub tolerances: Tolerances,
    /// How long pods take to come up.
    pub start_up: StartUp,
    /// The time.
    pub now: Timestamp,
}

/// What one metric asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// So many replicas.
    pub replicas: i32,
    /// The average in percent of the request, where there is one.
    pub utilization: Option<i32>,
    /// The value that the status shows, in thousandths.
    pub value: i64,
}

const NO_PODS: &str = "no pods returned by selector while calculating replica count";
const NO_SAMPLES: &str = "did not receive metrics for targeted pods (pods might be unready)";

/// A resource against a share of the request (`GetResourceReplicas`).
pub fn resource_utilization(
    seen: &Seen,
    resource: &str,
    container: Option<&str>,
    target: i32,
) -> Result<Proposal, String> {
    let (mut samples, groups) = resource_samples(seen, resource, container)?;
    let requests = requests(seen.pods, container, resource)?;
    let (ratio, utilization, value) = utilization_ratio(&samples, &requests, target)?;
    let stand_in = |name: &Str| {
        let request = requests.get(name).copied().unwrap_or(0);
        request.saturating_mul(i64::from(target.max(100))) / 100
    };
    let filled = fill(&mut samples, &groups, ratio, stand_in);
    let replicas = if filled {
        let (again, ..) = utilization_ratio(&samples, &requests, target)?;
        damped(seen, ratio, again, samples.len())
    } else {
        plain(seen, ratio, groups.ready)
    };
    Ok(Proposal { replicas, utilization: Some(utilization), value })
}

/// A resource against an absolute value per pod (`GetRawResourceReplicas`).
pub fn resource_value(
    seen: &Seen,
    resource: &str,
    container: Option<&str>,
    target: i64,
) -> Result<Proposal, String> {
    let (samples, groups) = resource_samples(seen, resource, container)?;
    by_value(seen, samples, &groups, target)
}

/// A custom metric of the pods, against a value per pod (`GetMetricReplicas`).
pub fn pods_value(seen: &Seen, metric: &str, target: i64) -> Result<Proposal, String> {
    let read = seen.readings.custom(metric, seen.selects);
    let samples = read.map_err(|error| format!("unable to get metric {metric}: {error}"))?;
    let (samples, groups) = usable(seen, samples, "")?;
    by_value(seen, samples, &groups, target)
}

/// One number about something else, against a value of its own (`GetObjectMetricReplicas`,
/// `GetExternalMetricReplicas`).
pub fn one_value(seen: &Seen, value: i64, target: i64) -> Result<Proposal, String> {
    let ratio = value as f64 / target as f64;
    let replicas = if seen.current == 0 {
        up(ratio)
    } else if seen.tolerances.contains(ratio) {
        seen.current
    } else {
        if seen.pods.is_empty() {
            return Err(NO_PODS.into());
        }
        let ready = seen.pods.iter().filter(|pod| counts_as_ready(pod)).count();
        up(ratio * ready as f64)
    };
    Ok(Proposal { replicas, utilization: None, value })
}

/// One number about something else, against a value per pod (`GetObjectPerPodMetricReplicas`).
pub fn one_value_per_pod(seen: &Seen, value: i64, target: i64) -> Proposal {
    let reported = seen.reported;
    let ratio = value as f64 / (target as f64 * f64::from(reported));
    let replicas = match seen.tolerances.contains(ratio) {
        true => reported,
        false => up(value as f64 / target as f64),
    };
    let shown = (value as f64 / f64::from(reported)).ceil();
    Proposal { replicas, utilization: None, value: shown as i64 }
}

/// Go's `int32(math.Ceil(x))`; what does not fit is cut, which Go leaves open.
fn up(replicas: f64) -> i32 {
    replicas.ceil() as i32
}

fn counts_as_ready(pod: &Pod) -> bool {
    pod.phase() == crate::api::PodPhase::Running && pod.is_ready()
}

fn resource_samples(
    seen: &Seen,
    resource: &str,
    container: Option<&str>,
) -> Result<(Samples, Groups), String> {
    let read = seen.readings.resource(resource, container, seen.selects);
    let samples =
        read.map_err(|error| format!("unable to get metrics for resource {resource}: {error}"))?;
    usable(seen, samples, resource)
}

/// Leaves the samples of pods that are ready.
fn usable(seen: &Seen, mut samples: Samples, kind: &str) -> Result<(Samples, Groups), String> {
    if seen.pods.is_empty() {
        return Err(NO_PODS.into());
    }
    let groups = group(seen.pods, &samples, kind, seen.start_up, seen.now);
    samples.retain(|name, _| !groups.ignored.contains(name) && !groups.unready.contains(name));
    match samples.is_empty() {
        true => Err(NO_SAMPLES.into()),
        false => Ok((samples, groups)),
    }
}

fn by_value(
    seen: &Seen,
    mut samples: Samples,
    groups: &Groups,
    target: i64,
) -> Result<Proposal, String> {
    let (ratio, value) = value_ratio(&samples, target);
    let replicas = if fill(&mut samples, groups, ratio, |_| target) {
        let (again, _) = value_ratio(&samples, target);
        damped(seen, ratio, again, samples.len())
    } else {
        plain(seen, ratio, groups.ready)
    };
    Ok(Proposal { replicas, utilization: None, value })
}

/// `GetResourceUtilizationRatio`: the ratio, the utilization in whole percent, the average value.
fn utilization_ratio(
    samples: &Samples,
    requests: &BTreeMap<Str, i64>,
    target: i32,
) -> Result<(f64, i32, i64), String> {
    let (mut used, mut requested, mut count) = (0i64, 0i64, 0i64);
    for (name, sample) in samples {
        // A sample without a pod is one of another time.
        let Some(request) = requests.get(name) else { continue };
        used = used.saturating_add(sample.value);
        requested = requested.saturating_add(*request);
        count += 1;
    }
    if requested == 0 {
        return Err("no metrics returned matched known pods".into());
    }
    let utilization = i128::from(used) * 100 / i128::from(requested);
    let utilization = i32::try_from(utilization).unwrap_or(i32::MAX);
    Ok((f64::from(utilization) / f64::from(target), utilization, used / count))
}

/// `GetMetricUsageRatio`: the ratio and the average value.
fn value_ratio(samples: &Samples, target: i64) -> (f64, i64) {
    let sum = samples.values().fold(0i64, |sum, sample| sum.saturating_add(sample.value));
    let average = sum / i64::try_from(samples.len()).unwrap_or(i64::MAX).max(1);
    (average as f64 / target as f64, average)
}

/// Puts stand-ins for pods whose samples cannot be used, so that what is unknown never makes the
/// step larger. False: none was needed.
fn fill(
    samples: &mut Samples,
    groups: &Groups,
    ratio: f64,
    stand_in: impl Fn(&Str) -> i64,
) -> bool {
    let up_with_unready = !groups.unready.is_empty() && ratio > 1.0;
    if !up_with_unready && groups.missing.is_empty() {
        return false;
    }
    let with = |value| Sample { value, ..Sample::default() };
    for name in &groups.missing {
        if ratio < 1.0 {
            samples.insert(name.clone(), with(stand_in(name)));
        } else if ratio > 1.0 {
            samples.insert(name.clone(), with(0));
        }
    }
    if up_with_unready {
        samples.extend(groups.unready.iter().map(|name| (name.clone(), with(0))));
    }
    true
}

fn plain(seen: &Seen, ratio: f64, ready: usize) -> i32 {
    if seen.tolerances.contains(ratio) { seen.current } else { up(ratio * ready as f64) }
}

/// With stand-ins: no step if they bring the ratio home, or turn it round.
fn damped(seen: &Seen, ratio: f64, again: f64, count: usize) -> i32 {
    let turned = (ratio < 1.0 && again > 1.0) || (ratio > 1.0 && again < 1.0);
    if seen.tolerances.contains(again) || turned {
        return seen.current;
    }
    let replicas = up(again * count as f64);
    let backwards =
        (again < 1.0 && replicas > seen.current) || (again > 1.0 && replicas < seen.current);
    if backwards { seen.current } else { replicas }
}
