//! Requests on their way up, and answers on their way down.

use std::time::Duration;

use crate::api::Kind;
use crate::apiserver::{ApiError, Reason, Request, Response};
use crate::kernel::Time;

use super::record::{ACTS_KEPT, Act, PassRecord};
use super::server_limit::{RETRIES_MAX, RETRY_AFTER};
use super::step::Step;
use super::world::World;
use super::{ControllerId, Refusal};

/// How long a client waits for an API server that it does not reach.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A request, or its answer, under way.
#[derive(Clone, Debug)]
pub struct RequestInFlight {
    /// Who asked.
    pub owner: ControllerId,
    /// In which life of the process.
    pub epoch: u32,
    /// In which pass.
    pub pass: u64,
    /// Whether it belongs to a look that goes on for ever.
    pub upkeep: bool,
    /// Which request of the batch.
    pub index: usize,
    /// What was asked.
    pub request: Request,
    /// When the request left.
    pub asked: Time,
    /// When it left; once answered, when the answer did.
    pub sent: Time,
    /// When it reaches the server, or, once answered, the client.
    pub arrives: Time,
    /// Once answered: whether well, or with which code it was refused.
    pub answered: Option<Result<(), u16>>,
    /// How often a busy server has sent it away.
    pub tries: u8,
    /// Whether it has its seat at the server.
    pub(super) seated: bool,
}

impl World {
    pub(super) fn send_request(
        &mut self,
        owner: ControllerId,
        pass: u64,
        index: usize,
        request: Request,
    ) {
        let process = self.processes.get(&owner);
        let epoch = process.map_or(0, |process| process.epoch);
        let of_pass = process.and_then(|process| process.active.get(&pass));
        let upkeep = of_pass.is_some_and(|pass| pass.run.plan().upkeep);
        self.totals.calls += 1;
        let id = self.next_message;
        self.next_message += 1;
        let reaches = is_for_outside(&request) || !self.is_cut_off(owner);
        let latency = if reaches { self.latency(owner) } else { TIMEOUT };
        let (asked, sent, arrives) = (self.now, self.now, self.now + latency);
        let (answered, tries, seated) = (None, 0, false);
        let in_flight = RequestInFlight {
            owner,
            epoch,
            pass,
            upkeep,
            index,
            request,
            asked,
            sent,
            arrives,
            answered,
            tries,
            seated,
        };
        self.requests.insert(id, in_flight);
        self.put(arrives, Step::Arrive(id, upkeep));
    }

    pub(super) fn request_arrives(&mut self, id: u64) {
        if self.waits_for_a_seat(id) {
            return;
        }
        let Some(in_flight) = self.requests.get(&id) else { return };
        let owner = in_flight.owner;
        let request = in_flight.request.clone();
        let seated = in_flight.seated || self.seats.is_none() || is_for_outside(&request);
        let trap = self.faults.refuse(owner, &request);
        let mut latency = self.latency(owner);
        let response = match &trap {
            None if !seated => Err(too_busy()),
            None => self.answer_to(owner, &request),
            Some(trap) => {
                if trap.applied {
                    // Done, and nobody is told.
                    let _ = self.answer_to(owner, &request);
                }
                if trap.with == Refusal::Timeout {
                    latency += TIMEOUT;
                }
                Err(trap.answer(&request))
            }
        };
        let Some(in_flight) = self.requests.get_mut(&id) else { return };
        in_flight.sent = self.now;
        in_flight.arrives = self.now + latency;
        in_flight.answered = Some(match &response {
            Ok(_) => Ok(()),
            Err(error) => Err(error.reason.code()),
        });
        let (arrives, upkeep) = (in_flight.arrives, in_flight.upkeep);
        self.put(arrives, Step::Answer(id, Box::new(response), upkeep));
    }

    /// Whether a request that arrives is put off: until the server, whose seats are counted, has
    /// served it, or, if it was sent away, until its client asks again. Who has asked too often
    /// gets its refusal.
    fn waits_for_a_seat(&mut self, id: u64) -> bool {
        let Some(seats) = &mut self.seats else { return false };
        let stands =
            |asked: &&mut RequestInFlight| !asked.seated && !is_for_outside(&asked.request);
        let Some(in_flight) = self.requests.get_mut(&id).filter(stands) else { return false };
        let (owner, upkeep) = (in_flight.owner, in_flight.upkeep);
        let arrives = match seats.admit(self.now) {
            Some(done) => {
                in_flight.seated = true;
                done
            }
            None if in_flight.tries < RETRIES_MAX => {
                in_flight.tries += 1;
                self.now + RETRY_AFTER + self.latency(owner) + self.latency(owner)
            }
            None => return false,
        };
        if let Some(in_flight) = self.requests.get_mut(&id) {
            in_flight.arrives = arrives;
        }
        self.put(arrives, Step::Arrive(id, upkeep));
        true
    }

    /// Requests that wait for a seat at the API server, and those that it has sent away so far.
    pub fn server_load(&self) -> (u64, u64) {
        let load = self.seats.as_ref().map(|seats| (seats.waiting(self.now), seats.refused()));
        load.map_or((0, 0), |(waiting, refused)| (waiting as u64, refused))
    }

    fn answer_to(&mut self, owner: ControllerId, request: &Request) -> Response {
        // Outside of the cluster: the API server has no part in it.
        match request {
            request if request.kind() == Kind::Payment => return self.ask_provider(request),
            Request::Get(key) if key.kind == Kind::GitRevision => return self.read_repository(key),
            _ => {}
        }
        if self.is_cut_off(owner) {
            let text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            return Err(ApiError::new(Reason::Timeout, text));
        }
        if let Some(error) = self.refusal(owner) {
            return Err(error);
        }
        if let Request::Get(key) = request
            && key.kind == Kind::PodMetrics
        {
            return self.read_metrics(key);
        }
        let before = self.api.store().revision();
        let response = self.handle(request, owner.name());
        self.totals.writes += u64::from(self.api.store().revision() != before);
        response
    }

