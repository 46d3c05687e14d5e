// What a person does on the page, by pointer and by keyboard, in a real browser. The lanes are asked
// through what they show: verdicts, pods, the log.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { accessibilityProblems, overflowProblems, overlapProblems } from "./checks.mjs";
import { assertNone, SIZES, THEMES, useBrowser } from "./harness.mjs";
import { at, comesTo, data, dead, DELETE, lane, node, pods, ring, run, stepUntil, verdict } from "./steps.mjs";

const { check } = useBrowser();

check("opens with two lanes, paused, with one hint", {}, async (page) => {
  await comesTo(page, "level", "converging").catch(() => {});
  assert.equal(await page.locator("[data-lane=edge] .verdict").count(), 1);
  assert.equal(await page.locator("[data-lane=level] .verdict").count(), 1);
  assert.equal(await data(page, "playing"), "false");
  assert.match(await page.locator(".hint").innerText(), /deleted/);
  assert.equal(await pods(page, "level").count(), 2);
});

check("a lane stays as wide as it is, however many pods wait for a node", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, "kubectl scale rs web --replicas=40");
  await page.locator("#stage").focus();
  for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowRight");
  assert.ok((await lane(page, "level").locator(".tray .pod").count()) > 0, "no pod waits");
  const outside = await page.evaluate(() => {
    const ends = (element) => element.getBoundingClientRect().right;
    const lanes = [...document.querySelectorAll("[data-lane]:has(.machines)")];
    return lanes.flatMap((lane) => [...lane.querySelectorAll(".tray, .node")].filter((one) => ends(one) > ends(lane)).length);
  });
  assert.deepEqual(outside, [0, 0]);
});

check("a converged cluster shows three ready pods on three nodes", { path: at("lost-event", 9) }, async (page) => {
  for (const id of ["edge", "level"]) {
    await comesTo(page, id, "converged");
    assert.equal(await lane(page, id).locator("button.pod[data-look=Ready]").count(), 3);
    assert.equal(await lane(page, id).locator("li.node, .node").count() >= 3, true);
  }
});

check("applies an edited manifest to both lanes, by keyboard", { path: at("doubled-event", 9) }, async (page) => {
  await page.evaluate(() => sessionStorage.clear());
  const editor = page.getByRole("textbox", { name: /YAML/ }).first();
  await editor.click();
  await page.waitForTimeout(1500); // the editor is loaded when it is first used
  const text = page.locator(".cm-content, textarea").first();
  await text.click();
  await page.keyboard.press("Control+a");
  const yaml = await page.evaluate(() => document.querySelector("textarea")?.value ?? "");
  assert.match(yaml, /replicas: 3/);
  await page.keyboard.insertText(yaml.replace("replicas: 3", "replicas: 5"));
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Play" }).click();
  for (const id of ["edge", "level"]) {
    await page.waitForFunction(
      (id) => document.querySelectorAll(`[data-lane=${id}] button.pod`).length === 5,
      id,
    );
  }
});

check("a manifest that does not parse is told with its line and is not lost", { path: at("lost-event", 9) }, async (page) => {
  const editor = page.getByRole("textbox", { name: /YAML/ }).first();
  await editor.click();
  await page.waitForTimeout(1500);
  await page.locator(".cm-content, textarea").first().click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("apiVersion: apps/v1\nkind: Deploymnet\nmetadata:\n  name: web\n");
  await page.getByText(/no matches for kind/).first().waitFor();
  await page.reload();
  await page.waitForSelector("html[data-ready=true]", { state: "attached" });
  await page.getByText(/Deploymnet/).first().waitFor();
});

check("deletes a pod by pointer in both lanes", { path: at("doubled-event", 9) }, async (page) => {
  await pods(page, "edge").first().click();
  await page.getByRole("dialog").getByRole("button", { name: /^Delete kubectl|^Delete\b/ }).first().click();
  for (const id of ["edge", "level"]) {
    await page.waitForFunction(
      (id) => document.querySelector(`[data-lane=${id}] button.pod[data-look=Terminating]`),
      id,
    );
  }
  assert.match(await page.locator(".log").innerText(), /delete pod/);
});

