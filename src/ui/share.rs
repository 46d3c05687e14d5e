//! Share: copies the link of the run; a run too long for a link becomes a file.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use super::i18n::tr;
use super::state::Page;
use super::url;

/// Copies the link, and says so.
pub fn share(page: Page) {
    let Some((address, lost)) = url::address(page) else {
        return match download(&page.run.to_file()) {
            Ok(()) => page.tell(tr!(share.too_long)),
            Err(_) => page.complain(tr!(share.failed)),
        };
    };
    let copied = if lost > 0 { tr!(share.copied_alone) } else { tr!(share.copied) };
    copy(page, address, copied, tr!(share.failed));
}

/// Copies a text and says `done`; where that cannot be, says `failed` and shows the text.
pub fn copy(page: Page, text: String, done: &'static str, failed: &'static str) {
    spawn_local(async move {
        let clipboard = window().navigator().clipboard();
        // Without a secure context there is no clipboard at all.
        let copied = if JsValue::from(&clipboard).is_undefined() {
            false
        } else {
            JsFuture::from(clipboard.write_text(&text)).await.is_ok()
        };
        if copied {
            page.tell(done);
        } else {
            page.complain(format!("{failed}\n{text}"));
        }
    });
}

fn download(text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type("application/json");
    let parts = js_sys::Array::of1(&text.into());
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let address = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&address);
    link.set_download("loopscope-run.json");
    link.click();
    Url::revoke_object_url(&address)
}
