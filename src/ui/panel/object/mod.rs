//! One object closely: where in the chain it stopped, spec beside status, whose each field is, what
//! changed in each revision, its conditions and Events; in one lane, or in both.

mod fields;
mod revisions;
mod standing;
mod words;

use leptos::prelude::*;

use crate::api::ObjectKey;
use crate::ui::bridge::{LANES, LaneId};
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words as common;
use crate::view::inspect::{Record, Standing};

use super::lanes;
use super::passes::chip;

/// What is asked of a lane.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    lane: LaneId,
    key: ObjectKey,
    /// The name in the lane from which it was opened, if it has another one here.
    instead_of: Option<ObjectKey>,
}

#[component]
pub fn ObjectTab() -> impl IntoView {
    let page = Page::get();
    let which = RwSignal::new(None::<LaneId>);
    let wide = RwSignal::new(false);
    Effect::new(move || {
        if let Some((lane, _)) = page.inspected.get() {
            which.set(Some(lane));
        }
    });
    Effect::new(move || {
        if page.tab.get() == Tab::Object && page.inspected.with(Option::is_none) {
            // As long as there is nothing to look at, the tab says so.
            page.run.changed.track();
            if let Some(first) = page.run.first_object() {
                page.inspected.set(Some(first));
            }
        }
    });
    // The style sheet makes room for it, and need not look for it in the whole page.
    Effect::new(move || match wide.get() && page.tab.get() == Tab::Object {
        true => dom::mark("wide", "true"),
        false => dom::unmark("wide"),
    });
    let lanes = move || match (page.run.only.get(), which.get()) {
        (Some(only), _) => vec![only],
        (None, Some(lane)) => vec![lane],
        (None, None) => LANES.to_vec(),
    };
    let both = move || lanes().len() > 1;
    let empty = move || page.inspected.with(Option::is_none);
    let columns = move || {
        let chosen = page.inspected.with(Option::is_some);
        let lanes = if chosen { lanes() } else { Vec::new() };
        lanes.into_iter().map(|lane| view! { <InLane lane=lane/> }.into_any()).collect_view()
    };
    view! {
        <div class="inspect" class:wide=move || wide.get()>
            <div class="filters">{chooser(page)} {lane_switch(page, which)} {widen(wide)}</div>
            <Show when=empty>
                <p class="hint-text" id="object-none" tabindex="-1">
                    {move || tr!(object.none)}
                </p>
            </Show>
            <div class="inspected" class:both=both>{columns}</div>
        </div>
    }
    .into_any()
}

fn chooser(page: Page) -> AnyView {
    // The objects of the lane that is looked at; those of the level lane to begin with.
    let lane = Memo::new(move |_| {
        let own = page.inspected.with(|shown| shown.as_ref().map(|(lane, _)| *lane));
        own.or(page.run.only.get()).unwrap_or(LaneId::Level)
    });
    let keys = Memo::new(move |_| {
        if page.tab.get() != Tab::Object {
            return Vec::new();
        }
        page.run.changed.track();
        page.run.choices(lane.get())
    });
    let change = move |event| {
        let at = event_target_value(&event).parse::<usize>().ok();
        let key = at.and_then(|at| keys.with_untracked(|keys| keys.get(at).cloned()));
        if let Some(key) = key {
            page.inspected.set(Some((lane.get_untracked(), key)));
        }
    };
    let options = move || {
        let shown = page.inspected.get().map(|(_, key)| key);
        let one = |(at, key): (usize, ObjectKey)| {
            let chosen = shown.as_ref() == Some(&key);
            view! {
                <option value=at.to_string() selected=chosen>
                    {words::choice(&key)}
                </option>
            }
            .into_any()
        };
        let gone = shown.clone().filter(|key| keys.with(|keys| !keys.contains(key)));
        let gone = gone.map(|key| {
            view! { <option value="" selected=true>{words::choice(&key)}</option> }.into_any()
        });
        let first = shown
            .is_none()
            .then(|| view! { <option value="" selected=true>"–"</option> }.into_any());
        let rest = keys.get().into_iter().enumerate().map(one).collect_view();
        (first, gone, rest)
    };
    view! {
        <select
            id="object-choice"
            class="mono"
            aria-label=move || tr!(object.choose)
            on:change=change
        >
            {options}
        </select>
    }
    .into_any()
}

fn lane_switch(page: Page, which: RwSignal<Option<LaneId>>) -> AnyView {
    let one = move |lane| lanes::button(lane, move || which.get(), move |lane| which.set(lane));
    let choices = move || [Some(LANES[0]), Some(LANES[1]), None].map(one).collect_view();
    view! {
        <Show when=move || page.run.only.get().is_none()>
            {lanes::group(choices.into_any())}
        </Show>
    }
    .into_any()
}

