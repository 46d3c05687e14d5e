// Every tab of the panel, every dialog and every kind of menu, in both themes and languages, on a
// desk and on a phone: accessible, nothing sticks out, nothing is cut off.

import assert from "node:assert/strict";
import { accessibilityProblems, overflowProblems } from "./checks.mjs";
import { assertNone, picture, SIZES, useBrowser } from "./harness.mjs";
import { at } from "./steps.mjs";

const { check } = useBrowser();
/** The edge lane is stuck: every panel has something to show. */
const STUCK = at("lost-event", 50);
const LOOKS = [
  { size: SIZES[0], theme: "light", lang: "en" },
  { size: SIZES[0], theme: "dark", lang: "ko" },
  { size: SIZES[3], theme: "dark", lang: "en" },
  { size: SIZES[3], theme: "light", lang: "ko" },
];

async function look(page, name, problems) {
  // What is loaded on demand, and what fades in.
  await page.waitForTimeout(600);
  await picture(page, name);
  for (const problem of await accessibilityProblems(page)) problems.push(`${name}: ${problem}`);
  for (const problem of await overflowProblems(page)) problems.push(`${name}: ${problem}`);
}

for (const { size, theme, lang } of LOOKS) {
  const how = `${size[0]} ${theme} ${lang}`;
  const options = { size, theme, lang, path: STUCK, limit: 180_000 };

  check(`the tabs of the panel, ${how}`, options, async (page) => {
    const problems = [];
    const tabs = page.locator(".panel [role=tab]");
    const count = await tabs.count();
    assert.ok(count >= 6, `${count} tabs`);
    for (let number = 0; number < count; number++) {
      await tabs.nth(number).click();
      await look(page, `panel ${await tabs.nth(number).getAttribute("id")} ${how}`, problems);
    }
    assertNone(problems, "in the panel");
  });

  check(`the dialogs and menus, ${how}`, options, async (page) => {
    const problems = [];
    // In the head and the bar of time; those of the stage are menus.
    const openers = page.locator("header, .transport").locator("[aria-haspopup=dialog]:visible");
    const dialogs = await openers.count();
    assert.ok(dialogs >= 3, `${dialogs} dialogs`);
    for (let number = 0; number < dialogs; number++) {
      await openers.nth(number).click();
      await page.locator("dialog[open]").waitFor();
      await look(page, `dialog ${number} ${how}`, problems);
      await page.keyboard.press("Escape");
    }
    for (const target of ["button.pod", ".ring-button", "button.node-open", ".row-open", ".board-open"]) {
      const place = page.locator(target).locator("visible=true").first();
      await place.click();
      const menu = page.locator("dialog[open]");
      await menu.waitFor();
      await look(page, `menu ${target.replace(/\W+/g, "-")} ${how}`, problems);
      const box = await menu.boundingBox();
      const inside = box.x >= 0 && box.y >= 0 && box.x + box.width <= size[0] + 1 && box.y + box.height <= size[1] + 1;
      if (!inside) problems.push(`the menu of ${target} reaches out of the window: ${JSON.stringify(box)}`);
      await page.keyboard.press("Escape");
    }
    assertNone(problems, "in dialogs and menus");
  });
}
