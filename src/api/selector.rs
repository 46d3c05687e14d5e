//! Label selectors.

use serde::{Deserialize, Serialize};

use super::{Str, StrMap};

/// `metav1.LabelSelector`: all of it must match; an empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(skip_serializing_if = "StrMap::is_empty")]
    pub match_labels: StrMap,
    /// Requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// `metav1.LabelSelectorRequirement`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelSelectorRequirement {
    /// The label.
    pub key: Str,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: Str,
    /// For In and NotIn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Str>,
}

impl LabelSelector {
    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether these labels are selected.
    pub fn matches(&self, labels: &StrMap) -> bool {
        self.match_labels
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
            && self
                .match_expressions
                .iter()
                .all(|requirement| requirement.matches(labels))
    }
}

impl LabelSelectorRequirement {
    /// Whether these labels fulfil it.
    pub fn matches(&self, labels: &StrMap) -> bool {
        let value = labels.get(&self.key);
        match &*self.operator {
            "In" => value.is_some_and(|v| self.values.contains(v)),
            "NotIn" => value.is_none_or(|v| !self.values.contains(v)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }
}
