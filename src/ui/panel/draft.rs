//! The text in the editor. Until it is applied it is kept in this tab's storage and in the link, so
//! that it survives whatever happens, also when it cannot be parsed.

use leptos::prelude::*;

use crate::ui::dom;
use crate::ui::state::Page;

/// The text, and what it was last applied as.
#[derive(Clone, Copy, Default)]
pub struct Draft {
    /// As it stands in the editor.
    pub text: RwSignal<String>,
    /// As the cluster was last given it.
    pub base: RwSignal<String>,
}

impl Draft {
    /// Whether there is something to apply.
    pub fn is_changed(&self) -> bool {
        self.text.with(|text| self.base.with(|base| text.trim_end() != base.trim_end()))
    }
}

fn place(page: Page) -> String {
    let id = page.run.scenario.with_untracked(|scenario| scenario.id.clone());
    format!("loopscope.draft.{id}")
}

/// Begins with the text from a link, else with what was left in this tab, else with the applied.
pub fn begin(page: Page) {
    let from_link = page.run.draft_from_link();
    let base = page.run.applied_text();
    let kept = || dom::session_storage()?.get_item(&place(page)).ok().flatten();
    let text = from_link.or_else(kept).unwrap_or_else(|| base.clone());
    page.draft.base.set(base);
    page.draft.text.set(text);
}

/// The text, if it was not applied.
pub fn unapplied(page: Page) -> Option<String> {
    let text = page.draft.text.get_untracked();
    let base = page.draft.base.get_untracked();
    (text.trim_end() != base.trim_end()).then_some(text)
}

/// Makes the caller follow the text.
pub fn track(page: Page) {
    page.draft.text.track();
    page.draft.base.track();
}

/// Keeps the text, and follows what others apply as long as nothing was typed.
pub fn keep(page: Page) {
    Effect::new(move || {
        track(page);
        let Some(storage) = dom::session_storage() else {
            return;
        };
        // It fails when the storage is full: the link has the text then, if it is not too long.
        let _ = match unapplied(page) {
            Some(text) => storage.set_item(&place(page), &text),
            None => storage.remove_item(&place(page)),
        };
    });
    Effect::new(move || {
        page.run.done.track();
        let now = page.run.applied_text();
        let before = page.draft.base.get_untracked();
        if now == before {
            return;
        }
        let typed = unapplied(page).is_some();
        page.draft.base.set(now.clone());
        if !typed {
            page.draft.text.set(now);
        }
    });
}
