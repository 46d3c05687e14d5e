// Faults by hand: every target has its menu, by pointer and by keyboard; what is put off stands on
// the timeline; what is held stands and is released; another flavour is told.

import assert from "node:assert/strict";
import { assertSound } from "./checks.mjs";
import { useBrowser } from "./harness.mjs";
import { at, comesTo, data, DELETE, lane, menu, node, pods, ring, run, seconds, tab } from "./steps.mjs";

const { check } = useBrowser();

const AT = { path: at("doubled-event", 9) };
/** A Deployment whose rollout is over, and nothing due. */
const CALM = { path: at("rolling-update", 60) };
const items = (page) => menu(page).locator("button.item code").allInnerTexts();

/** Opens a menu from the keyboard and gives the lines that it offers. */
async function offered(page, button) {
  await button.press("Enter");
  await menu(page).waitFor();
  const lines = await items(page);
  await assertSound(page);
  await page.keyboard.press("Escape");
  await menu(page).waitFor({ state: "detached" });
  return lines.join("\n");
}

function has(lines, ...wanted) {
  for (const line of wanted) assert.match(lines, line);
}

for (const size of [[1440, 900], [390, 844]]) {
  check(`every target has its actions from the keyboard, at ${size[0]} px`, { ...AT, size }, async (page) => {
    has(await offered(page, ring(page, "level", "replicaset")),
      /fault kill replicaset/, /fault restart replicaset/, /fault cut replicaset for=30s/,
      /fault resync replicaset/, /fault leader replicaset replicas=2/, /fault drop to=replicaset/,
      /fault delay to=replicaset/, /fault duplicate to=replicaset/, /fault reorder to=replicaset/,
      /fault hold to=replicaset/, /fault crash replicaset point=/, /fault knob replicaset flavour=/,
      /fault knob replicaset workers=1/);
    has(await offered(page, node(page, "level", "node-1")),
      /kubectl cordon node-1/, /kubectl drain node-1/, /power=off/, /network=cut/, /describe/);
    has(await offered(page, pods(page, "level").first()),
      /kubectl delete pod/, /--grace-period=0 --force/, /crash/, /oomKill/, /unready/, /describe/,
      /-o yaml/, /kubectl events --for pod/, /kubectl logs/);
    has(await offered(page, lane(page, "level").locator(".board-open")),
      /apiserver slow/, /apiserver down/, /apiserver throttle/, /fault compact/);
  });
}

