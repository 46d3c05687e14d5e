//! The desired state: edit it, see what is wrong with it and what it would change, apply it.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::ui::bridge::{Lanes, Problem, Severity};
use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::state::Page;
use crate::ui::words;

use super::diff;
use super::draft;
use super::editor::Editor;

const SETTLE_MS: u32 = 180;

/// Applies the text, unless it is what is applied already.
pub fn apply(page: Page) {
    let text = page.draft.text.get_untracked();
    let answers = page.run.apply(&text, Lanes::Both);
    if answers.iter().all(|(_, answer)| !answer.error) {
        page.draft.base.set(text.clone());
        page.draft.text.set(text);
        page.tell(tr!(yaml.applied));
    } else {
        page.tell_errors(&answers);
    }
}

#[component]
pub fn Yaml() -> impl IntoView {
    let page = Page::get();
    draft::keep(page);
    let problems = RwSignal::new(Vec::<Problem>::new());
    let timer = StoredValue::new_local(None::<Timeout>);
    Effect::new(move || {
        let text = page.draft.text.get();
        timer.set_value(Some(Timeout::new(SETTLE_MS, move || {
            problems.set(page.run.problems(&text));
        })));
    });
    let changed = Memo::new(move |_| page.draft.is_changed());
    let revert = move |_| {
        let base = page.draft.base.get_untracked();
        page.draft.text.set(base);
    };
    view! {
        <div class="yaml">
            <Editor problems=problems/>
            <Problems problems=problems/>
            <footer class="apply">
                <p class="change">{move || change(page)}</p>
                <button
                    class="icon-only"
                    aria-label=move || tr!(yaml.revert)
                    title=move || tr!(yaml.revert)
                    disabled=move || !changed.get()
                    on:click=revert
                >
                    {icon("undo")}
                </button>
                <button class="primary" on:click=move |_| apply(page)>
                    {move || tr!(yaml.apply)}
                    <kbd>"Ctrl ↵"</kbd>
                </button>
            </footer>
        </div>
    }
    .into_any()
}

/// What the text would change, in words.
fn change(page: Page) -> AnyView {
    let changes =
        page.draft.base.with(|base| page.draft.text.with(|text| diff::changes(base, text)));
    match changes.as_slice() {
        [] => tr!(yaml.no_change).into_any(),
        [one] if one.gone.len() == 1 && one.come.len() == 1 => view! {
            <del>{one.gone[0].trim().to_owned()}</del>
            " → "
            <ins>{one.come[0].trim().to_owned()}</ins>
        }
        .into_any(),
        more => {
            let come: usize = more.iter().map(|change| change.come.len()).sum();
            let gone: usize = more.iter().map(|change| change.gone.len()).sum();
            tr!(yaml.changes, come = come, gone = gone).into_any()
        }
    }
}

/// What is wrong, where, and what to do. The list has room for one at any time.
#[component]
fn Problems(problems: RwSignal<Vec<Problem>>) -> impl IntoView {
    let rows = move || problems.with(|problems| problems.iter().take(5).map(row).collect_view());
    view! {
        <ul class="problems" role="status" aria-label=move || tr!(yaml.problems)>{rows}</ul>
    }
    .into_any()
}

fn row(problem: &Problem) -> AnyView {
    let place = tr!(yaml.place, line = problem.line, column = problem.column);
    let class = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    view! {
        <li class=class>
            <b class="mono">{place}</b>
            " "
            {problem.message.clone()}
            {problem.hint.as_ref().map(|hint| view! { " "<em>{words::hint(hint)}</em> })}
        </li>
    }
    .into_any()
}
