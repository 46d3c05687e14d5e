//! From what was chosen to what is drawn: columns, bars, arrows, and what came from what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::Str;
use crate::kernel::Time;
use crate::view::build::{loop_id, pass_view};
use crate::view::log::Divergence;
use crate::world::{Act, Arrival, Cause, ControllerId, LaneId, PassRecord};

use super::book::{Book, Struck};
use super::choose::{Chosen, behind, struck_on_way};
use super::{Diagram, End, Item, ItemId, Place, What};

/// Nodes that get a column each; the kubelets of more stand in one.
const NODES_MAX: usize = 4;

/// An item before the columns have their numbers.
struct Raw {
    id: ItemId,
    lane: LaneId,
    what: What,
    from: (Place, Time),
    to: (Place, Time),
    behind: Vec<ItemId>,
}

/// Builds the diagram of what was chosen.
pub fn build(books: &[Book], divergences: &[Divergence], chosen: &Chosen) -> Diagram {
    let mut raws = Vec::new();
    for (lane, ids) in &chosen.lanes {
        let book = books.iter().find(|book| book.id() == *lane);
        book.into_iter().for_each(|book| gather(book, ids, &mut raws));
    }
    raws.sort_by_key(|raw| (raw.from.1, raw.lane, raw.id));
    let columns = columns(&mut raws);
    let places: BTreeMap<(LaneId, ItemId), usize> =
        raws.iter().enumerate().map(|(at, raw)| ((raw.lane, raw.id), at)).collect();
    let column = |place: &Place| columns.iter().position(|own| own == place).unwrap_or(0);
    let items: Vec<Item> = raws
        .iter()
        .map(|raw| Item {
            id: raw.id,
            lane: raw.lane,
            what: raw.what.clone(),
            from: (column(&raw.from.0), raw.from.1),
            to: (column(&raw.to.0), raw.to.1),
            causes: raw
                .behind
                .iter()
                .filter_map(|id| places.get(&(raw.lane, *id)))
                .copied()
                .collect(),
        })
        .collect();
    Diagram {
        lanes: chosen.lanes.iter().map(|(lane, _)| *lane).collect(),
        divergences: within(&items, divergences),
        columns,
        items,
        left_out: chosen.left_out,
        events_left_out: chosen.events_left_out,
    }
}

/// The differing decisions that lie in the stretch of time that is drawn.
fn within(items: &[Item], divergences: &[Divergence]) -> Vec<(Time, usize)> {
    let Some(first) = items.iter().map(|item| item.from.1).min() else { return Vec::new() };
    let last = items.iter().map(|item| item.to.1).max().unwrap_or(first);
    let all = divergences.iter().enumerate().map(|(place, found)| (found.at, place));
    all.filter(|(at, _)| (first..=last).contains(at)).collect()
}

/// The columns that are used, in their order; many kubelets become one.
fn columns(raws: &mut [Raw]) -> Vec<Place> {
    let used = |raws: &[Raw]| -> BTreeSet<Place> {
        raws.iter().flat_map(|raw| [raw.from.0.clone(), raw.to.0.clone()]).collect()
    };
    let mut places = used(raws);
    if places.iter().filter(|place| matches!(place, Place::Kubelet(_))).count() > NODES_MAX {
        for raw in raws.iter_mut() {
            for place in [&mut raw.from.0, &mut raw.to.0] {
                if matches!(place, Place::Kubelet(_)) {
                    *place = Place::Loop(loop_id(ControllerId::Kubelet(0)));
                }
            }
        }
        places = used(raws);
    }
    places.extend([Place::People, Place::Server]);
    places.into_iter().collect()
}

fn gather(book: &Book, ids: &BTreeSet<ItemId>, raws: &mut Vec<Raw>) {
    let mut requests: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for id in ids {
        match *id {
            ItemId::Request(pass, index) => requests.entry(pass).or_default().push(index),
            id => raws.extend(raw(book, id)),
        }
    }
    let mut alias: BTreeMap<ItemId, ItemId> = BTreeMap::new();
    for (number, indices) in requests {
        let Some(pass) = book.passes.get(&number) else { continue };
        raws.extend(bundles(book, pass, &indices, &mut alias));
    }
    for raw in raws.iter_mut().filter(|raw| raw.lane == book.id()) {
        for id in &mut raw.behind {
            *id = alias.get(id).copied().unwrap_or(*id);
        }
    }
}

