//! How the object stands: the chain with what stopped it, its family, conditions and Events.

use leptos::prelude::*;

use crate::ui::bridge::LaneId;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words as common;
use crate::view::inspect::{
    ChainStep, ConditionRow, EventNote, Evidence, Finding, Member, MemberKind, Standing, Step,
    StepState,
};

use super::{left_out, words};

/// A part of what is shown, that changes only when it does.
fn part<T>(standing: Memo<Option<Standing>>, f: fn(&Standing) -> T) -> Memo<T>
where
    T: Default + PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| standing.with(|found| found.as_ref().map(f).unwrap_or_default()))
}

/// The steps, each with what stopped it.
#[component]
pub fn Chain(lane: LaneId, standing: Memo<Option<Standing>>) -> impl IntoView {
    let page = Page::get();
    let told = part(standing, |s| (s.there, s.steps.clone(), s.findings.clone()));
    let content = move || {
        let (there, steps, findings) = told.get();
        if !there {
            return None;
        }
        let well = findings.is_empty() && steps.iter().all(|step| step.state == StepState::Done);
        let summary = match (well, steps.is_empty()) {
            (true, true) => tr!(object.no_trouble),
            (true, false) => tr!(object.well),
            (false, _) => tr!(object.chain),
        };
        // A finding of a step that the chain of this kind has not got stands before the others.
        let of_chain = |step: Step| steps.iter().any(|one| one.step == step);
        let loose = findings.iter().filter(|finding| !of_chain(finding.step));
        let loose: Vec<AnyView> = loose.map(|f| finding(page, lane, f)).collect();
        let rows: Vec<AnyView> = steps.iter().map(|one| step(page, lane, one, &findings)).collect();
        let rows = (!rows.is_empty()).then(|| view! { <ol class="steps">{rows}</ol> });
        Some(if well && rows.is_none() {
            view! { <p class="well">{summary}</p> }.into_any()
        } else {
            view! {
                <details class="chain-of" open=!well>
                    <summary>{summary}</summary>
                    {loose}
                    {rows}
                </details>
            }
            .into_any()
        })
    };
    view! { <section class="part" aria-live="polite">{content}</section> }.into_any()
}

fn step(page: Page, lane: LaneId, one: &ChainStep, findings: &[Finding]) -> AnyView {
    let own = findings.iter().filter(|finding| finding.step == one.step);
    let own: Vec<AnyView> = own.map(|f| finding(page, lane, f)).collect();
    let counted = one.of > 1 || one.step >= Step::ReplicaSet && one.done != one.of;
    let count = counted.then(|| view! { <b>{format!("{}/{}", one.done, one.of)}</b> " " });
    view! {
        <li data-state=words::step_key(one.state)>
            <span class="mark" aria-hidden="true"></span>
            <span class="name">{words::step(one.step)}</span>
            " "
            <span class="how">{count}<small>{words::step_state(one.state)}</small></span>
            {own}
        </li>
    }
    .into_any()
}

fn finding(page: Page, lane: LaneId, finding: &Finding) -> AnyView {
    let more = (finding.count > 1).then(|| tr!(find.count, n = finding.count - 1));
    let why = finding.why.as_ref().map(words::why);
    let evidence = finding.evidence.iter().map(|one| self::evidence(page, lane, one));
    let elsewhere = page
        .inspected
        .with_untracked(|shown| shown.as_ref().is_none_or(|(_, key)| *key != finding.object));
    let key = finding.object.clone();
    let look = elsewhere.then(|| {
        let name = words::choice(&key);
        view! {
            <button class="link" on:click=move |_| page.inspect(lane, key.clone())>
                {tr!(menu.inspect)}
                " "
                <span class="mono">{name}</span>
            </button>
        }
    });
    view! {
        <div class="finding">
            <p>
                <strong>{words::what(finding)}</strong>
                {more.map(|more| format!(" {more}"))}
            </p>
            {why.map(|why| view! { <p>{why}</p> })}
            <p class="next">{words::next(&finding.next)}</p>
            <ul class="evidence-rows">{evidence.collect_view()}</ul>
            {look}
        </div>
    }
    .into_any()
}

fn evidence(page: Page, lane: LaneId, one: &Evidence) -> AnyView {
    match one {
        Evidence::Condition(row) => {
            let text = format!("{} {:?} {} {}", row.kind, row.status, row.reason, row.message);
            match row.since {
                Some(at) => moment(page, at, None, text),
                None => view! { <li>{text}</li> }.into_any(),
            }
        }
        Evidence::Event(note) => {
            let count = if note.count > 1 { format!(" ×{}", note.count) } else { String::new() };
            let text = format!("{}{count} {}", note.reason, note.message);
            moment(page, note.at, None, text)
        }
        Evidence::Request { at, verb, object, code, message, pass } => {
            let text = format!("{} {object} → {code}: {message}", common::verb(*verb));
            moment(page, *at, Some((lane, *pass)), text)
        }
        Evidence::Struck { at, event, object } => {
            let text = tr!(object.struck, event = event.word(), object = object);
            moment(page, *at, None, text)
        }
    }
}

