//! `wait`: one object after the other, until each is as wanted or the time is over.

use std::sync::Arc;

use crate::api::{Object, ObjectKey};
use crate::apiserver::Commit;
use crate::kubectl::command::{Select, Wait, Which};
use crate::kubectl::resources::{find, key_of, resource};
use crate::kubectl::wait::holds;
use crate::kubectl::{Api, Output};

/// A wait.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    wait: Wait,
    items: Vec<Item>,
    /// The number of the one that is waited for now.
    next: usize,
}

#[derive(Clone, Debug)]
struct Item {
    key: ObjectKey,
    object: Option<Arc<Object>>,
    /// Whether it went once: another one of its name is not the one that was meant.
    went: bool,
}

impl Waiting {
    /// Looks at how things stand. True: it is over.
    pub fn begin(select: &Select, wait: &Wait, api: &dyn Api, out: &mut Output) -> (Waiting, bool) {
        let mut waiting = Waiting { wait: wait.clone(), items: Vec::new(), next: 0 };
        let mut is_gone = false;
        for (target, found) in select.targets.iter().zip(find(select, api)) {
            match (found.missing, wait, &target.which) {
                (None, ..) => {}
                (Some(_), Wait::Delete, _) => is_gone = true,
                (Some(_), Wait::Create, Which::Name(name)) => {
                    waiting.add(key_of(target.kind, name, select), None);
                }
                (Some(_), Wait::Create, Which::Key(key)) => waiting.add(key.clone(), None),
                (Some(missing), ..) => {
                    out.fail(missing);
                    return (waiting, true);
                }
            }
            found.objects.into_iter().for_each(|object| waiting.add(object.key(), Some(object)));
        }
        if waiting.items.is_empty() && !is_gone {
            out.fail("error: no matching resources found");
        }
        let is_over = waiting.go_on(out);
        (waiting, is_over)
    }

    fn add(&mut self, key: ObjectKey, object: Option<Arc<Object>>) {
        self.items.push(Item { key, object, went: false });
    }

    /// Takes a change. True: it is over.
    pub fn change(&mut self, commit: &Commit, out: &mut Output) -> bool {
        let changed = commit.object();
        let is_it = |item: &&mut Item| item.key.kind == changed.kind() && item.key == changed.key();
        let Some(item) = self.items.iter_mut().find(is_it) else { return false };
        item.went |= commit.after.is_none();
        item.object = commit.after.clone();
        self.go_on(out)
    }

    /// Says of each object that is as wanted that it is, up to the first that is not.
    fn go_on(&mut self, out: &mut Output) -> bool {
        while let Some(item) = self.items.get(self.next) {
            let met = match (&self.wait, &item.object) {
                (Wait::Delete, object) => Ok(item.went || object.is_none()),
                (_, None) => Ok(false),
                (wait, Some(object)) => holds(object, wait),
            };
            match met {
                Ok(false) => return false,
                Ok(true) => {
                    out.line(format!("{}/{} condition met", item.key.kind.printed(), item.key.name))
                }
                Err(error) => out.fail(format!("error: {error}")),
            }
            self.next += 1;
        }
        true
    }

    /// Says that the time is over.
    pub fn is_late(&self, out: &mut Output) {
        let words = "error: timed out waiting for the condition";
        let left = self.items.get(self.next..).unwrap_or_default();
        if self.wait == Wait::Create {
            return out.fail(words);
        }
        for Item { key, .. } in left {
            out.fail(format!("{words} on {}/{}", resource(key.kind), key.name));
        }
    }
}
