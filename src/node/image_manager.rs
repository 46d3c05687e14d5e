//! Makes sure that an image is there before a container of it is made: pull policy, back-off of
//! pulls that failed, and what is said of all that.
//!
//! Follows `pkg/kubelet/images/image_manager.go` and `puller.go`. A pull takes time here, so it
//! comes in two halves: `ensure` says that one is due, `pull_ended` takes how it ended. Left out:
//! pull secrets (an image that is there may be used by every pod), pulling one image at a time
//! (`serializeImagePulls`; here pulls go on side by side), and, unless a limit is set,
//! `registryPullQPS`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::{EventType, Str};
use crate::kernel::Time;

use super::backoff::{Backoff, BackoffParameters};
use super::go_duration;
use super::image_name::{mistake, with_default_tag};

/// An image and the pod that wants it. Each pod backs off on its own.
pub type PullKey = (Str, Str);

/// Pulls and their back-off on one node.
#[derive(Clone, Debug)]
pub struct ImageManager {
    backoff: Backoff<PullKey>,
    /// Why the last pull failed, for the message while backing off.
    last_errors: BTreeMap<PullKey, String>,
    limit: Option<PullLimit>,
}

/// What stands between a container and its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// Nothing.
    Present,
    /// It must be pulled now.
    Pull,
    /// It cannot be had now.
    Refused(ImageError),
}

/// Why a container has no image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError {
    /// The reason of the waiting state, such as `ErrImagePull`.
    pub reason: &'static str,
    /// The message of the waiting state.
    pub message: String,
    /// The Event about the image: type, reason, message. Another one, `Failed`, says `Error: ` and
    /// the reason.
    pub event: (EventType, &'static str, String),
}

/// When an image is pulled (`imagePullPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullPolicy {
    /// Each time.
    Always,
    /// If it is not there.
    IfNotPresent,
    /// Never: it must be there.
    Never,
}

impl PullPolicy {
    /// The policy of this name; by default Always for the tag `latest`, otherwise IfNotPresent.
    pub fn of(policy: Option<&str>, image: &str) -> PullPolicy {
        match policy {
            Some("Always") => PullPolicy::Always,
            Some("Never") => PullPolicy::Never,
            Some(_) => PullPolicy::IfNotPresent,
            None if with_default_tag(image).ends_with(":latest") => PullPolicy::Always,
            None => PullPolicy::IfNotPresent,
        }
    }
}

impl ImageManager {
    /// One whose failed pulls are tried again after these delays.
    pub fn new(parameters: BackoffParameters) -> ImageManager {
        ImageManager { backoff: parameters.build(), last_errors: BTreeMap::new(), limit: None }
    }

    /// The same with at most `burst` pulls at once and then so many in 1,000 s; 0 is no limit.
    pub fn with_limit(mut self, in_1000_s: u32, burst: u32) -> ImageManager {
        self.limit = (in_1000_s > 0).then(|| PullLimit::new(in_1000_s, burst));
        self
    }

    /// Looks whether `image` is there (by asking `inspect`), and whether it must be pulled.
    pub fn ensure(
        &mut self,
        key: &PullKey,
        policy: PullPolicy,
        inspect: impl FnOnce(&str) -> Result<bool, String>,
        now: Time,
    ) -> Ensured {
        let image = &*key.1;
        if let Some(why) = mistake(image) {
            return Ensured::Refused(invalid_name(image, &why));
        }
        let present = match inspect(&with_default_tag(image)) {
            Ok(present) => present,
            Err(error) => return Ensured::Refused(inspect_failed(image, &error)),
        };
        match policy {
            PullPolicy::IfNotPresent | PullPolicy::Never if present => Ensured::Present,
            PullPolicy::Never => Ensured::Refused(never_pulled(image)),
            _ if self.backoff.is_in_backoff_since_update(key, now) => {
                Ensured::Refused(self.backing_off(key))
            }
            _ => self.begin_pull(key, now),
        }
    }

    fn begin_pull(&mut self, key: &PullKey, now: Time) -> Ensured {
        self.last_errors.remove(key);
        let allowed = self.limit.as_mut().is_none_or(|limit| limit.take(now));
        match allowed {
            true => Ensured::Pull,
            false => Ensured::Refused(self.pull_failed(key, "pull QPS exceeded", now)),
        }
    }

    /// Takes how a pull ended.
    pub fn pull_ended(
        &mut self,
        key: &PullKey,
        result: Result<(), &str>,
        now: Time,
    ) -> Result<(), ImageError> {
        match result {
            Ok(()) => {
                self.backoff.gc(now);
                Ok(())
            }
            Err(error) => Err(self.pull_failed(key, error, now)),
        }
    }

    /// When the next pull may begin.
    pub fn retry_at(&self, key: &PullKey) -> Option<Time> {
        self.backoff.ends_at(key)
    }

    /// Forgets a pod's pull of an image.
    pub fn forget(&mut self, key: &PullKey) {
        self.backoff.reset(key);
        self.last_errors.remove(key);
    }

    /// Forgets everything, as a process does that ends.
    pub fn clear(&mut self) {
        self.backoff.clear();
        self.last_errors.clear();
    }

