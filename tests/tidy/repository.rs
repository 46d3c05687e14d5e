//! What holds for the whole repository: nothing names the machine that a file was made on, and the
//! README lists what the project is made with.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::source::{files, top};

/// What is made by a build or a set-up, and not in the repository.
const MADE: &[&str] = &[".git", "dist", "node_modules", "out", "target"];

/// In pieces, so that this file may stand in the repository.
const FOLDERS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
const HOSTS: &[&str] = &[
    concat!("registry.", "npmjs"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
];

/// Paths of one machine and hosts of package registries, in any text file.
pub fn machine_names() -> Vec<String> {
    let top = top();
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    let enter = |path: &Path| !MADE.iter().any(|made| named(path, made));
    let mut problems = Vec::new();
    for path in files(&top, &enter) {
        // Pictures are not text.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let name = path.strip_prefix(&top).unwrap_or(&path).display().to_string();
        for (line, found) in machine_names_in(&text) {
            problems.push(format!("{name}:{line}: `{found}`"));
        }
    }
    problems
}

fn machine_names_in(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        // Inside an address, or below a variable, a folder of that name is somebody else's.
        let own =
            |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}/".contains(c));
        let folders =
            FOLDERS.iter().filter(|name| line.match_indices(**name).any(|(at, _)| own(at)));
        let hosts = HOSTS.iter().filter(|name| line.contains(**name));
        found.extend(folders.chain(hosts).map(|name| (number + 1, *name)));
    }
    found
}

/// Dependencies that the README's table does not name. Nothing while there is no README.
pub fn unlisted_dependencies() -> Vec<String> {
    let read = |name: &str| fs::read_to_string(top().join(name)).ok();
    let Some(readme) = read("README.md") else {
        return Vec::new();
    };
    let mut names = cargo_dependencies(&read("Cargo.toml").expect("there is a Cargo.toml"));
    names.extend(npm_dependencies(&read("package.json").expect("there is a package.json")));
    let listed = listed_in(&readme);
    names.retain(|name| !listed.contains(&name.as_str()));
    names.into_iter().map(|name| format!("README.md: does not list `{name}`")).collect()
}

/// What stands in the first cells of the tables: `| a, b (tests only) | … |` gives `a` and `b`.
fn listed_in(readme: &str) -> Vec<&str> {
    let cells = readme.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    let names = cells.flat_map(|cell| cell.split('(').next().unwrap_or(cell).split(','));
    names.map(|name| name.trim().trim_matches('`')).collect()
}

/// The crates of all tables of dependencies, each by the name under which the code knows it.
fn cargo_dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && let Some((name, _)) = line.split_once('=') {
            names.push(name.trim().to_owned());
        }
    }
    names
}

fn npm_dependencies(package: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(package).expect("package.json is JSON");
    let tables = ["dependencies", "devDependencies"].into_iter();
    let tables = tables.filter_map(|table| package.get(table)?.as_object());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_this_machine_is_told_and_a_part_of_an_address_is_not() {
        let folder = FOLDERS[0];
        assert_eq!(machine_names_in(&format!("x\nsee {folder}notes")), [(2, folder)]);
        assert_eq!(machine_names_in(&format!("https://example.com{folder}notes")), []);
    }

    #[test]
    fn dependencies_are_found_in_both_files() {
        let manifest = "[package]\na = 1\n[target.'x'.dependencies]\nb = \"1\"\n\
                        c = { package = \"d\", version = \"1\" }\n[features]\ne = []\n";
        assert_eq!(cargo_dependencies(manifest), ["b", "c"]);
        assert_eq!(npm_dependencies(r#"{"devDependencies": {"f": "1"}}"#), ["f"]);
        assert_eq!(listed_in("| a, `b` (tests only) | c |\nd\n"), ["a", "b"]);
    }
}
