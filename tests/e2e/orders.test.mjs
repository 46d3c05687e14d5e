// A custom resource whose truth lies outside of the cluster: what a person sees of a lost webhook.

import assert from "node:assert/strict";
import { assertSound } from "./checks.mjs";
import { useBrowser } from "./harness.mjs";
import { at, comesTo, lane, ring, run, tab, verdict } from "./steps.mjs";

const { check } = useBrowser();

const row = (page, id) => lane(page, id).locator(".board .row", { hasText: "coffee" });

check("a lost webhook leaves edge stuck, and level has asked", { path: at("order-lost-webhook", 30, 3) }, async (page) => {
  await comesTo(page, "edge", "stuck");
  await comesTo(page, "level", "converged");
  assert.match(await row(page, "edge").innerText(), /Pending\s*→ Paid/);
  assert.match(await row(page, "level").innerText(), /Paid/);
  assert.doesNotMatch(await row(page, "level").innerText(), /→/);
  assert.match(await verdict(page, "edge").innerText(), /coffee is not marked as paid/);
  await ring(page, "level", "order").waitFor({ state: "attached" });
  await run(page, "ledger");
  await page.getByText("IDEMPOTENCY-KEY").first().waitFor();
  await assertSound(page);
});

check("the source of the order loop is shown in both flavours", { path: at("order-lost-webhook", 30, 3) }, async (page) => {
  await tab(page, "Code").click();
  await page.locator(".code select").selectOption("order");
  const sources = page.locator(".source");
  await sources.nth(0).getByText("fn webhook(").waitFor();
  await sources.nth(1).getByText("pub fn sync(").waitFor();
  assert.ok((await sources.nth(1).locator(".line.here").count()) >= 1);
});
