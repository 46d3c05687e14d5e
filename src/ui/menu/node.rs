//! What can be done to a node.

use leptos::prelude::*;

use crate::api::{Kind, ObjectKey, Str};
use crate::ui::bridge::index;
use crate::ui::i18n::tr;

use super::{Does, Open, inspect, item, lines};

pub fn items(open: Open, name: &Str) -> AnyView {
    let lane = open.target.with_value(|target| target.lane);
    let stage = open.page.run.stages[index(lane)].get_untracked();
    let found = stage.nodes.iter().find(|node| node.name == *name);
    let powered = found.is_none_or(|node| node.powered);
    let connected = found.is_none_or(|node| node.connected);
    let key = ObjectKey::new(Kind::Node, "", name.clone());
    let power = if powered {
        item(open, tr!(menu.power_off), Does::Runs, lines::node(name, "power=off"))
    } else {
        item(open, tr!(menu.power_on), Does::Runs, lines::node(name, "power=on"))
    };
    let network = if connected {
        item(open, tr!(menu.cut_off), Does::Runs, lines::node(name, "network=cut"))
    } else {
        item(open, tr!(menu.connect), Does::Runs, lines::node(name, "network=restored"))
    };
    let cordoned = found.is_some_and(|node| node.unschedulable);
    let cordon = if cordoned {
        item(open, tr!(menu.uncordon), Does::Runs, lines::schedule("uncordon", name))
    } else {
        item(open, tr!(menu.cordon), Does::Runs, lines::schedule("cordon", name))
    };
    view! {
        <div class="items">
            <h3>{tr!(menu.scheduling)}</h3>
            {cordon}
            {item(open, tr!(menu.drain), Does::Runs, lines::schedule("drain", name))}
            <h3>{tr!(menu.machine)}</h3>
            {power}
            {network}
            <h3>{tr!(menu.look)}</h3>
            {inspect(open, &key)}
            {item(open, tr!(menu.describe), Does::Shows, lines::describe(&key))}
        </div>
    }
    .into_any()
}
