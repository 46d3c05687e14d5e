//! One pass in full: what woke it and what led there, what its cache said, what it did and what
//! came of it.

use leptos::prelude::*;

use crate::kernel::Time;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
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
        let chain = page.run.why(lane, number);
        Some((row, chain))
    });
    let shown = move || found.get().map(|(row, chain)| detail(page, &row, &chain));
    view! { <div class="pass-detail" aria-live="polite">{shown}</div> }.into_any()
}

fn detail(page: Page, row: &PassRow, chain: &[Reason]) -> AnyView {
    let close = move |_| page.run.picked.set(None);
    let pass = &row.pass;
    let cache = match pass.behind {
        0 => tr!(why.fresh).to_owned(),
        n => tr!(why.behind, n = n, span = format::span(pass.stale)),
    };
    let facts = [words::sees(pass), words::wants(pass)].into_iter().flatten();
    let facts = facts.collect::<Vec<_>>().join(" · ");
    let back = pass.comes_back.as_ref().map(|(after, cause)| {
        tr!(why.back, span = format::span(*after), why = words::woken(cause))
    });
    view! {
        <header>
            {chip(row.lane)}
            " "
            <h3>{words::loop_of(row)} " " <span class="mono">{pass.key.to_string()}</span></h3>
            <button class="plain-button" aria-label=tr!(action.close) on:click=close>
                {icon("close")}
            </button>
        </header>
        <dl>
            {item(tr!(why.cache), cache)}
            {item(tr!(why.compared), facts)}
            {item(tr!(why.decided), words::does(pass))}
            {(!pass.acts.is_empty()).then(|| acts(&pass.acts))}
            {pass.error.clone().map(|error| item(tr!(why.error), error))}
            {back.map(|back| item(tr!(why.next), back))}
        </dl>
        <h4>{tr!(why.chain)}</h4>
        <ol class="chain">{chain.iter().map(|reason| link(page, reason)).collect_view()}</ol>
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
fn link(page: Page, reason: &Reason) -> AnyView {
    let (at, text) = match reason {
        Reason::Did { at, line, .. } => (Some(*at), line.to_string()),
        Reason::Pass(row) => {
            (row.pass.ended, format!("{} · {}", words::loop_of(row), words::pass(&row.pass)))
        }
        Reason::Watch { at, event, object, revision } => {
            let event = event.word();
            (*at, tr!(why.watch, event = event, object = object, revision = revision))
        }
        Reason::Other(cause) => (None, words::woken(cause)),
        Reason::More => (None, tr!(why.more).to_owned()),
    };
    let picks = match reason {
        Reason::Pass(row) => Some((row.lane, row.pass.number)),
        _ => None,
    };
    let go = move |at: Time| {
        page.playing.set(false);
        if let Some(picks) = picks {
            page.run.picked.set(Some(picks));
        }
        page.run.seek(at);
    };
    let class = match reason {
        Reason::Did { .. } => "you",
        Reason::Pass(_) => "pass",
        _ => "",
    };
    let inner = match at {
        Some(at) => view! {
            <button on:click=move |_| go(at) title=tr!(log.go)>
                <time class="mono">{format::clock(at)}</time>
                <span>{text}</span>
            </button>
        }
        .into_any(),
        None => view! { <p>{text}</p> }.into_any(),
    };
    view! { <li class=class>{inner}</li> }.into_any()
}
