//! Reading many objects at a version: the options of a list, what they may be, and the answer.
//! Kubernetes: apimachinery `pkg/apis/meta/internalversion/validation`, apiserver `pkg/storage`.
//!
//! A list at a version not older than one asked for is answered with the newest. Left out: the
//! watch cache, whose lists may be a little older.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::api::selector::Selector;
use crate::api::{FieldError, Kind, Object, ObjectKey, Str, Value};

use super::{ApiError, ApiServer, FieldSelector, Reason, Response, Store};

const EXACT: &str = "Exact";
const NOT_OLDER: &str = "NotOlderThan";

/// `metav1.ListOptions`, as they stand in an address. An empty text is not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// Only of this namespace.
    pub namespace: Option<Str>,
    /// Only with these labels.
    pub labels: Option<Selector>,
    /// Only with these fields.
    pub fields: FieldSelector,
    /// The version to read at, or to watch from.
    pub resource_version: String,
    /// `Exact` or `NotOlderThan`.
    pub resource_version_match: String,
    /// Whether a watch is asked for.
    pub watch: bool,
    /// Whether a watch begins with what is there already.
    pub send_initial_events: Option<bool>,
    /// Whether a watch may tell of versions alone.
    pub allow_watch_bookmarks: bool,
    /// At most so many; 0: all.
    pub limit: usize,
    /// Where the last answer ended.
    pub continue_token: String,
}

/// The answer to a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The objects, by namespace and name.
    pub items: Vec<Arc<Object>>,
    /// The version at which they were read.
    pub resource_version: u64,
    /// For the next part; empty at the end.
    pub continue_token: String,
    /// How many are left.
    pub remaining: usize,
}

/// What the API server holds against options (`ValidateListOptions`); `watch_list` is the feature
/// of that name.
pub fn validate_list_options(options: &ListOptions, watch_list: bool) -> Vec<String> {
    let mut errors = Vec::new();
    let matching = options.resource_version_match.as_str();
    let forbid = |field: &str, detail: &str| FieldError::forbidden(field, detail);
    let on_match = |detail: &str| forbid("resourceVersionMatch", detail);
    let continued = "resourceVersionMatch is forbidden when continue is provided";
    if options.watch {
        if options.send_initial_events.is_some() {
            if matching != NOT_OLDER {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                errors.push(on_match(why));
            }
            if !watch_list {
                let why = "sendInitialEvents is forbidden for watch unless the WatchList feature \
                           gate is enabled";
                errors.push(forbid("sendInitialEvents", why));
            }
        }
        if !matching.is_empty() {
            if options.send_initial_events.is_none() {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents \
                           is provided";
                errors.push(on_match(why));
            }
            if matching != NOT_OLDER {
                errors.push(unknown_match(matching, &[NOT_OLDER]));
            }
            if !options.continue_token.is_empty() {
                errors.push(on_match(continued));
            }
        }
        return errors.iter().map(FieldError::to_string).collect();
    }
    if !matching.is_empty() {
        if options.resource_version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            errors.push(on_match(why));
        }
        if !options.continue_token.is_empty() {
            errors.push(on_match(continued));
        }
        if ![EXACT, NOT_OLDER].contains(&matching) {
            errors.push(unknown_match(matching, &[EXACT, NOT_OLDER, ""]));
        }
        if matching == EXACT && options.resource_version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(on_match(why));
        }
    }
    if options.send_initial_events.is_some() {
        let why = "sendInitialEvents is forbidden for list";
        errors.push(forbid("sendInitialEvents", why));
    }
    errors.iter().map(FieldError::to_string).collect()
}

fn unknown_match(word: &str, known: &[&str]) -> FieldError {
    FieldError::not_supported("resourceVersionMatch", word, known)
}

/// Refuses options that may not be.
pub(super) fn check(kind: Kind, options: &ListOptions) -> Result<(), ApiError> {
    match validate_list_options(options, true).as_slice() {
        [] => {
            let fields = options.fields.check(kind);
            fields.map_err(|text| ApiError::new(Reason::BadRequest, text))
        }
        errors => {
            let list = match errors {
                [one] => one.clone(),
                many => format!("[{}]", many.join(", ")),
            };
            let what = kind.info().plural;
            let text = format!("ListOptions.meta.k8s.io {what:?} is invalid: {list}");
            Err(ApiError::new(Reason::Invalid, text))
        }
    }
}

/// Reads a version off an address; an empty text is 0.
pub(super) fn version(text: &str) -> Result<u64, ApiError> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let text = format!("Invalid value: {text:?}: invalid resource version");
        ApiError::new(Reason::BadRequest, format!("resourceVersion: {text}"))
    })
}

/// A version that nobody has given out yet cannot be read.
fn must_be_there(asked: u64, store: &Store) -> Result<(), ApiError> {
    let current = store.revision();
    if asked <= current {
        return Ok(());
    }
    let text = format!("Too large resource version: {asked}, current: {current}");
    Err(ApiError::new(Reason::Timeout, text))
}

impl ListOptions {
    /// Whether an object is asked for.
    pub fn select(&self, object: &Object) -> bool {
        let meta = object.meta();
        self.namespace.as_ref().is_none_or(|namespace| meta.namespace == *namespace)
            && self.labels.as_ref().is_none_or(|labels| labels.matches(&meta.labels))
            && self.fields.matches(object)
    }
}

impl ApiServer {
    /// Reads one object, not older than a version (empty: the newest there is).
    pub fn get(&self, key: &ObjectKey, resource_version: &str) -> Response {
        must_be_there(version(resource_version)?, self.store())?;
        self.read(key).cloned()
    }

