//! What happened, newest last. Each line leads the stage back to its moment.

use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::html::Ol;
use leptos::prelude::*;
use web_sys::Element;

use crate::api::Str;
use crate::kernel::Time;
use crate::ui::bridge::LaneId;
use crate::ui::dom;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;
use crate::view::{Happening, LogLine, LoopId, PassView, reuse};

/// So near to the bottom, the reader is taken along.
const NEAR_PX: i32 = 40;
/// So many of the newest lines, more than there is room for, are told at once after a jump in time;
/// the others when it has been seen. The stylesheet knows it too.
const AT_ONCE: usize = 24;

#[component]
pub fn Log() -> impl IntoView {
    let page = Page::get();
    let list = NodeRef::<Ol>::new();
    let lines = Memo::new(move |_| page.run.story.with(|story| numbered(&story.log)));
    // Whoever has scrolled up to read is left there.
    let follow = StoredValue::new(true);
    let reader = Reader { list, follow };
    let brief = Memo::new(move |_| page.run.has_jumped() && follow.get_value() && !reader.is_in());
    let rows = RwSignal::new(Vec::<Row>::new());
    Effect::new(move || {
        let (lines, told) = (lines.get(), if brief.get() { AT_ONCE } else { usize::MAX });
        rows.update(|rows| *rows = Row::all(rows, lines, told));
    });
    Effect::new(move || {
        rows.track();
        let Some(list) = list.get() else { return };
        request_animation_frame(move || {
            if follow.try_get_value() == Some(true) {
                list.set_scroll_top(list.scroll_height());
            }
        });
    });
    view! {
        <section class="log" aria-labelledby="log-title">
            <h3 id="log-title">{move || tr!(log.title)}</h3>
            <Show when=move || rows.with(Vec::is_empty)>
                <p class="hint-text">{move || tr!(log.empty)}</p>
            </Show>
            <ol
                node_ref=list
                class:brief=move || brief.get()
                on:scroll=move |_| reader.scrolled()
                on:wheel=move |event| reader.turned(&event)
                on:touchmove=move |_| reader.leaves()
                on:pointerdown=move |event| reader.pressed(&event)
                on:keydown=move |event| reader.typed(&event)
            >
                <For
                    each=move || rows.get()
                    key=|row| row.id
                    children=move |row| view! { <Line line=row.line/> }
                />
            </ol>
        </section>
    }
    .into_any()
}

/// Whoever reads the list. That it scrolls says nothing of them, since lines come and go by
/// themselves; what they do to scroll up does.
#[derive(Clone, Copy)]
struct Reader {
    list: NodeRef<Ol>,
    follow: StoredValue<bool>,
}

impl Reader {
    /// Whether a line has the focus. It is not to lose it.
    fn is_in(self) -> bool {
        let focused = dom::focused();
        self.list
            .get_untracked()
            .is_some_and(|list| list.contains(focused.as_ref().map(AsRef::as_ref)))
    }

    fn scrolled(self) {
        let below =
            |list: &Element| list.scroll_height() - list.scroll_top() - list.client_height();
        if self.list.get_untracked().is_some_and(|list| below(&list) < NEAR_PX) {
            self.follow.set_value(true);
        }
    }

    fn leaves(self) {
        let scrolls = |list: &Element| list.scroll_height() > list.client_height();
        if self.list.get_untracked().is_some_and(|list| scrolls(&list)) {
            self.follow.set_value(false);
        }
    }

    fn turned(self, event: &WheelEvent) {
        if event.delta_y() < 0.0 {
            self.leaves();
        }
    }

    fn pressed(self, event: &PointerEvent) {
        // The list itself, not a line of it: its scroll bar.
        if event.target() == event.current_target() {
            self.leaves();
        }
    }

    fn typed(self, event: &KeyboardEvent) {
        if matches!(event.key().as_str(), "ArrowUp" | "PageUp" | "Home") {
            self.leaves();
        }
    }
}

