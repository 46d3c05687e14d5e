//! The run that the page opens with, computed when the page is built: `.ci/opening` has the program
//! compute it, and ships the memory as it is then. So what is loaded first has that run, and need
//! not have what computes runs. Nothing else depends on it: a program in which nothing was prepared
//! computes it as it opens.

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

use super::given_out::Story;
use crate::view::Session;

thread_local! {
    static PREPARED: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Computes the run, and what is shown of it first. Asks nothing of the browser.
#[wasm_bindgen]
pub fn prepare() {
    let mut session = computed();
    // A session keeps what was read off it.
    session.stages();
    Story::of(&session);
    PREPARED.with(|prepared| prepared.replace(Some(session)));
}

/// The run that an address opens which asks for none.
pub fn first_session() -> Session {
    PREPARED.with(|prepared| prepared.take()).unwrap_or_else(computed)
}

fn computed() -> Session {
    Session::open_shipped(crate::scenario::DEFAULT, None)
}
