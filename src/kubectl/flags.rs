//! Flags, as pflag reads them: `--name=value`, `--name value`, `-n value`, `-nvalue`, `-Aw`.

use super::errors::UsageError;
use crate::manifest::nearest;

/// Flags that every verb takes.
const COMMON: &str = "namespace,n= context= cluster= kubeconfig= user= request-timeout= v,v= \
                      help,h as= as-group= server,s= token= insecure-skip-tls-verify \
                      warnings-as-errors";

/// Flags that come together. `--limit` is ours.
const GROUPS: &[(&str, &str)] = &[
    ("@pick", "selector,l= field-selector= all-namespaces,A limit="),
    ("@file", "filename,f= recursive,R kustomize,k="),
    ("@show", "output,o= template= show-managed-fields allow-missing-template-keys"),
    ("@dry", "dry-run? field-manager= record"),
];

/// What a flag takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Nothing, or `=true`.
    Nothing,
    /// A value.
    Value,
    /// A value behind `=`, or nothing.
    Maybe,
}

/// A flag.
#[derive(Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub long: &'static str,
    short: Option<char>,
    takes: Takes,
}

impl Spec {
    /// Whether a value follows.
    pub fn takes_value(&self) -> bool {
        self.takes == Takes::Value
    }

    /// Whether `word` is this flag, without a value.
    pub fn is(&self, word: &str) -> bool {
        match word.strip_prefix("--") {
            Some(long) => long == self.long,
            None => {
                let letters = word.strip_prefix('-').map(str::chars);
                letters.is_some_and(|mut letters| letters.next_back() == self.short)
                    && self.short.is_some()
            }
        }
    }
}

/// The flags of a list such as `namespace,n= watch,w cascade? @pick`, and those of every verb. A
/// verb's own go first: `-f` of logs is not that of the others.
pub fn specs(list: &'static str) -> Vec<Spec> {
    let group = |word: &'static str| {
        let found = GROUPS.iter().find(|(name, _)| *name == word);
        found.map_or(word, |(_, list)| *list).split_whitespace()
    };
    let words = list.split_whitespace().flat_map(group).chain(COMMON.split_whitespace());
    words.map(spec).collect()
}

fn spec(word: &'static str) -> Spec {
    let takes = match word.chars().last() {
        Some('=') => Takes::Value,
        Some('?') => Takes::Maybe,
        _ => Takes::Nothing,
    };
    let name = word.trim_end_matches(['=', '?']);
    let (long, short) = name.split_once(',').unwrap_or((name, ""));
    Spec { long, short: short.chars().next(), takes }
}

/// A line taken apart.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    verb: String,
    /// The words that are no flags, the verb left out.
    pub words: Vec<String>,
    /// How many of them stand before `--`, if there is one.
    pub before_dashes: Option<usize>,
    given: Vec<(&'static str, String)>,
}

