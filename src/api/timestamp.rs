//! Times as objects carry them: whole seconds, written as RFC 3339.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::kernel::Time;

/// Seconds since 1970, as `metav1.Time` is on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// What the simulated wall clock shows at the start of every run: 2026-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(1_767_225_600);

    /// Whole seconds from `earlier` to here; negative if `earlier` is later.
    pub fn seconds_since(self, earlier: Timestamp) -> i64 {
        self.0 - earlier.0
    }

    /// Reads an RFC 3339 text.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let at = humantime::parse_rfc3339_weak(text).ok()?;
        let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok().map(Timestamp)
    }

    /// The moment of the run that this time shows; the start for times before it.
    pub fn to_time(self) -> Time {
        Time::from_secs(u64::try_from(self.0 - Self::EPOCH.0).unwrap_or(0))
    }
}

impl From<Time> for Timestamp {
    fn from(now: Time) -> Timestamp {
        Timestamp(Self::EPOCH.0 + (now.as_nanos() / 1_000_000_000) as i64)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = u64::try_from(self.0).unwrap_or(0).min(253_402_300_799);
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
        humantime::format_rfc3339_seconds(at).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("{text:?} is not an RFC 3339 time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_being_written_and_read() {
        let at = Timestamp::from(Time::from_secs(61));
        assert_eq!(at.to_string(), "2026-01-01T00:01:01Z");
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        assert_eq!(at.to_time(), Time::from_secs(61));
    }
}
