//! What screen readers are told unasked: passes that do something, verdicts, and what a line of the
//! console goes on printing. Not more than one message in a while, and nothing if it is switched
//! off.

use std::collections::VecDeque;

use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::kernel::Time;
use crate::view::{Happening, LogLine};

use super::bridge::LaneId;
use super::state::Page;
use super::words;

const EVERY_MS: u32 = 1500;
const KEPT: usize = 4;

/// The live region.
#[component]
pub fn Announcer() -> impl IntoView {
    let page = Page::get();
    let text = RwSignal::new(String::new());
    let told = StoredValue::new(Time::ZERO);
    let waiting = StoredValue::new(VecDeque::<String>::new());
    // Of what the console goes on printing only the last line: the others stand there to be read.
    let printed = StoredValue::new(None::<String>);
    let timer = Interval::new(EVERY_MS, move || {
        if page.quiet.get_untracked() {
            waiting.update_value(VecDeque::clear);
            printed.set_value(None);
        }
        let line = printed.try_update_value(Option::take).flatten();
        let next = line.or_else(|| waiting.try_update_value(VecDeque::pop_front).flatten());
        if let Some(next) = next {
            text.set(next);
        }
    });
    let timer = StoredValue::new_local(Some(timer));
    on_cleanup(move || timer.update_value(|timer| drop(timer.take())));

    Effect::new(move || {
        page.run.jumps.track();
        if !page.run.went_on() {
            told.set_value(page.run.clock.with_untracked(|clock| clock.now));
        }
    });
    Effect::new(move || {
        let story = page.run.story.get();
        let now = page.run.clock.with_untracked(|clock| clock.now);
        let since = told.get_value();
        if now <= since || page.quiet.get_untracked() {
            return;
        }
        told.set_value(now);
        let new = story.log.iter().filter(|line| line.at > since);
        waiting.update_value(|waiting| {
            waiting.extend(new.filter_map(sentence));
            let surplus = waiting.len().saturating_sub(KEPT);
            waiting.drain(..surplus);
        });
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
