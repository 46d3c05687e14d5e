//! Things that are found by the hash of their key, whatever others there are. Thousands of pods
//! have names that begin alike: to look for one of them in a tree means to read a dozen others'.
//! The order of hashes says nothing and differs from machine to machine, so whoever goes through
//! them does so in the order of keys.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A value for each key.
#[derive(Clone, Debug)]
pub struct Hashed<K, V>(HashTable<(K, V)>);

impl<K, V> Default for Hashed<K, V> {
    fn default() -> Hashed<K, V> {
        Hashed(HashTable::new())
    }
}

fn hash_of(key: &(impl Hash + ?Sized)) -> u64 {
    FxBuildHasher.hash_one(key)
}

impl<K: Hash + Ord, V> Hashed<K, V> {
    /// The value of a key.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.0.find(hash_of(key), |(own, _)| own.borrow() == key).map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.0.find_mut(hash_of(key), |(own, _)| own.borrow() == key).map(|(_, value)| value)
    }

    /// Whether a key has one.
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.get(key).is_some()
    }

    /// Gives a key a value; returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(own) = self.get_mut(&key) {
            return Some(std::mem::replace(own, value));
        }
        self.0.insert_unique(hash_of(&key), (key, value), |(own, _)| hash_of(own));
        None
    }

    /// The value of a key, to be changed; if it has none, it gets this one.
    pub fn get_or_insert_with(&mut self, key: &K, value: impl FnOnce() -> V) -> &mut V
    where
        K: Clone,
    {
        let entry = self.0.entry(hash_of(key), |(own, _)| own == key, |(own, _)| hash_of(own));
        &mut entry.or_insert_with(|| (key.clone(), value())).into_mut().1
    }

    /// Takes a key's value away.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let entry = self.0.find_entry(hash_of(key), |(own, _)| own.borrow() == key).ok()?;
        Some(entry.remove().0.1)
    }

    /// Whether no key has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All that `is_wanted`, in the order of keys. To put them in order takes its time.
    pub fn in_order(&self, is_wanted: impl Fn(&V) -> bool) -> Vec<(&K, &V)> {
        let wanted = self.0.iter().filter(|(_, value)| is_wanted(value));
        let mut all: Vec<(&K, &V)> = wanted.map(|(key, value)| (key, value)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// Changes each value, without regard to any other.
    pub fn change_each(&mut self, change: impl Fn(&mut V)) {
        self.0.iter_mut().for_each(|(_, value)| change(value));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kernel::Rng;

    #[test]
    fn it_is_as_a_tree_is_whatever_comes_and_goes() {
        let (mut hashed, mut tree) = (Hashed::default(), BTreeMap::new());
        let mut rng = Rng::stream(1, "test");
        for value in 0..5_000_u64 {
            let key = rng.below(300).to_string();
            assert_eq!(hashed.get(&key), tree.get(&key));
            match rng.below(5) {
                0 | 1 => assert_eq!(hashed.insert(key.clone(), value), tree.insert(key, value)),
                2 => {
                    *hashed.get_or_insert_with(&key, || value) += 1;
                    *tree.entry(key).or_insert(value) += 1;
                }
                _ => assert_eq!(hashed.remove(&key), tree.remove(&key)),
            }
        }
        hashed.change_each(|value| *value *= 2);
        tree.values_mut().for_each(|value| *value *= 2);
        assert!(hashed.in_order(|_| true).into_iter().eq(&tree));
        let few = hashed.in_order(|value| value % 3 == 0);
        assert!(few.into_iter().eq(tree.iter().filter(|(_, value)| *value % 3 == 0)));
        assert!(!hashed.is_empty());
        hashed.clear();
        assert!(hashed.is_empty() && hashed.in_order(|_| true).is_empty());
    }
}
