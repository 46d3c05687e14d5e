//! A GitOps controller in the manner of Argo CD: keeps the cluster as a Git repository says, after
//! <https://github.com/argoproj/argo-cd/tree/master/controller> of August 2026.
//!
//! Level (`sync`): it compares the whole tree with what its cache holds, whenever its poll of the
//! repository is due, and whenever a watch hints that an object of an Application has changed. Edge
//! (`on_change`): a push tells it what the commit changed, and it applies that; a change in the
//! cluster tells it of one object, and it puts that one right if it shall heal. Without faults both
//! come to the same objects.
//!
//! Simplifications: one repository with one folder, whatever URL and path an Application names;
//! refresh, comparison and sync are one pass, where Argo CD has two queues; hooks, waves, projects,
//! server-side apply, `managedFieldsManagers` and jq beyond plain paths are left out; the status
//! carries no `reconciledAt` (it would be a write at every look).

pub mod application;
pub mod auto_sync;
pub mod compare;
mod edge;
pub mod health;
mod operate;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectKey, Str};
use crate::apiserver::{Request, Response};
use crate::kernel::{Time, stable_hash};

use super::{Change, Context, Deed, Fact, Intent, Plan, Woken, here};
use application::{Operation, REFRESH, Revision, Spec, last_sync, operation, retrying};
use auto_sync::{
    Answer, Question, RECONCILIATION, RECONCILIATION_JITTER, RETRY_FIRST, RETRY_MOST,
    SelfHealBackoff, decide,
};
use compare::{Live, Resource, compare, tracked_by};
use operate::{Found, unknown};

/// The kinds of object that a repository may hold here.
pub const MANAGED: &[Kind] = &[
    Kind::Namespace,
    Kind::ResourceQuota,
    Kind::LimitRange,
    Kind::ServiceAccount,
    Kind::Secret,
    Kind::ConfigMap,
    Kind::PersistentVolumeClaim,
    Kind::Service,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::HorizontalPodAutoscaler,
    Kind::PodDisruptionBudget,
    Kind::Ingress,
];

/// What the controller watches.
pub const WATCHED: [Kind; MANAGED.len() + 2] = {
    let mut kinds = [Kind::Application; MANAGED.len() + 2];
    kinds[1] = Kind::GitRevision;
    let mut index = 0;
    while index < MANAGED.len() {
        kinds[index + 2] = MANAGED[index];
        index += 1;
    }
    kinds
};

/// Deleting the Application deletes its objects first.
const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
/// A write that the cache has not shown after so long is not waited for any more.
const SETTLES: Duration = Duration::from_secs(5);

/// The controller's memory.
#[derive(Clone, Debug, Default)]
pub struct GitOps {
    applications: BTreeMap<ObjectKey, State>,
}

/// What it remembers of one Application.
#[derive(Clone, Debug, Default)]
struct State {
    /// The revision that it goes by.
    head: Option<Arc<Revision>>,
    /// What the repository has just answered.
    answer: Option<Response>,
    /// When the repository is looked at again.
    next_look: Time,
    looks: u64,
    /// Its own writes, which the cache must show before it decides again.
    written: BTreeMap<ObjectKey, u64>,
    written_at: Time,
    /// Edge: objects to put right when the back-off is over.
    owed: BTreeSet<ObjectKey>,
    timer: bool,
}

impl State {
    /// Takes the repository's answer.
    fn take_answer(&mut self, key: &ObjectKey, cx: &Context) -> Result<(), String> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        self.looks += 1;
        let draw = format!("{key}#{}", self.looks);
        let jitter = RECONCILIATION_JITTER.as_millis() as u64 + 1;
        let jitter = stable_hash(cx.seed, draw.as_bytes()) % jitter;
        self.next_look = cx.now + RECONCILIATION + Duration::from_millis(jitter);
        let revision = match &answer {
            Ok(object) => Revision::read(object).ok_or("it is no revision".to_string()),
            Err(error) => Err(error.message.clone()),
        };
        revision.map(|revision| {
            let known = self.head.as_ref().is_some_and(|head| head.id == revision.id);
            if !known {
                self.head = Some(Arc::new(revision));
            }
        })
    }

    /// Whether the cache shows all that was written.
    fn is_settled(&mut self, cx: &Context) -> bool {
        if cx.now.since(self.written_at) > SETTLES {
            self.written.clear();
        }
        let shows = |key: &ObjectKey, version: u64| {
            cx.cache.get(key).is_some_and(|object| object.meta().resource_version >= version)
        };
        self.written.retain(|key, version| !shows(key, *version));
        self.written.is_empty()
    }
}

