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

/** A moment of a scenario, without what has happened there. */
export const at = (scenario, seconds, seed = 7) => `#1/${scenario}/${seed}/${seconds * 1e9}`;

/** Types a line into the console and runs it. */
export async function run(page, text) {
  await page.getByRole("tab", { name: "Console" }).click();
  const line = page.getByRole("textbox", { name: "Command line" });
  await line.fill(text);
  await line.press("Enter");
  await line.blur();
}
