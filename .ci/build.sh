#!/usr/bin/env bash
# Builds the page into dist/. Does nothing if dist/ is newer than all that it is made from.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh

sources="src style index.html Trunk.toml Cargo.toml Cargo.lock package-lock.json .ci"
if [ -f dist/index.html ] && [ -z "$(find $sources -newer dist/index.html -print -quit)" ]; then
    say "dist/ is up to date"
    exit 0
fi

say "building dist/, one to three minutes the first time"
use_page_tools
trunk build --release --offline --locked ||
    stop "The page was not built: the first error above says why."
# Not yet up to date, if what follows is interrupted.
touch -t 197001010000 dist/index.html
CHROMIUM=$(find_chromium)
if [ -n "$CHROMIUM" ]; then
    say "cutting off what does not run as it opens, a minute"
else
    say "there is no Chromium to see what runs as it opens: the page stays in one piece, and its first load large"
fi
CHROMIUM=$CHROMIUM PAGE_MAP=$PAGE_MAP node .ci/opening/main.mjs || stop "The program could not be cut in two: the error above says why."
# Trunk keeps an unchanged file's time; the check above goes by this one.
touch dist/index.html
say "built dist/"
