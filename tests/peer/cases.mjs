// What both implementations are asked to do. Every step is said once here and put into each one's
// own terms: kubectl lines for the simulation, API calls for the peer. Times are in seconds.

const IMAGE = "registry.example/web";

export const imageName = IMAGE;

export function deployment({ replicas = 4, image = 1, strategy, probe = false, spec = {} } = {}) {
    // All that the API server would fill in stands here, so that both hash the same template.
    const container = {
        name: "web",
        image: `${IMAGE}:${image}`,
        imagePullPolicy: "IfNotPresent",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        resources: {},
    };
    if (probe) {
        container.readinessProbe = {
            httpGet: { path: "/", port: 8080, scheme: "HTTP" },
            periodSeconds: 1,
            timeoutSeconds: 1,
            successThreshold: 1,
            failureThreshold: 3,
        };
    }
    return {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "default" },
        spec: {
            replicas,
            selector: { matchLabels: { app: "web" } },
            ...(strategy ? { strategy } : {}),
            template: {
                metadata: { labels: { app: "web" } },
                spec: {
                    containers: [container],
                    dnsPolicy: "ClusterFirst",
                    restartPolicy: "Always",
                    schedulerName: "default-scheduler",
                    securityContext: {},
                    terminationGracePeriodSeconds: 5,
                },
            },
            ...spec,
        },
    };
}

const rolling = (maxSurge, maxUnavailable) => ({
    type: "RollingUpdate",
    rollingUpdate: { maxSurge, maxUnavailable },
});

const updates = [
    [1, 0],
    [0, 1],
    [2, 1],
    ["25%", "25%"],
    ["100%", "0%"],
    [1, "100%"],
].map(([surge, unavailable]) => ({
    name: `rolling update, surge ${surge}, unavailable ${unavailable}`,
    object: deployment({ replicas: 5, strategy: rolling(surge, unavailable) }),
    steps: [{ at: 20, image: 2 }],
    until: 60,
}));

const cascades = ["background", "foreground", "orphan"].map((cascade) => ({
    name: `delete the Deployment, ${cascade}`,
    object: deployment({ replicas: 3 }),
    steps: [{ at: 20, delete: "deployment/web", cascade }],
    until: 50,
}));

export const cases = [
    { name: "create", object: deployment(), steps: [], until: 20 },
    {
        name: "scale up and down",
        object: deployment(),
        steps: [
            { at: 20, scale: 7 },
            { at: 40, scale: 2 },
        ],
        until: 60,
    },
    {
        name: "scale to nothing and back",
        object: deployment(),
        steps: [
            { at: 20, scale: 0 },
            { at: 40, scale: 3 },
        ],
        until: 60,
    },
    ...updates,
    {
        name: "Recreate",
        object: deployment({ strategy: { type: "Recreate" } }),
        steps: [{ at: 20, image: 2 }],
        until: 60,
    },
    {
        name: "a readiness probe that fails",
        object: deployment({ replicas: 4, probe: true, spec: { progressDeadlineSeconds: 30 } }),
        steps: [{ at: 20, image: "unready" }],
        until: 90,
    },
    {
        name: "scale in the midst of a rollout that hangs",
        object: deployment({ replicas: 10, probe: true, strategy: rolling(3, 2) }),
        steps: [
            { at: 20, image: "unready" },
            { at: 40, scale: 15 },
        ],
        until: 70,
    },
    {
        name: "a second update in the midst of the first",
        object: deployment({ replicas: 4, probe: true }),
        steps: [
            { at: 20, image: "unready" },
            { at: 40, image: 3 },
        ],
        until: 90,
    },
    {
        name: "delete a pod",
        object: deployment(),
        steps: [{ at: 20, deletePod: 0 }],
        until: 50,
    },
    {
        name: "delete the ReplicaSet",
        object: deployment({ replicas: 3 }),
        steps: [{ at: 20, delete: "replicaset", cascade: "background" }],
        until: 50,
    },
    ...cascades,
    {
        name: "pause, change, resume",
        object: deployment({ replicas: 4 }),
        steps: [
            { at: 20, pause: true },
            { at: 22, image: 2 },
            { at: 24, scale: 6 },
            { at: 40, pause: false },
        ],
        until: 80,
    },
    {
        name: "undo",
        object: deployment({ replicas: 4 }),
        steps: [
            { at: 20, image: 2 },
            { at: 50, undo: true },
        ],
        until: 90,
    },
    {
        name: "undo of an update that hangs",
        object: deployment({ replicas: 4, probe: true }),
        steps: [
            { at: 20, image: "unready" },
            { at: 40, undo: true },
        ],
        until: 80,
    },
    {
        name: "no history is kept",
        object: deployment({ replicas: 2, spec: { revisionHistoryLimit: 0 } }),
        steps: [{ at: 20, image: 2 }],
        until: 50,
    },
];

/** For the stopwatch: so many pods come, all change their image, all go. */
export const loads = [100, 300].map((pods) => ({
    name: `${pods} pods`,
    object: deployment({ replicas: pods }),
    steps: [{ at: 60, image: 2 }],
    until: 300,
    nodes: Math.ceil(pods / 50),
}));
