//! PodTopologySpread (`pkg/scheduler/framework/plugins/podtopologyspread`): the rules that a pod
//! brings along, and the built-in soft ones that spread the pods of one owner over nodes and zones.
//! The built-in rules count the pods of the same managing owner, where Kubernetes counts those that
//! the owner's selector and the Services' selectors match; a pod without owner has no such rule.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::api::selector::LabelSelectorRequirement;
use crate::api::{LabelSelector, Node, Pod, Str};
use crate::controllers::taints::{is_tolerated, keeps_away};

use super::affinity::NodeAffinity;
use super::cluster::{Cluster, NodeInfo};
use super::filters::{Reason, Rejection, Verdict};

const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label that says in which zone a node is.
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";

/// `v1.TopologySpreadConstraint`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    max_skew: i64,
    topology_key: Str,
    when_unsatisfiable: Str,
    label_selector: Option<LabelSelector>,
    min_domains: Option<usize>,
    node_affinity_policy: Option<Str>,
    node_taints_policy: Option<Str>,
    match_label_keys: Vec<Str>,
}

impl Rule {
    fn is_hard(&self) -> bool {
        &*self.when_unsatisfiable != "ScheduleAnyway"
    }
}

/// One rule with what it counts: on each node, in the order of the cluster's nodes, the pods that
/// it is about.
#[derive(Clone, Debug)]
struct Counted {
    rule: Rule,
    /// Every node is a domain of its own.
    by_host: bool,
    on_node: Vec<u32>,
    /// In each domain, over the nodes that take part.
    in_domain: BTreeMap<Str, i64>,
    /// 1 if the pod itself is one of those that the rule is about.
    itself: i64,
}

/// The spreading rules of one pod, counted once for a decision.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    hard: Vec<Counted>,
    soft: Vec<Counted>,
    /// The soft rules are the built-in ones: a node without a zone is spread over by name only.
    built_in: bool,
}

impl Spread {
    /// Counts for a pod.
    pub fn of(pod: &Pod, affinity: &NodeAffinity, cluster: &Cluster) -> Spread {
        let rules = rules_of(pod);
        if rules.is_empty() {
            return Spread::built_in(pod, cluster);
        }
        let (hard, soft): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(Rule::is_hard);
        let count = |rules| count_all(rules, pod, affinity, cluster);
        Spread { hard: count(hard), soft: count(soft), built_in: false }
    }

    /// Counts what the filter asks for, and nothing that is only scored.
    pub fn hard(pod: &Pod, affinity: &NodeAffinity, cluster: &Cluster) -> Spread {
        let rules = rules_of(pod).into_iter().filter(Rule::is_hard).collect();
        Spread { hard: count_all(rules, pod, affinity, cluster), ..Spread::default() }
    }

    fn built_in(pod: &Pod, cluster: &Cluster) -> Spread {
        let Some(owner) = pod.metadata.controller() else {
            return Spread::default();
        };
        let mut on_node = vec![0; cluster.nodes().len()];
        for (_, counts) in cluster.groups(&pod.metadata.namespace, Some(&owner.uid)) {
            add(&mut on_node, counts);
        }
        let rule =
            |key: &str, max_skew| Rule { max_skew, topology_key: key.into(), ..Rule::default() };
        let counted = |rule| Counted::of(rule, on_node.clone(), 1);
        let mut soft = vec![counted(rule(HOSTNAME, 3))];
        if cluster.nodes().iter().any(|info| info.is_zoned) {
            let mut zones = counted(rule(ZONE, 5));
            zones.sum_up(cluster, |_, _| true);
            soft.push(zones);
        }
        Spread { hard: Vec::new(), soft, built_in: true }
    }

    /// Whether the filter says yes to every node.
    pub fn allows_all(&self) -> bool {
        self.hard.is_empty()
    }

    /// The filter: no node may get further ahead of the emptiest domain than a hard rule allows.
    pub fn filter(&self, node: &Node) -> Verdict {
        let reject = |reason, resolvable| Err(Rejection { reasons: vec![reason], resolvable });
        for counted in &self.hard {
            let rule = &counted.rule;
            let Some(domain) = node.metadata.labels.get(&rule.topology_key) else {
                return reject(Reason::SpreadLabel, false);
            };
            let few = counted.in_domain.len() < rule.min_domains.unwrap_or(1);
            let smallest = counted.in_domain.values().min().filter(|_| !few);
            let here = counted.in_domain.get(domain).copied().unwrap_or(0);
            if here + counted.itself - smallest.copied().unwrap_or(0) > rule.max_skew {
                return reject(Reason::Spread, true);
            }
        }
        Ok(())
    }