    /// Reads the objects of a kind.
    pub fn list(&self, kind: Kind, options: &ListOptions) -> Result<Listed, ApiError> {
        check(kind, options)?;
        let store = self.store();
        let asked = version(&options.resource_version)?;
        must_be_there(asked, store)?;
        if asked > 0 && !options.continue_token.is_empty() {
            let text = "specifying resource version is not allowed when using continue";
            return Err(ApiError::new(Reason::BadRequest, text));
        }
        let (at, after) = match options.continue_token.as_str() {
            "" => (asked, None),
            token => read_token(token)?,
        };
        // With a limit, a version without a match is meant exactly, as it always was.
        let bare = options.resource_version_match.is_empty() && options.limit > 0;
        let exact = at > 0 && (after.is_some() || bare || options.resource_version_match == EXACT);
        let read_at = if exact { at } else { store.revision() };
        let found: Vec<Arc<Object>> = if read_at == store.revision() {
            store.list(kind).filter(|object| options.select(object)).cloned().collect()
        } else {
            let all = at_version(store, kind, read_at).map_err(|error| too_old(error, &after))?;
            all.into_values().filter(|object| options.select(object)).collect()
        };
        let mut items: Vec<Arc<Object>> = match &after {
            Some(last) => found.into_iter().filter(|object| object.key() > *last).collect(),
            None => found,
        };
        let (mut continue_token, mut remaining) = (String::new(), 0);
        if options.limit > 0 && items.len() > options.limit {
            remaining = items.len() - options.limit;
            items.truncate(options.limit);
            continue_token = items.last().map(|o| token(read_at, &o.key())).unwrap_or_default();
        }
        Ok(Listed { items, resource_version: read_at, continue_token, remaining })
    }
}

/// All objects of a kind as they were at a version: the newest, with what came later undone.
fn at_version(
    store: &Store,
    kind: Kind,
    version: u64,
) -> Result<BTreeMap<ObjectKey, Arc<Object>>, ApiError> {
    let mut objects: BTreeMap<ObjectKey, Arc<Object>> =
        store.list(kind).map(|object| (object.key(), object.clone())).collect();
    let later: Vec<_> = store.since(version)?.filter(|c| c.object().kind() == kind).collect();
    for commit in later.into_iter().rev() {
        let key = commit.object().key();
        match &commit.before {
            Some(before) => objects.insert(key, before.clone()),
            None => objects.remove(&key),
        };
    }
    Ok(objects)
}

fn too_old(error: ApiError, after: &Option<ObjectKey>) -> ApiError {
    let text = match after {
        None => "The resourceVersion for the provided list is too old.",
        Some(_) => {
            "The provided continue parameter is too old to display a consistent list result. You \
             can start a new list without the continue parameter."
        }
    };
    if error.reason == Reason::Expired { ApiError::new(Reason::Expired, text) } else { error }
}

/// A token holds the version and the last object; clients keep it as it is.
fn token(version: u64, last: &ObjectKey) -> String {
    let start = format!("{}/{}\0", last.namespace, last.name);
    let kind = last.kind.info().kind;
    let value = json!({"v": "meta.k8s.io/v1", "rv": version, "start": start, "kind": kind});
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn read_token(text: &str) -> Result<(u64, Option<ObjectKey>), ApiError> {
    let bad = || {
        let text = "continue key is not valid: incorrect encoded start resourceVersion (version \
                    meta.k8s.io/v1)";
        ApiError::new(Reason::BadRequest, text)
    };
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| bad())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| bad())?;
    let version = value.get("rv").and_then(Value::as_u64).filter(|&rv| rv > 0).ok_or_else(bad)?;
    let word = |field: &str| value.get(field).and_then(Value::as_str);
    let start = word("start").and_then(|start| start.trim_end_matches('\0').split_once('/'));
    let (namespace, name) = start.ok_or_else(bad)?;
    let kinds = Kind::all().iter();
    let kind = kinds.map(|info| info.id).find(|kind| Some(kind.info().kind) == word("kind"));
    let kind = kind.ok_or_else(bad)?;
    Ok((version, Some(ObjectKey::new(kind, namespace, name))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apiserver::Request;
    use crate::kernel::Time;

    fn server(names: &[&str]) -> ApiServer {
        let mut server = ApiServer::new(1);
        for name in names {
            let value = json!({"metadata": {"name": name, "namespace": "default"}});
            let object = Object::from_value(Kind::ConfigMap, value).unwrap();
            server.handle(&Request::Create(Arc::new(object)), Time::ZERO).unwrap();
        }
        server
    }

    fn names(listed: &Listed) -> Vec<String> {
        listed.items.iter().map(|object| object.meta().name.to_string()).collect()
    }

    #[test]
    fn a_list_in_parts_is_read_at_the_version_of_its_first_part() {
        let mut server = server(&["a", "b", "c"]);
        let options = ListOptions { limit: 2, ..ListOptions::default() };
        let first = server.list(Kind::ConfigMap, &options).unwrap();
        assert_eq!((names(&first), first.remaining), (vec!["a".into(), "b".into()], 1));
        let key = ObjectKey::new(Kind::ConfigMap, "default", "c");
        server.handle(&Request::Delete(key, Default::default()), Time::ZERO).unwrap();
        let next = ListOptions { continue_token: first.continue_token, ..options };
        let second = server.list(Kind::ConfigMap, &next).unwrap();
        assert_eq!(names(&second), ["c"]);
        assert_eq!(second.resource_version, first.resource_version);
        server.compact();
        let error = server.list(Kind::ConfigMap, &next).unwrap_err();
        assert_eq!(error.reason, Reason::Expired);
        let wrong = ListOptions { continue_token: "?".into(), ..ListOptions::default() };
        let error = server.list(Kind::ConfigMap, &wrong).unwrap_err();
        assert_eq!(error.reason, Reason::BadRequest);
    }
}
