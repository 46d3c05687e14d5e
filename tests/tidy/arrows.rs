//! Which room may know which.

use super::source::Source;

/// From the bottom up. A room knows itself and the rooms of lines above its own in this list; rooms
/// of one line do not know each other.
const ORDER: &[&[&str]] = &[
    &["kernel"],
    &["api"],
    &["apiserver"],
    &["client"],
    &["controllers"],
    // A kubelet says what a pass decides in the controllers' words: plans, facts, deeds.
    &["node"],
    &["world"],
    &["manifest"],
    &["kubectl"],
    &["scenario"],
    &["explore", "view"],
    &["ui"],
];

const WEB_CRATES: &[&str] = &[
    "gloo",
    "gloo_timers",
    "js_sys",
    "leptos",
    "leptos_i18n",
    "wasm_bindgen",
    "wasm_bindgen_futures",
    "web_sys",
];

fn floor(room: &str) -> Option<usize> {
    ORDER.iter().position(|rooms| rooms.contains(&room))
}

/// Paths from the crate's root that lead into a room that this file may not know.
pub fn against_the_order(source: &Source) -> Vec<String> {
    let Some(own) = source.room() else {
        return Vec::new();
    };
    let Some(own_floor) = floor(own) else {
        return vec![format!("{}: room `{own}` has no place in the order", source.path)];
    };
    let known = |room: &str| room == own || floor(room).is_some_and(|floor| floor < own_floor);
    let told = |(line, room): (usize, String)| {
        let path = &source.path;
        (!known(&room)).then(|| format!("{path}:{line}: `{own}` may not know `{room}`"))
    };
    rooms_named(source).into_iter().filter_map(told).collect()
}

/// Every room named by a path from the root, with its line.
fn rooms_named(source: &Source) -> Vec<(usize, String)> {
    let mut roots = vec!["crate::".to_owned()];
    // The same root by its other name, as seen from this file.
    roots.push("super::".repeat(source.depth()));
    let mut found = Vec::new();
    for root in &roots {
        for (at, _) in source.code.match_indices(root.as_str()) {
            let before = &source.code[..at];
            if before.ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c)) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let names = first_names(&source.code[at + root.len()..]).into_iter();
            // From a file, `super::x` at the root may be an item of the root; only rooms count.
            let rooms = names.filter(|name| root == "crate::" || floor(name).is_some());
            found.extend(rooms.map(|room| (line, room)));
        }
    }
    found
}

/// `a::b` gives `a`; `{a::{b, c}, d}` gives `a` and `d`.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![name_at(path)];
    };
    let mut names = vec![name_at(group)];
    let mut depth = 1;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name_at(&group[at + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn name_at(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Web crates named outside the page: they are there for the browser's target only.
pub fn web_crates(source: &Source) -> Vec<String> {
    if source.room() == Some("ui") || source.path == "src/main.rs" {
        return Vec::new();
    }
    let words = source.code.lines().enumerate().flat_map(|(line, code)| {
        let names = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.filter(|name| WEB_CRATES.contains(name)).map(move |name| (line + 1, name))
    });
    let told = |(line, name)| format!("{}:{line}: only `ui` may name `{name}`", source.path);
    words.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        against_the_order(&Source::new(path, text)).len()
    }

    #[test]
    fn an_arrow_down_is_fine_and_an_arrow_up_is_not() {
        assert_eq!(problems("src/api/pod.rs", "use crate::kernel::Time;"), 0);
        assert_eq!(problems("src/kernel/time.rs", "use crate::api::Pod;"), 1);
        assert_eq!(problems("src/api/pod.rs", "use crate::{api::{A, B}, kernel, world::C};"), 1);
        assert_eq!(problems("src/controllers/plan.rs", "fn f() { crate::node::g() }"), 1);
        assert_eq!(problems("src/view/chart.rs", "use crate::explore::Search;"), 1);
        assert_eq!(problems("src/kernel/time.rs", "// crate::api"), 0);
    }

    #[test]
    fn the_root_by_its_other_name_is_seen() {
        assert_eq!(problems("src/kernel/time.rs", "use super::super::api::Pod;"), 1);
        assert_eq!(problems("src/kernel/mod.rs", "use super::api::Pod;"), 1);
        assert_eq!(problems("src/api/pod.rs", "use super::node::NodeSpec;"), 0);
    }

    #[test]
    fn web_crates_belong_to_the_page() {
        let text = "use leptos::prelude::*;";
        assert_eq!(web_crates(&Source::new("src/view/chart.rs", text)).len(), 1);
        assert_eq!(web_crates(&Source::new("src/ui/chart.rs", text)).len(), 0);
    }
}
