//! How fast nodes of a zone may be tainted so that their pods go (`handleDisruption`,
//! `ComputeZoneState`, `RateLimitedTimedQueue`): slower when many nodes of a zone fail together,
//! not at all when every zone is down, since then it is more likely the network.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::{Node, Str};
use crate::kernel::Time;

/// Nodes tainted in 1,000 s in a zone that is well, or wholly down (`--node-eviction-rate` 0.1).
pub const EVICTION_RATE: u64 = 100;
/// The same in a large zone that is down in part (`--secondary-node-eviction-rate` 0.01).
pub const SECONDARY_EVICTION_RATE: u64 = 10;
/// A zone with more nodes is large (`--large-cluster-size-threshold`).
pub const LARGE_CLUSTER_SIZE: usize = 50;
/// The share of nodes, in thousandths, from which a zone is down in part
/// (`--unhealthy-zone-threshold` 0.55).
pub const UNHEALTHY_ZONE_THOUSANDTHS: u64 = 550;

/// How a zone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ZoneState {
    #[default]
    Normal,
    PartialDisruption,
    FullDisruption,
}

/// The state of a zone with so many nodes that are ready and not.
pub fn zone_state(ready: usize, not_ready: usize, unhealthy_thousandths: u64) -> ZoneState {
    let part = not_ready as u64 * 1_000 >= unhealthy_thousandths * (ready + not_ready) as u64;
    match (ready, not_ready) {
        (0, 1..) => ZoneState::FullDisruption,
        (_, 3..) if part => ZoneState::PartialDisruption,
        _ => ZoneState::Normal,
    }
}

/// How many nodes of a zone may be tainted in 1,000 s.
pub fn eviction_rate(state: ZoneState, zone_size: usize, all_are_down: bool) -> u64 {
    match state {
        _ if all_are_down => 0,
        ZoneState::PartialDisruption if zone_size > LARGE_CLUSTER_SIZE => SECONDARY_EVICTION_RATE,
        ZoneState::PartialDisruption => 0,
        ZoneState::Normal | ZoneState::FullDisruption => EVICTION_RATE,
    }
}

/// The zone of a node, by its labels; all nodes without such labels are one zone.
pub fn zone_of(node: &Node) -> Str {
    let label = |name: &str| {
        let text = node.metadata.labels.get(name);
        text.map(|text| text.to_string()).unwrap_or_default()
    };
    let region = label("topology.kubernetes.io/region");
    let zone = label("topology.kubernetes.io/zone");
    format!("{region}:{zone}").into()
}

#[derive(Clone, Debug, Default)]
struct Zone {
    state: ZoneState,
    size: usize,
    /// When the next node may be tainted: one at once, then one in so many seconds.
    next: Time,
}

/// What `Zones::update` brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing to tell.
    None,
    /// Not every zone is down any more.
    Recovered,
}

/// All zones.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    zones: BTreeMap<Str, Zone>,
    all_are_down: bool,
}

impl Zones {
    /// Whether every zone is down: nothing is tainted, and what was is not any more.
    pub fn all_are_down(&self) -> bool {
        self.all_are_down
    }

    /// Takes the present state: for each node its zone, and whether it is ready.
    pub fn update(&mut self, nodes: impl Iterator<Item = (Str, bool)>) -> Turn {
        let mut counts: BTreeMap<Str, (usize, usize)> = BTreeMap::new();
        for (zone, is_ready) in nodes {
            let (ready, not_ready) = counts.entry(zone).or_default();
            *ready += usize::from(is_ready);
            *not_ready += usize::from(!is_ready);
        }
        self.zones.retain(|name, _| counts.contains_key(name));
        for (name, (ready, not_ready)) in counts {
            let zone = self.zones.entry(name).or_default();
            zone.state = zone_state(ready, not_ready, UNHEALTHY_ZONE_THOUSANDTHS);
            zone.size = ready + not_ready;
        }
        let down = |zone: &Zone| zone.state == ZoneState::FullDisruption;
        let was = self.all_are_down;
        self.all_are_down = !self.zones.is_empty() && self.zones.values().all(down);
        match (was, self.all_are_down) {
            (true, false) => Turn::Recovered,
            _ => Turn::None,
        }
    }

    /// How long until a node of this zone may be tainted; absent: not as things are.
    pub fn wait(&self, zone: &Str, now: Time) -> Option<Duration> {
        self.interval(zone)?;
        let next = self.zones.get(zone).map_or(Time::ZERO, |zone| zone.next);
        Some(next.since(now))
    }

    /// Notes that a node of this zone is tainted now.
    pub fn take(&mut self, zone: &Str, now: Time) {
        if let Some(interval) = self.interval(zone) {
            self.zones.entry(zone.clone()).or_default().next = now + interval;
        }
    }

    fn interval(&self, zone: &Str) -> Option<Duration> {
        let known = self.zones.get(zone);
        let (state, size) = known.map_or((ZoneState::Normal, 0), |z| (z.state, z.size));
        match eviction_rate(state, size, self.all_are_down) {
            0 => None,
            rate => Some(Duration::from_secs(1_000 / rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_is_tainted_at_once_and_one_every_ten_seconds() {
        let (mut zones, zone, now) = (Zones::default(), Str::from(":"), Time::from_secs(100));
        zones.update([true, true, false, false].into_iter().map(|r| (zone.clone(), r)));
        assert_eq!(zones.wait(&zone, now), Some(Duration::ZERO));
        zones.take(&zone, now);
        let wait = zones.wait(&zone, now + Duration::from_secs(4));
        assert_eq!(wait, Some(Duration::from_secs(6)));
    }

    #[test]
    fn when_every_zone_is_down_nothing_is_tainted() {
        let (mut zones, zone) = (Zones::default(), Str::from(":a"));
        let all = |zones: &mut Zones, ready| zones.update([(Str::from(":a"), ready)].into_iter());
        assert_eq!(all(&mut zones, false), Turn::None);
        assert!(zones.all_are_down());
        assert_eq!(zones.wait(&zone, Time::ZERO), None);
        assert_eq!(all(&mut zones, true), Turn::Recovered);
        assert_eq!(zones.wait(&zone, Time::ZERO), Some(Duration::ZERO));
    }

    #[test]
    fn a_small_zone_that_is_down_in_part_is_left_alone() {
        assert_eq!(zone_state(2, 3, 550), ZoneState::PartialDisruption);
        assert_eq!(zone_state(1, 2, 550), ZoneState::Normal);
        assert_eq!(zone_state(6, 3, 333), ZoneState::PartialDisruption);
        assert_eq!(zone_state(6, 3, 334), ZoneState::Normal);
        assert_eq!(eviction_rate(ZoneState::PartialDisruption, 5, false), 0);
        assert_eq!(eviction_rate(ZoneState::PartialDisruption, 51, false), 10);
    }
}
