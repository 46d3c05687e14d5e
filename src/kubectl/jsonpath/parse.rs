//! A template into nodes.

use serde_json::json;

use super::{Node, Operator, Slice};

/// How deep ranges and filters may nest.
const MAX_DEPTH: usize = 64;
/// How many nodes a template may have.
const MAX_NODES: usize = 2_000;

/// Parses a template.
pub fn template(text: &str) -> Result<Vec<Node>, String> {
    let mut parser = Parser { rest: text, nodes: 0 };
    let (nodes, ended) = parser.until_end(0)?;
    match ended {
        true => Err("not in range, nothing to end".into()),
        false => Ok(nodes),
    }
}

struct Parser<'t> {
    rest: &'t str,
    nodes: usize,
}

/// What an action turned out to be.
enum Action {
    Steps(Vec<Node>),
    Range(Vec<Node>),
    End,
}

impl<'t> Parser<'t> {
    /// Nodes up to `{end}` or the end of the text; whether `{end}` was there.
    fn until_end(&mut self, depth: usize) -> Result<(Vec<Node>, bool), String> {
        if depth > MAX_DEPTH {
            return Err("ranges are nested too deeply".into());
        }
        let mut nodes = Vec::new();
        while !self.rest.is_empty() {
            let at = self.rest.find('{').unwrap_or(self.rest.len());
            let (text, behind) = self.rest.split_at(at);
            if !text.is_empty() {
                nodes.push(Node::Text(text.into()));
            }
            let Some(inner) = behind.strip_prefix('{') else {
                self.rest = "";
                break;
            };
            self.rest = inner;
            match self.action(depth)? {
                Action::Steps(steps) => nodes.push(Node::List(steps)),
                Action::End => return Ok((nodes, true)),
                Action::Range(steps) => {
                    let (inner, ended) = self.until_end(depth + 1)?;
                    if !ended {
                        return Err("unclosed range action".into());
                    }
                    nodes.push(Node::Range(steps, inner));
                }
            }
        }
        Ok((nodes, false))
    }

    fn count(&mut self) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { Err("the template is too long".into()) } else { Ok(()) }
    }

    fn action(&mut self, depth: usize) -> Result<Action, String> {
        let mut steps = Vec::new();
        let mut range = false;
        loop {
            self.count()?;
            self.rest = self.rest.trim_start();
            let Some(letter) = self.rest.chars().next() else {
                return Err("unclosed action".into());
            };
            if letter == '}' {
                self.rest = self.rest.get(1..).unwrap_or("");
                return Ok(if range { Action::Range(steps) } else { Action::Steps(steps) });
            }
            if letter.is_ascii_alphabetic() {
                match self.word() {
                    "range" if steps.is_empty() => range = true,
                    "end" if steps.is_empty() => {
                        self.rest = self.rest.trim_start();
                        let behind = self.rest.strip_prefix('}').ok_or("unclosed action")?;
                        self.rest = behind;
                        return Ok(Action::End);
                    }
                    "true" => steps.push(Node::Literal(json!(true))),
                    "false" => steps.push(Node::Literal(json!(false))),
                    word => return Err(format!("unrecognized identifier {word}")),
                }
                continue;
            }
            steps.extend(self.step(letter, depth)?);
        }
    }

    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn step(&mut self, letter: char, depth: usize) -> Result<Option<Node>, String> {
        let behind = self.rest.get(letter.len_utf8()..).unwrap_or("");
        match letter {
            '$' | '@' => {
                self.rest = behind;
                Ok(None)
            }
            '.' => {
                if let Some(rest) = behind.strip_prefix('.') {
                    // The name that follows is a field of its own.
                    self.rest = rest;
                    if rest.starts_with(|c: char| c.is_alphanumeric() || "_*\\-".contains(c)) {
                        let name = self.name();
                        self.nodes += 1;
                        return Ok(Some(Node::List(vec![Node::Recursive, field(name)])));
                    }
                    return Ok(Some(Node::Recursive));
                }
                self.rest = behind;
                let name = self.name();
                Ok((!name.is_empty()).then(|| field(name)))
            }
            '[' => self.bracket(behind, depth).map(Some),
            '"' | '\'' => {
                let (text, rest) = quoted(behind, letter)?;
                self.rest = rest;
                Ok(Some(Node::Text(text)))
            }
            '+' | '-' | '0'..='9' => {
                let end = behind.find(|c: char| !c.is_ascii_digit() && c != '.');
                let length = letter.len_utf8() + end.unwrap_or(behind.len());
                let (word, rest) = self.rest.split_at(length);
                self.rest = rest;
                let number = serde_json::from_str(word.trim_start_matches('+'));
                let number: serde_json::Number =
                    number.map_err(|_| format!("cannot parse number {word}"))?;
                Ok(Some(Node::Literal(number.into())))
            }
            '*' => {
                self.rest = behind;
                Ok(Some(Node::Wildcard))
            }
            other => {
                Err(format!("unrecognized character in action: U+{:04X} '{other}'", other as u32))
            }
        }
    }

    /// A name up to what ends one; a backslash keeps the next letter.
    fn name(&mut self) -> String {
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => name.extend(letters.next().map(|(_, next)| next)),
                '.' | '[' | ']' | '}' | '{' | '$' | '@' | ' ' | '\t' | '\n' | '\r' => {
                    end = at;
                    break;
                }
                _ => name.push(letter),
            }
        }
        self.rest = self.rest.get(end..).unwrap_or("");
        name
    }

    fn bracket(&mut self, behind: &'t str, depth: usize) -> Result<Node, String> {
        if let Some(inner) = behind.strip_prefix("?(") {
            let end = filter_end(inner).ok_or("unterminated filter")?;
            let (text, rest) = inner.split_at(end);
            self.rest = rest.strip_prefix(")]").ok_or("unterminated filter")?;
            return self.filter(text, depth + 1);
        }
        let end = array_end(behind).ok_or("unterminated array")?;
        let (text, rest) = behind.split_at(end);
        self.rest = rest.get(1..).unwrap_or("");
        let text = text.trim();
        if text == "*" {
            return Ok(Node::Wildcard);
        }
        let parts = outside_quotes(text, ',');
        match parts.as_slice() {
            [one] => member(one),
            many => many.iter().map(|part| member(part)).collect::<Result<_, _>>().map(Node::Union),
        }
    }

    fn filter(&mut self, text: &str, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err("filters are nested too deeply".into());
        }
        let (left, operator, right) = comparison(text);
        let mut side = |text: &str| {
            self.count()?;
            let braced = format!("{} }}", text.trim());
            let mut parser = Parser { rest: &braced, nodes: self.nodes };
            let action = parser.action(depth)?;
            self.nodes = parser.nodes;
            match action {
                Action::Steps(steps) if parser.rest.is_empty() => Ok(steps),
                _ => Err(format!("invalid filter {text}")),
            }
        };
        let left = side(left)?;
        let operator = match operator {
            "" => return Ok(Node::Filter(left, Operator::Exists, Vec::new())),
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            other => return Err(format!("unrecognized filter operator {other}")),
        };
        Ok(Node::Filter(left, operator, side(right)?))
    }
}

