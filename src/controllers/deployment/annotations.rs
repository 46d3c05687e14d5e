//! What a Deployment's ReplicaSets carry in their annotations: the revision, those it had before,
//! and for which size of the Deployment they were last resized.
//!
//! Follows `pkg/controller/deployment/util/deployment_util.go`.

use crate::api::{Deployment, ReplicaSet, StrMap};

use super::fenceposts;

/// The rollout that a ReplicaSet belongs to, counted from 1.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// Revisions that a ReplicaSet had before a rollback to it, with commas.
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// `spec.replicas` of the Deployment at the last resize.
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// The same with the surge of that time.
pub const MAX: &str = "deployment.kubernetes.io/max-replicas";

/// The revision history is cut at its front to so many characters.
pub const HISTORY_CHARS_MAX: usize = 2000;

/// Annotations of the Deployment that its ReplicaSets do not get.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED,
    MAX,
    "deprecated.deployment.rollback.to",
];

/// Whether a Deployment's annotation goes to its ReplicaSets too.
pub fn is_copied(name: &str) -> bool {
    !NOT_COPIED.contains(&name)
}

/// Why an annotation is no number, as Go's `strconv` says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Something else than digits.
    #[error("strconv.ParseUint: parsing {0:?}: invalid syntax")]
    Syntax(String),
    /// More than 31 bits.
    #[error("strconv.ParseUint: parsing {0:?}: value out of range")]
    Range(String),
}

/// The number in an annotation (`getNonNegativeInt32FromAnnotation`); none if there is no
/// annotation.
pub fn number(value: Option<&str>) -> Result<Option<i32>, NumberError> {
    let Some(text) = value else {
        return Ok(None);
    };
    if text.is_empty() {
        return Err(NumberError::Syntax(text.into()));
    }
    let mut number: i32 = 0;
    for digit in text.chars() {
        let digit = digit.to_digit(10).ok_or_else(|| NumberError::Syntax(text.into()))?;
        number = i32::try_from(digit)
            .ok()
            .and_then(|digit| number.checked_mul(10)?.checked_add(digit))
            .ok_or_else(|| NumberError::Range(text.into()))?;
    }
    Ok(Some(number))
}

fn number_of(set: &ReplicaSet, name: &str) -> Option<i32> {
    let value = set.metadata.annotations.get(name);
    number(value.map(|v| &**v)).unwrap_or_default()
}

/// The size of the Deployment for which a set was last resized.
pub fn desired(set: &ReplicaSet) -> Option<i32> {
    number_of(set, DESIRED)
}

/// The same with surge.
pub fn max(set: &ReplicaSet) -> Option<i32> {
    number_of(set, MAX)
}

/// The two sizes that a set of this Deployment should carry now.
pub fn sizes_for(deployment: &Deployment) -> (i32, i64) {
    (deployment.spec.replicas(), fenceposts::max_total(deployment))
}

/// Writes both sizes; whether anything changed (`SetReplicasAnnotations`).
pub fn set_sizes(annotations: &mut StrMap, desired: i32, max: i64) -> bool {
    let needed = sizes_need_update(annotations, desired, max);
    annotations.insert(DESIRED.into(), desired.to_string().into());
    annotations.insert(MAX.into(), max.to_string().into());
    needed
}

/// Whether the sizes are missing or others (`ReplicasAnnotationsNeedUpdate`).
pub fn sizes_need_update(annotations: &StrMap, desired: i32, max: i64) -> bool {
    let says =
        |name: &str, number: String| annotations.get(name).is_some_and(|text| **text == *number);
    !says(DESIRED, desired.to_string()) || !says(MAX, max.to_string())
}

/// The annotations of a Deployment's present set (`SetNewReplicaSetAnnotations`): those of the
/// Deployment, and its revision. Whether anything changed.
pub fn set_of_new_set(deployment: &Deployment, set: &mut ReplicaSet, revision: i64) -> bool {
    let annotations = &mut set.metadata.annotations;
    let copied = copy(&deployment.metadata.annotations, annotations);
    match set_revision(annotations, revision, HISTORY_CHARS_MAX) {
        Some(changed) => copied || changed,
        // Kubernetes returns here too, and so does not write what it has copied.
        None => false,
    }
}

fn copy(from: &StrMap, to: &mut StrMap) -> bool {
    let mut changed = false;
    for (name, value) in from.iter().filter(|(name, _)| is_copied(name)) {
        changed |= to.insert(name.clone(), value.clone()).as_ref() != Some(value);
    }
    changed
}

/// Raises the revision to `revision`, and remembers the one before: that is a rollback to this set.
/// Whether anything changed; nothing if the present revision is no number.
pub fn set_revision(annotations: &mut StrMap, revision: i64, chars_max: usize) -> Option<bool> {
    let before = annotations.get(REVISION).cloned();
    let old: i64 = match before.as_deref() {
        None | Some("") => 0,
        Some(text) => text.parse().ok()?,
    };
    if old >= revision {
        return Some(false);
    }
    annotations.insert(REVISION.into(), revision.to_string().into());
    if let Some(before) = before {
        remember_revision(annotations, &before, chars_max);
    }
    Some(true)
}

fn remember_revision(annotations: &mut StrMap, before: &str, chars_max: usize) {
    let history = annotations.get(REVISION_HISTORY).cloned().unwrap_or_default();
    if history.is_empty() || history.starts_with(',') {
        annotations.insert(REVISION_HISTORY.into(), before.into());
        return;
    }
    let mut kept: Vec<&str> = history.split(',').chain([before]).collect();
    let length = |kept: &[&str]| kept.iter().map(|r| r.len() + 1).sum::<usize>() - 1;
    while kept.len() > 1 && length(&kept) > chars_max {
        kept.remove(0);
    }
    if length(&kept) <= chars_max {
        annotations.insert(REVISION_HISTORY.into(), kept.join(",").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_remembers_the_revision_that_the_set_had() {
        let mut annotations = StrMap::new();
        assert_eq!(set_revision(&mut annotations, 1, 2000), Some(true));
        assert_eq!(annotations.get(REVISION_HISTORY), None);
        assert_eq!(set_revision(&mut annotations, 3, 2000), Some(true));
        assert_eq!(set_revision(&mut annotations, 2, 2000), Some(false));
        assert_eq!(annotations.get(REVISION).map(|r| &**r), Some("3"));
        assert_eq!(annotations.get(REVISION_HISTORY).map(|r| &**r), Some("1"));
    }

    #[test]
    fn a_revision_that_is_no_number_is_left_alone() {
        let mut annotations = StrMap::from([(REVISION.into(), "first".into())]);
        assert_eq!(set_revision(&mut annotations, 2, 2000), None);
        assert_eq!(annotations.get(REVISION).map(|r| &**r), Some("first"));
    }

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        let why = |text| number(Some(text)).unwrap_err().to_string();
        assert_eq!(number(Some("007")), Ok(Some(7)));
        assert!(why("+1").ends_with("invalid syntax"));
        assert!(why("").ends_with("invalid syntax"));
        assert!(why("99999999999x").ends_with("value out of range"));
    }
}
