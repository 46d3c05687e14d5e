//! Affinity and anti-affinity between pods (`pkg/scheduler/framework/plugins/interpodaffinity`):
//! what a pod asks of the pods around it, and what pods that are there ask of it. What is required
//! filters. What is preferred scores, and that works both ways: a pod that is there and would like
//! to be near such a pod draws it to its domain; one that requires it does so too, with the weight
//! 1 (`hardPodAffinityWeight`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::api::selector::LabelSelectorRequirement;
use crate::api::{LabelSelector, Node, Pod, PodSpec, Str, StrMap, Value};

use super::cluster::{Cluster, Group};
use super::filters::{Reason, Rejection, Verdict};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
/// Near other pods, or away from them.
const KINDS: [&str; 2] = ["podAffinity", "podAntiAffinity"];
/// How much a pod that is required to be near weighs, when it scores.
const HARD_WEIGHT: i64 = 1;

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
    /// Whether a pod of these labels is meant by a term of a pod of the namespace `home`.
    fn means(&self, home: &Str, namespace: &Str, labels: &StrMap, cluster: &Cluster) -> bool {
        let own = self.namespaces.is_empty() && self.namespace_selector.is_none();
        let selected = || {
            let selector = self.namespace_selector.as_ref();
            selector.is_some_and(|selector| cluster.selects_namespace(selector, namespace))
        };
        let here = self.namespaces.contains(namespace) || (own && home == namespace) || selected();
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

/// All that a pod asks of others.
#[derive(Clone, Debug, Default)]
struct Wishes {
    near: Vec<Term>,
    away: Vec<Term>,
    /// With their weight: below zero to keep away.
    preferred: Vec<(i64, Term)>,
}

impl Wishes {
    /// Of a pod with these labels. Terms that cannot be read ask nothing.
    fn of(rules: &Value, labels: &StrMap) -> Wishes {
        let read = |term: &Value| serde_json::from_value::<Term>(term.clone()).ok();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let terms = |list: Vec<Value>| {
            list.iter().filter_map(read).map(|term| term.with_keys_of(labels)).collect()
        };
        let mut wishes = Wishes {
            near: terms(list(&rules[KINDS[0]][REQUIRED])),
            away: terms(list(&rules[KINDS[1]][REQUIRED])),
            preferred: Vec::new(),
        };
        for (kind, sign) in KINDS.into_iter().zip([1, -1]) {
            for rule in list(&rules[kind][PREFERRED]) {
                let weight = sign * rule["weight"].as_i64().unwrap_or(0);
                let term = read(&rule["podAffinityTerm"]).map(|term| term.with_keys_of(labels));
                wishes.preferred.extend(term.map(|term| (weight, term)));
            }
        }
        wishes
    }

    /// What pods that are there ask.
    fn of_group(group: &Group) -> Wishes {
        let rules = serde_json::from_str(&group.wishes).unwrap_or_default();
        Wishes::of(&rules, &group.labels)
    }
}

/// What a pod asks of others, as text: part of what makes pods alike.
pub fn wishes_of(spec: &PodSpec) -> Str {
    let Some(affinity) = spec.rest.get("affinity") else { return Str::default() };
    let asks = |kind: &&str| {
        let lists = [REQUIRED, PREFERRED].into_iter().map(|list| &affinity[*kind][list]);
        lists.filter_map(Value::as_array).any(|terms| !terms.is_empty())
    };
    let asked = KINDS.into_iter().filter(asks);
    let asked: serde_json::Map<String, Value> =
        asked.map(|kind| (kind.to_string(), affinity[kind].clone())).collect();
    if asked.is_empty() { Str::default() } else { Value::Object(asked).to_string().into() }
}

/// Whether a pod asks for namespaces by their labels, so that these must be known.
pub fn selects_namespaces(spec: &PodSpec) -> bool {
    wishes_of(spec).contains("namespaceSelector")
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

/// What speaks against nodes for one pod, counted once for a decision.
#[derive(Clone, Debug, Default)]
pub struct InterPod {
    affinity: Vec<Counted>,
    /// No pod that is meant is anywhere, and the pod itself would be one.
    is_first: bool,
    anti_affinity: Vec<Counted>,
    /// Domains, by their label, from which other pods keep it away.
    kept_away: BTreeSet<(Str, Str)>,
}

impl InterPod {
    /// Counts for a pod.
    pub fn of(pod: &Pod, cluster: &Cluster) -> InterPod {
        let (home, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
        let mut found = InterPod { kept_away: kept_away(pod, cluster), ..InterPod::default() };
        let Some(rules) = pod.spec.rest.get("affinity") else { return found };
        let wishes = Wishes::of(rules, labels);
        let means_all = |namespace: &Str, labels: &StrMap| {
            wishes.near.iter().all(|term| term.means(home, namespace, labels, cluster))
        };
        let all = |group: &Group| means_all(&group.namespace, &group.labels);
        let near = wishes.near.iter();
        found.affinity = near.map(|term| count(&term.topology_key, cluster, all)).collect();
        let none = found.affinity.iter().all(|counted| counted.in_domain.is_empty());
        found.is_first = none && means_all(home, labels);
        let one = |term: &Term| {
            count(&term.topology_key, cluster, |group| {
                term.means(home, &group.namespace, &group.labels, cluster)
            })
        };
        found.anti_affinity = wishes.away.iter().map(one).collect();
        found
    }

    /// Whether the filter says yes to every node.
    pub fn allow_all(&self) -> bool {
        self.affinity.is_empty() && self.anti_affinity.is_empty() && self.kept_away.is_empty()
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
}

/// How much each domain is liked, by its label: by the pod, and by those that are there for its
/// sake (`PreScore`).
#[derive(Clone, Debug, Default)]
pub struct Likes(BTreeMap<Str, BTreeMap<Str, i64>>);

impl Likes {
    /// Weighs for a pod.
    pub fn of(pod: &Pod, cluster: &Cluster) -> Likes {
        let (home, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
        let own = pod.spec.rest.get("affinity").map(|rules| Wishes::of(rules, labels).preferred);
        let own = own.unwrap_or_default();
        let mut likes = Likes::default();
        for (group, counts) in cluster.all_groups() {
            for (weight, term) in &own {
                if term.means(home, &group.namespace, &group.labels, cluster) {
                    likes.add(*weight, term, cluster, counts);
                }
            }
            if group.wishes.is_empty() {
                continue;
            }
            let theirs = Wishes::of_group(group);
            let near = theirs.near.into_iter().map(|term| (HARD_WEIGHT, term));
            for (weight, term) in near.chain(theirs.preferred) {
                if term.means(&group.namespace, home, labels, cluster) {
                    likes.add(weight, &term, cluster, counts);
                }
            }
        }
        likes
    }

    fn add(&mut self, weight: i64, term: &Term, cluster: &Cluster, counts: &[u32]) {
        for (domain, pods) in domains(&term.topology_key, cluster, counts) {
            let by_domain = self.0.entry(term.topology_key.clone()).or_default();
            *by_domain.entry(domain).or_default() += weight * i64::from(pods);
        }
    }

    /// Whether there is anything to score.
    pub fn scores(&self) -> bool {
        !self.0.is_empty()
    }

    /// The scores of these nodes: 0 for the least liked, 100 for the most. In between it is cut
    /// off, not rounded, after a division in floating point (`NormalizeScore`).
    pub fn score(&self, nodes: &[Option<&Node>]) -> Vec<i64> {
        let liked = |node: &Option<&Node>| -> i64 {
            let Some(node) = node else { return 0 };
            let domain = |key: &Str| node.metadata.labels.get(key);
            self.0.iter().filter_map(|(key, by_domain)| by_domain.get(domain(key)?)).sum()
        };
        let raw: Vec<i64> = nodes.iter().map(liked).collect();
        let (low, high) = (raw.iter().min().copied(), raw.iter().max().copied());
        let (low, high) = (low.unwrap_or(0), high.unwrap_or(0));
        let part = |own: &i64| (100.0 * ((own - low) as f64 / (high - low) as f64)) as i64;
        raw.iter().map(|own| if high > low { part(own) } else { 0 }).collect()
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
    let (home, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    let mut away = BTreeSet::new();
    for (group, counts) in cluster.all_groups().filter(|(group, _)| !group.wishes.is_empty()) {
        for term in Wishes::of_group(group).away {
            if term.means(&group.namespace, home, labels, cluster) {
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

    fn preferred(kind: &str, app: &str, weight: i64) -> Value {
        let selector = json!({"matchLabels": {"app": app}});
        let term = json!({"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"});
        json!({kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": term}]}})
    }

    fn scores(pod: &Pod, cluster: &Cluster) -> Vec<i64> {
        let nodes = [node("a", "1"), node("b", "1"), node("c", "2")];
        let nodes: Vec<Option<&Node>> = nodes.iter().map(Some).collect();
        Likes::of(pod, cluster).score(&nodes)
    }

    #[test]
    fn what_pods_that_are_there_would_like_counts_for_one_that_asks_nothing() {
        let likes = pod("likes", "x", preferred("podAffinity", "y", 10));
        let dislikes = pod("dislikes", "x", preferred("podAntiAffinity", "y", 30));
        let cluster = cluster(&[(&likes, "a"), (&dislikes, "b")]);
        assert_eq!(scores(&pod("new", "y", json!({})), &cluster), [100, 0, 75]);
        assert!(!Likes::of(&pod("new", "z", json!({})), &cluster).scores());
    }

    #[test]
    fn both_sides_add_up_and_a_requirement_of_a_pod_that_is_there_counts_one() {
        let old = pod("old", "x", required("podAffinity", "y", "kubernetes.io/hostname"));
        let twice = pod("twice", "x", json!({}));
        let cluster = cluster(&[(&old, "a"), (&twice, "b")]);
        assert_eq!(scores(&pod("new", "y", json!({})), &cluster), [100, 0, 0]);
        let new = pod("new", "y", preferred("podAffinity", "x", 2));
        assert_eq!(scores(&new, &cluster), [100, 66, 0], "3, 2 and 0");
    }

    fn by_namespace(name: &str, selector: Value) -> Pod {
        let app = json!({"matchLabels": {"app": "x"}});
        let term = json!({
            "labelSelector": app, "topologyKey": "zone", "namespaceSelector": selector,
        });
        pod(name, "x", json!({"podAntiAffinity": {REQUIRED: [term]}}))
    }

    #[test]
    fn a_term_may_mean_pods_of_namespaces_with_certain_labels() {
        let mut elsewhere = pod("elsewhere", "x", json!({}));
        elsewhere.metadata.namespace = "shop".into();
        let mut cluster = cluster(&[(&elsewhere, "a")]);
        let team = json!({"matchLabels": {"team": "tea"}});
        let away = |cluster: &Cluster| allowed(&by_namespace("new", team.clone()), cluster);
        assert_eq!(away(&cluster), ["a", "b", "c"], "nothing is known of that namespace");
        let shop = json!({"metadata": {"name": "shop", "labels": {"team": "tea"}}});
        let shop = Object::from_value(crate::api::Kind::Namespace, shop).expect("a namespace");
        cluster.put_namespace(&Arc::new(shop));
        assert_eq!(away(&cluster), ["c"]);
        assert_eq!(allowed(&by_namespace("new", json!({})), &cluster), ["c"], "all namespaces");
        let other = json!({"matchLabels": {"team": "coffee"}});
        assert_eq!(allowed(&by_namespace("new", other), &cluster), ["a", "b", "c"]);
    }

    #[test]
    fn a_pod_that_is_there_means_pods_of_namespaces_with_certain_labels_too() {
        let old = by_namespace("old", json!({"matchLabels": {"team": "tea"}}));
        let mut cluster = cluster(&[(&old, "a")]);
        let mut new = pod("new", "x", json!({}));
        new.metadata.namespace = "shop".into();
        assert_eq!(allowed(&new, &cluster), ["a", "b", "c"]);
        let shop = json!({"metadata": {"name": "shop", "labels": {"team": "tea"}}});
        let shop = Object::from_value(crate::api::Kind::Namespace, shop).expect("a namespace");
        cluster.put_namespace(&Arc::new(shop));
        assert_eq!(allowed(&new, &cluster), ["c"]);
        cluster.remove_namespace(&"shop".into());
        assert_eq!(allowed(&new, &cluster), ["a", "b", "c"]);
    }
}
