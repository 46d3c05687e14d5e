// The peer: @ngrok/webernetes, a port of the Kubernetes controllers to TypeScript, driven in
// simulated time. Its clock stands still but for `step`; between two steps its promises are let
// run until nothing is left to do at this moment.

import { BaseImage, Cluster, PatchStrategy, setHeaderOptions } from "@ngrok/webernetes";

const NAMESPACE = "default";
const MERGE = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

/** An image that serves at port 8080, at once or never. */
function image(name, version, serves) {
    return class extends BaseImage {
        static imageName = name;
        static imageVersion = String(version);
        defaultCommand = ["serve"];
        async exec(process, argv) {
            if (argv[0] !== "serve") return await super.exec(process, argv);
            if (serves) process.listenHttp(8080, async () => ({ status: 200, body: "" }));
            return await process.waitUntilKilled();
        }
    };
}

/** Its tasks are private; without them the clock could only be moved blindly. */
function nextDue(clock) {
    let next = Infinity;
    for (const task of clock.tasks.values()) {
        if (!task.cancelled) next = Math.min(next, task.dueAtMs);
    }
    return next;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

class Peer {
    constructor(name, nodes) {
        this.cluster = new Cluster({ nodes });
        for (const version of [1, 2, 3, "unready"]) {
            this.cluster.registerImage(image(name, version, version !== "unready"));
        }
        this.clock = this.cluster.clock;
        this.cluster.pause();
        this.start = this.clock.nowMs();
        this.sizes = [];
        this.apps = this.cluster.api.appsv1;
        this.core = this.cluster.api.corev1;
        this.image = name;
        this.sets = new Map();
        this.cost = 0;
    }

    now() {
        return (this.clock.nowMs() - this.start) / 1000;
    }

    async settle() {
        do {
            this.clock.step(0);
            await turn();
        } while (this.clock.microtasks.length > 0);
    }

    async runUntil(seconds) {
        const started = performance.now();
        const end = this.start + seconds * 1000;
        await this.settle();
        for (let due = nextDue(this.clock); due <= end; due = nextDue(this.clock)) {
            this.clock.step(Math.max(0, due - this.clock.nowMs()));
            await this.settle();
        }
        this.clock.step(Math.max(0, end - this.clock.nowMs()));
        await this.settle();
        this.cost += performance.now() - started;
    }

    /** A promise of the API, while time goes on as little as it must. */
    async call(promise) {
        let done = false;
        const watched = promise.finally(() => (done = true));
        watched.catch(() => {});
        for (let turns = 0; !done && turns < 10_000; turns += 1) {
            await this.settle();
            if (!done) this.clock.step(1);
        }
        return await watched;
    }

    /** Notes every change of a ReplicaSet's size where it is written. */
    watch() {
        const store = this.cluster.etcd.stateRef;
        const publish = store.publish.bind(store);
        store.publish = (records) => {
            records.forEach(({ event }) => this.note(event));
            publish(records);
        };
        this.sizes.push({ at: 0, sizes: {} });
    }

    note({ type, kv }) {
        const key = kv.key.toString();
        if (!key.includes("/replicasets/")) return;
        if (String(type).toUpperCase() === "DELETE") this.sets.delete(key);
        else this.sets.set(key, JSON.parse(kv.value.toString()));
        const sizes = {};
        for (const set of this.sets.values()) {
            sizes[set.spec.template.spec.containers[0].image] = set.spec.replicas;
        }
        if (JSON.stringify(this.sizes.at(-1).sizes) !== JSON.stringify(sizes)) {
            this.sizes.push({ at: this.now(), sizes });
        }
    }

    async replicaSets() {
        const list = await this.call(this.apps.listNamespacedReplicaSet({ namespace: NAMESPACE }));
        return list.items;
    }

    async pods() {
        const list = await this.call(this.core.listNamespacedPod({ namespace: NAMESPACE }));
        return list.items;
    }

    async patch(body) {
        const request = { namespace: NAMESPACE, name: "web", body };
        await this.call(this.apps.patchNamespacedDeployment(request, MERGE));
    }

    async change(step) {
        if (step.scale !== undefined) await this.patch({ spec: { replicas: step.scale } });
        if (step.pause !== undefined) await this.patch({ spec: { paused: step.pause || null } });
        if (step.image !== undefined) {
            const request = { namespace: NAMESPACE, name: "web" };
            const own = await this.call(this.apps.readNamespacedDeployment(request));
            own.spec.template.spec.containers[0].image = `${this.image}:${step.image}`;
            await this.call(this.apps.replaceNamespacedDeployment({ ...request, body: own }));
        }
        if (step.undo) await this.undo();
        if (step.deletePod !== undefined) {
            const pods = (await this.pods()).map((pod) => pod.metadata.name).sort();
            const request = { namespace: NAMESPACE, name: pods[step.deletePod] };
            await this.call(this.core.deleteNamespacedPod(request));
        }
        if (step.delete) await this.delete(step);
    }

    async delete({ delete: what, cascade }) {
        const propagationPolicy = cascade[0].toUpperCase() + cascade.slice(1);
        const request = { namespace: NAMESPACE, propagationPolicy, body: { propagationPolicy } };
        if (what.startsWith("deployment")) {
            await this.call(this.apps.deleteNamespacedDeployment({ ...request, name: "web" }));
        } else {
            const name = (await this.replicaSets())[0].metadata.name;
            await this.call(this.apps.deleteNamespacedReplicaSet({ ...request, name }));
        }
    }

    /** What kubectl rollout undo does: the template of the revision before the last. */
    async undo() {
        const revision = (set) => set.metadata.annotations?.["deployment.kubernetes.io/revision"];
        const sets = (await this.replicaSets()).sort((a, b) => revision(b) - revision(a));
        const template = structuredClone(sets[1].spec.template);
        delete template.metadata.labels["pod-template-hash"];
        const request = { namespace: NAMESPACE, name: "web" };
        const own = await this.call(this.apps.readNamespacedDeployment(request));
        own.spec.template = template;
        await this.call(this.apps.replaceNamespacedDeployment({ ...request, body: own }));
    }

    async seen() {
        const list = await this.call(
            this.apps.listNamespacedDeployment({ namespace: NAMESPACE }),
        );
        const kind = (kind) => (object) => ({ ...object, kind });
        const objects = [
            ...list.items.map(kind("Deployment")),
            ...(await this.replicaSets()).map(kind("ReplicaSet")),
            ...(await this.pods()).map(kind("Pod")),
        ];
        const events = await this.call(this.core.listNamespacedEvent({ namespace: NAMESPACE }));
        const words = events.items.map((event) => `${event.involvedObject.kind} ${event.reason}`);
        return {
            milliseconds: this.cost,
            sizes: this.sizes,
            objects: JSON.parse(JSON.stringify(objects)),
            events: [...new Set(words)].sort(),
        };
    }
}

/** Plays one case and says what there was to see. */
export async function play(name, { object, steps, until, nodes = 3 }) {
    const peer = new Peer(name, nodes);
    await peer.call(peer.cluster.init());
    // Its control plane runs in pods of its own, which must be up first.
    await peer.runUntil(30);
    peer.start = peer.clock.nowMs();
    peer.cost = 0;
    peer.watch();
    await peer.call(peer.cluster.apply([structuredClone(object)]));
    for (const step of steps) {
        await peer.runUntil(step.at);
        await peer.change(step);
    }
    await peer.runUntil(until);
    const seen = await peer.seen();
    await Promise.race([peer.call(peer.cluster.close()), turn()]).catch(() => {});
    return seen;
}
