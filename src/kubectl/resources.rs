//! The objects that a line names.

use std::sync::Arc;

use crate::api::selector::Selector;
use crate::api::{Kind, Object, ObjectKey, Str};
use crate::apiserver::{check_field, field_is};
use crate::manifest;

use super::command::{Select, Target, Which};
use super::errors::not_found;
use super::{Api, Output};

/// What a target led to.
pub struct Found {
    /// The target's kind.
    pub kind: Kind,
    /// The objects, in the order of their names.
    pub objects: Vec<Arc<Object>>,
    /// Why a named object is not among them, in kubectl's words.
    pub missing: Option<String>,
}

/// Looks up every target. `--limit` counts over all of them.
pub fn find(select: &Select, api: &dyn Api) -> Vec<Found> {
    let mut left = select.limit.unwrap_or(usize::MAX);
    let mut found = Vec::new();
    for target in &select.targets {
        let mut one = look_up(target, select, api);
        if select.limit.is_some() {
            // What is going already is chosen last, so that the same line twice takes two.
            one.objects.sort_by_key(|object| object.meta().is_terminating());
            one.objects.truncate(left);
            left -= one.objects.len();
        }
        found.push(one);
    }
    found
}

fn look_up(target: &Target, select: &Select, api: &dyn Api) -> Found {
    let kind = target.kind;
    let found = |objects, missing| Found { kind, objects, missing };
    match &target.which {
        Which::All => match unknown_field(kind, select) {
            Some(error) => found(Vec::new(), Some(error)),
            None => found(list(kind, select, api), None),
        },
        Which::Name(name) => {
            let key = key_of(kind, name, select);
            match api.get(&key) {
                Some(object) => found(vec![object], None),
                None => found(Vec::new(), Some(not_found(&resource(kind), name))),
            }
        }
        Which::Key(key) => match api.get(key) {
            Some(object) => found(vec![object], None),
            None => found(Vec::new(), Some(not_found(&resource(kind), &key.name))),
        },
        Which::Chosen(selector, index) => {
            let mut objects = list(kind, select, api);
            objects.retain(|object| selector.matches(&object.meta().labels));
            objects.sort_by_key(|object| object.meta().is_terminating());
            match objects.into_iter().nth(*index) {
                Some(object) => found(vec![object], None),
                None => {
                    let name = format!("$({selector})[{index}]");
                    found(Vec::new(), Some(not_found(&resource(kind), &name)))
                }
            }
        }
    }
}

pub fn key_of(kind: Kind, name: &Str, select: &Select) -> ObjectKey {
    let namespace: Str = match &select.namespace {
        _ if !kind.info().namespaced => "".into(),
        Some(namespace) => namespace.clone(),
        None => "default".into(),
    };
    ObjectKey::new(kind, namespace, name.clone())
}

fn list(kind: Kind, select: &Select, api: &dyn Api) -> Vec<Arc<Object>> {
    let namespace = select.namespace.as_deref().filter(|_| kind.info().namespaced);
    let mut objects = api.list(kind, namespace);
    objects.retain(|object| fits(object, select));
    objects
}

/// Whether an object has the labels and the fields that a line asks for.
fn fits(object: &Object, select: &Select) -> bool {
    let labels = &object.meta().labels;
    if !select.selector.as_ref().is_none_or(|selector| selector.matches(labels)) {
        return false;
    }
    let fits =
        |(path, equal, wanted): &(String, bool, String)| field_is(object, path, wanted) == *equal;
    select.fields.iter().all(fits)
}

/// What the server says, and kubectl adds, where a kind cannot be selected by a field of the line.
fn unknown_field(kind: Kind, select: &Select) -> Option<String> {
    let why = select.fields.iter().find_map(|(path, ..)| check_field(kind, path).err())?;
    let info = kind.info();
    let (group, version) = info.api_version.split_once('/').unwrap_or(("", info.api_version));
    let labels = select.selector.as_ref().map(Selector::to_string).unwrap_or_default();
    let field = |(path, equal, value): &(String, bool, String)| {
        format!("{path}{}{value}", if *equal { "=" } else { "!=" })
    };
    let fields: Vec<String> = select.fields.iter().map(field).collect();
    Some(format!(
        "Error from server (BadRequest): Unable to find \"{group}/{version}, Resource={}\" that \
         match label selector {labels:?}, field selector {:?}: {why}",
        info.plural,
        fields.join(",")
    ))
}

/// Whether an object is one of those of its kind that a line without names asks for.
pub fn selects(select: &Select, object: &Object) -> bool {
    let namespace = select.namespace.as_ref().filter(|_| object.kind().info().namespaced);
    namespace.is_none_or(|namespace| *namespace == object.meta().namespace) && fits(object, select)
}

/// Makes the objects of a text those that a line names; what the text could not be read for.
pub fn from_text(select: &mut Select, stdin: Option<&str>) -> Vec<String> {
    let reading = manifest::read(stdin.unwrap_or(""));
    for document in &reading.documents {
        let mut key = document.object.key();
        let given = select.namespace.as_ref().filter(|_| select.namespace_given);
        let written = document.value.pointer("/metadata/namespace").is_some();
        if let Some(namespace) = given.filter(|_| key.kind.info().namespaced && !written) {
            key.namespace = namespace.clone();
        }
        let kind = key.kind;
        select.targets.push(Target { kind, which: Which::Key(key) });
    }
    reading.refusals
}

/// What is said where a line leads to nothing.
pub fn nothing_found(select: &Select, out: &mut Output) {
    let namespaced = select.targets.iter().any(|target| target.kind.info().namespaced);
    out.line(match &select.namespace {
        Some(namespace) if namespaced => format!("No resources found in {namespace} namespace."),
        _ => "No resources found".into(),
    });
}

/// `pods`, `deployments.apps`.
pub fn resource(kind: Kind) -> String {
    match kind.group() {
        "" => kind.info().plural.into(),
        group => format!("{}.{group}", kind.info().plural),
    }
}

/// `Pod`, `Deployment.apps`.
pub fn group_kind(kind: Kind) -> String {
    match kind.group() {
        "" => kind.info().kind.into(),
        group => format!("{}.{group}", kind.info().kind),
    }
}

/// `pod/web`, `deployment.apps/web`.
pub fn printed(object: &Object) -> String {
    format!("{}/{}", object.kind().printed(), object.meta().name)
}
