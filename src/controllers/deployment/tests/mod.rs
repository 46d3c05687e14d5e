//! The controller beside a real API server, with ReplicaSets and pods that are played.

mod agreement;
mod edge;
mod lane;
mod level;
