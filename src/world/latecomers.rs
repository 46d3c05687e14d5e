//! Controllers and watches that begin with the first object that concerns them. In a real cluster
//! they run from the start and have nothing to do; here a run without such objects need not carry
//! them, and goes as it would without them.

use crate::api::Kind;
use crate::apiserver::Commit;

use super::ControllerId;
use super::stream::Stream;
use super::world::World;
use crate::kernel::Rng;

/// Controllers, each with the kind whose first object calls it.
pub const LATECOMERS: [(ControllerId, Kind); 5] = [
    (ControllerId::Job, Kind::Job),
    (ControllerId::StatefulSet, Kind::StatefulSet),
    (ControllerId::CronJob, Kind::CronJob),
    (ControllerId::DaemonSet, Kind::DaemonSet),
    (ControllerId::EndpointSlice, Kind::Service),
];

/// Kinds that a controller watches only from their first object on.
const LATE_WATCHES: [(ControllerId, Kind); 2] = [
    (ControllerId::GarbageCollector, Kind::ControllerRevision),
    (ControllerId::GarbageCollector, Kind::EndpointSlice),
];

impl World {
    /// Calls whom this commit concerns for the first time.
    pub(super) fn call_latecomers(&mut self, commit: &Commit) {
        let kind = commit.object().kind();
        for (id, own) in LATECOMERS {
            if own == kind {
                self.call(id, commit.revision);
            }
        }
        for (id, watched) in LATE_WATCHES {
            if watched == kind {
                self.watch_late(id, kind, commit.revision);
            }
        }
    }

    /// Calls the controllers of this name, before there is anything to do for them.
    pub(super) fn call_by_name(&mut self, name: &str) {
        let revision = self.store().revision() + 1;
        let named = LATECOMERS.iter().filter(|(id, _)| id.name() == name);
        named.for_each(|(id, _)| self.call(*id, revision));
    }

    /// Starts a controller as if it had been there always: it knows what there was before
    /// `revision`, and hears of everything from there on.
    fn call(&mut self, id: ControllerId, revision: u64) {
        if self.processes.contains_key(&id) {
            return;
        }
        self.add_process(id);
        for index in self.streams_owned_by(id) {
            self.streams[index].revision = revision - 1;
            self.streams[index].delivered = revision - 1;
        }
    }

    fn watch_late(&mut self, id: ControllerId, kind: Kind, revision: u64) {
        let watches = |stream: &Stream| stream.owner == id && stream.kind == kind;
        let Some(process) = self.processes.get(&id) else { return };
        if self.streams.iter().any(watches) {
            return;
        }
        let (open, name) = (process.alive, format!("watch/{}/{}", id.name(), kind.info().kind));
        let rng = Rng::stream(self.options.seed, &name);
        self.stream_index.note(self.streams.len(), kind, None);
        self.streams.push(Stream::new(id, kind, None, revision - 1, open, rng));
    }
}
