//! Controllers that run only where there is something for them: an autoscaler, an Application. So
//! a run without them is the same as if they did not exist.

use crate::api::Kind;
use crate::apiserver::Request;

use super::ControllerId;
use super::world::World;

impl World {
    /// Starts the controller of an object that is about to be created, the first of its kind.
    pub(super) fn start_on_demand(&mut self, request: &Request) {
        let Request::Create(object) = request else { return };
        let id = match object.kind() {
            Kind::HorizontalPodAutoscaler => ControllerId::HorizontalAutoscaler,
            Kind::Application => ControllerId::GitOps,
            _ => return,
        };
        if self.process(id).is_some() {
            return;
        }
        self.add_process(id);
        if id == ControllerId::HorizontalAutoscaler {
            self.start_metrics();
        }
    }
}
