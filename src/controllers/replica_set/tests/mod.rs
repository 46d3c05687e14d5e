//! Both flavours against a cluster in miniature.

mod agreement;
mod edge;
mod lab;
mod level;
