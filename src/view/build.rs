//! Reads a lane's stage off its world. It looks and changes nothing.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Str};
use crate::kernel::Time;
use crate::world::{
    ControllerId, EdgeItem, Fate as WorldFate, Flavour, Lane, Manner, PassRecord, Process, Verdict,
    World,
};

use super::board::board;
use super::nodes::nodes_and_tray;
use super::places::Memory;
use super::stage::{
    Bead, CacheView, Due, Fate, Flight, FlightKind, LoopFlavour, LoopId, LoopView, PassView,
    QUEUE_SHOWN, Shortfall, Stage, Totals, VerdictView,
};

/// Delayed keys shown of a loop.
const DUE_SHOWN: usize = 5;

/// The stage of a lane. `memory` keeps what must not jump from one look to the next; `since` is
/// when the present verdict was reached.
pub fn stage(lane: &Lane, verdict: &Verdict, since: Time, memory: &mut Memory) -> Stage {
    let world = &lane.world;
    let counts = world.pods_by_owner();
    let (nodes, tray) = nodes_and_tray(world, memory);
    Stage {
        version: world.trace_hash()
            ^ world.now().as_nanos().wrapping_mul(u64::from(world.is_busy())),
        revision: world.store().revision(),
        verdict: verdict_view(verdict, since),
        totals: totals(world),
        board: board(world, &counts, memory),
        loops: loops(world),
        others: others(world),
        flights: flights(world),
        drawn_every: drawn_every(world),
        under_way: world.activity().flying + world.held_at_doors().count(),
        nodes,
        tray,
        server_fault: world.faults().server_trouble().map(|trouble| {
            let word = format!("{trouble:?}").to_ascii_lowercase();
            word.into()
        }),
    }
}

/// A verdict as the page says it.
pub fn verdict_view(verdict: &Verdict, since: Time) -> VerdictView {
    let shown = |short: &[crate::world::Shortfall]| {
        short
            .iter()
            .map(|s| Shortfall { object: s.object.clone(), want: s.want, have: s.have })
            .collect()
    };
    match verdict {
        Verdict::Converged => VerdictView::Converged { since },
        Verdict::Converging => VerdictView::Converging,
        Verdict::Waiting { short, until, what } => {
            VerdictView::Waiting { short: shown(short), until: *until, what: (*what).into() }
        }
        Verdict::Stuck { short, in_vain } => {
            VerdictView::Stuck { short: shown(short), in_vain: *in_vain }
        }
        Verdict::Oscillating { object, field, sides, period, turns } => VerdictView::Oscillating {
            object: object.clone(),
            field: field.clone(),
            sides: sides.clone(),
            period: *period,
            turns: *turns,
        },
    }
}

fn totals(world: &World) -> Totals {
    let totals = world.totals();
    Totals {
        passes: totals.passes,
        calls: totals.calls,
        writes: totals.writes,
        watch_events: totals.watch_events,
    }
}

/// The loop that a process is drawn as.
pub fn loop_id(id: ControllerId) -> LoopId {
    match id.role() {
        ControllerId::Deployment => LoopId::Deployment,
        ControllerId::ReplicaSet => LoopId::ReplicaSet,
        ControllerId::Scheduler => LoopId::Scheduler,
        ControllerId::GarbageCollector => LoopId::GarbageCollector,
        // Small loops of the same process in a real cluster share the node controller's desk.
        ControllerId::NodeLifecycle
        | ControllerId::Disruption
        | ControllerId::ResourceQuota
        | ControllerId::Namespace
        | ControllerId::Operator => LoopId::NodeLifecycle,
        ControllerId::HorizontalAutoscaler => LoopId::HorizontalAutoscaler,
        ControllerId::GitOps => LoopId::GitOps,
        ControllerId::Order => LoopId::Order,
        ControllerId::Job => LoopId::Job,
        ControllerId::StatefulSet => LoopId::StatefulSet,
        ControllerId::CronJob => LoopId::CronJob,
        ControllerId::DaemonSet => LoopId::DaemonSet,
        ControllerId::EndpointSlice => LoopId::EndpointSlice,
        // No `role` is a second process.
        ControllerId::Kubelet(_) | ControllerId::Standby(_) => LoopId::Kubelet,
    }
}

/// Desks that stand side by side without crowding.
const ROOM: usize = 6;

