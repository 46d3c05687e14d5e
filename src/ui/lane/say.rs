//! The lane's sentence: what the latest pass saw, wanted and did, and what woke it; or why nothing
//! will ever wake anyone.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;
use crate::view::{LoopId, PassView, Stage, VerdictView};

use super::Lane;

#[component]
pub fn Say(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let stage = lane.stage;
    let told = Memo::new(move |_| {
        let watched = page.watched.get();
        stage.with(|stage| match watched {
            Some(id) => of_loop(stage, id),
            None => latest(stage),
        })
    });
    let stuck = Memo::new(move |_| {
        let stuck = stage.with(|stage| matches!(stage.verdict, VerdictView::Stuck { .. }));
        if stuck && page.watched.get().is_none() {
            let story = page.run.story.get();
            Some(stage.with(|stage| words::why_stuck(lane.id, stage, story.divergences.first())))
        } else {
            None
        }
    });
    let content = move || match stuck.get() {
        Some(why) => view! { <p class="why">{why}</p> }.into_any(),
        None => match told.get() {
            Some((id, pass)) => sentence(id, &pass),
            None => silence(page.watched.get()),
        },
    };
    view! {
        <div class="say" class:trouble=move || stuck.with(Option::is_some)>
            {content}
        </div>
    }
    .into_any()
}

fn of_loop(stage: &Stage, id: LoopId) -> Option<(LoopId, PassView)> {
    let view = stage.loops.iter().find(|one| one.id == id)?;
    let pass = view.pass.as_ref().or(view.last.as_ref())?;
    Some((id, pass.clone()))
}

/// The pass that began last; one that does something goes before one that finds nothing to do.
fn latest(stage: &Stage) -> Option<(LoopId, PassView)> {
    let running = stage.loops.iter().filter_map(|one| Some((one.id, one.pass.as_ref()?)));
    let ended = stage.loops.iter().filter_map(|one| Some((one.id, one.last.as_ref()?)));
    let newest = |(_, pass): &(LoopId, &PassView)| (!pass.does.is_empty(), pass.started);
    let found = running.max_by_key(newest).or_else(|| ended.max_by_key(newest));
    found.map(|(id, pass)| (id, pass.clone()))
}

fn sentence(id: LoopId, pass: &PassView) -> AnyView {
    let name = words::loop_on(id, pass.node.as_deref());
    let dot = || view! { <span class="between">" · "</span> };
    let sees = words::sees(pass).map(|text| view! { <span class="o">{text}</span>{dot()} });
    let wants = words::wants(pass).map(|text| view! { <span class="d">{text}</span>{dot()} });
    let error = pass.error.clone();
    view! {
        <p class="about">
            <b class="mono">{name}</b>
            " "
            <span class="mono">{pass.key.name.to_string()}</span>
            " · "
            {words::woken(&pass.woken_by)}
        </p>
        <p class="pass">
            {sees}
            {wants}
            <span class="a">{words::does(pass)}</span>
            {error.map(|error| view! { <span class="error">" "{error}</span> })}
        </p>
    }
    .into_any()
}

fn silence(watched: Option<LoopId>) -> AnyView {
    let text = match watched {
        Some(id) => tr!(say.not_yet, name = words::loop_name(id)),
        None => tr!(say.silence).to_owned(),
    };
    view! { <p class="about">{text}</p> }.into_any()
}
