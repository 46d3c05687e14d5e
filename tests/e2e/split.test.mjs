// The program comes in two parts (`.ci/split`). What a person does before the second is there waits
// for it, and is done.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { useBrowser } from "./harness.mjs";

const { check } = useBrowser();
const files = readdirSync(fileURLToPath(new URL("../../dist/", import.meta.url)));
const isSplit = files.some((name) => name.endsWith("_rest.wasm"));
const whole = !isSplit && "the page is in one piece: there is no wasm-split here";
const ready = "html[data-ready=true]";
/** Long enough to open the page and type a line, in milliseconds. */
const LATE = 4_000;

/** Opens the page again with the second part late; tells whether it has come. */
async function reloadWithLateRest(page) {
  const rest = { came: false };
  await page.route(/_rest\.wasm$/, async (route) => {
    await new Promise((done) => setTimeout(done, LATE));
    await route.continue();
    rest.came = true;
  });
  await page.reload();
  await page.waitForSelector(ready, { state: "attached" });
  return rest;
}

check("what is done before the whole program is there waits, and is done", { skip: whole }, async (page) => {
  const rest = await reloadWithLateRest(page);
  // A hint, not a fault: the stage needed something that `first.txt` does not list.
  if (rest.came) console.log("the opening waits for the rest: run `make record`");
  await page.keyboard.press("/");
  await page.keyboard.type("kubectl get deployments -o name");
  await page.keyboard.press("Enter");
  await page.getByText("deployment.apps/web").first().waitFor();
  assert.ok(rest.came, "a line was answered by a program that was not there");
});

check(
  "a program of which a part is missing says so",
  // What is pressed after that finds a program that has stopped.
  { skip: whole, expect: /rest\.wasm|404|Failed to load|unreachable|borrowed|RuntimeError/ },
  async (page) => {
    await page.route(/_rest\.wasm$/, (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await page.keyboard.press("/");
    await page.keyboard.type("kubectl get deployments -o name");
    await page.keyboard.press("Enter");
    const failure = page.locator("#failure");
    await failure.waitFor();
    assert.match(await failure.textContent(), /reload/i);
  },
);
