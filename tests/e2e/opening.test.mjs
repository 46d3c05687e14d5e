// The program comes in two parts (`.ci/opening`): what runs as the page opens, and the whole, which takes
// over. What a person does before the whole is there waits for it, and is done; what the first part
// has not got is done by the whole.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import binaryen from "binaryen";
import { compress, decompress } from "lzma1";
import { observed, opening, whole } from "../../.ci/opening/cut.mjs";
import { assembled, rewritten, Section, sections } from "../../.ci/opening/module.mjs";
import { useBrowser } from "./harness.mjs";

const { check } = useBrowser();
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const files = readdirSync(dist);
const isCut = files.some((name) => name.endsWith("_whole.wasm"));
const skip = !isCut && "the page is in one piece: it was built without Chromium";
const ready = "html[data-ready=true]";
/** How long somebody waits for the whole after having typed a line, in milliseconds. */
const LATE = 2_000;
/** Which of its branches run can hang on how fast what comes; then the page loads again, and is tried again. */
const TRIES = 3;

/** Opens the page anew, as by its plain address; `answer` gives what is asked for by this pattern. */
async function openAnew(page, pattern, answer) {
  const [address] = page.url().split("#");
  await page.goto("about:blank");
  await page.route(pattern, answer);
  await page.goto(address);
  await page.waitForSelector(ready, { state: "attached" });
}

/** Opens the page anew with the whole held back; it comes when what is given back is called. */
async function openWithoutWhole(page) {
  let letCome;
  const comes = new Promise((done) => (letCome = done));
  await openAnew(page, /_whole\.wasm$/, async (route) => {
    await comes;
    // Nobody asks for it any more, if the page is gone.
    await route.continue().catch(() => {});
  });
  return letCome;
}

/** Whether a page goes on without the whole, as long as the timers take that it has. */
async function staysOpen(page) {
  await page.waitForTimeout(2 * LATE);
  return page.evaluate(() => history.state === null).catch(() => false);
}

async function getDeployments(page) {
  await page.keyboard.press("/");
  await page.keyboard.type("kubectl get deployments -o name");
  await page.keyboard.press("Enter");
}

const OPENINGS = [
  { lang: "en-US" },
  { lang: "ko-KR", theme: "dark", size: [1280, 720] },
  { lang: "es-MX", size: [412, 915] },
  { path: "?embed=1", size: [800, 500] },
];
for (const options of OPENINGS) {
  check(`the page ${JSON.stringify(options)} opens without the whole program`, { skip, limit: 90_000, ...options }, async (page) => {
    const missed = [];
    page.on("console", (message) => message.type() === "warning" && missed.push(message.text()));
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const letCome = await openWithoutWhole(page).catch(() => null);
      if (letCome && (await staysOpen(page))) return letCome();
      await page.unroute(/_whole\.wasm$/);
    }
    assert.fail(`it waits for the whole: ${missed.join("\n") || "without a trap"}`);
  });
}

/** What the page shows of its run: moment, seed, hashes and all that is said on the stage. */
function run(page) {
  return page.evaluate(() => {
    const { time, seed, hashEdge, hashLevel } = document.documentElement.dataset;
    const names = [...document.querySelectorAll("#stage [aria-label]")].map((one) => one.getAttribute("aria-label"));
    return { time, seed, hashEdge, hashLevel, names, text: document.getElementById("stage").innerText };
  });
}

check("the run that comes with the opening is the one that the whole program computes", { skip }, async (page) => {
  const opened = await run(page);
  await page.waitForFunction(() => location.hash.includes("/"));
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector(ready, { state: "attached" });
  assert.deepEqual(await run(page), opened);
});

check("a pointer that moves over the page before the whole program is there does not stop it", { skip }, async (page) => {
  const letCome = await openWithoutWhole(page);
  for (let y = 20; y < 900; y += 80) await page.mouse.move(y % 160 < 80 ? 20 : 1420, y, { steps: 10 });
  assert.equal(await page.evaluate(() => history.state), null, "it was loaded again");
  letCome();
});

