//! The page's texts: every language has the same keys, with the same slots, and every key is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const LOCALES: [&str; 2] = ["en", "ko"];

fn texts(locale: &str) -> BTreeMap<String, String> {
    let path = format!("{}/src/ui/locales/{locale}.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let groups: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut out = BTreeMap::new();
    for (group, keys) in groups {
        for (key, value) in keys {
            let text = value.as_str().unwrap_or_else(|| panic!("{path}: {group}.{key} is no text"));
            out.insert(format!("{group}.{key}"), text.to_owned());
        }
    }
    out
}

fn slots(text: &str) -> BTreeSet<String> {
    let parts = text.split('{').skip(1);
    parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name.to_owned()).collect()
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn every_language_has_every_text() {
    let first = texts(LOCALES[0]);
    for locale in &LOCALES[1..] {
        let other = texts(locale);
        let keys =
            |texts: &BTreeMap<String, String>| texts.keys().cloned().collect::<BTreeSet<_>>();
        let (a, b) = (keys(&first), keys(&other));
        let missing: Vec<_> = a.symmetric_difference(&b).collect();
        assert!(missing.is_empty(), "not in both en and {locale}: {missing:?}");
    }
}

#[test]
fn texts_have_the_same_slots_in_every_language() {
    let first = texts(LOCALES[0]);
    for locale in &LOCALES[1..] {
        let other = texts(locale);
        for (key, text) in &first {
            assert_eq!(slots(text), slots(&other[key]), "{key} in {locale}");
        }
    }
}

#[test]
fn no_text_is_empty_or_has_an_open_slot() {
    for locale in LOCALES {
        for (key, text) in texts(locale) {
            assert!(!text.trim().is_empty(), "{key} in {locale} is empty");
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{key} in {locale}");
        }
    }
}

#[test]
fn every_text_is_used() {
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui"), &mut files);
    let mut code = String::new();
    for file in files {
        code.push_str(&fs::read_to_string(file).unwrap_or_default());
    }
    let code: String = code.split_whitespace().collect();
    let unused: Vec<String> = texts(LOCALES[0])
        .into_keys()
        .filter(|key| {
            !code.contains(&format!("tr!({key})")) && !code.contains(&format!("tr!({key},"))
        })
        .collect();
    assert!(unused.is_empty(), "nobody says {unused:?}");
}

#[test]
fn too_few_pods_and_too_many_are_told_in_different_words() {
    for locale in LOCALES {
        let texts = texts(locale);
        assert_ne!(texts["find.missing"], texts["find.surplus"], "in {locale}");
    }
}

/// The inside of each `tr!(…)`, with what is in brackets inside it.
fn calls(text: &str) -> Vec<&str> {
    let inside = text.split("tr!(").skip(1).map(|rest| {
        let mut depth = 1;
        let end = rest.find(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        });
        &rest[..end.unwrap_or(rest.len())]
    });
    inside.collect()
}

#[test]
fn every_slot_of_a_text_is_filled_where_it_is_used() {
    let texts = texts(LOCALES[0]);
    let mut files = Vec::new();
    rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ui")), &mut files);
    let (mut empty, mut looked) = (Vec::new(), 0);
    for file in files {
        let code = fs::read_to_string(&file).expect("it can be read");
        for call in calls(&code) {
            let (key, values) = call.split_once(',').unwrap_or((call, ""));
            let Some(text) = texts.get(key.trim()) else { continue };
            looked += 1;
            let filled = |slot: &String| values.contains(&format!("{slot} = "));
            for slot in slots(text).iter().filter(|slot| !filled(slot)) {
                empty.push(format!("{}: {{{slot}}} of {}", file.display(), key.trim()));
            }
        }
    }
    assert!(looked > 200, "only {looked} uses were found");
    assert!(empty.is_empty(), "{empty:#?}");
}
