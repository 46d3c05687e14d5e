//! Edge: what one change asks for. The ledger is the revision that was pushed last, and the objects
//! that wait for self-heal's back-off.

use crate::api::{Kind, Object, ObjectKey};
use crate::controllers::{Change, Context, Deed, Plan, here};

use std::sync::Arc;

use super::application::{Operation, Revision, Spec, operation, wants_refresh};
use super::auto_sync::Answer;
use super::compare::{Live, Resource, compare, desired};
use super::operate::{Found, unknown};
use super::{GitOps, act, answer, application, drop_refresh, finalize, named, reads};

/// Which objects a reaction is about.
type Minds<'a> = &'a dyn Fn(&Resource) -> bool;

impl GitOps {
    /// The Application that a change concerns.
    pub fn concerns(&self, change: &Change) -> Option<ObjectKey> {
        let key = change.key();
        match key.kind {
            // A webhook names the Application.
            Kind::GitRevision => Some(ObjectKey { kind: Kind::Application, ..key }),
            _ => self.concerned(change).into_iter().next(),
        }
    }

    /// One change.
    pub fn on_change(&mut self, change: &Change, cx: &Context) -> Plan {
        let Some(key) = self.concerns(change) else { return Plan::default() };
        match change.object.kind() {
            Kind::Application => self.application_changed(&key, change, cx),
            Kind::GitRevision => self.pushed(&key, change, cx),
            _ => self.object_changed(&key, change, cx),
        }
    }

    fn application_changed(&mut self, key: &ObjectKey, change: &Change, cx: &Context) -> Plan {
        if change.is_deletion() {
            self.applications.remove(key);
            return Plan::default();
        }
        let object = &change.object;
        if object.meta().is_terminating() {
            return finalize(object, cx).by(here!());
        }
        let Some(generic) = object.as_generic() else { return Plan::default() };
        let spec = |object: &Arc<Object>| object.as_generic().map(Spec::read);
        let same = change.before.as_ref().is_some_and(|before| spec(before) == spec(object));
        let asked = wants_refresh(object) || operation(generic).is_some();
        if same && !asked {
            return Plan::default().by(here!());
        }
        let state = self.applications.entry(key.clone()).or_default();
        if state.head.is_none() || asked {
            return reads(generic).by(here!());
        }
        self.react(key, cx, &|_| true).by(here!())
    }

    /// The repository has answered: the whole Application is brought into step.
    pub fn go_on(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let Some((object, generic)) = application(key, cx) else { return Plan::default() };
        let state = self.applications.entry(key.clone()).or_default();
        let told = state.head.clone();
        if let Err(error) = state.take_answer(key, cx) {
            return unknown(object, generic, &error).by(here!());
        }
        let read = state.head.as_ref().map_or(0, |head| head.number);
        if operation(generic).is_none() && told.as_ref().is_some_and(|told| told.number > read) {
            // A push came while the answer was under way.
            state.head = told;
        }
        let mut plan = self.react(key, cx, &|_| true);
        drop_refresh(object, &mut plan);
        plan.by(here!())
    }

    /// A push: what the commit changed.
    fn pushed(&mut self, key: &ObjectKey, change: &Change, cx: &Context) -> Plan {
        let Some(new) = Revision::read(&change.object).map(Arc::new) else {
            return Plan::default();
        };
        let Some((_, generic)) = application(key, cx) else { return Plan::default() };
        let spec = Spec::read(generic);
        let state = self.applications.entry(key.clone()).or_default();
        let Some(old) = state.head.replace(new) else {
            return self.react(key, cx, &|_| true).by(here!());
        };
        let before = desired(&old, &spec);
        let touched = |resource: &Resource| match &resource.desired {
            Some(object) => !before.contains(object),
            None => before.iter().any(|object| object.key() == resource.key),
        };
        self.react(key, cx, &touched).by(here!())
    }

