//! The messages under way, by number. Each is put in, looked for and taken out once or twice, among
//! thousands: they are found by a hash of the number, and put in order only for who asks for all.

use hashbrown::HashTable;

use crate::kernel::{Time, stable_hash};

use super::stream::Flight;

/// The messages under way.
#[derive(Clone, Debug, Default)]
pub struct Flights(HashTable<(u64, Flight)>);

impl Flights {
    /// The message of this number.
    pub fn get(&self, id: &u64) -> Option<&Flight> {
        self.0.find(hash_of(*id), |(own, _)| own == id).map(|(_, flight)| flight)
    }

    /// The message of this number, to change.
    pub fn get_mut(&mut self, id: &u64) -> Option<&mut Flight> {
        self.0.find_mut(hash_of(*id), |(own, _)| own == id).map(|(_, flight)| flight)
    }

    /// Whether there is a message of this number.
    pub fn contains_key(&self, id: &u64) -> bool {
        self.get(id).is_some()
    }

    /// Puts a message in, under a number that no other ever had.
    pub fn insert(&mut self, id: u64, flight: Flight) {
        self.0.insert_unique(hash_of(id), (id, flight), |(own, _)| hash_of(*own));
    }

    /// Takes a message out.
    pub fn remove(&mut self, id: &u64) -> Option<Flight> {
        let entry = self.0.find_entry(hash_of(*id), |(own, _)| own == id).ok()?;
        let ((_, flight), _) = entry.remove();
        Some(flight)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Flight)> + '_ {
        let mut all: Vec<(u64, &Flight)> = self.0.iter().map(|(id, f)| (*id, f)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all.into_iter()
    }

    /// When the oldest that is shown left.
    pub fn oldest(&self) -> Option<Time> {
        let shown = self.0.iter().filter(|(_, flight)| !flight.background);
        shown.map(|(_, flight)| flight.sent).min()
    }
}

fn hash_of(id: u64) -> u64 {
    stable_hash(0, &id.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Object, Pod};
    use crate::apiserver::{WatchEvent, WatchEventType};
    use crate::world::Fate;
    use std::sync::Arc;
    use std::time::Duration;

    fn flight(second: u64, background: bool) -> Flight {
        let object = Arc::new(Object::Pod(Pod::default()));
        let event = WatchEvent { kind: WatchEventType::Added, object, revision: second };
        let (sent, arrives) = (Time::from_secs(second), Time::from_secs(second + 1));
        let (fate, late) = (Fate::Intact, Duration::ZERO);
        Flight { stream: 0, event, sent, arrives, fate, late, background }
    }

    #[test]
    fn messages_come_in_the_order_of_their_numbers_whatever_was_taken_out() {
        let mut flights = Flights::default();
        for id in 0..100 {
            flights.insert(id, flight(id, id < 3));
        }
        assert!((10..90).all(|id| flights.remove(&id).is_some_and(|f| f.event.revision == id)));
        assert!(flights.remove(&10).is_none() && !flights.contains_key(&10));
        assert!(flights.iter().map(|(id, _)| id).eq((0..10).chain(90..100)));
        assert_eq!(flights.oldest(), Some(Time::from_secs(3)), "upkeep is not shown");
    }
}
