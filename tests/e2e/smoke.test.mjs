// The page opens, whole and clean, at every size, theme and language, and under a strict policy.

import assert from "node:assert/strict";
import { accessibilityProblems, overflowProblems, overlapProblems } from "./checks.mjs";
import { assertNone, picture, SIZES, THEMES, useBrowser } from "./harness.mjs";

const { check } = useBrowser();

for (const size of SIZES) {
  for (const theme of THEMES) {
    const name = `${size.join("x")} ${theme}`;
    check(`opens at ${name}`, { size, theme }, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), "true");
      await picture(page, `opened ${name}`);
      assertNone(await overflowProblems(page), "overflow");
      assertNone(await overlapProblems(page), "overlap");
      assertNone(await accessibilityProblems(page), "accessibility");
    });
  }
}

check("opens for a Korean reader", { lang: "ko" }, async (page) => {
  await picture(page, "opened ko");
  assertNone(await overflowProblems(page), "overflow");
});

const refusal = /Content Security Policy/;
check("runs no script but those it was built with", { expect: refusal }, async (page) => {
  const refused = await page.evaluate(async () => {
    const heard = new Promise((done) => {
      addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective));
      setTimeout(() => done("nothing"), 5000);
    });
    const script = document.createElement("script");
    script.textContent = "globalThis.smuggled = true";
    document.head.append(script);
    return { directive: await heard, ran: globalThis.smuggled ?? false };
  });
  assert.deepEqual(refused, { directive: "script-src-elem", ran: false });
});
