//! Affinity and anti-affinity between pods (`pkg/scheduler/framework/plugins/interpodaffinity`):
//! what a pod asks of the pods around it, and what pods that are there ask of it. The required ones
//! filter; of the preferred ones, those of the pod itself score.
//!
//! Left out: preferences of pods that are there already, and namespace selectors but the empty one
//! (all namespaces).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::api::selector::LabelSelectorRequirement;
use crate::api::{LabelSelector, Node, Pod, PodSpec, Str, StrMap, Value};

use super::cluster::{Cluster, Group};
use super::filters::{Reason, Rejection, Verdict};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `v1.PodAffinityTerm`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Term {
    label_selector: Option<LabelSelector>,
    topology_key: Str,
    namespaces: Vec<Str>,
    namespace_selector: Option<LabelSelector>,
    match_label_keys: Vec<Str>,
    mismatch_label_keys: Vec<Str>,
}

impl Term {
    /// Whether a pod of these labels is meant by a term of a pod of this namespace.
    fn means(&self, home: &Str, namespace: &Str, labels: &StrMap) -> bool {
        let everywhere = self.namespace_selector.as_ref().is_some_and(LabelSelector::is_empty);
        let own = self.namespaces.is_empty() && self.namespace_selector.is_none();
        let here = everywhere || self.namespaces.contains(namespace) || (own && home == namespace);
        here && self.label_selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }

    /// The labels that `matchLabelKeys` names must be as the pod's own, those that
    /// `mismatchLabelKeys` names must not. (The API server writes it into the selector.)
    fn with_keys_of(mut self, labels: &StrMap) -> Term {
        let rule = |key: &Str, operator: &str| {
            let (key, values) = (key.clone(), vec![labels.get(key)?.clone()]);
            Some(LabelSelectorRequirement { key, operator: operator.into(), values })
        };
        let same = self.match_label_keys.iter().filter_map(|key| rule(key, "In"));
        let other = self.mismatch_label_keys.iter().filter_map(|key| rule(key, "NotIn"));
        if let Some(selector) = &mut self.label_selector {
            selector.match_expressions.extend(same.chain(other));
        }
        self
    }
}

fn terms(list: &Value, labels: &StrMap) -> Vec<Term> {
    let read = |term: &Value| serde_json::from_value::<Term>(term.clone()).ok();
    let list = list.as_array().into_iter().flatten().filter_map(read);
    list.map(|term| term.with_keys_of(labels)).collect()
}

/// What a pod requires that others keep away, as text: part of what makes pods alike.
pub fn anti_affinity_of(spec: &PodSpec) -> Str {
    let rule = spec.rest.get("affinity").map(|affinity| &affinity["podAntiAffinity"][REQUIRED]);
    let rule = rule.filter(|rule| rule.as_array().is_some_and(|terms| !terms.is_empty()));
    rule.map_or_else(Str::default, |rule| rule.to_string().into())
}

/// How many pods that are meant are in each domain.
#[derive(Clone, Debug)]
struct Counted {
    key: Str,
    in_domain: BTreeMap<Str, i64>,
}

impl Counted {
    fn here(&self, node: &Node) -> Option<i64> {
        let domain = node.metadata.labels.get(&self.key)?;
        Some(self.in_domain.get(domain).copied().unwrap_or(0))
    }
}

/// What speaks for and against nodes for one pod, counted once for a decision.
#[derive(Clone, Debug, Default)]
pub struct InterPod {
    affinity: Vec<Counted>,
    /// No pod that is meant is anywhere, and the pod itself would be one.
    is_first: bool,
    anti_affinity: Vec<Counted>,
    /// Domains, by their label, from which other pods keep it away.
    kept_away: BTreeSet<(Str, Str)>,
    preferred: Vec<(i64, Counted)>,
}

