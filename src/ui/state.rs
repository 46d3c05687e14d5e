//! What the page itself remembers: how it is looked at, not what is looked at.

use leptos::prelude::*;

use crate::api::{ObjectKey, Str};
use crate::kernel::Time;
use crate::view::LoopId;
use crate::view::range::Range;
use crate::view::spacetime::Focus;

use super::bridge::{LaneId, Lanes, Next, Output, Pace, Run};
use super::panel::draft::Draft;
use super::toast::Toast;
use super::url::Options;

/// What a menu was opened on.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A pod.
    Pod(ObjectKey),
    /// All pods of a node, where they are drawn too small to be hit.
    Pods(Str),
    /// An object on the board, with its wanted replicas.
    Object(ObjectKey, Option<i64>),
    /// A loop.
    Loop(LoopId),
    /// A node.
    Node(Str),
    /// The API server.
    Server,
    /// A message in flight.
    Flight(u64),
}

/// A menu: on what, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// In which lane.
    pub lane: LaneId,
    /// On what.
    pub what: What,
    /// Where on the screen, in CSS pixels.
    pub at: (f64, f64),
    /// Whether a pointer opened it: then the focus need not return to where it was.
    pub by_pointer: bool,
    /// Whether time ran when it was opened: it goes on when the menu closes.
    pub resume: bool,
}

/// The dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Scenarios to choose from.
    Scenarios,
    /// Keys, glyphs, and what differs from real Kubernetes.
    Help,
    /// The futures that were left.
    Futures,
}

/// The panel's tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// The editor.
    #[default]
    Yaml,
    /// The console.
    Console,
    /// The passes one by one.
    Passes,
    /// The run as a space-time diagram.
    Diagram,
    /// Kubernetes Events.
    Events,
    /// One object closely.
    Object,
    /// What the run costs.
    Metrics,
    /// The loops' own source.
    Code,
}

/// Light, dark, or as the system has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The page. Copied into every closure that needs it.
#[derive(Clone, Copy)]
pub struct Page {
    /// The run that is shown.
    pub run: Run,
    /// What the address asked for.
    pub options: StoredValue<Options>,
    /// Whether time runs.
    pub playing: RwSignal<bool>,
    /// Paced or real time.
    pub pace: RwSignal<Pace>,
    /// How fast.
    pub speed: RwSignal<f64>,
    /// The stretch that is played.
    pub range: RwSignal<Range>,
    /// One lane alone, or both.
    pub solo: RwSignal<Option<LaneId>>,
    /// Nothing moves: the system asks for it.
    pub still: RwSignal<bool>,
    /// Nothing is told to screen readers unasked.
    pub quiet: RwSignal<bool>,
    /// The open menu.
    pub menu: RwSignal<Option<Target>>,
    /// The open dialog.
    pub dialog: RwSignal<Option<Dialog>>,
    /// The text in the editor.
    pub draft: Draft,
    /// The panel's tab.
    pub tab: RwSignal<Tab>,
    /// The object that is inspected, and the lane that it was opened in.
    pub inspected: RwSignal<Option<(LaneId, ObjectKey)>>,
    /// What the diagram shows; none: the first difference, if there is one.
    pub focus: RwSignal<Option<Focus>>,
    /// The link of the picked pass' chain that is looked at, counted from the pass back.
    pub linked: RwSignal<usize>,
    /// The loop that is pointed at: both lanes show its last sentence, to be compared.
    pub watched: RwSignal<Option<LoopId>>,
    /// A short notice.
    pub toast: RwSignal<Option<Toast>>,
    /// The theme.
    pub theme: RwSignal<Theme>,
    /// Goes up when something is to be drawn again although the run has not changed.
    pub redraw: RwSignal<u64>,
}

impl Page {
    /// The page of this component.
    pub fn get() -> Page {
        expect_context()
    }

    /// Opens a menu. Time stands still as long as it is open.
    pub fn open_menu(&self, lane: LaneId, what: What, at: (f64, f64), by_pointer: bool) {
        let resume = self.playing.get_untracked();
        self.playing.set(false);
        self.menu.set(Some(Target { lane, what, at, by_pointer, resume }));
    }

    /// Opens a scenario.
    pub fn open_scenario(&self, id: &str) {
        self.run.open(id);
        self.inspected.set(None);
        self.range.set(Range::default());
        super::panel::draft::begin(*self);
    }

    /// Runs a console line and tells of errors.
    pub fn act(&self, line: &str, lanes: Lanes) {
        let answers = self.run.act(line, lanes);
        self.tell_errors(&answers);
        self.follow(&answers);
    }

    /// Does what an answer asks the page to do: `kubectl edit` opens the editor.
    pub fn follow(&self, answers: &[(Option<LaneId>, Output)]) {
        let text = answers.iter().find_map(|(_, output)| match &output.next {
            Next::Edit(text) => Some(text.clone()),
            Next::Nothing => None,
        });
        if let Some(text) = text {
            self.draft.text.set(text);
            self.tab.set(Tab::Yaml);
        }
    }

    /// Shows the console and runs a line there.
    pub fn show(&self, line: &str, lanes: Lanes) {
        self.tab.set(Tab::Console);
        let answers = self.run.act(line, lanes);
        self.follow(&answers);
    }

    /// Leads the stage to a moment, where time stands still.
    pub fn go(&self, at: Time) {
        if self.playing.get_untracked() {
            self.playing.set(false);
        }
        self.run.seek(at);
    }

    /// Picks a pass to be looked at closely, from its own link of the chain back.
    pub fn pick(&self, lane: LaneId, number: u64) {
        self.run.picked.set(Some((lane, number)));
        self.linked.set(0);
    }

    /// Inspects an object in its tab.
    pub fn inspect(&self, lane: LaneId, key: ObjectKey) {
        self.inspected.set(Some((lane, key)));
        self.tab.set(Tab::Object);
        super::dom::focus_soon("object-title");
    }

    /// Whether a lane is shown.
    pub fn shows(&self, lane: LaneId) -> bool {
        self.alone().is_none_or(|alone| alone == lane)
    }

    /// The lane that is shown alone: the scenario has no other, or somebody wants it so.
    pub fn alone(&self) -> Option<LaneId> {
        self.run.only.get().or(self.solo.get())
    }
}
