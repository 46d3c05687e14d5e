//! What a controller links in to talk to the API server: client-go's caches, queues and limiters,
//! and the expectations that controllers keep beside them. All of it is plain data on virtual time:
//! nothing here waits, sleeps or runs by itself, and every part can be cloned with the world.

pub mod cache;
pub mod change;
pub mod delaying_queue;
pub mod delta;
pub mod delta_queue;
pub mod event_correlator;
pub mod expectations;
pub mod in_order_queue;
pub mod informer;
pub mod pod_groups;
pub mod rate_limiter;
pub mod rate_limiting_queue;
pub mod reflector;
pub mod work_queue;

pub use cache::Cache;
