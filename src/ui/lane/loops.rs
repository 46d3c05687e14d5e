//! The loops: the door with cache and queue, and the ring of observe, compare, act.

use leptos::prelude::*;

use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::icon::sign;
use crate::ui::menu::place_of;
use crate::ui::state::{Page, What};
use crate::ui::words;
use crate::view::{Bead, CacheView, LoopFlavour, LoopId, LoopView, Manner, PassView};

use super::Lane;

#[component]
pub fn Loops(lane: Lane) -> impl IntoView {
    let ids = lane.part(|stage| stage.loops.iter().map(|one| one.id).collect::<Vec<_>>());
    let list = NodeRef::<leptos::html::Ul>::new();
    view! {
        <ul
            class="loops"
            node_ref=list
            aria-label=move || tr!(loops.title)
            style:--loops=move || ids.with(Vec::len).to_string()
            class:many=move || { ids.with(Vec::len) > 6 }
            on:keydown=move |event| super::pods::rove(list.get().map(Into::into), &event)
        >
            <For
                each=move || ids.get().into_iter().enumerate()
                key=|(_, id)| *id
                children=move |(index, id)| {
                    view! { <Loop lane=lane id=id first=index == 0/> }
                }
            />
        </ul>
    }
    .into_any()
}

#[component]
fn Loop(lane: Lane, id: LoopId, first: bool) -> impl IntoView {
    let page = Page::get();
    let view = lane.part(move |stage| stage.loops.iter().find(|one| one.id == id).cloned());
    let flag = move |f: fn(&LoopView) -> bool| view.with(|view| view.as_ref().is_some_and(f));
    let open = move |event: leptos::ev::MouseEvent| {
        let (at, by_pointer) = place_of(&event);
        page.open_menu(lane.id, What::Loop(id), at, by_pointer);
    };
    let manner =
        move || view.with(|view| view.as_ref().map(|view| view.manner.word()).unwrap_or_default());
    let label = move || view.with(|view| view.as_ref().map(describe).unwrap_or_default());
    view! {
        <li
            class="loop"
            data-loop=words::loop_name(id)
            class:down=move || !flag(|view| view.alive)
            class:busy=move || flag(|view| view.pass.is_some())
            class:edge-loop=move || flag(|view| view.flavour == LoopFlavour::Edge)
            class:watched=move || page.watched.get() == Some(id)
            on:pointerenter=move |_| page.watched.set(Some(id))
            on:pointerleave=move |_| page.watched.set(None)
        >
            <Door view=view/>
            <div class="ring-place">
                <Ring lane=lane view=view/>
                <button
                    class="ring-button"
                    tabindex=if first { "0" } else { "-1" }
                    aria-haspopup="dialog"
                    aria-label=label
                    title=manner
                    on:click=open
                    on:focus=move |_| page.watched.set(Some(id))
                    on:blur=move |_| page.watched.set(None)
                ></button>
            </div>
            <span class="loop-name" aria-hidden="true">
                <span class="full">{loop_label(id)}</span>
                <span class="short">{words::loop_short(id)}</span>
            </span>
        </li>
    }
    .into_any()
}

/// Two words stand on two lines.
fn loop_label(id: LoopId) -> String {
    words::loop_name(id).replace('-', " ")
}

/// A loop in words, for ears.
fn describe(view: &LoopView) -> String {
    let mut text = words::loop_name(view.id).to_owned();
    let manner = match view.flavour {
        LoopFlavour::Edge => tr!(loops.edge),
        LoopFlavour::Level => tr!(loops.level),
        LoopFlavour::Shared => tr!(loops.shared),
    };
    text = format!("{text}, {manner}");
    if !matches!(view.manner, Manner::Edge | Manner::Level) {
        text = format!("{text} ({})", view.manner.word());
    }
    if !view.alive {
        text = format!("{text}, {}", tr!(loops.down));
    }
    if view.queued > 0 {
        text = format!("{text}, {}", tr!(loops.queued, n = view.queued));
    }
    match view.pass.as_ref().or(view.last.as_ref()) {
        Some(pass) => format!("{text}. {}", words::pass(pass)),
        None => text,
    }
}

/// Where watch events come in: the cache hears of them first, then the queue.
#[component]
fn Door(view: Memo<Option<LoopView>>) -> impl IntoView {
    let page = Page::get();
    let cache = Memo::new(move |_| {
        view.with(|view| view.as_ref().map(|view| view.cache.clone())).unwrap_or_default()
    });
    let traps = Memo::new(move |_| {
        view.with(|view| view.as_ref().map(|view| view.traps.clone())).unwrap_or_default()
    });
    let queue = Memo::new(move |_| {
        view.with(|view| view.as_ref().map(|view| (view.queue.clone(), view.queued)))
            .unwrap_or_default()
    });
    let trap = move || {
        let traps = traps.get();
        let text = traps.iter().map(|trap| &**trap).collect::<Vec<_>>().join(", ");
        (!traps.is_empty()).then(|| sign("trap", tr!(loops.trap, what = text)))
    };
    view! {
        <div class="door">
            <span
                class="cache"
                class:stale=move || cache.with(is_behind)
                title=move || cache.with(cache_title)
            >
                {move || sign("cache", tr!(loops.cache))}
                {move || cache.with(|cache| cache.sees)}
            </span>
            <span class="trap">{trap}</span>
        </div>
        <div class="queue">
            {move || queue.with(|(beads, queued)| beads_view(beads, *queued, page.run.is_quiet()))}
        </div>
    }
    .into_any()
}

