//! What a Deployment's ReplicaSets should do next. Both flavours ask here: level about the sets
//! that its cache shows, edge about those that its ledger remembers.
//!
//! Follows `syncDeployment` in `pkg/controller/deployment/deployment_controller.go`, and `sync` in
//! `pkg/controller/deployment/sync.go`.

use crate::api::{Deployment, ReplicaSet, ScaleError, Str};

use super::{fenceposts, history, proportional, recreate, rolling};

/// For the uid of each set that has pods: whether one of them has not finished.
pub type Running<'a> = Box<dyn Iterator<Item = (&'a Str, bool)> + 'a>;

/// A Deployment and its sets.
pub struct Rollout<'a> {
    /// It, with the status that was last written.
    pub deployment: &'a Deployment,
    /// The set of its present template.
    pub new: Option<&'a ReplicaSet>,
    /// All others.
    pub old: Vec<&'a ReplicaSet>,
    /// Who of them has pods; asked only by Recreate.
    pub pods: &'a dyn Fn() -> Running<'a>,
}

/// A set's next size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resize {
    /// The set.
    pub name: Str,
    /// Its size before.
    pub from: i32,
    /// Its size afterwards. If it is the same, the set only learns the Deployment's size.
    pub to: i32,
}

impl Resize {
    /// This set to this size, if it is another.
    pub fn of(set: &ReplicaSet, to: i32) -> Option<Resize> {
        let (name, from) = (set.metadata.name.clone(), set.spec.replicas());
        (from != to).then_some(Resize { name, from, to })
    }
}

/// One thing to do to a ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// Make this one.
    Create(Box<ReplicaSet>),
    /// Give it another size.
    Resize(Resize),
    /// Forget this old one.
    Delete(Str),
}

impl Move {
    pub(super) fn delete(set: &ReplicaSet) -> Move {
        Move::Delete(set.metadata.name.clone())
    }
}

/// What to do next, and how to tell of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    /// In this order.
    pub moves: Vec<Move>,
    /// Whether the status tells of a rollout. A change of size or a pause estimates no progress.
    pub is_rollout: bool,
}

impl Rollout<'_> {
    fn sets(&self) -> Vec<&ReplicaSet> {
        self.old.iter().copied().chain(self.new).collect()
    }

    /// The next moves.
    pub fn moves(&self) -> Result<Moves, ScaleError> {
        let deployment = self.deployment;
        let paused = deployment.spec.paused;
        if paused || proportional::is_due(deployment, &self.sets()) {
            return Ok(Moves { moves: self.scale(paused), is_rollout: false });
        }
        let moves = if fenceposts::is_rolling(deployment) {
            rolling::moves(self)?
        } else {
            recreate::moves(self)?
        };
        Ok(Moves { moves, is_rollout: true })
    }

    fn scale(&self, clean_up: bool) -> Vec<Move> {
        let resizes = proportional::scale(self.deployment, self.new, &self.old);
        let mut moves: Vec<Move> = resizes.into_iter().map(Move::Resize).collect();
        if clean_up {
            let gone = history::sets_to_delete(self.deployment, &self.old);
            moves.extend(gone.iter().map(|set| Move::delete(set)));
        }
        moves
    }
}
