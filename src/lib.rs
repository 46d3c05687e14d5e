//! Loopscope: a simulated Kubernetes control plane, edge-triggered beside level-triggered.
//!
//! The rooms, in the only direction in which they may know each other: `kernel`, `api` →
//! `apiserver` → `client` → `controllers`, `node` → `world` → `manifest`, `kubectl`, `scenario` →
//! `view` → `ui`. `tests/tidy.rs` holds the arrows.
//!
//! Invariants, in terms of what is absent: below `ui` there is no wall clock, no ambient
//! randomness, no order of a hash map and no float in what is hashed; nothing but the store hands
//! out a resourceVersion; a controller reads nothing but its own cache; the page changes no world.

pub mod api;
pub mod apiserver;
pub mod client;
pub mod controllers;
pub mod kernel;
pub mod kubectl;
pub mod manifest;
pub mod node;
pub mod scenario;
#[cfg(target_arch = "wasm32")]
pub mod ui;
pub mod view;
pub mod world;
