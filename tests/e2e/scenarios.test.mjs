// Every scenario, some way in: nothing sticks out, nothing covers anything else. The opening page
// shows few loops and few objects; here are those with many. And the projector, where all is large.

import { readFileSync } from "node:fs";
import { overflowProblems, overlapProblems } from "./checks.mjs";
import { assertNone, picture, SIZES, useBrowser } from "./harness.mjs";
import { at } from "./steps.mjs";

const { check } = useBrowser();
const HASHES = new URL("../determinism.json", import.meta.url);
const scenarios = Object.keys(JSON.parse(readFileSync(HASHES, "utf8")).hashes);
const HALF_A_MINUTE = 30;

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

for (const size of SIZES.slice(0, 2)) {
  const path = `?present=1${at("lost-event", HALF_A_MINUTE)}`;
  check(`a projector of ${size.join("×")} shows everything in its place`, { path, size }, async (page) => {
    assertNone(await findProblems(page, `projector ${size[0]}`), "on the projector");
  });
}
