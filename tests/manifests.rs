//! Manifests: real ones from public repositories and bad ones with Kubernetes' answers, both read from
//! the folder beside the clone that holds them (`SHARED_DIR` names another one); and our own, which are
//! always there.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use loopscope::manifest::{self, Hint, Problem, Reading, Severity, Stage};
use serde_json::Value;

/// The folder with the manifests, if this machine has it.
fn shared() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
    let folders = [std::env::var("SHARED_DIR").ok(), Some(beside.into())];
    let mut manifests = folders.into_iter().flatten().map(|f| PathBuf::from(f).join("manifests"));
    let found = manifests.find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no folder ../shared/manifests beside the clone, and no SHARED_DIR");
    }
    found
}

fn index(path: PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    index["files"].as_array().unwrap().clone()
}

#[test]
fn dump() {
    let Some(folder) = shared() else { return };
    for file in index(folder.join("bad/index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join("bad").join(name)).unwrap();
        let start = Instant::now();
        let reading = manifest::read_bytes(&bytes);
        println!("== {name} {:?} {} docs; want {} line {} {}", start.elapsed(), reading.documents.len(), file["rejectedBy"], file["actualLineOfMistake"], file["expectedMessageContains"]);
        for p in &reading.problems { println!("   {:?} {:?} {}:{}-{} {} | {} | {:?}", p.severity, p.stage, p.line, p.column, p.end_column, p.path, p.message, p.hint); }
    }
    for file in index(folder.join("index.json")) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let start = Instant::now();
        let reading = manifest::read_bytes(&bytes);
        println!("== {name} {:?} {} docs; {}", start.elapsed(), reading.documents.len(), file["kubectlLocal"]);
        for p in reading.problems.iter().filter(|p| p.severity != Severity::Note) { println!("   {:?} {:?} {}:{}-{} {} | {} | {:?}", p.severity, p.stage, p.line, p.column, p.end_column, p.path, p.message, p.hint); }
    }
}
