// Time: other futures, a stretch that is played again and again, the scale of speeds, lines that
// lead to their moment, what an action cost, and a storm.

import assert from "node:assert/strict";
import { accessibilityProblems, assertSound, overflowProblems } from "./checks.mjs";
import { assertNone, openPage, useBrowser } from "./harness.mjs";
import { at, comesBackTo, comesInto, data, DELETE, lane, pods, run, seconds, stepUntil, tab } from "./steps.mjs";

const { check, running } = useBrowser();

const futures = (page) => page.getByRole("button", { name: /Other futures: \d+/ });

/** Waits until so many other futures are counted. */
const count = (page, n) => page.getByRole("button", { name: `Other futures: ${n} (F)` }).waitFor();

/** From here on, counts how often time turns back, and notes how far it came. */
const watchTurns = (page) =>
  page.evaluate(() => {
    Object.assign(globalThis, { turns: 0, latest: 0 });
    let last = 0;
    new MutationObserver(() => {
      const now = Number(document.documentElement.dataset.time);
      if (now < last) globalThis.turns += 1;
      last = now;
      globalThis.latest = Math.max(globalThis.latest, now);
    }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-time"] });
  });

/** How far time came until it had turned back so often, in seconds. */
async function latestAfterTurns(page, turns) {
  await page.waitForFunction((turns) => globalThis.turns >= turns, turns, { timeout: 45_000 });
  return page.evaluate(() => globalThis.latest);
}

/** Deletes a pod at 9 s, goes on, goes back to the start and does something else there. */
async function fork(page) {
  await run(page, DELETE);
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Home");
  await comesInto(page, 0, 0.1);
  await run(page, "kubectl scale rs web --replicas=5");
  await count(page, 1);
}

check("acting in the past forks; the old future is listed, shown again by keyboard, and in the link", { path: at("doubled-event", 9) }, async (page) => {
  await fork(page);
  await page.keyboard.press("f");
  const dialog = page.getByRole("dialog", { name: "Other futures" });
  assert.match(await dialog.innerText(), /delete pod/);
  assert.match(await dialog.innerText(), /Seen until/);
  assertNone(await accessibilityProblems(page), "accessibility");
  await dialog.locator(".card").first().press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await page.keyboard.press("End");
  await page.waitForFunction(() => /delete pod/.test(document.querySelector(".log").innerText));
  assert.doesNotMatch(await page.locator(".log").innerText(), /replicas=5/);
  await count(page, 1);
  await page.waitForFunction(() => location.hash.startsWith("#2z/"));
  const hash = await data(page, "hash-level");
  const other = await openPage(running, { path: new URL(page.url()).hash });
  await count(other.page, 1);
  assert.equal(await data(other.page, "hash-level"), hash);
  await other.close();
});

check("what a jump in time brings does not grow in, and what time brings does", { path: at("lost-event", 50) }, async (page) => {
  const growing = () =>
    page.evaluate(() => document.getAnimations().filter(({ animationName }) => animationName).length);
  /** The most that were seen to grow in so many frames. */
  const most = async (frames) => {
    let seen = 0;
    for (let frame = 0; frame < frames; frame++) {
      seen = Math.max(seen, await growing());
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    return seen;
  };
  for (const key of ["Home", "End"]) {
    await page.keyboard.press(key);
    assert.equal(await most(12), 0, `after ${key}`);
  }
  await run(page, DELETE);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Play/ }).click();
  await page.waitForFunction(() => document.getAnimations().some(({ animationName }) => animationName));
});

check("undo takes the fork back and redo gives it again", { path: at("doubled-event", 9) }, async (page) => {
  await fork(page);
  await page.keyboard.press("Control+z");
  await count(page, 0);
  await page.keyboard.press("End");
  await page.waitForFunction(() => /delete pod/.test(document.querySelector(".log").innerText));
  await page.keyboard.press("Control+Shift+z");
  await count(page, 1);
  await comesInto(page, 0, 0.1);
});

