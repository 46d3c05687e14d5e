//! Which names, label keys and label values are legal. Each function returns Kubernetes' messages;
//! an empty list means that the text is legal. Lengths are in bytes.
//!
//! Follows `pkg/util/validation/validation.go` and `pkg/api/validate/content/{kube,dns}.go` of
//! <https://github.com/kubernetes/apimachinery/tree/release-1.36>. The two say differently that a
//! text is too long, and so do we. Left out: names that may hold underscores or wildcards.

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

/// The reasons why `value` is no label of RFC 1123: names of namespaces and containers.
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, LABEL_MAX, "characters");
    if is_dns1123_label(value) {
        return errors;
    }
    if is_dns1123_subdomain(value) {
        errors.push("must not contain dots".into());
    } else {
        let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
                       characters or '-', and must start and end with an alphanumeric character";
        errors.push(no_match(message, &["my-name", "123-abc"], "[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
    }
    errors
}

/// The reasons why `value` is no subdomain of RFC 1123: names of most objects.
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    subdomain(value, "characters")
}

/// The reasons why `value` is no label of RFC 1035: names of Services.
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, LABEL_MAX, "characters");
    if !(is_dns1123_label(value) && value.starts_with(|c: char| c.is_ascii_lowercase())) {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
                       start with an alphabetic character, and end with an alphanumeric character";
        errors.push(no_match(message, &["my-name", "abc-123"], "[a-z]([-a-z0-9]*[a-z0-9])?"));
    }
    errors
}

/// The reasons why `value` may not be the value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = too_long(value, LABEL_MAX, "bytes");
    if !value.is_empty() && !is_name_part(value) {
        let message = "a valid label must be an empty string or consist of alphanumeric \
                       characters, '-', '_' or '.', and must start and end with an alphanumeric \
                       character";
        let examples = ["MyValue", "my_value", "12345"];
        errors.push(no_match(message, &examples, &format!("({NAME_PART_FORM})?")));
    }
    errors
}

/// The reasons why `value` is no qualified name: keys of labels and annotations, names of
/// finalizers and extended resources.
pub fn qualified_name(value: &str) -> Vec<String> {
    let (prefix, name) = match value.split_once('/') {
        None => (None, value),
        Some((_, name)) if name.contains('/') => {
            return vec![
                no_name_part("a valid label key ")
                    + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            ];
        }
        Some((prefix, name)) => (Some(prefix), name),
    };
    let mut errors: Vec<String> = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".into()],
        Some(prefix) => {
            subdomain(prefix, "bytes").iter().map(|e| format!("prefix part {e}")).collect()
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".into());
    }
    errors.extend(too_long(name, LABEL_MAX, "bytes").iter().map(|e| format!("name part {e}")));
    if !is_name_part(name) {
        errors.push(no_name_part("name part "));
    }
    errors
}

/// The reasons why `value` is no percentage such as `25%`.
pub fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![no_match(message, &["1%", "93%"], "[0-9]+%")]
}

fn subdomain(value: &str, unit: &str) -> Vec<String> {
    let mut errors = too_long(value, SUBDOMAIN_MAX, unit);
    if !is_dns1123_subdomain(value) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                       characters, '-' or '.', and must start and end with an alphanumeric \
                       character";
        let form = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
        errors.push(no_match(message, &["example.com"], form));
    }
    errors
}

const NAME_PART_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn no_name_part(what: &str) -> String {
    let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
                   end with an alphanumeric character";
    no_match(&format!("{what}{message}"), &["MyName", "my.name", "123-abc"], NAME_PART_FORM)
}

fn too_long(value: &str, max: usize, unit: &str) -> Vec<String> {
    let message = || format!("must be no more than {max} {unit}");
    (value.len() > max).then(message).into_iter().collect()
}

fn no_match(message: &str, examples: &[&str], form: &str) -> String {
    let examples: Vec<_> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{form}')", examples.join(" or "))
}

fn is_dns1123_label(value: &str) -> bool {
    is_framed(value, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), b"-")
}

fn is_dns1123_subdomain(value: &str) -> bool {
    value.split('.').all(is_dns1123_label)
}

fn is_name_part(value: &str) -> bool {
    is_framed(value, |b| b.is_ascii_alphanumeric(), b"-_.")
}

/// Whether the text starts and ends with a `solid` byte and has only such and `inner` ones between.
fn is_framed(value: &str, solid: impl Fn(&u8) -> bool, inner: &[u8]) -> bool {
    let bytes = value.as_bytes();
    bytes.first().is_some_and(&solid)
        && bytes.last().is_some_and(&solid)
        && bytes.iter().all(|b| solid(b) || inner.contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_object_name_gets_kubernetes_message() {
        assert_eq!(
            dns1123_subdomain("Web"),
            ["a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                 characters, '-' or '.', and must start and end with an alphanumeric character \
              (e.g. 'example.com', regex used for validation is \
              '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"]
        );
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert!(dns1035_label("1a")[0].contains("(e.g. 'my-name',  or 'abc-123', regex"));
    }

    #[test]
    fn a_text_can_be_wrong_in_two_ways_at_once() {
        let long = "A".repeat(64);
        assert_eq!(dns1123_label(&long).len(), 2);
        assert_eq!(dns1123_label(&long)[0], "must be no more than 63 characters");
        assert_eq!(label_value(&long), ["must be no more than 63 bytes"]);
        let key = format!("{}/{}", "a".repeat(254), "b".repeat(64));
        assert_eq!(
            qualified_name(&key),
            [
                "prefix part must be no more than 253 bytes",
                "name part must be no more than 63 bytes"
            ]
        );
    }

    #[test]
    fn a_label_key_says_which_part_is_wrong() {
        assert_eq!(qualified_name("/x"), ["prefix part must be non-empty"]);
        assert_eq!(qualified_name("a.b/")[0], "name part must be non-empty");
        assert!(qualified_name("A/x")[0].starts_with("prefix part a lowercase RFC 1123 subdomain"));
        assert!(qualified_name("")[1].starts_with("name part must consist of alphanumeric"));
        assert!(qualified_name("a/b/c")[0].starts_with("a valid label key must consist of"));
        assert!(qualified_name("a/b/c")[0].ends_with("and '/' (e.g. 'example.com/MyName')"));
    }

    #[test]
    fn letters_beyond_ascii_are_not_alphanumeric() {
        let checks = [dns1123_label, dns1123_subdomain, dns1035_label, label_value, qualified_name];
        assert!(checks.iter().all(|check| check("웹").len() == 1));
    }

    #[test]
    fn a_percentage_is_digits_and_one_sign() {
        assert!(percent("0%").is_empty() && percent("250%").is_empty());
        for text in ["", "%", "-1%", "1", "1%%", "1.5%", "20Percent"] {
            assert_eq!(percent(text).len(), 1, "{text}");
        }
        let example = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        assert!(percent("")[0].ends_with(example));
    }
}
