//! What becomes of an Event before it is sent: the same again is counted, many that differ only in
//! what they say are combined, and who says too much about one object is not heard (client-go
//! `tools/record/events_cache.go`). Each process has one, and loses it when it dies.
//!
//! Kubernetes forgets the least recently used of 4096 keys; here the oldest goes, which no run
//! reaches. Of the messages that share a key it drops any one where here the smallest hash goes.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::HashTable;

use crate::api::{Event, Str, Timestamp};
use crate::kernel::{Time, stable_hash};

/// So many Events that differ only in what they say are combined.
pub const MAX_SIMILAR: usize = 10;
/// More than so much time between two of them, and they are counted afresh.
pub const SIMILAR_WITHIN: Duration = Duration::from_secs(600);
/// Events of one source about one object that may be told in a burst.
pub const BURST: u32 = 25;
/// After so long one more may be told.
pub const REFILL: Duration = Duration::from_secs(300);
/// Keys that are remembered, of each sort.
pub const MAX_KEYS: usize = 4_096;
/// How a combined Event begins.
pub const COMBINED: &str = "(combined from similar events): ";

/// A recorder's memory.
#[derive(Clone, Debug, Default)]
pub struct EventCorrelator {
    similar: Bounded<Similar>,
    told: Bounded<Told>,
    spam: Bounded<Allowance>,
    burst: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct Similar {
    /// The message, by its hash, while there is but one: of most Events there is no other.
    only: Option<u64>,
    /// All of them once there are more, in the order of hashes.
    messages: Vec<u64>,
    last: Time,
}

impl Similar {
    /// Takes a message. Whether there are so many of late that they are combined.
    fn is_one_of_many(&mut self, message: u64, now: Time) -> bool {
        if now.since(self.last) > SIMILAR_WITHIN {
            *self = Similar::default();
        }
        self.last = now;
        if self.messages.is_empty() && self.only.is_none_or(|only| only == message) {
            self.only = Some(message);
            return false;
        }
        self.messages.extend(self.only.take());
        if let Err(place) = self.messages.binary_search(&message) {
            self.messages.insert(place, message);
        }
        if self.messages.len() < MAX_SIMILAR {
            return false;
        }
        self.messages.remove(0);
        true
    }
}

/// What was told under a key.
#[derive(Clone, Debug)]
struct Told {
    count: i32,
    name: Str,
    first: Option<Timestamp>,
}

/// What a source may still say about an object, as the time that it was saved up for.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    saved: Duration,
    since: Time,
}

/// An Event to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// As it is sent: with the count, and name and first time of the one that it changes.
    pub event: Event,
    /// Whether it stands for many.
    pub is_combined: bool,
}

impl EventCorrelator {
    /// A correlator with another burst than the usual one.
    pub fn with_burst(burst: u32) -> EventCorrelator {
        EventCorrelator { burst: Some(burst), ..EventCorrelator::default() }
    }

    /// What is sent of this Event; nothing if its source has said too much. What is not sent
    /// counts all the same.
    pub fn correlate(&mut self, mut event: Event, now: Time) -> Option<Observed> {
        let about = source_and_object(&event);
        // `getSpamKey`.
        let spam = key_of(about, &["spam", kind_of(&event)]);
        let (key, is_combined) = self.combine(&mut event, about, now);
        let told = self.told.entry(key, || {
            let (name, first) = (event.metadata.name.clone(), event.first_timestamp);
            Told { count: 0, name, first }
        });
        told.count = told.count.saturating_add(1);
        event.count = told.count;
        event.metadata.name = told.name.clone();
        event.first_timestamp = told.first;
        self.may_tell(spam, now).then_some(Observed { event, is_combined })
    }

    /// `EventAggregate`: the key to count the Event by, and whether it stands for many from now on.
    fn combine(&mut self, event: &mut Event, about: u64, now: Time) -> (u64, bool) {
        let (own, shared) = (event_key(event, about), similar_key(event, about));
        let message = stable_hash(0, event.message.as_bytes());
        if !self.similar.entry(shared, Similar::default).is_one_of_many(message, now) {
            return (own, false);
        }
        event.message = Str::from(format!("{COMBINED}{}", event.message));
        (shared, true)
    }

    fn may_tell(&mut self, key: u64, now: Time) -> bool {
        let full = REFILL * self.burst.unwrap_or(BURST);
        let allowance = self.spam.entry(key, || Allowance { saved: full, since: now });
        allowance.saved = (allowance.saved + now.since(allowance.since)).min(full);
        allowance.since = now;
        let may = allowance.saved >= REFILL;
        if may {
            allowance.saved -= REFILL;
        }
        may
    }
}

