//! Divergence: the first decision that one lane made and the other did not, told only once the
//! other lane has settled, so that being later does not count as being different.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::ObjectKey;
use crate::controllers::Deed;
use crate::kernel::Time;
use crate::scenario::{Entry, Input, Run, Told};
use crate::world::{ControllerId, Fault, Lane, LaneId, Occurrence, PassRecord};

use super::build::{loop_id, pass_view};
use super::log::Divergence;

/// What is decided, about which object.
type Matter = (ControllerId, ObjectKey, Deed);

/// The decisions of a lane that count: what the loops with flavours made, deleted or scaled.
fn decisions(entries: &[Entry]) -> BTreeMap<Matter, Vec<(&Arc<PassRecord>, u32)>> {
    let mut found: BTreeMap<Matter, Vec<(&Arc<PassRecord>, u32)>> = BTreeMap::new();
    for entry in entries {
        // As it ended: a pass that asks first decides on the way.
        let Told::World(Occurrence::PassEnded(pass)) = &entry.what else { continue };
        if !pass.controller.has_flavours() {
            continue;
        }
        for (deed, count) in &pass.does {
            if !matches!(deed, Deed::Status | Deed::Read | Deed::Update) {
                let matter = (pass.controller, pass.key.clone(), *deed);
                found.entry(matter).or_default().push((pass, *count));
            }
        }
    }
    found
}

/// The first differing decision of a run, up to now.
pub fn first(run: &Run) -> Option<Divergence> {
    let lane = |id| run.lane(id).map(|lane| (lane, decisions(run.past(id))));
    let (edge, level) = (lane(LaneId::Edge)?, lane(LaneId::Level)?);
    let lacking_in_edge = is_settled(run, LaneId::Edge).then(|| surplus(&level.1, &edge.1));
    let lacking_in_level = is_settled(run, LaneId::Level).then(|| surplus(&edge.1, &level.1));
    let by_level = lacking_in_edge.flatten().map(|pass| (pass, true));
    let by_edge = lacking_in_level.flatten().map(|pass| (pass, false));
    let (pass, is_level) =
        [by_level, by_edge].into_iter().flatten().min_by_key(|(pass, _)| pass.started)?;
    Some(tell(run, if is_level { level.0 } else { edge.0 }, pass, is_level))
}

fn is_settled(run: &Run, id: LaneId) -> bool {
    matches!(run.verdict(id).word(), "stuck" | "converged" | "oscillating")
}

/// The first pass of `more` that goes beyond all that `fewer` ever decided in the same matter.
fn surplus<'a>(
    more: &BTreeMap<Matter, Vec<(&'a Arc<PassRecord>, u32)>>,
    fewer: &BTreeMap<Matter, Vec<(&Arc<PassRecord>, u32)>>,
) -> Option<&'a Arc<PassRecord>> {
    let beyond = more.iter().filter_map(|(matter, passes)| {
        let other: u32 =
            fewer.get(matter).map_or(0, |passes| passes.iter().map(|(_, count)| count).sum());
        let mut total = 0;
        passes.iter().find_map(|(pass, count)| {
            total += count;
            (total > other).then_some(*pass)
        })
    });
    beyond.min_by_key(|pass| pass.started)
}

fn tell(run: &Run, lane: &Lane, pass: &Arc<PassRecord>, is_level: bool) -> Divergence {
    let view = pass_view(&lane.world, pass);
    let (level, edge) = if is_level { (Some(view), None) } else { (None, Some(view)) };
    let faults = run.script().iter().chain(run.inputs());
    let because = faults
        .filter(|input: &&Input| input.at <= pass.started && Fault::is_line(&input.line))
        .max_by_key(|input| input.at)
        .map(|input| input.line.as_str().into());
    Divergence {
        at: pass.started.max(Time::ZERO),
        controller: loop_id(pass.controller),
        object: pass.key.clone(),
        level,
        edge,
        because,
    }
}
