//! A short notice above the transport bar, which goes away by itself unless it is an error.

use std::time::Duration;

use leptos::prelude::*;

use super::bridge::{Failed, LaneId, Output};
use super::i18n::tr;
use super::icon::icon;
use super::state::Page;
use super::words;

/// A notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    text: String,
    trouble: bool,
    number: u64,
}

const STAYS: Duration = Duration::from_secs(4);

impl Page {
    /// Tells something in passing.
    pub fn tell(&self, text: impl Into<String>) {
        self.toast(text.into(), false);
    }

    /// Tells that something went wrong; it stays until it is dismissed.
    pub fn complain(&self, text: impl Into<String>) {
        self.toast(text.into(), true);
    }

    fn toast(&self, text: String, trouble: bool) {
        let number = self.toast.with_untracked(|old| old.as_ref().map_or(0, |old| old.number + 1));
        self.toast.set(Some(Toast { text, trouble, number }));
        if !trouble {
            let signal = self.toast;
            set_timeout(
                move || {
                    if signal.with_untracked(|now| now.as_ref().is_some_and(|t| t.number == number))
                    {
                        signal.set(None);
                    }
                },
                STAYS,
            );
        }
    }

    /// Tells the errors among answers, each with its lane.
    pub fn tell_errors(&self, answers: &[(Option<LaneId>, Output)]) {
        if let Some(errors) = errors(answers) {
            self.complain(errors);
        }
    }

    /// Tells what was put off and has failed now that its time has come.
    fn tell_failed(&self, failed: &[Failed]) {
        let told = failed.iter().filter_map(|(line, answers)| {
            let errors = errors(answers)?;
            Some(format!("{}\n{errors}", tr!(console.put_off_failed, line = line)))
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            self.complain(told.join("\n"));
        }
    }
}

/// The errors among answers, each with its lane.
fn errors(answers: &[(Option<LaneId>, Output)]) -> Option<String> {
    let errors = answers.iter().filter(|(_, output)| output.error).map(|(lane, output)| {
        let text = output.text.trim_end();
        match lane {
            Some(lane) => format!("{}: {text}", words::lane(*lane)),
            None => text.to_owned(),
        }
    });
    let errors: Vec<String> = errors.collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// The place where notices appear.
#[component]
pub fn Toasts() -> impl IntoView {
    let page = Page::get();
    Effect::new(move || {
        page.run.failed.with(|failed| untrack(|| page.tell_failed(failed)));
    });
    view! {
        <div class="toasts" role="status">
            {move || {
                page.toast
                    .get()
                    .map(|toast| {
                        view! {
                            <div class="toast" class:trouble=toast.trouble>
                                <p>{toast.text}</p>
                                <button
                                    class="icon-only"
                                    aria-label=tr!(action.dismiss)
                                    on:click=move |_| page.toast.set(None)
                                >
                                    {icon("close")}
                                </button>
                            </div>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}
