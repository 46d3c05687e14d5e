//! What a diagram shows of each lane: a cone of causes, what has to do with an object, or all of a
//! window in time. All are bounded, and what was left out is counted.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::api::ObjectKey;
use crate::kernel::Time;
use crate::scenario::Run;
use crate::view::log::Divergence;
use crate::world::{Cause, LaneId, PassRecord};

use super::book::{Book, Struck};
use super::{Ask, EVENTS_MAX, Focus, ItemId, PASSES_MAX};

/// What was chosen of each lane that is drawn, in the order of the books.
pub struct Chosen {
    /// Identities, in the order of the lanes shown.
    pub lanes: Vec<(LaneId, BTreeSet<ItemId>)>,
    /// Passes that were left out.
    pub left_out: usize,
    /// Watch events that were left out.
    pub events_left_out: usize,
}

/// Chooses.
pub fn choose(run: &Run, books: &[Book], divergences: &[Divergence], ask: &Ask) -> Chosen {
    let since =
        ask.within.map(|within| Time::ZERO + run.now().since(Time::ZERO).saturating_sub(within));
    let mut chosen = Chosen { lanes: Vec::new(), left_out: 0, events_left_out: 0 };
    for book in books {
        let (mut ids, left_out) = match &ask.focus {
            Focus::Pass(_, number) => cone(book, vec![ItemId::Pass(*number)]),
            Focus::Divergence(place) => match divergences.get(*place) {
                Some(found) => cone(book, roots(book, found)),
                None => continue,
            },
            Focus::Everything => window(book, run.now(), since, ask.idle, None),
            Focus::Object(key) => window(book, run.now(), since, ask.idle, Some(key)),
        };
        if ask.every_event {
            chosen.events_left_out += arrivals(book, run.now(), since, &ask.focus, &mut ids);
        }
        chosen.left_out += left_out;
        chosen.lanes.push((book.id(), ids));
    }
    chosen
}

fn concerns(pass: &PassRecord, key: &ObjectKey) -> bool {
    pass.key == *key
        || pass.acts.iter().any(|act| act.object == *key)
        || matches!(&pass.woken_by, Cause::Watch(_, object, _) if object == key)
}

/// Where the search for what led to a differing decision starts in a lane: from the pass that
/// decided, or from what this lane did instead, or never heard of.
fn roots(book: &Book, found: &Divergence) -> Vec<ItemId> {
    let own = match book.id() {
        LaneId::Edge => &found.edge,
        LaneId::Level => &found.level,
    };
    if let Some(pass) = own {
        return vec![ItemId::Pass(pass.number)];
    }
    let decider = found.level.as_ref().or(found.edge.as_ref());
    let Some(decider) = decider else { return Vec::new() };
    let id = decider.controller;
    let mut roots: Vec<ItemId> =
        book.untold(id, decider.started).into_iter().map(ItemId::Struck).collect();
    let mut died =
        book.lives.iter().filter(|(_, (at, who, up))| *who == id && !*up && *at <= decider.started);
    roots.extend(died.next_back().map(|(place, _)| ItemId::Life(*place)));
    if roots.is_empty() {
        // What it did last before, for the same object.
        let before = book.passes.values().rev().find(|pass| {
            pass.controller == id && pass.key == decider.key && pass.started <= decider.started
        });
        roots.extend(before.map(|pass| ItemId::Pass(pass.number)));
    }
    roots
}

/// All that led to some items, breadth first: of too much, the nearest.
fn cone(book: &Book, roots: Vec<ItemId>) -> (BTreeSet<ItemId>, usize) {
    let mut found = BTreeSet::new();
    let mut left_out = BTreeSet::new();
    let mut passes = 0;
    let mut next: VecDeque<ItemId> = roots.iter().copied().collect();
    while let Some(id) = next.pop_front() {
        if found.contains(&id) {
            continue;
        }
        if let ItemId::Pass(_) = id {
            if passes >= PASSES_MAX {
                left_out.insert(id);
                continue;
            }
            passes += 1;
        }
        found.insert(id);
        next.extend(behind(book, id));
    }
    // Of the pass that is asked about, all that it asked for.
    for root in roots {
        if let ItemId::Pass(number) = root {
            found.extend(requests(book, number));
        }
    }
    (found, left_out.len())
}

/// What an item came from, the nearest first.
pub fn behind(book: &Book, id: ItemId) -> Vec<ItemId> {
    match id {
        ItemId::Input(..) => Vec::new(),
        ItemId::Pass(number) => {
            book.passes.get(&number).map_or(Vec::new(), |pass| book.behind_pass(pass))
        }
        ItemId::Request(number, _) => vec![ItemId::Pass(number)],
        ItemId::Waking(number) => {
            let Some(pass) = book.passes.get(&number) else { return Vec::new() };
            let Cause::Watch(_, _, trip) = &pass.woken_by else { return Vec::new() };
            let fault = struck_on_way(book, pass).and_then(|struck| book.behind_struck(struck));
            book.behind_write(trip.revision, trip.sent).into_iter().chain(fault).collect()
        }
        ItemId::Arrival(place) => {
            let Some(arrival) = book.arrivals.get(place) else { return Vec::new() };
            book.behind_write(arrival.trip.revision, arrival.trip.sent).into_iter().collect()
        }
        ItemId::Struck(place) => {
            let Some(struck) = book.struck.get(&place) else { return Vec::new() };
            let write = book.behind_write(struck.trip.revision, struck.trip.sent);
            write.into_iter().chain(book.behind_struck(struck)).collect()
        }
        ItemId::Life(place) => {
            let at = book.lives.get(&place).map(|(at, ..)| *at);
            at.and_then(|at| book.behind_life(at)).into_iter().collect()
        }
    }
}

