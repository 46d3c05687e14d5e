//! Leader election: two processes of one controller, of which the one acts that holds a lease.
//! As client-go's `tools/leaderelection` does it, with its usual times: whoever holds the lease
//! renews it every 2 s, and ends its process if that failed for 10 s; the other one takes it when
//! it has seen no renewal for 15 s by its own clock. So two can act at once: one that is paused for
//! longer than the lease, and the one that took it. The first notices only when its renewals were
//! refused for the whole of the deadline. resourceVersion protects what both of them update;
//! nothing protects from what both of them create.
//!
//! A run without the fault `leader` knows no lease of a controller. Simplified: each doubled
//! controller has a lease of its own, where kube-controller-manager has one for all; renewals take
//! no time; a process that ends is back as a candidate at its next try; one that is paused finds
//! all that was sent to it when it wakes, its watches are not cut for its slowness.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Lease, LeaseSpec, Object, ObjectKey, ObjectMeta, Str, Timestamp};
use crate::apiserver::{Part, Request};
use crate::kernel::Time;

use super::ControllerId;
use super::step::Step;
use super::world::World;

/// For how long a lease holds after its last renewal.
const LEASE_SECONDS: i32 = 15;
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// For how long renewals may fail until a leader gives up.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Between two tries.
const RETRY_PERIOD: Duration = Duration::from_secs(2);
/// One that waits comes up to 1.2 times later.
const JITTER: Duration = Duration::from_millis(2_400);
const NAMESPACE: &str = "kube-system";

/// A process that leads or would like to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which.
    pub id: ControllerId,
    /// Whether it runs.
    pub up: bool,
    /// Whether it takes itself for the leader.
    pub leads: bool,
    /// The revision of the lease that it saw last, and since when by its clock.
    seen: (u64, Time),
    /// Since when its renewals fail.
    failing: Option<Time>,
}

impl World {
    /// The candidates of all elections.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Doubles a controller: the process that runs takes the lease, a second one waits for it.
    pub(super) fn double(&mut self, id: ControllerId) {
        let Some(second) = id.second() else { return };
        if self.processes.contains_key(&second) || !self.processes.contains_key(&id) {
            return;
        }
        self.add_standby(second);
        self.watch_alike(id, second);
        let alive = self.processes.get(&id).is_some_and(|process| process.alive);
        for (id, up) in [(id, alive), (second, true)] {
            let seen = (0, self.now);
            self.candidates.push(Candidate { id, up, leads: false, seen, failing: None });
        }
        if alive && self.acquire_or_renew(id) {
            self.set_leads(id, true);
        }
        for id in [id, second] {
            let wait = self.until_next_try(id);
            self.put(self.now + wait, Step::Elect(id));
        }
    }

    fn candidate(&mut self, id: ControllerId) -> Option<&mut Candidate> {
        self.candidates.iter_mut().find(|candidate| candidate.id == id)
    }

    fn set_leads(&mut self, id: ControllerId, leads: bool) {
        if let Some(candidate) = self.candidate(id) {
            candidate.leads = leads;
            candidate.failing = None;
        }
    }

    /// Whether a process may start its loop. One that would like to lead must win first.
    pub(super) fn may_start(&mut self, id: ControllerId) -> bool {
        let Some(candidate) = self.candidate(id) else { return true };
        candidate.up = true;
        candidate.leads
    }

    /// A process that led, or waited, has died.
    pub(super) fn candidate_died(&mut self, id: ControllerId) {
        if let Some(candidate) = self.candidate(id) {
            (candidate.up, candidate.leads) = (false, false);
        }
    }

    fn until_next_try(&mut self, id: ControllerId) -> Duration {
        let leads = self.candidate(id).is_some_and(|candidate| candidate.leads);
        let jitter = match self.processes.get_mut(&id) {
            Some(process) if !leads => process.rng.span(Duration::ZERO, JITTER),
            _ => Duration::ZERO,
        };
        RETRY_PERIOD + jitter
    }

    /// A candidate tries to take the lease, or to keep it.
    pub(super) fn elect(&mut self, id: ControllerId) {
        let Some(candidate) = self.candidate(id).cloned() else { return };
        if candidate.up {
            let held = self.refusal(id).is_none() && self.acquire_or_renew(id);
            match (candidate.leads, held) {
                (true, true) => self.set_leads(id, true),
                (true, false) => self.renewal_failed(id),
                (false, true) => {
                    self.set_leads(id, true);
                    self.start(id);
                }
                (false, false) => {}
            }
        }
        let wait = self.until_next_try(id);
        self.put(self.now + wait, Step::Elect(id));
    }

    /// A leader whose renewals have failed for too long ends its process, and comes back as one
    /// that waits.
    fn renewal_failed(&mut self, id: ControllerId) {
        let now = self.now;
        let Some(candidate) = self.candidate(id) else { return };
        let since = *candidate.failing.get_or_insert(now);
        if now.since(since) >= RENEW_DEADLINE {
            self.kill(id);
            if let Some(candidate) = self.candidate(id) {
                candidate.up = true;
            }
        }
    }

