//! The stage again as tables, for those who do not see it. Not more often than people can listen.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;
use crate::view::{BoardRow, LoopView, Stage};

use super::{Lane, pods};

/// While time runs, one change of ten: about once a second.
const EVERY: u64 = 10;
/// Pods listed one by one; of more there is the number.
const LISTED: usize = 40;

#[component]
pub fn Tables(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let stage = RwSignal::new(lane.stage.get_untracked());
    Effect::new(move || {
        let now = lane.stage.get();
        // Nobody listens while time is dragged to and fro.
        if page.run.has_jumped() {
            return;
        }
        let due = page.run.changed.get_untracked().is_multiple_of(EVERY);
        if due || !page.playing.get() {
            stage.set(now);
        }
    });
    view! {
        <div class="ears-only tables" data-tables=super::key(lane.id)>
            <table>
                <caption>{move || tr!(tables.objects)}</caption>
                <thead>
                    <tr>
                        <th scope="col">{move || tr!(tables.object)}</th>
                        <th scope="col">{move || tr!(tables.wanted)}</th>
                        <th scope="col">{move || tr!(tables.there)}</th>
                        <th scope="col">{move || tr!(look.ready)}</th>
                    </tr>
                </thead>
                <tbody>{move || stage.with(|stage| objects(stage))}</tbody>
            </table>
            <table>
                <caption>{move || tr!(tables.pods)}</caption>
                <thead>
                    <tr>
                        <th scope="col">{move || tr!(tables.node)}</th>
                        <th scope="col">{move || tr!(tables.pod)}</th>
                    </tr>
                </thead>
                <tbody>{move || stage.with(|stage| pod_rows(stage))}</tbody>
            </table>
            <table>
                <caption>{move || tr!(tables.loops)}</caption>
                <thead>
                    <tr>
                        <th scope="col">{move || tr!(tables.loop_name)}</th>
                        <th scope="col">{move || tr!(tables.queue)}</th>
                        <th scope="col">{move || tr!(tables.cache)}</th>
                        <th scope="col">{move || tr!(tables.pass)}</th>
                    </tr>
                </thead>
                <tbody>{move || stage.with(|stage| loops(stage))}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn objects(stage: &Stage) -> impl IntoView + use<> {
    stage.board.iter().map(object_row).collect_view()
}

fn object_row(row: &BoardRow) -> AnyView {
    let want = row.want.map(|want| want.to_string()).unwrap_or_default();
    view! {
        <tr>
            <th scope="row">{words::object(&row.key)}</th>
            <td>{want}</td>
            <td>{row.have}</td>
            <td>{row.ready}</td>
        </tr>
    }
    .into_any()
}

fn pod_rows(stage: &Stage) -> impl IntoView + use<> {
    let on_nodes = stage.nodes.iter().flat_map(|node| {
        let name = node.name.to_string();
        node.pods.iter().map(move |pod| (name.clone(), pod))
    });
    let waiting = stage.tray.iter().map(|pod| (String::new(), pod));
    let rows = waiting.chain(on_nodes).take(LISTED).map(|(node, pod)| {
        view! { <tr><td>{node}</td><td>{pods::describe(pod)}</td></tr> }.into_any()
    });
    rows.collect_view()
}

fn loops(stage: &Stage) -> impl IntoView + use<> {
    stage.loops.iter().map(loop_row).collect_view()
}

fn loop_row(view: &LoopView) -> AnyView {
    let last = view.pass.as_ref().or(view.last.as_ref()).map(words::pass).unwrap_or_default();
    let labels = view.queue.iter().map(|bead| bead.label.to_string());
    let queue = match view.queued {
        0 => tr!(tables.empty).to_owned(),
        n => format!("{n}: {}", labels.collect::<Vec<_>>().join(", ")),
    };
    let pass = if view.alive { last } else { tr!(loops.down).to_owned() };
    view! {
        <tr>
            <th scope="row">{words::loop_name(view.id)}</th>
            <td>{queue}</td>
            <td>{view.cache.sees}</td>
            <td>{pass}</td>
        </tr>
    }
    .into_any()
}
