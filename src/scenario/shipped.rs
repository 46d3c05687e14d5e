//! The scenarios that ship with the page.

use super::scenario::Scenario;

/// A scenario file that ships.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name in a link.
    pub id: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The name of the one that the page opens with.
pub const DEFAULT: &str = SHIPPED[0].id;

macro_rules! files {
    ($($id:literal)*) => {
        const SHIPPED: &[Shipped] =
            &[$(Shipped { id: $id, text: include_str!(concat!("shipped/", $id, ".yaml")) }),*];
    };
}

files! {
    "lost-event"
    "doubled-event"
    "controller-killed"
    "apply-is-not-running"
    "node-lost"
    "rolling-update"
    "killed-half-way"
    "lost-on-the-wire"
    "same-yaml-ten-times"
    "load-spike"
    "autoscaler-against-gitops"
    "job-backoff"
    "statefulset-stuck"
    "order-lost-webhook"
    "order-doubled-charge"
    "storm"
}

/// All scenarios that ship.
pub fn shipped() -> &'static [Shipped] {
    SHIPPED
}

impl Shipped {
    /// The one that the page opens with.
    pub fn default_one() -> &'static Shipped {
        &SHIPPED[0]
    }

    /// The one of this name.
    pub fn find(id: &str) -> Option<&'static Shipped> {
        SHIPPED.iter().find(|shipped| shipped.id == id)
    }

    /// Reads it. What ships is tested, so this fails only if the program was built wrongly.
    pub fn load(&self) -> Scenario {
        Scenario::read(self.id, self.text).unwrap_or_else(|error| {
            debug_assert!(false, "{}: {error}", self.id);
            Scenario::read(self.id, "title: broken\n").unwrap_or_else(|_| unreachable!())
        })
    }
}
