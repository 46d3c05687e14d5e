// Stands before wasm-bindgen's script where the program is cut in two (`cut.mjs`). The page starts with the
// opening, and goes on with the whole program as soon as that is there: the two have their memory, tables
// and globals in common, so between two calls from the page one can take the other's place.
// - Whatever a person or the host page does waits until the whole is there. A pointer that only moves is not
//   told of until then.
// - Where the opening comes to something that it has not got, it traps. Nobody has done anything yet, so
//   the page is loaded again, and starts with the whole.

import { Decoder } from "../../node_modules/lzma1/lib/decoder.js";
import { InputBuffer, OutputBuffer } from "../../node_modules/lzma1/lib/streams.js";

const [packed, address] = ["_opening.lzma", "_whole.wasm"].map((end) => import.meta.url.replace(/\.js$/, end));
// Kept in the history, which is there in any frame, and outlives loading the page again.
const WITH_THE_WHOLE = "with the whole";
const ACTS = ["pointerdown", "keydown", "click", "input", "wheel", "message", "hashchange", "popstate"];
// Not told of: what is merely pointed at; that the page is hidden, which stops what plays, and nothing does; that a
// list scrolled, which it did by itself: whoever scrolls, acts.
const HOVERS = ["pointermove", "pointerover", "pointerout", "pointerenter", "pointerleave", "visibilitychange", "scroll"];
// The opening was cut for the page as it opens by these: without a link to a moment, or other wishes.
const PLAIN = /^(\?(embed|present)=1)?$/;
// Lets a module take the opening's place; there is none once the whole has done so.
let goOn;

/** The opening, as it is asked for and kept: a quarter smaller than by gzip. */
export async function unpacked() {
  const response = await fetch(packed);
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  const program = new OutputBuffer();
  new Decoder().decompress(new InputBuffer(new Uint8Array(await response.arrayBuffer())), program);
  return program.toArray();
}

/** The program as it starts; `use` replaces its exports later. */
export async function begin({ instance, module }, imports, use) {
  const opening = instance.exports;
  const continued = (whole) => new WebAssembly.Instance(whole, { ...imports, opening });
  const fetched = WebAssembly.compileStreaming(fetch(address));
  const isPlain = !location.hash && PLAIN.test(location.search);
  if (!isPlain || history.state === WITH_THE_WHOLE) {
    return { instance: continued(await fetched.catch(fetchedNow)), module };
  }
  goOn = (whole) => {
    goOn = undefined;
    use(continued(whole).exports);
  };
  for (const act of ACTS) addEventListener(act, onAct, { capture: true });
  for (const event of HOVERS) addEventListener(event, (hover) => goOn && hover.stopImmediatePropagation(), { capture: true });
  addEventListener("error", onError);
  // What is missing when it is wanted is asked for again, and tells what is wrong.
  fetched.then((whole) => goOn?.(whole), () => {});
  return { instance, module };
}

/** Whether the whole is there. What is thrown away before is few, and stays: the opening cannot drop it. */
export function isWhole() {
  return !goOn;
}

/** What the program does as it starts. */
export function run(start) {
  try {
    return start();
  } catch (error) {
    if (!isTrap(error)) throw error;
    again(error);
    return new Promise(() => {});
  }
}

/** Without the whole nothing can be done: the opening is not told of it, since it would trap on it. */
function onAct(event) {
  try {
    goOn?.(fetchedNow());
  } catch (error) {
    event.stopImmediatePropagation();
    throw error;
  }
}

/** Somebody is faster than the network: there is nothing to do but wait for it. */
function fetchedNow() {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  try {
    request.send();
  } catch {
    throw missing("cannot be reached");
  }
  if (request.status >= 400) throw missing(`answers ${request.status}`);
  return new WebAssembly.Module(Uint8Array.from(request.responseText, (c) => c.charCodeAt(0)));
}

/** The script in the page tells it to the person by this name. */
function missing(why) {
  return Object.assign(new Error(`${address} ${why}`), { name: "PartMissing" });
}

function onError(event) {
  if (!isTrap(event.error)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  again(event.error);
}

function isTrap(error) {
  return goOn && error instanceof WebAssembly.RuntimeError;
}

/** Tells what is missing, for whoever wants to know why the page took so long. */
function again(trap) {
  console.warn(`loaded again with the whole program: ${trap.stack}`);
  history.replaceState(WITH_THE_WHOLE, "");
  location.reload();
}
