//! The chain that led to the picked pass, link by link: as the panel lists it, and as the stage
//! draws it. Both are walked with the same keys and show the same link as the present one.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

use crate::kernel::Time;
use crate::view::{LaneId, LoopId, PassRow, Reason};

use super::format;
use super::i18n::tr;
use super::state::Page;
use super::words;

/// What kind of link it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody did something.
    Did,
    /// A watch event, on its way to the loop of the next link.
    Watch,
    /// A wait in the queue of the loop of the next link.
    Queue,
    /// A pass of this loop.
    Pass(LoopId),
    /// A request of the pass before it, on its way to the API server.
    Request,
    /// Something that woke the pass of the next link without a watch event.
    Other,
    /// There is more before it.
    More,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Which kind.
    pub kind: Kind,
    /// When, if that is known.
    pub at: Option<Time>,
    /// In words.
    pub text: String,
    /// The pass that it is.
    pub pass: Option<(LaneId, u64)>,
}

/// The chain of the picked pass, oldest link first; the pass itself is the last.
pub fn picked(page: Page) -> Memo<Arc<Vec<Link>>> {
    Memo::new(move |_| {
        page.run.done.track();
        page.run.jumps.track();
        let Some((lane, number)) = page.run.picked.get() else { return Arc::default() };
        let Some(row) = page.run.pass(lane, number) else { return Arc::default() };
        Arc::new(links(&row, &page.run.why(lane, number)))
    })
}

/// The links of a chain.
pub fn links(row: &PassRow, chain: &[Reason]) -> Vec<Link> {
    chain.iter().rev().map(link).chain([of_pass(row)]).collect()
}

/// A pass as a link.
pub fn of_pass(row: &PassRow) -> Link {
    Link {
        kind: Kind::Pass(row.id),
        at: Some(row.pass.started),
        text: format!("{} · {}", words::loop_of(row), words::pass(&row.pass)),
        pass: Some((row.lane, row.pass.number)),
    }
}

fn link(reason: &Reason) -> Link {
    let (kind, at, text) = match reason {
        Reason::Pass(row) => return of_pass(row),
        Reason::Did { at, line, .. } => (Kind::Did, Some(*at), line.to_string()),
        Reason::Watch { at, event, object, revision } => {
            let event = event.word();
            let text = tr!(why.watch, event = event, object = object, revision = revision);
            (Kind::Watch, *at, text)
        }
        Reason::Queued { from, to } => {
            let text = match to.since(*from) {
                Duration::ZERO => tr!(why.at_once).to_owned(),
                span => tr!(why.queued, span = format::span(span)),
            };
            (Kind::Queue, Some(*from), text)
        }
        Reason::Asked(act) => {
            let span = format::span(act.served.since(act.asked));
            let (verb, object) = (words::verb(act.verb), act.object.to_string());
            (
                Kind::Request,
                Some(act.asked),
                tr!(why.request, verb = verb, object = object, span = span),
            )
        }
        Reason::Other(cause) => (Kind::Other, None, words::woken(cause)),
        Reason::More => (Kind::More, None, tr!(why.more).to_owned()),
    };
    Link { kind, at, text, pass: None }
}

impl Link {
    /// Its number, its moment and itself, for ears.
    pub fn name(&self, number: usize) -> String {
        match self.at {
            Some(at) => format!("{number}. {}: {}", format::clock(at), self.text),
            None => format!("{number}. {}", self.text),
        }
    }

    /// Leads the stage to its moment.
    pub fn go(&self, page: Page) {
        let Some(at) = self.at else { return };
        if let Some((lane, number)) = self.pass
            && self.pass != page.run.picked.get_untracked()
        {
            page.pick(lane, number);
        }
        page.go(at);
    }
}
