// The same case in the simulation, through `examples/observe.rs`.

import { spawnSync } from "node:child_process";

import { imageName } from "./cases.mjs";

const at = (seconds) => `${Math.round(seconds * 1000)}ms`;

function line(step) {
    if (step.scale !== undefined) return `scale deployment/web --replicas=${step.scale}`;
    if (step.image !== undefined) {
        return `set image deployment/web web=${imageName}:${step.image}`;
    }
    if (step.pause !== undefined) {
        return `rollout ${step.pause ? "pause" : "resume"} deployment/web`;
    }
    if (step.undo) return "rollout undo deployment/web";
    if (step.deletePod !== undefined) return "delete pod -l app=web --limit=1";
    if (step.delete === "replicaset") {
        return `delete replicaset -l app=web --limit=1 --cascade=${step.cascade}`;
    }
    return `delete ${step.delete} --cascade=${step.cascade}`;
}

/** A scenario without what the peer does not model: pulls, slow starts, a slow network. */
function scenario({ object, steps, nodes = 3 }) {
    const quick = { pull: "0s", readyAfter: "0s", stopsAfter: "0s" };
    const images = Object.fromEntries(
        [1, 2, 3].map((version) => [`${imageName}:${version}`, quick]),
    );
    images[`${imageName}:unready`] = { ...quick, readyAfter: "1h" };
    const file = {
        flavours: ["level"],
        cluster: { nodes, network: { latency: "1ms", watchLatency: "1ms" } },
        images,
        objects: JSON.stringify(object),
        steps: steps.map((step) => ({ at: at(step.at), kubectl: line(step) })),
    };
    // A scenario is told from a manifest by its keys at the start of a line.
    const lines = Object.entries(file).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    return lines.join("");
}

export function play(program, what) {
    const run = spawnSync(program, ["-", "--until", at(what.until)], {
        input: scenario(what),
        encoding: "utf8",
        maxBuffer: 1 << 30,
    });
    if (run.status !== 0) throw new Error(`${what.name}: ${run.stderr}`);
    return JSON.parse(run.stdout);
}
