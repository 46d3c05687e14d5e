//! One pass in full: what woke it and what led there, what its cache said, what it did and what
//! came of it.

use leptos::prelude::*;

use crate::controllers::Fact;
use crate::ui::chain::{Kind, Link, links, of_pass};
use crate::ui::dom;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::spacetime::Focus;
use crate::view::{Act, PassRow, Reason};

use super::passes::chip;

/// The pass that was picked, if one is.
#[component]
pub fn Why() -> impl IntoView {
    let page = Page::get();
    let found = Memo::new(move |_| {
        if page.tab.get() != Tab::Passes {
            return None;
        }
        page.run.changed.track();
        let (lane, number) = page.run.picked.get()?;
        let row = page.run.pass(lane, number)?;
        let (chain, followed) = (page.run.why(lane, number), page.run.led_to(lane, number));
        Some((row, chain, followed))
    });
    // The moment of the pass is computed once more for it, so not with every change.
    let which = Memo::new(move |_| {
        found.with(|found| {
            found.as_ref().map(|(row, ..)| (row.lane, row.pass.number, row.pass.started))
        })
    });
    let truth =
        Memo::new(move |_| which.get().and_then(|(lane, number, _)| page.run.truth(lane, number)));
    let shown = move || {
        // In this order: what is asked first is what is looked at first when something has changed,
        // and to ask for the truth first takes the news of the pass away.
        let (found, truth) = (found.get(), truth.get());
        found.map(|(row, chain, followed)| {
            let detail = detail(page, &row, &chain, truth);
            view! { {detail} {led(page, &followed)} }.into_any()
        })
    };
    view! { <div class="pass-detail" aria-live="polite">{shown}</div> }.into_any()
}

fn detail(page: Page, row: &PassRow, chain: &[Reason], truth: Option<Fact>) -> AnyView {
    let close = move |_| page.run.picked.set(None);
    let which = (row.lane, row.pass.number);
    let draw = move |_| {
        page.focus.set(Some(Focus::Pass(which.0, which.1)));
        page.tab.set(Tab::Diagram);
    };
    let pass = &row.pass;
    let cache = match pass.behind {
        0 => tr!(why.fresh).to_owned(),
        n => tr!(why.behind, n = n, span = format::span(pass.stale)),
    };
    let facts = [words::sees(pass), words::wants(pass)].into_iter().flatten();
    let facts = facts.collect::<Vec<_>>().join(" · ");
    let truth = truth.and_then(|truth| words::truth(&truth, pass));
    let back = pass.comes_back.as_ref().map(|(after, cause)| {
        tr!(why.back, span = format::span(*after), why = words::woken(cause))
    });
    view! {
        <header>
            {chip(row.lane)}
            " "
            <h3>{words::loop_of(row)} " " <span class="mono">{pass.key.to_string()}</span></h3>
            <button class="plain-button" on:click=draw>{tr!(why.draw)}</button>
            <button class="plain-button" aria-label=tr!(action.close) on:click=close>
                {icon("close")}
            </button>
        </header>
        <dl>
            {item(tr!(why.cache), cache)}
            {truth.map(|truth| item(tr!(why.truth), truth))}
            {item(tr!(why.compared), facts)}
            {words::difference(pass).map(|difference| item(tr!(why.difference), difference))}
            {item(tr!(why.decided), words::does(pass))}
            {(!pass.acts.is_empty()).then(|| acts(&pass.acts))}
            {pass.error.clone().map(|error| item(tr!(why.error), error))}
            {back.map(|back| item(tr!(why.next), back))}
        </dl>
        <h4>{tr!(why.chain)}</h4>
        {walk(page, &links(row, chain))}
    }
    .into_any()
}

/// The chain, oldest link first. The arrow keys walk it: up to the cause, down to the effect.
fn walk(page: Page, links: &[Link]) -> AnyView {
    let list = NodeRef::<leptos::html::Ol>::new();
    let rows = links.iter().enumerate();
    let rows = rows.map(|(index, link)| one(page, index, link, links.len())).collect_view();
    let press = move |event: leptos::ev::KeyboardEvent| {
        let Some(list) = list.get_untracked() else { return };
        if dom::rove_freely(&list, "button", &event.key()) {
            event.prevent_default();
        }
    };
    view! { <ol class="chain" node_ref=list on:keydown=press>{rows}</ol> }.into_any()
}

/// The passes that this one has woken: pressing one picks it.
fn led(page: Page, followed: &[PassRow]) -> AnyView {
    let rows = followed.iter().map(|row| {
        let link = of_pass(row);
        let (at, text) = (format::clock(row.pass.started), link.text.clone());
        view! {
            <li class="pass">
                <button on:click=move |_| link.go(page) title=tr!(log.go)>
                    <time class="mono">{at}</time>
                    <span>{text}</span>
                </button>
            </li>
        }
        .into_any()
    });
    let rows = rows.collect_view();
    let none = followed.is_empty().then(|| view! { <p class="hint-text">{tr!(why.led_none)}</p> });
    view! {
        <h4>{tr!(why.led)}</h4>
        {none}
        <ul class="chain led">{rows}</ul>
    }
    .into_any()
}

fn item(name: &'static str, text: String) -> AnyView {
    view! {
        <dt>{name}</dt>
        <dd>{text}</dd>
    }
    .into_any()
}

fn acts(acts: &[Act]) -> AnyView {
    let rows = acts.iter().map(|act| {
        let outcome = match &act.outcome {
            Ok(revision) => tr!(why.ok, revision = revision),
            Err((code, message)) => format!("{code}: {message}"),
        };
        view! {
            <li class:refused=act.outcome.is_err()>
                <span class="mono">{words::verb(act.verb)} " " {act.object.to_string()}</span>
                " → "
                {outcome}
            </li>
        }
        .into_any()
    });
    view! {
        <dt>{tr!(why.asked)}</dt>
        <dd><ul>{rows.collect_view()}</ul></dd>
    }
    .into_any()
}

/// A link of the chain: pressing it shows its moment.
fn one(page: Page, index: usize, link: &Link, of: usize) -> AnyView {
    let back = of - 1 - index;
    let (at, text, own) = (link.at, link.text.clone(), link.clone());
    let here = move || page.linked.get() == back;
    let class = match link.kind {
        Kind::Did => "you",
        Kind::Pass(_) => "pass",
        _ => "",
    };
    let number = view! { <i class="number" aria-hidden="true">{index + 1}</i> };
    let inner = match at {
        Some(at) => view! {
            <button
                on:click=move |_| own.go(page)
                on:focus=move |_| page.linked.set(back)
                title=tr!(log.go)
            >
                <time class="mono">{format::clock(at)}</time>
                <span>{text}</span>
            </button>
        }
        .into_any(),
        None => view! { <p>{text}</p> }.into_any(),
    };
    view! {
        <li class=class class:here=here aria-current=move || here().then_some("step")>
            {number}
            {inner}
        </li>
    }
    .into_any()
}
