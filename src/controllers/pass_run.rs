//! Carries a plan out, request by request. It knows no time and no network: the world (or a test)
//! sends what `next` hands out and gives the answers back. So a pass can be cut anywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Object, ObjectKey};
use crate::apiserver::{Part, Request, Response};
use crate::kernel::Time;

use super::plan::{Deed, EventNote, Intent, Plan, Promise};

/// A plan that is being carried out.
#[derive(Clone, Debug)]
pub struct PassRun {
    plan: Plan,
    /// The next batch to hand out.
    next_batch: usize,
    /// The batch that is under way: its answers so far.
    waiting: usize,
    /// The first error of the batches.
    error: Option<String>,
    /// Whether anything but a release has failed.
    halted: bool,
    /// Versions learned from answers, for later writes to the same object.
    versions: BTreeMap<ObjectKey, Arc<Object>>,
    stage: Stage,
    /// The write that follows the first failure, if it asked for one.
    fallback: Option<Request>,
    status_tries_left: u32,
    /// Expectations that will not come true, since their request failed or was never made.
    broken_promises: Promises,
    /// Events to be told since they were last taken.
    events: Vec<EventNote>,
    writes_done: u32,
    /// Requests that failed, and how far the batches came: what is left to do.
    failed: Vec<Intent>,
    stopped_at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Batches,
    Status,
    StatusReread,
    /// The write that follows a failure; what becomes of it changes nothing any more.
    Fallback,
    Ended,
}

/// Creations and deletions that will not be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// Creations.
    pub creations: u32,
    /// Deletions, by `namespace/name`.
    pub deletions: Vec<crate::api::Str>,
}

/// What to do next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Send these together; then call `answer` once for each, with its index.
    Send(Vec<Request>),
    /// Answers are outstanding.
    Wait,
    /// The pass is over.
    Ended(Ended),
}

/// How a pass ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The error, if the key must be tried again with back-off.
    pub error: Option<String>,
}

