//! What is wrong with a text: the words that Kubernetes or kubectl would say, where, and, where
//! those words are cryptic, a hint that a page can put in anybody's language.

/// Something to say about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Who would refuse the text.
    pub stage: Stage,
    /// From the top of the whole text, from 1. (kubectl counts from the last `---`.)
    pub line: u32,
    /// The first character, from 1.
    pub column: u32,
    /// One past the last character on that line.
    pub end_column: u32,
    /// The field, as in `spec.template.spec.containers[0].image`; empty where there is none.
    pub path: String,
    /// Kubernetes' or kubectl's own words, with lines counted from the top.
    pub message: String,
    /// A second sentence that helps.
    pub hint: Option<Hint>,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The document is refused.
    Error,
    /// It is accepted, but is probably not what was meant.
    Warning,
    /// It is right; there is something to know.
    Note,
}

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Whoever takes the text: kubectl cannot make JSON of it.
    Parse,
    /// kubectl cannot tell which resource it is.
    Mapping,
    /// The API server cannot read it as an object of its kind.
    Decode,
    /// The API server finds the object against its rules.
    Validation,
    /// This simulation.
    Simulation,
}

/// What may help. A page has a sentence for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The nearest thing that would be right.
    DidYouMean(String),
    /// Template braces: this text is for Helm, which has to fill it in first.
    HelmTemplate,
    /// A non-breaking space, probably copied from a web page.
    NonBreakingSpace,
    /// YAML is indented with spaces only.
    TabIndent,
    /// A Markdown fence around the YAML.
    MarkdownFence,
    /// YAML 1.1 reads this as a truth value or a number; quotes make it text.
    QuoteIt(String),
    /// This number should stand without quotes.
    Unquote(String),
    /// A list is wanted: each item begins with `- `.
    NeedsDash,
    /// A number that begins with 0 is octal, and means this.
    Octal(i64),
    /// Of keys given twice, the last one counts.
    LastWins,
    /// The text was not UTF-8; what could not be read is shown as U+FFFD.
    NotUtf8,
    /// Kept and listed, but nothing here acts on it.
    NotSimulated,
    /// Neither Kubernetes' own kinds that are kept here, nor a custom one.
    UnknownKind,
    /// There is more; only the first problems are listed.
    More,
}

impl Hint {
    /// The hint in English, for a console. The page has its own sentences.
    pub fn english(&self) -> String {
        match self {
            Hint::DidYouMean(word) => format!("did you mean {word:?}?"),
            Hint::HelmTemplate => "this is a Helm template; render it first".into(),
            Hint::NonBreakingSpace => {
                "a non-breaking space, probably copied from a web page".into()
            }
            Hint::TabIndent => "a tab; YAML is indented with spaces only".into(),
            Hint::MarkdownFence => "a Markdown fence; remove it".into(),
            Hint::QuoteIt(word) => format!("write it in quotes: \"{word}\""),
            Hint::Unquote(word) => format!("write it without quotes: {word}"),
            Hint::NeedsDash => "a list is wanted: each item begins with \"- \"".into(),
            Hint::Octal(number) => format!("a leading 0 makes it octal: {number}"),
            Hint::LastWins => "the last one counts".into(),
            Hint::NotUtf8 => "the text is not UTF-8".into(),
            Hint::NotSimulated => "it is kept, but nothing here acts on it".into(),
            Hint::UnknownKind => "this cluster has no such kind".into(),
            Hint::More => "there are more problems".into(),
        }
    }
}
