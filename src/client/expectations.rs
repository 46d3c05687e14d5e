//! What a controller has asked for and has not seen yet. Its cache lags behind the API server, so a
//! controller that counted again at once would create or delete twice; it waits until what it did
//! has come back as events, or until it has waited too long (an event may be lost).
//!
//! Follows `ControllerExpectations` and `UIDTrackingControllerExpectations` in
//! <https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/controller_utils.go>. Left
//! out: locks; nothing wakes a controller when an expectation expires, here as there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::api::Str;
use crate::kernel::Time;

/// How long a controller waits for its events at most (`ExpectationsTimeout`).
pub const EXPECTATIONS_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// What one controller object still expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Creations not seen yet; below zero when more were seen than expected.
    pub adds: i64,
    /// Deletions not seen yet; below zero when more were seen than expected.
    pub dels: i64,
    /// When it was set.
    pub since: Time,
}

impl Expectation {
    /// Whether everything was seen.
    pub fn is_fulfilled(&self) -> bool {
        self.adds <= 0 && self.dels <= 0
    }
}

/// Expectations by the key of the object that a controller works on. Once set they only shrink.
#[derive(Clone, Debug)]
pub struct Expectations {
    by_key: BTreeMap<Str, Expectation>,
    timeout: Duration,
}

impl Default for Expectations {
    fn default() -> Self {
        Expectations::with_timeout(EXPECTATIONS_TIMEOUT)
    }
}

impl Expectations {
    /// Expectations that expire after another time than the usual.
    pub fn with_timeout(timeout: Duration) -> Expectations {
        Expectations { by_key: BTreeMap::new(), timeout }
    }

    /// Replaces what is expected for the key.
    pub fn set(&mut self, key: &Str, adds: i64, dels: i64, now: Time) {
        self.by_key.insert(key.clone(), Expectation { adds, dels, since: now });
    }

    /// Expects so many creations and nothing else.
    pub fn expect_creations(&mut self, key: &Str, adds: i64, now: Time) {
        self.set(key, adds, 0, now);
    }

    /// Expects so many deletions and nothing else.
    pub fn expect_deletions(&mut self, key: &Str, dels: i64, now: Time) {
        self.set(key, 0, dels, now);
    }

    /// Expects more than was set. What was never set stays so.
    pub fn raise(&mut self, key: &str, adds: i64, dels: i64) {
        if let Some(expectation) = self.by_key.get_mut(key) {
            expectation.adds = expectation.adds.saturating_add(adds);
            expectation.dels = expectation.dels.saturating_add(dels);
        }
    }

    /// Expects less than was set: so much was seen, or will never come.
    pub fn lower(&mut self, key: &str, adds: i64, dels: i64) {
        self.raise(key, adds.saturating_neg(), dels.saturating_neg());
    }

    /// One creation was seen, or failed.
    pub fn creation_observed(&mut self, key: &str) {
        self.lower(key, 1, 0);
    }

    /// One deletion was seen, or failed.
    pub fn deletion_observed(&mut self, key: &str) {
        self.lower(key, 0, 1);
    }

    /// Whether nothing was ever expected, or all of it is forgotten.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Whether the controller may act on the key: all was seen, or it has waited too long, or it
    /// never expected anything.
    pub fn satisfied(&self, key: &str, now: Time) -> bool {
        self.by_key.get(key).is_none_or(|expectation| {
            expectation.is_fulfilled() || now.since(expectation.since) > self.timeout
        })
    }

    /// What is expected for the key.
    pub fn get(&self, key: &str) -> Option<&Expectation> {
        self.by_key.get(key)
    }

    /// The last moment at which the key still waits, if it does wait for something.
    pub fn waits_until(&self, key: &str) -> Option<Time> {
        let expectation = self.by_key.get(key).filter(|e| !e.is_fulfilled())?;
        Some(expectation.since + self.timeout)
    }

    /// Forgets the key: its object is gone.
    pub fn delete(&mut self, key: &str) {
        self.by_key.remove(key);
    }
}

/// Expectations that know which pods they expect to go. A graceful deletion shows twice, as an
/// update that sets `deletionTimestamp` and as the deletion itself, and must be counted once.
#[derive(Clone, Debug, Default)]
pub struct UidTrackingExpectations {
    expectations: Expectations,
    uids: BTreeMap<Str, BTreeSet<Str>>,
}

impl UidTrackingExpectations {
    /// Tracking on top of these expectations.
    pub fn new(expectations: Expectations) -> UidTrackingExpectations {
        UidTrackingExpectations { expectations, uids: BTreeMap::new() }
    }

    /// Expects so many creations and nothing else.
    pub fn expect_creations(&mut self, key: &Str, adds: i64, now: Time) {
        self.expectations.expect_creations(key, adds, now);
    }

