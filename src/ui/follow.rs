//! Lines of the console that go on printing: what each shows at the moment that is shown.

use leptos::prelude::*;

use crate::view::{Followed, LaneId};

use super::bridge::Run;

/// What a line goes on printing.
#[derive(Clone, Debug)]
pub struct Follows {
    /// Its number in the session.
    pub number: u64,
    /// What it has printed by now: one if both lanes printed the same.
    pub shown: ArcRwSignal<Printed>,
}

impl Follows {
    /// Nothing is shown of it yet.
    pub fn new(number: u64) -> Follows {
        Follows { number, shown: ArcRwSignal::default() }
    }
}

/// What lanes have printed.
pub type Printed = Vec<(Option<LaneId>, Followed)>;

impl Run {
    /// Brings the lines that go on printing to the moment that is shown.
    pub(super) fn print_on(&self) {
        let lines: Vec<Follows> = self.console.with_untracked(|entries| {
            entries.iter().filter_map(|entry| entry.follows.clone()).collect()
        });
        for Follows { number, shown } in lines {
            let Some(lanes) = self.write(|session| session.followed(number)) else { continue };
            let lanes = merge(lanes);
            let news = shown.with_untracked(|old| (*old != lanes).then(|| last_news(old, &lanes)));
            let Some(news) = news else { continue };
            shown.set(lanes);
            if let Some(news) = news {
                self.printed.set(news);
            }
        }
    }

    /// Ends a line that goes on printing, or all of them. False: there was none.
    pub fn stop_following(&self, number: Option<u64>) -> bool {
        let is_open = |follows: &Follows| {
            let meant = number.is_none_or(|number| number == follows.number);
            meant && follows.shown.with_untracked(|lanes| lanes.iter().any(|(_, f)| f.is_open))
        };
        let any = self.console.with_untracked(|entries| {
            entries.iter().filter_map(|entry| entry.follows.as_ref()).any(is_open)
        });
        if any {
            self.write(|session| session.stop_following(number));
            self.print_on();
        }
        any
    }
}

/// The last line that came in any lane, if one came.
fn last_news(old: &Printed, new: &Printed) -> Option<(Option<LaneId>, String)> {
    let known = |lane: &Option<LaneId>| {
        let found = old.iter().find(|(own, _)| own == lane).or(old.first());
        found.map_or(0, |(_, followed)| followed.text.len())
    };
    let mut grown = new.iter().filter(|(lane, followed)| followed.text.len() > known(lane));
    let (lane, followed) = grown.next_back()?;
    Some((*lane, followed.text.lines().next_back()?.to_owned()))
}

/// Two equal answers are told once.
pub fn merge<T: Clone + PartialEq>(answers: Vec<(LaneId, T)>) -> Vec<(Option<LaneId>, T)> {
    if let [(_, a), (_, b)] = answers.as_slice()
        && a == b
    {
        return vec![(None, a.clone())];
    }
    answers.into_iter().map(|(lane, output)| (Some(lane), output)).collect()
}
