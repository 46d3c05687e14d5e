//! Sums over named quantities (`staging/src/k8s.io/apiserver/pkg/quota/v1/resources.go`).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::api::{Quantity, Str};

/// Quantities by the name of their resource.
pub type Amounts = BTreeMap<Str, Quantity>;

/// Adds all of `more` to `sum`.
pub fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let total = sum.entry(name.clone()).or_insert(Quantity { nanos: 0, format: amount.format });
        *total = *total + *amount;
    }
}

/// The greater of each.
pub fn raise(most: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        match most.get(name) {
            Some(had) if had.compare(amount) != Ordering::Less => {}
            _ => _ = most.insert(name.clone(), *amount),
        }
    }
}

/// `new` less `old`, of the resources of `new`; nothing below zero.
pub fn growth(new: &Amounts, old: &Amounts) -> Amounts {
    let less = |(name, amount): (&Str, &Quantity)| {
        let before = old.get(name).copied().unwrap_or_default();
        let grown = *amount - before;
        (name.clone(), if grown.nanos < 0 { Quantity::default() } else { grown })
    };
    new.iter().map(less).collect()
}

/// Only the resources that `names` accepts.
pub fn mask(amounts: &Amounts, names: impl Fn(&str) -> bool) -> Amounts {
    let kept = amounts.iter().filter(|(name, _)| names(name));
    kept.map(|(name, amount)| (name.clone(), *amount)).collect()
}

/// `cpu=1,pods=2`, as messages print it.
pub fn printed(amounts: &Amounts) -> String {
    let pairs: Vec<_> = amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    pairs.join(",")
}
