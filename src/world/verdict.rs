//! What a cluster has come to. A verdict is checked, not guessed: it asks what is queued, under way
//! or due, and what the store and the machines hold.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::api::{Condition, Kind, ObjectKey, Str};
use crate::controllers::Context;
use crate::kernel::Time;

use super::ControllerId;
use super::options::Flavour;
use super::step::Step;
use super::truth::Shortfall;
use super::world::World;

/// What a cluster has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Verdict {
    /// Matched, and nothing queued, held, under way or due can change it.
    Converged,
    /// Something is under way.
    #[default]
    Converging,
    /// It differs, or may come to, and nothing is under way but this, which is due at a stated
    /// time.
    Waiting {
        /// What is missing.
        short: Vec<Shortfall>,
        /// When; `Time::MAX` if that is for somebody to say.
        until: Time,
        /// What is due: `resync`, `node-lifecycle`, the `release` of what is held.
        what: &'static str,
    },
    /// It differs, and nothing will ever wake anyone that could change it.
    Stuck {
        /// What is missing.
        short: Vec<Shortfall>,
        /// When the scheduler tries the pods without a node again, in vain: it was tried in
        /// thought.
        in_vain: Option<Time>,
    },
    /// Somebody undoes what somebody else does, again and again.
    Oscillating {
        /// To which object.
        object: ObjectKey,
        /// To which field.
        field: Str,
        /// Who writes what, the latest last.
        sides: [(Str, i32); 2],
        /// How long from one write of the same writer to the next, on average.
        period: Duration,
        /// How often within the last two minutes.
        turns: u32,
    },
}

impl Verdict {
    /// Its word in a scenario file. Waiting is a kind of converging: it will go on by itself.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Converged => "converged",
            Verdict::Converging | Verdict::Waiting { .. } => "converging",
            Verdict::Stuck { .. } => "stuck",
            Verdict::Oscillating { .. } => "oscillating",
        }
    }
}

impl World {
    /// What it has come to, oscillation apart (that takes history: see `Lane`).
    pub fn verdict(&self) -> Verdict {
        if self.is_busy() {
            return Verdict::Converging;
        }
        let short = self.shortfalls();
        if self.held().next().is_some() {
            return Verdict::Waiting { short, until: Time::MAX, what: "release" };
        }
        let collection = self.pods_to_collect();
        if short.is_empty() && collection.is_none() {
            return Verdict::Converged;
        }
        match collection.into_iter().chain(self.next_upkeep_that_helps()).min() {
            Some((until, what)) => Verdict::Waiting { short, until, what },
            None => Verdict::Stuck { short, in_vain: self.next_flush().map(|(at, _)| at) },
        }
    }

    /// Upkeep goes on for ever; this is the part of it that may change something.
    fn next_upkeep_that_helps(&self) -> Option<(Time, &'static str)> {
        let looks = self.agenda.iter().filter_map(|entry| match entry.what {
            Step::Resync(id, epoch) => self.look_helps(id, epoch).then_some((entry.at, "resync")),
            // A look that is under way.
            Step::Arrive(id, true) | Step::Answer(id, _, true) => {
                let asks = self.requests.get(&id).filter(|request| asks_outside(request.owner));
                asks.and_then(|request| self.timer_helps(request.owner, request.epoch, entry.at))
            }
            Step::Decided(id, epoch, _, true) if asks_outside(id) => {
                self.timer_helps(id, epoch, entry.at)
            }
            Step::Poll(id, epoch) => self.look_helps(id, epoch).then_some((entry.at, "poll")),
            Step::Elect(id) => self.is_leaderless(id).then_some((entry.at, "leader-election")),
            Step::Due(id, epoch, true) => self.timer_helps(id, epoch, entry.at),
            _ => None,
        });
        let flush = self.next_flush().filter(|(_, id)| self.flush_helps(*id));
        let flush = flush.map(|(at, _)| (at, "scheduler-flush"));
        looks.chain(self.dead_node_unnoticed()).chain(flush).min()
    }

