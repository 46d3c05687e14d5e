// Writes `first.txt`: the functions that a page runs until its stage stands, and for a first deletion,
// seen in Chromium on a page that counts them. Called by `make record` on a page that was built whole,
// with its names (LOOPSCOPE_WHOLE=1).

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, openPage, SIZES } from "../../tests/e2e/harness.mjs";
import { mark, mendTables, ownFunctions } from "./names.mjs";
import { FEATURES, find } from "./split.mjs";

const LIST = new URL("first.txt", import.meta.url);
/** What is opened: the ways in which people meet the page first. */
const OPENINGS = [
  {},
  { lang: "ko", theme: "dark" },
  { size: SIZES[3] },
  { path: "?embed=1" },
  { path: "?present=1" },
  { path: "#1/lost-event/7/30500000000" },
];

const program = join("dist", find("dist", "_bg.wasm"));
const glue = `./${find("dist", "_bg.wasm").replace("_bg.wasm", ".js")}`;
const names = ownFunctions(readFileSync(program));
execFileSync("wasm-split", ["--instrument", ...FEATURES, program, "-o", program]);
writeFileSync(program, mendTables(readFileSync(program)));

const running = await launch();
const seen = new Set();
for (const options of OPENINGS) {
  const { page, close } = await openPage(running, options);
  await page.waitForTimeout(500);
  await note(page);
  // As it opens from a link that holds what was done.
  await page.evaluate(() => document.querySelector("button.pod")?.focus());
  await page.keyboard.press("Delete");
  await page.waitForTimeout(500);
  await page.reload();
  await page.waitForSelector("html[data-ready=true]", { state: "attached" });
  await page.waitForTimeout(500);
  await note(page);
  console.log(`${JSON.stringify(options)}: ${seen.size} functions so far, of ${names.length}`);
  await close();
}
await running.close();
writeFileSync(LIST, `${[...seen].sort().join("\n")}\n`);

/** Adds what this page has called since it was loaded. */
async function note(page) {
  for (const number of await called(page)) if (names[number]) seen.add(mark(names[number]));
}

/** The numbers of the functions that were called: a profile is a hash of 8 bytes and four a function. */
function called(page) {
  return page.evaluate(async (glue) => {
    const program = await (await import(glue)).default();
    const PAGE = 65536;
    const start = program.memory.grow(16) * PAGE;
    const length = program.__write_profile(start, 16 * PAGE);
    const times = new Uint32Array(program.memory.buffer.slice(start + 8, start + length));
    return [...times.keys()].filter((number) => times[number] > 0);
  }, new URL(glue, running.address).href);
}