    /// Whether there is anything to score.
    pub fn scores(&self) -> bool {
        !self.soft.is_empty()
    }

    /// The scores of these nodes, given by their places in the cluster: 100 for the emptiest.
    pub fn score(&self, cluster: &Cluster, fitting: &[usize]) -> Vec<i64> {
        let infos = fitting.iter().map(|place| (*place, &cluster.nodes()[*place]));
        let nodes: Vec<_> = infos
            .map(|(place, info)| (place, Some(info).filter(|info| self.scored(info))))
            .collect();
        let mut raw: Vec<Option<f64>> = nodes.iter().map(|(_, n)| n.map(|_| 0.0)).collect();
        for counted in &self.soft {
            let weight = logarithm(2 + counted.domains(&nodes));
            for (score, (place, info)) in raw.iter_mut().zip(&nodes) {
                let Some((score, info)) = score.as_mut().zip(*info) else {
                    continue;
                };
                if let Some(count) = counted.count(*place, info) {
                    *score += count as f64 * weight + (counted.rule.max_skew - 1) as f64;
                }
            }
        }
        normalize(&raw.iter().map(|s| s.map(round)).collect::<Vec<_>>())
    }

    fn scored(&self, info: &NodeInfo) -> bool {
        let has = |node: &Node, counted: &Counted| {
            node.metadata.labels.contains_key(&counted.rule.topology_key)
        };
        match self.built_in {
            true => info.object.is_some(),
            false => info.node().is_some_and(|node| self.soft.iter().all(|own| has(node, own))),
        }
    }
}

impl Counted {
    fn of(rule: Rule, on_node: Vec<u32>, itself: i64) -> Counted {
        let by_host = &*rule.topology_key == HOSTNAME;
        Counted { rule, by_host, on_node, in_domain: BTreeMap::new(), itself }
    }

    fn sum_up(&mut self, cluster: &Cluster, takes_part: impl Fn(&Node, &Rule) -> bool) {
        for (info, count) in cluster.nodes().iter().zip(&self.on_node) {
            let Some(node) = info.node().filter(|node| takes_part(node, &self.rule)) else {
                continue;
            };
            if let Some(domain) = node.metadata.labels.get(&self.rule.topology_key) {
                *self.in_domain.entry(domain.clone()).or_default() += i64::from(*count);
            }
        }
    }

    /// In how many domains these nodes are.
    fn domains(&self, nodes: &[(usize, Option<&NodeInfo>)]) -> usize {
        let known = nodes.iter().filter_map(|(_, info)| *info);
        if self.by_host {
            return known.count();
        }
        known.filter_map(|info| self.domain(info)).collect::<BTreeSet<_>>().len()
    }

    fn domain<'a>(&self, info: &'a NodeInfo) -> Option<&'a Str> {
        info.node()?.metadata.labels.get(&self.rule.topology_key)
    }

    /// How many pods count against a node. A node without a hostname label is its own host: a
    /// kubelet would have set the label.
    fn count(&self, place: usize, info: &NodeInfo) -> Option<i64> {
        if self.by_host {
            return self.on_node.get(place).map(|count| i64::from(*count));
        }
        let domain = self.domain(info)?;
        Some(self.in_domain.get(domain).copied().unwrap_or(0))
    }
}

fn rules_of(pod: &Pod) -> Vec<Rule> {
    let rules = pod.spec.rest.get("topologySpreadConstraints");
    let rules = rules.and_then(|rules| serde_json::from_value(rules.clone()).ok());
    rules.unwrap_or_default()
}

fn count_all(
    rules: Vec<Rule>,
    pod: &Pod,
    affinity: &NodeAffinity,
    cluster: &Cluster,
) -> Vec<Counted> {
    let keys: Vec<Str> = rules.iter().map(|rule| rule.topology_key.clone()).collect();
    let mut counted: Vec<Counted> =
        rules.into_iter().map(|rule| count_selected(rule, pod, cluster)).collect();
    for one in &mut counted {
        one.sum_up(cluster, |node, rule| {
            has_all(node, &keys) && takes_part(rule, pod, affinity, node)
        });
    }
    counted
}

