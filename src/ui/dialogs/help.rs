//! Help: what one looks at, the keys, and what is different from a real cluster.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::state::{Dialog, Page};

use super::{Sheet, differs, legend};

#[component]
pub fn HelpDialog() -> impl IntoView {
    view! { <Sheet which=Dialog::Help title=|| tr!(help.title) content=content/> }
}

fn content() -> AnyView {
    let page = Page::get();
    view! {
        <div class="help">
            <section>
                <h3>{tr!(help.keys)}</h3>
                <dl class="keys">{keys()}</dl>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || !page.quiet.get()
                        on:change=move |change| page.quiet.set(!event_target_checked(&change))
                    />
                    {tr!(help.announce)}
                </label>
            </section>
            <section>
                <h3>{tr!(help.pods)}</h3>
                {legend::pods()}
                <h3>{tr!(help.moving)}</h3>
                {legend::moving()}
            </section>
            <section class="differs">
                <h3>{tr!(help.differs)}</h3>
                {differs::list()}
            </section>
        </div>
    }
    .into_any()
}

fn keys() -> AnyView {
    let rows: [(&[&str], &'static str); 17] = [
        (&["Space", "K"], tr!(key.play)),
        (&["→", "."], tr!(key.forward)),
        (&["←", ","], tr!(key.back)),
        (&["Home"], tr!(key.home)),
        (&["End"], tr!(key.end)),
        (&["N", "⇧ N"], tr!(key.mark)),
        (&["[", "]"], tr!(key.speed)),
        (&["A", "B"], tr!(key.stretch)),
        (&["L"], tr!(key.repeat)),
        (&["F"], tr!(key.futures)),
        (&["Ctrl Z", "Ctrl ⇧ Z"], tr!(key.undo)),
        (&["Enter"], tr!(key.menu)),
        (&["I"], tr!(key.inspect)),
        (&["Delete"], tr!(key.delete_both)),
        (&["⇧ Delete"], tr!(key.delete_one)),
        (&["Ctrl ↵"], tr!(key.apply)),
        (&["/"], tr!(key.console)),
    ];
    rows.map(|(keys, what)| {
        let keys = keys.iter().map(|key| view! { <kbd>{*key}</kbd>" " });
        view! { <div><dt>{keys.collect_view()}</dt><dd>{what}</dd></div> }.into_any()
    })
    .into_any()
}
