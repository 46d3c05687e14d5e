//! Finalizers: their names, and when they may be added (apimachinery `ValidateFinalizers` and
//! `ValidateNoNewFinalizers`, `validateKubeFinalizerName` of `pkg/apis/core/validation`).

use crate::api::{Str, names};
use crate::apiserver::deletion::{FOREGROUND, ORPHAN};

use super::errors::Errors;

const PATH: &str = "metadata.finalizers";

/// Names that need no domain in front.
const STANDARD: [&str; 3] = ["kubernetes", ORPHAN, FOREGROUND];

/// The finalizers of an object.
pub fn validate(finalizers: &[Str], errors: &mut Errors) {
    for (index, finalizer) in finalizers.iter().enumerate() {
        let broken = names::qualified_name(finalizer);
        let path = format!("{PATH}[{index}]");
        if broken.is_empty() && !finalizer.contains('/') && !STANDARD.contains(&&**finalizer) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(&path, finalizer, detail);
        }
        errors.rules(&path, finalizer, broken);
    }
    let has = |wanted: &str| finalizers.iter().any(|name| **name == *wanted);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.invalid(PATH, finalizers, &detail);
    }
}

/// Once an object is being deleted, finalizers may only go. `path` is theirs.
pub fn no_new(before: &[Str], after: &[Str], path: &str, errors: &mut Errors) {
    let mut added: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
    if !added.is_empty() {
        added.sort();
        let list: Vec<_> = added.into_iter().map(|name| format!("{name:?}")).collect();
        let detail = "no new finalizers can be added if the object is being deleted, found new \
                      finalizers";
        errors.forbidden(path, &format!("{detail} []string{{{}}}", list.join(", ")));
    }
}
