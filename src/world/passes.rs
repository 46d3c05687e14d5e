//! Passes: taking a key or a change from a queue, thinking, acting request by request, ending. Each
//! boundary is a place where the process can be killed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, ObjectKey};
use crate::controllers::scheduler::Scheduler;
use crate::controllers::{
    Change, Context, Deed, Ended, Fact, PassRun, Plan, Step as Next, promises,
};
use crate::kernel::Time;

use super::options::Flavour;
use super::process::{ActivePass, EdgeItem, Process};
use super::record::{Cause, Occurrence, PassRecord};
use super::step::Step;
use super::world::World;
use super::{ControllerId, CrashPoint};

/// Time from taking a key to the first request: a third each for observe, compare and act.
pub const THINK: Duration = Duration::from_millis(6);
/// The same for a change that an edge-triggered loop has no use for.
const SHRUG: Duration = Duration::from_micros(200);

/// What a pass takes from its queue.
enum Work {
    Key(ObjectKey),
    Change(Change, Cause),
    Resume(ObjectKey, Box<PassRun>),
    Timer(ObjectKey),
}

impl World {
    /// Begins passes as long as something waits and a worker is free.
    pub(super) fn pump(&mut self, id: ControllerId) {
        while let Some(work) = self.take_work(id) {
            if self.crashes_at(id, CrashPoint::BeforeRead) {
                return;
            }
            self.begin_pass(id, work);
        }
    }

    fn take_work(&mut self, id: ControllerId) -> Option<Work> {
        let process = self.processes.get_mut(&id)?;
        if !process.has_free_worker() {
            return None;
        }
        match process.flavour {
            Flavour::Level => process.take_key(self.now).map(Work::Key),
            Flavour::Edge => process.changes.pop_front().map(|item| match item {
                EdgeItem::Change(change, cause) => Work::Change(change, cause),
                EdgeItem::Resume(key, run) => Work::Resume(key, run),
                EdgeItem::Timer(key) => Work::Timer(key),
            }),
        }
    }

    fn begin_pass(&mut self, id: ControllerId, work: Work) {
        let (key, cause, run) = match work {
            Work::Key(key) => {
                let cause = self.cause_of(id, &key);
                let plan = self.level_plan(id, &key);
                (key, cause, PassRun::new(plan))
            }
            Work::Change(change, cause) => {
                let own = self.processes.get(&id).and_then(|p| p.mind.concerns(&change));
                let key = own.unwrap_or_else(|| pass_key(id, &change));
                let plan = self.edge_plan(id, |mind, cx| mind.on_change(&change, cx));
                (key, cause, PassRun::new(plan))
            }
            Work::Timer(key) => {
                let plan = self.edge_plan(id, |mind, cx| mind.on_timer(&key, cx));
                (key, Cause::Timer, PassRun::new(plan))
            }
            Work::Resume(key, run) => {
                let rest = run.plan().clone();
                let plan = self.edge_plan(id, |mind, cx| mind.on_resume(&key, rest, cx));
                (key, Cause::Retry, PassRun::new(plan))
            }
        };
        self.note_pass(id, key, cause, run);
    }

    fn cause_of(&mut self, id: ControllerId, key: &ObjectKey) -> Cause {
        let process = self.processes.get_mut(&id);
        process.and_then(|process| process.take_cause(key)).unwrap_or(Cause::Timer)
    }

