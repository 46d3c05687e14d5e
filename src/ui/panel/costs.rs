//! What each action cost both lanes, as a table and in one line.

use leptos::prelude::*;

use crate::kernel::Time;
use crate::ui::bridge::LANES;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::{Cost, LaneCost, LaneId, Outcome};

/// Actions that are shown, the newest.
const SHOWN: usize = 40;

/// What it cost a lane, in one line: `level: passes 3, writes 2, converged after 41 ms`.
fn in_one_line(cost: &LaneCost) -> String {
    tr!(
        costs.line,
        lane = words::lane_word(cost.lane),
        passes = cost.passes,
        writes = cost.writes,
        outcome = outcome(cost.outcome)
    )
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Converged(after) if after.is_zero() => tr!(costs.at_once).to_owned(),
        Outcome::Converged(after) => tr!(costs.converged, span = format::span(after)),
        Outcome::Never("oscillating") => tr!(costs.oscillates).to_owned(),
        Outcome::Never(_) => tr!(costs.never).to_owned(),
        Outcome::Interrupted => tr!(costs.interrupted).to_owned(),
        Outcome::Going => tr!(costs.going).to_owned(),
    }
}

/// What the line that was given then has cost, under the line itself. Nothing while it is unknown,
/// nor anything new while the tab in which it stands is not looked at.
pub fn below(
    page: Page,
    at: Time,
    line: String,
    only: Option<LaneId>,
    tab: Option<Tab>,
) -> impl Fn() -> Option<AnyView> {
    let known = Memo::new(move |before: Option<&Vec<LaneCost>>| {
        if tab.is_some_and(|tab| page.tab.get() != tab) {
            return before.cloned().unwrap_or_default();
        }
        page.run.story.with(|story| of_line(&story.costs, at, &line, only).unwrap_or_default())
    });
    move || {
        let costs = known.get();
        let lines = costs.iter().map(|cost| view! { <span>{in_one_line(cost)}</span> });
        let lines = (!costs.is_empty()).then(|| lines.collect_view());
        lines.map(|lines| view! { <small class="cost">{lines}</small> }.into_any())
    }
}

fn of_line(costs: &[Cost], at: Time, line: &str, only: Option<LaneId>) -> Option<Vec<LaneCost>> {
    let found = costs.binary_search_by_key(&at, |cost| cost.at).ok()?;
    let cost = costs.get(found)?;
    // Several lines of one moment have their cost together, told under the last.
    let ours = cost.lines.last().is_some_and(|own| is_same(own, line));
    let lanes = cost.lanes.iter().filter(|cost| only.is_none_or(|lane| lane == cost.lane));
    ours.then(|| lanes.copied().collect())
}

/// A line as it was typed, and as it stands in the run.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |line: &str| line.trim().trim_start_matches("kubectl ").to_owned();
    bare(one) == bare(other)
}

/// The table. Each row leads to its moment.
#[component]
pub fn Costs() -> impl IntoView {
    let page = Page::get();
    let known = Memo::new(move |_| {
        let looked_at = page.tab.get() == Tab::Metrics;
        if looked_at {
            page.run.story.with(|story| story.costs.clone())
        } else {
            Default::default()
        }
    });
    let rows = move || {
        known.with(|costs| {
            let rows = costs.iter().rev().take(SHOWN).map(|cost| row(page, cost));
            rows.collect_view()
        })
    };
    let heads = move || {
        let words = [
            tr!(costs.lane),
            tr!(metrics.passes),
            tr!(metrics.reads),
            tr!(metrics.writes),
            tr!(metrics.events),
            tr!(metrics.retries),
            tr!(costs.outcome),
        ];
        words.map(|word| view! { <th scope="col">{word}</th> }).collect_view()
    };
    view! {
        <section class="costs">
            <h3>{move || tr!(costs.title)}</h3>
            <Show when=move || known.with(|costs| costs.is_empty())>
                <p class="hint-text">{move || tr!(costs.none)}</p>
            </Show>
            <div class="cost-table" hidden=move || known.with(|costs| costs.is_empty())>
                <table class="numbers">
                    <caption>{move || tr!(costs.caption)}</caption>
                    <thead>
                        <tr>
                            {heads}
                        </tr>
                    </thead>
                    {rows}
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn row(page: Page, cost: &Cost) -> AnyView {
    let at = cost.at;
    let go = move |_| page.go(at);
    let line = cost.lines.join("\n");
    let lanes = LANES.into_iter().filter_map(|lane| {
        let cost = cost.lanes.iter().find(|cost| cost.lane == lane)?;
        let numbers = [cost.passes, cost.reads, cost.writes, cost.watch_events, cost.retries];
        Some(view! {
            <tr>
                <th scope="row">{words::lane_word(lane)}</th>
                {numbers.map(|number| view! { <td>{number}</td> }).collect_view()}
                <td>{outcome(cost.outcome)}</td>
            </tr>
        })
    });
    view! {
        <tbody>
            <tr>
                <th colspan="7" scope="rowgroup">
                    <button class="go" title=tr!(log.go) on:click=go>
                        <time class="mono">{format::clock(at)}</time>
                        " "
                        <code>{line}</code>
                    </button>
                </th>
            </tr>
            {lanes.collect_view()}
        </tbody>
    }
    .into_any()
}
