# Shared by the scripts in this folder: messages, versions, and which Rust builds for the browser.
# Source it from the top folder of the project.

MIN_RUST=1.95.0
MIN_NODE=20.11.0
TRUNK_VERSION=0.21.14
BINDGEN_VERSION=$(sed -n 's/^wasm_bindgen = "\(.*\)"/\1/p' Trunk.toml)
WASM=wasm32-unknown-unknown
# Shared by all clones: building these tools takes minutes.
TOOLS="${XDG_CACHE_HOME:-$HOME/.cache}/loopscope/tools"
# The browser build may use another Rust than native builds do, so it has a target folder to itself.
PAGE_TARGET="${CARGO_TARGET_DIR:-$PWD/target}/page"
# What the linker says of where things lie in the page's program.
PAGE_MAP="$PAGE_TARGET/loopscope.map"

STEP=0
# step TEXT: the next of $STEPS steps begins.
step() {
    STEP=$((STEP + 1))
    printf '[%d/%d] %s\n' "$STEP" "$STEPS" "$*"
}

say() { printf '      %s\n' "$*"; }

# stop SENTENCE: ends with the one thing that a person can do about it.
stop() {
    printf '\nStopped: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# limited SECONDS COMMAND...: gives up in time where the system has `timeout`.
limited() {
    local seconds=$1
    shift
    if have timeout; then timeout "$seconds" "$@"; else "$@"; fi
}

# version COMMAND...: the first x.y.z that it prints, or nothing.
version() { "$@" 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | sed -n 1p || true; }

# at_least HAVE WANT: compares two x.y.z.
at_least() {
    [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -t. -k1,1n -k2,2n -k3,3n | head -1)" = "$2" ]
}

# quietly FILE COMMAND...: output goes to a file, of which the end is shown if the command fails.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 20 "$log" >&2
        return 1
    }
}

# as_root COMMAND...: where one is root, or may become it without being asked.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_apt() {
    have apt-get && [ -e /etc/debian_version ] && as_root true 2>/dev/null
}

APT_UPDATED=
# apt_install PACKAGE...: true if they are there afterwards.
apt_install() {
    can_apt || return 1
    local apt="as_root env DEBIAN_FRONTEND=noninteractive timeout 900 apt-get"
    if [ -z "$APT_UPDATED" ]; then
        quietly "$TOOLS/log/apt-update" $apt update || return 1
        APT_UPDATED=yes
    fi
    quietly "$TOOLS/log/apt-install" $apt install -y --no-install-recommends "$@"
}

# The person's own Rust has the standard library for the browser.
own_wasm() {
    have rustc && [ -d "$(rustc --print sysroot)/lib/rustlib/$WASM/lib" ]
}

# Debian's rustc-web builds that library from its sources.
debian_wasm() {
    [ -x /usr/bin/cargo ] && [ -x /usr/bin/rust-lld ] &&
        at_least "$(version /usr/bin/rustc --version)" "$MIN_RUST" &&
        [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]
}

# wasm_way: prints `own`, `debian` or nothing. LOOPSCOPE_WASM insists on one of them.
wasm_way() {
    case "${LOOPSCOPE_WASM:-}" in
        own) own_wasm && echo own ;;
        debian) debian_wasm && echo debian ;;
        *) if own_wasm; then echo own; elif debian_wasm; then echo debian; fi ;;
    esac
    true
}

# std_sources: where the sources of the standard library are, or would be.
std_sources() { printf '%s/lib/rustlib/src/rust/library' "$(rustc --print sysroot)"; }

# They are there, so that it can be built for the page.
has_std_sources() { have rustc && [ -d "$(std_sources)/std" ]; }

# use_page_tools: from here on, cargo and trunk build for the browser. Where the standard library's
# sources are there, it is built along: made for size, and without the texts of panics (a trap is
# told by the script in Trunk.toml). Else the page is some 8 % larger.
use_page_tools() {
    export PATH="$TOOLS/bin:$PWD/node_modules/.bin:$PATH"
    export CARGO_TARGET_DIR="$PAGE_TARGET"
    if [ "$(wasm_way)" = debian ]; then
        export PATH="/usr/bin:$PATH"
    fi
    # Views of one type are smaller than views of many; where constants lie is told to `.ci/opening`.
    local flags=(--cfg=erase_components "-Clink-arg=-Map=$PAGE_MAP")
    if has_std_sources; then
        export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_abort
        export CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size
        flags+=(-Zunstable-options -Cpanic=immediate-abort)
    fi
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
    export CARGO_ENCODED_RUSTFLAGS
}

# find_chromium: prints the browser that the tests drive, or nothing.
find_chromium() {
    local name
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        if [ -n "$name" ] && have "$name"; then
            command -v "$name"
            return
        fi
    done
}
