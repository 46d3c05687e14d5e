// Joins wasm-bindgen's script with `loader.js`, at the three places that it is for.

import { fileURLToPath } from "node:url";

const FETCH = ["module_or_path = fetch(module_or_path);", "module_or_path = opening.unpacked();"];
const START = [
  "await __wbg_load(await module_or_path, imports);\n\n    return __wbg_finalize_init(instance, module);",
  `await opening.begin(await __wbg_load(await module_or_path, imports), imports, (exports) => { wasm = exports; });
    return opening.run(() => __wbg_finalize_init(instance, module));`,
];
// The garbage collector comes when it likes, also when this page is gone and another one is there.
const COLLECTED = [
  "new FinalizationRegistry(state => wasm.__wbindgen_destroy_closure",
  "new FinalizationRegistry(state => opening.isWhole() && wasm.__wbindgen_destroy_closure",
];

export function joined(glue) {
  const loader = fileURLToPath(new URL("loader.js", import.meta.url));
  let text = glue;
  for (const [place, instead] of [FETCH, START, COLLECTED]) {
    const count = text.split(place).length - 1;
    if (count !== 1) throw new Error(`wasm-bindgen's script has ${count} times, not once: ${place}`);
    text = text.replace(place, instead);
  }
  return `import * as opening from ${JSON.stringify(loader)};\n${text}`;
}