check("a line is put off from a menu, stands in the log until then, and Undo takes it back", AT, async (page) => {
  await node(page, "level", "node-1").click();
  await menu(page).getByRole("button", { name: "in 5 s" }).click();
  await menu(page).getByRole("button", { name: /Cordon.*in 5s kubectl cordon node-1/s }).click();
  const ahead = page.locator(".log li.put-off");
  await ahead.waitFor();
  assert.match(await ahead.innerText(), /kubectl cordon node-1/);
  await page.keyboard.press("Control+z");
  await ahead.waitFor({ state: "detached" });
  await run(page, "in 5s kubectl cordon node-1");
  const moment = await seconds(page);
  await page.waitForFunction(() => /^#\dz\//.test(location.hash));
  const before = page.url();
  await ahead.locator("button").click();
  await ahead.waitFor({ state: "detached" });
  assert.ok(Math.abs((await seconds(page)) - moment - 5) < 0.001);
  await page.waitForFunction((before) => location.href !== before, before);
  // The link carries it: the same page from its address alone.
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector("html[data-ready=true]", { state: "attached" });
  await node(page, "level", "node-1").press("Enter");
  has((await items(page)).join("\n"), /kubectl uncordon node-1/);
});

check("a line that was put off and fails is told when its time has come, in a notice and in the console", CALM, async (page) => {
  await run(page, "in 2s kubectl scale deployment nobody --replicas=2");
  await run(page, "in 3s kubectl get deploy web -o name");
  const [wrong, list] = await page.locator(".console .entry").all();
  assert.match(await wrong.innerText(), /at 1m2s kubectl scale deployment nobody/);
  assert.equal(await page.locator(".toast").count(), 0);
  const moment = await seconds(page);
  await page.getByRole("button", { name: "Play" }).click();
  const notice = page.locator(".toast.trouble");
  await notice.waitFor();
  assert.match(await notice.innerText(), /put off until now, and failed[\s\S]*"nobody" not found/);
  await page.waitForFunction((end) => Number(document.documentElement.dataset.time) >= end, moment + 4);
  await page.getByRole("button", { name: "Pause" }).click();
  assert.match(await wrong.innerText(), /"nobody" not found/);
  assert.match(await list.innerText(), /deployment\.apps\/web\s*$/);
  const line = page.locator(".log li.failed");
  assert.match(await line.innerText(), /"nobody" not found/);
  await assertSound(page);
  // It stays until it is dismissed, and is not told again on the way back.
  await notice.getByRole("button").click();
  await wrong.locator(".go").click();
  await line.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Play" }).click();
  await line.waitFor();
  assert.equal(await page.locator(".toast.trouble").count(), 0);
});

check("a put-off line that waits goes on printing from its moment on", CALM, async (page) => {
  await run(page, "in 2s kubectl wait deploy/web --for=jsonpath='{.status.replicas}'=1 --timeout=60s");
  await run(page, "in 4s kubectl scale deploy web --replicas=1");
  const [wait] = await page.locator(".console .entry").all();
  assert.equal(await wait.locator(".follows").count(), 0, "it has not begun");
  await page.locator(".transport .segments").getByRole("button", { name: "real" }).click();
  await page.getByRole("button", { name: "Play" }).click();
  await wait.locator(".follows").waitFor();
  await wait.getByText("deployment.apps/web condition met").waitFor();
  await wait.locator(".follows").waitFor({ state: "detached" });
});

check("Tab completes the lines that reach outside of the cluster, and a line that reads gets the editor's text", CALM, async (page) => {
  await tab(page, "Console").click();
  const line = page.getByRole("textbox", { name: "Command line" });
  for (const [typed, whole] of [["gi", "git "], ["git r", "git revert "], ["loa", "load "], ["load dep", "load deploy/web "], ["cro", "crowd "], ["in 5s loa", "in 5s load "]]) {
    await line.fill(typed);
    await line.press("Tab");
    assert.equal(await line.inputValue(), whole);
  }
  await line.fill("kubectl apply -f -");
  await line.press("Enter");
  await page.locator(".console .entry", { hasText: /deployment\.apps\/web (unchanged|configured)/ }).waitFor();
});

check("a wrong moment and a wrong knob are refused with what would be right", AT, async (page) => {
  await run(page, "in soon fault kill replicaset");
  await page.getByText(/no time such as 90s/).first().waitFor();
  await run(page, "knob scheduler flavour=edge");
  await page.getByText(/only deployment, replicaset, hpa, gitops, order can/).first().waitFor();
  await run(page, "knob replicaset speed=3");
  await page.getByText(/there are flavour, workers, resync/).first().waitFor();
});

check("another flavour is switched in the menu, told in the head, and undone", AT, async (page) => {
  await ring(page, "edge", "replicaset").click();
  await menu(page).getByRole("button", { name: /^Only/ }).click();
  await menu(page).getByLabel("Flavour").selectOption("level-polling");
  await menu(page).getByRole("button", { name: /Switch.*flavour=level-polling/s }).click();
  const head = lane(page, "edge").locator(".others");
  await head.waitFor();
  assert.match(await head.innerText(), /replicaset: level-polling/);
  assert.equal(await lane(page, "level").locator(".others").count(), 0, "in one lane only");
  assert.match(await ring(page, "edge", "replicaset").getAttribute("aria-label"), /level-polling/);
  await page.keyboard.press("Control+z");
  await head.waitFor({ state: "detached" });
});

check("a message is held from the list of those in flight and released there", AT, async (page) => {
  await run(page, DELETE);
  const listed = lane(page, "level").locator(".in-flight button", { hasText: "replicaset" }).first();
  await listed.press("Enter");
  await menu(page).getByRole("button", { name: /Hold on the wire/ }).press("Enter");
  const held = lane(page, "level").locator(".in-flight button", { hasText: "held on the wire" });
  await held.waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Play" }).click();
  await comesTo(page, "level", "waiting");
  assert.match(await lane(page, "level").locator(".verdict").innerText(), /a message is held/);
  await held.first().press("Enter");
  await menu(page).getByRole("button", { name: /Release/ }).press("Enter");
  await comesTo(page, "level", "converged");
});

const TARGETS = {
  loop: (page) => ring(page, "level", "replicaset"),
  node: (page) => node(page, "level", "node-1"),
  pod: (page) => pods(page, "level").first(),
  "API server": (page) => lane(page, "level").locator(".board-open"),
};
for (const [target, find] of Object.entries(TARGETS)) {
  check(`what the menu of a ${target} offers is carried out, by pointer and from the keyboard`, { ...CALM, limit: 120_000 }, async (page) => {
    await find(page).press("Enter");
    await menu(page).waitFor();
    const lines = (await items(page)).filter((line) => /^(fault|kubectl) /.test(line));
    await page.keyboard.press("Escape");
    assert.ok(lines.length > 3, lines.join("\n"));
    for (const [place, line] of lines.entries()) {
      const byPointer = place % 2 === 0;
      await (byPointer ? find(page).click() : find(page).press("Enter"));
      const item = menu(page).locator("button.item", { has: page.getByText(line, { exact: true }) });
      await (byPointer ? item.click() : item.press("Enter"));
      await menu(page).waitFor({ state: "detached" });
      await tab(page, "Console").click();
      const entry = page.locator(".console .entry").last();
      await entry.locator("button.go", { hasText: line }).waitFor();
      assert.deepEqual(await entry.locator("pre.error").allInnerTexts(), [], line);
      // What only asks is nothing to take back.
      if (await page.getByRole("button", { name: /^Undo/ }).isEnabled()) await page.keyboard.press("Control+z");
    }
  });
}

check("all that the menu of a message offers is carried out and taken back", { ...AT, limit: 120_000 }, async (page) => {
  await run(page, DELETE);
  const listed = lane(page, "level").locator(".in-flight button", { hasText: "replicaset" }).first();
  const told = await listed.innerText();
  await listed.press("Enter");
  const names = await menu(page).locator("button.item").allInnerTexts();
  has(names.join("\n"), /drop/i, /late/i, /twice/i, /hold/i);
  await assertSound(page);
  await page.keyboard.press("Escape");
  const struck = page.locator(".log li.fault");
  for (const place of names.keys()) {
    const before = await struck.count();
    await listed.press("Enter");
    await menu(page).locator("button.item").nth(place).click();
    await menu(page).waitFor({ state: "detached" });
    await page.waitForFunction((n) => document.querySelectorAll(".log li.fault").length > n, before);
    await page.keyboard.press("Control+z");
    await page.waitForFunction((n) => document.querySelectorAll(".log li.fault").length === n, before);
    assert.equal(await listed.innerText(), told, names[place]);
  }
});

check("the bar is dragged to a moment, and back", CALM, async (page) => {
  const box = await page.locator(".scrubber").boundingBox();
  const end = await seconds(page);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.9, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.3, y, { steps: 8 });
  const early = await seconds(page);
  assert.ok(early < end / 2, `${early} of ${end}`);
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 8 });
  await page.mouse.up();
  assert.ok((await seconds(page)) > early);
});
