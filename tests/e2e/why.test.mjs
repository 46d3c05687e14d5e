// The tabs that say why: the passes and what led to them, what they cost, and their source; and a
// verdict's grounds.

import assert from "node:assert/strict";
import { assertSound } from "./checks.mjs";
import { useBrowser } from "./harness.mjs";
import { at, comesTo, data, DELETE, lane, run, stepUntil, tab, verdict } from "./steps.mjs";

const { check, running } = useBrowser();

check("a pass says what woke it, and the chain leads back to the line that was typed", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  await stepUntil(page, "level", "converging");
  await stepUntil(page, "level", "converged");
  await tab(page, "Passes").click();
  await page.getByLabel("Loop", { exact: true }).first().selectOption("scheduler");
  await page.locator(".passes .segments button", { hasText: "level" }).click();
  await page.locator(".pass-rows button").first().click();
  const chain = page.locator(".pass-detail ol.chain li");
  await chain.filter({ hasText: "delete pod" }).waitFor();
  // From the line on to the event that woke the pass, and the pass itself.
  const count = await chain.count();
  assert.match(await chain.first().innerText(), /delete pod/);
  assert.match(await chain.nth(count - 4).innerText(), /asked the API server: create Pod/);
  assert.match(await chain.nth(count - 3).innerText(), /ADDED/);
  assert.match(await chain.nth(count - 2).innerText(), /queue/);
  const detail = page.locator(".pass-detail");
  assert.match(await detail.innerText(), /revision \d+/);
  // What was true then beside what it saw, and on to what it woke: a kubelet starts the pod.
  assert.match(await detail.locator("dl").innerText(), /In the API server\s*\d+\/\d+, as it saw/);
  await detail.locator(".led button", { hasText: "kubelet" }).first().press("Enter");
  await detail.locator("h3", { hasText: "kubelet" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.locator(".pass-rows button").first().click();
  // Walkable by keyboard: Enter on a link of the chain shows its moment.
  const before = await data(page, "time");
  await chain.filter({ hasText: "delete pod" }).locator("button").press("Enter");
  await page.waitForFunction((before) => document.documentElement.dataset.time !== before, before);
  await assertSound(page);
});

check("an edge-triggered pass that was never told is shown what was true", { path: at("lost-event", 20) }, async (page) => {
  await run(page, "kubectl scale deployment web --replicas=4");
  await page.waitForTimeout(200);
  for (let pass = 0; pass < 12; pass++) await page.keyboard.press("ArrowRight");
  await tab(page, "Passes").click();
  await page.getByLabel("Loop", { exact: true }).first().selectOption("replicaset");
  await page.locator(".passes .segments button", { hasText: "edge" }).click();
  await page.locator(".pass-rows button", { hasText: "creates 1" }).first().click();
  const told = page.locator(".pass-detail dl");
  await told.getByText("it went by 3").waitFor();
  assert.match(await told.innerText(), /In the API server\s*2; it went by 3/);
  assert.match(await told.innerText(), /Difference\s*1 too few/);
});

check("the metrics of both lanes are plotted, with a table beside", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  await tab(page, "Metrics").click();
  await page.waitForFunction(() => document.querySelector(".plot")?.shadowRoot?.querySelector("canvas"));
  const row = page.locator(".numbers tr", { hasText: "Pods wanted" }).locator("td");
  assert.deepEqual(await row.allInnerTexts(), ["3", "3"]);
  await page.getByLabel("Measure").first().selectOption({ label: "API writes" });
  await page.waitForFunction(() =>
    document.querySelector(".plot").shadowRoot.textContent.includes("level"));
  await assertSound(page);
});

check("the source of both flavours is shown, with the branch that was taken", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  await stepUntil(page, "level", "converged");
  await tab(page, "Code").click();
  const level = page.locator(".source").nth(1);
  await level.getByText("pub fn sync(key: &ObjectKey").waitFor();
  await page.locator(".source").first().getByText("pub fn on_change").first().waitFor();
  assert.ok((await level.locator(".line.here").count()) >= 1);
  await assertSound(page);
});

check("a pass of any loop is shown with its own source", { path: at("autoscaler-against-gitops", 60) }, async (page) => {
  for (const [loop, text] of [["hpa", "fn on_change"], ["gitops", "fn sync"], ["scheduler", "fn sync"]]) {
    await tab(page, "Passes").click();
    await page.getByLabel("Loop", { exact: true }).first().selectOption(loop);
    await page.locator(".passes .segments button", { hasText: "level" }).click();
    await page.locator(".pass-rows button").first().click();
    await page.locator(".pass-detail h3", { hasText: loop }).waitFor();
    await tab(page, "Code").click();
    const level = page.locator(".source").nth(1);
    await level.getByText(text).first().waitFor();
    assert.ok((await level.locator(".line.here").count()) >= 1, `${loop}: no branch is marked`);
  }
  await assertSound(page);
});

check("a verdict says how it is known", { path: at("lost-event", 50) }, async (page) => {
  await comesTo(page, "edge", "stuck");
  const details = lane(page, "edge").locator(".evidence");
  await details.locator("summary").press("Enter");
  assert.match(await details.innerText(), /0 waiting in queues, 0 messages under way/);
});

check("embedded in another page's frame it runs and has no chrome", {}, async (page) => {
  const host = `<iframe src="${running.address}?embed=1" width="900" height="600"></iframe>`;
  const blog = `${running.address}blog.html`;
  await page.route(blog, (route) => route.fulfill({ contentType: "text/html", body: host }));
  await page.goto(blog);
  const frame = page.frameLocator("iframe");
  await frame.locator("html[data-ready=true]").waitFor({ state: "attached" });
  assert.equal(await frame.locator("header.head").count(), 0);
  await frame.getByRole("button", { name: "Play" }).click();
  await frame.locator("[data-lane=level] .verdict[data-verdict=converged]").waitFor({ timeout: 45_000 });
});

check("a message on its way is caught by pointer", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, DELETE);
  const circuit = lane(page, "level").locator(".circuit");
  const box = await circuit.boundingBox();
  // The dots are drawn, not elements: sweep until the pointer says that it could catch one.
  sweep: for (let y = 4; y < box.height; y += 6) {
    for (let x = 4; x < box.width; x += 8) {
      await page.mouse.move(box.x + x, box.y + y);
      if (await circuit.evaluate((element) => element.classList.contains("catch"))) {
        await page.mouse.down();
        await page.mouse.up();
        break sweep;
      }
    }
  }
  await page.getByRole("button", { name: /Drop at the door/ }).waitFor();
});

check("a billion replicas are refused in words, and the page goes on", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, "kubectl scale rs web --replicas=1000000000");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: "Undo" }).first().click();
  await comesTo(page, "level", "converged");
});

check("two megabytes and a hundred thousand brackets are refused in words", { path: at("lost-event", 9) }, async (page) => {
  const editor = page.getByRole("textbox", { name: /YAML/ }).first();
  await editor.click();
  await page.waitForTimeout(1500);
  const text = page.locator(".cm-content, textarea").first();
  for (const bad of ["[".repeat(100_000), `a: ${"x".repeat(2_000_000)}\n`]) {
    await text.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(bad);
    await page.locator(".problems li").first().waitFor();
  }
});