    /// Expects these pods to go and nothing else. What names a pod (uid, or namespace and name) is
    /// up to the caller.
    pub fn expect_deletions(&mut self, key: &Str, pods: impl IntoIterator<Item = Str>, now: Time) {
        let pods: BTreeSet<Str> = pods.into_iter().collect();
        let dels = i64::try_from(pods.len()).unwrap_or(i64::MAX);
        self.expectations.expect_deletions(key, dels, now);
        self.uids.insert(key.clone(), pods);
    }

    /// One creation was seen, or failed.
    pub fn creation_observed(&mut self, key: &str) {
        self.expectations.creation_observed(key);
    }

    /// So many creations will never come: they were not tried after one had failed.
    pub fn lower_creations(&mut self, key: &str, adds: i64) {
        self.expectations.lower(key, adds, 0);
    }

    /// The pod was seen to go, or its deletion failed. Counts only if the pod was expected to go
    /// and was not counted before; tells whether it counted.
    pub fn deletion_observed(&mut self, key: &str, pod: &str) -> bool {
        let counts = self.uids.get_mut(key).is_some_and(|pods| pods.remove(pod));
        if counts {
            self.expectations.deletion_observed(key);
        }
        counts
    }

    /// Whether nothing is expected of any key; see [`Expectations::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.expectations.is_empty()
    }

    /// Whether the controller may act on the key; see [`Expectations::satisfied`].
    pub fn satisfied(&self, key: &str, now: Time) -> bool {
        self.expectations.satisfied(key, now)
    }

    /// What is expected for the key.
    pub fn get(&self, key: &str) -> Option<&Expectation> {
        self.expectations.get(key)
    }

    /// The last moment at which the key still waits; see [`Expectations::waits_until`].
    pub fn waits_until(&self, key: &str) -> Option<Time> {
        self.expectations.waits_until(key)
    }

    /// The pods that are still expected to go.
    pub fn expected_deletions(&self, key: &str) -> Option<&BTreeSet<Str>> {
        self.uids.get(key)
    }

    /// Forgets the key: its object is gone.
    pub fn delete(&mut self, key: &str) {
        self.expectations.delete(key);
        self.uids.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Time = Time::from_secs(100);

    fn web() -> Str {
        "default/web".into()
    }

    #[test]
    fn a_controller_waits_until_it_has_seen_what_it_did() {
        let mut expectations = Expectations::default();
        assert!(expectations.satisfied("default/web", T0), "nothing was ever expected");
        expectations.expect_creations(&web(), 2, T0);
        expectations.creation_observed("default/web");
        assert!(!expectations.satisfied("default/web", T0));
        expectations.creation_observed("default/web");
        assert!(expectations.satisfied("default/web", T0));
        expectations.creation_observed("default/other");
        assert_eq!(expectations.get("default/other"), None);
    }

    #[test]
    fn a_lost_event_holds_a_controller_up_for_five_minutes() {
        let mut expectations = Expectations::default();
        expectations.expect_deletions(&web(), 1, T0);
        let end = T0 + EXPECTATIONS_TIMEOUT;
        assert_eq!(expectations.waits_until("default/web"), Some(end));
        assert!(!expectations.satisfied("default/web", end));
        assert!(expectations.satisfied("default/web", end + Duration::from_nanos(1)));
    }

    #[test]
    fn setting_forgets_what_was_expected_before() {
        let mut expectations = Expectations::default();
        expectations.set(&web(), 3, 3, T0);
        expectations.lower("default/web", 5, 1);
        assert_eq!(expectations.get("default/web").map(|e| (e.adds, e.dels)), Some((-2, 2)));
        expectations.expect_creations(&web(), 1, T0);
        expectations.raise("default/web", 1, 0);
        assert_eq!(expectations.get("default/web").map(|e| (e.adds, e.dels)), Some((2, 0)));
    }

    #[test]
    fn a_pod_that_goes_is_counted_once_and_only_if_it_was_expected_to_go() {
        let mut expectations = UidTrackingExpectations::default();
        expectations.expect_deletions(&web(), ["a", "b", "a"].map(Str::from), T0);
        assert_eq!(expectations.get("default/web").map(|e| e.dels), Some(2));
        assert!(expectations.deletion_observed("default/web", "a"));
        assert!(!expectations.deletion_observed("default/web", "a"));
        assert!(!expectations.deletion_observed("default/web", "stranger"));
        assert!(!expectations.satisfied("default/web", T0));
        assert!(expectations.deletion_observed("default/web", "b"));
        assert!(expectations.satisfied("default/web", T0));
        expectations.delete("default/web");
        assert_eq!(expectations.expected_deletions("default/web"), None);
    }
}
