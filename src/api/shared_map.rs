//! A map that is copied far more often than it is changed: copies share one, and the first change
//! of a copy makes it its own.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::{IntoIter, Iter};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An ordered map whose copies cost nothing until they are changed. Reads and changes are those of
/// the `BTreeMap` within.
pub struct SharedMap<K, V>(Option<Arc<BTreeMap<K, V>>>);

impl<K: 'static, V: 'static> SharedMap<K, V> {
    const EMPTY: &'static BTreeMap<K, V> = &BTreeMap::new();
}

impl<K, V> SharedMap<K, V> {
    /// A map without entries, which takes no memory.
    pub const fn new() -> SharedMap<K, V> {
        SharedMap(None)
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|map| map.is_empty())
    }

    fn is_same(&self, other: &SharedMap<K, V>) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<K: Ord + Clone + 'static, V: Clone + 'static> SharedMap<K, V> {
    /// Takes an entry out. A map that does not have it goes on being shared.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        self.deref_mut().remove(key)
    }
}

impl<K: 'static, V: 'static> Deref for SharedMap<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        self.0.as_deref().unwrap_or(Self::EMPTY)
    }
}

impl<K: Clone + 'static, V: Clone + 'static> DerefMut for SharedMap<K, V> {
    fn deref_mut(&mut self) -> &mut BTreeMap<K, V> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> SharedMap<K, V> {
        SharedMap(self.0.clone())
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> SharedMap<K, V> {
        SharedMap::new()
    }
}

impl<K: PartialEq + 'static, V: PartialEq + 'static> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &SharedMap<K, V>) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<K: Eq + 'static, V: Eq + 'static> Eq for SharedMap<K, V> {}

impl<K: Ord + 'static, V: Ord + 'static> PartialOrd for SharedMap<K, V> {
    fn partial_cmp(&self, other: &SharedMap<K, V>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord + 'static, V: Ord + 'static> Ord for SharedMap<K, V> {
    fn cmp(&self, other: &SharedMap<K, V>) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<K: fmt::Debug + 'static, V: fmt::Debug + 'static> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<K, V> From<BTreeMap<K, V>> for SharedMap<K, V> {
    fn from(map: BTreeMap<K, V>) -> SharedMap<K, V> {
        SharedMap((!map.is_empty()).then(|| Arc::new(map)))
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SharedMap<K, V> {
    fn from(entries: [(K, V); N]) -> SharedMap<K, V> {
        BTreeMap::from(entries).into()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> SharedMap<K, V> {
        entries.into_iter().collect::<BTreeMap<K, V>>().into()
    }
}

impl<K: Clone, V: Clone> IntoIterator for SharedMap<K, V> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<'a, K: 'static, V: 'static> IntoIterator for &'a SharedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K: Serialize + 'static, V: Serialize + 'static> Serialize for SharedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for SharedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SharedMap<K, V>, D::Error> {
        BTreeMap::deserialize(deserializer).map(SharedMap::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_its_entries_until_it_is_changed() {
        let first = SharedMap::from([("app", 1)]);
        let mut second = first.clone();
        assert!(first.is_same(&second));
        second.insert("tier", 2);
        assert!(!first.is_same(&second));
        assert_eq!((first.len(), second.len()), (1, 2));
    }

    #[test]
    fn taking_out_what_is_not_there_leaves_it_shared() {
        let first = SharedMap::from([("app", 1)]);
        let mut second = first.clone();
        assert_eq!(second.remove("tier"), None);
        assert!(first.is_same(&second));
        assert_eq!(second.remove("app"), Some(1));
        assert_eq!((first.len(), second.is_empty()), (1, true));
    }

    #[test]
    fn maps_with_the_same_entries_are_equal_however_they_came_about() {
        let mut emptied = SharedMap::from([("app", 1)]);
        emptied.remove("app");
        assert_eq!(emptied, SharedMap::new());
        assert_eq!(SharedMap::from([("app", 1)]), SharedMap::from_iter([("app", 1)]));
        assert_ne!(SharedMap::from([("app", 1)]), SharedMap::from([("app", 2)]));
    }

    #[test]
    fn it_is_read_and_written_as_a_plain_map() {
        let map: SharedMap<String, u8> = serde_json::from_str(r#"{"b":2,"a":1}"#).expect("a map");
        assert_eq!(serde_json::to_string(&map).ok().as_deref(), Some(r#"{"a":1,"b":2}"#));
    }
}
