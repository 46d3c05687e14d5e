#!/usr/bin/env bash
# Every test there is, cheapest first. Stops at the first step that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
STEPS=5

step "Format"
cargo fmt --check || stop "Some code is not formatted: run \`cargo fmt\`."

step "Lints"
cargo clippy --locked --all-targets -- -D warnings || stop "clippy has complaints, see above."

step "Tests of the library (cargo test)"
cargo test --locked --profile swift --no-fail-fast || stop "A test failed, see above; name it after \`cargo test\` to run it alone."

step "The page"
bash .ci/build.sh
node .ci/size.mjs

step "Tests in Chromium (node --test)"
CHROMIUM=$(find_chromium)
export CHROMIUM
limited 1800 node --test --test-concurrency=1 --test-timeout=1500000 tests/e2e/*.test.mjs ||
    stop "A browser test failed, see above; pictures are in tests/e2e/out."