/// Something that can be looked at in its moment, and in its pass if it has one.
fn moment(
    page: Page,
    at: crate::kernel::Time,
    pass: Option<(LaneId, u64)>,
    text: String,
) -> AnyView {
    let press = move |_| {
        if let Some((lane, number)) = pass {
            page.pick(lane, number);
            page.tab.set(Tab::Passes);
        }
        page.go(at);
    };
    view! {
        <li>
            <button title=tr!(log.go) on:click=press>
                <time class="mono">{format::clock(at)}</time>
                <span>{text}</span>
            </button>
        </li>
    }
    .into_any()
}

/// Owners, itself, what is its own; each leads to itself.
#[component]
pub fn Family(lane: LaneId, standing: Memo<Option<Standing>>) -> impl IntoView {
    let page = Page::get();
    let told = part(standing, |s| (s.family.clone(), s.family_more));
    let rows = move || {
        let (family, _) = told.get();
        family.iter().map(|one| member(page, lane, one)).collect_view()
    };
    view! {
        <section class="part">
            <h4>{move || tr!(object.family)}</h4>
            <ul class="family">{rows}</ul>
            {move || left_out(told.with(|(_, more)| *more))}
        </section>
    }
    .into_any()
}

fn member(page: Page, lane: LaneId, one: &Member) -> AnyView {
    let says = (!one.says.is_empty()).then(|| {
        let trouble = (!one.well).then(|| {
            view! { <span class="ears-only">{tr!(object.not_well)}</span> }
        });
        view! { <span class="says" class:trouble=!one.well>{one.says.to_string()} {trouble}</span> }
    });
    let inner = match &one.what {
        MemberKind::Container(name) => view! {
            <span>
                <span class="kind">{tr!(object.container)}</span>
                " "
                <span class="mono">{name.to_string()}</span>
            </span>
        }
        .into_any(),
        MemberKind::Object(key) if one.own => view! {
            <span aria-current="true">
                <span class="kind">{key.kind.info().kind}</span>
                " "
                <b class="mono">{key.name.to_string()}</b>
                " "
                <small>{tr!(object.this)}</small>
            </span>
        }
        .into_any(),
        MemberKind::Object(key) => {
            let (kind, name) = (key.kind.info().kind, key.name.to_string());
            let key = key.clone();
            view! {
                <button class="link" on:click=move |_| page.inspect(lane, key.clone())>
                    <span class="kind">{kind}</span>
                    " "
                    <span class="mono">{name}</span>
                </button>
            }
            .into_any()
        }
    };
    view! { <li data-depth=one.depth.min(8).to_string()>{inner} " " {says}</li> }.into_any()
}

/// Conditions, as `kubectl describe` has them.
#[component]
pub fn Conditions(standing: Memo<Option<Standing>>) -> impl IntoView {
    let told = part(standing, |s| s.conditions.clone());
    let content = move || {
        let rows = told.get();
        if rows.is_empty() {
            return view! { <p class="left-out">{tr!(object.no_conditions)}</p> }.into_any();
        }
        view! {
            <table class="conditions">
                <thead>
                    <tr>
                        <th scope="col">{tr!(object.kind)}</th>
                        <th scope="col">{tr!(object.status)}</th>
                        <th scope="col">{tr!(object.reason)}</th>
                    </tr>
                </thead>
                <tbody>{rows.iter().map(condition).collect_view()}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <section class="part">
            <h4>{move || tr!(object.conditions)}</h4>
            {content}
        </section>
    }
    .into_any()
}

fn condition(row: &ConditionRow) -> AnyView {
    let since = row.since.map(|at| view! { <time class="mono">{format::clock(at)}</time> });
    let message = (!row.message.is_empty()).then(|| {
        view! { <small>{row.message.to_string()}</small> }
    });
    view! {
        <tr>
            <th scope="row">{row.kind.to_string()}</th>
            <td>{format!("{:?}", row.status)}</td>
            <td>{row.reason.to_string()} " " {since} {message}</td>
        </tr>
    }
    .into_any()
}

/// The Events about it, newest first.
#[component]
pub fn Events(standing: Memo<Option<Standing>>) -> impl IntoView {
    let page = Page::get();
    let told = part(standing, |s| s.events.clone());
    let content = move || {
        let notes = told.get();
        if notes.is_empty() {
            return view! { <p class="left-out">{tr!(object.no_events)}</p> }.into_any();
        }
        let rows = notes.iter().rev().map(|note| event(page, note)).collect_view();
        view! { <ul class="evidence-rows">{rows}</ul> }.into_any()
    };
    view! {
        <section class="part">
            <h4>"Events"</h4>
            {content}
        </section>
    }
    .into_any()
}

fn event(page: Page, note: &EventNote) -> AnyView {
    let kind = if note.warning { "Warning" } else { "Normal" };
    let count = if note.count > 1 { format!(" ×{}", note.count) } else { String::new() };
    let text = format!("{kind} {}{count} {}: {}", note.reason, note.from, note.message);
    moment(page, note.at, None, text)
}
