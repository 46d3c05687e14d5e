//! A text is split at its `---` lines before YAML is looked at, as kubectl does (apimachinery
//! `pkg/util/yaml`, `YAMLReader`): even inside a block scalar.

use serde::de::IgnoredAny;

use super::reader::MAX_DOCUMENTS;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'t> {
    /// Where it begins in the whole text, in bytes.
    pub start: usize,
    /// It.
    pub text: &'t str,
    /// What stands behind the `---` before it and should not.
    pub behind_separator: Option<&'t str>,
}

impl Chunk<'_> {
    /// Whether there is nothing in it but comments.
    pub fn is_blank(&self) -> bool {
        let blank = |line: &str| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#')
        };
        self.text.lines().all(blank)
    }
}

/// The documents of a text, the empty ones left out.
pub fn documents(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut behind = None;
    let mut close = |start: usize, end: usize, behind_separator| {
        let chunk = Chunk { start, text: text.get(start..end).unwrap_or(""), behind_separator };
        if !chunk.is_blank() || chunk.behind_separator.is_some() {
            chunks.push(chunk);
        }
    };
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if let Some(rest) = line.strip_prefix("---") {
            close(start, at, behind);
            let rest = rest.trim();
            behind = Some(rest).filter(|rest| !rest.is_empty() && !rest.starts_with('#'));
            start = end;
        }
        at = end;
    }
    close(start, text.len(), behind);
    chunks.into_iter().flat_map(json_values).collect()
}

/// JSON values may follow each other without a separator, as for kubectl.
fn json_values(chunk: Chunk<'_>) -> Vec<Chunk<'_>> {
    let mut parts = Vec::new();
    if !chunk.text.trim_start().starts_with('{') {
        return vec![chunk];
    }
    let mut start = 0;
    let mut values = serde_json::Deserializer::from_str(chunk.text).into_iter::<IgnoredAny>();
    while let Some(value) = values.next() {
        // KYAML looks like JSON at first.
        let (Ok(_), true) = (value, parts.len() < MAX_DOCUMENTS) else {
            return vec![chunk];
        };
        let end = values.byte_offset();
        let text = chunk.text.get(start..end).unwrap_or("");
        parts.push(Chunk { start: chunk.start + start, text, behind_separator: None });
        start = end;
    }
    if parts.len() > 1 { parts } else { vec![chunk] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(usize, &str)> {
        let chunks = documents(text);
        chunks.iter().map(|c| (c.start, c.text)).collect()
    }

    #[test]
    fn empty_documents_and_comments_are_left_out() {
        assert_eq!(parts("---\n---\n# x\n---  \r\na: 1\n---\n"), [(19, "a: 1\n")]);
        assert_eq!(parts(""), []);
        assert_eq!(parts("# only\n"), []);
    }

    #[test]
    fn only_a_separator_at_the_start_of_a_line_splits() {
        assert_eq!(parts("a: ---\n --- \nb: 1"), [(0, "a: ---\n --- \nb: 1")]);
    }

    #[test]
    fn json_values_follow_each_other_without_a_separator() {
        assert_eq!(parts("{\"a\": 1}\n{\"b\": {}}\n"), [(0, "{\"a\": 1}"), (8, "\n{\"b\": {}}")]);
        assert_eq!(parts("{a: 1,}\n"), [(0, "{a: 1,}\n")]);
    }

    #[test]
    fn words_behind_a_separator_are_told() {
        assert_eq!(documents("--- a: 1\nb: 2")[0].behind_separator, Some("a: 1"));
        assert_eq!(documents("--- # web\nb: 2")[0].behind_separator, None);
    }
}
