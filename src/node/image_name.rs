//! Names of images: the default tag, and whether a name can be one at all.
//!
//! Follows `applyDefaultImageTag` (`pkg/kubelet/images/image_manager.go`) and the grammar of
//! `github.com/distribution/reference`.

/// The image with the tag `latest` if it has neither tag nor digest.
pub fn with_default_tag(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains(':') || last.contains('@') {
        image.to_string()
    } else {
        format!("{image}:latest")
    }
}

/// What is wrong with a name, in the kubelet's words.
pub fn mistake(image: &str) -> Option<String> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let (domain, path) = match name.split_once('/') {
        Some((first, rest)) if is_domain(first) => (Some(first), rest),
        _ => (None, name),
    };
    let well_formed = domain.is_none_or(|domain| !domain.is_empty())
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
        && path.to_ascii_lowercase().split('/').all(is_path_component);
    let why = if !well_formed {
        "invalid reference format"
    } else if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        "invalid reference format: repository name must be lowercase"
    } else {
        return None;
    };
    Some(format!("couldn't parse image name {image:?}: {why}"))
}

/// Whether the first part of a name is a host: otherwise it is part of the path.
fn is_domain(part: &str) -> bool {
    let host = |byte: u8| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte);
    let tells = part.contains(['.', ':']) || part == "localhost";
    tells && part.bytes().all(host)
}

/// Letters and digits, with single dots, one or two underscores or any number of dashes between.
fn is_path_component(part: &str) -> bool {
    let words = part.split(['.', '_', '-']);
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let bytes = part.as_bytes();
    is_edge(bytes.first().copied())
        && is_edge(bytes.last().copied())
        && words.flat_map(str::bytes).all(|byte| byte.is_ascii_alphanumeric())
        && !["..", "___", "._", "_.", ".-", "-.", "_-", "-_"].iter().any(|pair| part.contains(pair))
}

fn is_tag(tag: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let first_is_word = tag.bytes().next().is_some_and(|b| inner(b) && !b".-".contains(&b));
    first_is_word && tag.len() <= 128 && tag.bytes().all(inner)
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return false;
    };
    let starts_well = algorithm.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    starts_well && hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_neither_tag_nor_digest_gets_the_default_tag() {
        for (image, tagged) in [
            ("root", "root:latest"),
            ("root:1", "root:1"),
            ("host:5000/root", "host:5000/root:latest"),
            ("host:5000/root:1", "host:5000/root:1"),
            ("root@sha256:abc", "root@sha256:abc"),
        ] {
            assert_eq!(with_default_tag(image), tagged);
        }
    }

    #[test]
    fn what_cannot_be_the_name_of_an_image_is_told() {
        let digest = format!("root@sha256:{}", "e3b0".repeat(16));
        for good in [
            "nginx",
            "nginx:1.27",
            "library/nginx",
            "registry.example/web:missing",
            "localhost:5000/a/b-c__d.e:v1",
            digest.as_str(),
        ] {
            assert_eq!(mistake(good), None, "{good}");
        }
        for bad in ["", "nginx:", "nginx:lat est", "a//b", "-a", "nginx:1:2", "a@sha256:1"] {
            let expected = format!("couldn't parse image name {bad:?}: invalid reference format");
            assert_eq!(mistake(bad), Some(expected), "{bad}");
        }
        let upper = mistake("Nginx:1").expect("it is wrong");
        assert!(upper.ends_with("repository name must be lowercase"));
    }
}
