//! What one pass decided: what it saw and wanted, the requests to make, and what comes afterwards.
//! A plan is data; `PassRun` carries it out.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{EventType, Object, ObjectKey, Str};
use crate::apiserver::{ApiError, Request};
use crate::kernel::Time;

use super::Fallback;

/// What one pass decided.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The observed state, for the sentence: "sees 2".
    pub sees: Fact,
    /// The desired state, for the sentence: "wants 3".
    pub wants: Fact,
    /// Requests, batch after batch; all of a batch are under way together. The first batch in which
    /// one fails is the last; but adoptions follow where only a release failed.
    pub batches: Vec<Batch>,
    /// So many of the first batches prepare the pass (adoption and release): if one of them fails,
    /// nothing that was seen can be relied on, and no status is written.
    pub preparations: usize,
    /// The status to write in the end, whether or not a batch failed.
    pub finish: Option<Finish>,
    /// Events to tell at once, whatever becomes of the requests.
    pub events: Vec<EventNote>,
    /// What it reads must be decided on: when its requests are answered, the controller is asked
    /// again, in the same pass.
    pub goes_on: bool,
    /// A look that goes on for ever and changes nothing by itself.
    pub upkeep: bool,
    /// Look again after this time, although all went well.
    pub requeue_after: Option<Duration>,
    /// It comes back not before the queue's rate limiter lets it (`AddRateLimited`).
    pub limited: bool,
    /// An error that the pass met before it wrote anything: the key is tried again with back-off.
    pub error: Option<String>,
    /// Pods that this pass is about to make and delete: what the cache must show before the key is
    /// looked at again.
    pub promise: Option<Promise>,
    /// The branches that were taken, in order; only the loops with two flavours tell.
    pub trail: Vec<Spot>,
}

/// A line of a loop's own source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, from the top of the project.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

/// The line that it stands on, for `Plan::trail`.
macro_rules! here {
    () => {
        $crate::controllers::Spot { file: file!(), line: line!() }
    };
}
pub(crate) use here;

/// Requests that are under way together.
pub type Batch = Vec<Intent>;

/// Expectations to set before the first request of a plan (`ControllerExpectations`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// So many creations.
    Creations(u32),
    /// The deletions of these pods, by `namespace/name`.
    Deletions(Vec<Str>),
}

/// A request, and what to tell of its outcome.
#[derive(Clone, Debug)]
pub struct Intent {
    /// The request.
    pub request: Request,
    /// What it is, in the sentence.
    pub deed: Deed,
    /// Told if it succeeds. `{name}` in the message becomes the name of the object in the answer.
    pub on_success: Option<EventNote>,
    /// Told if it fails. `{error}` in the message becomes the error.
    pub on_failure: Option<EventNote>,
    /// Only for `Get`: the answer must have this uid and not be terminating, or the pass fails.
    pub must_be_alive: Option<Str>,
    /// Failures that count as success, such as NotFound for a delete.
    pub tolerates: fn(&ApiError) -> bool,
    /// What else follows if it fails: the first that applies, in place of the plan's `finish`.
    pub fallbacks: Vec<Fallback>,
}

impl Intent {
    /// A request with nothing to tell.
    pub fn new(deed: Deed, request: Request) -> Intent {
        Intent {
            request,
            deed,
            on_success: None,
            on_failure: None,
            must_be_alive: None,
            tolerates: |_| false,
            fallbacks: Vec::new(),
        }
    }

    /// The same of something that may be gone already: then there is nothing left to do.
    pub fn tolerant(deed: Deed, request: Request) -> Intent {
        Intent { tolerates: ApiError::is_not_found, ..Intent::new(deed, request) }
    }
}

/// The status write at the end of a pass.
#[derive(Clone, Debug)]
pub struct Finish {
    /// The object as it was seen.
    pub before: Arc<Object>,
    /// The object with its new status.
    pub after: Object,
    /// Completes the new status with the error that the batches met, if any.
    pub amend: fn(&mut Object, Option<&str>, Time),
    /// How often a failed write is tried again at once, after a fresh read.
    pub retries: u32,
}

impl Finish {
    /// A status that depends on nothing but what was seen.
    pub fn plain(before: Arc<Object>, after: Object) -> Finish {
        Finish { before, after, amend: |_, _, _| {}, retries: 0 }
    }
}

/// What a pass saw or wanted, in a form that can be said in any language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fact {
    /// Nothing to say.
    #[default]
    None,
    /// A number of pods (or of whatever the loop counts).
    Count(i64),
    /// So many of so many: fitting nodes, ready containers.
    Of(i64, i64),
    /// The object is gone, or shall go.
    Gone,
    /// A word of Kubernetes, left as it is: a phase, a node's name, a reason.
    Word(Str),
}

/// What a request does, in the sentence: "creates 1".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Deed {
    CreatePod,
    DeletePod,
    CreateReplicaSet,
    ScaleReplicaSet,
    DeleteReplicaSet,
    Adopt,
    Release,
    /// An object of any other kind.
    Create,
    Update,
    Bind,
    Delete,
    Orphan,
    Unblock,
    Status,
    Taint,
    Evict,
    Read,
    Renew,
    Scale,
    Apply,
    Prune,
    /// Of a payment provider.
    Charge,
    Refund,
    Cancel,
    /// What somebody outside of the cluster said is written into the status.
    Record,
}

/// A Kubernetes Event to be told.
#[derive(Clone, Debug)]
pub struct EventNote {
    /// What it is about.
    pub about: Arc<Object>,
    /// Which part of it, such as `spec.containers{web}`.
    pub field_path: Option<Str>,
    /// Normal or Warning.
    pub kind: EventType,
    /// In one word.
    pub reason: Str,
    /// In a sentence.
    pub message: String,
}

impl EventNote {
    /// A Normal Event.
    pub fn normal(about: &Arc<Object>, reason: &str, message: impl Into<String>) -> EventNote {
        Self::new(about, EventType::Normal, reason, message.into())
    }

    /// A Warning.
    pub fn warning(about: &Arc<Object>, reason: &str, message: impl Into<String>) -> EventNote {
        Self::new(about, EventType::Warning, reason, message.into())
    }

    fn new(about: &Arc<Object>, kind: EventType, reason: &str, message: String) -> EventNote {
        EventNote { about: about.clone(), field_path: None, kind, reason: reason.into(), message }
    }
}

impl Plan {
    /// A pass that found nothing to do.
    pub fn nothing(sees: Fact, wants: Fact) -> Plan {
        Plan { sees, wants, ..Plan::default() }
    }

    /// Notes a branch that was taken.
    pub fn by(mut self, spot: Spot) -> Plan {
        self.trail.push(spot);
        self
    }

    /// Adds one request that waits for all before it.
    pub fn then(&mut self, intent: Intent) {
        self.batches.push(vec![intent]);
    }

    /// The objects that the plan writes, for tests and for showing.
    pub fn writes(&self) -> impl Iterator<Item = (Deed, ObjectKey)> + '_ {
        self.batches.iter().flatten().map(|intent| (intent.deed, intent.request.key()))
    }
}
