//! Controllers that start when there is something for them: with the first object of the kind that
//! they look after. A run without such objects has no trace of them. In a real cluster they always
//! run, and find nothing.
//!
//! One that starts so has all that is stored in its cache at once, and looks at the objects that it
//! is for.

use std::sync::Arc;
use std::time::Duration;

use crate::api::custom::Served;
use crate::api::{Kind, Object, custom};
use crate::apiserver::Commit;
use crate::apiserver::custom::{kind_of, served};
use crate::controllers::{Change, ChangeKind};
use crate::kernel::Rng;

use super::ControllerId;
use super::options::Knobs;
use super::record::Cause;
use super::stream::Stream;
use super::world::World;

/// How often the quota controller counts everything again.
const QUOTA_RESYNC: Duration = Duration::from_secs(300);

/// Whether this object is one for which a controller starts.
fn is_for(id: ControllerId, object: &Object) -> bool {
    match id {
        ControllerId::Disruption => object.kind() == Kind::PodDisruptionBudget,
        ControllerId::ResourceQuota => object.kind() == Kind::ResourceQuota,
        ControllerId::Namespace => {
            object.kind() == Kind::Namespace && object.meta().is_terminating()
        }
        _ => false,
    }
}

/// The knobs of a controller where a scenario leaves them alone.
pub(super) fn knobs(id: ControllerId, mut knobs: Knobs) -> Knobs {
    if id == ControllerId::ResourceQuota && knobs.resync_period.is_zero() {
        knobs.resync_period = QUOTA_RESYNC;
    }
    knobs
}

impl World {
    /// Starts what these commits give work, and watches the kinds that they define.
    pub(super) fn start_on_demand(&mut self, commits: &[Commit]) {
        let is_definition =
            |commit: &Commit| commit.object().kind() == Kind::CustomResourceDefinition;
        if commits.iter().any(is_definition) {
            self.served = served(self.api.store().list(Kind::CustomResourceDefinition));
        }
        for commit in commits {
            let Some(object) = commit.after.as_ref() else { continue };
            if object.kind() == Kind::CustomResourceDefinition {
                self.watch_defined(object);
            }
            for id in ControllerId::ON_DEMAND {
                if is_for(id, object) && !self.processes.contains_key(&id) {
                    self.add_process(id);
                    self.watch_all_defined(id);
                    self.give_first_look(id);
                }
            }
        }
    }

    fn give_first_look(&mut self, id: ControllerId) {
        let objects: Vec<Arc<Object>> =
            self.api.store().all().filter(|object| is_for(id, object)).cloned().collect();
        if self.processes.get(&id).is_none_or(|process| !process.alive) {
            return;
        }
        for object in objects {
            let change = Change { kind: ChangeKind::Added, before: None, object };
            self.hand_over(id, change, Cause::List);
        }
    }

    /// A kind that was just defined: those that look at everything watch it too.
    fn watch_defined(&mut self, definition: &Object) {
        let Some(kind) = definition.as_generic().and_then(kind_of) else { return };
        for id in
            [ControllerId::GarbageCollector, ControllerId::Namespace, ControllerId::ResourceQuota]
        {
            if self.processes.contains_key(&id) {
                self.watch_more(id, kind);
            }
        }
    }

    fn watch_all_defined(&mut self, id: ControllerId) {
        if id == ControllerId::Disruption {
            return;
        }
        let kinds: Vec<Kind> = self.served.iter().map(|served| served.kind).collect();
        for kind in kinds {
            let stream = self.watch_more(id, kind);
            stream.into_iter().for_each(|index| self.take_first_list(index));
        }
    }

    /// Opens one watch more, if there is none yet; its number.
    fn watch_more(&mut self, id: ControllerId, kind: Kind) -> Option<usize> {
        let known = |stream: &Stream| stream.owner == id && stream.kind == kind;
        if self.streams.iter().any(known) {
            return None;
        }
        let name = format!("watch/{}/{}/{}", id.name(), kind.info().kind, kind.group());
        let rng = Rng::stream(self.options.seed, &name);
        let index = self.streams.len();
        let process = self.processes.get_mut(&id)?;
        process.streams.push(index);
        let (alive, order) = (process.alive, process.knobs.informer_queue);
        let revision = self.api.store().revision();
        self.stream_index.note(index, kind, None);
        self.streams.push(Stream::new((id, kind, None), revision, alive, order, rng));
        Some(index)
    }

    /// The kinds that users defined here.
    pub fn served(&self) -> Arc<[Served]> {
        self.served.clone()
    }

    /// Does a step while owners of defined kinds are known by their names.
    pub(super) fn knowing_defined(&mut self, act: impl FnOnce(&mut World)) {
        if self.served.is_empty() {
            return act(self);
        }
        let kinds = self.served.clone();
        custom::serving(kinds, || act(self));
    }
}
