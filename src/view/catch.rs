//! Catching a message under way by hand: each is done by the console line that says the same.

use std::sync::Arc;

use crate::world::{ControllerId, Fate, Flight, LaneId, World};

use super::session::Session;

impl Session {
    /// Strikes a watch event under way, or lets go one that is held: `how` is a fault's verb with
    /// what belongs to it, such as `drop`, `drop at=wire`, `delay by=5s`, `duplicate`, `hold`,
    /// `release`, `reorder` (after its successor); `before` puts it before its neighbour. False: it
    /// has arrived already, or has no neighbour.
    pub fn catch(&mut self, lane: LaneId, flight: u64, how: &str) -> bool {
        let Some(found) = self.run.lane(lane) else { return false };
        let world = &found.world;
        let messages = world.flights().chain(world.held_at_doors());
        let caught = messages.filter(|(id, _)| *id == flight).map(|(_, caught)| caught).last();
        let Some(mut message) = caught else { return false };
        let (mut verb, rest) = how.split_once(' ').unwrap_or((how, ""));
        if verb == "before" {
            // What is in front of it comes after its successor, which is this one.
            let Some(neighbour) = neighbour(world, message) else { return false };
            (verb, message) = ("reorder", neighbour);
        }
        let line = line(world, message, verb, rest);
        !self.act(line.trim(), None, lane.into()).iter().any(|(_, output)| output.error)
    }

    /// Whether a message has one in front of it on its way to the same loop.
    pub fn has_neighbour(&self, lane: LaneId, flight: u64) -> bool {
        self.run.lane(lane).is_some_and(|lane| {
            let message = lane.world.flights().find(|(id, _)| *id == flight);
            message.is_some_and(|(_, message)| neighbour(&lane.world, message).is_some())
        })
    }
}

fn line(world: &World, message: &Flight, verb: &str, rest: &str) -> String {
    let target = match world.streams()[message.stream].owner {
        ControllerId::Kubelet(node) => format!("kubelet/{}", world.node_name(node)),
        id => id.name().to_string(),
    };
    let key = message.key();
    format!(
        "fault {verb} to={target} kind={} type={} name={} {rest}",
        key.kind.info().kind,
        message.event.kind.word(),
        key.name
    )
}

/// What arrives just before a message at the same loop, and was not struck yet.
fn neighbour<'a>(world: &'a World, message: &Flight) -> Option<&'a Flight> {
    let owner = |flight: &Flight| world.streams()[flight.stream].owner;
    let in_front = world.flights().filter(|(_, other)| {
        other.fate == Fate::Intact
            && !other.background
            && owner(other) == owner(message)
            && other.arrives < message.arrives
            && !Arc::ptr_eq(&other.event.object, &message.event.object)
    });
    in_front.max_by_key(|(id, other)| (other.arrives, *id)).map(|(_, other)| other)
}