    fn level_plan(&mut self, id: ControllerId, key: &ObjectKey) -> Plan {
        let (now, seed) = (self.now, self.options.seed);
        let Some(process) = self.processes.get_mut(&id) else { return Plan::default() };
        let promises_kept =
            !process.knobs.expectations || promises::are_kept(key, &process.expectations, now);
        let cx = Context { cache: &process.cache, now, seed, promises_kept };
        let ControllerId::Kubelet(node) = id else { return process.mind.sync(key, &cx) };
        let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) else {
            return Plan::default();
        };
        let (plan, timers) = kubelet.sync(key, &cx, &self.options.images);
        for (after, timer) in timers {
            self.put(self.now + after, Step::Kubelet(node, timer));
        }
        plan
    }

    fn edge_plan(
        &mut self,
        id: ControllerId,
        decide: impl FnOnce(&mut super::mind::Mind, &Context) -> Plan,
    ) -> Plan {
        let (now, seed) = (self.now, self.options.seed);
        let Some(process) = self.processes.get_mut(&id) else { return Plan::default() };
        let cx = Context { cache: &process.cache, now, seed, promises_kept: true };
        decide(&mut process.mind, &cx)
    }

    fn note_pass(&mut self, id: ControllerId, key: ObjectKey, cause: Cause, run: PassRun) {
        let plan = run.plan();
        let shrugs = plan.batches.is_empty()
            && plan.finish.is_none()
            && (plan.sees == Fact::None && plan.wants == Fact::None);
        let number = self.next_pass;
        self.next_pass += 1;
        let unheard = self.unheard_by(id);
        let record = PassRecord {
            number,
            controller: id,
            key,
            started: self.now,
            decided: self.now + if shrugs { SHRUG } else { THINK },
            ended: None,
            sees: plan.sees.clone(),
            wants: plan.wants.clone(),
            does: deeds(plan),
            woken_by: cause,
            error: None,
            crashed: false,
            behind: unheard.changes,
            stale: unheard.age(self.now),
            acts: Vec::new(),
            wrote: Vec::new(),
            trail: plan.trail.clone(),
            comes_back: None,
        };
        let (decided, silent) = (record.decided, shrugs);
        let background = silent || plan.upkeep;
        if !silent {
            self.totals.passes += 1;
            self.thinking.insert(number);
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        let epoch = process.epoch;
        process.active.insert(number, ActivePass { record, run, acting: false, silent });
        self.put(decided, Step::Decided(id, epoch, number, background));
    }

    /// A pass has thought: it promises, and acts.
    pub(super) fn decided(&mut self, id: ControllerId, number: u64) {
        self.thinking.remove(&number);
        if self.crashes_at(id, CrashPoint::BeforeWrite) {
            return;
        }
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Some(pass) = process.active.get_mut(&number) else { return };
        pass.acting = true;
        if let Some(promise) = &pass.run.plan().promise {
            promises::expect(promise, &pass.record.key, &mut process.expectations, now);
        }
        self.advance(id, number);
    }

    /// Goes on with a pass: sends what is next, or ends it.
    pub(super) fn advance(&mut self, id: ControllerId, number: u64) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Some(pass) = process.active.get_mut(&number) else { return };
        let (written, at_status) = (pass.run.writes_done() > 0, pass.run.at_status());
        let next = pass.run.next(now);
        let (events, broken) = (pass.run.take_events(), pass.run.take_broken_promises());
        promises::give_up(&broken, &pass.record.key, &mut process.expectations);
        events.into_iter().for_each(|event| self.record_event(id, event));
        match next {
            Next::Wait => {}
            Next::Send(requests) => {
                let point =
                    if at_status { CrashPoint::BeforeStatus } else { CrashPoint::BetweenWrites };
                if (at_status || written) && self.crashes_at(id, point) {
                    return;
                }
                for (index, request) in requests.into_iter().enumerate() {
                    self.send_request(id, number, index, request);
                }
            }
            Next::Ended(ended) if ended.error.is_none() && self.goes_on(id, number) => {
                self.advance(id, number);
            }
            Next::Ended(ended) => self.end_pass(id, number, ended),
        }
    }

    /// Whether a pass has only asked so far: then it decides now by what it was answered.
    fn goes_on(&mut self, id: ControllerId, number: u64) -> bool {
        let Some(process) = self.processes.get(&id) else { return false };
        let Some(pass) = process.active.get(&number) else { return false };
        if !pass.run.plan().goes_on {
            return false;
        }
        let key = pass.record.key.clone();
        let mut plan = match process.flavour {
            Flavour::Level => self.level_plan(id, &key),
            Flavour::Edge => self.edge_plan(id, |mind, cx| mind.go_on(&key, cx)),
        };
        plan.goes_on = false;
        let pass = self.processes.get_mut(&id).and_then(|p| p.active.get_mut(&number));
        let Some(pass) = pass else { return false };
        let record = &mut pass.record;
        (record.sees, record.wants) = (plan.sees.clone(), plan.wants.clone());
        record.does.extend(deeds(&plan));
        record.trail.extend(&plan.trail);
        pass.run = PassRun::new(plan);
        true
    }

    fn end_pass(&mut self, id: ControllerId, number: u64, ended: Ended) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Some(mut pass) = process.active.remove(&number) else { return };
        pass.record.ended = Some(now);
        pass.record.error = ended.error.clone();
        let key = pass.record.key.clone();
        let mut after = pass.run.plan().requeue_after;
        if pass.run.plan().limited {
            let wait = process.limiter.when(&key, now);
            after = after.map(|after| after.max(wait));
        }
        let failed = ended.error.is_some();
        self.totals.retries += u64::from(failed);
        pass.record.comes_back = match process.flavour {
            Flavour::Level => end_level(process, &key, failed, after, now),
            Flavour::Edge => end_edge(process, &key, &pass, failed, after, now),
        };
        if !pass.silent {
            let record = Arc::new(pass.record);
            process.last = Some(record.clone());
            self.tell(Occurrence::PassEnded(record));
        }
        self.announce(id);
        self.pump(id);
    }

    /// Puts the next delayed key or item of a process on the agenda.
    pub(super) fn announce(&mut self, id: ControllerId) {
        self.announce_flush(id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        let next = match process.flavour {
            Flavour::Level => process.queue.next_due(),
            Flavour::Edge => process.later.iter().map(|(at, _)| *at).min(),
        };
        let Some(next) = next.filter(|next| *next < process.announced) else { return };
        process.announced = next;
        let epoch = process.epoch;
        let second_look = process.waits_for_timers_only()
            && match id.role() {
                ControllerId::Deployment | ControllerId::CronJob => true,
                // An edge-triggered one asks for a timer only when it has something left to do.
                ControllerId::HorizontalAutoscaler | ControllerId::GitOps | ControllerId::Order => {
                    process.flavour == Flavour::Level
                }
                _ => false,
            };
        self.put(next, Step::Due(id, epoch, second_look));
    }

    /// Puts the next look at keys that have waited for too long on the agenda.
    fn announce_flush(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        if process.flushes == Time::MAX
            && let Some(next) = process.mind.as_scheduler().and_then(Scheduler::next_flush)
        {
            process.flushes = next;
            let epoch = process.epoch;
            self.put(next, Step::Flush(id, epoch));
        }
    }

    pub(super) fn flush(&mut self, id: ControllerId) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.flushes = Time::MAX;
        let cx = Context { cache: &process.cache, now, seed: 0, promises_kept: true };
        for key in process.mind.monitor(&cx) {
            process.enqueue(key, &Cause::Timer, now);
        }
        self.announce(id);
        self.pump(id);
    }

    pub(super) fn queue_due(&mut self, id: ControllerId) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.announced = Time::MAX;
        match process.flavour {
            Flavour::Level => process.take_due(now),
            Flavour::Edge => {
                let (due, later) =
                    std::mem::take(&mut process.later).into_iter().partition(|(at, _)| *at <= now);
                process.later = later;
                let due: Vec<(Time, EdgeItem)> = due;
                process.changes.extend(due.into_iter().map(|(_, item)| item));
            }
        }
        self.announce(id);
        self.pump(id);
    }

    /// Kills a process whose crash is armed for this point.
    fn crashes_at(&mut self, id: ControllerId, point: CrashPoint) -> bool {
        let armed = self.processes.get(&id).and_then(|process| process.crash_at);
        if armed != Some(point) {
            return false;
        }
        self.kill(id);
        true
    }
}

