// Cuts the program in two: what the opening stage runs (`first.txt`, recorded by `make record`) and
// the rest, which is fetched as soon as the first part starts. Whatever calls into the rest before it is
// there waits for it (`rest.js`), so a list that is out of date costs time, never correctness.
// The cutting is done by Binaryen's wasm-split; where that is not installed, the page stays in one.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mark, mendTables, ownFunctions, withoutNames } from "./names.mjs";

/** What Rust uses of WebAssembly. */
export const FEATURES = [
  "--enable-bulk-memory",
  "--enable-multivalue",
  "--enable-mutable-globals",
  "--enable-nontrapping-float-to-int",
  "--enable-reference-types",
  "--enable-sign-ext",
];
const LIST = new URL("first.txt", import.meta.url);

/** The one file in `dist` whose name ends so. */
export function find(dist, ending) {
  const found = readdirSync(dist).filter((name) => name.endsWith(ending));
  if (found.length !== 1) throw new Error(`${dist} holds ${found.length} files *${ending}, not one`);
  return found[0];
}

/** Cuts the program of the page in `dist`; `minify` is what all scripts go through. */
export async function split(dist, minify) {
  const program = find(dist, "_bg.wasm");
  const bytes = readFileSync(join(dist, program));
  if (spawnSync("wasm-split", ["--version"]).error) {
    console.warn("wasm-split is not installed: the page stays in one piece, and its first load large");
    writeFileSync(join(dist, program), withoutNames(bytes));
    return;
  }
  const rest = program.replace("_bg.wasm", "_rest.wasm");
  cut(join(dist, program), join(dist, rest), kept(bytes));
  const glue = join(dist, program.replace("_bg.wasm", ".js"));
  const loader = readFileSync(new URL("rest.js", import.meta.url), "utf8");
  writeFileSync(glue, joined(readFileSync(glue, "utf8"), await minify(loader), rest));
}

/**
 * The names of the functions that stay: those on the list, and the few without a name, which wasm-opt
 * made and which are known by their number.
 */
function kept(bytes) {
  const list = new Set(readFileSync(LIST, "utf8").split("\n"));
  const own = ownFunctions(bytes).map((name, place) => ({ name: name ?? `${place}`, known: !!name }));
  return own.filter(({ name, known }) => !known || list.has(mark(name))).map(({ name }) => written(name));
}

/** A name as Binaryen writes it: other characters than these as numbers. */
function written(name) {
  const code = (character) => character.charCodeAt(0).toString(16).padStart(2, "0");
  return name.replace(/[^\w!#$%&'*+\-./:<=>?@^`|~]/g, (character) => `\\${code(character)}`);
}

function cut(program, rest, names) {
  const folder = mkdtempSync(join(tmpdir(), "loopscope-"));
  const list = join(folder, "kept");
  writeFileSync(list, names.join("\n"));
  const options = [...FEATURES, "--import-namespace=first", "--placeholder-namespace=rest"];
  options.push("--export-prefix=_", `--keep-funcs=@${list}`, "-o1", program, "-o2", rest);
  execFileSync("wasm-split", [program, ...options], { stdio: ["ignore", "ignore", "inherit"] });
  rmSync(folder, { recursive: true });
  writeFileSync(program, mendTables(readFileSync(program)));
}

/** The script of wasm-bindgen with the loader of the rest in the two places that it is for. */
function joined(glue, loader, rest) {
  const places = [
    [/return\{__proto__:null,/, (found) => `${found}rest:rest.imports,`],
    [/(\w+)\.__wbindgen_start\(\)/, (found, wasm) => `rest.follow(${wasm}),${found}`],
  ];
  let text = glue;
  for (const [pattern, put] of places) {
    const count = [...text.matchAll(new RegExp(pattern, "g"))].length;
    if (count !== 1) throw new Error(`wasm-bindgen's script has ${count} places for ${pattern}, not one`);
    text = text.replace(pattern, put);
  }
  return loader.replaceAll("REST", JSON.stringify(rest)) + text;
}