fn count_selected(rule: Rule, pod: &Pod, cluster: &Cluster) -> Counted {
    let mut selector = rule.label_selector.clone();
    if let Some(selector) = &mut selector {
        let labels = &pod.metadata.labels;
        let same = |key: &Str| {
            let value = labels.get(key)?.clone();
            Some(LabelSelectorRequirement {
                key: key.clone(),
                operator: "In".into(),
                values: vec![value],
            })
        };
        let requirements = rule.match_label_keys.iter().filter_map(same);
        selector.match_expressions.extend(requirements);
    }
    let mut on_node = vec![0; cluster.nodes().len()];
    // A selector that would select all pods counts none of those that are there.
    let counting = selector.as_ref().filter(|selector| !selector.is_empty());
    for (group, counts) in cluster.groups(&pod.metadata.namespace, None) {
        if counting.is_some_and(|s| s.matches(&group.labels)) {
            add(&mut on_node, counts);
        }
    }
    let itself = selector.is_some_and(|s| s.matches(&pod.metadata.labels));
    Counted::of(rule, on_node, i64::from(itself))
}

fn add(sum: &mut [u32], counts: &[u32]) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum += count;
    }
}

fn has_all(node: &Node, keys: &[Str]) -> bool {
    keys.iter().all(|key| node.metadata.labels.contains_key(key))
}

fn takes_part(rule: &Rule, pod: &Pod, affinity: &NodeAffinity, node: &Node) -> bool {
    let asked = rule.node_affinity_policy.as_deref() == Some("Ignore") || affinity.allows(node);
    let taints = || node.spec.taints.iter().filter(|taint| keeps_away(taint));
    let honoured = rule.node_taints_policy.as_deref() == Some("Honor");
    asked && !(honoured && taints().any(|t| !is_tolerated(&pod.spec.tolerations, t)))
}

/// Fewest pods, most points; a node that is not scored gets none.
fn normalize(raw: &[Option<i64>]) -> Vec<i64> {
    let known = || raw.iter().flatten().copied();
    let (low, high) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
    let score = |own: i64| match high {
        0 => 100,
        _ => 100 * (high + low - own) / high,
    };
    // Many nodes in a row have the same, and a division takes longer than to see that.
    let mut last = (low, score(low));
    let mut score = |own: i64| {
        if last.0 != own {
            last = (own, score(own));
        }
        last.1
    };
    raw.iter().map(|own| own.map_or(0, &mut score)).collect()
}

fn round(value: f64) -> i64 {
    // Scores are not negative, so this is rounding half away from zero.
    (value + 0.5) as i64
}

/// The natural logarithm by its series: sums and products only, so that it is the same on every
/// machine.
fn logarithm(number: usize) -> f64 {
    let (mut rest, mut halvings) = (number as f64, 0.0);
    while rest >= 2.0 {
        rest /= 2.0;
        halvings += 1.0;
    }
    let x = (rest - 1.0) / (rest + 1.0);
    let (mut power, mut sum) = (x, 0.0);
    for odd in (1..40).step_by(2) {
        sum += power / f64::from(odd);
        power *= x * x;
    }
    halvings * std::f64::consts::LN_2 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_right_to_twelve_digits() {
        for (number, expected) in [(3, 1.098612288668), (5, 1.609437912434), (102, 4.624972813284)]
        {
            assert!((logarithm(number) - expected).abs() < 1e-11, "{number}");
        }
    }

    #[test]
    fn fewest_pods_score_most() {
        assert_eq!(normalize(&[Some(2), Some(4), None]), [100, 50, 0]);
        assert_eq!(normalize(&[Some(0), Some(0)]), [100, 100]);
    }

    #[test]
    fn a_selector_of_all_pods_counts_none_of_those_that_are_there() {
        use crate::api::Object;
        use crate::client::Cache;
        use serde_json::json;

        let node = |name: &str| {
            let metadata = json!({"name": name, "labels": {"node": name}});
            Object::Node(serde_json::from_value(json!({"metadata": metadata})).expect("a node"))
        };
        let pod = |name: &str, spec: serde_json::Value| -> Pod {
            let metadata = json!({"name": name, "namespace": "default", "labels": {"a": "b"}});
            let pod = json!({"metadata": metadata, "spec": spec});
            serde_json::from_value(pod).expect("a pod")
        };
        let there = Object::Pod(pod("old", json!({"nodeName": "one"})));
        let cluster = Cluster::of(&Cache::of([node("one"), node("two"), there]));
        let fits = |selector: serde_json::Value| {
            let rule = json!({"maxSkew": 1, "topologyKey": "node", "labelSelector": selector,
                "whenUnsatisfiable": "DoNotSchedule"});
            let new = pod("new", json!({"topologySpreadConstraints": [rule]}));
            let spread = Spread::of(&new, &NodeAffinity::default(), &cluster);
            spread.filter(cluster.nodes()[0].node().expect("a node")).is_ok()
        };
        assert!(fits(json!({})));
        assert!(!fits(json!({"matchLabels": {"a": "b"}})));
    }
}
