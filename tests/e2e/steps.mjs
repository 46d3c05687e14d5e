// What the browser tests ask of the page, and do on it, in the words of a person.

import assert from "node:assert/strict";

export const lane = (page, id) => page.locator(`[data-lane=${id}]`).first();
export const pods = (page, id) => lane(page, id).locator("button.pod");
export const verdict = (page, id) => lane(page, id).locator(".verdict");
export const data = (page, name) => page.evaluate((name) => document.documentElement.dataset[name], name);

/** Waits until a lane's verdict is this word. */
export const comesTo = (page, id, word) =>
  page.waitForFunction(
    ([id, word]) => document.querySelector(`[data-lane=${id}] .verdict`)?.dataset.verdict === word,
    [id, word],
    { timeout: 45_000 },
  );

/** Goes on pass by pass until a lane's verdict is this word. */
export async function stepUntil(page, id, word, most = 120) {
  for (let i = 0; i < most; i++) {
    if ((await verdict(page, id).getAttribute("data-verdict")) === word) return;
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(30);
  }
  assert.fail(`the ${id} lane is not ${word} after ${most} passes`);
}

export const ring = (page, id, name) => lane(page, id).locator(`[data-loop=${name}] .ring-button`);
export const dead = (page, id, name) => lane(page, id).locator(`.loop.down[data-loop=${name}]`);
export const node = (page, id, name) => lane(page, id).locator("button.node-open", { hasText: name });

export const tab = (page, name) => page.getByRole("tab", { name, exact: true });
export const menu = (page) => page.locator("dialog.menu[open]");

/** The console line by which a person deletes one of the pods. */
export const DELETE = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";

/** The moment that is shown, in simulated seconds. */
export const seconds = async (page) => Number(await data(page, "time"));

/** Waits until the moment that is shown lies in a range, in seconds, without its end. */
export const comesInto = (page, from, to) =>
  page.waitForFunction(
    ([from, to]) => {
      const time = Number(document.documentElement.dataset.time);
      return time >= from && time < to;
    },
    [from, to],
  );

/** Waits until a moment is shown, in seconds. */
export const comesBackTo = (page, moment) => comesInto(page, moment - 1e-6, moment + 1e-6);

/** A moment of a scenario, without what has happened there. */
export const at = (scenario, seconds, seed = 7) => `#1/${scenario}/${seed}/${seconds * 1e9}`;

/** Types a line into the console and runs it. */
export async function run(page, text) {
  await tab(page, "Console").click();
  const line = page.getByRole("textbox", { name: "Command line" });
  await line.fill(text);
  await line.press("Enter");
  await line.blur();
}
