// Reads and writes WebAssembly modules as far as cutting one needs it. Sections are kept as bytes; what
// is in them is read by the library wasmparser.
// https://webassembly.github.io/spec/core/binary/modules.html

import wasmparser from "wasmparser";

const { BinaryReader, BinaryReaderState: State } = wasmparser;

/** The numbers of sections. */
export const Section = {
  CUSTOM: 0,
  IMPORT: 2,
  TABLE: 4,
  MEMORY: 5,
  GLOBAL: 6,
  EXPORT: 7,
  CODE: 10,
  DATA: 11,
  DATA_COUNT: 12,
};
/** What an import or an export is of. */
export const External = { FUNCTION: 0, TABLE: 1, MEMORY: 2, GLOBAL: 3 };
const UNREACHABLE = 0x00;
const END = 0x0b;
const CALL = 0x10;
const CONSTANT = 0x41;
const MAGIC = Buffer.from("\0asm\x01\0\0\0", "latin1");

/** A number in LEB128, unsigned. */
export function leb(value) {
  const bytes = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return Buffer.from(bytes);
}

/** The number in LEB128 at a place, and the place after it. */
function number(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}

/** Bytes with their length before them. */
export function sized(...parts) {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([leb(bytes.length), bytes]);
}

export function text(characters) {
  return sized(Buffer.from(characters));
}

/** Entries with their count before them. */
export function counted(entries) {
  return Buffer.concat([leb(entries.length), ...entries]);
}

/** The sections of a module by their number, in their order; without names and other custom ones. */
export function sections(module) {
  const found = new Map();
  for (let at = MAGIC.length; at < module.length; ) {
    const id = module[at];
    const [length, start] = number(module, at + 1);
    at = start + length;
    if (id !== Section.CUSTOM) found.set(id, module.subarray(start, at));
  }
  return found;
}

/** The module that has these sections. */
export function assembled(sections) {
  const parts = [...sections].flatMap(([id, bytes]) => [Buffer.from([id]), sized(bytes)]);
  return Buffer.concat([MAGIC, ...parts]);
}

/** A section of entries with more of them at its end. */
export function extended(section, more) {
  const [count, at] = number(section, 0);
  return Buffer.concat([leb(count + more.length), section.subarray(at), ...more]);
}

/** Reads a module; `see(state, result, start, end)` is told of each thing and where in `module` it is. */
function read(module, see) {
  const reader = new BinaryReader();
  reader.setData(module.buffer, module.byteOffset, module.byteOffset + module.length);
  for (let start = 0; reader.read(); ) {
    const end = reader.position - module.byteOffset;
    see(reader.state, reader.result, start, end);
    start = end;
  }
  if (reader.error) throw reader.error;
}

/**
 * The bodies of a module's functions, one after the other: what `rewrite(operators, place)` makes of each.
 * `operators` is a list of `{ code, bytes }`, the last of them the function's `end`; `place` counts the bodies;
 * what comes back is a list of bytes, or `null` for a body that is left out: it traps.
 */
export function rewritten(module, rewrite) {
  const bodies = [];
  let locals;
  let operators;
  read(module, (state, result, start, end) => {
    if (state === State.BEGIN_FUNCTION_BODY) {
      locals = result.locals.map(({ count, type }) => Buffer.from([...leb(count), coded(type)]));
      operators = [];
    } else if (state === State.CODE_OPERATOR) {
      operators.push({ code: result.code, bytes: module.subarray(start, end) });
    } else if (state === State.END_FUNCTION_BODY) {
      const body = rewrite(operators, bodies.length);
      bodies.push(body ? sized(counted(locals), ...body) : sized(Buffer.from([0, UNREACHABLE, END])));
    }
  });
  return counted(bodies);
}

