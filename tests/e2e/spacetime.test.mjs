// The space-time diagram, later differences, and the chain of a pass on the stage, by pointer and by
// keyboard.

import assert from "node:assert/strict";
import { accessibilityProblems, assertSound, overflowProblems } from "./checks.mjs";
import { assertNone, useBrowser } from "./harness.mjs";
import { at, comesBackTo, comesInto, data, DELETE, lane, menu, ring, run, seconds, stepUntil, tab } from "./steps.mjs";

const { check } = useBrowser();

const sheet = (page) => page.getByRole("application", { name: /Space-time diagram/ });
const said = (page) => page.locator(".diagram-said");

/** Opens the diagram of the lost event, after the level lane has looked again. */
async function open(page) {
  await tab(page, "Diagram").click();
  await sheet(page).waitFor();
}

check("the lost event is in the diagram of what led to the difference", { path: at("lost-event", 50) }, async (page) => {
  await open(page);
  await page.locator(".differences li").first().waitFor();
  assert.equal(await page.locator(".differences li").count(), 1);
  // Cut in both lanes, with the sentence of the difference across them.
  assert.equal(await sheet(page).locator(".drawing line.lost").count(), 2);
  assert.match(await sheet(page).locator(".differs-text").textContent(), /^1\. .*replicaset/);
  await assertSound(page);
});

check("the arrow keys walk from the pass up to the line that deleted, and Enter leads there", { path: at("lost-event", 50) }, async (page) => {
  await open(page);
  await sheet(page).focus();
  await page.keyboard.press("ArrowUp");
  const first = await said(page).innerText();
  assert.match(first, /replicaset/);
  const before = await data(page, "time");
  for (let i = 0; i < 8 && !/delete pod/.test(await said(page).innerText()); i++) {
    await page.keyboard.press("ArrowUp");
  }
  assert.match(await said(page).innerText(), /delete pod/);
  assert.equal(await data(page, "time"), before, "walking does not move time");
  await page.keyboard.press("Enter");
  await comesBackTo(page, 10);
  // The difference that comes later stays told.
  assert.equal(await page.locator(".differences li").count(), 1);
  await page.keyboard.press("ArrowDown");
  assert.match(await said(page).innerText(), /DELETED/);
});

check("pointing at an arrow says what it is, pressing it leads to its moment", { path: at("lost-event", 50) }, async (page) => {
  await open(page);
  const cross = sheet(page).locator(".drawing .cross-ground").first();
  const box = await cross.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await said(page).filter({ hasText: "lost at the door of replicaset" }).waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await comesInto(page, 0, 11);
});

check("the diagram is there as a list, and a row leads to its moment", { path: at("lost-event", 50) }, async (page) => {
  await open(page);
  await page.locator(".diagram-list summary").press("Enter");
  const row = page.locator(".diagram-list button", { hasText: "fault drop" }).first();
  await row.waitFor();
  assertNone(await accessibilityProblems(page), "accessibility");
  await row.press("Enter");
  await comesBackTo(page, 10);
});

check("a second difference is told beside the first, and leads to its moment", { path: at("lost-event", 50) }, async (page) => {
  await run(page, "fault drop to=replicaset kind=Pod type=DELETED");
  await run(page, DELETE);
  // The resync of the next half minute shows it to level.
  for (let i = 0; i < 80 && (await seconds(page)) < 60; i++) {
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(30);
  }
  await stepUntil(page, "level", "converged");
  await page.locator(".difference-more").filter({ hasText: "and 1 more" }).click();
  const second = page.locator(".differences button").nth(1);
  const before = await seconds(page);
  await second.click();
  assert.equal(await second.getAttribute("aria-pressed"), "true");
  await comesInto(page, 50, before);
});

