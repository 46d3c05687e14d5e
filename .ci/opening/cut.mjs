// Cuts a program in two by what was seen to run: the *opening*, in which each stretch of code that did
// not run is replaced by a trap, and the *whole*, which takes over the opening's memory, tables and globals.
// A stretch goes from one of these points to the end of the block that it is in: the start of a function,
// the start of a branch, what follows a conditional jump, what follows the end of a block.

import {
  assembled, called, counted, data, definitions, extended, External, leb, rewritten, Section, sections, text,
} from "./module.mjs";

/** Under this name the opening gives the whole what it has defined. */
const OPENING = "opening";
/** The name of the memory that holds a byte for each point: 1 if it was reached. */
export const REACHED = "reached";

const Code = {
  UNREACHABLE: 0x00,
  BLOCK: 0x02,
  LOOP: 0x03,
  IF: 0x04,
  ELSE: 0x05,
  END: 0x0b,
  BRANCH_IF: 0x0d,
};
const OPENS = new Set([Code.BLOCK, Code.LOOP, Code.IF]);
const CLOSES = new Set([Code.ELSE, Code.END]);
const BEFORE_A_POINT = new Set([Code.IF, Code.ELSE, Code.END, Code.BRANCH_IF]);
const TRAP = Buffer.from([Code.UNREACHABLE]);
const PAGE = 65536;

/** The program that notes which points it reaches, in a second memory. */
export function observed(module) {
  let points = 0;
  const code = rewritten(module, (operators) => {
    const body = [note(points++)];
    operators.forEach(({ code, bytes }, place) => {
      body.push(bytes);
      if (isPoint(operators, place)) body.push(note(points++));
    });
    return body;
  });
  const parts = sections(module);
  const memories = definitions(module).filter(({ kind }) => kind === External.MEMORY);
  const size = Buffer.from([0, ...leb(Math.ceil(points / PAGE))]);
  parts.set(Section.MEMORY, counted([...memories.map(({ type }) => type), size]));
  parts.set(Section.EXPORT, extended(parts.get(Section.EXPORT), [exported(REACHED, External.MEMORY, 1)]));
  parts.set(Section.CODE, code);
  return assembled(parts);
}

/** `i32.const 0; i32.const 1; i32.store8` into the second memory. */
function note(point) {
  const [CONST, STORE_8, IN_MEMORY, SECOND] = [0x41, 0x3a, 0x40, 1];
  return Buffer.from([CONST, 0, CONST, 1, STORE_8, IN_MEMORY, SECOND, ...leb(point)]);
}

/** Whether a stretch begins after this operator: not after the end of the function itself. */
function isPoint(operators, place) {
  return BEFORE_A_POINT.has(operators[place].code) && place < operators.length - 1;
}

/**
 * The program without the stretches that were not reached; `reached` has a byte for each point. What the
 * exports named in `kept` come to stays as it is.
 */
export function opening(module, reached, kept = []) {
  const all = called(module, kept);
  let points = 0;
  const code = rewritten(module, (operators, place) => {
    const body = [];
    const isNextReached = () => reached[points++] === 1 || all.has(place);
    const isRun = isNextReached();
    let keeps = isRun;
    // How deep in blocks that are left out.
    let depth = 0;
    operators.forEach(({ code, bytes }, place) => {
      if (!keeps && CLOSES.has(code) && depth === 0) keeps = true;
      if (keeps) body.push(bytes);
      else if (OPENS.has(code)) depth += 1;
      else if (code === Code.END) depth -= 1;
      if (!isPoint(operators, place)) return;
      const isReached = isNextReached();
      if (!keeps || isReached || CLOSES.has(operators[place + 1].code)) return;
      keeps = false;
      body.push(TRAP);
    });
    return isRun ? body : null;
  });
  const parts = sections(module);
  const given = definitions(module).map(({ kind, index }) => exported(handed(kind, index), kind, index));
  parts.set(Section.EXPORT, extended(parts.get(Section.EXPORT), given));
  parts.set(Section.CODE, code);
  return assembled(parts);
}

/** A program with other contents of its memory. */
export function filled(module, memory) {
  const parts = sections(module);
  parts.delete(Section.DATA_COUNT);
  return assembled(parts.set(Section.DATA, data(memory)));
}

/**
 * The program as it goes on from where the opening is: what that defined is imported, and its memory gets
 * what it has not got yet.
 */
export function whole(module, memory) {
  const parts = sections(module);
  const taken = definitions(module).map(({ kind, index, type }) =>
    Buffer.concat([text(OPENING), text(handed(kind, index)), Buffer.from([kind]), type]),
  );
  parts.set(Section.IMPORT, extended(parts.get(Section.IMPORT), taken));
  for (const id of [Section.TABLE, Section.MEMORY, Section.GLOBAL]) parts.delete(id);
  return filled(assembled(parts), memory);
}

/** The name under which one of these is handed on. */
function handed(kind, index) {
  return `${kind}:${index}`;
}

function exported(name, kind, index) {
  return Buffer.concat([text(name), Buffer.from([kind]), leb(index)]);
}
