// A real Chromium on the built page. A test file calls `useBrowser()` once and then `open()` or
// `check()`; any error on the console, any failed request and any request to another origin fails
// the test. Everything has a time limit.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "./serve.mjs";

const TOP = fileURLToPath(new URL("../../", import.meta.url));
const OUT = fileURLToPath(new URL("./out/", import.meta.url));

/** The sizes at which the page must hold: desk, small desk, tablet, phone. */
export const SIZES = [
  [1440, 900],
  [1024, 768],
  [768, 1024],
  [390, 844],
];
export const THEMES = ["light", "dark"];

/** How long one test may take, and one wait in it, in milliseconds. */
export const TEST_LIMIT = 60_000;
export const WAIT_LIMIT = 15_000;
const PICTURE_LIMIT = 6_000;

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a server on dist/ and a Chromium with a fresh profile. */
export async function launch({ prefix = "/" } = {}) {
  assert.ok(existsSync(`${TOP}dist/index.html`), "there is no dist/: run `make build`");
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const server = await serve(`${TOP}dist`, { prefix });
  const browser = await chromium
    .launch({ executablePath, args: FLAGS, chromiumSandbox: false, timeout: 30_000 })
    .catch(async (error) => {
      await server.close();
      throw error;
    });
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { address: server.address, browser, close };
}

/**
 * Opens the page and waits until it is ready.
 * `path` is what follows the address: "?embed=1", "#…".
 * `problems` collects what went wrong; `expect` is a pattern of those that are meant to happen.
 */
export async function openPage({ address, browser }, options = {}) {
  const { size = SIZES[0], theme = "light", lang = "en", path = "", still = false } = options;
  const context = await browser.newContext({
    viewport: { width: size[0], height: size[1] },
    colorScheme: theme,
    locale: lang,
    reducedMotion: still ? "reduce" : "no-preference",
    hasTouch: options.touch ?? false,
  });
  context.setDefaultTimeout(WAIT_LIMIT);
  const page = await context.newPage();
  const problems = [];
  watch(page, new URL(address).origin, (text) => {
    if (!options.expect?.test(text)) problems.push(text);
  });
  await page.goto(address + path);
  await page.waitForSelector("html[data-ready=true]", { state: "attached" }).catch((error) => {
    throw new Error(`the page is not ready: ${problems.join("; ") || error.message}`);
  });
  return { page, problems, close: () => context.close() };
}

function watch(page, origin, report) {
  page.on("console", (message) => {
    if (message.type() === "error") report(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => report(`error: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // Given up by a page that loads itself again, with the whole program (`.ci/opening/loader.js`).
    const isGivenUp = request.url().endsWith("_whole.wasm") && why === "net::ERR_ABORTED";
    if (!isGivenUp) report(`request failed: ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) report(`${response.status()} for ${response.url()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const own = url.origin === origin || ["data:", "blob:", "about:"].includes(url.protocol);
    if (!own) report(`a request to another origin: ${request.url()}`);
  });
}

/**
 * Puts a picture into tests/e2e/out/, to be looked at. No test hangs on it: Chromium now and then takes none for
 * as long as one waits, of a page that answers.
 */
export async function picture(page, name) {
  mkdirSync(OUT, { recursive: true });
  const path = `${OUT}${name.replace(/[^\w.-]+/g, "-")}.png`;
  const taken = () => page.screenshot({ path, timeout: PICTURE_LIMIT });
  await taken().catch(taken).catch((error) => console.log(`no picture ${name}: ${error.message.split("\n")[0]}`));
}

/** Fails with the sentences, if there are any. */
export function assertNone(problems, what) {
  assert.equal(problems.length, 0, `${what}:\n  ${problems.join("\n  ")}`);
}

/**
 * For a test file: one browser for all its tests.
 * `check(name, options, steps)` is a test on a page of its own, with `options` as for `openPage`
 * a `limit` in milliseconds if it takes longer than others, and `skip`, a reason to leave it out;
 * `steps` gets the Playwright page, and whatever it does, nothing may go wrong on the console.
 */
export function useBrowser(options = {}) {
  const running = {};
  before(async () => Object.assign(running, await launch(options)), { timeout: TEST_LIMIT });
  after(async () => running.close?.(), { timeout: TEST_LIMIT });
  const check = (name, pageOptions, steps) =>
    test(name, { timeout: pageOptions.limit ?? TEST_LIMIT, skip: pageOptions.skip }, async () => {
      const opened = await openPage(running, pageOptions);
      try {
        await steps(opened.page);
        assertNone(opened.problems, "went wrong meanwhile");
      } catch (error) {
        await picture(opened.page, `failed ${name}`);
        throw error;
      } finally {
        await opened.close();
      }
    });
  return { running, check };
}
