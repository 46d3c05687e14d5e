//! The text form of a selector, as in `kubectl get -l 'app=web,tier notin (a,b),!canary'`: first
//! tokens, then requirements. Never panics; every error says what stood where something else
//! should.

use std::collections::BTreeSet;

use super::requirement::{Operator, Requirement, key_errors};
use crate::api::{FieldError, Str};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    End,
    Open,
    Close,
    Comma,
    Not,
    /// An operator that stands between label and value.
    Sign(Operator),
    /// `in` or `notin`: an operator behind a label, an ordinary word anywhere else.
    Word(Operator),
    Identifier,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// The requirements, in the order in which they were written.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser { tokens: tokens(text), position: 0 };
    let mut requirements = Vec::new();
    loop {
        let token = parser.peek();
        match token.kind {
            Kind::End => return Ok(requirements),
            Kind::Identifier | Kind::Not => {}
            _ => {
                return Err(found(token, ", expected: !, identifier, or 'end of string'"));
            }
        }
        let requirement = parser.requirement();
        requirements
            .push(requirement.map_err(|error| format!("unable to parse requirement: {error}"))?);
        let token = parser.take();
        match token.kind {
            Kind::End => return Ok(requirements),
            Kind::Comma => {
                let next = parser.peek();
                if !matches!(next.kind, Kind::Identifier | Kind::Not) {
                    return Err(found(next, ", expected: identifier after ','"));
                }
            }
            _ => return Err(found(token, ", expected: ',' or 'end of string'")),
        }
    }
}

fn found(token: Token<'_>, expected: &str) -> String {
    format!("found '{}'{expected}", token.text)
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let (kind, length) = first_token(rest, is_space);
        let (text, behind) = rest.split_at(length);
        tokens.push(Token { kind, text });
        rest = behind.trim_start_matches(is_space);
    }
    tokens
}

