#!/usr/bin/env bash
# Gets a machine ready. `setup.sh page`: what building the page needs; `setup.sh test`: and what the
# tests need. Skips what is there, so it can be run again at once; asks nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh

what=${1:-test}
STEPS=7
[ "$what" = page ] || STEPS=8

setup_rust() {
    step "Rust $MIN_RUST or newer"
    have cargo && have rustc || stop "Rust is not installed: see https://rustup.rs, then run this again."
    local found
    found=$(version rustc --version)
    at_least "$found" "$MIN_RUST" ||
        stop "Rust $found is too old: run \`rustup update stable\`, then run this again."
    have cc || apt_install gcc libc6-dev ||
        stop "There is no C compiler, which building the tools needs: install gcc or clang, then run this again."
    say "$found is there"
}

setup_wasm() {
    step "Rust's standard library for the browser ($WASM)"
    if [ -z "$(wasm_way)" ] && [ "${LOOPSCOPE_WASM:-}" != debian ] && have rustup; then
        say "asking rustup for it"
        quietly "$TOOLS/log/rustup" limited 180 rustup target add "$WASM" ||
            say "rustup could not get it"
    fi
    if [ -z "$(wasm_way)" ] && [ "${LOOPSCOPE_WASM:-}" != own ] && can_apt; then
        say "installing Debian's rustc-web and its sources, about half a minute"
        apt_install rustc-web cargo-web rust-web-src rust-web-llvm &&
            apt_install "$(readlink /usr/bin/rust-lld)" || true
    fi
    if [ "$(wasm_way)" = own ] && ! has_std_sources && have rustup; then
        quietly "$TOOLS/log/rustup" limited 180 rustup component add rust-src ||
            say "without the library's sources the page will be some 8 % larger"
    fi
    case "$(wasm_way)" in
        own) say "your Rust has it" ;;
        debian) say "built from the sources of Debian's Rust $(version /usr/bin/rustc --version)" ;;
        *) stop "The Rust target $WASM cannot be had here: run \`rustup target add $WASM\` where there is a network (or this as root on Debian), then run this again." ;;
    esac
}

# setup_tool NAME VERSION PACKAGE TIME FLAGS...: a program from crates.io, built once a machine.
setup_tool() {
    local name=$1 wanted=$2 package=$3 time=$4
    shift 4
    step "$name $wanted"
    if [ "$(version "$TOOLS/bin/$name" --version)" != "$wanted" ]; then
        say "building it, $time; what it says goes to $TOOLS/log/$name"
        CARGO_TARGET_DIR="$TOOLS/build" quietly "$TOOLS/log/$name" \
            cargo install --force --root "$TOOLS" "$package" --version "$wanted" "$@" ||
            stop "$package $wanted could not be built: see $TOOLS/log/$name; without a network, copy $name into $TOOLS/bin."
        rm -rf "$TOOLS/build"
    fi
    say "in $TOOLS/bin"
}

setup_packages() {
    step "Packages from the npm registry"
    have node && have npm || apt_install nodejs npm || true
    have node && have npm || stop "Node.js and npm are not installed: install Node.js $MIN_NODE or newer, then run this again."
    local found stamp
    found=$(version node --version)
    at_least "$found" "$MIN_NODE" ||
        stop "Node.js $found is too old: install $MIN_NODE or newer, then run this again."
    stamp=$(cat package.json package-lock.json | cksum)
    if [ "$(cat node_modules/.loopscope 2>/dev/null)" != "$stamp" ]; then
        say "npm ci, some seconds"
        quietly "$TOOLS/log/npm" limited 600 npm ci ||
            stop "npm could not install the packages of package-lock.json: see $TOOLS/log/npm; is there a network?"
        echo "$stamp" >node_modules/.loopscope
    fi
    say "in node_modules"
}

setup_crates() {
    step "Crates of Cargo.lock"
    (use_page_tools && quietly "$TOOLS/log/fetch" limited 900 cargo fetch --locked) ||
        stop "cargo could not fetch the crates of Cargo.lock: see $TOOLS/log/fetch; is there a network?"
    if has_std_sources; then
        # The standard library is built along, and has a few dependencies of its own.
        RUSTC_BOOTSTRAP=1 quietly "$TOOLS/log/fetch-std" limited 300 cargo fetch --locked --target "$WASM" \
            --manifest-path "$(std_sources)/Cargo.toml" ||
            stop "cargo could not fetch what Rust's standard library needs: see $TOOLS/log/fetch-std; is there a network?"
    fi
    say "fetched"
}

setup_lints() {
    step "rustfmt and clippy"
    local part
    for part in rustfmt:cargo-fmt clippy:cargo-clippy; do
        cargo "${part#*:cargo-}" --version >/dev/null 2>&1 ||
            quietly "$TOOLS/log/rustup" limited 180 rustup component add "${part%:*}" ||
            stop "${part%:*} is missing: run \`rustup component add ${part%:*}\`, then run this again."
    done
    if [ "$(wasm_way)" = debian ] && [ ! -x /usr/bin/cargo-clippy ]; then
        apt_install rust-web-clippy || say "no clippy for the browser code; the tests leave that step out"
    fi
    say "there"
}

setup_browser() {
    step "Chromium, and a font with Korean letters"
    if [ -z "$(find_chromium)" ]; then
        say "installing Debian's, about half a minute"
        apt_install chromium fonts-noto-cjk || [ "$what" = page ] ||
            stop "The browser tests need Chromium: install it or name one with CHROMIUM=/path/to/chromium, then run this again."
    elif have fc-list && [ -z "$(fc-list :lang=ko family)" ]; then
        apt_install fonts-noto-cjk || say "no font with Korean letters; pictures will show boxes"
    fi
    local found
    found=$(find_chromium)
    say "${found:-without it the page works, and loads in one large piece}"
}

# Two clones may be setting up at once; the second waits, then finds everything there.
mkdir -p "$TOOLS"
exec 9>"$TOOLS/lock"
if have flock; then flock -w 1800 9 || stop "Another set-up has held $TOOLS/lock for half an hour."; fi

setup_rust
setup_wasm
setup_tool trunk "$TRUNK_VERSION" trunk "about 4 minutes" \
    --locked --no-default-features --features rustls --debug
setup_tool wasm-bindgen "$BINDGEN_VERSION" wasm-bindgen-cli "about 4 minutes"
setup_packages
setup_crates
setup_browser
[ "$what" = page ] || setup_lints