check("a stretch set by keys is played again and again, and stands in the address", { path: at("doubled-event", 9) }, async (page) => {
  const from = await seconds(page);
  await page.keyboard.press("a");
  await run(page, DELETE);
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("b");
  const to = await seconds(page);
  assert.ok(to > from);
  await page.waitForFunction(() => /loop=1/.test(location.search) && /from=/.test(location.search));
  await watchTurns(page);
  await page.keyboard.press("k");
  assert.ok((await latestAfterTurns(page, 2)) <= to + 1e-6);
  await page.keyboard.press("k");
  await page.getByRole("button", { name: "Take A and B away" }).click();
  await page.waitForFunction(() => !/loop=1/.test(location.search));
  assert.equal(await page.locator(".scrubber .point").count(), 0);
});

check("a stretch is marked by pointer, and its ends are dragged", { path: at("doubled-event", 40) }, async (page) => {
  const box = await page.locator(".scrubber").boundingBox();
  const y = box.y + box.height / 2;
  const drag = async (from, to) => {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 4 });
    await page.mouse.up();
  };
  await page.keyboard.down("Shift");
  await drag(box.x + 30, box.x + 120);
  await page.keyboard.up("Shift");
  const left = (name) => page.locator(`.scrubber .point.${name}`).evaluate((e) => parseFloat(e.style.left));
  const [a, b] = [await left("from"), await left("to")];
  assert.ok(a < b, `${a} < ${b}`);
  const point = await page.locator(".scrubber .point.to").boundingBox();
  await page.mouse.move(point.x + point.width / 2, point.y + point.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 90, y, { steps: 4 });
  await page.mouse.up();
  assert.ok((await left("to")) < b && (await left("from")) === a);
  assertNone(await accessibilityProblems(page), "accessibility");
});

check("speed goes from a tenth to a hundred on one scale, and says so", {}, async (page) => {
  const slider = page.getByRole("slider", { name: "Speed" });
  assert.equal(await slider.getAttribute("aria-valuetext"), "1×");
  await page.keyboard.press("]");
  assert.equal(await slider.getAttribute("aria-valuetext"), "2×");
  await slider.focus();
  await page.keyboard.press("End");
  assert.equal(await slider.getAttribute("aria-valuetext"), "100×");
  await page.keyboard.press("Home");
  await page.keyboard.press("[");
  assert.equal(await slider.getAttribute("aria-valuetext"), "0.1×");
});

check("lines of the console and Events lead to their moment", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  const given = await seconds(page);
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
  assert.ok((await seconds(page)) > given);
  await page.locator(".entry .line button").first().press("Enter");
  await comesBackTo(page, given);
  await page.keyboard.press("End");
  await tab(page, "Events").click();
  const before = await seconds(page);
  await page.locator(".event-rows button").last().click();
  await comesInto(page, 0, before);
});

check("each action says what it cost both lanes", { path: at("lost-event", 50) }, async (page) => {
  await run(page, DELETE);
  await stepUntil(page, "level", "converging");
  await stepUntil(page, "level", "converged");
  const line = page.locator(".entry .cost");
  await line.filter({ hasText: /level: passes \d+, writes [1-9]\d*, converged after/ }).waitFor();
  await tab(page, "Metrics").click();
  const row = page.locator(".cost-table tbody").first();
  assert.match(await row.innerText(), /delete pod/);
  assert.equal(await row.locator("tr").count(), 3);
  const before = await seconds(page);
  await row.locator("button").click();
  await comesInto(page, 0, before);
  await assertSound(page);
});

check("a line that follows prints on as time goes on, says at each moment what it had said, and ends with Ctrl-C", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, "kubectl get pods -w");
  const entry = page.locator(".entry", { hasText: "get pods -w" });
  await entry.getByText("Follows").waitFor();
  const printed = () => entry.locator("pre").first().innerText();
  const first = await printed();
  await pods(page, "level").first().press("Delete");
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction((first) => document.querySelector(".entry pre").innerText.length > first.length, first);
  const later = await printed();
  assert.ok(later.startsWith(first), later);
  assertNone(await accessibilityProblems(page), "accessibility");
  const moment = await seconds(page);
  await page.keyboard.press("Home");
  await comesInto(page, 0, 0.1);
  assert.equal(await printed(), first);
  await page.keyboard.press("End");
  await comesBackTo(page, moment);
  assert.equal(await printed(), later);
  await page.getByRole("textbox", { name: "Command line" }).press("Control+c");
  await entry.getByText("Follows").waitFor({ state: "hidden" });
  assert.match(await printed(), /\^C$/);
});

