//! What a text would change, line by line.

/// A stretch of lines that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The lines that go.
    pub gone: Vec<String>,
    /// The lines that come.
    pub come: Vec<String>,
}

/// Longer texts are compared as a whole.
const LIMIT: usize = 600;

/// The changes from one text to another, by the longest common subsequence of their lines.
pub fn changes(from: &str, to: &str) -> Vec<Change> {
    let a: Vec<&str> = from.trim_end().lines().map(str::trim_end).collect();
    let b: Vec<&str> = to.trim_end().lines().map(str::trim_end).collect();
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len() > LIMIT || b.len() > LIMIT {
        return vec![change(a, b)];
    }
    walk(a, b)
}

fn change(gone: &[&str], come: &[&str]) -> Change {
    let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Change { gone: own(gone), come: own(come) }
}

fn walk(a: &[&str], b: &[&str]) -> Vec<Change> {
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut out: Vec<Change> = Vec::new();
    let (mut i, mut j, mut open) = (0, 0, false);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j, open) = (i + 1, j + 1, false);
            continue;
        }
        if !open {
            out.push(change(&[], &[]));
            open = true;
        }
        let Some(last) = out.last_mut() else { break };
        let down = i < a.len()
            && (j == b.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1]);
        if down {
            last.gone.push(a[i].to_owned());
            i += 1;
        } else {
            last.come.push(b[j].to_owned());
            j += 1;
        }
    }
    out
}
