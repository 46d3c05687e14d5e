// Takes the README's picture of the built page: tests/e2e/screenshot.png.

import { fileURLToPath } from "node:url";
import { launch, openPage } from "./harness.mjs";

const path = fileURLToPath(new URL("./screenshot.png", import.meta.url));
const running = await launch();
try {
  // Still, so that the same commit gives the same picture.
  const { page, problems } = await openPage(running, { size: [1440, 900], still: true });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path });
  if (problems.length > 0) throw new Error(problems.join("; "));
  console.log("took tests/e2e/screenshot.png");
} finally {
  await running.close();
}