impl GitOps {
    /// Level: an Application wakes itself; an object wakes the Application that it belongs to.
    pub fn wakes(&mut self, change: &Change) -> Woken {
        let keys = self.concerned(change);
        Woken { keys, ..Woken::default() }
    }

    fn concerned(&self, change: &Change) -> Vec<ObjectKey> {
        let key = change.key();
        if key.kind == Kind::Application {
            return vec![key];
        }
        let before = change.before.as_ref().and_then(|before| tracked_by(before));
        let marks = [before, tracked_by(&change.object)];
        let concerns = |(application, state): &(&ObjectKey, &State)| {
            marks.iter().flatten().any(|mark| **mark == *application.name)
                || state.head.as_ref().is_some_and(|head| holds(head, &key))
        };
        self.applications.iter().filter(concerns).map(|(key, _)| key.clone()).collect()
    }

    /// Level: one pass. If the repository must be looked at, that comes first.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let Some((object, generic)) = application(key, cx) else {
            self.applications.remove(key);
            return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
        };
        if object.meta().is_terminating() {
            return finalize(object, cx).by(here!());
        }
        let state = self.applications.entry(key.clone()).or_default();
        if !state.is_settled(cx) {
            let mut plan = Plan { upkeep: true, ..Plan::default() };
            plan.requeue_after = Some(SETTLES);
            return plan.by(here!());
        }
        let spec = Spec::read(generic);
        let asked = application::wants_refresh(object) || operation(generic).is_some();
        let due = state.head.is_none() || cx.now >= state.next_look || asked;
        if due && state.answer.is_none() {
            return reads(generic).by(here!());
        }
        let taken = state.take_answer(key, cx);
        if operation(generic).is_some_and(|operation| !operation.revision.is_empty()) {
            // What a person synced to is not what the Application follows.
            state.next_look = cx.now;
        }
        let head = state.head.clone();
        let mut plan = match (taken, head) {
            (Ok(()), Some(head)) => {
                let resources = compare(&object.meta().name, &spec, &head, &Live::Cache(cx.cache));
                let (spec, resources, now) = (&spec, &resources[..], cx.now);
                let found = Found { object, generic, spec, revision: &head.id, resources, now };
                act(&found).by(here!())
            }
            (Err(error), _) => unknown(object, generic, &error).by(here!()),
            (Ok(()), None) => unknown(object, generic, "no revision").by(here!()),
        };
        drop_refresh(object, &mut plan);
        let look = state.next_look.since(cx.now).max(Duration::from_millis(1));
        plan.requeue_after = Some(plan.requeue_after.map_or(look, |after| after.min(look)));
        // A look that finds nothing to do is upkeep.
        plan.upkeep = plan.batches.is_empty() && plan.finish.is_none();
        plan
    }

    /// What became of a request of a pass for `key`.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response, now: Time) {
        let Some(state) = self.applications.get_mut(key) else { return };
        match (request, response) {
            (Request::Get(read), _) if read.kind == Kind::GitRevision => {
                state.answer = Some(response.clone());
            }
            (Request::Delete(..) | Request::Get(_), _) | (_, Err(_)) => {}
            (_, Ok(object)) => {
                state.written.insert(object.key(), object.meta().resource_version);
                state.written_at = now;
            }
        }
    }
}

/// What is to be done about an Application that has been compared: what a person asked for, what
/// failed and is due again, or what the policy says.
fn act(found: &Found) -> Plan {
    if let Some(operation) = operation(found.generic) {
        return found.carry_out(&operation, 0).by(here!());
    }
    if let Some((operation, retries, ended)) = retrying(found.generic) {
        let shift = u32::try_from(retries - 1).unwrap_or(0).min(16);
        let wait = RETRY_FIRST.saturating_mul(1 << shift).min(RETRY_MOST);
        let left = wait.saturating_sub(found.now.since(ended));
        if left.is_zero() {
            return found.carry_out(&operation, retries).by(here!());
        }
        let mut plan = found.look(None);
        plan.requeue_after = Some(left);
        return plan.by(here!());
    }
    match answer(found) {
        Answer::Leave => found.look(None).by(here!()),
        Answer::Refuse(why) => found.look(Some(why)).by(here!()),
        Answer::Wait(left) => {
            let mut plan = found.look(None);
            plan.requeue_after = Some(left);
            plan.by(here!())
        }
        Answer::Sync { prune, attempt } => {
            let mut operation =
                Operation { prune, attempt, automated: true, ..Operation::default() };
            if attempt > 0 {
                operation.resources = named(found.resources.iter().filter(|r| !r.synced));
            }
            found.carry_out(&operation, 0)
        }
    }
}

