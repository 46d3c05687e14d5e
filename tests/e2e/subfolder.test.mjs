// Static files in any folder of any server: every address in the page is relative.

import assert from "node:assert/strict";
import { useBrowser } from "./harness.mjs";

const { check } = useBrowser({ prefix: "/some/folder/" });

check("opens from a sub-folder", {}, async (page) => {
  assert.equal(new URL(page.url()).pathname, "/some/folder/");
});

check("opens by the name of its file", { path: "index.html" }, async (page) => {
  assert.equal(new URL(page.url()).pathname, "/some/folder/index.html");
});
