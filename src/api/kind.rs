//! The kinds that the API server knows: names, plurals and short names as `kubectl api-resources`
//! prints them.

use super::custom::{self, CustomKind};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Pod,
    ReplicaSet,
    Deployment,
    Node,
    Event,
    Lease,
    Namespace,
    StatefulSet,
    DaemonSet,
    ControllerRevision,
    Job,
    CronJob,
    Service,
    ConfigMap,
    Secret,
    ServiceAccount,
    ReplicationController,
    ResourceQuota,
    LimitRange,
    PersistentVolumeClaim,
    PersistentVolume,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    PriorityClass,
    EndpointSlice,
    Ingress,
    NetworkPolicy,
    StorageClass,
    Role,
    RoleBinding,
    ClusterRole,
    ClusterRoleBinding,
    CustomResourceDefinition,
    Application,
    /// Answers of the metrics server; never stored.
    PodMetrics,
    /// Answers of the Git repository; never stored.
    GitRevision,
    /// Answers and webhooks of the payment provider; never stored.
    Payment,
    /// One that a user defined.
    Custom(CustomKind),
}

/// What the API server says of a kind.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    /// Itself.
    pub id: Kind,
    /// Group and version, such as `apps/v1`.
    pub api_version: &'static str,
    /// As written in a manifest.
    pub kind: &'static str,
    /// As written in an address and on a kubectl line.
    pub plural: &'static str,
    /// Short names on a kubectl line.
    pub short: &'static [&'static str],
    /// Whether it lives in a namespace.
    pub namespaced: bool,
    /// Whether the simulation acts on it, or merely keeps it.
    pub simulated: bool,
}

macro_rules! kinds {
    ($(
        $id:ident $version:literal $plural:literal [$($short:literal),*]
        $namespaced:literal $simulated:literal;
    )*) => {
        const KINDS: &[KindInfo] = &[$(KindInfo {
            id: Kind::$id,
            api_version: $version,
            kind: stringify!($id),
            plural: $plural,
            short: &[$($short),*],
            namespaced: $namespaced,
            simulated: $simulated,
        }),*];

        impl Kind {
            /// Its line in the table, if it is not one that a user defined.
            fn line(self) -> Option<usize> {
                #[allow(dead_code)]
                enum Line {
                    $($id),*
                }
                match self {
                    $(Kind::$id => Some(Line::$id as usize),)*
                    Kind::Custom(_) => None,
                }
            }
        }
    };
}

/// So many kinds at the end of the table are answers, never objects.
const ANSWERS: usize = 3;

kinds! {
    Pod "v1" "pods" ["po"] true true;
    ReplicaSet "apps/v1" "replicasets" ["rs"] true true;
    Deployment "apps/v1" "deployments" ["deploy"] true true;
    Node "v1" "nodes" ["no"] false true;
    Event "v1" "events" ["ev"] true true;
    Lease "coordination.k8s.io/v1" "leases" [] true true;
    Namespace "v1" "namespaces" ["ns"] false true;
    StatefulSet "apps/v1" "statefulsets" ["sts"] true true;
    DaemonSet "apps/v1" "daemonsets" ["ds"] true true;
    ControllerRevision "apps/v1" "controllerrevisions" [] true true;
    Job "batch/v1" "jobs" [] true true;
    CronJob "batch/v1" "cronjobs" ["cj"] true true;
    Service "v1" "services" ["svc"] true true;
    ConfigMap "v1" "configmaps" ["cm"] true false;
    Secret "v1" "secrets" [] true false;
    ServiceAccount "v1" "serviceaccounts" ["sa"] true false;
    ReplicationController "v1" "replicationcontrollers" ["rc"] true false;
    ResourceQuota "v1" "resourcequotas" ["quota"] true true;
    LimitRange "v1" "limitranges" ["limits"] true true;
    PersistentVolumeClaim "v1" "persistentvolumeclaims" ["pvc"] true false;
    PersistentVolume "v1" "persistentvolumes" ["pv"] false false;
    HorizontalPodAutoscaler "autoscaling/v2" "horizontalpodautoscalers" ["hpa"] true true;
    PodDisruptionBudget "policy/v1" "poddisruptionbudgets" ["pdb"] true true;
    PriorityClass "scheduling.k8s.io/v1" "priorityclasses" ["pc"] false true;
    EndpointSlice "discovery.k8s.io/v1" "endpointslices" [] true true;
    Ingress "networking.k8s.io/v1" "ingresses" ["ing"] true false;
    NetworkPolicy "networking.k8s.io/v1" "networkpolicies" ["netpol"] true false;
    StorageClass "storage.k8s.io/v1" "storageclasses" ["sc"] false false;
    Role "rbac.authorization.k8s.io/v1" "roles" [] true false;
    RoleBinding "rbac.authorization.k8s.io/v1" "rolebindings" [] true false;
    ClusterRole "rbac.authorization.k8s.io/v1" "clusterroles" [] false false;
    ClusterRoleBinding "rbac.authorization.k8s.io/v1" "clusterrolebindings" [] false false;
    CustomResourceDefinition "apiextensions.k8s.io/v1" "customresourcedefinitions" ["crd", "crds"]
        false true;
    Application "argoproj.io/v1alpha1" "applications" ["app", "apps"] true true;
    PodMetrics "metrics.k8s.io/v1beta1" "pods" [] true true;
    GitRevision "git/v1" "gitrevisions" [] false true;
    Payment "provider.example/v1" "payments" [] true true;
}

