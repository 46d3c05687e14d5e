//! client-go's parts: caches, queues, limiters.

pub mod cache;

pub use cache::Cache;
