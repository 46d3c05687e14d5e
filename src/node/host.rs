//! What the pods of a node share: its images, back-offs, addresses and numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::Str;
use crate::kernel::{Time, stable_hash};

use super::backoff::{Backoff, BackoffParameters, BackoffSettings};
use super::image::{ImageBehaviour, Pull};
use super::image_manager::ImageManager;

/// A container that crashes: pod uid, name and image. Another image is another container.
pub(super) type RestartKey = (Str, Str, Str);

/// What the pods of a node share.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub node_name: Str,
    /// The node's own address.
    pub ip: Str,
    pub restarts: Backoff<RestartKey>,
    pub image_manager: ImageManager,
    images: BTreeMap<Str, StoredImage>,
    subnet: u8,
    last_address: u32,
    last_number: u64,
}

/// An image on the node's disk, or on its way there.
#[derive(Clone, Copy, Debug, Default)]
struct StoredImage {
    is_present: bool,
    arrives: Option<Time>,
}

impl Host {
    pub fn new(node_name: Str) -> Host {
        let subnet = number_of(&node_name);
        Host {
            ip: format!("172.18.0.{}", 1 + u32::from(subnet).min(253)).into(),
            node_name,
            restarts: BackoffParameters::container_restart(BackoffSettings::default()).build(),
            image_manager: ImageManager::new(BackoffParameters::image_pull()),
            images: BTreeMap::new(),
            subnet,
            last_address: 1,
            last_number: 0,
        }
    }

    /// A number that was not given out before: for tokens and runs.
    pub fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// An address for a sandbox. They come round again after 253.
    pub fn next_address(&mut self) -> Str {
        self.last_address = self.last_address % 254 + 1;
        self.last_address = self.last_address.max(2);
        format!("10.244.{}.{}", self.subnet, self.last_address).into()
    }

    pub fn has_image(&self, image: &str) -> bool {
        self.images.get(image).is_some_and(|stored| stored.is_present)
    }

    /// A pull begins; returns how long it takes. Pods that want the same image share one, and what
    /// is there already is only compared with the registry.
    pub fn begin_pull(&mut self, image: &Str, how: ImageBehaviour, now: Time) -> Duration {
        let Pull::Takes(span) = how.pull else {
            return how.pull.duration();
        };
        let stored = self.images.entry(image.clone()).or_default();
        if stored.is_present {
            return span.min(COMPARE);
        }
        match stored.arrives {
            Some(arrives) if arrives >= now => arrives.since(now),
            _ => {
                stored.arrives = Some(now + span);
                span
            }
        }
    }

    pub fn image_arrived(&mut self, image: &Str) {
        let stored = self.images.entry(image.clone()).or_default();
        stored.is_present = true;
        stored.arrives = None;
    }

    /// The process ended: what it had only in memory is gone.
    pub fn forget_process(&mut self) {
        self.restarts.clear();
        self.image_manager.clear();
    }

    /// The node went off: pulls under way are lost, what is on the disk stays.
    pub fn lose_power(&mut self) {
        self.forget_process();
        for stored in self.images.values_mut() {
            stored.arrives = None;
        }
    }
}

/// How long it takes to find that an image has not changed.
const COMPARE: Duration = Duration::from_millis(500);

/// The number at the end of a node's name, or one made of it: `node-3` has the addresses
/// 10.244.3.x.
fn number_of(node_name: &str) -> u8 {
    let digits = node_name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let hashed = stable_hash(0, node_name.as_bytes()) % 256;
    digits.parse().unwrap_or_else(|_| u8::try_from(hashed).unwrap_or_default())
}
