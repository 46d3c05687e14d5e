//! House rules that no compiler holds: which room may know which, sizes, banned words, and what the
//! README must list. Each check gives sentences that say where and what; an empty list is good.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/repository.rs"]
mod repository;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use source::Source;

fn assert_none(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n  {}", problems.len(), problems.join("\n  "));
}

fn in_all_sources(check: fn(&Source) -> Vec<String>) {
    let sources = source::all();
    assert!(sources.len() > 20, "only {} files were found under src/", sources.len());
    assert_none(sources.iter().flat_map(check).collect());
}

#[test]
fn rooms_know_only_rooms_below_them() {
    in_all_sources(arrows::against_the_order);
}

#[test]
fn only_the_page_names_web_crates() {
    in_all_sources(arrows::web_crates);
}

#[test]
fn lines_functions_and_files_are_short() {
    in_all_sources(sizes::too_long);
}

#[test]
fn banned_words_are_absent() {
    in_all_sources(words::banned);
}

#[test]
fn no_file_names_the_machine_it_was_made_on() {
    assert_none(repository::machine_names());
}

#[test]
fn readme_lists_every_dependency() {
    assert_none(repository::unlisted_dependencies());
}