check("an embed takes a stretch, a speed, one tab of the panel, and no controls", { path: "?embed=1&scenario=doubled-event&from=12&to=13s&loop=1&speed=5&play=1&controls=0&panel=console" }, async (page) => {
  await watchTurns(page);
  const latest = await latestAfterTurns(page, 2);
  assert.ok(latest > 12 && latest <= 13, `it came to ${latest}`);
  assert.equal(await page.locator(".transport").count(), 0);
  await page.getByRole("textbox", { name: "Command line" }).waitFor();
  assert.equal(await page.locator("header.head").count(), 0);
});

check("in a storm of 2000 objects the API server's queue is seen", { path: "?scenario=storm&speed=2" }, async (page) => {
  await tab(page, "Metrics").click();
  await page.getByRole("button", { name: "Play" }).click();
  const refused = page.locator(".numbers tr", { hasText: "Requests sent away with 429" }).locator("td");
  const some = refused.nth(1).filter({ hasText: /[1-9]/ });
  await some.waitFor({ timeout: 45_000 });
  assert.equal(await refused.nth(0).innerText(), "0", "the edge lane asks one at a time");
});

for (const size of [[1440, 900], [390, 844]]) {
  check(`the bar of time holds at ${size[0]} pixels`, { path: at("doubled-event", 40), size }, async (page) => {
    await futures(page).waitFor();
    assertNone(await overflowProblems(page), "overflow");
  });
}

check("the log stays at its end however fast passes go by, and where its reader is", {}, async (page) => {
  const list = page.locator(".log ol");
  const below = () => list.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  const steps = async (count) => {
    for (let i = 0; i < count; i++) await page.keyboard.press("ArrowRight");
  };
  const isAtEnd = () =>
    page.waitForFunction(() => {
      const list = document.querySelector(".log ol");
      const isBrief = list.classList.contains("brief");
      return !isBrief && list.scrollHeight - list.scrollTop - list.clientHeight < 2;
    });
  await run(page, "kubectl scale deployment web --replicas=14");
  await page.locator("h1, body").first().evaluate(() => document.activeElement.blur());
  await steps(30);
  await isAtEnd();
  assert.ok((await list.locator("li").count()) > 30, "there is too little to scroll");
  await list.hover();
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => document.querySelector(".log ol").scrollTop > 0);
  await steps(5);
  await page.waitForTimeout(300);
  assert.ok((await below()) > 100, "the reader was taken along");
  await list.evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await steps(5);
  await isAtEnd();
});

check("a line of the log that leads to its moment keeps the focus", {}, async (page) => {
  await run(page, "kubectl scale deployment web --replicas=14");
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowRight");
  const first = page.locator(".log li button").first();
  await page.waitForFunction(() => document.querySelectorAll(".log li").length > 30);
  await first.focus();
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
  assert.ok(await page.evaluate(() => document.activeElement.matches(".log li button")), "the focus is lost");
});

check("a press beside a mark goes to the very moment of the mark, and a press elsewhere does not", { path: at("lost-event", 50) }, async (page) => {
  await page.locator("#stage").focus();
  await page.keyboard.press("Home");
  // Up to the deletion that the scenario carries out, and a little on.
  const [marks, deletion] = [new Set(), 30];
  let thumb;
  for (let press = 0; press < 40 && (await seconds(page)) < deletion + 1; press++) {
    await page.keyboard.press("n");
    marks.add(await seconds(page));
    if ((await seconds(page)) === deletion) thumb = await page.locator(".scrubber .thumb").boundingBox();
  }
  assert.ok(thumb, [...marks].join(" "));
  const [x, y] = [thumb.x + thumb.width / 2, thumb.y + thumb.height / 2];
  await page.keyboard.press("End");
  await page.mouse.click(x + 1, y);
  await comesInto(page, deletion - 0.5, deletion + 0.5);
  const pressed = await seconds(page);
  assert.ok(marks.has(pressed), `${pressed} s is none of ${[...marks].join(" ")}`);
  // No mark stands there, but of passes.
  await page.mouse.click(x - 60, y);
  await comesInto(page, 0, Math.min(...marks));
  assert.ok(!marks.has(await seconds(page)));
});