    fn backing_off(&self, key: &PullKey) -> ImageError {
        let short = format!("Back-off pulling image {:?}", &*key.1);
        let message = match self.last_errors.get(key) {
            Some(error) => format!("{short}: {error}"),
            None => short.clone(),
        };
        ImageError {
            reason: "ImagePullBackOff",
            message,
            event: (EventType::Normal, "BackOff", short),
        }
    }

    fn pull_failed(&mut self, key: &PullKey, error: &str, now: Time) -> ImageError {
        self.backoff.next(key, now, now);
        let (reason, message) = waiting_of(&key.1, error);
        self.last_errors.insert(key.clone(), format!("{reason}: {message}"));
        let event = format!("Failed to pull image {:?}: {error}", &*key.1);
        ImageError { reason, message, event: (EventType::Warning, "Failed", event) }
    }
}

/// Some runtimes begin their error with a word that the kubelet knows (`evalCRIPullErr`).
fn waiting_of(image: &str, error: &str) -> (&'static str, String) {
    let known = [
        ("RegistryUnavailable", "the registry is unavailable"),
        ("SignatureValidationFailed", "the signature validation failed"),
    ];
    for (reason, why) in known {
        if let Some(rest) = error.strip_prefix(reason) {
            return (reason, format!("image pull failed for {image} because {why}{rest}"));
        }
    }
    ("ErrImagePull", error.to_string())
}

fn inspect_failed(image: &str, error: &str) -> ImageError {
    let message = format!("Failed to inspect image {image:?}: {error}");
    ImageError {
        reason: "ImageInspectError",
        message: message.clone(),
        event: (EventType::Warning, "InspectFailed", message),
    }
}

fn invalid_name(image: &str, why: &str) -> ImageError {
    let message = format!("Failed to apply default image tag {image:?}: {why}");
    ImageError {
        reason: "InvalidImageName",
        message: message.clone(),
        event: (EventType::Warning, "InspectFailed", message),
    }
}

fn never_pulled(image: &str) -> ImageError {
    let message = format!("Container image {image:?} is not present with pull policy of Never");
    ImageError {
        reason: "ErrImageNeverPull",
        message: message.clone(),
        event: (EventType::Warning, "ErrImageNeverPull", message),
    }
}

/// The text of the Event `Pulled` after a pull.
pub fn pulled_message(image: &str, took: Duration, waited: Duration, bytes: u64) -> String {
    let (took, waited) = (go_duration::text(took), go_duration::text(waited));
    format!(
        "Successfully pulled image {image:?} in {took} ({waited} including waiting). \
         Image size: {bytes} bytes."
    )
}

/// The text of the Event `Pulled` without one.
pub fn present_message(image: &str) -> String {
    format!("Container image {image:?} already present on machine and can be accessed by the pod")
}

/// A bucket of tokens, in the parts of a pull that one nanosecond brings at one pull in 1,000 s
/// (`registryPullQPS`, `registryBurst`).
#[derive(Clone, Debug)]
struct PullLimit {
    in_1000_s: u32,
    full: u64,
    tokens: u64,
    filled: Time,
}

impl PullLimit {
    const ONE: u64 = 1_000_000_000_000;

    fn new(in_1000_s: u32, burst: u32) -> PullLimit {
        let full = u64::from(burst).saturating_mul(Self::ONE);
        PullLimit { in_1000_s, full, tokens: full, filled: Time::ZERO }
    }

    fn take(&mut self, now: Time) -> bool {
        let nanos = u64::try_from(now.since(self.filled).as_nanos()).unwrap_or(u64::MAX);
        let more = nanos.saturating_mul(u64::from(self.in_1000_s));
        self.tokens = self.tokens.saturating_add(more).min(self.full);
        self.filled = now;
        let enough = self.tokens >= Self::ONE;
        self.tokens -= if enough { Self::ONE } else { 0 };
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_that_failed_is_held_back_ever_longer_and_says_why() {
        let mut manager = ImageManager::new(BackoffParameters::image_pull());
        let key: PullKey = ("uid".into(), "web:1".into());
        let absent = |_: &str| Ok(false);
        let policy = PullPolicy::of(None, &key.1);
        let mut attempts = Vec::new();
        for second in 0..100 {
            let now = Time::from_secs(second);
            match manager.ensure(&key, policy, absent, now) {
                Ensured::Pull => {
                    attempts.push(second);
                    let error = manager.pull_ended(&key, Err("gone"), now);
                    assert_eq!(error.expect_err("it failed").reason, "ErrImagePull");
                }
                Ensured::Refused(error) => {
                    assert_eq!(error.reason, "ImagePullBackOff");
                    let text = "Back-off pulling image \"web:1\": ErrImagePull: gone";
                    assert_eq!(error.message, text);
                }
                Ensured::Present => panic!("it is not there"),
            }
        }
        assert_eq!(attempts, [0, 10, 30, 70]);
    }

    #[test]
    fn a_limit_may_be_less_than_one_pull_a_second() {
        let mut limit = PullLimit::new(500, 1);
        let allowed = (0..6).map(|second| limit.take(Time::from_secs(second)));
        assert_eq!(allowed.collect::<Vec<_>>(), [true, false, true, false, true, false]);
    }
}