fn answer(found: &Found) -> Answer {
    let question = Question {
        automated: found.spec.automated,
        deleting: found.object.meta().is_terminating(),
        busy: false,
        out_of_sync: found.is_out_of_sync(),
        revision: found.revision,
        resources: &found.compared(),
        last: last_sync(found.generic, found.now),
    };
    decide(&question, &SelfHealBackoff::default())
}

/// How far a cluster is from what its Applications would make of it by themselves: of each, how
/// many objects it has and how many are in step.
pub fn shortfall(object: &Object, head: &Revision, live: &Live, now: Time) -> Option<(i64, i64)> {
    let generic = object.as_generic()?;
    let spec = Spec::read(generic);
    let policy = spec.automated?;
    let last = last_sync(generic, now);
    let resources = compare(&object.meta().name, &spec, head, live);
    let counts = |resource: &&Resource| policy.prune || !resource.requires_pruning();
    let all = resources.iter().filter(counts).count() as i64;
    let synced = resources.iter().filter(|resource| resource.synced).count() as i64;
    let heals = policy.self_heal || last.revision.as_deref() != Some(&head.id);
    (heals && synced != all).then_some((all, synced))
}

fn named<'a>(resources: impl Iterator<Item = &'a Resource>) -> Vec<(Str, Str, Str)> {
    let name = |resource: &Resource| {
        let key = &resource.key;
        (key.kind.group().into(), key.kind.info().kind.into(), key.name.clone())
    };
    resources.map(name).collect()
}

fn holds(revision: &Revision, key: &ObjectKey) -> bool {
    revision.objects.iter().any(|object| {
        object.kind() == key.kind
            && object.meta().name == key.name
            && (object.meta().namespace.is_empty() || object.meta().namespace == key.namespace)
    })
}

fn application<'a>(key: &ObjectKey, cx: &Context<'a>) -> Option<(&'a Arc<Object>, &'a Generic)> {
    let object = cx.cache.get(key)?;
    Some((object, object.as_generic()?))
}

/// Asks the repository.
fn reads(generic: &Generic) -> Plan {
    let asked = operation(generic).map(|operation| operation.revision);
    let revision = asked.filter(|revision| !revision.is_empty());
    let revision = revision.unwrap_or_else(|| Spec::read(generic).target_revision);
    let key = ObjectKey::new(Kind::GitRevision, "", revision);
    let mut intent = Intent::new(Deed::Read, Request::Get(key));
    intent.tolerates = |_| true;
    Plan { batches: vec![vec![intent]], goes_on: true, upkeep: true, ..Plan::default() }
}

/// A refresh that was asked for has been done.
fn drop_refresh(object: &Arc<Object>, plan: &mut Plan) {
    if application::wants_refresh(object) {
        let patch = json!({"metadata": {"annotations": {REFRESH: null}}});
        let part = crate::apiserver::Part::Main;
        let request = Request::Patch(part, object.key(), patch);
        plan.batches.insert(0, vec![Intent::new(Deed::Update, request)]);
    }
}

/// The Application is being deleted: its objects go first, if it says so.
fn finalize(object: &Arc<Object>, cx: &Context) -> Plan {
    let mut plan = Plan::nothing(Fact::Gone, Fact::Gone);
    let finalizers = &object.meta().finalizers;
    if !finalizers.iter().any(|finalizer| **finalizer == *FINALIZER) {
        return plan;
    }
    let all = MANAGED.iter().flat_map(|kind| cx.cache.all(*kind));
    let own: Vec<_> = all.filter(|o| tracked_by(o) == Some(&*object.meta().name)).collect();
    if own.is_empty() {
        let left: Vec<_> = finalizers.iter().filter(|f| ***f != *FINALIZER).collect();
        let patch = json!({"metadata": {"finalizers": left}});
        let part = crate::apiserver::Part::Main;
        plan.then(Intent::new(Deed::Update, Request::Patch(part, object.key(), patch)));
        return plan;
    }
    let standing = own.iter().filter(|object| !object.meta().is_terminating());
    let deletions = standing.map(|object| {
        let options = crate::apiserver::DeleteOptions::default();
        Intent::tolerant(Deed::Prune, Request::Delete(object.key(), options))
    });
    let deletions: Vec<_> = deletions.collect();
    if !deletions.is_empty() {
        plan.batches.push(deletions);
    }
    plan
}