impl Kind {
    /// All kinds that can be stored, those apart that a user defines.
    pub fn all() -> &'static [KindInfo] {
        &KINDS[..KINDS.len() - ANSWERS]
    }

    /// Whether somebody outside of the cluster answers in this kind: it is never stored.
    pub fn is_answer(self) -> bool {
        matches!(self, Kind::PodMetrics | Kind::GitRevision | Kind::Payment)
    }

    /// A kind that only answers, or that can be stored, by its name in a manifest.
    pub fn of_message(kind: &str) -> Option<Kind> {
        KINDS.iter().find(|info| info.kind == kind).map(|info| info.id)
    }

    /// What the API server says of this kind.
    pub fn info(self) -> &'static KindInfo {
        match (self, self.line()) {
            (Kind::Custom(custom), _) => custom.info(),
            (_, line) => &KINDS[line.unwrap_or(0)],
        }
    }

    /// Whether a user defined it.
    pub fn is_custom(self) -> bool {
        matches!(self, Kind::Custom(_))
    }

    /// The group: `apps` of `apps/v1`, empty for the core group.
    pub fn group(self) -> &'static str {
        self.info().api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The kind that a manifest's `apiVersion` and `kind` name.
    pub fn of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
        let named = |info: &&KindInfo| info.kind == kind && info.api_version == api_version;
        let known = Self::all().iter().find(named).map(|info| info.id);
        known.or_else(|| custom::of_manifest(api_version, kind))
    }

    /// The kind that a kubectl argument names: kind, singular, plural or short name, any case, with
    /// or without the group (`deployments.apps`).
    pub fn of_argument(argument: &str) -> Option<Kind> {
        let lower = argument.to_ascii_lowercase();
        let (name, group) = lower.split_once('.').unwrap_or((&lower, ""));
        Self::all()
            .iter()
            .find(|info| {
                let named = info.plural == name
                    || info.kind.eq_ignore_ascii_case(name)
                    || info.short.contains(&name);
                let group = group.trim_start_matches("v1.");
                named && (group.is_empty() || info.id.group() == group)
            })
            .map(|info| info.id)
            .or_else(|| custom::of_argument(name, group))
    }

    /// The word that kubectl prints before a name: `deployment.apps`, `pod`.
    pub fn printed(self) -> String {
        let kind = self.info().kind.to_ascii_lowercase();
        match self.group() {
            "" => kind,
            group => format!("{kind}.{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for (index, info) in KINDS.iter().enumerate() {
            assert_eq!(info.id.line(), Some(index), "{}", info.kind);
        }
    }

    #[test]
    fn answers_stand_at_the_end_and_are_no_resources() {
        for kind in [Kind::PodMetrics, Kind::GitRevision, Kind::Payment] {
            assert!(!Kind::all().iter().any(|info| info.id == kind), "{kind:?}");
            assert!(kind.is_answer());
        }
        assert_eq!(Kind::of_argument("pods.metrics.k8s.io"), None);
    }

    #[test]
    fn a_kind_is_found_by_all_its_names() {
        for name in ["deploy", "deployment", "Deployments", "deployments.apps"] {
            assert_eq!(Kind::of_argument(name), Some(Kind::Deployment), "{name}");
        }
        assert_eq!(Kind::of_argument("deploymnet"), None);
        assert_eq!(Kind::of_manifest("extensions/v1beta1", "Deployment"), None);
    }
}
