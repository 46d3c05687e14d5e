//! An API server of the simulation with no controller behind it.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, Str, Timestamp};
use loopscope::apiserver::{ApiServer, Request, Response};
use loopscope::kernel::Time;
use loopscope::kubectl::{self, Api, Output};
use serde_json::json;

/// A cluster of two nodes.
#[derive(Clone)]
pub struct Cluster {
    server: ApiServer,
    now: Time,
}

impl Cluster {
    pub fn new(now: Time) -> Cluster {
        let mut cluster = Cluster { server: ApiServer::new(1), now };
        for name in ["node-1", "node-2"] {
            let node = json!({"metadata": {"name": name}});
            let node = Object::from_value(Kind::Node, node).unwrap();
            cluster.request(Request::Create(Arc::new(node))).unwrap();
        }
        cluster
    }

    pub fn run(&mut self, line: &str, stdin: &str) -> Output {
        kubectl::run(line, Some(stdin), self)
    }
}

impl Api for Cluster {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.server.store().get(key).cloned()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let inside = |o: &&Arc<Object>| namespace.is_none_or(|name| *o.meta().namespace == *name);
        self.server.store().list(kind).filter(inside).cloned().collect()
    }

    fn request(&mut self, request: Request) -> Response {
        self.server.handle(&request, self.now)
    }

    fn dry_run(&self, request: &Request) -> Response {
        self.server.clone().handle(request, self.now)
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.now)
    }

    fn logs(&self, _: &ObjectKey, _: &Str) -> Option<Vec<String>> {
        None
    }
}
