// Every scenario, some way in: nothing sticks out, nothing covers anything else. The opening page
// shows few loops and few objects; here are those with many. And the projector, where all is large.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { overflowProblems, overlapProblems } from "./checks.mjs";
import { assertNone, picture, SIZES, useBrowser } from "./harness.mjs";
import { at } from "./steps.mjs";

const { check } = useBrowser();
const HASHES = new URL("../determinism.json", import.meta.url);
const scenarios = Object.keys(JSON.parse(readFileSync(HASHES, "utf8")).hashes);
const HALF_A_MINUTE = 30;
/** The sizes of a projector. */
const PROJECTORS = [[1280, 720], [1440, 900], [1920, 1080]];

async function findProblems(page, name) {
  await picture(page, name);
  const found = [...(await overflowProblems(page)), ...(await overlapProblems(page))];
  return found.map((problem) => `${name}: ${problem}`);
}

for (const scenario of scenarios) {
  check(`${scenario} is readable on a desk and on a phone`, { path: at(scenario, HALF_A_MINUTE) }, async (page) => {
    const problems = [];
    for (const [width, height] of [SIZES[0], SIZES[3]]) {
      await page.setViewportSize({ width, height });
      problems.push(...(await findProblems(page, `scenario ${scenario} ${width}`)));
    }
    assertNone(problems, `in ${scenario}`);
  });
}

const PROJECTED = { path: `?present=1${at("lost-event", HALF_A_MINUTE)}` };
for (const size of [...PROJECTORS, SIZES[1]]) {
  check(`a projector of ${size.join("×")} shows everything in its place`, { ...PROJECTED, size }, async (page) => {
    assertNone(await findProblems(page, `projector ${size[0]}`), "on the projector");
  });
}

for (const size of PROJECTORS) {
  check(`a projector of ${size.join("×")} shows all loops of both lanes at once, in large type`, { ...PROJECTED, size }, async (page) => {
    const found = await page.evaluate(() => {
      const bar = document.querySelector(".transport").getBoundingClientRect().top;
      const within = (one) => {
        const { top, bottom, left, right } = one.getBoundingClientRect();
        return top >= 0 && bottom <= bar && left >= 0 && right <= innerWidth;
      };
      const shown = (selector) => [...document.querySelectorAll(selector)].map(within);
      const small = [...document.querySelectorAll(".lane :is(b, span, small, h2, h3, p)")]
        .filter((one) => one.checkVisibility() && one.textContent.trim())
        .map((one) => ({ text: one.textContent, size: parseFloat(getComputedStyle(one).fontSize) }))
        // What has no room at all has no size.
        .filter(({ size }) => size > 0 && size < 1.5 * 12);
      return {
        rings: shown(".lane .ring-place"),
        names: shown(".lane .loop-name"),
        verdicts: shown(".lane .verdict"),
        small,
      };
    });
    assert.deepEqual(found.small, []);
    for (const part of ["rings", "names", "verdicts"]) {
      assert.ok(found[part].length >= (part === "verdicts" ? 2 : 12), `${part}: ${found[part].length}`);
      assert.ok(found[part].every(Boolean), `${part}: ${found[part]}`);
    }
  });
}
