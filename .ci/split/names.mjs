// The names of a WebAssembly module's functions, read from its name section, in a form that stays the
// same from build to build.
// https://webassembly.github.io/spec/core/appendix/custom.html#name-section

import { createHash } from "node:crypto";

const CUSTOM = 0;
const CODE = 10;
const TABLES = 4;
const EXPORTS = 7;
const TABLE = 1;
const EXTERNREF = 0x6f;
const FUNCTION_NAMES = 1;

class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    Object.assign(this, { bytes, at, end });
  }

  get more() {
    return this.at < this.end;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** A number in LEB128, unsigned. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString("utf8");
  }

  part() {
    const length = this.number();
    this.at += length;
    return new Reader(this.bytes, this.at - length, this.at);
  }
}

/** The sections of a module: `[number, reader]` each. */
function* sections(bytes) {
  const reader = new Reader(bytes, 8);
  while (reader.more) yield [reader.byte(), reader.part()];
}

/**
 * The names of a module's own functions, in their order; `undefined` for those without a name. In the
 * name section, those that are imported come first.
 */
export function ownFunctions(bytes) {
  const names = [];
  let own = 0;
  for (const [number, section] of sections(bytes)) {
    if (number === CODE) own = section.number();
    if (number !== CUSTOM || section.text() !== "name") continue;
    while (section.more) {
      const kind = section.byte();
      const part = section.part();
      if (kind !== FUNCTION_NAMES) continue;
      for (let count = part.number(); count > 0; count--) names[part.number()] = part.text();
    }
  }
  const imported = imports(bytes);
  return Array.from({ length: own }, (_, place) => names[imported + place]);
}

function imports(bytes) {
  const all = WebAssembly.Module.imports(new WebAssembly.Module(bytes));
  return all.filter(({ kind }) => kind === "function").length;
}

/**
 * A short mark of a function by its name, without what is different in each build: the compiler's hashes
 * of crates and items. (The names themselves are long: those that are needed first come to 700 KB.)
 */
export function mark(name) {
  return createHash("sha256").update(stable(name)).digest("hex").slice(0, 8);
}

function stable(name) {
  return name
    .replace(/::h[0-9a-f]{16}\b/g, "")
    .replace(/\[[0-9a-f]{12,16}\]/g, "")
    .replace(/Cs[0-9A-Za-z]{6,14}_/g, "C_")
    .replace(/\.llvm\.\d+/g, "");
}

/** The module without its name section. */
export function withoutNames(bytes) {
  const parts = [bytes.subarray(0, 8)];
  const reader = new Reader(bytes, 8);
  while (reader.more) {
    const start = reader.at;
    const custom = reader.byte() === CUSTOM;
    const section = reader.part();
    if (!custom || section.text() !== "name") parts.push(bytes.subarray(start, reader.at));
  }
  return Buffer.concat(parts);
}

/**
 * Binaryen before version 110 or so writes every exported table as the first one. Puts the table of
 * JavaScript's values, wasm-bindgen's own, under its name again; for a program that defines its tables.
 */
export function mendTables(bytes) {
  let values = -1;
  for (const [number, section] of sections(bytes)) {
    if (number === TABLES) {
      const count = section.number();
      for (let table = 0; table < count; table++) {
        if (section.byte() === EXTERNREF) values = table;
        const bounded = section.number() & 1;
        for (let limits = bounded ? 2 : 1; limits > 0; limits--) section.number();
      }
    }
    if (number !== EXPORTS) continue;
    for (let count = section.number(); count > 0; count--) {
      const name = section.text();
      const isTable = section.byte() === TABLE;
      const place = section.at;
      section.number();
      // Both numbers are below 128, and so one byte long.
      if (isTable && name === "__wbindgen_externrefs" && values >= 0) bytes[place] = values;
    }
  }
  return bytes;
}
