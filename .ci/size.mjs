// Weighs dist/ against its budgets, as `gzip -9` would send it. A first load over its budget is told; it
// fails above a ceiling, as some Rusts bring the standard library in a larger form (`use_page_tools`).
// The whole program, which follows the opening (`.ci/opening`), is asked for at once and waited for only by
// those who act before it is there; it is weighed on its own.

import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";

const KB = 1000;
// All else in dist/ that a browser runs or reads is counted as first load.
const ON_DEMAND = new Map([
  ["editor.js", 150 * KB],
  ["loop-scope.js", 5 * KB],
  ["metrics.js", 40 * KB],
  ["code.js", 90 * KB],
]);
const FIRST_LOAD = 300 * KB;
/** What follows by itself; without it the page is in one piece, and has no ceiling. */
const WHOLE = /_whole\.wasm$/;
const WHOLE_CEILING = 2_000 * KB;
const COUNTED = new Set([".html", ".css", ".js", ".wasm", ".lzma", ".json"]);

let first = 0;
let isCut = false;
let failed = false;
for (const entry of readdirSync("dist", { recursive: true }).sort()) {
  if (!COUNTED.has(extname(entry))) continue;
  const bytes = readFileSync(`dist/${entry}`);
  const size = gzipSync(bytes, { level: 9 }).length;
  const isWhole = WHOLE.test(entry);
  isCut ||= isWhole;
  const budget = isWhole ? WHOLE_CEILING : ON_DEMAND.get(entry);
  if (budget === undefined) first += size;
  line(entry, size, budget, `of ${bytes.length}`);
}
line("first load", first, isCut ? FIRST_LOAD : undefined, "");
if (first > FIRST_LOAD && !isCut) {
  console.log(`      the budget of the first load is ${FIRST_LOAD} bytes: ${first - FIRST_LOAD} too many`);
}
if (failed) {
  console.error("\nStopped: the page is heavier than its budget, see above.");
  process.exitCode = 1;
}

function line(name, size, budget, note) {
  const over = budget !== undefined && size > budget;
  failed ||= over;
  const limit = budget === undefined ? "" : ` (at most ${budget})${over ? " TOO HEAVY" : ""}`;
  console.log(`      ${name.padEnd(40)} ${String(size).padStart(8)} bytes gzip ${note}${limit}`);
}