fn raw(book: &Book, id: ItemId) -> Option<Raw> {
    let (what, from, to) = match id {
        ItemId::Input(of_script, number) => {
            let input = book.input(of_script, number)?;
            let line: Str = input.line.as_str().into();
            let here = (Place::People, input.at);
            match input.is_fault() {
                true => (What::Fault { line }, here.clone(), here),
                // A kubectl line takes effect at once.
                false => (What::Did { line, of_script }, here, (Place::Server, input.at)),
            }
        }
        ItemId::Pass(number) => {
            let pass = *book.passes.get(&number)?;
            let place = place_of(book, pass.controller);
            let view = pass_view(&book.lane.world, pass);
            let what = What::Pass(loop_id(pass.controller), Box::new(view));
            let end = pass.ended.unwrap_or(pass.decided);
            (what, (place.clone(), pass.started), (place, end))
        }
        ItemId::Waking(number) => waking(book, book.passes.get(&number)?)?,
        ItemId::Arrival(place) => arrival(book, book.arrivals.get(place)?),
        ItemId::Struck(place) => struck(book, book.struck.get(&place)?),
        ItemId::Life(place) => {
            let (at, id, up) = *book.lives.get(&place)?;
            let own = loop_id(id);
            let here = (place_of(book, id), at);
            (if up { What::Started(own) } else { What::Died(own) }, here.clone(), here)
        }
        ItemId::Request(..) => return None,
    };
    Some(Raw { id, lane: book.id(), what, from, to, behind: behind(book, id) })
}

type Drawn = (What, (Place, Time), (Place, Time));

fn waking(book: &Book, pass: &PassRecord) -> Option<Drawn> {
    let Cause::Watch(event, object, trip) = &pass.woken_by else { return None };
    let end = struck_on_way(book, pass).map_or(End::Heard, arrived);
    let (event, object, revision) = (*event, object.clone(), trip.revision);
    let what = What::Watch { event, object, revision, end };
    Some((what, (Place::Server, trip.sent), (place_of(book, pass.controller), trip.arrived)))
}

/// A watch event that woke none of the passes that are drawn.
fn arrival(book: &Book, arrival: &Arrival) -> Drawn {
    let end = match book.woken(arrival.to, arrival.trip.revision) {
        Some(_) => End::WokeIdle,
        None => End::Unheeded,
    };
    let (event, object, trip) = (arrival.event, arrival.object.clone(), arrival.trip);
    let what = What::Watch { event, object, revision: trip.revision, end };
    (what, (Place::Server, trip.sent), (place_of(book, arrival.to), trip.arrived))
}

/// What a fault did to a message that arrived all the same.
fn arrived(struck: &Struck) -> End {
    match struck.how {
        // What was held came late, too: it was let go.
        "delay" | "hold" => End::Late,
        "duplicate" => End::Doubled,
        "reorder" => End::Overtaken,
        _ => End::Heard,
    }
}

fn struck(book: &Book, struck: &Struck) -> Drawn {
    let end = match (struck.how, struck.on_wire) {
        ("drop", true) => End::LostOnWire,
        ("drop", false) => End::LostAtDoor,
        ("delay" | "reorder" | "hold", _) => End::Held,
        _ => End::Doubled,
    };
    let (event, object) = (struck.event, struck.object.clone());
    let what = What::Watch { event, object, revision: struck.trip.revision, end };
    let to = (place_of(book, struck.to), struck.trip.arrived.max(struck.trip.sent));
    (what, (Place::Server, struck.trip.sent), to)
}

fn place_of(book: &Book, id: ControllerId) -> Place {
    match id {
        ControllerId::Kubelet(node) => Place::Kubelet(book.lane.world.node_name(node)),
        id => Place::Loop(loop_id(id)),
    }
}

/// The requests of a pass: those that are alike are one, under the identity of their first.
fn bundles(
    book: &Book,
    pass: &PassRecord,
    indices: &[usize],
    alias: &mut BTreeMap<ItemId, ItemId>,
) -> Vec<Raw> {
    let refusal = |act: &Act| act.outcome.as_ref().err().map(|(code, _)| *code);
    let alike = |a: &Act, b: &Act| {
        a.verb == b.verb && a.object.kind == b.object.kind && refusal(a) == refusal(b)
    };
    let acts = indices.iter().filter_map(|at| Some((*at, pass.acts.get(*at)?)));
    let mut bundles: Vec<(usize, &Act, u32)> = Vec::new();
    for (index, act) in acts {
        let own = ItemId::Request(pass.number, index);
        match bundles.iter_mut().find(|(_, first, _)| alike(first, act)) {
            Some((first, _, count)) => {
                *count += 1;
                alias.insert(own, ItemId::Request(pass.number, *first));
            }
            None => bundles.push((index, act, 1)),
        }
    }
    let place = place_of(book, pass.controller);
    let one = |(index, act, count): (usize, &Act, u32)| {
        let outcome = match &act.outcome {
            Ok(revision) => Ok(*revision),
            Err((code, message)) => Err((*code, Arc::from(message.as_str()))),
        };
        let id = ItemId::Request(pass.number, index);
        Raw {
            id,
            lane: book.id(),
            what: What::Request { verb: act.verb, object: act.object.clone(), count, outcome },
            from: (place.clone(), act.asked),
            to: (Place::Server, act.served),
            behind: vec![ItemId::Pass(pass.number)],
        }
    };
    bundles.into_iter().map(one).collect()
}
