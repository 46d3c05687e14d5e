//! Taints and tolerations, as the scheduler and the taint eviction read them
//! (`k8s.io/component-helpers/scheduling/corev1`). The operators `Lt` and `Gt` (alpha) are left
//! out.

use crate::api::{Taint, TaintEffect, Toleration};

/// On a node whose Ready condition is False.
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// On a node whose Ready condition is Unknown.
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// On a cordoned node.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Whether a pod with this toleration bears this taint.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let same_effect = toleration.effect.is_none_or(|effect| effect == taint.effect);
    let key = toleration.key.as_deref().unwrap_or_default();
    if !same_effect || !(key.is_empty() || *key == *taint.key) {
        return false;
    }
    match toleration.operator.as_deref().unwrap_or_default() {
        "" | "Equal" => {
            let wanted = toleration.value.as_deref().unwrap_or_default();
            *wanted == *taint.value.as_deref().unwrap_or_default()
        }
        "Exists" => true,
        _ => false,
    }
}

/// Whether one of these tolerations bears this taint.
pub fn is_tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|t| tolerates(t, taint))
}

/// Whether a taint keeps new pods away.
pub fn keeps_away(taint: &Taint) -> bool {
    matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)
}

/// A taint with no value and no time.
pub fn taint(key: &str, effect: TaintEffect) -> Taint {
    Taint { key: key.into(), value: None, effect, time_added: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toleration(key: &str, operator: &str, value: &str) -> Toleration {
        let text = |t: &str| (!t.is_empty()).then(|| t.into());
        Toleration {
            key: text(key),
            operator: text(operator),
            value: text(value),
            ..Toleration::default()
        }
    }

    #[test]
    fn a_toleration_without_key_that_exists_bears_everything() {
        let any = toleration("", "Exists", "");
        assert!(tolerates(&any, &taint("a", TaintEffect::NoExecute)));
        assert!(tolerates(&any, &taint("b", TaintEffect::NoSchedule)));
    }

    #[test]
    fn an_equal_toleration_bears_only_its_value_and_effect() {
        let mut gpu = taint("gpu", TaintEffect::NoSchedule);
        gpu.value = Some("yes".into());
        assert!(tolerates(&toleration("gpu", "", "yes"), &gpu));
        assert!(!tolerates(&toleration("gpu", "Equal", "no"), &gpu));
        let mut other = toleration("gpu", "Exists", "");
        other.effect = Some(TaintEffect::NoExecute);
        assert!(!tolerates(&other, &gpu));
    }
}