/// A memory of so many keys, which are hashes: the oldest go first.
#[derive(Clone, Debug)]
struct Bounded<V> {
    values: HashTable<(u64, V)>,
    order: VecDeque<u64>,
}

impl<V> Default for Bounded<V> {
    fn default() -> Self {
        Bounded { values: HashTable::new(), order: VecDeque::new() }
    }
}

impl<V> Bounded<V> {
    /// What is remembered under a key; for a new one, `first`.
    fn entry(&mut self, key: u64, first: impl FnOnce() -> V) -> &mut V {
        if self.values.find(key, |(own, _)| *own == key).is_none() {
            self.order.push_back(key);
            self.drop_oldest();
        }
        let entry = self.values.entry(key, |(own, _)| *own == key, |(own, _)| *own);
        &mut entry.or_insert_with(|| (key, first())).into_mut().1
    }

    fn drop_oldest(&mut self) {
        if self.order.len() > MAX_KEYS
            && let Some(oldest) = self.order.pop_front()
            && let Ok(entry) = self.values.find_entry(oldest, |(own, _)| *own == oldest)
        {
            entry.remove();
        }
    }
}

/// A key of texts, no two of which run into each other: each is hashed with the key so far.
fn key_of(seed: u64, parts: &[&str]) -> u64 {
    parts.iter().fold(seed, |key, part| stable_hash(key, part.as_bytes()))
}

fn source_and_object(event: &Event) -> u64 {
    let about = &event.involved_object;
    let host = event.source.host.as_deref().unwrap_or("");
    let (kind, namespace, name) = (&about.kind, &about.namespace, &about.name);
    let source = [&event.source.component, host];
    key_of(key_of(0, &source), &[kind, namespace, name, &about.uid, &about.api_version])
}

fn kind_of(event: &Event) -> &'static str {
    match event.kind {
        crate::api::EventType::Normal => "Normal",
        crate::api::EventType::Warning => "Warning",
    }
}

/// `getEventKey`.
fn event_key(event: &Event, about: u64) -> u64 {
    let field = event.involved_object.field_path.as_deref().unwrap_or("");
    key_of(about, &["told", field, kind_of(event), &event.reason, &event.message])
}

/// `EventAggregatorByReasonFunc`.
fn similar_key(event: &Event, about: u64) -> u64 {
    let of = |field: &str| event.rest.get(field).and_then(|value| value.as_str()).unwrap_or("");
    let reporter = [of("reportingComponent"), of("reportingInstance")];
    key_of(about, &["similar", kind_of(event), &event.reason, reporter[0], reporter[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(message: &str) -> Event {
        let mut event = Event { message: message.into(), ..Event::default() };
        event.involved_object.name = "web".into();
        event
    }

    fn tell(correlator: &mut EventCorrelator, message: &str, second: u64) -> Option<Observed> {
        correlator.correlate(event(message), Time::from_secs(second))
    }

    #[test]
    fn the_same_again_is_counted_and_many_of_a_kind_are_combined() {
        let mut correlator = EventCorrelator::default();
        assert_eq!(tell(&mut correlator, "a", 0).map(|o| o.event.count), Some(1));
        assert_eq!(tell(&mut correlator, "a", 1).map(|o| o.event.count), Some(2));
        for number in 0..8 {
            let seen = tell(&mut correlator, &number.to_string(), 2);
            assert!(seen.is_some_and(|observed| !observed.is_combined));
        }
        for count in 1..5 {
            let seen = tell(&mut correlator, &format!("more {count}"), 3).expect("it is sent");
            assert!(seen.is_combined);
            assert_eq!(seen.event.count, count);
            assert_eq!(&*seen.event.message, format!("{COMBINED}more {count}"));
        }
    }

    #[test]
    fn one_more_may_be_told_every_five_minutes_after_a_burst() {
        let mut correlator = EventCorrelator::with_burst(2);
        let mut told = |second| tell(&mut correlator, "a", second).map(|o| o.event.count);
        assert_eq!([told(0), told(1), told(2)], [Some(1), Some(2), None]);
        assert_eq!([told(299), told(300), told(301)], [None, Some(5), None]);
    }

    #[test]
    fn no_more_than_so_many_keys_are_remembered() {
        let mut memory = Bounded::default();
        for key in 0..MAX_KEYS as u64 + 5 {
            memory.entry(key, || key);
        }
        assert_eq!((memory.values.len(), memory.order.len()), (MAX_KEYS, MAX_KEYS));
        let knows = |key: u64| memory.values.find(key, |(own, _)| *own == key).is_some();
        assert_eq!((knows(4), knows(5)), (false, true));
    }
}
