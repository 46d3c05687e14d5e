//! Regular expressions for the `pattern` of a schema: a small backtracking matcher, since a whole
//! engine would weigh more than the rest of this module.
//!
//! Known: literals, `.`, classes with ranges and negation, `\d \w \s` and their opposites, escapes,
//! groups (plain and `(?:`), alternatives, `* + ? {n,m}` (also lazy, which changes nothing here),
//! `^ $ \A \z`. Left out: look-around, back references, Unicode classes, flags. A pattern that
//! uses these, or a search that takes too many steps, counts as a match: nothing is refused for
//! what this engine does not understand.

/// Steps that one search may take.
const STEPS_MAX: u32 = 200_000;
/// How often `{n,m}` may ask for a repetition (Go's own bound).
const REPEAT_MAX: u32 = 1_000;
const DEPTH_MAX: u32 = 50;

#[derive(Clone, Debug)]
enum Node {
    One(Set),
    Start,
    End,
    /// Alternatives, each a sequence.
    Group(Vec<Vec<Node>>),
    Repeat(Box<Node>, u32, Option<u32>),
}

/// Which characters fit.
#[derive(Clone, Debug, Default)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Set {
    fn of(ranges: &[(char, char)], negated: bool) -> Set {
        Set { negated, ranges: ranges.to_vec() }
    }

    fn has(&self, c: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != self.negated
    }
}

/// A pattern that is understood.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Vec<Node>>);

impl Pattern {
    /// Reads a pattern; nothing if it uses what is left out, or is malformed.
    pub fn new(text: &str) -> Option<Pattern> {
        let mut parser = Parser { text: text.chars().collect(), at: 0 };
        let alternatives = parser.alternatives(0)?;
        (parser.at == parser.text.len()).then_some(Pattern(alternatives))
    }

    /// Whether it matches somewhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut search = Search { text: &text, steps: 0, depth: 0 };
        (0..=text.len()).any(|start| {
            self.0.iter().any(|sequence| search.sequence(sequence, start, &mut |_, _| true))
        }) || search.steps >= STEPS_MAX
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn alternatives(&mut self, depth: u32) -> Option<Vec<Vec<Node>>> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut alternatives = vec![self.sequence(depth)?];
        while self.eat('|') {
            alternatives.push(self.sequence(depth)?);
        }
        Some(alternatives)
    }

    fn sequence(&mut self, depth: u32) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            self.at += 1;
            let node = match c {
                '^' => Node::Start,
                '$' => Node::End,
                '.' => Node::One(Set::of(&[('\n', '\n')], true)),
                '[' => Node::One(self.class()?),
                '(' => self.group(depth)?,
                '\\' => self.escape()?,
                '*' | '+' | '?' => return None,
                c => Node::One(Set::of(&[(c, c)], false)),
            };
            nodes.push(self.repeated(node)?);
        }
        Some(nodes)
    }

    fn group(&mut self, depth: u32) -> Option<Node> {
        if self.eat('?') && !self.eat(':') {
            return None;
        }
        let alternatives = self.alternatives(depth + 1)?;
        self.eat(')').then_some(Node::Group(alternatives))
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let Some((min, max, length)) = self.braces() else {
                    return Some(node);
                };
                self.at += length - 1;
                (min, max)
            }
            _ => return Some(node),
        };
        self.at += 1;
        self.eat('?');
        (min <= REPEAT_MAX && max.unwrap_or(0) <= REPEAT_MAX)
            .then(|| Node::Repeat(Box::new(node), min, max))
    }

    /// `{n}`, `{n,}`, `{n,m}` at this place, with its length; anything else is literal.
    fn braces(&self) -> Option<(u32, Option<u32>, usize)> {
        let rest = self.text.get(self.at + 1..)?;
        let length = rest.iter().position(|c| *c == '}')?;
        let inside: String = rest.get(..length)?.iter().collect();
        let (min, max) = match inside.split_once(',') {
            None => (inside.parse().ok()?, Some(inside.parse().ok()?)),
            Some((min, "")) => (min.parse().ok()?, None),
            Some((min, max)) => (min.parse().ok()?, Some(max.parse().ok()?)),
        };
        Some((min, max, length + 2))
    }

    fn escape(&mut self) -> Option<Node> {
        match self.take()? {
            'A' => Some(Node::Start),
            'z' => Some(Node::End),
            c => escaped(c).map(Node::One),
        }
    }

    fn class(&mut self) -> Option<Set> {
        let mut set = Set { negated: self.eat('^'), ranges: Vec::new() };
        let mut first = true;
        loop {
            let c = self.take()?;
            match c {
                ']' if !first => return Some(set),
                '[' if self.peek() == Some(':') => return None,
                '\\' => {
                    let inner = escaped(self.take()?)?;
                    if inner.negated {
                        return None;
                    }
                    set.ranges.extend(inner.ranges);
                }
                low => {
                    let is_range =
                        self.peek() == Some('-') && self.text.get(self.at + 1) != Some(&']');
                    let high = if is_range {
                        self.at += 1;
                        match self.take()? {
                            '\\' => self.take()?,
                            high => high,
                        }
                    } else {
                        low
                    };
                    set.ranges.push((low, high));
                }
            }
            first = false;
        }
    }
}

