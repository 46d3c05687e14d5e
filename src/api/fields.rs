//! Reading the fields of an object that is kept as free-form values: of most kinds the simulation
//! reads a few fields, and a type for each of them would be much code for little.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Generic, Timestamp};

/// A part of an object, or nothing where the object has no such part.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(Option<&'a Value>);

impl<'a> Fields<'a> {
    /// The fields of this value.
    pub fn of(value: &'a Value) -> Fields<'a> {
        Fields(Some(value))
    }

    /// The value itself.
    pub fn value(self) -> Option<&'a Value> {
        self.0.filter(|value| !value.is_null())
    }

    /// The part under this name.
    pub fn at(self, name: &str) -> Fields<'a> {
        Fields(self.0.and_then(|value| value.get(name)))
    }

    /// A number that fits into 32 bits; what is larger is cut.
    pub fn int(self, name: &str) -> Option<i32> {
        self.long(name).map(|n| n.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
    }

    /// A number.
    pub fn long(self, name: &str) -> Option<i64> {
        self.at(name).0.and_then(Value::as_i64)
    }

    /// A text that is not empty.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.at(name).0.and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Whether it says `true`.
    pub fn flag(self, name: &str) -> bool {
        self.at(name).0.and_then(Value::as_bool).unwrap_or(false)
    }

    /// A time.
    pub fn time(self, name: &str) -> Option<Timestamp> {
        self.text(name).and_then(Timestamp::parse)
    }

    /// The items of a list.
    pub fn items(self, name: &str) -> &'a [Value] {
        self.at(name).0.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// A part as a type; its default where it is missing or does not fit.
    pub fn read<T: DeserializeOwned + Default>(self, name: &str) -> T {
        let value = self.at(name).value().cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }
}

impl Generic {
    /// What shall be.
    pub fn spec(&self) -> Fields<'_> {
        Fields(self.rest.get("spec"))
    }

    /// What is said to be.
    pub fn status(&self) -> Fields<'_> {
        Fields(self.rest.get("status"))
    }
}