    /// When a scheduler tries again the pods for which it found no node, and which.
    fn next_flush(&self) -> Option<(Time, ControllerId)> {
        let due = self.agenda.iter().filter_map(|entry| match entry.what {
            Step::Flush(id, epoch) if self.look_helps(id, epoch) => Some((entry.at, id)),
            _ => None,
        });
        due.min()
    }

    fn flush_helps(&self, id: ControllerId) -> bool {
        self.process(id).is_some_and(|process| {
            let (now, seed) = (self.now(), self.options.seed);
            let cx = Context { cache: &process.cache, now, seed, promises_kept: true };
            process.mind.as_scheduler().is_some_and(|scheduler| scheduler.a_look_helps(&cx))
        })
    }

    /// A look that a loop takes by its own timer, and its name, if it may change something.
    fn timer_helps(&self, id: ControllerId, epoch: u32, at: Time) -> Option<(Time, &'static str)> {
        let (may, what) = match id.role() {
            ControllerId::HorizontalAutoscaler | ControllerId::GitOps => (true, id.name()),
            ControllerId::Order => (self.an_order_has_work(), "order"),
            ControllerId::Deployment => (self.a_deployment_has_work(), "progress-deadline"),
            _ => return None,
        };
        (may && self.look_helps(id, epoch)).then_some((at, what))
    }

    /// Whether nobody leads among the processes of a controller, and this one would like to.
    fn is_leaderless(&self, id: ControllerId) -> bool {
        let mut own = self.candidates.iter().filter(|other| other.id.role() == id.role());
        !own.clone().any(|other| other.leads) && own.any(|other| other.id == id && other.up)
    }

    /// A second look shows an edge-triggered loop no difference; only a level-triggered one is
    /// helped.
    fn look_helps(&self, id: ControllerId, epoch: u32) -> bool {
        // The quota controller's resync changes no pod by itself.
        let counts_only = id.role() == ControllerId::ResourceQuota;
        self.process(id).filter(|_| !counts_only).is_some_and(|process| {
            process.epoch == epoch && process.alive && process.flavour == Flavour::Level
        })
    }

    /// When the next pods whose Node does not exist will be deleted for it: until then all may
    /// seem well, since containers run on.
    fn pods_to_collect(&self) -> Option<(Time, &'static str)> {
        let process = self.process(ControllerId::NodeLifecycle).filter(|process| process.alive)?;
        let exists = |name: &Str| {
            let key = ObjectKey::new(Kind::Node, "", name.clone());
            self.store().get(&key).is_some()
        };
        let pods = self.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let nodes: BTreeSet<&Str> = pods.filter_map(|pod| pod.spec.node_name.as_ref()).collect();
        let gone = nodes.into_iter().filter(|name| !exists(name));
        gone.filter_map(|name| Some((process.mind.collects_at(name, self.now())?, "pod-gc"))).min()
    }

    /// A machine that is off or cut off while the API server still calls its node Ready: the node
    /// controller will notice when the lease is too old.
    fn dead_node_unnoticed(&self) -> Option<(Time, &'static str)> {
        self.process(ControllerId::NodeLifecycle).filter(|process| process.alive)?;
        let unnoticed =
            self.store().list(Kind::Node).filter_map(|object| object.as_node()).any(|node| {
                let number = self.node_number(&node.metadata.name);
                let lives = number.is_some_and(|number| {
                    self.is_connected(number)
                        && self.kubelets()[usize::from(number)].is_powered()
                        && self.process(ControllerId::Kubelet(number)).is_some_and(|p| p.alive)
                });
                !lives && Condition::holds(&node.status.conditions, "Ready")
            });
        let next = self.agenda.iter().filter(|entry| matches!(entry.what, Step::Monitor(_)));
        unnoticed.then(|| next.map(|entry| (entry.at, "node-lifecycle")).min()).flatten()
    }
}

/// Loops that ask somebody beside the API server before they decide.
fn asks_outside(id: ControllerId) -> bool {
    use ControllerId::{GitOps, HorizontalAutoscaler, Order};
    matches!(id.role(), HorizontalAutoscaler | GitOps | Order)
}
