// Differences that are looked into, each with what Kubernetes itself does and where that is written
// down. In all of them the simulation does what Kubernetes does, or it is said that neither can be
// told from the other.

const KNOWN = [
    {
        what: /\.(generation|observedGeneration)$/,
        why:
            "The peer keeps no metadata.generation. Kubernetes sets it to 1 and counts changes of " +
            "the spec (pkg/registry/apps/deployment/strategy.go, PrepareForUpdate).",
    },
    {
        what: /^Deployment\.meta\.annotations\.deployment\.kubernetes\.io\/revision$/,
        why:
            "The peer does not write the revision to the Deployment. Kubernetes does, when it " +
            "finds or makes the new ReplicaSet (pkg/controller/deployment/sync.go, " +
            "getNewReplicaSet, SetDeploymentRevision).",
    },
    {
        what: /\.status\.\w*[rR]eplicas$/,
        if: (ours, theirs) => ours === undefined && theirs === 0,
        why:
            "A zero in a status is left out by Kubernetes' JSON (omitempty in " +
            "staging/src/k8s.io/api/apps/v1/types.go); the peer writes it.",
    },
    {
        what: /\.containers\.0\.resources$/,
        if: (ours, theirs) => ours === undefined && JSON.stringify(theirs) === "{}",
        why:
            "An empty resources, which Kubernetes always writes (a struct is never omitted), is " +
            "left out by the simulation. Here the peer is the closer one.",
    },
    {
        what: /^Event Pod Pulling$/,
        why:
            "The peer's images are there already. The kubelet tells Pulling before it asks the " +
            "runtime for an image that is not (pkg/kubelet/images/image_manager.go).",
    },
];

/** Why two values differ, if that is known. */
export function explain({ what, ours, theirs }) {
    const fits = (known) => known.what.test(what) && (known.if?.(ours, theirs) ?? true);
    return KNOWN.find(fits)?.why;
}
