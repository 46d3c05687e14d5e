//! When the program fails, the page says so, with all that is needed to see it again.

use leptos::prelude::*;

/// Shows a panic in the element that waits for it in `index.html`. Nothing of Leptos may be used
/// here: it may be what failed.
pub fn hook() {
    std::panic::set_hook(Box::new(|info| {
        let location = location();
        let text = format!(
            "Loopscope has stopped: {info}\n\nThis is a fault of the program. To see it again, open\n{}\n\nReload the page to start afresh.",
            location.href().unwrap_or_default(),
        );
        web_sys::console::error_1(&text.as_str().into());
        if let Some(place) = document().get_element_by_id("failure") {
            place.set_text_content(Some(&text));
            let _ = place.remove_attribute("hidden");
        }
    }));
}
