//! The page that `describe` writes: lines of cells, which Go's tabwriter puts into columns
//! (`text/tabwriter`: a column ends where a line has no cell in it), and the parts that all kinds
//! share.

use crate::api::{ObjectMeta, StrMap, Timestamp};
use crate::kubectl::Output;
use crate::kubectl::apply::LAST_APPLIED;

/// Blanks behind the widest cell of a column.
const PADDING: usize = 2;

/// A page under way.
#[derive(Default)]
pub struct Sheet {
    lines: Vec<Vec<String>>,
}

impl Sheet {
    /// Adds a line; each level stands two blanks further in, and tabs part the cells.
    pub fn line(&mut self, level: usize, text: impl AsRef<str>) {
        let text = format!("{:width$}{}", "", text.as_ref(), width = 2 * level);
        let cells = |line: &str| line.split('\t').map(str::to_string).collect();
        self.lines.extend(text.split('\n').map(cells));
    }

    /// A name and its value.
    pub fn field(&mut self, name: &str, value: impl AsRef<str>) {
        self.line(0, format!("{name}:\t{}", value.as_ref()));
    }

    /// A name and its values below each other.
    pub fn values(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let mut values = values.into_iter();
        self.field(name, values.next().unwrap_or_else(|| "<none>".into()));
        for value in values {
            self.line(0, format!("\t{value}"));
        }
    }

    /// Labels.
    pub fn labels(&mut self, name: &str, labels: &StrMap) {
        self.values(name, labels.iter().map(|(key, value)| format!("{key}={value}")));
    }

    /// Annotations, without the one that apply keeps.
    pub fn annotations(&mut self, name: &str, annotations: &StrMap) {
        let shown = annotations.iter().filter(|(key, _)| &***key != LAST_APPLIED);
        self.values(name, shown.map(|(key, value)| format!("{key}: {value}")));
    }

    /// A name, and a namespace if there is one.
    pub fn name(&mut self, meta: &ObjectMeta) {
        self.field("Name", &*meta.name);
        if !meta.namespace.is_empty() {
            self.field("Namespace", &*meta.namespace);
        }
    }

    /// Labels and annotations.
    pub fn marks(&mut self, meta: &ObjectMeta) {
        self.labels("Labels", &meta.labels);
        self.annotations("Annotations", &meta.annotations);
    }

    /// Who controls it, if somebody does.
    pub fn controller(&mut self, meta: &ObjectMeta) {
        if let Some(owner) = meta.controller() {
            self.field("Controlled By", format!("{}/{}", owner.kind, owner.name));
        }
    }

    /// Conditions, in these columns.
    pub fn table(&mut self, title: &str, columns: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let dashes: Vec<String> = columns.iter().map(|name| "-".repeat(name.len())).collect();
        self.line(0, format!("{title}:"));
        self.line(1, columns.join("\t"));
        self.line(1, dashes.join("\t"));
        rows.iter().for_each(|row| self.line(1, row.join("\t")));
    }

    /// The lines with their tabs, as they are printed where no columns are made.
    pub fn raw(self) -> String {
        self.lines.iter().map(|cells| cells.join("\t") + "\n").collect()
    }

    /// Prints the page.
    pub fn print(self, out: &mut Output) {
        let mut widths = vec![Vec::new(); self.lines.len()];
        self.fit(0, 0..self.lines.len(), &mut widths);
        for (cells, widths) in self.lines.iter().zip(&widths) {
            let mut text = String::new();
            for (at, cell) in cells.iter().enumerate() {
                text.push_str(cell);
                let width: usize = widths.get(at).copied().unwrap_or(0);
                let blanks = width.saturating_sub(cell.chars().count());
                text.extend(std::iter::repeat_n(' ', blanks));
            }
            out.line(text.trim_end());
        }
    }

    /// Widths of the cells from a column on: lines behind each other that have a cell there, with
    /// another behind it, are fitted to each other.
    fn fit(&self, column: usize, lines: std::ops::Range<usize>, widths: &mut [Vec<usize>]) {
        let has_cell = |line: &Vec<String>| line.len() > column + 1;
        let mut at = lines.start;
        while at < lines.end {
            let rest = self.lines.get(at..lines.end).unwrap_or_default();
            let block = rest.iter().take_while(|line| has_cell(line)).count();
            if block == 0 {
                at += 1;
                continue;
            }
            let cells = rest.iter().take(block).filter_map(|line| line.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            for own in widths.iter_mut().skip(at).take(block) {
                own.push(widest + PADDING);
            }
            self.fit(column + 1, at..at + block, widths);
            at += block;
        }
    }
}

/// A time as Go's RFC1123Z writes it.
pub fn long_time(at: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let part = |range| text.get(range).unwrap_or_default();
    let month: usize = part(5..7).parse().unwrap_or(1);
    let (month, day) = (MONTHS.get(month.saturating_sub(1)), DAYS.get(weekday(at)));
    let names = (day.copied().unwrap_or_default(), month.copied().unwrap_or_default());
    format!("{}, {} {} {} {} +0000", names.0, part(8..10), names.1, part(0..4), part(11..19))
}

/// Days since a Thursday, as 1970-01-01 was one.
fn weekday(at: Timestamp) -> usize {
    usize::try_from(at.0.div_euclid(86_400).rem_euclid(7)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_ends_where_a_line_has_no_cell_in_it() {
        let mut sheet = Sheet::default();
        for line in ["a:\t1", "long:\t2\t3", "x:\t22\t4", "no cells", "bb:\t5"] {
            sheet.line(0, line);
        }
        sheet.line(1, "c:\t6");
        let mut out = Output::default();
        sheet.print(&mut out);
        let text = "a:     1\nlong:  2   3\nx:     22  4\nno cells\nbb:   5\n  c:  6\n";
        assert_eq!(out.text, text);
    }

    #[test]
    fn a_time_is_written_with_its_day() {
        assert_eq!(long_time(Timestamp::EPOCH), "Thu, 01 Jan 2026 00:00:00 +0000");
        let at = Timestamp::parse("2026-12-06T23:59:01Z").unwrap();
        assert_eq!(long_time(at), "Sun, 06 Dec 2026 23:59:01 +0000");
    }
}
