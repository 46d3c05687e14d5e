//! How a container behaves, by the name of its image: the `images` of a scenario file.
//!
//! The simulation runs no programs, so this stands for everything that a program would do.
//! Kubernetes has nothing like it.
//!
//! `readyAfter` and Kubernetes' own rule, that a container without a readiness probe is ready as
//! soon as it runs, are kept both: without a probe the time is spent before the container counts as
//! running (it is `ContainerCreating` for so long); with one, it runs at once and its probes fail
//! until the time is over. A liveness probe that is too hasty kills it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::api::Str;
use crate::kernel::stable_hash;

/// How the containers of each image behave; the default where an image is not named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Images(pub BTreeMap<Str, ImageBehaviour>);

impl Images {
    /// How this image's containers behave. `web` and `web:latest` are the same image.
    pub fn behaviour(&self, image: &str) -> ImageBehaviour {
        if self.0.is_empty() {
            return ImageBehaviour::default();
        }
        let found = self.0.get(image).or_else(|| {
            let other = match image.strip_suffix(":latest") {
                Some(untagged) => untagged.to_string(),
                None => format!("{image}:latest"),
            };
            self.0.get(other.as_str())
        });
        found.copied().unwrap_or_default()
    }
}

/// How the containers of an image behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ImageBehaviour {
    /// How a pull of it ends, and when.
    pub pull: Pull,
    /// It ends by itself after it has run for so long; absent: it runs for ever (an init container
    /// for a second, since a pod would wait for it for ever otherwise).
    #[serde(with = "optional_span", skip_serializing_if = "Option::is_none")]
    pub exits_after: Option<Duration>,
    /// The exit code if it ends by itself.
    pub exit_code: i32,
    /// From its start until it does its work.
    #[serde(with = "span")]
    pub ready_after: Duration,
    /// From the signal to stop until it has stopped. Longer than the grace period: it is killed.
    #[serde(with = "span")]
    pub stops_after: Duration,
}

impl Default for ImageBehaviour {
    fn default() -> Self {
        ImageBehaviour {
            pull: Pull::Takes(Duration::from_secs(2)),
            exits_after: None,
            exit_code: 0,
            ready_after: Duration::from_secs(1),
            stops_after: Duration::from_secs(1),
        }
    }
}

/// How a pull ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// The image is there after this time.
    Takes(Duration),
    /// The registry has no such image.
    NotFound,
    /// The registry refuses it.
    Denied,
    /// The registry does not answer.
    Unreachable,
}

impl Pull {
    /// How long it takes, well or badly.
    pub fn duration(self) -> Duration {
        match self {
            Pull::Takes(span) => span,
            Pull::NotFound | Pull::Denied => Duration::from_secs(1),
            Pull::Unreachable => Duration::from_secs(5),
        }
    }

    /// What the runtime says of a pull that failed, in containerd's words.
    pub fn error(self, image: &str) -> Option<String> {
        let head = |code: &str, why: &str| {
            format!(
                "rpc error: code = {code} desc = failed to pull and unpack image {image:?}: \
                 failed to resolve reference {image:?}: {why}"
            )
        };
        let host = image.split('/').next().unwrap_or(image);
        match self {
            Pull::Takes(_) => None,
            Pull::NotFound => Some(head("NotFound", &format!("{image}: not found"))),
            Pull::Denied => Some(head(
                "Unknown",
                "pull access denied, repository does not exist or may require authorization: \
                 server message: insufficient_scope: authorization failed",
            )),
            Pull::Unreachable => Some(head(
                "Unknown",
                &format!(
                    "failed to do request: Head \"https://{host}/v2/\": dial tcp: i/o timeout"
                ),
            )),
        }
    }
}

/// The size of an image in bytes: made up, but always the same for the same name.
pub fn size_of(image: &str) -> u64 {
    20_000_000 + stable_hash(0, image.as_bytes()) % 180_000_000
}

/// The digest of an image, as `imageID` shows it: made up likewise.
pub fn digest_of(image: &str) -> String {
    let name = match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    };
    let words = [1, 2, 3, 4].map(|part| stable_hash(part, image.as_bytes()));
    let [a, b, c, d] = words;
    format!("{name}@sha256:{a:016x}{b:016x}{c:016x}{d:016x}")
}

impl fmt::Display for Pull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pull::Takes(span) => humantime::format_duration(*span).fmt(f),
            Pull::NotFound => f.write_str("notFound"),
            Pull::Denied => f.write_str("denied"),
            Pull::Unreachable => f.write_str("unreachable"),
        }
    }
}

impl Serialize for Pull {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "notFound" => Ok(Pull::NotFound),
            "denied" => Ok(Pull::Denied),
            "unreachable" => Ok(Pull::Unreachable),
            text => parse_span(text).map(Pull::Takes).map_err(|_| {
                de::Error::custom(format!(
                    "{text:?} is neither a time such as \"2s\" nor notFound, denied or unreachable"
                ))
            }),
        }
    }
}

/// A year: more than any run, and far from overflowing when spans are added.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

fn parse_span(text: &str) -> Result<Duration, String> {
    let span = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    Ok(span.min(LONGEST))
}

mod span {
    use super::*;

    pub fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*span))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_span(&text).map_err(|why| de::Error::custom(format!("{text:?} is no time: {why}")))
    }
}

mod optional_span {
    use super::*;

    pub fn serialize<S: Serializer>(
        span: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => super::span::serialize(span, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        super::span::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Images, String> {
        serde_yaml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_images_of_a_scenario_file_are_read() {
        let images = read(
            "web:missing: {pull: notFound}\n\
             web:crash: {exitsAfter: 3s, exitCode: 1}\n\
             web:slow: {pull: 1m30s, readyAfter: 20s}\n",
        )
        .expect("they are well formed");
        assert_eq!(images.behaviour("web:missing").pull, Pull::NotFound);
        let crash = images.behaviour("web:crash");
        assert_eq!(crash.exits_after, Some(Duration::from_secs(3)));
        assert_eq!(crash.exit_code, 1);
        let slow = images.behaviour("web:slow");
        assert_eq!(slow.pull, Pull::Takes(Duration::from_secs(90)));
        assert_eq!(slow.ready_after, Duration::from_secs(20));
        assert_eq!(images.behaviour("else"), ImageBehaviour::default());
        let again = serde_yaml::to_string(&images).expect("it can be written");
        assert_eq!(read(&again), Ok(images));
    }

    #[test]
    fn a_mistake_is_named() {
        let unknown = read("web: {pulls: 2s}\n").expect_err("no such key");
        assert!(unknown.contains("pulls"), "{unknown}");
        let no_time = read("web: {pull: soon}\n").expect_err("no time");
        assert!(no_time.contains("\"soon\""), "{no_time}");
    }

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        let images = read("web: {pull: 5s}\n").expect("it is well formed");
        let five = Pull::Takes(Duration::from_secs(5));
        assert_eq!(images.behaviour("web:latest").pull, five);
        assert_ne!(images.behaviour("web:1").pull, five);
    }
}