impl InterPod {
    /// Counts for a pod.
    pub fn of(pod: &Pod, cluster: &Cluster) -> InterPod {
        let (home, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
        let mut found = InterPod { kept_away: kept_away(pod, cluster), ..InterPod::default() };
        let Some(rules) = pod.spec.rest.get("affinity") else { return found };
        let wanted = terms(&rules["podAffinity"][REQUIRED], labels);
        let means_all = |namespace: &Str, labels: &StrMap| {
            wanted.iter().all(|term| term.means(home, namespace, labels))
        };
        let all = |group: &Group| means_all(&group.namespace, &group.labels);
        found.affinity = wanted.iter().map(|t| count(&t.topology_key, cluster, all)).collect();
        let none = found.affinity.iter().all(|counted| counted.in_domain.is_empty());
        found.is_first = none && means_all(home, labels);
        let one = |term: &Term| {
            count(&term.topology_key, cluster, |group| {
                term.means(home, &group.namespace, &group.labels)
            })
        };
        let unwanted = terms(&rules["podAntiAffinity"][REQUIRED], labels);
        found.anti_affinity = unwanted.iter().map(one).collect();
        for (kind, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
            for rule in rules[kind][PREFERRED].as_array().into_iter().flatten() {
                let weight = rule["weight"].as_i64().unwrap_or(0);
                let term = Value::Array(vec![rule["podAffinityTerm"].clone()]);
                let counted = terms(&term, labels).iter().map(one).collect::<Vec<_>>();
                found.preferred.extend(counted.into_iter().map(|one| (sign * weight, one)));
            }
        }
        found
    }

    /// The filter.
    pub fn filter(&self, node: &Node) -> Verdict {
        let reject = |reason, resolvable| Err(Rejection { reasons: vec![reason], resolvable });
        let has_all = self.affinity.iter().all(|counted| counted.here(node).is_some());
        let near = self.affinity.iter().all(|counted| counted.here(node).is_some_and(|n| n > 0));
        let begins = self.is_first && has_all;
        if !(near || begins) {
            return reject(Reason::PodAffinity, false);
        }
        if self.anti_affinity.iter().any(|counted| counted.here(node).is_some_and(|n| n > 0)) {
            return reject(Reason::PodAntiAffinity, true);
        }
        let away = |(key, domain): &(Str, Str)| node.metadata.labels.get(key) == Some(domain);
        if self.kept_away.iter().any(away) {
            return reject(Reason::ExistingAntiAffinity, true);
        }
        Ok(())
    }

    /// Whether there is anything to score.
    pub fn scores(&self) -> bool {
        !self.preferred.is_empty()
    }

    /// The scores of these nodes: 0 for the least liked, 100 for the most.
    pub fn score(&self, nodes: &[Option<&Node>]) -> Vec<i64> {
        let liked = |node: &Option<&Node>| -> i64 {
            let Some(node) = node else { return 0 };
            self.preferred.iter().map(|(w, c)| w * c.here(node).unwrap_or(0)).sum()
        };
        let raw: Vec<i64> = nodes.iter().map(liked).collect();
        let (low, high) = (raw.iter().min().copied(), raw.iter().max().copied());
        let (low, high) = (low.unwrap_or(0), high.unwrap_or(0));
        raw.iter()
            .map(|own| if high > low { 100 * (own - low) / (high - low) } else { 0 })
            .collect()
    }
}

fn count(key: &Str, cluster: &Cluster, is_meant: impl Fn(&Group) -> bool) -> Counted {
    let mut in_domain: BTreeMap<Str, i64> = BTreeMap::new();
    for (_, counts) in cluster.all_groups().filter(|(group, _)| is_meant(group)) {
        for (domain, pods) in domains(key, cluster, counts) {
            *in_domain.entry(domain).or_default() += i64::from(pods);
        }
    }
    Counted { key: key.clone(), in_domain }
}

/// In which domains how many pods of a group are.
fn domains<'a>(
    key: &'a Str,
    cluster: &'a Cluster,
    counts: &'a [u32],
) -> impl Iterator<Item = (Str, u32)> + 'a {
    let places = cluster.nodes().iter().zip(counts).filter(|(_, count)| **count > 0);
    places.filter_map(move |(info, count)| {
        Some((info.node()?.metadata.labels.get(key)?.clone(), *count))
    })
}