impl PassRun {
    /// Begins to carry out `plan`.
    pub fn new(mut plan: Plan) -> PassRun {
        PassRun {
            halted: plan.error.is_some(),
            error: plan.error.take(),
            status_tries_left: plan.finish.as_ref().map_or(0, |finish| finish.retries + 1),
            events: std::mem::take(&mut plan.events),
            plan,
            next_batch: 0,
            waiting: 0,
            versions: BTreeMap::new(),
            stage: Stage::Batches,
            fallback: None,
            broken_promises: Promises::default(),
            writes_done: 0,
            failed: Vec::new(),
            stopped_at: 0,
        }
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many of its writes were answered well.
    pub fn writes_done(&self) -> u32 {
        self.writes_done
    }

    /// Whether what comes next is a status write (a crash point).
    pub fn at_status(&self) -> bool {
        let next_is_status = || {
            let batch = self.plan.batches.get(self.next_batch);
            batch.is_some_and(|b| !b.is_empty() && b.iter().all(|i| i.request.is_status()))
        };
        self.waiting == 0
            && match self.stage {
                Stage::Batches => self.batches_are_over() || next_is_status(),
                stage => stage == Stage::Status,
            }
    }

    fn batches_are_over(&self) -> bool {
        let failed = self.error.is_some() && !self.goes_on_claiming();
        self.stage == Stage::Batches && (failed || self.next_batch == self.plan.batches.len())
    }

    /// What cannot be given up keeps nobody from taking what is there to take: claims are tried
    /// one by one and their errors gathered (`ClaimPods`). The pass has failed all the same.
    fn goes_on_claiming(&self) -> bool {
        let next = self.plan.batches.get(self.next_batch);
        !self.halted && next.is_some_and(|batch| batch.iter().all(|i| i.deed == Deed::Adopt))
    }

    /// Expectations that will not come true, since this was last asked.
    pub fn take_broken_promises(&mut self) -> Promises {
        std::mem::take(&mut self.broken_promises)
    }

    /// Events to be told, since this was last asked.
    pub fn take_events(&mut self) -> Vec<EventNote> {
        std::mem::take(&mut self.events)
    }

    /// What to do next.
    pub fn next(&mut self, now: Time) -> Step {
        if self.waiting > 0 {
            return Step::Wait;
        }
        if self.batches_are_over() {
            self.break_remaining_promises();
            self.stage = Stage::Status;
            if let Some(request) = self.fallback.take() {
                self.stage = Stage::Fallback;
                self.waiting = 1;
                return Step::Send(vec![self.with_version(&request)]);
            }
        }
        match self.stage {
            Stage::Batches => self.send_batch(),
            Stage::Status => self.send_status(now),
            Stage::StatusReread => self.send_reread(),
            Stage::Fallback => self.end(),
            Stage::Ended => Step::Ended(Ended { error: self.error.clone() }),
        }
    }

    fn send_batch(&mut self) -> Step {
        let batch = &self.plan.batches[self.next_batch];
        let requests: Vec<Request> = batch.iter().map(|i| self.with_version(&i.request)).collect();
        self.next_batch += 1;
        self.waiting = requests.len();
        if requests.is_empty() { self.next(Time::ZERO) } else { Step::Send(requests) }
    }

    /// An earlier answer of the same pass may have moved the version of the object written now.
    fn with_version(&self, request: &Request) -> Request {
        let Request::Update(part, object) = request else {
            return request.clone();
        };
        match self.versions.get(&object.key()) {
            Some(seen) if object.meta().resource_version != 0 => {
                let mut object = Object::clone(object);
                object.meta_mut().resource_version = seen.meta().resource_version;
                Request::Update(*part, Arc::new(object))
            }
            _ => request.clone(),
        }
    }

    fn send_status(&mut self, now: Time) -> Step {
        let Some(finish) = &self.plan.finish else {
            return self.end();
        };
        let mut after = finish.after.clone();
        (finish.amend)(&mut after, self.error.as_deref(), now);
        if same_but_for_version(&after, &finish.before) {
            return self.end();
        }
        // It is the status that goes onto what was read again (`rs.Status = newStatus`): what
        // others have done to the metadata meanwhile stays.
        let as_before = after.meta() == finish.before.meta();
        if let Some(seen) = self.versions.get(&after.key()).filter(|_| as_before)
            && after.meta().resource_version != 0
        {
            *after.meta_mut() = seen.meta().clone();
        }
        self.status_tries_left -= 1;
        self.waiting = 1;
        Step::Send(vec![self.with_version(&Request::Update(Part::Status, Arc::new(after)))])
    }

    fn send_reread(&mut self) -> Step {
        let Some(finish) = &self.plan.finish else {
            return self.end();
        };
        self.waiting = 1;
        Step::Send(vec![Request::Get(finish.before.key())])
    }

    fn end(&mut self) -> Step {
        self.stage = Stage::Ended;
        Step::Ended(Ended { error: self.error.clone() })
    }

    /// Takes the answer to request `index` of those last sent.
    pub fn answer(&mut self, index: usize, response: &Response) {
        self.waiting = self.waiting.saturating_sub(1);
        if let Ok(object) = response {
            self.versions.insert(object.key(), object.clone());
        }
        match self.stage {
            Stage::Batches => self.answer_intent(index, response),
            Stage::Status => self.answer_status(response),
            Stage::StatusReread => match response {
                Ok(_) => self.stage = Stage::Status,
                Err(error) => {
                    self.stage = Stage::Ended;
                    self.fail(error.message.clone());
                }
            },
            Stage::Fallback => {
                self.writes_done += u32::from(response.is_ok());
                self.stage = Stage::Ended;
            }
            Stage::Ended => {}
        }
    }

    /// Takes no answer for a good one: what was asked for counts as under way.
    pub fn overlook(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    fn answer_intent(&mut self, index: usize, response: &Response) {
        let batch = self.next_batch.saturating_sub(1);
        let Some(intent) = self.plan.batches.get(batch).and_then(|b| b.get(index)).cloned() else {
            return;
        };
        match response {
            Ok(object) => {
                if let Some(uid) = &intent.must_be_alive
                    && (object.meta().uid != *uid || object.meta().is_terminating())
                {
                    // So that an edge-triggered loop does not go on without having asked again.
                    self.failed.push(intent);
                    self.halted = true;
                    self.fail(format!("{} is being deleted", object.meta().name));
                    return;
                }
                self.writes_done += u32::from(intent.request.is_write());
                self.events
                    .extend(intent.on_success.map(|n| filled(n, "{name}", &object.meta().name)));
            }
            Err(error) if (intent.tolerates)(error) => {
                self.break_promise(&intent);
            }
            Err(error) => {
                self.failed.push(intent.clone());
                self.halted |= intent.deed != Deed::Release;
                self.break_promise(&intent);
                let text = &error.message;
                self.events.extend(intent.on_failure.map(|note| filled(note, "{error}", text)));
                if self.error.is_none() {
                    let fallback = intent.fallbacks.iter().find(|f| (f.applies)(error));
                    if let Some((write, event)) = fallback.map(|f| f.filled(error)) {
                        self.fallback = write;
                        self.events.extend(event);
                    }
                }
                self.fail(error.message.clone());
            }
        }
    }

    fn answer_status(&mut self, response: &Response) {
        self.stage = Stage::Ended;
        match response {
            Ok(_) => self.writes_done += 1,
            // Gone: nothing left to write to, and its DELETED will wake us.
            Err(error) if error.is_not_found() => {}
            Err(_) if self.status_tries_left > 0 => self.stage = Stage::StatusReread,
            Err(error) => self.fail(error.message.clone()),
        }
    }

    fn fail(&mut self, message: String) {
        self.error.get_or_insert(message);
        if self.stage == Stage::Batches && self.next_batch <= self.plan.preparations {
            self.plan.finish = None;
        }
    }

    fn break_promise(&mut self, intent: &Intent) {
        match (&self.plan.promise, &intent.request) {
            (Some(Promise::Creations(_)), Request::Create(_)) => {
                self.broken_promises.creations += 1
            }
            (Some(Promise::Deletions(_)), Request::Delete(key, _)) => {
                let pod = format!("{}/{}", key.namespace, key.name);
                self.broken_promises.deletions.push(pod.into());
            }
            _ => {}
        }
    }

    /// The part of the plan that was not done, as a plan of its own: what an edge-triggered loop
    /// tries again, since it acts on a change only once.
    pub fn rest(&self) -> Option<PassRun> {
        let mut plan = self.plan.clone();
        let remaining = plan.batches.split_off(self.stopped_at.min(plan.batches.len()));
        let failed = (!self.failed.is_empty()).then(|| self.failed.clone());
        plan.batches = failed.into_iter().chain(remaining).collect();
        plan.requeue_after = None;
        let nothing_left = plan.batches.is_empty() && plan.finish.is_none();
        (!nothing_left).then(|| PassRun::new(plan))
    }

    fn break_remaining_promises(&mut self) {
        self.stopped_at = self.next_batch;
        let rest = self.plan.batches.get(self.next_batch..).unwrap_or_default().concat();
        self.next_batch = self.plan.batches.len();
        for intent in &rest {
            self.break_promise(intent);
        }
    }
}

fn same_but_for_version(after: &Object, before: &Object) -> bool {
    let mut after = after.clone();
    after.meta_mut().resource_version = before.meta().resource_version;
    after == *before
}

fn filled(mut note: EventNote, place: &str, with: &str) -> EventNote {
    note.message = note.message.replace(place, with);
    note
}