/// Says when the key comes back, and why.
fn end_level(
    process: &mut Process,
    key: &ObjectKey,
    failed: bool,
    after: Option<Duration>,
    now: Time,
) -> Option<(Duration, Cause)> {
    // The autoscaler has a limiter of its own, which always says the same.
    let fixed = process.id == ControllerId::HorizontalAutoscaler && after.is_some();
    let comes_back = if failed && !fixed {
        Some((process.limiter.when(key, now), Cause::Retry))
    } else {
        process.limiter.forget(key);
        after.map(|after| (after, Cause::Timer))
    };
    if let Some((delay, cause)) = &comes_back {
        process.enqueue_later(key.clone(), *delay, cause.clone(), now);
    }
    process.queue.done(key);
    comes_back
}

/// The same for the rest of what a change asked for, and for a timer.
fn end_edge(
    process: &mut Process,
    key: &ObjectKey,
    pass: &ActivePass,
    failed: bool,
    after: Option<Duration>,
    now: Time,
) -> Option<(Duration, Cause)> {
    let mut comes_back = after.map(|after| (after, Cause::Timer));
    if failed {
        let delay = process.limiter.when(key, now);
        if let Some(rest) = pass.run.rest() {
            process.later.push((now + delay, EdgeItem::Resume(key.clone(), Box::new(rest))));
            comes_back = Some((delay, Cause::Retry));
        }
    } else {
        process.limiter.forget(key);
    }
    if let Some(after) = after {
        process.later.push((now + after, EdgeItem::Timer(key.clone())));
    }
    comes_back
}

/// The key that a pass of an edge-triggered loop is about: the object that the loop looks after.
fn pass_key(id: ControllerId, change: &Change) -> ObjectKey {
    let own = match id.role() {
        ControllerId::Deployment => Kind::Deployment,
        _ => Kind::ReplicaSet,
    };
    let meta = change.object.meta();
    match meta.controller() {
        Some(owner) if change.object.kind() != own => {
            ObjectKey::new(own, meta.namespace.clone(), owner.name.clone())
        }
        _ => change.key(),
    }
}

/// What a plan does, deed by deed with its number, in order.
fn deeds(plan: &Plan) -> Vec<(Deed, u32)> {
    let mut order = Vec::new();
    let mut counts: BTreeMap<Deed, u32> = BTreeMap::new();
    for intent in plan.batches.iter().flatten() {
        let count = counts.entry(intent.deed).or_insert_with(|| {
            order.push(intent.deed);
            0
        });
        *count += 1;
    }
    let does = order.into_iter().map(|deed| (deed, counts.get(&deed).copied().unwrap_or(0)));
    does.filter(|(deed, _)| *deed != Deed::Read).collect()
}
