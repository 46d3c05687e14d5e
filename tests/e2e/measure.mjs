// Measures the page with the browser's own clock: how long from the address to a working stage, and
// how long the script of a frame takes while both lanes play. Prints figures; asserts nothing, since
// machines are noisy. `make measure`.

import { launch, openPage } from "./harness.mjs";

const PODS = [30, 1000];
const SECONDS = 8;

const running = await launch();
try {
  const loads = [];
  for (let i = 0; i < 5; i++) loads.push(await load());
  console.log(`address to working stage, ms, five times: ${loads.map(Math.round).join(", ")}`);
  for (const pods of PODS) {
    const times = await frames(pods);
    const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
    console.log(
      `script of a frame, both lanes, ${pods} pods each, ${times.length} frames: ` +
        `median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, longest ${at(1)} ms`,
    );
  }
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
  return times.sort((a, b) => a - b);
}