fn loops(world: &World) -> Vec<LoopView> {
    let running = |id: &LoopId| world.processes().any(|process| loop_id(process.id) == *id);
    let crowded = LoopId::ALL.iter().filter(|id| running(id)).count() > ROOM;
    let nothing_to_do = |id: &LoopId| {
        let for_pods = matches!(id, LoopId::Deployment | LoopId::ReplicaSet);
        let kinds = [Kind::Deployment, Kind::ReplicaSet];
        for_pods && kinds.iter().all(|kind| world.store().list(*kind).next().is_none())
    };
    LoopId::ALL
        .into_iter()
        .filter(|id| !(crowded && nothing_to_do(id)))
        .filter_map(|id| {
            let of_loop = |process: &&Process| loop_id(process.id) == id;
            let processes = world.processes().filter(of_loop).filter(|process| {
                // One that waits to lead has no desk; it shares that of the leader.
                process.alive || !matches!(process.id, ControllerId::Standby(_))
            });
            let processes: Vec<&Process> = processes.collect();
            (!processes.is_empty()).then(|| loop_view(world, id, &processes))
        })
        .collect()
}

/// One loop, drawn for one process or, for kubelets, for all of them together.
fn loop_view(world: &World, id: LoopId, processes: &[&Process]) -> LoopView {
    let mut active: Vec<&PassRecord> = processes
        .iter()
        .flat_map(|process| process.active.values().filter(|pass| !pass.silent))
        .map(|pass| &pass.record)
        .collect();
    active.sort_by_key(|record| (record.started, record.number));
    let last = processes
        .iter()
        .filter_map(|process| process.last.as_ref())
        .max_by_key(|record| (record.ended, record.number));
    let mut queue: Vec<Bead> = processes.iter().flat_map(|process| beads(process)).collect();
    let queued = processes.iter().map(|process| process.waiting()).sum();
    queue.truncate(QUEUE_SHOWN);
    let mut due: Vec<Due> = processes.iter().flat_map(|process| due(process)).collect();
    due.sort_by_key(|due| due.at);
    due.truncate(DUE_SHOWN);
    let traps = processes
        .iter()
        .flat_map(|process| world.faults().traps_for(process.id))
        .map(|trap| Str::from(trap.to_string()))
        .collect();
    LoopView {
        id,
        name: processes[0].id.name().into(),
        flavour: flavour(processes[0]),
        manner: processes[0].manner(),
        manners: manners(processes[0].id),
        doubled: doubled(world, processes[0].id),
        alive: processes.iter().any(|process| process.alive),
        armed: processes.iter().any(|process| process.crash_at.is_some()),
        pass: active.last().map(|record| pass_view(world, &Arc::new(PassRecord::clone(record)))),
        last: last.map(|record| pass_view(world, record)),
        queue,
        queued,
        due,
        cache: cache_view(world, processes),
        traps,
    }
}

fn others(world: &World) -> Vec<(LoopId, Manner)> {
    let mut others: Vec<_> = world.others().map(|(id, manner)| (loop_id(id), manner)).collect();
    others.dedup();
    others
}

/// In which manners a controller can be triggered.
fn manners(id: ControllerId) -> Vec<Manner> {
    let can = |manner: &Manner| match manner {
        Manner::Level => true,
        Manner::LevelPolling => id.can_poll(),
        _ => id.has_flavours(),
    };
    Manner::ALL.into_iter().filter(can).collect()
}

fn doubled(world: &World, id: ControllerId) -> Option<bool> {
    let role = id.role();
    role.second()?;
    Some(world.candidates().iter().any(|candidate| candidate.id.role() == role))
}

fn flavour(process: &Process) -> LoopFlavour {
    match (process.id, process.flavour) {
        (id, Flavour::Edge) if id.has_flavours() => LoopFlavour::Edge,
        (id, _) if id.has_flavours() => LoopFlavour::Level,
        _ => LoopFlavour::Shared,
    }
}

fn beads(process: &Process) -> Vec<Bead> {
    match process.flavour {
        Flavour::Edge => {
            let items = process.changes.iter().take(QUEUE_SHOWN);
            items.map(|item| Bead { label: item.label(), adds: 1 }).collect()
        }
        Flavour::Level => process
            .queue
            .iter()
            .take(QUEUE_SHOWN)
            .map(|(key, adds)| Bead { label: key.name.clone(), adds })
            .collect(),
    }
}

fn due(process: &Process) -> Vec<Due> {
    let mut due: Vec<Due> = match process.flavour {
        Flavour::Edge => process
            .later
            .iter()
            .map(|(at, item)| Due {
                label: item.label(),
                at: *at,
                back_off: matches!(item, EdgeItem::Resume(..)),
            })
            .collect(),
        Flavour::Level => process
            .queue
            .waiting()
            .map(|(key, at)| Due {
                label: key.name.clone(),
                at,
                back_off: process.later_causes.get(key) == Some(&crate::world::Cause::Retry),
            })
            .collect(),
    };
    due.sort_by_key(|due| due.at);
    due.truncate(DUE_SHOWN);
    due
}

