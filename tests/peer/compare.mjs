// Puts what two implementations have come to side by side.

/** Differs from run to run, or says when something was, which is not compared. */
const IGNORED = new Set([
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "lastUpdateTime",
    "lastTransitionTime",
    "managedFields",
    "apiVersion",
    "kubectl.kubernetes.io/last-applied-configuration",
]);

function clean(value) {
    if (Array.isArray(value)) return value.map(clean);
    if (value === null || typeof value !== "object") return value;
    const kept = Object.entries(value).filter(
        ([key, inner]) => !IGNORED.has(key) && inner !== undefined && inner !== null,
    );
    return Object.fromEntries(kept.map(([key, inner]) => [key, clean(inner)]));
}

/** Every leaf that differs: its path, and both values. */
function differences(path, ours, theirs, found = []) {
    const both = [ours, theirs];
    if (both.every((value) => value !== null && typeof value === "object")) {
        for (const key of new Set(both.flatMap(Object.keys))) {
            differences(path ? `${path}.${key}` : key, ours[key], theirs[key], found);
        }
    } else if (ours !== theirs) {
        found.push({ path, ours, theirs });
    }
    return found;
}

const byType = (conditions = []) =>
    Object.fromEntries(conditions.map((condition) => [condition.type, condition]));

/**
 * Kubernetes hashes how Go prints a template; neither implementation has that text. Names agree but
 * for the hash.
 */
function withoutHashes(objects) {
    let text = JSON.stringify(objects);
    for (const object of objects.filter((object) => object.kind === "ReplicaSet")) {
        const hash = object.metadata.labels["pod-template-hash"];
        const image = object.spec.template.spec.containers[0].image.split(":")[1];
        text = text.replaceAll(hash, `<hash of ${image}>`);
    }
    return text;
}

/** Deployments by name and ReplicaSets by image, with what was asked for and what came of it. */
function workloads(all) {
    const objects = JSON.parse(withoutHashes(all));
    const kinds = ["Deployment", "ReplicaSet"];
    const kept = objects.filter((object) => kinds.includes(object.kind));
    return Object.fromEntries(
        kept.map((object) => {
            const { kind, metadata, spec, status = {} } = clean(object);
            const image = spec.template.spec.containers[0].image.split(":")[1];
            const word = kind === "Deployment" ? kind : `ReplicaSet ${image}`;
            const conditions = byType(status.conditions);
            const owners = metadata.ownerReferences ?? [];
            const { annotations = {}, labels = {}, generation, finalizers = [] } = metadata;
            const { name } = metadata;
            const meta = { name, annotations, labels, generation, finalizers, owners };
            return [word, { meta, spec, status: { ...status, conditions } }];
        }),
    );
}

/** How many pods there are of each image, by what they have come to. */
function pods(objects) {
    const count = {};
    for (const pod of objects.filter((object) => object.kind === "Pod")) {
        const ready = byType(pod.status?.conditions).Ready?.status ?? "False";
        const gone = pod.metadata.deletionTimestamp ? ", terminating" : "";
        const owner = pod.metadata.ownerReferences?.length ? "" : ", without owner";
        const image = pod.spec.containers[0].image;
        const word = `${image} ${pod.status?.phase}, ready ${ready}${gone}${owner}`;
        count[word] = (count[word] ?? 0) + 1;
    }
    return count;
}

/** The sizes in the order in which they were taken. A set of no pods counts as none. */
function path(seen) {
    const words = seen.sizes.map(({ sizes }) => {
        const wanted = Object.entries(sizes).filter(([, size]) => size > 0);
        return wanted
            .sort()
            .map(([image, size]) => `${image.split(":")[1]}=${size}`)
            .join(" ");
    });
    return words.filter((word, index) => word !== words[index - 1]);
}

function isWithin(short, long) {
    let next = 0;
    for (const word of long) if (word === short[next]) next += 1;
    return next === short.length;
}

/** How large all sets together were at most and at least, between the first step and the last. */
function bounds(steps) {
    const totals = steps
        .slice(1)
        .map((word) => [...word.matchAll(/=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0));
    return `${steps.at(0)} ${steps.at(-1)} ${Math.max(...totals)} ${Math.min(...totals)}`;
}

/**
 * Whether the sizes took the same way. Pods that come to be ready in the same moment are seen by
 * one pass or by several; then the steps are others between the same ends and the same bounds.
 */
export function comparePaths(ours, theirs) {
    const [own, peer] = [path(ours), path(theirs)];
    const steps = { ours: own, theirs: peer };
    if (own.join() === peer.join()) return { word: "same", steps };
    if (isWithin(own, peer)) return { word: "same, ours in fewer steps", steps };
    if (isWithin(peer, own)) return { word: "same, the peer in fewer steps", steps };
    if (bounds(own) === bounds(peer)) return { word: "same bounds", steps };
    return { word: "OTHER", steps };
}

export function compareObjects(ours, theirs) {
    return [
        ...differences("", workloads(ours.objects), workloads(theirs.objects)),
        ...differences("Pods", pods(ours.objects), pods(theirs.objects)),
    ];
}

export function compareEvents(ours, theirs) {
    const kept = (seen) => new Set(seen.events.filter((word) => !word.startsWith("Node ")));
    const [own, peer] = [kept(ours), kept(theirs)];
    return {
        onlyOurs: [...own].filter((word) => !peer.has(word)),
        onlyTheirs: [...peer].filter((word) => !own.has(word)),
    };
}
