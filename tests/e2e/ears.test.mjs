// For whoever hears the page instead of seeing it, and for whoever wants nothing to move.

import assert from "node:assert/strict";
import { useBrowser } from "./harness.mjs";
import { at, data } from "./steps.mjs";

const { check } = useBrowser();
/** Before the event that is lost, in seconds, and before the resync that makes up for it. */
const LOSS = 9;
const RESYNC = 29;
/** More passes than it takes from either until a lane has come to something. */
const PASSES = 40;

/** All that the live region said while `steps` went on, and a little after. */
async function said(page, steps) {
  await page.evaluate(() => {
    const live = document.getElementById("live");
    window.said = [];
    new MutationObserver(() => window.said.push(live.textContent)).observe(live, { childList: true, characterData: true, subtree: true });
  });
  await steps();
  await page.waitForTimeout(2_000);
  return page.evaluate(() => window.said);
}

/** Goes on pass by pass, a little faster than sentences are told. */
async function goOn(page) {
  for (let pass = 0; pass < PASSES; pass++) {
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(800);
  }
}

check("a pass and a verdict are told to a screen reader in words", { path: at("lost-event", RESYNC), limit: 150_000 }, async (page) => {
  assert.equal(await page.locator("#live").getAttribute("aria-live"), "polite");
  const told = await said(page, () => goOn(page));
  assert.ok(told.some((line) => /^level-triggered: replicaset .*sees \d.*wants 3.*creates 1/i.test(line)), told.join("\n"));
  assert.ok(told.some((line) => /^level-triggered: converged: since .*nothing is due/i.test(line)), told.join("\n"));
});

check("that a lane is stuck is told, however many passes the other one makes", { path: at("lost-event", LOSS), limit: 150_000 }, async (page) => {
  const told = await said(page, () => goOn(page));
  assert.ok(told.some((line) => /^edge-triggered: stuck: 1 pod short.*nothing will wake/i.test(line)), told.join("\n"));
});

check("where motion is not wanted each pass is one still step", { path: at("lost-event", RESYNC), still: true }, async (page) => {
  const seen = await page.evaluate(async () => {
    const [times, moving] = [new Set(), new Set()];
    dispatchEvent(new KeyboardEvent("keydown", { key: " " }));
    const end = performance.now() + 4_000;
    while (performance.now() < end) {
      await new Promise(requestAnimationFrame);
      times.add(document.documentElement.dataset.time);
      for (const one of document.getAnimations()) {
        if (one.effect.getComputedTiming().activeDuration > 1) moving.add(one.animationName ?? one.transitionProperty);
      }
    }
    return { times: [...times], moving: [...moving], playing: document.documentElement.dataset.playing };
  });
  assert.equal(seen.playing, "true");
  assert.deepEqual(seen.moving, []);
  // As many moments as steps, where a page that moves shows one in each frame.
  assert.ok(seen.times.length > 1 && seen.times.length < 8, seen.times.join(" "));
  const passes = await page.locator(".log li.pass").count();
  assert.ok(passes > 0, "no pass is told");
});
