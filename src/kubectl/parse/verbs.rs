//! The verbs, and the flags that each has beside the common ones. A verb with verbs of its own
//! stands before them.

/// Verb or verbs, and flags; see `flags::specs`.
pub const VERBS: &[(&str, &str)] = &[
    ("annotate", "all overwrite list local resource-version= @pick @file @show @dry"),
    ("api-resources", "namespaced api-group= verbs= sort-by= no-headers cached categories= @show"),
    ("api-versions", ""),
    (
        "apply",
        "server-side force-conflicts force prune overwrite validate? wait cascade? all \
         grace-period= timeout= prune-allowlist= openapi-patch @pick @file @show @dry",
    ),
    ("attach", "container,c= stdin,i tty,t"),
    ("auth", ""),
    ("autoscale", "min= max= cpu= memory= cpu-percent= name= save-config @pick @file @show @dry"),
    ("certificate", ""),
    ("cluster-info", ""),
    ("completion", ""),
    ("config", ""),
    ("cordon", "selector,l= limit= dry-run?"),
    ("cp", "container,c= no-preserve retries="),
    ("create", "save-config validate? edit raw= selector,l= @file @show @dry"),
    (
        "create clusterrole",
        "verb= resource= resource-name= non-resource-url= aggregation-rule= save-config validate? \
         @show @dry",
    ),
    (
        "create clusterrolebinding",
        "clusterrole= user= group= serviceaccount= save-config validate? @show @dry",
    ),
    (
        "create configmap",
        "from-literal= from-file= from-env-file= append-hash save-config validate? @show @dry",
    ),
    ("create cronjob", "image= schedule= restart= save-config validate? @show @dry"),
    ("create deployment", "image= port= replicas,r= save-config validate? @show @dry"),
    (
        "create ingress",
        "rule= class= default-backend= annotation= save-config validate? @show @dry",
    ),
    ("create job", "image= from= save-config validate? @show @dry"),
    ("create namespace", "save-config validate? @show @dry"),
    (
        "create poddisruptionbudget",
        "selector= min-available= max-unavailable= save-config validate? @show @dry",
    ),
    (
        "create priorityclass",
        "value= description= global-default preemption-policy= save-config validate? @show @dry",
    ),
    ("create quota", "hard= scopes= save-config validate? @show @dry"),
    ("create role", "verb= resource= resource-name= save-config validate? @show @dry"),
    (
        "create rolebinding",
        "role= clusterrole= user= group= serviceaccount= save-config validate? @show @dry",
    ),
    ("create secret", ""),
    (
        "create secret docker-registry",
        "docker-username= docker-password= docker-email= docker-server= from-file= append-hash \
         save-config validate? @show @dry",
    ),
    (
        "create secret generic",
        "from-literal= from-file= from-env-file= type= append-hash save-config validate? @show \
         @dry",
    ),
    ("create secret tls", "cert= key= append-hash save-config validate? @show @dry"),
    ("create service", ""),
    ("create service clusterip", "tcp= clusterip= save-config validate? @show @dry"),
    ("create service externalname", "tcp= external-name= save-config validate? @show @dry"),
    ("create service loadbalancer", "tcp= save-config validate? @show @dry"),
    ("create service nodeport", "tcp= node-port= save-config validate? @show @dry"),
    ("create serviceaccount", "save-config validate? @show @dry"),
    ("create token", "duration= audience= @show"),
    ("debug", "image= it target= container,c= stdin,i tty,t profile="),
    (
        "delete",
        "all cascade? force grace-period= ignore-not-found now timeout= wait interactive,i raw= \
         output,o= dry-run? @pick @file",
    ),
    ("describe", "show-events chunk-size= @pick @file"),
    (
        "diff",
        "server-side force-conflicts field-manager= prune concurrency= selector,l= @file \
         show-managed-fields",
    ),
    (
        "drain",
        "ignore-daemonsets delete-emptydir-data force grace-period= timeout= disable-eviction \
         pod-selector= skip-wait-for-delete-timeout= chunk-size= selector,l= limit= dry-run?",
    ),
    (
        "edit",
        "save-config validate? windows-line-endings subresource= output-patch @pick @file @show",
    ),
    ("events", "for= types= watch,w no-headers chunk-size= all-namespaces,A @show"),
    ("exec", "container,c= stdin,i tty,t quiet,q @file"),
    ("explain", "recursive api-version= output="),
    (
        "expose",
        "port= target-port= name= type= protocol= cluster-ip= external-ip= labels,l= selector= \
         session-affinity= load-balancer-ip= save-config overrides= field-selector= limit= @file \
         @show @dry",
    ),
    (
        "get",
        "watch,w watch-only show-labels label-columns,L= sort-by= no-headers show-kind \
         ignore-not-found chunk-size= raw= subresource= server-print output-watch-events @pick \
         @file @show",
    ),
    ("help", ""),
    ("kustomize", ""),
    ("label", "all overwrite list local resource-version= @pick @file @show @dry"),
    (
        "logs",
        "follow,f container,c= previous,p tail= since= since-time= timestamps prefix \
         all-containers all-pods limit-bytes= max-log-requests= ignore-errors selector,l= \
         pod-running-timeout= limit=",
    ),
    ("options", ""),
    ("patch", "patch,p= type= subresource= local patch-file= @pick @file @show @dry"),
    ("plugin", ""),
    ("port-forward", ""),
    ("proxy", ""),
    (
        "replace",
        "force save-config validate? grace-period= cascade? timeout= wait raw= subresource= @file \
         @show @dry",
    ),
    ("rollout", "@file"),
    ("rollout history", "revision= @pick @file @show"),
    ("rollout pause", "@pick @file @show field-manager="),
    ("rollout restart", "@pick @file @show field-manager="),
    ("rollout resume", "@pick @file @show field-manager="),
    ("rollout status", "revision= watch,w timeout= @pick @file"),
    ("rollout undo", "to-revision= dry-run? @pick @file @show"),
    (
        "run",
        "image= port= labels,l= restart= env= command rm stdin,i tty,t attach expose annotations= \
         image-pull-policy= overrides= override-type= privileged quiet,q leave-stdin-open \
         pod-running-timeout= grace-period= force timeout= save-config @show @dry",
    ),
    ("scale", "replicas= current-replicas= resource-version= timeout= all @pick @file @show @dry"),
    ("set", ""),
    (
        "set env",
        "env,e= container,c= list overwrite resolve from= prefix= keys= all local @pick @file \
         @show @dry",
    ),
    ("set image", "all local @pick @file @show @dry"),
    (
        "set resources",
        "limits= requests= container,c= containers= all local @pick @file @show @dry",
    ),
    ("set selector", "all local resource-version= @pick @file @show @dry"),
    ("set serviceaccount", "all local @pick @file @show @dry"),
    ("set subject", "all local user= group= serviceaccount= @pick @file @show @dry"),
    ("taint", "all overwrite validate? @pick @show @dry"),
    ("top", ""),
    ("top node", "no-headers sort-by= show-capacity use-protocol-buffers selector,l= show-swap"),
    ("top pod", "containers no-headers sort-by= sum use-protocol-buffers show-swap @pick"),
    ("uncordon", "selector,l= limit= dry-run?"),
    ("version", "client short output,o="),
    ("wait", "for= timeout= all local @pick @file @show"),
];

