// What of its memory the opening can come to: the constants that its code names, those that these point to,
// and so on. The linker's map says where each begins and ends; what the program prepared is in chunks of the
// heap. Whatever looks like an address counts as one, so that rather too much is kept than too little.

import { image, numbers } from "./module.mjs";

const POINTER = 4;
/** The strings that the linker has brought together, in its map. */
const STRINGS = "<internal>:(.rodata)";

/**
 * The memory of a program as it starts, in two: what the opening can come to, and the rest. Both are
 * lists of `{ start, bytes }`. `map` is what the linker wrote; `chunks` and `end` are as `prepared` gives them.
 */
export function divided(opening, map, { chunks, end }) {
  const { base, bytes } = image(opening);
  const all = [...constants(map, { base, bytes }), ...chunks];
  const reached = reachable(opening, { base, bytes }, all);
  // The opening owns all that is between the chunks of the heap: what the allocator notes there.
  const others = [...between(reached, base, end), ...chunks.filter((chunk) => !reached.has(chunk))];
  const theirs = [];
  for (const { start, end } of others) {
    const part = bytes.subarray(start - base, end - base);
    theirs.push(...withoutZeros(start, Buffer.from(part)));
    part.fill(0);
  }
  return [withoutZeros(base, bytes), theirs];
}

/** The stretches of these addresses in which nothing was reached. */
function between(reached, base, end) {
  const found = [];
  let last = base;
  for (const one of [...reached, { start: end, end }].sort((one, other) => one.start - other.start)) {
    if (one.start > last && last < end) found.push({ start: last, end: Math.min(one.start, end) });
    last = Math.max(last, one.end);
  }
  return found;
}

/** What is in memory but longer stretches of zeros. */
function withoutZeros(base, bytes) {
  // Packed, zeros weigh less than one more segment.
  const LONG = 512;
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at;
    let zeros = 0;
    while (at < bytes.length && zeros < LONG) zeros = bytes[at++] === 0 ? zeros + 1 : 0;
    if (at - zeros > start) parts.push({ start: base + start, bytes: bytes.subarray(start, at - zeros) });
  }
  return parts;
}

/** The constants and variables, `{ start, end }` each, in the order of their addresses. */
function constants(map, { base, bytes }) {
  const lines = map.slice(map.search(/^ +- .* DATA$/m)).split("\n");
  const found = [];
  for (const line of lines) {
    const [, address, size, name] = /^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +(\S.*:\(.*)/.exec(line) ?? [];
    if (!name) continue;
    const start = parseInt(address, 16);
    const end = start + parseInt(size, 16);
    if (!name.startsWith(STRINGS)) found.push({ start, end });
    // One after the other, each with a zero at its end and none within.
    else for (let at = start; at < end; at = found.at(-1).end) {
      const zero = bytes.indexOf(0, at - base);
      found.push({ start: at, end: zero < 0 ? end : Math.min(end, base + zero + 1) });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

function reachable(opening, { base, bytes }, all) {
  const found = new Set();
  const todo = [];
  const end = base + bytes.length;
  const reach = (address) => {
    if (address < base || address > end) return;
    // Also the one before, of which it may be the end.
    for (const one of around(all, address)) {
      if (one.start >= end || found.has(one)) continue;
      found.add(one);
      todo.push(one);
    }
  };
  numbers(opening).forEach(reach);
  while (todo.length > 0) {
    const one = todo.pop();
    // What holds addresses is aligned as they are: texts are not looked through.
    if (one.start % POINTER !== 0 || one.end % POINTER !== 0) continue;
    const last = Math.min(one.end, end) - POINTER;
    for (let at = one.start; at <= last; at += POINTER) {
      reach(bytes.readUInt32LE(at - base));
    }
  }
  return found;
}

/** The constants that an address lies in, or at whose end it lies. */
function around(all, address) {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  const NEAR = 3;
  return all.slice(Math.max(0, low - NEAR), low).filter(({ end }) => end >= address);
}