fn first_token(text: &str, is_space: impl Fn(char) -> bool) -> (Kind, usize) {
    const SIGNS: [(&str, Kind); 9] = [
        ("!=", Kind::Sign(Operator::NotEquals)),
        ("==", Kind::Sign(Operator::DoubleEquals)),
        ("!", Kind::Not),
        ("=", Kind::Sign(Operator::Equals)),
        (">", Kind::Sign(Operator::GreaterThan)),
        ("<", Kind::Sign(Operator::LessThan)),
        ("(", Kind::Open),
        (")", Kind::Close),
        (",", Kind::Comma),
    ];
    if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign)) {
        return (*kind, sign.len());
    }
    let ends = |c: char| is_space(c) || "=!(),><".contains(c);
    let length = text.find(ends).unwrap_or(text.len());
    let kind = match text.get(..length) {
        Some("in") => Kind::Word(Operator::In),
        Some("notin") => Kind::Word(Operator::NotIn),
        _ => Kind::Identifier,
    };
    (kind, length)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        self.tokens.get(self.position).copied().unwrap_or(Token { kind: Kind::End, text: "" })
    }

    /// The next token, `in` and `notin` being ordinary words.
    fn peek(&self) -> Token<'a> {
        let token = self.token();
        let is_word = matches!(token.kind, Kind::Word(_));
        if is_word { Token { kind: Kind::Identifier, ..token } } else { token }
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.take();
        let negated = token.kind == Kind::Not;
        if negated {
            token = self.take();
        }
        if token.kind != Kind::Identifier {
            return Err(found(token, ", expected: identifier"));
        }
        // Kubernetes' parser knows no path here, and prints that.
        if let Some(error) = key_errors(token.text, "<nil>").first() {
            return Err(error.to_string());
        }
        let (operator, values) = if negated {
            (Operator::DoesNotExist, BTreeSet::new())
        } else if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            (Operator::Exists, BTreeSet::new())
        } else {
            self.restriction()?
        };
        let values = values.into_iter().map(Str::from).collect();
        Requirement::new(token.text.into(), operator, values)
            .map_err(|errors| FieldError::aggregate(&errors))
    }

    fn restriction(&mut self) -> Result<(Operator, BTreeSet<&'a str>), String> {
        let token = self.token();
        self.position += 1;
        match token.kind {
            Kind::Word(operator) => Ok((operator, self.values()?)),
            Kind::Sign(operator) => Ok((operator, self.value()?)),
            _ => Err(found(token, ", expected: in, notin, =, ==, !=, gt, lt")),
        }
    }

    /// One value, which may be left out.
    fn value(&mut self) -> Result<BTreeSet<&'a str>, String> {
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Ok(BTreeSet::from([""]));
        }
        let token = self.take();
        match token.kind {
            Kind::Identifier => Ok(BTreeSet::from([token.text])),
            _ => Err(found(token, ", expected: identifier")),
        }
    }

    /// Values in parentheses. Between two commas, or a comma and a parenthesis, stands the empty
    /// one.
    fn values(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let open = self.take();
        if open.kind != Kind::Open {
            return Err(found(open, " expected: '('"));
        }
        let first = self.peek();
        if !matches!(first.kind, Kind::Identifier | Kind::Comma | Kind::Close) {
            return Err(found(first, ", expected: ',', ')' or identifier"));
        }
        let mut values = BTreeSet::new();
        loop {
            if self.peek().kind == Kind::Identifier {
                values.insert(self.take().text);
                let next = self.peek();
                if !matches!(next.kind, Kind::Comma | Kind::Close) {
                    return Err(found(next, ", expected: ',' or ')'"));
                }
            } else if matches!(self.peek().kind, Kind::Comma | Kind::Close) {
                values.insert("");
            } else {
                return Err(found(self.peek(), ", expected: ',', or identifier"));
            }
            if self.take().kind == Kind::Close {
                return Ok(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Selector;

    fn canonical(text: &str) -> Result<String, String> {
        Selector::parse(text).map(|selector| selector.to_string())
    }

    #[test]
    fn a_selector_prints_in_canonical_form() {
        let table = [
            ("", ""),
            ("  a  ", "a"),
            ("b == 1 , a!=", "a!=,b==1"),
            ("in in (notin, in,,)", "in in (,in,notin)"),
            ("!x,notin=in", "notin=in,!x"),
            ("x in ()", "x in ()"),
            ("x>1,y<7", "x>1,y<7"),
        ];
        for (text, expected) in table {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_error_says_what_was_found_and_what_was_expected() {
        let table = [
            (",x", "found ',', expected: !, identifier, or 'end of string'"),
            ("x,,y", "found ',', expected: identifier after ','"),
            ("x,", "found '', expected: identifier after ','"),
            ("!x=a", "found '=', expected: ',' or 'end of string'"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            (
                "x y",
                "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt",
            ),
            ("x in a", "unable to parse requirement: found 'a' expected: '('"),
            ("x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
            (
                "x in (=)",
                "unable to parse requirement: found '=', expected: ',', ')' or identifier",
            ),
            ("x in (a,", "unable to parse requirement: found '', expected: ',', or identifier"),
            ("x=(", "unable to parse requirement: found '(', expected: identifier"),
        ];
        for (text, expected) in table {
            assert_eq!(canonical(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_illegal_label_is_refused_with_the_rule_that_it_breaks() {
        let start = |text: &str, expected: &str| {
            let error = canonical(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        start("웹=a", "unable to parse requirement: <nil>: Invalid value: \"웹\": name part");
        start("x=a$", "unable to parse requirement: values[0][x]: Invalid value: \"a$\": a valid");
        start(
            "x>a",
            "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt'",
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic_and_canonical_text_stays(
            text in "[a-c!=<>(), ]{0,16}|((in|notin|a|b|[(),=! ]){0,8})|\\PC{0,12}",
        ) {
            if let Ok(selector) = Selector::parse(&text) {
                prop_assert_eq!(Selector::parse(&selector.to_string()), Ok(selector));
            }
        }
    }
}