check("everything, one object, a stretch of time, larger and closer", { path: at("rolling-update", 20) }, async (page) => {
  await open(page);
  const focus = page.getByLabel("What the diagram shows");
  const bars = () => sheet(page).locator(".drawing rect.pass").count();
  await focus.selectOption({ label: "Everything" });
  const all = await bars();
  assert.ok(all > 5, `${all} passes`);
  const height = (await sheet(page).locator("svg").boundingBox()).height;
  await page.getByRole("button", { name: "Less room for time" }).click();
  assert.ok((await sheet(page).locator("svg").boundingBox()).height < height);
  await page.getByLabel("Stretch of time").selectOption({ label: "last 10 s" });
  await page.waitForFunction(
    (all) => document.querySelectorAll(".drawing rect.pass").length < all,
    all,
  );
  assert.ok((await bars()) > 0);
  await page.getByRole("button", { name: "Large", exact: true }).click();
  assert.ok((await sheet(page).boundingBox()).width > 900);
  await assertSound(page);
});

check("every watch event can be shown, and each says what became of it", { path: at("lost-event", 50) }, async (page) => {
  await open(page);
  await page.getByLabel("What the diagram shows").selectOption({ label: "Everything" });
  const quiet = sheet(page).locator(".drawing line.quiet");
  assert.equal(await quiet.count(), 0);
  const height = (await sheet(page).locator("svg").boundingBox()).height;
  await page.getByLabel("every watch event").check();
  await quiet.first().waitFor({ state: "attached" });
  assert.ok((await quiet.count()) > 20);
  assert.ok(Math.abs((await sheet(page).locator("svg").boundingBox()).height - height) < 2, "they take no room");
  await page.locator(".diagram-list summary").press("Enter");
  await page.locator(".diagram-list button", { hasText: "woke no pass of its own" }).first().press("Enter");
  await said(page).filter({ hasText: "woke no pass of its own" }).waitFor();
  await assertSound(page);
  // What led to a difference is shown without them.
  await page.getByLabel("What the diagram shows").selectOption({ index: 0 });
  await page.getByLabel("every watch event").waitFor({ state: "detached" });
  assert.equal(await quiet.count(), 0);
});

check("a phone draws one lane at a time", { path: at("lost-event", 50), size: [390, 844] }, async (page) => {
  await open(page);
  assert.equal(await sheet(page).locator(".diagram-head b").count(), 1);
  await page.locator(".diagram .segments button", { hasText: "edge" }).click();
  assert.equal(await sheet(page).locator(".diagram-head b").innerText(), "edge");
  assertNone(await overflowProblems(page), "overflow");
});

check("the chain of a picked pass is drawn on the stage and walked by keyboard", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  await stepUntil(page, "level", "converging");
  await stepUntil(page, "level", "converged");
  await tab(page, "Passes").click();
  await page.getByLabel("Loop", { exact: true }).first().selectOption("scheduler");
  await page.locator(".passes .segments button", { hasText: "level" }).click();
  await page.locator(".pass-rows button").first().click();
  const marks = lane(page, "level").locator(".chain-marks button");
  await marks.first().waitFor();
  const count = await marks.count();
  assert.ok(count >= 5, `${count} links`);
  assert.equal(await page.locator(".pass-detail ol.chain li").count(), count);
  assert.equal(await lane(page, "edge").locator(".chain-marks button").count(), 0);
  assert.match(await marks.first().getAttribute("aria-label"), /delete pod/);
  // The same keys on the stage and in the list, and the same present link.
  await marks.last().focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await marks.nth(count - 2).getAttribute("aria-current"), "step");
  const rows = page.locator(".pass-detail ol.chain li");
  assert.equal(await rows.nth(count - 2).getAttribute("aria-current"), "step");
  await rows.nth(count - 1).locator("button").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await marks.nth(count - 3).getAttribute("aria-current"), "step");
  await assertSound(page);
  // Enter on the first shows its moment; Escape takes the chain away.
  const before = (await seconds(page));
  await marks.first().press("Enter");
  await comesInto(page, 0, before);
  await marks.first().press("Escape");
  await marks.first().waitFor({ state: "detached" });
});

check("a loop's menu asks why it last acted", { path: at("lost-event", 50) }, async (page) => {
  await ring(page, "level", "replicaset").click();
  await page.getByRole("button", { name: "Why did it last act?" }).click();
  await page.locator(".pass-detail").filter({ hasText: "replicaset" }).waitFor();
  await lane(page, "level").locator(".chain-marks button").first().waitFor();
  await page.getByRole("button", { name: "Draw it" }).click();
  await sheet(page).waitFor();
});