    /// An object has changed: it is put right, if that is wanted.
    fn object_changed(&mut self, key: &ObjectKey, change: &Change, cx: &Context) -> Plan {
        let Some(state) = self.applications.get_mut(key) else { return Plan::default() };
        let object = change.key();
        if let Some(version) = state.written.get(&object) {
            if change.object.meta().resource_version < *version {
                // Its own write is still to come.
                return Plan::default().by(here!());
            }
            state.written.remove(&object);
        }
        self.react(key, cx, &|resource| resource.key == object).by(here!())
    }

    /// The back-off of self-heal is over.
    pub fn on_timer(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let Some(state) = self.applications.get_mut(key) else { return Plan::default() };
        state.timer = false;
        let owed = std::mem::take(&mut state.owed);
        self.react(key, cx, &|resource| owed.contains(&resource.key)).by(here!())
    }

    /// What is left of a sync that failed: the same objects, as they are now.
    pub fn on_resume(&mut self, plan: Plan, cx: &Context) -> Plan {
        let Some(key) = plan.finish.as_ref().map(|finish| finish.before.key()) else {
            return plan;
        };
        let intents = plan.batches.iter().flatten();
        let asked: Vec<ObjectKey> = intents
            .filter(|intent| matches!(intent.deed, Deed::Apply | Deed::Prune))
            .map(|intent| intent.request.key())
            .collect();
        let prune = plan.batches.iter().flatten().any(|intent| intent.deed == Deed::Prune);
        self.with_found(&key, cx, |found| {
            let chosen = found.resources.iter().filter(|r| asked.contains(&r.key));
            let resources = named(chosen);
            if resources.is_empty() {
                return found.look(None);
            }
            let automated = true;
            found.carry_out(&Operation { prune, resources, automated, ..Operation::default() }, 0)
        })
    }

    /// Does what the policy says about the objects that are minded; the status tells of all.
    fn react(&mut self, key: &ObjectKey, cx: &Context, minds: Minds) -> Plan {
        let mut owed = Vec::new();
        let mut plan = self.with_found(key, cx, |found| {
            let off: Vec<&Resource> =
                found.resources.iter().filter(|r| !r.synced && minds(r)).collect();
            if operation(found.generic).is_some() {
                return act(found);
            }
            if off.is_empty() {
                return found.look(None).by(here!());
            }
            match answer(found) {
                Answer::Sync { prune, attempt } => {
                    let resources = named(off.iter().copied());
                    let automated = true;
                    let revision = "".into();
                    let operation = Operation { revision, prune, resources, automated, attempt };
                    found.carry_out(&operation, 0).by(here!())
                }
                Answer::Wait(left) => {
                    owed = off.iter().map(|resource| resource.key.clone()).collect();
                    let mut plan = found.look(None);
                    plan.requeue_after = Some(left);
                    plan.by(here!())
                }
                Answer::Refuse(why) => found.look(Some(why)).by(here!()),
                Answer::Leave => found.look(None).by(here!()),
            }
        });
        if let Some(state) = self.applications.get_mut(key).filter(|_| !owed.is_empty()) {
            state.owed.extend(owed);
            if std::mem::replace(&mut state.timer, true) {
                plan.requeue_after = None;
            }
        }
        plan
    }

    /// Compares by the revision that was told last, and decides.
    fn with_found(
        &mut self,
        key: &ObjectKey,
        cx: &Context,
        decide: impl FnOnce(&Found) -> Plan,
    ) -> Plan {
        let Some((object, generic)) = application(key, cx) else { return Plan::default() };
        let state = self.applications.entry(key.clone()).or_default();
        let Some(head) = state.head.clone() else { return reads(generic) };
        let spec = Spec::read(generic);
        let resources = compare(&object.meta().name, &spec, &head, &Live::Cache(cx.cache));
        let (spec, resources, now) = (&spec, &resources[..], cx.now);
        let found = Found { object, generic, spec, revision: &head.id, resources, now };
        let plan = decide(&found);
        let idle = plan.batches.is_empty() && plan.finish.is_none();
        if idle && plan.requeue_after.is_none() { Plan::default() } else { plan }
    }
}
