//! What screen readers are told unasked: passes that do something, verdicts, and what a line of the
//! console goes on printing. Not more than one message in a while, and nothing if it is switched
//! off.

use std::sync::Arc;

use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::view::news::{Waiting, news};
use crate::view::{Happening, LogLine};

use super::bridge::LaneId;
use super::state::Page;
use super::words;

const EVERY_MS: u32 = 1500;

/// The live region.
#[component]
pub fn Announcer() -> impl IntoView {
    let page = Page::get();
    let text = RwSignal::new(String::new());
    let waiting = StoredValue::new(Waiting::default());
    // Of what the console goes on printing only the last line: the others stand there to be read.
    let printed = StoredValue::new(None::<String>);
    let timer = Interval::new(EVERY_MS, move || {
        if page.quiet.get_untracked() {
            waiting.update_value(Waiting::clear);
            printed.set_value(None);
        }
        let line = printed.try_update_value(Option::take).flatten();
        let next = line.or_else(|| waiting.try_update_value(Waiting::pop).flatten());
        if let Some(next) = next {
            text.set(next);
        }
    });
    let timer = StoredValue::new_local(Some(timer));
    on_cleanup(move || timer.update_value(|timer| drop(timer.take())));

    Effect::new(move |heard: Option<(u64, Arc<[LogLine]>)>| {
        let (jump, log) = (page.run.jumps.get(), page.run.story.with(|story| story.log.clone()));
        let goes_on = heard.as_ref().is_some_and(|(was, _)| *was == jump || page.run.went_on());
        if !goes_on {
            waiting.update_value(Waiting::clear);
        } else if !page.quiet.get_untracked() {
            let heard = heard.map(|(_, log)| log).unwrap_or_default();
            waiting.update_value(|waiting| {
                for line in news(&heard, &log) {
                    if let Some(sentence) = sentence(line) {
                        waiting.push(verdict_of(line), sentence);
                    }
                }
            });
        }
        (jump, log)
    });
    Effect::new(move || {
        let (lane, line) = page.run.printed.get();
        if !line.is_empty() && page.playing.get_untracked() {
            let lane = lane.map_or(String::new(), |lane| format!("{}: ", words::lane(lane)));
            printed.set_value(Some(format!("{lane}{line}")));
        }
    });
    view! { <div class="ears-only" id="live" aria-live="polite">{move || text.get()}</div> }
}

/// The lane whose verdict a line is.
fn verdict_of(line: &LogLine) -> Option<LaneId> {
    line.lane.filter(|_| matches!(line.what, Happening::Verdict(_)))
}

fn sentence(line: &LogLine) -> Option<String> {
    let what = match &line.what {
        Happening::Pass(id, pass) => {
            format!("{} {}", words::loop_name(*id), words::pass(pass))
        }
        Happening::Verdict(verdict) => {
            format!("{}: {}", words::verdict(verdict), words::verdict_reason(verdict))
        }
        Happening::Divergence(found) => words::divergence(found),
        Happening::Struck { event, to, .. } => {
            format!("{event} → {}", words::loop_name(*to))
        }
        _ => return None,
    };
    Some(match line.lane {
        Some(lane @ (LaneId::Edge | LaneId::Level)) => format!("{}: {what}", words::lane(lane)),
        None => what,
    })
}