fn widen(wide: RwSignal<bool>) -> AnyView {
    view! {
        <button
            class="plain-button widen"
            aria-pressed=move || wide.get().to_string()
            on:click=move |_| wide.update(|wide| *wide = !*wide)
        >
            {move || if wide.get() { tr!(object.narrow) } else { tr!(object.wide) }}
        </button>
    }
    .into_any()
}

/// The object, or what stands for it, in one lane.
#[component]
fn InLane(lane: LaneId) -> impl IntoView {
    let page = Page::get();
    let open = move || page.tab.get() == Tab::Object;
    let asked = Memo::new(move |before: Option<&Option<Asked>>| {
        // What is not looked at stays as it was.
        if !open() {
            return before.cloned().flatten();
        }
        let (own, key) = page.inspected.get()?;
        if own == lane {
            return Some(Asked { lane, key, instead_of: None });
        }
        page.run.changed.track();
        let (other, renamed) = page.run.counterpart(own, lane, &key)?;
        Some(Asked { lane, key: other, instead_of: renamed.then_some(key) })
    });
    let standing = Memo::new(move |_| {
        // What is not looked at is not built.
        let asked = asked.get().filter(|_| open())?;
        page.run.changed.track();
        page.run.standing(asked.lane, &asked.key)
    });
    let revision = Memo::new(move |_| standing.with(|found| found.as_ref().map(|s| s.revision)));
    let known = StoredValue::new(None::<(Asked, Record)>);
    let record = Memo::new(move |_| {
        let asked = asked.get().filter(|_| open())?;
        revision.track();
        page.run.done.track();
        let before = known.get_value().filter(|(of, _)| *of == asked).map(|(_, record)| record);
        let record = page.run.record(asked.lane, &asked.key, before.as_ref())?;
        known.set_value(Some((asked, record.clone())));
        Some(record)
    });
    let missing = move || {
        let shown = page.inspected.get().filter(|_| standing.with(Option::is_none) && open());
        let text = |(_, key)| tr!(object.unknown, name = words::choice(&key));
        shown.map(|shown| view! { <p class="hint-text">{text(shown)}</p> })
    };
    view! {
        <article class="object" aria-label=move || common::lane(lane)>
            {move || asked.get().map(|asked| head(page, &asked, standing))}
            {missing}
            <Show when=move || standing.with(Option::is_some)>
                <standing::Chain lane=lane standing=standing/>
                <standing::Family lane=lane standing=standing/>
                <fields::Fields record=record/>
                <revisions::Revisions lane=lane record=record/>
                <standing::Conditions standing=standing/>
                <standing::Events standing=standing/>
            </Show>
        </article>
    }
    .into_any()
}

fn head(page: Page, asked: &Asked, standing: Memo<Option<Standing>>) -> AnyView {
    let (lane, key) = (asked.lane, asked.key.clone());
    let instead = asked.instead_of.clone();
    let own = page.inspected.with(|shown| shown.as_ref().is_some_and(|(of, _)| *of == lane));
    let facts = move || {
        let found = standing.get()?;
        let mut facts = vec![tr!(object.revision, n = found.revision)];
        facts
            .extend(found.created.map(|at| tr!(object.created, at = crate::ui::format::clock(at))));
        if found.terminating {
            facts.push("Terminating".to_owned());
        }
        Some(facts.join(" · "))
    };
    let gone = move || {
        let there = standing.with(|found| found.as_ref().is_none_or(|found| found.there));
        (!there).then(|| view! { <p class="gone">{tr!(object.gone)}</p> })
    };
    view! {
        <header>
            {chip(lane)}
            " "
            <h3 id=own.then_some("object-title") tabindex=own.then_some("-1")>
                <span class="kind">{key.kind.info().kind}</span>
                " "
                <span class="mono">{key.name.to_string()}</span>
            </h3>
            <p class="facts">{facts}</p>
            {instead
                .map(|key| {
                    view! {
                        <p class="facts">
                            {tr!(object.renamed, name = key.name.to_string())}
                        </p>
                    }
                })}
            {gone}
        </header>
    }
    .into_any()
}

/// The button that shows what is folded, and how much that is; nothing once it is shown.
fn show_more(all: RwSignal<bool>, hidden: impl Fn() -> usize) -> impl Fn() -> Option<AnyView> {
    move || {
        let n = hidden();
        (n > 0 && !all.get()).then(|| {
            view! {
                <button class="plain-button show-more" on:click=move |_| all.set(true)>
                    {tr!(object.more, n = n)}
                </button>
            }
            .into_any()
        })
    }
}

/// How much a bound left out, if it did.
fn left_out(n: usize) -> Option<AnyView> {
    (n > 0).then(|| view! { <p class="left-out">{tr!(object.left_out, n = n)}</p> }.into_any())
}
