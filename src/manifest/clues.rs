//! What a text that is no YAML probably is: templates, tabs, fences, spaces that are none.

use super::lines::Lines;
use super::problem::Hint;

/// A clue and the byte where it stands.
pub type Clue = (usize, Hint);

/// The reason why the parser stopped at byte `at`, if the text shows one on that line, or before
/// it.
pub fn clue(lines: &Lines<'_>, text: &str, at: usize) -> Option<Clue> {
    let (start, line) = lines.around(at);
    let upto = text.get(..start + line.len()).unwrap_or(text);
    fence(text).or_else(|| tab(start, line)).or_else(|| helm(text)).or_else(|| no_break_space(upto))
}

fn tab(start: usize, line: &str) -> Option<Clue> {
    let indent = line.len() - line.trim_start().len();
    let tab = line.get(..indent)?.find('\t')?;
    Some((start + tab, Hint::TabIndent))
}

fn helm(text: &str) -> Option<Clue> {
    let at = text.find("{{")?;
    text.get(at..)?.contains("}}").then_some((at, Hint::HelmTemplate))
}

fn fence(text: &str) -> Option<Clue> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            return Some((at, Hint::MarkdownFence));
        }
        at += line.len();
    }
    None
}

fn no_break_space(text: &str) -> Option<Clue> {
    let odd = |c: char| matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{3000}');
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if let Some(found) = line.get(..indent).and_then(|indent| indent.find(odd)) {
            return Some((at + found, Hint::NonBreakingSpace));
        }
        at += line.len();
    }
    text.find(odd).map(|at| (at, Hint::NonBreakingSpace))
}