check("deletes a pod by key in its own lane only, and undo brings it back", { path: at("doubled-event", 9) }, async (page) => {
  await pods(page, "level").first().focus();
  await page.keyboard.press("Shift+Delete");
  await page.waitForFunction(() =>
    document.querySelector("[data-lane=level] button.pod[data-look=Terminating]"),
  );
  assert.equal(await lane(page, "edge").locator("button.pod[data-look=Terminating]").count(), 0);
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() =>
    !document.querySelector("[data-lane=level] button.pod[data-look=Terminating]"),
  );
});

check("kills a controller and brings it back", { path: at("doubled-event", 9) }, async (page) => {
  await ring(page, "level", "replicaset").click();
  await page.getByRole("button", { name: /Kill the process/ }).click();
  await dead(page, "level", "replicaset").waitFor();
  await dead(page, "edge", "replicaset").waitFor();
  assert.match(await ring(page, "level", "replicaset").getAttribute("aria-label"), /dead/);
  await ring(page, "level", "replicaset").click();
  await page.getByRole("button", { name: /Start it again/ }).click();
  assert.match(await page.locator(".log").innerText(), /restart replicaset/);
});

check("arms a crash half-way through the next pass", { path: at("doubled-event", 9) }, async (page) => {
  await ring(page, "level", "replicaset").press("Enter");
  await page.getByRole("button", { name: /Crash half-way/ }).press("Enter");
  await run(page, "kubectl scale rs web --replicas=9");
  await page.getByRole("button", { name: "Play" }).click();
  await dead(page, "level", "replicaset").waitFor({ timeout: 30_000 });
});

check("a DELETED event caught in flight and dropped leaves edge stuck, says why and marks it", { path: at("rolling-update", 80, 4) }, async (page) => {
  await run(page, DELETE);
  for (const id of ["edge", "level"]) {
    const flight = lane(page, id).locator(".in-flight button", { hasText: /DELETED.*replicaset/ }).first();
    await flight.focus();
    await flight.press("Enter");
    await page.getByRole("button", { name: /Drop at the door/ }).press("Enter");
  }
  await stepUntil(page, "edge", "stuck");
  assert.match(await verdict(page, "edge").innerText(), /1 pod short/);
  // Level is late, never wrong: whatever wakes it, it sees two of three.
  await run(page, "fault resync replicaset");
  await stepUntil(page, "level", "converged");
  assert.equal(await verdict(page, "edge").getAttribute("data-verdict"), "stuck");
  assert.match(await page.locator(".difference").innerText(), /never told/);
});

check("powers off a node", { path: at("doubled-event", 9) }, async (page) => {
  await node(page, "level", "node-1").click();
  await page.getByRole("button", { name: /Power off/ }).click();
  for (const id of ["edge", "level"]) {
    await lane(page, id).locator(".node.off", { hasText: "node-1" }).waitFor();
    assert.match(await node(page, id, "node-1").getAttribute("aria-label"), /powered off/);
  }
});

check("plays, pauses, steps, starts again, takes another seed", {}, async (page) => {
  const time = () => data(page, "time");
  const start = await time();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((start) => document.documentElement.dataset.time !== start, start);
  await page.getByRole("button", { name: "Play" }).click();
  assert.equal(await data(page, "playing"), "true");
  await page.waitForTimeout(600);
  await page.getByRole("button", { name: "Pause" }).click();
  const paused = await time();
  await page.waitForTimeout(300);
  assert.equal(await time(), paused);
  await page.getByRole("button", { name: "Start again" }).click();
  await page.waitForFunction((start) => document.documentElement.dataset.time === start, start);
  const hash = await data(page, "hashLevel");
  await page.getByRole("button", { name: "Another seed" }).click();
  await page.waitForFunction((hash) => document.documentElement.dataset.hashLevel !== hash, hash);
});

