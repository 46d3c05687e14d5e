// The last step of Trunk's part of a build, called with the folder that becomes dist/: joins the style
// sheets, bundles the scripts that are loaded on demand, and writes the Content-Security-Policy.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";
import * as esbuild from "esbuild";

const dist = process.env.TRUNK_STAGING_DIR;
if (!dist) throw new Error("TRUNK_STAGING_DIR is not set: run `make build`");

await joinStyles();
// Loaded when it is first needed, so it is no part of the first load.
await bundle("src/ui/editor/editor.js", "editor.js", "esm");
await bundle("src/ui/plots/metrics.js", "metrics.js", "esm");
writeCode();
// Goes into other people's pages with a plain <script>, so it must leave no global name.
await bundle("src/ui/embed/loop-scope.js", "loop-scope.js", "iife");
writePolicy(join(dist, "index.html"));

/** All style sheets in one, in the order in which the page names them: fewer requests, and fewer bytes. */
async function joinStyles() {
  const file = join(dist, "index.html");
  const html = readFileSync(file, "utf8");
  const [first, ...more] = html.matchAll(/<link rel="stylesheet" href="\.\/([^"]+)"[^>]*>\s*/g);
  const names = [first, ...more].map(([, name]) => join(dist, name));
  const all = names.map((name) => readFileSync(name, "utf8")).join("");
  const options = { loader: "css", minify: true, target: "es2022", legalComments: "none" };
  const { code } = await esbuild.transform(all, options);
  const name = `style-${createHash("sha256").update(code).digest("hex").slice(0, 16)}.css`;
  names.forEach((sheet) => rmSync(sheet));
  writeFileSync(join(dist, name), code);
  const link = `<link rel="stylesheet" href="./${name}">\n`;
  writeFileSync(file, more.reduce((text, [old]) => text.replace(old, ""), html.replace(first[0], link)));
}

async function bundle(source, name, format) {
  if (!existsSync(source)) return;
  await esbuild.build({
    entryPoints: [source],
    outfile: join(dist, name),
    bundle: true,
    minify: true,
    format,
    loader: { ".css": "text" },
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
}

/** The source of the loops, for the Code tab (`src/ui/panel/code.rs` names the files): without their tests. */
function writeCode() {
  const named = readFileSync("src/ui/panel/code.rs", "utf8").matchAll(/"((?:\.\.\/)?[a-z_]+(?:\/[a-z_]+)+\.rs)"/g);
  const texts = {};
  for (const [, name] of named) {
    const path = normalize(`src/controllers/${name}`);
    texts[path] = readFileSync(path, "utf8").split("\n#[cfg(test)]\nmod tests {")[0];
  }
  writeFileSync(join(dist, "code.js"), `globalThis.loopscopeCode=${JSON.stringify(texts)};\n`);
}

/** Nothing runs or loads but what this page brings along. Inline scripts count by their hash. */
function writePolicy(file) {
  const html = readFileSync(file, "utf8");
  const charset = /<meta charset=["']?utf-8["']?\s*\/?>/i;
  if (!charset.test(html)) throw new Error("index.html has no <meta charset>");
  const scripts = hashes(html, /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/gi);
  const styles = hashes(html, /<style[^>]*>([\s\S]*?)<\/style>/gi);
  const policy = [
    "default-src 'none'",
    ["script-src 'self' 'wasm-unsafe-eval'", ...scripts].join(" "),
    ["style-src 'self'", ...styles].join(" "),
    // Positions and sizes are style attributes; no style sheet can be slipped in this way.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    // The embed dialog shows the page inside itself.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // Before anything that it is about, and after the charset, which must come early.
  writeFileSync(file, html.replace(charset, (found) => found + meta));
}

function hashes(html, pattern) {
  const texts = [...html.matchAll(pattern)].map((match) => match[1]);
  return texts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
}
