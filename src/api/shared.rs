//! Lists and maps that are copied far more often than they are changed: copies share one, and the
//! first change of a copy makes it its own. Each write of a pod's status makes a new pod; its
//! labels, containers, tolerations and owners are the same ones.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What can be shared: reads of one without contents go to a constant.
pub trait Collection: 'static {
    /// One without contents.
    const EMPTY: &'static Self;
    /// Whether it has no contents.
    fn is_empty(&self) -> bool;
}

impl<T: 'static> Collection for Vec<T> {
    const EMPTY: &'static Vec<T> = &Vec::new();

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl<K: 'static, V: 'static> Collection for BTreeMap<K, V> {
    const EMPTY: &'static BTreeMap<K, V> = &BTreeMap::new();

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// A collection whose copies cost nothing until they are changed. Reads and changes are those of
/// the collection within.
pub struct Shared<C>(Option<Arc<C>>);

/// A shared list.
pub type SharedList<T> = Shared<Vec<T>>;
/// A shared map, in the order of its keys.
pub type SharedMap<K, V> = Shared<BTreeMap<K, V>>;

impl<C> Shared<C> {
    /// One without contents, which takes no memory.
    pub const fn new() -> Shared<C> {
        Shared(None)
    }

    fn is_same(&self, other: &Shared<C>) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<C: Collection> Shared<C> {
    /// Whether it has no contents.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|own| own.is_empty())
    }
}

impl<C: Collection + Clone + Default + PartialEq> Shared<C> {
    /// Changes it. One that stays as it was goes on being shared.
    pub fn revise(&mut self, change: impl FnOnce(&mut C)) {
        let Some(shared) = self.0.as_mut().filter(|own| Arc::strong_count(own) > 1) else {
            return change(self);
        };
        let mut own = C::clone(shared);
        change(&mut own);
        if own != **shared {
            *self = own.into();
        }
    }
}

impl<K: Ord + Clone + 'static, V: Clone + 'static> SharedMap<K, V> {
    /// What stands under a key, to be changed. A map that does not have it goes on being shared.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        self.deref_mut().get_mut(key)
    }

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

impl<C: Collection> Deref for Shared<C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.0.as_deref().unwrap_or(C::EMPTY)
    }
}

impl<C: Collection + Clone + Default> DerefMut for Shared<C> {
    fn deref_mut(&mut self) -> &mut C {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<C> Clone for Shared<C> {
    fn clone(&self) -> Shared<C> {
        Shared(self.0.clone())
    }
}

impl<C> Default for Shared<C> {
    fn default() -> Shared<C> {
        Shared::new()
    }
}

impl<C: Collection + PartialEq> PartialEq for Shared<C> {
    fn eq(&self, other: &Shared<C>) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<C: Collection + Eq> Eq for Shared<C> {}

impl<C: Collection + Ord> PartialOrd for Shared<C> {
    fn partial_cmp(&self, other: &Shared<C>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C: Collection + Ord> Ord for Shared<C> {
    fn cmp(&self, other: &Shared<C>) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<C: Collection + fmt::Debug> fmt::Debug for Shared<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<C: Collection> From<C> for Shared<C> {
    fn from(own: C) -> Shared<C> {
        Shared((!own.is_empty()).then(|| Arc::new(own)))
    }
}

impl<T: 'static, const N: usize> From<[T; N]> for SharedList<T> {
    fn from(items: [T; N]) -> SharedList<T> {
        Vec::from(items).into()
    }
}

impl<K: Ord + 'static, V: 'static, const N: usize> From<[(K, V); N]> for SharedMap<K, V> {
    fn from(entries: [(K, V); N]) -> SharedMap<K, V> {
        BTreeMap::from(entries).into()
    }
}

impl<A, C: Collection + FromIterator<A>> FromIterator<A> for Shared<C> {
    fn from_iter<I: IntoIterator<Item = A>>(items: I) -> Shared<C> {
        items.into_iter().collect::<C>().into()
    }
}

impl<C: Clone + Default + IntoIterator> IntoIterator for Shared<C> {
    type Item = C::Item;
    type IntoIter = C::IntoIter;

    fn into_iter(self) -> C::IntoIter {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<'a, C: Collection> IntoIterator for &'a Shared<C>
where
    &'a C: IntoIterator,
{
    type Item = <&'a C as IntoIterator>::Item;
    type IntoIter = <&'a C as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<'a, T: Clone + 'static> IntoIterator for &'a mut SharedList<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    /// An empty list stays without memory of its own.
    fn into_iter(self) -> std::slice::IterMut<'a, T> {
        match self.is_empty() {
            true => Default::default(),
            false => self.iter_mut(),
        }
    }
}

impl<C: Collection + Serialize> Serialize for Shared<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, C: Collection + Deserialize<'de>> Deserialize<'de> for Shared<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared<C>, D::Error> {
        C::deserialize(deserializer).map(Shared::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_its_items_until_it_is_changed() {
        let first = SharedList::from([1, 2]);
        let mut second = first.clone();
        assert!(first.is_same(&second));
        second.push(3);
        assert!(!first.is_same(&second));
        assert_eq!((&**first, &**second), (&[1, 2][..], &[1, 2, 3][..]));
    }

    #[test]
    fn a_revision_that_changes_nothing_leaves_it_shared() {
        let first = SharedList::from([1, 2]);
        let mut second = first.clone();
        second.revise(|list| list.retain(|item| *item > 0));
        assert!(first.is_same(&second));
        second.revise(|list| list.retain(|item| *item > 1));
        assert_eq!((&**first, &**second), (&[1, 2][..], &[2][..]));
        let mut alone = SharedList::new();
        alone.revise(|list| list.push(1));
        assert_eq!(alone, SharedList::from([1]));
    }

    #[test]
    fn lists_with_the_same_items_are_equal_however_they_came_about() {
        let mut emptied = SharedList::from([1]);
        emptied.clear();
        assert_eq!(emptied, SharedList::new());
        assert_eq!(SharedList::from([1]), SharedList::from_iter([1]));
        assert_ne!(SharedList::from([1]), SharedList::from([2]));
    }

    #[test]
    fn it_is_read_and_written_as_a_plain_list() {
        let list: SharedList<u8> = serde_json::from_str("[2,1]").expect("a list");
        assert_eq!(serde_json::to_string(&list).ok().as_deref(), Some("[2,1]"));
    }

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
