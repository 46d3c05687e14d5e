// A seeded random walk over the page: presses whatever can be pressed, types, scrolls through time.
// Nothing may end up on the console, and what it leaves behind may not grow without end.
// MONKEY_SEED=7 repeats a walk, MONKEY_STEPS=10000 makes it some ten minutes long.

import assert from "node:assert/strict";
import { useBrowser } from "./harness.mjs";

const { check } = useBrowser();
const SEED = Number(process.env.MONKEY_SEED ?? 1);
const STEPS = Number(process.env.MONKEY_STEPS ?? 250);
/** Steps after which the page is taken back to its start and weighed. */
const WEIGHED_EVERY = Math.max(25, Math.floor(STEPS / 8));

const KEYS = [
  "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Space", "Home", "End", "[", "]", "n", "N",
  "Escape", "Escape", "Tab", "Shift+Tab", "Enter", "Delete", "Control+z", "Control+Shift+z", "?", "i",
  "a", "b", "PageDown", "ArrowUp", "ArrowDown",
];
const LINES = [
  "kubectl get all -o wide",
  "kubectl scale deployment web --replicas=6",
  "kubectl delete pod --all",
  "kubectl describe deployment web",
  "kubectl set image deployment/web web=registry.example/web:nothing",
  "fault drop to=replicaset kind=Pod type=DELETED",
  "fault kill deployment for=20s",
  "fault node node-1 power=off",
  "fault apiserver slow for=20s",
  "kubectl gibt es nicht --frage=7",
  "fault mischief",
  "kubectl apply -f -",
];
const PRESSABLE =
  "button:not(:disabled), [role=tab], [role=option], [role=button], summary, select, input[type=range], input[type=checkbox]";

/** Park and Miller's: enough to choose by, and the same everywhere. */
function dice(seed) {
  let state = seed % 2147483647 || 1;
  return (sides) => {
    state = (state * 48271) % 2147483647;
    return state % sides;
  };
}

/** Presses one of the things that can be pressed now. */
async function press(page, roll) {
  const pressed = await page.evaluate(
    ([selector, number]) => {
      const top = document.querySelector("dialog[open]") ?? document;
      const seen = (element) => element.checkVisibility() && !element.closest("[inert]");
      const found = [...top.querySelectorAll(selector)].filter(seen);
      if (found.length === 0) return "nothing";
      const element = found[number % found.length];
      if (element instanceof HTMLSelectElement) {
        element.selectedIndex = number % element.options.length;
        element.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (element instanceof HTMLInputElement && element.type === "range") {
        element.value = String(number % 100);
        element.dispatchEvent(new Event("input", { bubbles: true }));
        element.dispatchEvent(new Event("change", { bubbles: true }));
      } else {
        element.click();
      }
      return (element.getAttribute("aria-label") ?? element.textContent ?? element.tagName).trim().slice(0, 60);
    },
    [PRESSABLE, roll(100_000)],
  );
  return `press ${pressed}`;
}

async function type(page, roll) {
  const line = LINES[roll(LINES.length)];
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
  return `type ${line}`;
}

async function key(page, roll) {
  const name = KEYS[roll(KEYS.length)];
  await page.keyboard.press(name);
  return `key ${name}`;
}

/** One step of the walk, in words. */
function step(page, roll) {
  const choice = roll(10);
  if (choice < 6) return press(page, roll);
  return choice < 9 ? key(page, roll) : type(page, roll);
}

/**
 * What the page holds on to, once it is back at its start: in its first tab, since the source of a long loop alone is
 * more than all the rest.
 */
async function weigh(page, session) {
  for (let dialogs = 0; dialogs < 4; dialogs++) await page.keyboard.press("Escape");
  await page.evaluate(() => {
    document.querySelector("[role=tab]")?.click();
    document.querySelector('button:has(use[href="#i-restart"])').click();
  });
  await page.waitForTimeout(300);
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { nodes: of("Nodes"), listeners: of("JSEventListeners"), heap: of("JSHeapUsedSize") };
}

const own = { limit: 60_000 + STEPS * 500 };
check("a random walk leaves nothing on the console and no growing heap", own, async (page) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  page.on("dialog", (dialog) => dialog.dismiss().catch(() => {}));
  const roll = dice(SEED);
  const [steps, weights] = [[], []];
  for (let number = 1; number <= STEPS; number++) {
    steps.push(await step(page, roll));
    const { failed, hidden } = await page.evaluate(() => ({
      failed: document.documentElement.dataset.failed,
      hidden: document.getElementById("failure")?.hidden ?? true,
    }));
    assert.ok(!failed && hidden, `MONKEY_SEED=${SEED}, step ${number}: ${steps.slice(-6).join("; ")}`);
    if (number % WEIGHED_EVERY === 0) weights.push(await weigh(page, session));
  }
  // The first weights are of a page that has not yet shown everything once.
  const [before, after] = [weights[Math.floor(weights.length / 2)], weights.at(-1)];
  for (const what of ["nodes", "listeners", "heap"]) {
    const limit = before[what] * 1.5 + 2_000;
    assert.ok(after[what] <= limit, `${what} grew: ${JSON.stringify(weights)}`);
  }
});
