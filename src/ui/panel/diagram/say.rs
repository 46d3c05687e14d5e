//! What the diagram says in words: a short label beside an item, and its whole sentence.

use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::words;
use crate::view::Cause;
use crate::view::spacetime::{Diagram, End, Item, Place, What};

/// A column's name, in at most so many letters.
pub fn column(place: &Place, letters: usize) -> String {
    match place {
        Place::People => tr!(diagram.you).to_owned(),
        Place::Server => "API".to_owned(),
        Place::Loop(id) => {
            let name = words::loop_name(*id);
            let fits = name.len() <= letters;
            if fits { name.to_owned() } else { words::loop_short(*id).to_owned() }
        }
        Place::Kubelet(node) => match node.strip_prefix("node-") {
            Some(number) if node.len() > letters => format!("n{number}"),
            _ => format::short(node, letters.max(4)),
        },
    }
}

/// A column's name in full.
fn name(place: &Place) -> String {
    match place {
        Place::People => tr!(diagram.you).to_owned(),
        Place::Server => tr!(diagram.server).to_owned(),
        Place::Loop(id) => words::loop_name(*id).to_owned(),
        Place::Kubelet(node) => format!("kubelet {node}"),
    }
}

/// The beginning of a text.
pub fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let head: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

/// What stands beside an item.
pub fn label(item: &Item, letters: usize) -> String {
    let text = match &item.what {
        What::Did { line, .. } => line.trim_start_matches("kubectl ").to_owned(),
        What::Fault { line } => line.trim_start_matches("fault ").to_owned(),
        What::Watch { event, .. } => event.word().to_owned(),
        What::Pass(_, pass) => words::does(pass),
        What::Request { outcome: Err((code, _)), .. } => code.to_string(),
        What::Request { verb, count: 1, .. } => words::verb(*verb).to_owned(),
        What::Request { verb, count, .. } => format!("{} ×{count}", words::verb(*verb)),
        What::Died(_) => tr!(diagram.dies).to_owned(),
        What::Started(_) => tr!(diagram.starts).to_owned(),
    };
    // What would be cut to nothing is left to the sentence.
    if letters < 4 { String::new() } else { cut(&text, letters) }
}

/// An item in one sentence.
pub fn sentence(diagram: &Diagram, item: &Item) -> String {
    let place = |column: usize| diagram.columns.get(column).map(name).unwrap_or_default();
    match &item.what {
        What::Did { line, of_script } => {
            let who = if *of_script { tr!(log.script) } else { tr!(log.you) };
            format!("{who}: {line}")
        }
        What::Fault { line } => format!("{}: {line}", tr!(log.fault)),
        What::Watch { event, object, revision, end } => {
            let (event, object, to) = (event.word(), words::object(object), place(item.to.0));
            let span = format::span(item.to.1.since(item.from.1));
            let way = tr!(why.watch, event = event, object = object, revision = revision);
            format!("{way}: {}", end_of(*end, &to, &span))
        }
        What::Pass(_, pass) => {
            let waited = match &pass.woken_by {
                Cause::Watch(_, _, trip) => pass.started.since(trip.arrived),
                _ => std::time::Duration::ZERO,
            };
            let text = format!("{}: {}", place(item.from.0), words::pass(pass));
            let woken = words::woken(&pass.woken_by);
            match waited.as_micros() {
                0..1_000 => format!("{text} ({woken})"),
                _ => {
                    let queued = tr!(diagram.queued, span = format::span(waited));
                    format!("{text} ({woken}; {queued})")
                }
            }
        }
        What::Request { verb, object, count, outcome } => {
            let what = format!("{} {}", words::verb(*verb), words::object(object));
            let what = if *count > 1 { format!("{what} ×{count}") } else { what };
            let came = match outcome {
                Ok(revision) => tr!(why.ok, revision = revision),
                Err((code, message)) => format!("{code}: {message}"),
            };
            tr!(diagram.asks, name = place(item.from.0), what = what, came = came)
        }
        What::Died(_) => format!("{}: {}", place(item.from.0), tr!(diagram.died)),
        What::Started(_) => format!("{}: {}", place(item.from.0), tr!(diagram.started)),
    }
}

fn end_of(end: End, to: &str, span: &str) -> String {
    match end {
        End::Heard => tr!(diagram.heard, to = to, span = span),
        End::WokeIdle => tr!(diagram.woke_idle, to = to, span = span),
        End::Unheeded => tr!(diagram.unheeded, to = to, span = span),
        End::Late => tr!(diagram.late, to = to, span = span),
        End::Doubled => tr!(diagram.doubled, to = to),
        End::Overtaken => tr!(diagram.overtaken, to = to),
        End::Held => tr!(diagram.held, to = to),
        End::LostAtDoor => tr!(diagram.lost_door, to = to),
        End::LostOnWire => tr!(diagram.lost_wire, to = to),
    }
}
