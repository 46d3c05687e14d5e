//! An API server that only counts and refuses as a case says, and objects for it.

use std::sync::Arc;

use loopscope::api::{
    Kind, Object, ObjectKey, OwnerReference, Pod, ReplicaSet, Str, StrMap, Timestamp,
};
use loopscope::apiserver::{ApiError, Part, Reason, Request, Response};
use loopscope::client::expectations::UidTrackingExpectations;
use loopscope::controllers::{PassRun, Plan, Step, promises};
use loopscope::kernel::Time;

pub const NOW: Time = Time::from_secs(60);

/// What was asked, and what is refused.
#[derive(Default)]
pub struct Api {
    pub create_calls: usize,
    pub created: Vec<Arc<Object>>,
    pub deleted: Vec<ObjectKey>,
    pub patches: usize,
    pub gets: usize,
    pub status_updates: Vec<Arc<Object>>,
    /// Sizes of the batches of creations that were started.
    pub batches: Vec<usize>,
    /// Creations beyond this number are refused.
    pub creations_at_most: Option<usize>,
    pub patch_error: Option<String>,
    pub status_error: bool,
    /// What a read of the ReplicaSet finds.
    pub live: Option<Arc<Object>>,
}

impl Api {
    fn answer(&mut self, request: &Request) -> Response {
        let refused = |message: &str| Err(ApiError::new(Reason::InternalError, message));
        match request {
            Request::Create(object) => {
                self.create_calls += 1;
                if self.creations_at_most.is_some_and(|most| self.created.len() >= most) {
                    return refused("fake create error");
                }
                let mut object = Object::clone(object);
                let name: Str = format!("pod-{}", self.created.len()).into();
                object.meta_mut().uid = name.clone();
                object.meta_mut().name = name;
                self.created.push(Arc::new(object));
                Ok(self.created[self.created.len() - 1].clone())
            }
            Request::Delete(key, _) => {
                self.deleted.push(key.clone());
                Ok(Arc::new(Object::from(Pod::default())))
            }
            Request::Patch(..) => {
                self.patches += 1;
                match &self.patch_error {
                    Some(message) => refused(message),
                    None => Ok(Arc::new(Object::from(Pod::default()))),
                }
            }
            Request::Update(Part::Status, object) => {
                self.status_updates.push(object.clone());
                if self.status_error {
                    return refused("fake status error");
                }
                Ok(object.clone())
            }
            Request::Get(key) => {
                self.gets += 1;
                let gone = || ApiError::not_found(key.kind, &key.name);
                self.live.clone().ok_or_else(gone)
            }
            other => refused(&format!("unexpected {:?}", other.verb())),
        }
    }

    /// Carries a plan out. Gives back its error.
    pub fn run(
        &mut self,
        key: &ObjectKey,
        plan: Plan,
        expectations: &mut UidTrackingExpectations,
    ) -> Option<String> {
        if let Some(promise) = &plan.promise {
            promises::expect(promise, key, expectations, NOW);
        }
        let mut run = PassRun::new(plan);
        loop {
            match run.next(NOW) {
                Step::Send(requests) => {
                    if matches!(requests[0], Request::Create(_)) {
                        self.batches.push(requests.len());
                    }
                    for (index, request) in requests.iter().enumerate() {
                        run.answer(index, &self.answer(request));
                    }
                    promises::give_up(&run.take_broken_promises(), key, expectations);
                }
                Step::Wait => return Some("a request was not answered".into()),
                Step::Ended(ended) => {
                    promises::give_up(&run.take_broken_promises(), key, expectations);
                    return ended.error;
                }
            }
        }
    }
}

/// A set of which `selector` is the selector and the labels of the template.
pub fn replica_set(namespace: &str, name: &str, selector: Option<&StrMap>) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.metadata.namespace = namespace.into();
    set.metadata.name = name.into();
    set.metadata.uid = uid_of(name);
    set.metadata.resource_version = 1;
    let labels = selector.cloned().unwrap_or_default();
    set.spec.selector.match_labels = labels.clone();
    set.spec.template.metadata.labels = labels;
    set
}

pub fn uid_of(name: &str) -> Str {
    format!("uid-of-{name}").into()
}

pub fn pod(namespace: &str, name: &str, labels: &StrMap, controller: Option<&str>) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = namespace.into();
    pod.metadata.name = name.into();
    pod.metadata.uid = format!("uid-of-pod-{name}").into();
    pod.metadata.labels = labels.clone();
    if let Some(controller) = controller {
        let owner = replica_set(namespace, controller, None);
        let owner = OwnerReference::controller_of(Kind::ReplicaSet, &owner.metadata);
        pod.metadata.owner_references = [owner].into();
    }
    pod
}

pub fn deletion_timestamp(set: bool) -> Option<Timestamp> {
    set.then(|| Timestamp::from(NOW))
}
