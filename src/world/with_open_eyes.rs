//! What a loop would have seen had its cache held what the API server holds: the truth beside what
//! a pass went by. Asked when somebody looks at a pass closely, of the world as it was then.

use std::sync::Arc;

use crate::api::{Object, ObjectKey};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context, Fact};

use super::ControllerId;
use super::mind::Mind;
use super::world::World;

impl World {
    /// What the loop's own comparison makes of the store. None for loops that go by more than the
    /// store holds: the time of the last lease that they saw, the containers of a machine; and for
    /// those that ask first (metrics, a repository, a payment provider): what they were answered is
    /// true.
    pub fn seen_with_open_eyes(&self, id: ControllerId, key: &ObjectKey) -> Option<Fact> {
        if !goes_by_the_store(id) {
            return None;
        }
        let kinds = Mind::kinds(id).iter();
        let held: Vec<Arc<Object>> =
            kinds.flat_map(|kind| self.store().list(*kind)).cloned().collect();
        let mut cache = Cache::default();
        for object in &held {
            cache.put(object.clone());
        }
        let (now, seed) = (self.now(), self.options.seed);
        let cx = Context { cache: &cache, now, seed, promises_kept: true };
        let mut mind = Mind::of(id);
        for object in held {
            mind.wakes(&Change { kind: ChangeKind::Added, before: None, object }, &cx);
        }
        Some(mind.sync(key, &cx).sees).filter(|fact| *fact != Fact::None)
    }
}

fn goes_by_the_store(id: ControllerId) -> bool {
    !matches!(
        id.role(),
        ControllerId::Kubelet(_)
            | ControllerId::NodeLifecycle
            | ControllerId::HorizontalAutoscaler
            | ControllerId::GitOps
            | ControllerId::Order
            | ControllerId::Operator
    )
}
