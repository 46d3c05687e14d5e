//! `rollout status`: a line for each change of the object, until the rollout is complete.

use std::sync::Arc;

use crate::api::{Object, ObjectKey};
use crate::apiserver::Commit;
use crate::kubectl::command::Select;
use crate::kubectl::resources::{find, nothing_found};
use crate::kubectl::rollout::status_of;
use crate::kubectl::{Api, Output};

/// Rollouts that are followed one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rollout {
    revision: i64,
    objects: Vec<(ObjectKey, Option<Arc<Object>>)>,
    next: usize,
}

impl Rollout {
    /// Says how far they have come. True: it is over.
    pub fn begin(
        select: &Select,
        revision: i64,
        api: &dyn Api,
        out: &mut Output,
    ) -> (Rollout, bool) {
        let mut objects = Vec::new();
        let mut any = false;
        for found in find(select, api) {
            any |= found.missing.is_some();
            found.missing.into_iter().for_each(|missing| out.fail(missing));
            objects.extend(found.objects.into_iter().map(|object| (object.key(), Some(object))));
        }
        if objects.is_empty() && !any {
            nothing_found(select, out);
        }
        let mut rollout = Rollout { revision, objects, next: 0 };
        let is_over = rollout.go_on(out);
        (rollout, is_over)
    }

    /// Takes a change. True: it is over.
    pub fn change(&mut self, commit: &Commit, out: &mut Output) -> bool {
        let changed = commit.object();
        let is_it = |(key, _): &(ObjectKey, _)| key.kind == changed.kind() && *key == changed.key();
        let Some(at) = self.objects.iter().position(is_it) else { return false };
        self.objects[at].1 = commit.after.clone();
        at == self.next && self.go_on(out)
    }

    /// Says how far the rollout has come that is followed, and if that is its end, the next one.
    fn go_on(&mut self, out: &mut Output) -> bool {
        while let Some((_, object)) = self.objects.get(self.next) {
            match object.as_ref().map(|object| status_of(object, self.revision)) {
                None => out.fail("error: object has been deleted"),
                Some(Err(error)) => out.fail(error),
                Some(Ok((text, is_done))) => {
                    out.line(text);
                    if !is_done {
                        return false;
                    }
                }
            }
            self.next += 1;
        }
        true
    }
}
