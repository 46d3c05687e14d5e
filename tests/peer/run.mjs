// A second opinion: the same manifests and steps in @ngrok/webernetes, an independent port of the
// Kubernetes controllers to TypeScript, and in the simulation. Prints what differs and why.
//
//   npm ci && node tests/peer/run.mjs [part of a case's name]
//
// Exit status 1 if something differs that nobody has explained. For development only.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { build } from "esbuild";

import { cases, imageName, loads } from "./cases.mjs";
import { compareEvents, compareObjects, comparePaths } from "./compare.mjs";
import { explain } from "./explained.mjs";
import * as ours from "./ours.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const scratch = mkdtempSync(join(tmpdir(), "peer-"));

/** The peer is published without file extensions in its imports, which Node does not take. */
async function loadPeer() {
    const outfile = join(scratch, "webernetes.mjs");
    await build({
        entryPoints: [join(here, "webernetes.mjs")],
        bundle: true,
        platform: "node",
        format: "esm",
        outfile,
        logLevel: "error",
    });
    return await import(pathToFileURL(outfile).href);
}

/** Builds the simulation's side as the tests are built, and says where it is. */
function buildOurs() {
    const cargo = ["build", "--locked", "--profile", "swift", "--example", "observe"];
    const built = spawnSync("cargo", [...cargo, "--message-format=json-render-diagnostics"], {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
        maxBuffer: 1 << 30,
    });
    const told = built.stdout.split("\n").filter((line) => line.startsWith("{"));
    const programs = told.map((line) => JSON.parse(line).executable).filter(Boolean);
    if (built.status !== 0 || programs.length === 0) throw new Error("cargo build failed");
    return programs.at(-1);
}

function print(what, seen, own) {
    const path = comparePaths(own, seen);
    const objects = compareObjects(own, seen);
    const events = compareEvents(own, seen);
    const differing = [
        ...objects.map(({ path, ours, theirs }) => ({
            what: path,
            ours,
            theirs,
            detail: `ours ${JSON.stringify(ours)}, the peer ${JSON.stringify(theirs)}`,
        })),
        ...events.onlyOurs.map((word) => ({ what: `Event ${word}`, detail: "only ours" })),
        ...events.onlyTheirs.map((word) => ({ what: `Event ${word}`, detail: "only the peer" })),
        ...own.refused.map((text) => ({ what: "refused", detail: text })),
    ];
    const known = differing.map((one) => ({ ...one, why: explain(one) }));
    const open = known.filter((one) => !one.why);
    const steps = `${path.steps.ours.length - 1}/${path.steps.theirs.length - 1}`;
    const verdict = open.length > 0 || path.word === "OTHER" ? "DIFFERS" : "agrees";
    const row = [what.name.padEnd(44), path.word.padEnd(30), steps.padEnd(7)];
    console.log(`${row.join(" ")} ${String(known.length - open.length).padEnd(9)} ${verdict}`);
    if (path.word === "OTHER" || path.word === "same bounds") {
        console.log(`    ours:     ${path.steps.ours.join(" | ")}`);
        console.log(`    the peer: ${path.steps.theirs.join(" | ")}`);
    }
    open.forEach((one) => console.log(`    ${one.what}: ${one.detail}`));
    return { agrees: verdict === "agrees", reasons: known.map((one) => one.why).filter(Boolean) };
}

async function main() {
    const wanted = process.argv[2] ?? "";
    const program = process.env.OBSERVE ?? buildOurs(); // OBSERVE: one that is built already
    const peer = await loadPeer();
    const reasons = new Set();
    let agree = true;
    console.log(`${"case".padEnd(44)} ${"sizes".padEnd(30)} steps   explained verdict`);
    for (const what of cases.filter((what) => what.name.includes(wanted))) {
        const seen = await peer.play(imageName, what);
        const result = print(what, seen, ours.play(program, what));
        result.reasons.forEach((reason) => reasons.add(reason));
        agree &&= result.agrees;
    }
    console.log("\nExplained:");
    reasons.forEach((reason) => console.log(`  - ${reason}`));
    console.log("\nComputing time of create, update of all pods, and rest (milliseconds):");
    for (const what of loads.filter((what) => what.name.includes(wanted))) {
        const own = ours.play(program, what);
        const seen = await peer.play(imageName, what);
        const times = [own, seen].map((one) => Math.round(one.milliseconds));
        console.log(`  ${what.name.padEnd(10)} ours ${times[0]}, the peer ${times[1]}`);
    }
    return agree;
}

try {
    process.exitCode = (await main()) ? 0 : 1;
} finally {
    rmSync(scratch, { recursive: true, force: true });
}
process.exit();
