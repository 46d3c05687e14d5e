// The Object tab: where in the chain an object stopped, spec beside status, revisions, both lanes.

import assert from "node:assert/strict";
import { assertSound, overlapProblems } from "./checks.mjs";
import { assertNone, useBrowser } from "./harness.mjs";
import { at, comesInto, comesTo, data, lane, node, pods, run, seconds, tab } from "./steps.mjs";

const { check } = useBrowser();

const object = (page) => page.locator(".object").first();
const title = (page) => object(page).locator("h3");
const STUCK = at("lost-event", 50);
const CALM = at("lost-event", 9);

check("a pod is inspected by pointer, and the family leads up to its Deployment and back", { path: CALM }, async (page) => {
  const pod = pods(page, "level").first();
  const name = await pod.getAttribute("data-pod");
  await pod.click();
  await page.getByRole("button", { name: /^Inspect/ }).click();
  assert.equal(await tab(page, "Object").getAttribute("aria-selected"), "true");
  await title(page).getByText(name).waitFor();
  const family = object(page).locator(".family li");
  assert.match(await family.nth(0).innerText(), /Deployment\s+web/);
  await family.nth(0).getByRole("button").click();
  await title(page).getByText("Deployment").waitFor();
  assert.match(await object(page).locator(".chain-of summary").innerText(), /every step is done/);
  await object(page).locator(".family").getByRole("button", { name }).click();
  await title(page).getByText(name).waitFor();
  await assertSound(page);
});

check("the key I inspects a pod, a node and a row of the board, and the chooser takes any object", { path: CALM }, async (page) => {
  const pod = pods(page, "edge").first();
  const name = await pod.getAttribute("data-pod");
  await pod.focus();
  await page.keyboard.press("i");
  await title(page).getByText(name).waitFor();
  // The focus is where the reading begins.
  await page.waitForFunction(() => document.activeElement?.id === "object-title");
  await node(page, "edge", "node-2").focus();
  await page.keyboard.press("i");
  await title(page).getByText("node-2").waitFor();
  await lane(page, "level").locator(".row-open").first().focus();
  await page.keyboard.press("i");
  await title(page).getByText("Deployment").waitFor();
  assert.equal(await object(page).locator(".chip").first().innerText(), "level");
  // Elsewhere it leads to the chooser, which is a list like any other.
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("i");
  await page.waitForFunction(() => document.activeElement?.id === "object-choice");
  await page.getByLabel("Object to inspect").first().selectOption({ label: "Node node-3" });
  await title(page).getByText("node-3").waitFor();
});

check("the tab opens with what was written last, and another scenario with its own", { path: CALM }, async (page) => {
  await tab(page, "Object").click();
  await title(page).getByText("Deployment").waitFor();
  assert.equal(await object(page).locator(".chip").first().innerText(), "level");
  await assertSound(page);
  await page.getByRole("button", { name: /^Scenario/ }).click();
  await page.locator("dialog[open] button", { hasText: "A StatefulSet that does not get well" }).click();
  await title(page).getByText("StatefulSet").waitFor();
});

check("the tab opens with what is short where a lane is stuck", { path: STUCK }, async (page) => {
  await comesTo(page, "edge", "stuck");
  await tab(page, "Object").click();
  await object(page).locator(".steps > li[data-state=stopped]").waitFor();
  assert.equal(await object(page).locator(".chip").first().innerText(), "edge");
});

check("a stuck lane says where it stopped, and the sentence reads well aloud", { path: STUCK }, async (page) => {
  await comesTo(page, "edge", "stuck");
  await lane(page, "edge").getByRole("button", { name: "Where did it stop?" }).click();
  await title(page).getByText("web").waitFor();
  const stopped = object(page).locator(".steps > li[data-state=stopped]");
  assert.equal(await stopped.count(), 1);
  // Shape and word, not only colour; and in the words that a screen reader is given.
  const heard = await stopped.evaluate((li) => li.textContent.replace(/\s+/g, " ").trim());
  assert.match(heard, /^Pods made 2\/3 stopped here ?ReplicaSet web-\w+ wants 3 pods and has 2\./);
  assert.match(heard, /The replicaset loop was never told: the event DELETED of Pod web-[\w-]+ was lost\./);
  assert.match(heard, /Nothing will ever wake anyone\./);
  // What it rests on leads to its moment.
  const evidence = stopped.locator(".evidence-rows button").filter({ hasText: "DELETED" });
  await evidence.press("Enter");
  await comesInto(page, 0, 11);
  await assertSound(page);
});

check("both lanes are shown beside each other when there is room", { path: STUCK, size: [1440, 900] }, async (page) => {
  await lane(page, "edge").getByRole("button", { name: "Where did it stop?" }).click();
  await page.locator(".inspect").getByRole("button", { name: "Both lanes" }).click();
  await page.locator(".object").nth(1).waitFor();
  await page.getByRole("button", { name: "More room" }).click();
  const boxes = await page.locator(".object").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  assert.ok(boxes[1] > boxes[0] + 100, "beside each other");
  const [edge, level] = await page.locator(".object .chip").allInnerTexts();
  assert.deepEqual([edge, level], ["edge", "level"]);
  assert.match(await page.locator(".object").nth(1).locator(".chain-of summary").innerText(), /every step is done/);
  await assertSound(page);
});

check("a change of a field has its owner and its revision, which lead back to its moment", { path: at("doubled-event", 9) }, async (page) => {
  await run(page, "kubectl scale rs web --replicas=4");
  await lane(page, "level").locator(".row-open").first().focus();
  await page.keyboard.press("i");
  const field = object(page).locator(".field", { hasText: "replicas" }).first();
  assert.match(await field.evaluate((one) => one.textContent), /replicas\s+4.*by kubectl · revision \d+/s);
  const revision = object(page).locator(".revisions > li", { hasText: "spec.replicas" }).first();
  assert.match(await revision.innerText(), /scale rs web --replicas=4/);
  assert.match(await revision.innerText(), /spec\.replicas\s+3\s+→\s+4/);
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight");
  const before = (await seconds(page));
  await revision.locator(".moment").press("Enter");
  await comesInto(page, 0, before);
  // What comes after it is still there to go on to.
  await object(page).locator(".revisions > li.later").first().waitFor();
  // A revision that a loop wrote leads to its pass.
  await object(page).getByRole("button", { name: "Show its pass" }).first().click();
  await page.locator(".pass-detail h3").waitFor();
});

check("in Korean no text is missing, and on a phone in the dark nothing sticks out", { path: STUCK, lang: "ko", size: [390, 844], theme: "dark" }, async (page) => {
  await lane(page, "edge").getByRole("button", { name: "어디서 멈췄나요?" }).click();
  const text = await page.locator("#pane-object").innerText();
  for (const english of ["stopped here", "Nothing", "was lost", "Fields", "by kube", "Show ", "wants"]) {
    assert.ok(!text.includes(english), `“${english}” in ${text}`);
  }
  assert.match(text, /여기서 멈춤/);
  assert.match(text, /사라졌습니다/);
  assert.ok(!/\{\w+\}/.test(text), "an unfilled slot");
  await assertSound(page);
  assertNone(await overlapProblems(page), "overlap");
});
