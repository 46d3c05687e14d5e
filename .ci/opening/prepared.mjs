// Has a program compute what it opens with (`src/ui/prepared.rs`), and makes a program of its memory as it
// is then. The heap is looked through as the allocator of Rust's standard library left it, so that nothing is
// shipped of what was given back.
// https://github.com/alexcrichton/dlmalloc-rs

import { assembled, data, image, limited, Section, sections } from "./module.mjs";

const PAGE = 65536;
/** Before a chunk's contents: the size of the free one before it, then its own with two flags. */
const SIZE = 4;
const HEAD = 8;
const FLAGS = 7;
const IN_USE = 2;
/** What the allocator notes in a free chunk. */
const LINKS = 24;

/**
 * `module`: the program with what it has prepared in its memory. `chunks`: what is in use of its heap,
 * `{ start, end }` each. `end`: where the constants end that the program itself begins with.
 */
export function prepared(module) {
  const { memory, start } = afterPreparing(module);
  const { base, bytes } = image(module);
  const chunks = [];
  for (const { at, size, isUsed } of heap(memory, start)) {
    // A chunk in use goes on to the second word of the next one's head.
    if (isUsed) chunks.push({ start: at + HEAD, end: at + size + SIZE });
    else memory.fill(0, Math.min(at + HEAD + LINKS, at + size), at + size);
  }
  const parts = sections(module);
  parts.set(Section.MEMORY, limited(parts.get(Section.MEMORY), memory.length / PAGE));
  parts.set(Section.DATA, data([{ start: base, bytes: memory.subarray(base) }]));
  parts.delete(Section.DATA_COUNT);
  return { module: assembled(parts), chunks, end: base + bytes.length };
}

/** The program's memory once it has prepared; `start`: where its heap begins. */
function afterPreparing(module) {
  const program = new WebAssembly.Module(module);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(program)) {
    imports[from] ??= {};
    imports[from][name] = () => {
      throw new Error(`to prepare, the program asks the browser for ${name}`);
    };
  }
  const { exports } = new WebAssembly.Instance(program, imports);
  const start = exports.memory.buffer.byteLength;
  exports.prepare();
  return { memory: Buffer.from(exports.memory.buffer), start };
}

/** The chunks of a heap in their order, free ones too; the last is what was never given out. */
function* heap(memory, start) {
  const MOST_AT_END = 128;
  let at = start;
  while (memory.length - at > MOST_AT_END) {
    const head = memory.readUInt32LE(at + SIZE);
    const size = head & ~FLAGS;
    if (size === 0 || at + size > memory.length) throw new Error(`the heap holds no chunk at ${at}`);
    yield { at, size, isUsed: (head & IN_USE) !== 0 };
    at += size;
  }
  // What ends the heap tells its own size.
  if (memory.readUInt32LE(at + SIZE) !== memory.length - at) throw new Error("the heap does not end where memory does");
}
