//! A list that is copied far more often than it is changed: copies share one, and the first change
//! of a copy makes it its own. Each write of a pod's status makes a new pod; its containers,
//! tolerations and owners are the same ones.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list whose copies cost nothing until they are changed. Reads and changes are those of the
/// `Vec` within.
pub struct SharedList<T>(Option<Arc<Vec<T>>>);

impl<T: 'static> SharedList<T> {
    const EMPTY: &'static Vec<T> = &Vec::new();
}

impl<T> SharedList<T> {
    /// A list without items, which takes no memory.
    pub const fn new() -> SharedList<T> {
        SharedList(None)
    }

    /// Whether it has no items.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|list| list.is_empty())
    }

    fn is_same(&self, other: &SharedList<T>) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<T: Clone + PartialEq + 'static> SharedList<T> {
    /// Changes it. A list that stays as it was goes on being shared.
    pub fn revise(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let Some(shared) = self.0.as_mut().filter(|list| Arc::strong_count(list) > 1) else {
            return change(self);
        };
        let mut own = Vec::clone(shared);
        change(&mut own);
        if own != **shared {
            *self = own.into();
        }
    }
}

impl<T: 'static> Deref for SharedList<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        self.0.as_deref().unwrap_or(Self::EMPTY)
    }
}

impl<T: Clone + 'static> DerefMut for SharedList<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T> Clone for SharedList<T> {
    fn clone(&self) -> SharedList<T> {
        SharedList(self.0.clone())
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> SharedList<T> {
        SharedList::new()
    }
}

impl<T: PartialEq + 'static> PartialEq for SharedList<T> {
    fn eq(&self, other: &SharedList<T>) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: Eq + 'static> Eq for SharedList<T> {}

impl<T: fmt::Debug + 'static> fmt::Debug for SharedList<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(list: Vec<T>) -> SharedList<T> {
        SharedList((!list.is_empty()).then(|| Arc::new(list)))
    }
}

impl<T, const N: usize> From<[T; N]> for SharedList<T> {
    fn from(items: [T; N]) -> SharedList<T> {
        Vec::from(items).into()
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> SharedList<T> {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T: Clone> IntoIterator for SharedList<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> std::vec::IntoIter<T> {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<'a, T: 'static> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.iter()
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

impl<T: Serialize + 'static> Serialize for SharedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SharedList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SharedList<T>, D::Error> {
        Vec::deserialize(deserializer).map(SharedList::from)
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
}