    /// `tryAcquireOrRenew`.
    fn acquire_or_renew(&mut self, id: ControllerId) -> bool {
        let (now, identity) = (self.now, self.identity(id));
        let key = lease_of(id);
        let found = self.store().get(&key).cloned();
        let Some(lease) = found.as_ref().and_then(|found| found.as_lease()) else {
            let lease = new_lease(&key, &identity, now);
            return self.write_lease(id, Request::Create(Arc::new(Object::Lease(lease))));
        };
        let revision = lease.metadata.resource_version;
        let Some(candidate) = self.candidate(id) else { return false };
        if candidate.seen.0 != revision {
            candidate.seen = (revision, now);
        }
        let holds = now.since(candidate.seen.1) < LEASE_DURATION;
        let holder = lease.spec.holder_identity.clone().unwrap_or_default();
        if holder != identity && !holder.is_empty() && holds {
            return false;
        }
        let mut next = lease.clone();
        if holder != identity {
            let turns = next.spec.rest.get("leaseTransitions").and_then(|turns| turns.as_i64());
            next.spec.rest.insert("leaseTransitions".into(), (turns.unwrap_or(0) + 1).into());
            next.spec.rest.insert("acquireTime".into(), micro_time(now));
        }
        next.spec.holder_identity = Some(identity);
        next.spec.renew_time = Some(Timestamp::from(now));
        self.write_lease(id, Request::Update(Part::Main, Arc::new(Object::Lease(next))))
    }

    fn write_lease(&mut self, id: ControllerId, request: Request) -> bool {
        let now = self.now;
        let Ok(written) = self.handle(&request, id.name()) else { return false };
        if let Some(candidate) = self.candidate(id) {
            candidate.seen = (written.meta().resource_version, now);
        }
        true
    }

    /// Another one with every start, as the machine's name with a random part is.
    fn identity(&self, id: ControllerId) -> Str {
        let epoch = self.processes.get(&id).map_or(0, |process| process.epoch);
        let number = if id.role() == id { 1 } else { 2 };
        format!("{}-{number}_{epoch}", id.name()).into()
    }

    /// When a step can be done that is due for a paused process.
    pub(super) fn put_off(&mut self, step: &Step) -> Option<Time> {
        if self.faults.nobody_is_paused() {
            return None;
        }
        let stream_owner = |index: &usize| self.streams.get(*index).map(|stream| stream.owner);
        let owner = match step {
            Step::Deliver(flight, _) => {
                let flight = self.flights.get(flight)?;
                stream_owner(&flight.stream)
            }
            Step::Answer(request, ..) => self.requests.get(request).map(|request| request.owner),
            Step::Listed(stream, ..) | Step::Reopen(stream, _) => stream_owner(stream),
            Step::Elect(id) => Some(*id),
            step => step.meant_for().map(|(id, _)| id),
        };
        let until = self.faults.paused_until(owner?, self.now)?;
        if let Step::Deliver(flight, _) = step
            && let Some(flight) = self.flights.get_mut(flight)
            && flight.arrives != Time::MAX
        {
            flight.arrives = until;
        }
        Some(until)
    }
}

/// The lease for which the processes of a controller compete.
pub fn lease_of(id: ControllerId) -> ObjectKey {
    ObjectKey::new(Kind::Lease, NAMESPACE, id.component())
}

fn new_lease(key: &ObjectKey, identity: &Str, now: Time) -> Lease {
    let metadata = ObjectMeta {
        name: key.name.clone(),
        namespace: key.namespace.clone(),
        ..ObjectMeta::default()
    };
    let mut spec = LeaseSpec {
        holder_identity: Some(identity.clone()),
        lease_duration_seconds: Some(LEASE_SECONDS),
        renew_time: Some(Timestamp::from(now)),
        ..LeaseSpec::default()
    };
    spec.rest.insert("acquireTime".into(), micro_time(now));
    spec.rest.insert("leaseTransitions".into(), 0.into());
    Lease { metadata, spec }
}