impl Flags {
    /// Takes the words behind a verb apart; `list` are the verb's own flags.
    pub fn parse(verb: &str, list: &'static str, words: &[String]) -> Result<Flags, UsageError> {
        let mut flags = Flags { verb: verb.into(), ..Flags::default() };
        let specs = specs(list);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                flags.before_dashes = Some(flags.words.len());
                flags.words.extend(words.cloned());
                break;
            } else if let Some(long) = word.strip_prefix("--") {
                flags.long(&specs, long, &mut words)?;
            } else if word.len() > 1 && word.starts_with('-') && !is_number(word) {
                flags.short(&specs, word, &mut words)?;
            } else {
                flags.words.push(word.clone());
            }
        }
        Ok(flags)
    }

    fn long<'w>(
        &mut self,
        specs: &[Spec],
        text: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), UsageError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        let Some(spec) = specs.iter().find(|spec| spec.long == name) else {
            let near = nearest(name, specs.iter().map(|spec| spec.long));
            return Err(UsageError {
                suggestion: near.map(|name| format!("--{name}")),
                ..self.see_help(format!("unknown flag: --{name}"))
            });
        };
        let value = match (spec.takes, value) {
            (Takes::Nothing, Some(value)) if !is_bool(&value) => {
                return Err(self.see_help(format!(
                    "invalid argument {value:?} for \"--{name}\" flag: strconv.ParseBool: \
                     parsing {value:?}: invalid syntax"
                )));
            }
            (_, Some(value)) => value,
            (Takes::Value, None) => match words.next() {
                Some(value) => value.clone(),
                None => return Err(self.see_help(format!("flag needs an argument: --{name}"))),
            },
            (Takes::Nothing, None) => "true".into(),
            (Takes::Maybe, None) => String::new(),
        };
        self.given.push((spec.long, value));
        Ok(())
    }

    fn short<'w>(
        &mut self,
        specs: &[Spec],
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), UsageError> {
        let mut rest = word.get(1..).unwrap_or("");
        while let Some(letter) = rest.chars().next() {
            rest = rest.get(letter.len_utf8()..).unwrap_or("");
            let Some(spec) = specs.iter().find(|spec| spec.short == Some(letter)) else {
                let message = format!("unknown shorthand flag: '{letter}' in {word}");
                return Err(self.see_help(message));
            };
            if spec.takes == Takes::Nothing {
                self.given.push((spec.long, "true".into()));
                continue;
            }
            let value = match rest.strip_prefix('=').unwrap_or(rest) {
                "" => match words.next() {
                    Some(value) => value.clone(),
                    None => {
                        let message = format!("flag needs an argument: '{letter}' in {word}");
                        return Err(self.see_help(message));
                    }
                },
                value => value.into(),
            };
            self.given.push((spec.long, value));
            break;
        }
        Ok(())
    }

    /// An error that points to the verb's help, as kubectl's usage errors do.
    pub fn see_help(&self, message: String) -> UsageError {
        let verb = &self.verb;
        UsageError::plain(format!("{message}\nSee 'kubectl {verb} --help' for usage."))
    }

    /// An error that points to examples, as kubectl's own do.
    pub fn usage(&self, message: String) -> UsageError {
        let verb = &self.verb;
        UsageError::plain(format!("{message}\nSee 'kubectl {verb} -h' for help and examples"))
    }

    /// The last value given for a flag.
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.given.iter().rev().find(|(flag, _)| *flag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Every value given for a flag.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.given.iter().filter(move |(flag, _)| *flag == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Whether a flag without value is set.
    pub fn has(&self, name: &str) -> bool {
        self.value(name)
            .is_some_and(|value| !matches!(value, "false" | "0" | "f" | "F" | "False" | "FALSE"))
    }

    /// The number given for a flag.
    pub fn number(&self, name: &str) -> Result<Option<i64>, UsageError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|_| {
            self.see_help(format!(
                "invalid argument {value:?} for \"--{name}\" flag: strconv.ParseInt: parsing \
                 {value:?}: invalid syntax"
            ))
        })
    }
}

/// What Go reads as a truth value.
fn is_bool(word: &str) -> bool {
    matches!(word, "1" | "t" | "T" | "0" | "f" | "F")
        || ["true", "True", "TRUE", "false", "False", "FALSE"].contains(&word)
}

/// `-1` is a value, not a flag.
fn is_number(word: &str) -> bool {
    word.get(1..).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, UsageError> {
        let words: Vec<String> = line.split(' ').map(str::to_string).collect();
        Flags::parse("get", "watch,w replicas= cascade? @pick", &words)
    }

    #[test]
    fn a_value_may_stand_behind_an_equals_sign_or_alone_or_behind_the_letter() {
        for line in
            ["pods -n x", "pods -nx", "pods -n=x", "--namespace x pods", "--namespace=x pods"]
        {
            let flags = parse(line).unwrap();
            assert_eq!(flags.value("namespace"), Some("x"), "{line}");
            assert_eq!(flags.words, ["pods"], "{line}");
        }
        let flags = parse("-Aw --cascade --replicas=-1").unwrap();
        assert!(flags.has("watch") && flags.has("all-namespaces"));
        assert_eq!(flags.value("cascade"), Some(""));
        assert_eq!(flags.number("replicas"), Ok(Some(-1)));
    }

    #[test]
    fn an_unknown_flag_is_named_with_the_nearest_one() {
        let error = parse("--replcias=3").unwrap_err();
        assert!(error.message.starts_with("unknown flag: --replcias"));
        assert_eq!(error.suggestion.as_deref(), Some("--replicas"));
        assert!(parse("-q").unwrap_err().message.starts_with("unknown shorthand flag: 'q' in -q"));
        assert!(parse("-n").unwrap_err().message.starts_with("flag needs an argument: 'n' in -n"));
        assert!(parse("--replicas=x").unwrap().number("replicas").is_err());
    }
}
