//! What can be done to a pod; and a node's pods as a list, where they are too small to be hit.

use leptos::prelude::*;

use crate::api::{ObjectKey, Str};
use crate::ui::bridge::index;
use crate::ui::i18n::tr;
use crate::ui::state::What;
use crate::view::PodLook;

use super::{Does, Open, inspect, item, lines};

pub fn items(open: Open, key: &ObjectKey) -> AnyView {
    let target = open.target.get_value();
    let stage = open.page.run.stages[index(target.lane)].get_untracked();
    let on_nodes = stage.nodes.iter().flat_map(|node| &node.pods);
    let found = on_nodes.chain(&stage.tray).find(|pod| pod.key == *key);
    let probe = match found.map(|pod| pod.state) {
        Some(PodLook::NotReady) => {
            item(open, tr!(menu.ready), Does::Runs, lines::container(key, "ready"))
        }
        _ => item(open, tr!(menu.unready), Does::Runs, lines::container(key, "unready")),
    };
    view! {
        <div class="items">
            {item(open, tr!(menu.delete), Does::Runs, lines::delete_pod(key))}
            {item(open, tr!(menu.force_delete), Does::Runs, lines::force_delete(key))}
            <h3>{tr!(menu.container)}</h3>
            {item(open, tr!(menu.crash_container), Does::Runs, lines::container(key, "crash"))}
            {item(open, tr!(menu.oom_kill), Does::Runs, lines::container(key, "oomKill"))}
            {probe}
            <h3>{tr!(menu.look)}</h3>
            {inspect(open, key)}
            {item(open, tr!(menu.describe), Does::Shows, lines::describe(key))}
            {item(open, tr!(menu.yaml), Does::Shows, lines::yaml(key))}
            {item(open, tr!(menu.events), Does::Shows, lines::events(key))}
            {item(open, tr!(menu.logs), Does::Shows, lines::logs(key))}
        </div>
    }
    .into_any()
}

/// More are not listed: the console has them all.
const LISTED: usize = 200;

pub fn list(open: Open, node: &Str) -> AnyView {
    let target = open.target.get_value();
    let page = open.page;
    let stage = page.run.stages[index(target.lane)].get_untracked();
    let found = stage.nodes.iter().find(|one| one.name == *node);
    let pods = found.map(|node| node.pods.clone()).unwrap_or_default();
    let buttons = pods.into_iter().take(LISTED).map(|pod| {
        let target = target.clone();
        let key = pod.key.clone();
        let choose = move |_| {
            page.open_menu(target.lane, What::Pod(key.clone()), target.at, target.by_pointer);
        };
        view! {
            <button class="item row-item" on:click=choose>
                {crate::ui::lane::drawing(pod.state)}
                <span class="mono">{pod.key.name.to_string()}</span>
                <small>{pod.status.to_string()}</small>
            </button>
        }
        .into_any()
    });
    view! { <div class="items long">{buttons.collect_view()}</div> }.into_any()
}
