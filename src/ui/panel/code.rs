//! The loops' own source, edge beside level, with the branches marked that a pass took. The text
//! comes from the build (`code.js`), the marks from the pass.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::controllers::Spot;
use crate::ui::bridge::{LANES, LaneId, index};
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::LoopId;

use super::passes::chip;

#[wasm_bindgen]
extern "C" {
    /// Texts by path; see `.ci/finish-page.mjs`.
    #[wasm_bindgen(thread_local_v2, js_name = loopscopeCode)]
    static CODE: Option<js_sys::Object>;
}

/// The files of a loop's flavour, in reading order. Those that are level-triggered in both lanes
/// have the same in both.
fn files(id: LoopId, lane: LaneId) -> &'static [&'static str] {
    match (id, lane) {
        (LoopId::Deployment, LaneId::Edge) => &["deployment/mod.rs", "deployment/edge.rs"],
        (LoopId::Deployment, LaneId::Level) => &["deployment/mod.rs", "deployment/level.rs"],
        (LoopId::Order, LaneId::Edge) => &["order/edge.rs", "order/mod.rs"],
        (LoopId::Order, LaneId::Level) => &["order/level.rs", "order/mod.rs"],
        (LoopId::ReplicaSet, LaneId::Level) => &["replica_set/sync.rs"],
        (LoopId::ReplicaSet, LaneId::Edge) => &[
            "replica_set/on_change/mod.rs",
            "replica_set/on_change/pod_changed.rs",
            "replica_set/on_change/set_changed.rs",
            "replica_set/on_change/conclude.rs",
        ],
        // Both flavours stand one under the other.
        (LoopId::HorizontalAutoscaler, _) => {
            &["horizontal_autoscaler/mod.rs", "horizontal_autoscaler/reconcile.rs"]
        }
        (LoopId::GitOps, LaneId::Edge) => &["gitops/edge.rs", "gitops/mod.rs"],
        (LoopId::GitOps, LaneId::Level) => &["gitops/mod.rs", "gitops/auto_sync.rs"],
        (LoopId::StatefulSet, _) => &["stateful_set/sync.rs"],
        (LoopId::DaemonSet, _) => &["daemon_set/sync.rs"],
        (LoopId::Job, _) => &["job/sync.rs", "job/manage.rs"],
        (LoopId::CronJob, _) => &["cron_job/sync.rs"],
        (LoopId::EndpointSlice, _) => &["endpoint_slice/mod.rs"],
        (LoopId::NodeLifecycle, _) => &["node_lifecycle/mod.rs"],
        (LoopId::GarbageCollector, _) => &["garbage_collector/mod.rs"],
        (LoopId::Scheduler, _) => &["scheduler/mod.rs"],
        (LoopId::Kubelet, _) => &["../node/kubelet.rs", "../node/pod_worker.rs"],
    }
}

/// Where a file stands in the sources.
fn path_of(file: &str) -> String {
    match file.strip_prefix("../") {
        Some(elsewhere) => format!("src/{elsewhere}"),
        None => format!("src/controllers/{file}"),
    }
}