/// By which a line that is drawn is known again: one that is done is no longer put off.
type Key = (Time, Option<LaneId>, usize, &'static str, Option<Str>);

fn key(number: usize, line: &LogLine) -> Key {
    (line.at, line.lane, number, kind(&line.what), typed(line))
}

/// A drawn row with the line that it shows. After a jump in time it shows another one: to make all
/// of them anew would be slow.
#[derive(Clone)]
struct Row {
    id: u32,
    key: Key,
    line: ArcRwSignal<LogLine>,
}

impl Row {
    /// The rows that show these lines, made of the old ones as far as they go. Of those the newest
    /// `told` are told of another line.
    fn all(old: &[Row], lines: Vec<(usize, LogLine)>, told: usize) -> Vec<Row> {
        let untold = lines.len().saturating_sub(told);
        let keys: Vec<Key> = lines.iter().map(|(number, line)| key(*number, line)).collect();
        let taken = reuse::rows(&old.iter().map(|row| row.key.clone()).collect::<Vec<_>>(), &keys);
        let mut made = old.iter().map(|row| row.id + 1).max().unwrap_or(0);
        let rows = keys.into_iter().zip(lines).zip(taken).enumerate();
        let rows = rows.map(|(place, ((key, (_, line)), taken))| {
            if let Some(row) = taken.and_then(|place| old.get(place)) {
                if place >= untold && row.line.with_untracked(|shown| *shown != line) {
                    row.line.set(line);
                }
                return Row { key, ..row.clone() };
            }
            made += 1;
            Row { id: made, key, line: ArcRwSignal::new(line) }
        });
        rows.collect()
    }
}

/// What somebody typed, or was answered. In another future it may be something else at the same
/// moment.
fn typed(line: &LogLine) -> Option<Str> {
    match &line.what {
        Happening::You(text)
        | Happening::Script(text)
        | Happening::Fault(text)
        | Happening::Failed(text) => Some(text.clone()),
        _ => None,
    }
}

/// Lines of the same moment are told apart by their order.
fn numbered(lines: &[LogLine]) -> Vec<(usize, LogLine)> {
    let mut out: Vec<(usize, LogLine)> = Vec::with_capacity(lines.len());
    for line in lines {
        let number = match out.last() {
            Some((number, last)) if last.at == line.at => number + 1,
            _ => 0,
        };
        out.push((number, line.clone()));
    }
    out
}

/// Of a pass, and most are, a row keeps what it is made of after a jump too: only its words change.
#[component]
fn Line(line: ArcRwSignal<LogLine>) -> impl IntoView {
    let page = Page::get();
    let line = RwSignal::from(line);
    let go = move |_| page.go(line.with_untracked(|line| line.at));
    let at = move || line.with(|line| format::clock(line.at));
    let is_pass = Memo::new(move |_| line.with(|line| pass_of(line).is_some()));
    let content = move || match is_pass.get() {
        true => pass(line),
        false => line.with(|line| content(page, line)),
    };
    view! {
        <li class=move || line.with(|line| kind(&line.what))>
            <button on:click=go title=move || tr!(log.go)>
                <time class="mono">{at}</time>
                <span>{content}</span>
            </button>
        </li>
    }
    .into_any()
}

fn pass_of(line: &LogLine) -> Option<(LaneId, LoopId, &PassView)> {
    match (line.lane, &line.what) {
        (Some(lane), Happening::Pass(id, pass)) => Some((lane, *id, pass)),
        _ => None,
    }
}

/// A pass, whichever the line tells of.
fn pass(line: RwSignal<LogLine>) -> AnyView {
    let part = move |say: fn(LaneId, LoopId, &PassView) -> String| {
        // Nothing, should the line be about to be another kind of line.
        move || {
            line.with(|line| {
                pass_of(line).map(|(lane, id, pass)| say(lane, id, pass)).unwrap_or_default()
            })
        }
    };
    view! {
        <span class=part(|lane, _, _| chip(lane).to_owned())>
            {part(|lane, _, _| words::lane_word(lane).to_owned())}
        </span>
        " "
        <b>{part(|_, id, pass| words::loop_on(id, pass.node.as_deref()))}</b>
        " "
        {part(|_, _, pass| words::pass(pass))}
        " "
        <small>{part(|_, _, pass| words::woken(&pass.woken_by))}</small>
    }
    .into_any()
}

fn chip(lane: LaneId) -> &'static str {
    match lane {
        LaneId::Edge => "chip edge",
        LaneId::Level => "chip level",
    }
}

/// All other lines.
fn content(page: Page, line: &LogLine) -> AnyView {
    let (at, lane) = (line.at, line.lane);
    let chip = lane.map(|lane| {
        view! { <span class=chip(lane)>{words::lane_word(lane)}</span>" " }
    });
    let given = typed(line);
    let cost = given.map(|text| super::costs::below(page, at, text.to_string(), lane, None));
    view! { {chip}{text(&line.what)}{cost} }.into_any()
}

fn kind(what: &Happening) -> &'static str {
    match what {
        Happening::You(_) => "you",
        Happening::Script(_) => "script",
        Happening::PutOff(_) => "put-off",
        Happening::Failed(_) => "failed",
        Happening::Fault(_) | Happening::Struck { .. } => "fault",
        Happening::Pass(..) => "pass",
        Happening::Divergence(_) => "divergence",
        Happening::Verdict(_) => "verdict-line",
    }
}

fn text(what: &Happening) -> AnyView {
    match what {
        Happening::You(line) => {
            view! { <b>{tr!(log.you)}</b>" "<code>{line.to_string()}</code> }.into_any()
        }
        Happening::Script(line) => {
            view! { <b>{tr!(log.script)}</b>" "<code>{line.to_string()}</code> }.into_any()
        }
        Happening::PutOff(line) => {
            view! { <b>{tr!(log.put_off)}</b>" "<code>{line.to_string()}</code> }.into_any()
        }
        Happening::Failed(text) => {
            view! { <b>{tr!(log.failed)}</b>" "<code>{text.to_string()}</code> }.into_any()
        }
        Happening::Fault(line) => {
            view! { <b>{tr!(log.fault)}</b>" "<code>{line.to_string()}</code> }.into_any()
        }
        Happening::Struck { to, event, object, how } => {
            let (event, object) = (event.to_string(), object.name.to_string());
            let to = words::loop_name(*to);
            let text = match &**how {
                "hold" => tr!(log.held, event = event, object = object, to = to),
                "reorder" => tr!(log.swapped, event = event, object = object, to = to),
                "delay" => tr!(log.delayed, event = event, object = object, to = to),
                "duplicate" => tr!(log.doubled, event = event, object = object, to = to),
                _ => tr!(log.dropped, event = event, object = object, to = to),
            };
            view! { <b>{tr!(log.fault)}</b>" "{text} }.into_any()
        }
        Happening::Pass(id, pass) => {
            let name = words::loop_on(*id, pass.node.as_deref());
            view! {
                <b>{name}</b>
                " "
                {words::pass(pass)}
                " "
                <small>{words::woken(&pass.woken_by)}</small>
            }
            .into_any()
        }
        Happening::Divergence(found) => {
            view! { <b>{tr!(divergence.one)}</b>" "{words::divergence(found)} }.into_any()
        }
        Happening::Verdict(verdict) => {
            view! { <b>{words::verdict(verdict)}</b>" "{words::verdict_reason(verdict)} }.into_any()
        }
    }
}
