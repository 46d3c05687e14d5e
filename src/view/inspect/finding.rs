//! What a diagnosis says, as data: the page puts it into sentences.

use crate::api::{ConditionStatus, ObjectKey, Str};
use crate::apiserver::{Verb, WatchEventType};
use crate::kernel::Time;

/// Where on its way from a text to something that serves an object can stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It is stored.
    Apply,
    /// Its controller has looked at it as it is now.
    Controller,
    /// The ReplicaSet of the present template asks for the pods.
    ReplicaSet,
    /// The pods are there.
    Pods,
    /// They have a node.
    Scheduler,
    /// The kubelet has their images and has started them.
    Kubelet,
    /// Their containers run.
    Container,
    /// They pass their probes.
    Probe,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It is behind us.
    Done,
    /// Here it is now, and goes on by itself.
    Here,
    /// Here it stopped.
    Stopped,
    /// Not reached yet.
    Ahead,
}

/// A step of the chain, with how many got past it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// Which.
    pub step: Step,
    /// So many pods, or 1 for the object itself, ...
    pub done: i64,
    /// ... of so many.
    pub of: i64,
    /// What that means.
    pub state: StepState,
}

/// One thing that keeps an object from being as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which object.
    pub object: ObjectKey,
    /// How many objects it holds for, this one included.
    pub count: usize,
    /// At which step of the chain.
    pub step: Step,
    /// What is the matter.
    pub what: What,
    /// Why nobody puts it right, where that is known.
    pub why: Option<Why>,
    /// What can be looked at to see that it is so.
    pub evidence: Vec<Evidence>,
    /// What would change it.
    pub next: Next,
}

/// What is the matter.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum What {
    /// The kind is kept, and nobody acts on it.
    NotSimulated,
    /// The controller has not seen the newest spec.
    Unobserved { generation: i64, observed: i64 },
    /// There is no ReplicaSet of the present template.
    NoSet,
    /// The ReplicaSets ask for another number than the Deployment.
    SetSize { want: i64, have: i64 },
    /// Changes of the template wait until it is resumed.
    Paused,
    /// No progress within `progressDeadlineSeconds`.
    Deadline,
    /// Old pods must stay until new ones are available.
    Blocked { available: i64, least: i64, unready: i64 },
    /// There are fewer pods than wanted.
    Missing { want: i64, have: i64 },
    /// There are more.
    Surplus { want: i64, have: i64 },
    /// In order: the next pod waits for this one.
    InOrder { pod: Str },
    /// No node fits.
    Unschedulable,
    /// It has no node yet.
    NoNode,
    /// Its machine is off.
    NodeOff { node: Str },
    /// Its machine does not reach the API server.
    NodeCut { node: Str },
    /// Its machine runs, its kubelet does not.
    KubeletDown { node: Str },
    /// The image cannot be had.
    NotPulled { container: Str, image: Str, reason: Str },
    /// It crashes again and again.
    CrashLoop { container: Str, code: i32, restarts: i32 },
    /// It ended.
    Ended { container: Str, code: i32, reason: Str },
    /// It is being made.
    Starting { container: Str, reason: Str },
    /// The startup probe has not passed yet.
    StartupProbe { container: Str },
    /// It runs and is not ready.
    NotReady { container: Str, probe: bool, since: Option<Time> },
    /// It ended for good, badly.
    PodFailed { reason: Str },
    /// It goes when these are taken off.
    Finalizers { names: Str },
    /// It has until then to end.
    Grace { until: Time },
    /// It is being deleted, and that has not come to an end.
    Terminating,
    /// It shall not run now.
    Suspended,
    /// The Job has failed for good.
    JobFailed { reason: Str },
    /// Pods failed; the next one is made after a while.
    JobBackOff { failed: i64, limit: i64 },
    /// The autoscaler cannot read what it scales by.
    NoMetrics { reason: Str },
    /// The autoscaler cannot scale its target.
    CannotScale { reason: Str },
    /// By what is measured, the autoscaler's target should have another number of replicas.
    ShouldScale { want: i64, have: i64 },
    /// The cluster is not as the repository has it.
    OutOfSync,
    /// The order is not where its spec wants it, or its status does not say so.
    OrderBehind,
    /// The node is not ready.
    NodeNotReady,
    /// A condition that should be True is not.
    Condition { kind: Str, reason: Str },
}

/// Why nobody puts it right.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// What the loop asked for was refused.
    Refused {
        /// By what.
        by: Refuser,
        /// What was asked.
        verb: Verb,
        /// The HTTP code.
        code: u16,
        /// What the API server said.
        message: Str,
    },
    /// This is how its loop stands.
    Loop {
        /// The loop's name.
        name: &'static str,
        /// How.
        state: LoopState,
    },
}

/// What refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// A ResourceQuota.
    Quota,
    /// A LimitRange.
    LimitRange,
    /// Somebody was faster: 409.
    Conflict,
    /// No answer in time.
    Timeout,
    /// 429.
    Throttled,
    /// The namespace is going.
    Namespace,
    /// Something else.
    Other,
}

/// How a loop stands towards an object.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopState {
    /// The API server answers nobody.
    ServerDown,
    /// Its process does not run.
    Down,
    /// Its process is paused until then.
    PausedUntil(Time),
    /// Its watches are broken.
    Cut,
    /// The event that would have woken it was lost.
    EventLost {
        /// Which event.
        event: WatchEventType,
        /// Of which object.
        object: ObjectKey,
        /// When.
        at: Time,
    },
    /// It counts so many pods, and there are other ones.
    Believes {
        /// In its own count.
        sees: i64,
        /// In truth.
        truth: i64,
    },
    /// A pass over it is at work.
    AtWork,
    /// It waits in the queue.
    Queued,
    /// It comes back then; after an error or by a timer.
    Due {
        /// When.
        at: Time,
        /// Whether after an error.
        back_off: bool,
    },
    /// News of it arrives then.
    OnItsWay(Time),
    /// Nothing about it is on its way to the loop.
    Untold,
}

/// What would change it.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It is tried again then.
    Retry(Time),
    /// Then this is due, and may help: `resync`.
    Due(Time, Str),
    /// Something is under way in the cluster.
    UnderWay,
    /// Nothing will ever wake anyone: the lane is stuck.
    Never,
    /// All is as it was asked for; somebody must ask for something else.
    ByHand,
}

/// What a finding rests on; each can be looked at.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Evidence {
    /// A condition in the object's status.
    Condition(ConditionRow),
    /// A Kubernetes Event.
    Event(EventNote),
    /// A request, with the number of its pass.
    Request { at: Time, verb: Verb, object: ObjectKey, code: u16, message: Str, pass: u64 },
    /// A watch event that was lost.
    Struck { at: Time, event: WatchEventType, object: ObjectKey },
}

/// A condition, in the words of `kubectl describe`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionRow {
    /// Its type: `Ready`.
    pub kind: Str,
    /// True, False or Unknown.
    pub status: ConditionStatus,
    /// Why, in one word; empty if it does not say.
    pub reason: Str,
    /// Why, in a sentence.
    pub message: Str,
    /// Since when.
    pub since: Option<Time>,
}

/// An Event about the object.
#[derive(Clone, Debug, PartialEq)]
pub struct EventNote {
    /// When last.
    pub at: Time,
    /// Whether it is a cause for worry.
    pub warning: bool,
    /// In one word.
    pub reason: Str,
    /// In a sentence.
    pub message: Str,
    /// Who says it.
    pub from: Str,
    /// How often.
    pub count: i32,
}