/// Where pods are that require that such a pod keep away.
fn kept_away(pod: &Pod, cluster: &Cluster) -> BTreeSet<(Str, Str)> {
    let mut away = BTreeSet::new();
    for (group, counts) in cluster.all_groups().filter(|(group, _)| !group.keeps_away.is_empty()) {
        let rules: Value = serde_json::from_str(&group.keeps_away).unwrap_or_default();
        for term in terms(&rules, &group.labels) {
            if term.means(&group.namespace, &pod.metadata.namespace, &pod.metadata.labels) {
                let domains = domains(&term.topology_key, cluster, counts);
                away.extend(domains.map(|(domain, _)| (term.topology_key.clone(), domain)));
            }
        }
    }
    away
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Object;
    use crate::controllers::scheduler::resources::Usage;
    use crate::kernel::Time;
    use serde_json::json;
    use std::sync::Arc;

    fn node(name: &str, zone: &str) -> Node {
        let labels = json!({"kubernetes.io/hostname": name, "zone": zone});
        let node = json!({"metadata": {"name": name, "labels": labels}});
        serde_json::from_value(node).expect("a node")
    }

    fn pod(name: &str, app: &str, affinity: Value) -> Pod {
        let metadata = json!({"name": name, "namespace": "default", "labels": {"app": app}});
        serde_json::from_value(json!({"metadata": metadata, "spec": {"affinity": affinity}}))
            .expect("a pod")
    }

    fn required(kind: &str, app: &str, key: &str) -> Value {
        let selector = json!({"matchLabels": {"app": app}});
        json!({kind: {REQUIRED: [{"labelSelector": selector, "topologyKey": key}]}})
    }

    fn cluster(pods: &[(&Pod, &str)]) -> Cluster {
        let mut cluster = Cluster::default();
        for (name, zone) in [("a", "1"), ("b", "1"), ("c", "2")] {
            cluster.put_node(&Arc::new(Object::Node(node(name, zone))));
        }
        for (pod, node) in pods {
            cluster.assume(pod, Usage::of(&pod.spec), &(*node).into(), Time::ZERO);
        }
        cluster
    }

    fn allowed(pod: &Pod, cluster: &Cluster) -> Vec<&'static str> {
        let rules = InterPod::of(pod, cluster);
        let nodes = [("a", "1"), ("b", "1"), ("c", "2")];
        nodes.into_iter().filter(|(n, z)| rules.filter(&node(n, z)).is_ok()).map(|n| n.0).collect()
    }

    #[test]
    fn pods_that_keep_apart_never_share_a_domain() {
        let apart = |name| pod(name, "x", required("podAntiAffinity", "x", "zone"));
        assert_eq!(allowed(&apart("new"), &cluster(&[(&apart("old"), "a")])), ["c"]);
    }

    #[test]
    fn a_pod_that_is_there_keeps_others_away_that_ask_nothing() {
        let old = pod("old", "x", required("podAntiAffinity", "y", "kubernetes.io/hostname"));
        let cluster = cluster(&[(&old, "a")]);
        assert_eq!(allowed(&pod("new", "y", json!({})), &cluster), ["b", "c"]);
        assert_eq!(allowed(&pod("new", "z", json!({})), &cluster), ["a", "b", "c"]);
    }

    #[test]
    fn the_first_pod_that_likes_its_own_kind_goes_anywhere_and_the_next_ones_to_it() {
        let together = |name| pod(name, "x", required("podAffinity", "x", "zone"));
        assert_eq!(allowed(&together("one"), &cluster(&[])), ["a", "b", "c"]);
        assert_eq!(allowed(&together("two"), &cluster(&[(&together("one"), "a")])), ["a", "b"]);
        let other = pod("other", "y", required("podAffinity", "z", "zone"));
        assert!(allowed(&other, &cluster(&[])).is_empty());
    }

    #[test]
    fn a_term_may_mean_pods_that_are_as_this_one_or_that_are_not() {
        let apart = |name: &str, keys: &str| {
            let selector = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
            let term = json!({"labelSelector": selector, "topologyKey": "zone", keys: ["app"]});
            pod(name, "x", json!({"podAntiAffinity": {REQUIRED: [term]}}))
        };
        let (like, unlike) = (pod("like", "x", json!({})), pod("unlike", "y", json!({})));
        let cluster = cluster(&[(&like, "a"), (&unlike, "c")]);
        assert_eq!(allowed(&apart("new", "matchLabelKeys"), &cluster), ["c"]);
        assert_eq!(allowed(&apart("new", "mismatchLabelKeys"), &cluster), ["a", "b"]);
    }
}