fn field(name: String) -> Node {
    if name == "*" { Node::Wildcard } else { Node::Field(name) }
}

/// What a member of `[...]` is: a quoted key, an index, or a slice.
fn member(text: &str) -> Result<Node, String> {
    let text = text.trim();
    if let Some(key) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let mut name = String::new();
        let mut letters = key.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => name.extend(letters.next()),
                other => name.push(other),
            }
        }
        return Ok(Node::Field(name));
    }
    let wrong = || format!("invalid array index {text}");
    let number = |word: &str| match word {
        "" => Ok(None),
        word => word.parse::<i64>().map(Some).map_err(|_| wrong()),
    };
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (start, end, step) = match parts.as_slice() {
        [one] if !one.is_empty() => {
            let start = number(one)?;
            return Ok(Node::Slice(Slice { start, end: None, step: None, one: true }));
        }
        [start, end] => (number(start)?, number(end)?, None),
        [start, end, step] => (number(start)?, number(end)?, number(step)?),
        _ => return Err(wrong()),
    };
    Ok(Node::Slice(Slice { start, end, step, one: false }))
}

/// The text up to the closing quote, escapes resolved, and what is behind it.
fn quoted(text: &str, quote: char) -> Result<(String, &str), String> {
    let mut unquoted = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => unquoted.push('\n'),
                Some((_, 't')) => unquoted.push('\t'),
                Some((_, 'r')) => unquoted.push('\r'),
                Some((_, other)) => unquoted.push(other),
                None => break,
            },
            _ if letter == quote => {
                return Ok((unquoted, text.get(at + 1..).unwrap_or("")));
            }
            other => unquoted.push(other),
        }
    }
    Err("unterminated quoted string".into())
}

/// Calls with each letter outside quotes, until one is the wanted.
fn outside(text: &str, mut wanted: impl FnMut(usize, char) -> bool) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match quote {
            _ if escaped => escaped = false,
            _ if letter == '\\' => escaped = true,
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if wanted(at, letter) => return Some(at),
            None => {}
        }
    }
    None
}

fn array_end(text: &str) -> Option<usize> {
    outside(text, |_, letter| letter == ']')
        .filter(|end| !text.get(..*end).unwrap_or("").contains('}'))
}

/// Where the `)` of the `)]` that closes a filter stands; filters inside are skipped.
fn filter_end(text: &str) -> Option<usize> {
    let mut open = 0usize;
    outside(text, |_, letter| match letter {
        '(' => {
            open += 1;
            false
        }
        ')' if open == 0 => true,
        ')' => {
            open -= 1;
            false
        }
        _ => false,
    })
}

fn outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    outside(text, |at, letter| {
        if letter == separator {
            parts.push(text.get(start..at).unwrap_or(""));
            start = at + 1;
        }
        false
    });
    parts.push(text.get(start..).unwrap_or(""));
    parts
}

/// Left side, operator, right side.
fn comparison(text: &str) -> (&str, &str, &str) {
    let is_operator = |letter: char| matches!(letter, '<' | '>' | '=' | '!');
    let mut open = 0usize;
    let at = outside(text, |_, letter| {
        match letter {
            '[' => open += 1,
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && is_operator(letter)
    });
    let Some(at) = at else {
        return (text, "", "");
    };
    let (left, behind) = text.split_at(at);
    let length = behind.find(|c| !is_operator(c)).unwrap_or(behind.len());
    let (operator, right) = behind.split_at(length);
    (left, operator, right)
}