fn is_behind(cache: &CacheView) -> bool {
    !cache.stale.is_zero() || cache.sees != cache.truth
}

fn cache_title(cache: &CacheView) -> String {
    if !is_behind(cache) {
        return tr!(loops.cache_fresh, n = cache.sees);
    }
    tr!(loops.cache_stale, n = cache.sees, truth = cache.truth, span = format::span(cache.stale))
}

fn beads_view(beads: &[Bead], queued: usize, settled: bool) -> AnyView {
    let Some((first, rest)) = beads.split_first() else {
        return view! { <span class="empty" aria-hidden="true">"·"</span> }.into_any();
    };
    let adds = (first.adds > 1).then(|| view! { <b>{format!("×{}", first.adds)}</b> });
    let dots = rest.iter().take(2).map(|bead| {
        view! { <i class="dot" title=bead.label.to_string()></i> }
    });
    let more = queued.saturating_sub(1 + rest.len().min(2));
    view! {
        <span class="bead" class:settled=settled title=first.label.to_string()>
            {format::bead(&first.label)}
            {adds}
        </span>
        {dots.collect_view()}
        {(more > 0).then(|| view! { <small>{format!("+{more}")}</small> })}
    }
    .into_any()
}

/// How far a pass has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Observe,
    Compare,
    Act,
}

const REST_MS: f64 = 1600.0;

/// The ring at rest; `canvas::rings` lights it up.
#[component]
fn Ring(lane: Lane, view: Memo<Option<LoopView>>) -> impl IntoView {
    let page = Page::get();
    let _ = lane;
    let phase = Memo::new(move |_| {
        let shown = page.run.clock.with(|clock| clock.shown);
        view.with(|view| view.as_ref().map_or(Phase::Idle, |view| phase(page, view, shown)))
    });
    let words = Memo::new(move |_| {
        let phase = phase.get();
        view.with(|view| view.as_ref().map(|view| in_ring(view, phase))).unwrap_or_default()
    });
    let due = move || {
        view.with(|view| {
            let view = view.as_ref()?;
            if view.armed {
                return Some(sign("bolt", tr!(loops.armed)));
            }
            None
        })
    };
    view! {
        <svg class="ring" viewBox="4 4 64 64" aria-hidden="true">
            <path class="arc observe" d=ARCS[0]></path>
            <path class="arc compare" d=ARCS[1]></path>
            <path class="arc act" d=ARCS[2]></path>
            <path class="break" d="M27 -1 33 9 28 13 35 22"></path>
        </svg>
        <span class="in-ring" data-phase=move || phase_key(phase.get()) aria-hidden="true">
            <small>{move || words.with(|words| words.0.clone())}</small>
            <b>{move || words.with(|words| words.1.clone())}</b>
        </span>
        <span class="armed">{due}</span>
    }
    .into_any()
}

/// Three arcs of radius 28 about (36, 36), from the top, with room between them: the canvas draws
/// over them with the same figures.
const ARCS: [&str; 3] = [
    "M40.46 8.36A28 28 0 0 1 62.17 45.96",
    "M57.71 53.68A28 28 0 0 1 14.29 53.68",
    "M9.83 45.96A28 28 0 0 1 31.54 8.36",
];

fn phase(page: Page, view: &LoopView, shown: f64) -> Phase {
    if let Some(pass) = &view.pass {
        let from = page.run.shown_of(pass.started);
        let to = page.run.shown_of(pass.decided);
        let done = (shown - from) / (to - from).max(1.0);
        return match done {
            _ if page.still.get() => Phase::Act,
            done if done < 1.0 / 3.0 => Phase::Observe,
            done if done < 2.0 / 3.0 => Phase::Compare,
            _ => Phase::Act,
        };
    }
    match &view.last {
        Some(pass) if shown - page.run.shown_of(ended(pass)) < REST_MS => Phase::Act,
        _ => Phase::Idle,
    }
}

fn ended(pass: &PassView) -> crate::kernel::Time {
    pass.ended.unwrap_or(pass.decided)
}

fn phase_key(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Observe => "observe",
        Phase::Compare => "compare",
        Phase::Act => "act",
    }
}

/// A word, and a number or another short thing under it.
fn in_ring(view: &LoopView, phase: Phase) -> (String, String) {
    if !view.alive {
        return (tr!(ring.down).to_owned(), String::new());
    }
    let pass = view.pass.as_ref().or(view.last.as_ref());
    if phase == Phase::Idle && words::believes(view) {
        return (tr!(ring.thinks).to_owned(), view.cache.sees.to_string());
    }
    let (Some(pass), false) = (pass, phase == Phase::Idle) else {
        return (tr!(ring.idle).to_owned(), String::new());
    };
    let short = |fact| words::fact(fact).map(|text| format::short(&text, 7)).unwrap_or_default();
    match phase {
        Phase::Observe => (tr!(ring.sees).to_owned(), short(&pass.sees)),
        Phase::Compare => (tr!(ring.wants).to_owned(), short(&pass.wants)),
        _ if pass.crashed => (tr!(ring.crashed).to_owned(), "✕".to_owned()),
        _ if pass.does.is_empty() && pass.error.is_none() => {
            (tr!(ring.same).to_owned(), "=".to_owned())
        }
        _ => (tr!(ring.acts).to_owned(), words::deed_mark(pass)),
    }
}
