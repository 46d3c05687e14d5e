//! `crowd N`, with a manifest on standard input: makes each of its objects N times, with its number
//! after its name. For loads that no file could hold: a scenario's `crowd` is done so.

use std::sync::Arc;

use crate::api::custom;
use crate::apiserver::Request;
use crate::manifest;
use crate::world::World;

use super::format::CROWD_MAX;

/// Does the line. The error says what is wrong, without `error: `.
pub fn perform(world: &mut World, line: &str, stdin: Option<&str>) -> Result<String, String> {
    let count = line.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    let count = count.filter(|count| (1..=CROWD_MAX).contains(count));
    let count = count.ok_or_else(|| format!("crowd: takes a number from 1 to {CROWD_MAX}"))?;
    let text = stdin.ok_or("crowd: takes a manifest on standard input")?;
    let reading = custom::serving(world.served(), || manifest::read(text));
    if let Some(refusal) = reading.refusals.first() {
        return Err(format!("crowd: {}", refusal.trim_start_matches("error: ")));
    }
    let mut made = 0;
    for document in &reading.documents {
        for number in 1..=count {
            let mut object = (*document.object).clone();
            let meta = object.meta_mut();
            meta.name = format!("{}-{number}", meta.name).into();
            let created = world.request(&Request::Create(Arc::new(object)));
            created.map_err(|error| format!("crowd: {}, after {made} objects", error.message))?;
            made += 1;
        }
    }
    Ok(format!("{made} objects created\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::world::Options;

    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n";

    #[test]
    fn each_object_is_made_so_many_times_under_names_of_its_own() {
        let mut world = World::new(Options::default());
        let told = perform(&mut world, "crowd 3", Some(MAP));
        assert_eq!(told.as_deref(), Ok("3 objects created\n"));
        let names: Vec<String> =
            world.store().list(Kind::ConfigMap).map(|map| map.meta().name.to_string()).collect();
        let ours: Vec<_> = names.iter().filter(|name| name.starts_with("one")).collect();
        assert_eq!(ours, ["one-1", "one-2", "one-3"]);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let mut world = World::new(Options::default());
        for (line, stdin, word) in [
            ("crowd", Some(MAP), "a number"),
            ("crowd 0", Some(MAP), "a number"),
            ("crowd 99999", Some(MAP), "5000"),
            ("crowd 2", None, "standard input"),
            ("crowd 2", Some("a: ["), "crowd"),
        ] {
            let error = perform(&mut world, line, stdin).expect_err(line);
            assert!(error.contains(word), "{line}: {error}");
        }
        perform(&mut world, "crowd 2", Some(MAP)).expect("there is room");
        let error = perform(&mut world, "crowd 2", Some(MAP)).expect_err("they are there");
        assert!(error.contains("already exists"), "{error}");
    }
}