/// The fault that the watch event met which woke a pass, if it met one.
pub fn struck_on_way<'a>(book: &'a Book, pass: &PassRecord) -> Option<&'a Struck<'a>> {
    let Cause::Watch(_, _, trip) = &pass.woken_by else { return None };
    book.struck
        .values()
        .find(|struck| struck.to == pass.controller && struck.trip.revision == trip.revision)
}

fn requests(book: &Book, number: u64) -> impl Iterator<Item = ItemId> {
    let count = book.passes.get(&number).map_or(0, |pass| pass.acts.len());
    (0..count).map(move |index| ItemId::Request(number, index))
}

/// The passes around a moment that fit, with all that touches them.
fn window(
    book: &Book,
    now: Time,
    since: Option<Time>,
    idle: bool,
    of: Option<&ObjectKey>,
) -> (BTreeSet<ItemId>, usize) {
    const AFTER: usize = PASSES_MAX / 3;
    let fits = |pass: &&&Arc<PassRecord>| {
        (idle || !pass.is_idle()) && of.is_none_or(|key| concerns(pass, key))
    };
    let fitting = || book.passes.values().filter(fits);
    let shown = |pass: &&&Arc<PassRecord>| since.is_none_or(|since| pass.started >= since);
    let mut past: Vec<u64> =
        fitting().filter(shown).filter(|p| p.started <= now).map(|p| p.number).collect();
    let mut future: Vec<u64> = fitting().filter(|p| p.started > now).map(|p| p.number).collect();
    let fitted = fitting().count();
    past.drain(..past.len().saturating_sub(PASSES_MAX - AFTER.min(future.len())));
    future.truncate(AFTER);
    past.append(&mut future);
    let left_out = fitted - past.len();
    let first = past.iter().filter_map(|number| book.passes.get(number)).map(|p| p.started).min();
    let mut found = BTreeSet::new();
    for number in past {
        found.insert(ItemId::Pass(number));
        found.extend(requests(book, number));
        let woken = behind(book, ItemId::Pass(number));
        // Who was before it is there by itself, if it fits.
        let near = woken.iter().filter(|id| !matches!(id, ItemId::Pass(_)));
        for id in near {
            found.insert(*id);
            let source = behind(book, *id);
            found.extend(source.into_iter().filter(|id| matches!(id, ItemId::Input(..))));
        }
    }
    let from = since.into_iter().chain(first).max().unwrap_or(Time::ZERO);
    let struck = book.struck.iter().filter(|(_, struck)| {
        struck.at >= from && of.is_none_or(|key| struck.object == key) && is_alone(book, struck)
    });
    found.extend(struck.take(PASSES_MAX).map(|(place, _)| ItemId::Struck(*place)));
    if of.is_none() {
        let inputs = book.inputs().filter(|(_, input)| input.at >= from);
        found.extend(inputs.take(PASSES_MAX).map(|(id, _)| id));
        let lives = book.lives.iter().filter(|(_, (at, ..))| *at >= from);
        found.extend(lives.take(PASSES_MAX).map(|(place, _)| ItemId::Life(*place)));
    }
    (found, left_out)
}

/// Adds the watch events, of all or of one object, that woke none of the passes chosen: from the
/// first of these to the last, the nearest to a moment. How many were left out.
fn arrivals(
    book: &Book,
    now: Time,
    since: Option<Time>,
    focus: &Focus,
    ids: &mut BTreeSet<ItemId>,
) -> usize {
    const AFTER: usize = EVENTS_MAX / 3;
    let of = match focus {
        Focus::Everything => None,
        Focus::Object(key) => Some(key),
        Focus::Pass(..) | Focus::Divergence(_) => return 0,
    };
    let chosen = |number: u64| ids.contains(&ItemId::Pass(number));
    let passes = || book.passes.values().filter(|pass| chosen(pass.number));
    let from = since.or(passes().map(|pass| pass.started).min()).unwrap_or(Time::ZERO);
    let to = passes().filter_map(|pass| pass.ended).max().unwrap_or(now);
    let place = |at: Time| book.arrivals.partition_point(|arrival| arrival.trip.arrived <= at);
    let begin = book.arrivals.partition_point(|arrival| arrival.trip.arrived < from);
    let present = place(now).max(begin);
    let fits = |place: &usize| {
        book.arrivals.get(*place).is_some_and(|arrival| {
            of.is_none_or(|key| arrival.object == *key)
                && !book.woken(arrival.to, arrival.trip.revision).is_some_and(chosen)
        })
    };
    let future: Vec<usize> = (present..place(to)).filter(fits).collect();
    let past: Vec<usize> = (begin..present).filter(fits).collect();
    let after = future.len().min(AFTER);
    let before = past.len().min(EVENTS_MAX - after);
    let left_out = past.len() + future.len() - before - after;
    let near = past.into_iter().rev().take(before).chain(future.into_iter().take(after));
    let near: Vec<ItemId> = near.map(ItemId::Arrival).collect();
    ids.extend(near);
    left_out
}

/// Whether a struck message woke nobody: one that did is drawn as what woke the pass.
fn is_alone(book: &Book, struck: &Struck) -> bool {
    book.woken(struck.to, struck.trip.revision).is_none()
}
