//! The hash that names a ReplicaSet and tells its pods from others.
//!
//! Follows `ComputeHash` (`pkg/controller/controller_utils.go`), `SafeEncodeString` (apimachinery
//! `pkg/util/rand`) and `generateReplicaSetName` (`pkg/controller/deployment/sync.go`). The same:
//! FNV-1a over the template and the collision count, spelt in letters that make no words.
//! Different: Kubernetes hashes a dump of its Go structs, this the template as JSON with its keys
//! in order, so the letters are others than on a real cluster.

use std::fmt::Write;

use serde_json::Value;

use crate::api::PodTemplateSpec;

use super::matching;

/// Letters and digits with no vowels, and none that look like another.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const NAME_CHARS_MAX: usize = 253;

/// The hash of a template. The count of clashes, if there were any, is part of it.
pub fn hash(template: &PodTemplateSpec, collision_count: Option<i32>) -> String {
    let mut text = String::new();
    write_sorted(&matching::canonical(template), &mut text);
    let mut hash = fnv1a(FNV_OFFSET, text.as_bytes());
    if let Some(count) = collision_count {
        // Eight bytes of which Kubernetes fills the first four.
        hash = fnv1a(hash, &u64::from(count.cast_unsigned()).to_le_bytes());
    }
    safe_encoded(&hash.to_string())
}

/// `<deployment>-<hash>`; a name that would get too long loses its end.
pub fn set_name(deployment: &str, hash: &str) -> String {
    let room = NAME_CHARS_MAX.saturating_sub(hash.len() + 1);
    let cut: String = deployment.chars().take(room).collect();
    format!("{cut}-{hash}")
}

const FNV_OFFSET: u32 = 2_166_136_261;

fn fnv1a(start: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(16_777_619))
}

fn safe_encoded(text: &str) -> String {
    let letter = |byte: u8| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]);
    text.bytes().map(letter).collect()
}

/// JSON with the keys of every map in order, whatever the map type keeps.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (name, field) in fields {
                // Writing to a String cannot fail.
                let _ = write!(out, "{name:?}:");
                write_sorted(field, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(image: &str) -> PodTemplateSpec {
        let value = json!({"spec": {"containers": [{"name": "web", "image": image}]}});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn fnv_and_the_alphabet_are_those_of_go() {
        assert_eq!(fnv1a(FNV_OFFSET, b"foobar"), 0xbf9c_f968);
        assert_eq!(safe_encoded("0123456789"), "456789bcdf");
    }

    #[test]
    fn another_template_or_a_clash_gives_another_hash() {
        let a = hash(&template("web:1"), None);
        assert_eq!(a, hash(&template("web:1"), None));
        assert_ne!(a, hash(&template("web:2"), None));
        assert_ne!(a, hash(&template("web:1"), Some(0)));
        assert_ne!(hash(&template("web:1"), Some(0)), hash(&template("web:1"), Some(1)));
    }

    #[test]
    fn a_long_name_loses_its_end_and_keeps_the_hash() {
        let name = set_name(&"x".repeat(300), "abc");
        assert_eq!(name.len(), 253);
        assert!(name.ends_with("x-abc"));
    }
}
