//! CustomResourceDefinitions and the objects of the kinds that they define
//! (`staging/src/k8s.io/apiextensions-apiserver` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>).
//!
//! Which kinds a server serves is read off its CustomResourceDefinitions at each request. What
//! differs: names are accepted and a kind is established in the same write that makes its
//! definition (a controller does it in Kubernetes, a moment later); all objects are kept and shown
//! in the version that was stored first, and a manifest in another served version is read as that
//! one (conversion `None`). Left out: CEL rules (`x-kubernetes-validations`), defaults inside
//! `allOf`, ratcheting, conversion webhooks, selectable fields.

pub mod definition;
pub mod objects;
pub mod pattern;
pub mod schema;
#[cfg(test)]
mod tests;

pub use definition::{kind_of, served};
