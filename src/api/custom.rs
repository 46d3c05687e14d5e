//! Kinds that users define.
//!
//! A [`Kind`] is a small number, so what a number stands for is kept once for the whole program: a
//! table of names in which group, version, kind, plural and scope together get one number, as an
//! interner gives one to a text. The table decides nothing and is never listed. Which kinds a
//! cluster serves is the cluster's own state, its CustomResourceDefinitions; whoever reads words
//! of a person (`widgets`, `kind: Widget`) does so within [`serving`], which names the kinds of the
//! cluster that is spoken to. Kinds compare by their names, so that the numbers, which depend on
//! what the program did before, are never seen.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Generic, Kind, KindInfo};

/// How many kinds all users of one program may define.
pub const MAX_CUSTOM_KINDS: usize = 512;

static TABLE: RwLock<Vec<&'static KindInfo>> = RwLock::new(Vec::new());

/// The number of a kind that a user defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CustomKind(u16);

impl CustomKind {
    /// What it stands for.
    pub(super) fn info(self) -> &'static KindInfo {
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        // A number is given out only after its line was written, and no line is ever taken away.
        table.get(usize::from(self.0)).copied().unwrap_or(Kind::CustomResourceDefinition.info())
    }

    fn identity(self) -> (&'static str, &'static str, &'static str, bool) {
        let info = self.info();
        (info.api_version, info.kind, info.plural, info.namespaced)
    }
}

impl PartialOrd for CustomKind {
    fn partial_cmp(&self, other: &CustomKind) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CustomKind {
    fn cmp(&self, other: &CustomKind) -> Ordering {
        if self == other { Ordering::Equal } else { self.identity().cmp(&other.identity()) }
    }
}

/// The kind of these names; none once too many different ones were defined.
pub fn intern(api_version: &str, kind: &str, plural: &str, namespaced: bool) -> Option<Kind> {
    let identity = (api_version, kind, plural, namespaced);
    let find = |table: &[&'static KindInfo]| {
        let same = |info: &&'static KindInfo| {
            (info.api_version, info.kind, info.plural, info.namespaced) == identity
        };
        table.iter().find(|info| same(info)).map(|info| info.id)
    };
    if let Some(kind) = find(&TABLE.read().unwrap_or_else(PoisonError::into_inner)) {
        return Some(kind);
    }
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(kind) = find(&table) {
        return Some(kind);
    }
    let number = u16::try_from(table.len()).ok().filter(|_| table.len() < MAX_CUSTOM_KINDS)?;
    let id = Kind::Custom(CustomKind(number));
    let kept = |text: &str| -> &'static str { Box::leak(text.to_string().into_boxed_str()) };
    table.push(Box::leak(Box::new(KindInfo {
        id,
        api_version: kept(api_version),
        kind: kept(kind),
        plural: kept(plural),
        short: &[],
        namespaced,
        simulated: false,
    })));
    Some(id)
}

/// A kind that a cluster serves, with what defines it.
#[derive(Clone, Debug)]
pub struct Served {
    /// The kind.
    pub kind: Kind,
    /// Its CustomResourceDefinition.
    pub definition: Arc<Generic>,
}

impl Served {
    fn has_version(&self, api_version: &str) -> bool {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let versions = self.definition.field("spec/versions").and_then(|list| list.as_array());
        let is_it = |one: &super::Value| {
            one.get("name").and_then(|name| name.as_str()) == Some(version)
                && one.get("served").and_then(|served| served.as_bool()).unwrap_or(false)
        };
        self.kind.group() == group && versions.into_iter().flatten().any(is_it)
    }

    /// Short names on a kubectl line.
    pub fn short_names(&self) -> impl Iterator<Item = &str> {
        let list = self.definition.field("spec/names/shortNames").and_then(|list| list.as_array());
        list.into_iter().flatten().filter_map(|name| name.as_str())
    }

    fn is_called(&self, name: &str) -> bool {
        self.definition.text("spec/names/singular") == name
            || self.short_names().any(|short| short == name)
    }
}

thread_local! {
    static SERVED: RefCell<Arc<[Served]>> = RefCell::new(Arc::new([]));
}

/// Does something while names are read as a cluster that serves these kinds reads them.
pub fn serving<T>(kinds: Arc<[Served]>, action: impl FnOnce() -> T) -> T {
    let before = SERVED.with(|served| served.replace(kinds));
    let done = action();
    SERVED.with(|served| served.replace(before));
    done
}

/// The kinds of the cluster that is spoken to.
pub fn served() -> Arc<[Served]> {
    SERVED.with(|served| served.borrow().clone())
}

/// What defines a kind in the cluster that is spoken to.
pub fn definition(kind: Kind) -> Option<Arc<Generic>> {
    let served = served();
    served.iter().find(|one| one.kind == kind).map(|one| one.definition.clone())
}

pub(super) fn of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
    let served = served();
    let named = |one: &&Served| one.kind.info().kind == kind && one.has_version(api_version);
    served.iter().find(named).map(|one| one.kind)
}

pub(super) fn of_argument(name: &str, group: &str) -> Option<Kind> {
    let served = served();
    let named = |one: &&Served| {
        let info = one.kind.info();
        let called =
            info.plural == name || info.kind.eq_ignore_ascii_case(name) || one.is_called(name);
        let own = one.kind.group();
        let versioned = group.split_once('.').is_some_and(|(_, rest)| rest == own);
        called && (group.is_empty() || group == own || versioned)
    };
    served.iter().find(named).map(|one| one.kind)
}
