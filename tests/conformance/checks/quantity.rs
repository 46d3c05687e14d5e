use loopscope::api::{Quantity, QuantityFormat};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Given {
    Parse { text: String },
    CanonicalText { nano_units: String, format: Format },
    ParseAndPrint { text: String },
}

#[derive(Clone, Copy, Deserialize)]
enum Format {
    #[serde(rename = "BinarySI")]
    Binary,
    #[serde(rename = "DecimalSI")]
    Decimal,
    #[serde(rename = "DecimalExponent")]
    Exponent,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case {
        Given::Parse { text } => parsed(&text),
        Given::ParseAndPrint { text } => json!({ "text": printed(&text) }),
        Given::CanonicalText { nano_units, format } => {
            let Ok(nanos) = nano_units.parse() else {
                return Outcome::Failed(format!("nanoUnits {nano_units} do not fit"));
            };
            let text = Quantity { nanos, format: ours(format) }.to_string();
            // The alternate is right if it prints as the same text.
            let alternate = expect["alternate"].as_str().map(|alternate| {
                if printed(alternate) == text { alternate.to_owned() } else { printed(alternate) }
            });
            json!({ "text": text, "alternate": alternate })
        }
    };
    compare(expect, &got)
}

fn parsed(text: &str) -> Value {
    match Quantity::parse(text) {
        Err(_) => json!({ "valid": false }),
        Ok(quantity) => json!({
            "valid": true,
            "nanoUnits": quantity.nanos.to_string(),
            "format": theirs(quantity.format),
            "saturated": quantity.is_capped(),
        }),
    }
}

fn printed(text: &str) -> String {
    Quantity::parse(text).map_or_else(|error| error.to_string(), |quantity| quantity.to_string())
}

fn ours(format: Format) -> QuantityFormat {
    match format {
        Format::Binary => QuantityFormat::BinarySi,
        Format::Decimal => QuantityFormat::DecimalSi,
        Format::Exponent => QuantityFormat::DecimalExponent,
    }
}

fn theirs(format: QuantityFormat) -> &'static str {
    match format {
        QuantityFormat::BinarySi => "BinarySI",
        QuantityFormat::DecimalSi => "DecimalSI",
        QuantityFormat::DecimalExponent => "DecimalExponent",
    }
}