/// Other words for some of the verbs' own verbs.
const ALIASES: &[(&str, &str)] = &[
    ("create clusterroles", "create clusterrole"),
    ("create cj", "create cronjob"),
    ("create cm", "create configmap"),
    ("create deploy", "create deployment"),
    ("create ing", "create ingress"),
    ("create ns", "create namespace"),
    ("create pc", "create priorityclass"),
    ("create pdb", "create poddisruptionbudget"),
    ("create resourcequota", "create quota"),
    ("create sa", "create serviceaccount"),
    ("create svc", "create service"),
    ("set sa", "set serviceaccount"),
    ("top no", "top node"),
    ("top nodes", "top node"),
    ("top po", "top pod"),
    ("top pods", "top pod"),
];

/// The verb of this name, and its flags.
pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let alias = ALIASES.iter().find(|(word, _)| *word == name);
    let name = alias.map_or(name, |(_, verb)| *verb);
    VERBS.iter().copied().find(|(verb, _)| *verb == name)
}

/// The verbs below `name`; below nothing: the first ones.
pub fn below(name: &str) -> impl Iterator<Item = &'static str> + '_ {
    VERBS.iter().filter_map(move |(verb, _)| {
        let rest = match name {
            "" => verb,
            _ => verb.strip_prefix(name)?.strip_prefix(' ')?,
        };
        (!rest.contains(' ')).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_stand_in_order_and_each_alias_leads_to_one() {
        assert!(VERBS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (word, _) in ALIASES {
            assert!(find(word).is_some(), "{word}");
        }
        assert_eq!(below("rollout").count(), 6);
        assert_eq!(
            below("create secret").collect::<Vec<_>>(),
            ["docker-registry", "generic", "tls"]
        );
        assert!(below("").any(|verb| verb == "get") && !below("").any(|verb| verb.contains(' ')));
    }
}
