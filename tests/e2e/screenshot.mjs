// Takes the README's picture of the built page: tests/e2e/screenshot.png.

import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness.mjs";

const picture = fileURLToPath(new URL("./screenshot.png", import.meta.url));
const running = await launch();
try {
  // Paused, at a moment of a seed, so that the same commit gives the same picture: the level lane heals,
  // the edge lane is stuck.
  const path = "#1/lost-event/7/31200000000";
  const { page, problems } = await openPage(running, { size: [1440, 900], path });
  await page.waitForTimeout(1000);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: picture });
  if (problems.length > 0) throw new Error(problems.join("; "));
  console.log("took tests/e2e/screenshot.png");
} finally {
  await running.close();
}