    pub(super) fn answer_arrives(&mut self, id: u64, response: &Response) {
        let Some(in_flight) = self.requests.remove(&id) else { return };
        let Some(process) = self.processes.get_mut(&in_flight.owner) else { return };
        if process.epoch != in_flight.epoch {
            return;
        }
        self.tell_mind(&in_flight, response);
        let Some(process) = self.processes.get_mut(&in_flight.owner) else { return };
        let Some(pass) = process.active.get_mut(&in_flight.pass) else { return };
        note_act(&mut pass.record, &in_flight, response);
        let timed_out = response.as_ref().is_err_and(|error| error.reason == Reason::Timeout);
        let is_creation = matches!(in_flight.request, Request::Create(_));
        if timed_out && is_creation && process.knobs.ignores_timeouts {
            pass.run.overlook();
        } else {
            pass.run.answer(in_flight.index, response);
        }
        self.advance(in_flight.owner, in_flight.pass);
    }

    /// Why a process cannot open a connection now, or is sent away. One that is cut off is taken
    /// for refused: its reflectors go on trying, and do not list again for it.
    pub(super) fn refusal(&self, owner: ControllerId) -> Option<ApiError> {
        if self.faults.server_is_down() || self.is_cut_off(owner) {
            return Some(ApiError::new(Reason::ServiceUnavailable, "connection refused"));
        }
        self.faults.throttles(self.now).then(too_busy)
    }

    /// A mind that keeps account of its own writes is told what became of them.
    fn tell_mind(&mut self, in_flight: &RequestInFlight, response: &Response) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(&in_flight.owner) else { return };
        let Some(pass) = process.active.get(&in_flight.pass) else { return };
        let key = pass.record.key.clone();
        match in_flight.owner {
            ControllerId::Kubelet(node) => {
                if let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) {
                    kubelet.answered(&key, response);
                }
            }
            id => {
                let woken = process.mind.answered(&key, &in_flight.request, response, now);
                self.wake_keys(id, woken);
            }
        }
    }

    /// Whether a process runs on a node that does not reach the API server.
    pub(super) fn is_cut_off(&self, id: ControllerId) -> bool {
        match id {
            ControllerId::Kubelet(node) => !self.is_connected(node),
            _ => self.faults.is_cut(id, self.now),
        }
    }
}

/// Whether a request goes past the API server, to a payment provider or a Git repository. (The
/// metrics server answers through it, as an aggregated API.)
fn is_for_outside(request: &Request) -> bool {
    matches!(request.kind(), Kind::Payment | Kind::GitRevision)
}

fn too_busy() -> ApiError {
    let text = "the server has received too many requests and has asked us to try again later";
    ApiError::new(Reason::TooManyRequests, text)
}

/// Takes down what came of a request, for whoever asks why.
fn note_act(record: &mut PassRecord, in_flight: &RequestInFlight, response: &Response) {
    let request = &in_flight.request;
    if let (Ok(object), true) = (response, request.is_write()) {
        record.wrote.push(object.meta().resource_version);
    }
    if record.acts.len() < ACTS_KEPT {
        let (object, outcome) = match response {
            Ok(object) => (object.key(), Ok(object.meta().resource_version)),
            Err(error) => (request.key(), Err((error.reason.code(), error.message.clone()))),
        };
        let (asked, served) = (in_flight.asked, in_flight.sent);
        record.acts.push(Act { verb: request.verb(), object, outcome, asked, served });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;
    use crate::world::{Options, ServerLimit};

    /// Whether two requests of this kind at once find no seat, at a server that has one for a day.
    fn one_is_sent_away(kind: Kind) -> bool {
        let service = Duration::from_secs(86_400);
        let limit = ServerLimit { seats: 1, queue: 0, service };
        let options = Options { server_limit: Some(limit), ..Options::default() };
        let mut world = World::new(options);
        let before = world.server_load().1;
        for index in 0..2 {
            let key = ObjectKey::new(kind, "default", "some");
            world.send_request(ControllerId::ReplicaSet, 1, index, Request::Get(key));
        }
        world.run_until(world.now() + Duration::from_millis(500), 1_000_000);
        let waiting = world.requests().filter(|(_, asked)| asked.owner == ControllerId::ReplicaSet);
        assert_eq!(waiting.count() == 0, world.server_load().1 == before, "{kind:?}");
        world.server_load().1 > before
    }

    #[test]
    fn what_is_asked_outside_of_the_cluster_takes_no_seat_of_the_api_server() {
        let kinds = [Kind::Pod, Kind::PodMetrics, Kind::GitRevision, Kind::Payment];
        assert_eq!(kinds.map(one_is_sent_away), [true, true, false, false]);
    }

    #[test]
    fn the_repository_answers_while_the_api_server_does_not() {
        let mut world = World::new(Options::default());
        world.inflict(&crate::world::Fault::parse_line("apiserver down for=1m").unwrap());
        let mut ask = |kind| {
            let request = Request::Get(ObjectKey::new(kind, "", "HEAD"));
            let error = world.answer_to(ControllerId::GitOps, &request).err();
            error.is_some_and(|error| error.reason == Reason::ServiceUnavailable)
        };
        assert_eq!([Kind::PodMetrics, Kind::GitRevision].map(&mut ask), [true, false]);
    }
}
