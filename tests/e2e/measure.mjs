// Measures the page with the browser's own clock: how long from the address to a working stage, and
// how long the script of a frame takes while both lanes play, and how long it takes to go to any
// moment of a long session. Prints figures; asserts nothing, since
// machines are noisy. `make measure`.

import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { launch, openPage } from "./harness.mjs";

const PODS = [30, 1000];
const SECONDS = 8;
const SEEKS = 200;

const running = await launch();
try {
  const loads = [];
  for (let i = 0; i < 5; i++) loads.push(await load());
  console.log(`address to working stage, ms, five times: ${loads.map(Math.round).join(", ")}`);
  for (const pods of PODS) {
    const times = await frames(pods);
    const what = `script of a frame, both lanes, ${pods} pods each, ${times.length} frames`;
    console.log(`${what}: ${spread(times)}`);
  }
  const { script, drawn } = await seekTimes();
  const what = `to any moment of the long session, ${SEEKS} times`;
  console.log(`${what}, until the panes say so: ${spread(script)}`);
  console.log(`${what}, until that is drawn: ${spread(drawn)}`);
} finally {
  await running.close();
}

async function load() {
  const context = await running.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.documentElement.dataset.ready === "true") globalThis.readyAt ??= performance.now();
    }).observe(document, { attributes: true, subtree: true, childList: true });
  });
  await page.goto(running.address);
  await page.waitForFunction(() => globalThis.readyAt);
  const took = await page.evaluate(() => globalThis.readyAt);
  await context.close();
  return took;
}

async function frames(pods) {
  const { page, close } = await openPage(running, { path: "#1/doubled-event/7/9000000000" });
  await page.evaluate(() => {
    globalThis.frameTimes = [];
    const raf = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (callback) =>
      raf((time) => {
        const before = performance.now();
        callback(time);
        globalThis.frameTimes.push(performance.now() - before);
      });
  });
  await page.getByRole("tab", { name: "Console" }).click();
  const line = page.getByRole("textbox", { name: "Command line" });
  await line.fill(`kubectl scale rs web --replicas=${pods}`);
  await line.press("Enter");
  await line.blur();
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(SECONDS * 1000);
  const times = await page.evaluate(() => globalThis.frameTimes);
  await close();
  return times;
}

/** The link of the long session that `benches/seek.rs` has too: something is done every half minute. */
function longSession() {
  const file = new URL("../../benches/long-session.json", import.meta.url);
  const { minutes, lines, text } = JSON.parse(readFileSync(file, "utf8"));
  const inputs = Array.from({ length: minutes * 2 - 1 }, (_, i) => [
    (i + 1) * 30e9, "both", lines[i % lines.length],
  ]);
  const saved = { v: 1, text, seed: 1, t: minutes * 60e9, i: inputs };
  return `#1z/${deflateRawSync(JSON.stringify(saved)).toString("base64url")}`;
}

/**
 * Presses the scrubber here and there, within a frame: until what was pressed and all panes have run, and until the
 * frame has laid out and drawn what they changed. Each time what the last jump has left to later frames is done.
 */
async function seekTimes() {
  const { page, close } = await openPage(running, { path: longSession() });
  const times = await page.evaluate(async (count) => {
    // The panes follow in microtasks, one round after the other.
    const ROUNDS = 200;
    const bar = document.querySelector(".scrubber");
    const frame = bar.getBoundingClientRect();
    const end = document.querySelector(".thumb").getBoundingClientRect().left;
    let state = 1;
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
    const channel = new MessageChannel();
    const task = () =>
      new Promise((resolve) => {
        channel.port1.onmessage = resolve;
        channel.port2.postMessage(0);
      });
    const times = { script: [], drawn: [] };
    for (let i = 0; i < count; i++) {
      for (let waited = 0; waited < 5; waited++) await new Promise(requestAnimationFrame);
      const clientX = frame.left + random() * (end - frame.left);
      const press = { clientX, clientY: frame.top + 5, bubbles: true, pointerId: 1 };
      const before = performance.now();
      bar.dispatchEvent(new PointerEvent("pointerdown", press));
      bar.dispatchEvent(new PointerEvent("pointerup", press));
      for (let round = 0; round < ROUNDS; round++) await null;
      times.script.push(performance.now() - before);
      await task();
      times.drawn.push(performance.now() - before);
    }
    return times;
  }, SEEKS);
  await close();
  return times;
}

function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
  return `median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, longest ${at(1)} ms`;
}
