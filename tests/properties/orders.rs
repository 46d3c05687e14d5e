//! Laws of Orders and the payment provider beside the cluster.

use std::time::Duration;

use loopscope::controllers::order::object::{Order, kind};
use loopscope::controllers::order::payment::State;
use loopscope::kernel::{Rng, Time};
use loopscope::scenario::shell;
use loopscope::world::{Fault, Flavour, Lane, LaneId, Options, Verdict, World};

use super::{PLENTY, seeds};
