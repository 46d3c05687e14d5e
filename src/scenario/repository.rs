//! The console's `git`: `git push` with the repository's new content as its standard input (all of
//! it, not a difference), `git revert` to push what was there before, `git log`.

use crate::api::Value;
use crate::manifest;
use crate::world::World;

/// Does a line.
pub fn perform(world: &mut World, line: &str, stdin: Option<&str>) -> Result<String, String> {
    let mut words = line.split_whitespace().skip(1);
    match words.next() {
        Some("push") => push(world, stdin.unwrap_or("")),
        Some("revert") => match world.repository().previous() {
            Some(manifests) => Ok(said(&world.push(manifests))),
            None => Err("there is nothing to go back to".into()),
        },
        Some("log") => {
            let names: Vec<String> = world
                .repository()
                .log()
                .map(|id| format!("{}\n", &id[..id.len().min(7)]))
                .collect();
            Ok(names.into_iter().rev().collect())
        }
        other => Err(format!("unknown git command {other:?}; there are push, revert, log")),
    }
}

/// Manifests are read as kubectl reads them; one that it would refuse refuses the push.
fn push(world: &mut World, text: &str) -> Result<String, String> {
    let reading = manifest::read(text);
    if let Some(problem) = reading.errors().next() {
        return Err(format!("line {}: {}", problem.line, problem.message));
    }
    let manifests: Vec<Value> =
        reading.documents.iter().map(|document| document.value.clone()).collect();
    Ok(said(&world.push(manifests)))
}

fn said(id: &str) -> String {
    format!("main -> {}\n", &id[..id.len().min(7)])
}