/// What the caches of a loop hold of the kind that it counts, beside the truth.
fn cache_view(world: &World, processes: &[&Process]) -> CacheView {
    let kind = match processes[0].id.role() {
        ControllerId::Deployment => Kind::ReplicaSet,
        ControllerId::NodeLifecycle => Kind::Node,
        ControllerId::GitOps => Kind::Application,
        ControllerId::Order => world.order_kind().unwrap_or(Kind::Payment),
        ControllerId::CronJob => Kind::Job,
        _ => Kind::Pod,
    };
    let counts = |object: &crate::api::Object| object.as_pod().is_none_or(|pod| pod.is_active());
    let sees = processes
        .iter()
        .map(|process| match process.believed_pods() {
            Some(count) => count,
            None => process.cache.all(kind).filter(|object| counts(object)).count() as i64,
        })
        .sum();
    let truth = world.store().list(kind).filter(|object| counts(object)).count() as i64;
    CacheView { sees, truth, stale: staleness(world, processes) }
}

/// How old the oldest change is that one of the caches has not heard of.
fn staleness(world: &World, processes: &[&Process]) -> Duration {
    let ages = processes.iter().map(|process| world.unheard_by(process.id).age(world.now()));
    ages.max().unwrap_or_default()
}

/// A pass as the page tells it.
pub fn pass_view(world: &World, record: &Arc<PassRecord>) -> PassView {
    let node = match record.controller {
        ControllerId::Kubelet(node) => Some(world.node_name(node)),
        _ => None,
    };
    PassView { node, record: record.clone() }
}

/// Messages that are drawn at most; of more, every second, fourth or eighth stands for the rest.
const FLIGHTS_SHOWN: u64 = 600;

/// A power of two, so that who is drawn stays drawn while they grow fewer.
fn drawn_every(world: &World) -> u64 {
    let under_way = world.activity().flying as u64;
    under_way.div_ceil(FLIGHTS_SHOWN).max(1).next_power_of_two()
}

fn flights(world: &World) -> Vec<Flight> {
    let every = drawn_every(world);
    let shown = |id: u64| id.is_multiple_of(every);
    let told = |(id, flight): &(u64, &crate::world::Flight)| {
        // What is held somebody wants to see, whatever it tells.
        flight.fate.is_held() || shown(*id) && !flight.background
    };
    let standing = world.held_at_doors();
    let watch = standing.chain(world.flights()).filter(told).map(|(id, flight)| {
        let owner = world.streams()[flight.stream].owner;
        Flight {
            id,
            lane_loop: loop_id(owner),
            node: node_of(world, owner),
            what: FlightKind::Watch(flight.event.kind),
            object: flight.key(),
            sent: flight.sent,
            arrives: flight.arrives,
            fate: match fate(flight.fate) {
                Fate::Intact if flight.arrives == Time::MAX => Fate::Behind,
                fate => fate,
            },
        }
    });
    let requests = world.requests().filter(|(id, _)| shown(*id)).map(|(id, request)| Flight {
        id,
        lane_loop: loop_id(request.owner),
        node: node_of(world, request.owner),
        what: match request.answered {
            None => FlightKind::Request(request.request.verb()),
            Some(outcome) => FlightKind::Answer(request.request.verb(), outcome.err()),
        },
        object: request.request.key(),
        sent: request.sent,
        arrives: request.arrives,
        fate: Fate::Intact,
    });
    watch.chain(requests).collect()
}

fn node_of(world: &World, owner: ControllerId) -> Option<Str> {
    match owner {
        ControllerId::Kubelet(node) => Some(world.node_name(node)),
        _ => None,
    }
}

fn fate(fate: WorldFate) -> Fate {
    match fate {
        WorldFate::Intact => Fate::Intact,
        WorldFate::DroppedAtDoor => Fate::DroppedAtDoor,
        WorldFate::DroppedOnWire => Fate::DroppedOnWire,
        WorldFate::DelayedAtDoor(_) | WorldFate::DelayedOnWire => Fate::Delayed,
        WorldFate::Swapped => Fate::Swapped,
        WorldFate::HeldAtDoor => Fate::HeldAtDoor,
        WorldFate::HeldOnWire => Fate::HeldOnWire,
        WorldFate::DoubledAtDoor | WorldFate::DoubledOnWire => Fate::Doubled,
    }
}
