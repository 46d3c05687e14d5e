//! Between what a pass promises, what it could not keep and what events show, and the expectations
//! that hold the next pass back (`UIDTrackingControllerExpectations`).

use crate::api::{ObjectKey, Str};
use crate::client::expectations::UidTrackingExpectations;
use crate::kernel::Time;

use super::change::Woken;
use super::pass_run::Promises;
use super::plan::Promise;

/// `namespace/name`, under which the expectations of an object are kept.
pub fn expectations_key(key: &ObjectKey) -> Str {
    format!("{}/{}", key.namespace, key.name).into()
}

/// Expects what a pass over `key` promises, before it makes its first request.
pub fn expect(promise: &Promise, key: &ObjectKey, all: &mut UidTrackingExpectations, now: Time) {
    let key = expectations_key(key);
    match promise {
        Promise::Creations(count) => all.expect_creations(&key, i64::from(*count), now),
        Promise::Deletions(pods) => all.expect_deletions(&key, pods.iter().cloned(), now),
    }
}

/// Expects no longer what a pass over `key` could not keep.
pub fn give_up(broken: &Promises, key: &ObjectKey, all: &mut UidTrackingExpectations) {
    if broken.creations == 0 && broken.deletions.is_empty() {
        return;
    }
    let key = expectations_key(key);
    all.lower_creations(&key, i64::from(broken.creations));
    for pod in &broken.deletions {
        all.deletion_observed(&key, pod);
    }
}

/// Whether all that passes over `key` promised has come true, or been waited for long enough.
pub fn are_kept(key: &ObjectKey, all: &UidTrackingExpectations, now: Time) -> bool {
    // Most processes promise nothing, and need no key for it.
    all.is_empty() || all.satisfied(&expectations_key(key), now)
}

/// Takes in what an event showed to have come true.
pub fn observe(woken: &Woken, all: &mut UidTrackingExpectations) {
    for key in &woken.forgotten {
        all.delete(&expectations_key(key));
    }
    for key in &woken.created {
        all.creation_observed(&expectations_key(key));
    }
    for (key, pod) in &woken.deleted {
        all.deletion_observed(&expectations_key(key), pod);
    }
}