#[component]
pub fn Code() -> impl IntoView {
    let page = Page::get();
    let loaded = RwSignal::new(false);
    let asked = StoredValue::new(false);
    let chosen = RwSignal::new(LoopId::ReplicaSet);
    Effect::new(move || {
        if page.tab.get() == Tab::Code && !asked.get_value() {
            asked.set_value(true);
            dom::load_script("./code.js", move || loaded.set(true), || {});
        }
    });
    // Whoever looks at a pass closely sees its loop's source.
    Effect::new(move || {
        let picked = page.run.picked.get();
        if let Some(row) = picked.and_then(|(lane, number)| page.run.pass(lane, number)) {
            chosen.set(row.id);
        }
    });
    let choose = move |event| {
        let name = event_target_value(&event);
        let named = LoopId::ALL.into_iter().find(|id| words::loop_name(*id) == name);
        chosen.set(named.unwrap_or(LoopId::ReplicaSet));
    };
    let choices = LoopId::ALL.map(|id| {
        let is_chosen = move || chosen.get() == id;
        view! { <option prop:selected=is_chosen>{words::loop_name(id)}</option> }.into_any()
    });
    view! {
        <div class="code">
            <div class="filters">
                <select aria-label=move || tr!(tables.loop_name) on:change=choose>
                    {choices.collect_view()}
                </select>
                <p class="hint-text">{move || tr!(code.hint)}</p>
            </div>
            <div class="sources">
                {LANES.map(|lane| view! { <Source lane chosen loaded/> }.into_any()).collect_view()}
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Source(lane: LaneId, chosen: RwSignal<LoopId>, loaded: RwSignal<bool>) -> impl IntoView {
    let page = Page::get();
    let place = NodeRef::<Div>::new();
    let trail = Memo::new(move |_| {
        if page.tab.get() == Tab::Code { trail_of(page, lane, chosen.get()) } else { Vec::new() }
    });
    let texts = move || {
        let trail = trail.get();
        let open = loaded.get() && page.tab.get() == Tab::Code;
        let files = if open { files(chosen.get(), lane) } else { &[] };
        request_animation_frame(move || show_first_mark(place));
        files.iter().map(|file| source(&path_of(file), &trail)).collect_view()
    };
    view! {
        <section class="source" aria-label=move || words::lane(lane)>
            <h4>{chip(lane)}</h4>
            <div class="text" tabindex="0" role="region" aria-label=move || words::lane(lane)
                node_ref=place>{texts}</div>
        </section>
    }
    .into_any()
}

/// The branches of the pass that was picked, if it is one of this loop and lane; else of the one
/// that the stage shows.
fn trail_of(page: Page, lane: LaneId, id: LoopId) -> Vec<Spot> {
    if let Some((of, number)) = page.run.picked.get()
        && of == lane
        && let Some(row) = page.run.pass(lane, number)
        && row.id == id
    {
        return row.pass.trail.clone();
    }
    page.run.stages[index(lane)].with(|stage| {
        let found = stage.loops.iter().find(|view| view.id == id);
        let pass = found.and_then(|view| view.pass.as_ref().or(view.last.as_ref()));
        pass.map(|pass| pass.trail.clone()).unwrap_or_default()
    })
}

fn source(file: &str, trail: &[Spot]) -> AnyView {
    let text = CODE.with(|code| {
        let value = code.as_ref().and_then(|code| js_sys::Reflect::get(code, &file.into()).ok());
        value.and_then(|value| value.as_string()).unwrap_or_default()
    });
    let taken = |number| trail.iter().any(|spot| spot.file == file && spot.line == number);
    let mut noted = false;
    let lines = text.lines().zip(1u32..).filter_map(|(line, number)| {
        if line.ends_with("trail.push(here!());") {
            // The note says nothing itself: what comes after it was done.
            noted = taken(number);
            return None;
        }
        let here = std::mem::take(&mut noted) || taken(number);
        let comment = line.trim_start().starts_with("//");
        let label = here.then(|| tr!(code.taken));
        let line = view! {
            <span class="line" class:here=here class:comment=comment title=label>
                {line.replace(".by(here!())", "")}
                "\n"
            </span>
        };
        Some(line.into_any())
    });
    view! {
        <h5 class="mono">{file.to_owned()}</h5>
        <pre><code>{lines.collect_view()}</code></pre>
    }
    .into_any()
}

fn show_first_mark(place: NodeRef<Div>) {
    let Some(place) = place.get_untracked() else { return };
    let Ok(Some(mark)) = place.query_selector(".here") else { return };
    let (frame, mark) = (place.get_bounding_client_rect(), mark.get_bounding_client_rect());
    let middle = mark.top() - frame.top() - frame.height() / 2.0;
    place.set_scroll_top(place.scroll_top() + middle.round() as i32);
}
