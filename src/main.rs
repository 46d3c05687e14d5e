//! Browser entry: mounts the page. Natively there is nothing to run but the example `headless`.

#[cfg(target_arch = "wasm32")]
fn main() {
    loopscope::ui::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!(
        "This program is a web page: run `make serve`. \
         For a terminal: cargo run --release --example headless -- FILE"
    );
    std::process::exit(2);
}
