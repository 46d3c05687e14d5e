// Cuts the program of the page in dist/ in two (`cut.mjs`): opens the page in Chromium in the ways in
// which people meet it first, sees what runs, and leaves out the rest of the program from what is loaded
// first. Called by `.ci/build.sh`.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import * as esbuild from "esbuild";
import { compress } from "lzma1";
import { launch, openPage, SIZES } from "../../tests/e2e/harness.mjs";
import { divided } from "./constants.mjs";
import { filled, observed, opening, REACHED, whole } from "./cut.mjs";
import { joined } from "./glue.mjs";
import { prepared } from "./prepared.mjs";

/** As in `openPage`; languages as browsers tell them: with a region, without, and one that we do not speak. */
const OPENINGS = [
  { lang: "en-US" },
  { lang: "en-GB", theme: "dark", still: true },
  { lang: "en", size: SIZES[2] },
  { lang: "ko-KR", size: SIZES[1] },
  { lang: "ko", path: "?embed=1" },
  { lang: "de-DE", size: SIZES[3], touch: true },
  { lang: "en-US", path: "?embed=1", size: [800, 500], theme: "dark" },
  { lang: "en-US", path: "?present=1" },
  { lang: "ko-KR", path: "?present=1", size: [1280, 720], theme: "dark" },
  { lang: "fr", path: "?present=1", size: [1920, 1080] },
  { lang: "en-US", path: "?present=1", size: SIZES[1], still: true },
];
/** What is drawn where hangs on how wide everything is. So each of these pages is shown in all these sizes, too. */
const RESIZED = [
  [2560, 1440], [1920, 1080], [1440, 900], [1366, 768], [1280, 720], [1024, 768], [800, 500], [768, 1024], [412, 915],
  [390, 844],
];
/** How long it takes until a page has drawn itself in another size, in milliseconds. */
const DRAWN = 250;
/**
 * How long a page is left to itself once it is ready, in milliseconds: longer than it takes for any of its
 * timers to come round, since whoever has a slow network waits longer for the whole program.
 */
const SETTLED = 2_000;
/** Which of its branches are run hangs on all that was allocated before, so it stays whole. */
const ALLOCATOR = ["__wbindgen_malloc", "__wbindgen_realloc", "__wbindgen_free"];
/** What Rust uses of WebAssembly. */
const FEATURES = [
  "--enable-bulk-memory",
  "--enable-multivalue",
  "--enable-mutable-globals",
  "--enable-nontrapping-float-to-int",
  "--enable-reference-types",
  "--enable-sign-ext",
];

/**
 * The opening is made small, now that so much of it is gone. Flat first: what is left over of a branch then goes
 * together with what is left around it.
 */
const PASSES = ["--low-memory-unused", "--flatten", "--rereloop", "-Oz", "-Oz"];

const program = join("dist", find("_bg.wasm"));
const glue = program.replace("_bg.wasm", ".js");
const module = readFileSync(program);
let script = readFileSync(glue, "utf8");
if (process.env.CHROMIUM) {
  const prefilled = prepared(module);
  const reached = await record(prefilled.module).finally(() => writeFileSync(program, module));
  const first = optimised(opening(prefilled.module, reached, ALLOCATOR), PASSES);
  const [ours, others] = divided(first, readFileSync(process.env.PAGE_MAP, "utf8"), prefilled);
  const all = optimised(whole(prefilled.module, others), ["--low-memory-unused", "-O3"]);
  writeFileSync(program.replace("_bg.wasm", "_whole.wasm"), all);
  writeFileSync(program.replace("_bg.wasm", "_opening.lzma"), compress(filled(first, ours), 9));
  rmSync(program);
  writeFileSync("dist/index.html", preloaded(readFileSync("dist/index.html", "utf8")));
  script = joined(script);
}
await esbuild.build({
  stdin: { contents: script, resolveDir: ".", sourcefile: basename(glue) },
  outfile: glue,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});

/** The one file in dist/ whose name ends so. */
function find(ending) {
  const found = readdirSync("dist").filter((name) => name.endsWith(ending));
  if (found.length !== 1) throw new Error(`dist holds ${found.length} files *${ending}, not one`);
  return found[0];
}

/** The page as it asks for the opening early. The script in it stays: the policy knows it by its hash. */
function preloaded(page) {
  const link = /(<link rel="preload" href="[^"]*)_bg\.wasm"[^>]*>/;
  if (!link.test(page)) throw new Error("index.html asks for no program early");
  return page.replace(link, '$1_opening.lzma" as="fetch" crossorigin>');
}

/** Which points of a program are reached, a byte for each: 1 or 0. */
async function record(module) {
  writeFileSync(program, observed(module));
  const running = await launch();
  let all;
  try {
    for (const options of OPENINGS) {
      const { page, problems, close } = await openPage(running, options);
      // A second visit finds what the first has kept.
      for (const again of [false, true]) {
        if (again) {
          await page.goto("about:blank");
          await page.goto(running.address + (options.path ?? ""));
        }
        await page.waitForSelector("html[data-ready=true]", { state: "attached" });
        await page.waitForTimeout(SETTLED);
        for (const [width, height] of again ? RESIZED : []) {
          await page.setViewportSize({ width, height });
          await page.waitForTimeout(DRAWN);
        }
        const reached = await seen(page, new URL(basename(glue), running.address).href);
        all ??= Buffer.alloc(reached.length);
        for (let point = 0; point < all.length; point++) all[point] |= reached[point];
      }
      // What was still on its way when the page was left does not count.
      const wrong = problems.filter((problem) => !problem.startsWith("request failed"));
      if (wrong.length) throw new Error(`${JSON.stringify(options)}: ${wrong.join("; ")}`);
      await close();
    }
  } finally {
    await running.close();
  }
  return all;
}

async function seen(page, glue) {
  const text = await page.evaluate(
    async ({ glue, REACHED }) => {
      const bytes = new Uint8Array((await (await import(glue)).default())[REACHED].buffer);
      let text = "";
      for (let at = 0; at < bytes.length; at += 4096) {
        text += String.fromCharCode(...bytes.subarray(at, at + 4096));
      }
      return text;
    },
    { glue, REACHED },
  );
  return Buffer.from(text, "latin1");
}

/** A program after these passes of Binaryen. */
function optimised(bytes, passes) {
  const folder = mkdtempSync(join(tmpdir(), "loopscope-"));
  const file = join(folder, "opening.wasm");
  writeFileSync(file, bytes);
  execFileSync("wasm-opt", [...FEATURES, ...passes, file, "-o", file]);
  const written = readFileSync(file);
  rmSync(folder, { recursive: true });
  return written;
}
