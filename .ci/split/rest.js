// Stands before wasm-bindgen's script. `rest.imports` is what the first part calls where the rest
// should be; `rest.follow` begins to fetch the rest.
const rest = (() => {
  const address = new URL(REST, import.meta.url);
  let first;
  let waiting = true;
  // The script in the page tells it to the person by this name.
  const missing = (why) =>
    Object.assign(new Error(`${address} ${why}`), { name: "PartMissing" });
  const arrived = (module) => {
    // It puts its functions into the table of the first part as it starts.
    if (waiting) new WebAssembly.Instance(module, { first });
    waiting = false;
  };
  // Somebody is faster than the network: there is nothing to do but wait for it.
  const now = () => {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    try {
      request.send();
    } catch {
      throw missing("cannot be reached");
    }
    if (request.status >= 400) throw missing(`answers ${request.status}`);
    arrived(new WebAssembly.Module(Uint8Array.from(request.responseText, (c) => c.charCodeAt(0))));
  };
  // wasm-split exports it under a name of its own; the other table is wasm-bindgen's.
  const functions = () =>
    Object.entries(first).find(
      ([name, value]) => value instanceof WebAssembly.Table && name !== "__wbindgen_externrefs",
    )[1];
  const standIn = (_, place) => (...values) => {
    if (waiting) now();
    return functions().get(Number(place))(...values);
  };
  return {
    imports: new Proxy({}, { get: standIn }),
    follow(exports) {
      first = exports;
      // What is missing when it is wanted is asked for again, and tells what is wrong.
      WebAssembly.compileStreaming(fetch(address)).then(arrived, () => {});
    },
  };
})();