fn micro_time(now: Time) -> serde_json::Value {
    serde_json::to_value(Timestamp::from(now)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::lab::{PLENTY, inflict, web};
    use crate::world::{Occurrence, Options, PassRecord, Verdict};

    fn run(world: &mut World, seconds: u64) {
        assert!(world.run_until(Time::from_secs(seconds), PLENTY), "too much happens");
    }

    fn apply(world: &mut World, kind: Kind, image: &str) {
        let object = web(kind, 3, image);
        let request = match world.store().get(&object.key()) {
            Some(_) => Request::Update(Part::Main, Arc::new(object)),
            None => Request::Create(Arc::new(object)),
        };
        world.request(&request).unwrap();
    }

    fn leaders(world: &World) -> Vec<ControllerId> {
        let leading = world.candidates().iter().filter(|candidate| candidate.leads);
        leading.map(|candidate| candidate.id).collect()
    }

    fn passes(world: &mut World) -> Vec<PassRecord> {
        let records = world.take_records().into_iter();
        records
            .filter_map(|record| match record.what {
                Occurrence::PassEnded(pass) => Some(PassRecord::clone(&pass)),
                _ => None,
            })
            .collect()
    }

    /// The first leader sleeps from 10 s to 32 s, the lease runs out in the meantime, and at 12 s
    /// there is something to do.
    fn two_leaders(kind: Kind, controller: &str) -> World {
        let mut world = World::new(Options::default());
        inflict(&mut world, &format!("leader {controller} replicas=2"));
        if kind == Kind::Deployment {
            apply(&mut world, kind, "web:1");
        }
        run(&mut world, 10);
        inflict(&mut world, &format!("leader {controller} paused for=22s"));
        run(&mut world, 12);
        apply(&mut world, kind, "web:2");
        world
    }

    #[test]
    fn one_leads_and_renews_while_the_other_waits() {
        let mut world = World::new(Options::default());
        inflict(&mut world, "leader replicaset replicas=2");
        apply(&mut world, Kind::ReplicaSet, "web:1");
        run(&mut world, 120);
        assert_eq!(leaders(&world), [ControllerId::ReplicaSet]);
        let lease = world.store().get(&lease_of(ControllerId::ReplicaSet)).unwrap().clone();
        let spec = &lease.as_lease().unwrap().spec;
        assert_eq!(spec.holder_identity.as_deref(), Some("replicaset-1_0"));
        assert!(spec.renew_time.unwrap() >= Timestamp::from(Time::from_secs(117)));
        assert_eq!(world.verdict(), Verdict::Converged);
        let standby = world.process(ControllerId::ReplicaSet.second().unwrap()).unwrap();
        assert!(!standby.alive && standby.last.is_none());
    }

    #[test]
    fn a_dead_leader_is_replaced_when_its_lease_has_run_out() {
        let mut world = World::new(Options::default());
        inflict(&mut world, "leader replicaset replicas=2");
        run(&mut world, 10);
        inflict(&mut world, "kill replicaset");
        apply(&mut world, Kind::ReplicaSet, "web:1");
        run(&mut world, 20);
        assert_eq!(leaders(&world), []);
        let waits = matches!(world.verdict(), Verdict::Waiting { what: "leader-election", .. });
        assert!(waits, "{:?}", world.verdict());
        run(&mut world, 60);
        assert_eq!(leaders(&world), [ControllerId::ReplicaSet.second().unwrap()]);
        assert!(!world.process(ControllerId::ReplicaSet).unwrap().alive);
        assert_eq!(world.verdict(), Verdict::Converged);
    }

    #[test]
    fn a_leader_that_slept_too_long_acts_beside_the_new_one_and_what_both_create_is_doubled() {
        let mut world = two_leaders(Kind::ReplicaSet, "replicaset");
        run(&mut world, 31);
        let second = ControllerId::ReplicaSet.second().unwrap();
        // The one that sleeps still takes itself for the leader.
        assert_eq!(leaders(&world), [ControllerId::ReplicaSet, second]);
        assert_eq!(world.store().list(Kind::Pod).count(), 3);
        let mut most = 0;
        while world.now() < Time::from_secs(40) {
            world.step(Time::from_secs(40));
            most = most.max(world.store().list(Kind::Pod).count());
        }
        assert_eq!(most, 6, "both made all that they missed");
        let told = passes(&mut world);
        let after = |id| {
            let own = told.iter().filter(|pass| pass.controller == id);
            own.filter(|pass| pass.started >= Time::from_secs(32)).count()
        };
        assert!(after(ControllerId::ReplicaSet) > 0 && after(second) > 0);
        // Its renewals are refused for the whole of the deadline; then it ends itself.
        run(&mut world, 60);
        assert_eq!(leaders(&world), [second]);
        assert!(!world.process(ControllerId::ReplicaSet).unwrap().alive);
        run(&mut world, 120);
        assert_eq!(world.verdict(), Verdict::Converged);
    }

    #[test]
    fn what_both_leaders_update_is_protected_by_its_resource_version() {
        let mut world = two_leaders(Kind::Deployment, "deployment");
        run(&mut world, 120);
        let told = passes(&mut world);
        let woke = Time::from_secs(32);
        let old = told
            .iter()
            .filter(|pass| pass.controller == ControllerId::Deployment && pass.started >= woke);
        let outcomes = old.flat_map(|pass| &pass.acts).map(|act| &act.outcome);
        let refused = outcomes.filter(|outcome| matches!(outcome, Err((409, _)))).count();
        assert!(refused > 0, "all that the old leader asked for was granted");
        assert_eq!(
            world.store().list(Kind::ReplicaSet).count(),
            2,
            "names by hash are not doubled"
        );
        assert_eq!(leaders(&world), [ControllerId::Deployment.second().unwrap()]);
        assert_eq!(world.verdict(), Verdict::Converged);
    }
}
