//! When the program fails, the page says so, with all that is needed to see it again.

use leptos::prelude::*;

/// Shows a panic in the element that waits for it in `index.html`. Nothing reactive may be used
/// here: it may be what failed.
pub fn hook() {
    std::panic::set_hook(Box::new(|info| {
        let link = location().href().unwrap_or_default();
        let seed = document().document_element().and_then(|root| root.get_attribute("data-seed"));
        let text = format!(
            "Loopscope has stopped: {info}\n\n\
             This is a fault of the program. To see it again, open\n{link}\n(seed {})\n\n\
             Reload the page to start afresh.",
            seed.as_deref().unwrap_or("unknown"),
        );
        web_sys::console::error_1(&text.as_str().into());
        if let Some(place) = document().get_element_by_id("failure") {
            place.set_text_content(Some(&text));
            let _ = place.remove_attribute("hidden");
        }
    }));
}