check("a page that was left before its whole came does not stop the next one", { skip }, async (page) => {
  const letFirstCome = await openWithoutWhole(page);
  await page.unroute(/_whole\.wasm$/);
  const letCome = await openWithoutWhole(page);
  const devtools = await page.context().newCDPSession(page);
  for (let time = 0; time < 3; time++) {
    await devtools.send("HeapProfiler.collectGarbage");
    await page.waitForTimeout(200);
  }
  assert.equal(await page.evaluate(() => history.state), null, "it was loaded again");
  letFirstCome();
  letCome();
});

check("what is done before the whole program is there waits, and is done", { skip }, async (page) => {
  const letCome = await openWithoutWhole(page);
  let hasCome = false;
  setTimeout(() => letCome((hasCome = true)), LATE);
  await getDeployments(page);
  await page.getByText("deployment.apps/web").first().waitFor();
  assert.ok(hasCome, "a line was answered by a program that was not there");
});

check(
  "a page whose opening comes to what it has not got loads again, with the whole program",
  { skip },
  async (page) => {
    const file = readFileSync(dist + files.find((name) => name.endsWith("_opening.lzma")));
    const module = Buffer.from(decompress(file));
    const parts = sections(module).set(Section.CODE, rewritten(module, () => null));
    const body = Buffer.from(compress(assembled(parts), 1));
    await openAnew(page, /_opening\.lzma$/, (route) => route.fulfill({ body }));
    await getDeployments(page);
    await page.getByText("deployment.apps/web").first().waitFor();
  },
);

check(
  "a program of which a part is missing says so",
  { skip, expect: /whole\.wasm|404|Failed to load/ },
  async (page) => {
    await openAnew(page, /_whole\.wasm$/, (route) => route.fulfill({ status: 404 }));
    await getDeployments(page);
    const failure = page.locator("#failure");
    await failure.waitFor();
    assert.match(await failure.textContent(), /reload/i);
    assert.equal(await page.evaluate(() => history.state), null, "it was loaded again, for nothing");
  },
);

/** Branches both ways, calls through a table, and keeps what it does in a global and in memory. */
const PROGRAM = `(module
  (import "page" "tell" (func $tell (param i32)))
  (memory (export "memory") 1)
  (table (export "table") 3 funcref)
  (elem (i32.const 1) $count $rare)
  (global $times (mut i32) (i32.const 7))
  (data (i32.const 16) "hello")
  (func $count (export "count") (param i32) (result i32)
    (block $usual
      (br_if $usual (i32.eqz (local.get 0)))
      (call $tell (i32.const 5))
      (return (i32.const 9)))
    (if (i32.eq (global.get $times) (i32.const 8))
      (then (call $tell (i32.const 1)))
      (else (global.set $times (i32.const 8))))
    (i32.load8_u (i32.const 16)))
  (func $rare (export "rare") (result i32) (call $tell (i32.const 2)) (i32.const 3)))`;

check("a program that is cut does what was seen, traps elsewhere, and goes on as a whole", {}, async (page) => {
  const module = Buffer.from(binaryen.parseText(PROGRAM).emitBinary());
  const run = (steps, ...modules) =>
    page.evaluate(`(() => {
      const told = [];
      const start = (bytes, more) => new WebAssembly.Instance(
        new WebAssembly.Module(Uint8Array.from(bytes)), { page: { tell: (x) => told.push(x) }, ...more }).exports;
      const tried = (act) => { try { return act(); } catch (error) { return error.constructor.name; } };
      return (${steps})(${modules.map((bytes) => `[${[...bytes]}]`)}, start, tried, told);
    })()`);
  const seen = await run(
    (bytes, start) => {
      const program = start(bytes);
      program.count(0);
      return [...new Uint8Array(program.reached.buffer)];
    },
    observed(module),
  );
  const outcome = await run(
    (first, kept, rest, start, tried, told) => {
      const opening = start(first);
      const done = [() => opening.count(0), () => opening.count(1), () => opening.rare()].map(tried);
      const all = start(rest, { opening });
      return [...done, start(kept).rare(), all.count(0), all.count(1), all.rare(), opening.table.get(2)(), told];
    },
    opening(module, seen),
    opening(module, seen, ["rare"]),
    whole(module, []),
  );
  const letter = "h".charCodeAt(0);
  assert.deepEqual(outcome, [letter, "RuntimeError", "RuntimeError", 3, letter, 9, 3, 3, [2, 1, 5, 2, 2]]);
});