fn escaped(c: char) -> Option<Set> {
    let digits: &[(char, char)] = &[('0', '9')];
    let words: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    let blanks: &[(char, char)] = &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')];
    Some(match c {
        'd' | 'D' => Set::of(digits, c == 'D'),
        'w' | 'W' => Set::of(words, c == 'W'),
        's' | 'S' => Set::of(blanks, c == 'S'),
        'n' => Set::of(&[('\n', '\n')], false),
        't' => Set::of(&[('\t', '\t')], false),
        'r' => Set::of(&[('\r', '\r')], false),
        c if c.is_ascii_alphanumeric() => return None,
        c => Set::of(&[(c, c)], false),
    })
}

struct Search<'t> {
    text: &'t [char],
    steps: u32,
    depth: u32,
}

/// What must match behind a part.
type Rest<'r, 't> = &'r mut dyn FnMut(&mut Search<'t>, usize) -> bool;

impl<'t> Search<'t> {
    fn sequence(&mut self, nodes: &[Node], at: usize, rest: Rest<'_, 't>) -> bool {
        self.steps += 1;
        if self.steps >= STEPS_MAX || self.depth >= 2_000 {
            self.steps = STEPS_MAX;
            return false;
        }
        let Some((first, more)) = nodes.split_first() else {
            return rest(self, at);
        };
        self.depth += 1;
        let found = self.node(first, at, &mut |search, at| search.sequence(more, at, rest));
        self.depth -= 1;
        found
    }

    fn node(&mut self, node: &Node, at: usize, rest: Rest<'_, 't>) -> bool {
        match node {
            Node::One(set) => self.text.get(at).is_some_and(|c| set.has(*c)) && rest(self, at + 1),
            Node::Start => at == 0 && rest(self, at),
            Node::End => at == self.text.len() && rest(self, at),
            Node::Group(alternatives) => {
                alternatives.iter().any(|sequence| self.sequence(sequence, at, rest))
            }
            Node::Repeat(node, min, max) => match &**node {
                Node::One(set) => self.run(set, (*min, *max), at, rest),
                node => self.repeat(node, *min, *max, at, rest),
            },
        }
    }

    /// A run of single characters, which needs no depth.
    fn run(
        &mut self,
        set: &Set,
        (min, max): (u32, Option<u32>),
        at: usize,
        rest: Rest<'_, 't>,
    ) -> bool {
        let most = max.map_or(usize::MAX, |max| max as usize);
        let text = self.text.get(at..).unwrap_or_default();
        let length = text.iter().take(most).take_while(|c| set.has(**c)).count();
        (min as usize..=length).rev().any(|length| {
            self.steps += 1;
            self.steps < STEPS_MAX && rest(self, at + length)
        })
    }

    fn repeat(
        &mut self,
        node: &Node,
        min: u32,
        max: Option<u32>,
        at: usize,
        rest: Rest<'_, 't>,
    ) -> bool {
        self.steps += 1;
        if self.steps >= STEPS_MAX || self.depth >= 2_000 {
            self.steps = STEPS_MAX;
            return false;
        }
        self.depth += 1;
        let more = max != Some(0)
            && self.node(node, at, &mut |search, after| {
                // A repetition of nothing would go on for ever.
                (after > at || min > 0)
                    && search.repeat(
                        node,
                        min.saturating_sub(1),
                        max.map(|max| max.saturating_sub(1)),
                        after,
                        rest,
                    )
            });
        self.depth -= 1;
        more || (min == 0 && rest(self, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_go_matches_them() {
        for (pattern, text, matches) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "web-1", true),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "web-", false),
            (r"^(\d+)(ms|s|m|h)$", "15m", true),
            (r"^(\d+)(ms|s|m|h)$", "15d", false),
            ("b", "abc", true),
            (r"^v\d+\.\d+$", "v1.25", true),
            (r"^v\d+\.\d+$", "v1x25", false),
            ("^a{2,3}$", "aa", true),
            ("^a{2,3}$", "aaaa", false),
            ("^[^/]+$", "a/b", false),
            ("^(a|b)*$", "abba", true),
            ("^(?:ab)+?$", "abab", true),
            ("^$", "", true),
            ("^.*$", "웹", true),
        ] {
            let read = Pattern::new(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert_eq!(read.is_in(text), matches, "{pattern} in {text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_read() {
        for pattern in [r"(?=a)", r"\p{L}", "[[:alpha:]]", "(", "*", r"\1"] {
            assert!(Pattern::new(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn a_search_that_explodes_is_given_up_as_a_match() {
        let read = Pattern::new("^(a+)+$").unwrap();
        assert!(read.is_in(&format!("{}b", "a".repeat(60))));
    }
}