check("played through, the level lane heals and the edge lane is stuck", {}, async (page) => {
  for (let i = 0; i < 6; i++) await page.keyboard.press("]");
  await page.getByRole("button", { name: "Play" }).click();
  await comesTo(page, "edge", "stuck");
  await comesTo(page, "level", "converged");
});

check("a link opens as the session that made it", { path: at("lost-event", 9) }, async (page) => {
  await pods(page, "level").first().focus();
  await page.keyboard.press("Delete");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(1200);
  const [hash, time, url] = [await data(page, "hashLevel"), await data(page, "time"), page.url()];
  const other = await page.context().newPage();
  await other.goto(url);
  await other.waitForSelector("html[data-ready=true]", { state: "attached" });
  assert.equal(await data(other, "time"), time);
  assert.equal(await data(other, "hashLevel"), hash);
});

check("a link that is none opens the default scenario with a notice", { path: "#1z/%%%" }, async (page) => {
  await page.getByText(/link/i).first().waitFor();
  assert.match(await page.locator(".pick-title").innerText(), /One lost event/);
});

check("chooses a scenario", {}, async (page) => {
  await page.locator("button.pick").click();
  await page.getByRole("dialog").getByText("A node dies").click();
  await page.waitForFunction(() => document.querySelector(".pick-title").textContent === "A node dies");
});

check("speaks Korean and English, in light and dark", {}, async (page) => {
  await page.getByRole("button", { name: "KO" }).click();
  await page.waitForFunction(() => document.documentElement.lang === "ko");
  assert.match(await page.locator(".pick-title").innerText(), /이벤트/);
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const theme = page.locator("button[aria-label*='테마'], button[aria-label*='Theme']").first();
  await theme.click();
  await theme.click();
  const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(before, after);
});

check("embedded in another page it has no chrome", { path: "?embed=1" }, async (page) => {
  assert.equal(await page.locator("header.head").isVisible().catch(() => false), false);
  assert.equal(await lane(page, "level").isVisible(), true);
});

check("on a projector the type is larger", { path: "?present=1" }, async (page) => {
  const size = await page.evaluate(() => parseFloat(getComputedStyle(document.body).fontSize));
  assert.ok(size >= 1.5 * 14, `${size} px`);
});

check("on a projector of any height messages travel, where a label has no room too", { path: "?present=1", size: [1366, 768] }, async (page) => {
  await page.keyboard.press("Space");
  for (const [width, height] of [[1366, 768], [1280, 600], [1024, 480], [390, 844], [320, 200]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(400);
    assert.equal(await page.locator("#failure").isVisible(), false, `it stops at ${width}×${height}`);
  }
});

const constants = JSON.parse(readFileSync(new URL("../determinism.json", import.meta.url), "utf8"));
for (const [id, hashes] of Object.entries(constants.hashes)) {
  const nanos = constants.seconds * 1e9;
  check(`${id} runs in the browser as it does natively`, { path: at(id, constants.seconds, constants.seeds[id]) }, async (page) => {
    assert.equal(Number(await data(page, "time")) > 0, true);
    assert.deepEqual([await data(page, "hashEdge"), await data(page, "hashLevel")], hashes, `at ${nanos} ns`);
  });
}

for (const size of SIZES) {
  for (const theme of THEMES) {
    check(`holds at ${size.join("×")}, ${theme}`, { size, theme, path: "#1/lost-event/7/30500000000" }, async (page) => {
      assertNone(await overflowProblems(page), "overflow");
      assertNone(await overlapProblems(page), "overlap");
      assertNone(await accessibilityProblems(page), "accessibility");
    });
  }
}

check("what is typed right after the key to the console goes into its line, however late the next frame is", {}, async (page) => {
  await page.evaluate(() => {
    const draw = requestAnimationFrame;
    window.requestAnimationFrame = (frame) => setTimeout(() => draw(frame), 1_000);
  });
  await page.keyboard.press("/");
  await page.keyboard.type("kubectl get pods");
  assert.equal(await page.getByRole("textbox", { name: "Command line" }).inputValue(), "kubectl get pods");
  assert.equal(await data(page, "playing"), "false");
});
