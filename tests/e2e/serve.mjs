// Serves a folder of static files on the loopback address. As a program, `serve.mjs FOLDER`, it is
// `make serve`: the port is $PORT, or 8642 if that is free, or any other that is.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import sirv from "sirv";

const HOST = "127.0.0.1";
const USUAL_PORT = 8642;

/**
 * Starts serving and tells where. `prefix`, such as "/some/folder/", puts the files in a sub-folder.
 * @returns {Promise<{address: string, close: () => Promise<void>}>}
 */
export async function serve(folder, { port = 0, prefix = "/" } = {}) {
  const files = sirv(folder, { dev: true, etag: true });
  const server = createServer((request, response) => {
    const missing = () => {
      response.writeHead(404, { "Content-Type": "text/plain" });
      response.end("There is no such file.\n");
    };
    if (!request.url.startsWith(prefix)) return missing();
    request.url = `/${request.url.slice(prefix.length)}`;
    // Anybody may embed the page and its script; a rebuilt page must be seen at once.
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Cache-Control", "no-cache");
    files(request, response, missing);
  });
  await new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, HOST, done);
  });
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return { address: `http://${HOST}:${server.address().port}${prefix}`, close };
}

async function main(folder) {
  if (!existsSync(resolve(folder, "index.html"))) {
    throw new Error(`there is no page in ${folder}: run \`make build\` first`);
  }
  const wanted = process.env.PORT;
  if (wanted && !(Number(wanted) > 0 && Number(wanted) < 65536)) {
    throw new Error(`PORT=${wanted} is no port: give a number from 1 to 65535`);
  }
  const busy = (error) => {
    if (!wanted) return serve(folder);
    throw new Error(`port ${wanted} cannot be used (${error.code}): choose another with PORT=`);
  };
  const { address } = await serve(folder, { port: Number(wanted ?? USUAL_PORT) }).catch(busy);
  console.log(`\nLoopscope is at ${address} (Ctrl-C to stop)`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on("SIGINT", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
  await main(process.argv[2] ?? "dist").catch((error) => {
    console.error(`\nStopped: ${error.message}.`);
    process.exitCode = 1;
  });
}