/** The places of all bodies that the functions exported by these names can come to by calls. */
export function called(module, names) {
  const calls = [];
  const todo = [];
  let imported = 0;
  read(module, (state, result) => {
    if (state === State.IMPORT_SECTION_ENTRY && result.kind === External.FUNCTION) imported += 1;
    else if (state === State.EXPORT_SECTION_ENTRY && names.includes(Buffer.from(result.field).toString())) todo.push(result.index);
    else if (state === State.BEGIN_FUNCTION_BODY) calls.push([]);
    else if (state === State.CODE_OPERATOR && result.code === CALL) calls.at(-1).push(result.funcIndex);
  });
  if (todo.length !== names.length) throw new Error(`not all of these are exported: ${names}`);
  const found = new Set();
  while (todo.length > 0) {
    const place = todo.pop() - imported;
    if (place < 0 || found.has(place)) continue;
    found.add(place);
    todo.push(...calls[place]);
  }
  return found;
}

/**
 * The tables, memories and globals that a module defines, in their order:
 * `{ kind, index, type }` each, the type as it stands in an import.
 */
export function definitions(module) {
  const found = [];
  const add = (kind, type) => {
    const index = found.filter((other) => other.kind === kind).length;
    found.push({ kind, index, type: Buffer.from(type) });
  };
  read(module, (state, result) => {
    if (state === State.TABLE_SECTION_ENTRY) {
      add(External.TABLE, [coded(result.elementType), ...limits(result.limits)]);
    } else if (state === State.MEMORY_SECTION_ENTRY) {
      add(External.MEMORY, limits(result.limits));
    } else if (state === State.BEGIN_GLOBAL_SECTION_ENTRY) {
      add(External.GLOBAL, [coded(result.type.contentType), result.type.mutability]);
    }
  });
  return found;
}

/** The numbers in a module's code that may be addresses: constants, and what memory is accessed at. */
export function numbers(module) {
  const found = new Set();
  read(module, (state, result) => {
    if (state !== State.CODE_OPERATOR) return;
    const { code, literal, memoryAddress } = result;
    if (code === CONSTANT) found.add(literal >>> 0);
    if (memoryAddress) found.add(Number(memoryAddress.offset));
  });
  return found;
}

/** What a module puts into its memory as it starts: the bytes from its lowest address to its highest. */
export function image(module) {
  const parts = [];
  let start = 0;
  read(module, (state, result) => {
    if (state === State.OFFSET_EXPRESSION_OPERATOR && result.code === CONSTANT) start = result.literal >>> 0;
    if (state === State.DATA_SECTION_ENTRY_BODY) parts.push({ start, bytes: result.data });
  });
  const base = Math.min(...parts.map(({ start }) => start));
  const bytes = Buffer.alloc(Math.max(...parts.map(({ start, bytes }) => start + bytes.length)) - base);
  for (const { start, bytes: part } of parts) bytes.set(part, start - base);
  return { base, bytes };
}

/** The section that puts parts, `{ start, bytes }` each, into memory. */
export function data(parts) {
  return counted(parts.map(({ start, bytes }) => Buffer.concat([placed(start), sized(bytes)])));
}

/** What stands before a segment: that it is active, and the constant that is its address. */
function placed(address) {
  return Buffer.from([0, CONSTANT, ...signed(address), END]);
}

/** A number of 32 bits in LEB128, signed. */
function signed(value) {
  const bytes = [];
  for (let rest = value | 0; ; rest >>= 7) {
    const isLast = rest >= -64 && rest < 64;
    bytes.push((rest & 0x7f) | (isLast ? 0 : 0x80));
    if (isLast) return bytes;
  }
}

/** The section of a program's one memory, for a memory that has so many pages as it starts. */
export function limited(memories, pages) {
  const [count, flags] = memories;
  if (count !== 1 || flags > 1) throw new Error("the program has not one plain memory");
  const [, after] = number(memories, 2);
  return Buffer.concat([memories.subarray(0, 2), leb(pages), memories.subarray(after)]);
}

function limits({ initial, maximum }) {
  return maximum === undefined ? [0, ...leb(initial)] : [1, ...leb(initial), ...leb(maximum)];
}

/** The byte that stands for a type: the library tells it as a negative number. */
function coded(type) {
  return (type.kind ?? type) & 0x7f;
}
