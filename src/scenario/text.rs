//! Texts of a scenario in the languages that it has.

use serde::{Deserialize, Deserializer};

/// A text in English and, if it has one, in Korean. A plain string is English.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// English.
    pub en: String,
    /// Korean.
    pub ko: Option<String>,
}

impl Text {
    /// The text in a language (`en`, `ko`), English where that is missing.
    pub fn in_language(&self, language: &str) -> &str {
        match (&self.ko, language) {
            (Some(ko), "ko") => ko,
            _ => &self.en,
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Languages {
            en: String,
            ko: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Plain(String),
            Languages(Languages),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Plain(en) => Text { en, ko: None },
            Form::Languages(Languages { en, ko }) => Text { en, ko },
        })
    }
}
