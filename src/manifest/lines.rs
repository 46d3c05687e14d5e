//! From a byte of a text to its line and column.

/// Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`, as in an editor.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub fn new(text: &'t str) -> Lines<'t> {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let lone_cr = byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if byte == b'\n' || lone_cr {
                starts.push(at + 1);
            }
        }
        Lines { text, starts }
    }

    /// Where the byte `offset` is; past the end: the end.
    pub fn place(&self, offset: usize) -> Place {
        let index = self.index(offset);
        let start = self.starts.get(index).copied().unwrap_or(0);
        let before = self.text.get(start..offset.min(self.text.len()));
        let column = before.map_or(0, |text| text.chars().count());
        Place { line: number(index), column: number(column) }
    }

    /// The line, without its end, in which `offset` is, and where it begins.
    pub fn around(&self, offset: usize) -> (usize, &'t str) {
        self.at(self.index(offset))
    }

    /// Line `line`, counted from 1, and where it begins.
    pub fn line(&self, line: u32) -> (usize, &'t str) {
        self.at((line as usize).saturating_sub(1))
    }

    fn at(&self, index: usize) -> (usize, &'t str) {
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index + 1).copied();
        let line = self.text.get(start..end.unwrap_or(self.text.len()));
        (start, line.unwrap_or("").trim_end_matches(['\r', '\n']))
    }

    fn index(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }
}

fn number(from_zero: usize) -> u32 {
    u32::try_from(from_zero).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_an_editor_and_columns_count_characters() {
        let lines = Lines::new("a\r\nb\rüx\nc");
        let place = |offset| {
            let place = lines.place(offset);
            (place.line, place.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(3), (2, 1));
        assert_eq!(place(7), (3, 2));
        assert_eq!(place(9), (4, 1));
        assert_eq!(place(99), (4, 2));
        assert_eq!(lines.line(3), (5, "üx"));
        assert_eq!(lines.line(9), (10, ""));
    }
}
