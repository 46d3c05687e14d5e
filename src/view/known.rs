//! What was read off the whole run: it stays so until something new is told, however often and from
//! which moment it is asked for.

use std::cell::RefCell;
use std::sync::Arc;

use crate::world::Totals;

use super::costs::Cost;
use super::futures::Future;
use super::log::{Divergence, LogLine, Mark};
use super::stage::Stage;
use super::story::LogState;

/// A thing, with what it was read for: it is read again when that is another.
pub struct Known<K, T>(RefCell<Option<(K, T)>>);

impl<K, T> Default for Known<K, T> {
    fn default() -> Self {
        Known(RefCell::new(None))
    }
}

impl<K: PartialEq, T: Clone> Known<K, T> {
    /// What is known for this, else what is read now.
    pub fn get(&self, of: K, read: impl FnOnce() -> T) -> T {
        self.find(&of).unwrap_or_else(|| {
            let found = read();
            self.keep(of, found.clone());
            found
        })
    }

    /// What is known for this.
    pub fn find(&self, of: &K) -> Option<T> {
        self.0.borrow().as_ref().filter(|(key, _)| key == of).map(|(_, it)| it.clone())
    }

    /// From now on this is known.
    pub fn keep(&self, of: K, it: T) {
        *self.0.borrow_mut() = Some((of, it));
    }
}

/// All that a session keeps so, by `Run::told` if nothing else is said.
#[derive(Default)]
pub struct Readings {
    /// The stages of both lanes, edge first, by `Session::version`.
    pub stages: Known<u64, [Arc<Stage>; 2]>,
    /// The differing decisions.
    pub divergences: Known<u64, Arc<[Divergence]>>,
    /// The marks of the whole run.
    pub marks: Known<u64, Arc<[Mark]>>,
    /// The newest lines of the log.
    pub log: Known<LogState, Arc<[LogLine]>>,
    /// The costs, which go on while an action has not come to its end.
    pub costs: Known<(u64, Vec<Totals>), Arc<[Cost]>>,
    /// The other futures.
    pub futures: Known<u64, Arc<[Future]>>,
}
