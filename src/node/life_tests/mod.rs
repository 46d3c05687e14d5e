//! The lives of pods on one node, told as tests.

mod bench;
mod deletion;
mod faults;
mod init;
mod probes;
mod restarts;
mod starting;
