//! Whether an Application that is out of sync is synced without anybody asking, and how long
//! self-heal waits (`autoSync`, `selfHealRemainingBackoff` of Argo CD's
//! `controller/appcontroller.go`).

use std::time::Duration;

/// `timeout.reconciliation`: from one look at the repository to the next.
pub const RECONCILIATION: Duration = Duration::from_secs(120);
/// `timeout.reconciliation.jitter`: the most that is added, so that not all look at once.
pub const RECONCILIATION_JITTER: Duration = Duration::from_secs(60);
/// `--self-heal-timeout-seconds`: used only where the back-off is turned off.
pub const SELF_HEAL_TIMEOUT: Duration = Duration::ZERO;
/// An operation that failed is tried again so often.
pub const RETRY_LIMIT: i64 = 5;
/// ... first after this time, then after twice as long, and so on.
pub const RETRY_FIRST: Duration = Duration::from_secs(5);
/// ... but no longer than this.
pub const RETRY_MOST: Duration = Duration::from_secs(180);

/// How the waits of self-heal grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfHealBackoff {
    /// The first wait.
    pub first: Duration,
    /// Each is so many times as long as the one before.
    pub factor: u32,
    /// The longest.
    pub cap: Duration,
    /// After so long without an operation it begins again.
    pub cooldown: Duration,
}

impl Default for SelfHealBackoff {
    fn default() -> Self {
        SelfHealBackoff {
            first: Duration::from_secs(2),
            factor: 3,
            cap: Duration::from_secs(300),
            cooldown: Duration::from_secs(330),
        }
    }
}

impl SelfHealBackoff {
    /// What is left to wait after so many attempts, the last operation having finished so long
    /// ago, if it has.
    pub fn remaining(&self, attempts: u32, finished_ago: Option<Duration>) -> Duration {
        let mut delay = if attempts == 0 { Duration::ZERO } else { self.first.min(self.cap) };
        for _ in 1..attempts {
            if delay >= self.cap || delay.is_zero() {
                break;
            }
            delay = delay.saturating_mul(self.factor).min(self.cap);
        }
        delay.saturating_sub(finished_ago.unwrap_or_default())
    }
}

/// `spec.syncPolicy.automated`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Automated {
    /// Whether what Git no longer has is deleted.
    pub prune: bool,
    /// Whether what is changed in the cluster is changed back.
    pub self_heal: bool,
    /// Whether everything may be deleted.
    pub allow_empty: bool,
}

/// What the last operation came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastSync {
    /// To which revision, if there was one.
    pub revision: Option<String>,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// What it said.
    pub message: String,
    /// Self-heal attempts up to it.
    pub attempts: u32,
    /// How long ago it finished, if it has.
    pub finished_ago: Option<Duration>,
}

/// One resource, as far as this decision minds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Whether the cluster has what Git has.
    pub synced: bool,
    /// Whether Git no longer has it.
    pub requires_pruning: bool,
}

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Question<'a> {
    /// The policy; none: a person syncs.
    pub automated: Option<Automated>,
    /// Whether the Application is being deleted.
    pub deleting: bool,
    /// Whether an operation is under way.
    pub busy: bool,
    /// Whether the comparison came to `OutOfSync`.
    pub out_of_sync: bool,
    /// The revision that was compared.
    pub revision: &'a str,
    /// The resources.
    pub resources: &'a [Compared],
    /// The last operation.
    pub last: LastSync,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Leave,
    /// Nothing yet: self-heal waits.
    Wait(Duration),
    /// Nothing, and the Application says why (condition `SyncError`).
    Refuse(String),
    /// A sync.
    Sync {
        /// With deletion of what Git no longer has.
        prune: bool,
        /// The number of this self-heal attempt; 0 for a new revision.
        attempt: u32,
    },
}

/// Decides.
pub fn decide(question: &Question, backoff: &SelfHealBackoff) -> Answer {
    let Some(policy) = question.automated else { return Answer::Leave };
    if question.busy || question.deleting || !question.out_of_sync {
        return Answer::Leave;
    }
    let only_extra = question.resources.iter().all(|r| r.synced || r.requires_pruning);
    if !policy.prune && only_extra {
        return Answer::Leave;
    }
    let last = &question.last;
    let revision = question.revision;
    let mut attempt = 0;
    if last.revision.as_deref() == Some(revision) {
        if !last.succeeded {
            let message = &last.message;
            return Answer::Refuse(format!("Failed last sync attempt to {revision}: {message}"));
        }
        // One attempt for each revision; only self-heal makes more of them.
        if !policy.self_heal {
            return Answer::Leave;
        }
        let rested = last.finished_ago.is_some_and(|ago| ago > backoff.cooldown);
        let attempts = if rested { 0 } else { last.attempts };
        let remaining = backoff.remaining(attempts, last.finished_ago);
        if !remaining.is_zero() {
            return Answer::Wait(remaining);
        }
        attempt = attempts + 1;
    }
    let wipes = question.resources.iter().all(|resource| resource.requires_pruning);
    if policy.prune && !policy.allow_empty && wipes {
        return Answer::Refuse(format!(
            "Skipping sync attempt to {revision}: auto-sync will wipe out all resources"
        ));
    }
    Answer::Sync { prune: policy.prune, attempt }
}
