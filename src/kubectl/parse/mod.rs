//! A line into a command.

mod manage;
mod options;
mod select;
mod write;

use crate::manifest::nearest;

use super::command::Command;
use super::errors::UsageError;
use super::flags::Flags;
use super::split::split;

use manage::{label, logs, nodes, rollout, taint};
use options::{from_text, view};
use select::{Naming, select};
use write::{create, delete, patch, run, scale, set};

/// The verbs, and the flags that each has beside the common ones.
const VERBS: &[(&str, &str)] = &[
    ("annotate", "all overwrite list local resource-version="),
    ("api-resources", "namespaced api-group= verbs= sort-by= no-headers"),
    (
        "apply",
        "server-side force-conflicts force prune overwrite validate? wait cascade? all \
               grace-period= timeout=",
    ),
    ("attach", ""),
    ("auth", ""),
    ("autoscale", "min= max= cpu= memory= cpu-percent= name="),
    ("config", ""),
    ("cordon", ""),
    ("cp", ""),
    (
        "create",
        "image= replicas= port= labels= restart= from-literal= save-config validate? edit \
                schedule= hard= min-available= max-unavailable=",
    ),
    ("debug", "image= it target="),
    ("delete", "all cascade? force grace-period= ignore-not-found now timeout= wait interactive,i"),
    ("describe", "show-events chunk-size="),
    ("diff", "server-side force-conflicts"),
    (
        "drain",
        "ignore-daemonsets delete-emptydir-data force grace-period= timeout= \
               disable-eviction pod-selector= skip-wait-for-delete-timeout= chunk-size=",
    ),
    ("edit", ""),
    ("events", "for= types= watch,w no-headers chunk-size="),
    ("exec", "container,c= stdin,i tty,t"),
    ("explain", "recursive api-version="),
    ("expose", "port= target-port= name= type= protocol="),
    (
        "get",
        "watch,w watch-only show-labels label-columns,L= sort-by= no-headers show-kind \
             ignore-not-found chunk-size= raw= subresource= show-managed-fields",
    ),
    ("help", ""),
    ("label", "all overwrite list local resource-version="),
    (
        "logs",
        "follow,f container,c= previous,p tail= since= since-time= timestamps prefix \
              all-containers all-pods limit-bytes= max-log-requests= ignore-errors",
    ),
    ("patch", "patch,p= type= subresource= local patch-file="),
    ("port-forward", ""),
    ("replace", "force save-config validate? grace-period= cascade? timeout= wait"),
    ("rollout", "revision= to-revision= watch,w timeout="),
    ("run", "image= port= labels= restart= env= command rm stdin,i tty,t attach"),
    ("scale", "replicas= current-replicas= resource-version= timeout= all"),
    ("set", "all local"),
    ("taint", "all overwrite"),
    ("top", "containers no-headers sort-by= sum"),
    ("uncordon", ""),
    ("version", "client short"),
    ("wait", "for= timeout= all"),
];

/// What `kubectl help` prints.
pub const HELP: &str = "\
kubectl controls the Kubernetes cluster manager; here it controls a simulated one.

  create, apply, replace   from YAML on standard input (-f -), or create KIND NAME
  get, describe, logs      look at objects; -o wide|yaml|json|name|jsonpath=...
  delete                   --grace-period=N, --force, --cascade=orphan, --limit=N
  scale, set image, patch, label, annotate
  rollout                  status, history, undo, pause, resume, restart
  cordon, uncordon, taint  for nodes
  events, explain, api-resources, version

--limit=N takes the first N objects; pod/$(app=web)[0] is the first pod with that label.";

/// Reads a line, with or without `kubectl` or `k` before it.
pub fn parse(line: &str) -> Result<Command, UsageError> {
    let mut words = split(line)?;
    if matches!(words.first().map(String::as_str), Some("kubectl" | "k")) {
        words.remove(0);
    }
    // Flags that every verb knows may stand before it.
    let at = verb_position(&words);
    let Some(at) = at else {
        return Ok(Command::Help);
    };
    let verb = words.remove(at);
    if verb.starts_with('-') {
        return Ok(Command::Help);
    }
    let Some((name, list)) = VERBS.iter().find(|(name, _)| *name == verb) else {
        let near = nearest(&verb, VERBS.iter().map(|(name, _)| *name));
        return Err(UsageError {
            message: format!("unknown command {verb:?} for \"kubectl\""),
            suggestion: near.map(str::to_string),
        });
    };
    let flags = Flags::parse(name, list, &words)?;
    if flags.has("help") {
        return Ok(Command::Help);
    }
    command(name, &flags)
}

/// Where the verb stands: flags that every verb knows may come before it.
pub(super) fn verb_position(words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-n" | "--namespace" | "-l" | "--selector" | "-o" | "--output" | "--context" => at += 2,
            word if word.starts_with("-n") || word.starts_with("--namespace=") => at += 1,
            "-A" | "--all-namespaces" => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn command(verb: &str, flags: &Flags) -> Result<Command, UsageError> {
    Ok(match verb {
        "get" => Command::Get(select(flags, &flags.words, Naming::AtWill)?, view(flags)?),
        "describe" => Command::Describe(select(flags, &flags.words, Naming::AtWill)?),
        "delete" => delete(flags)?,
        "apply" => Command::Apply(from_text(flags)?),
        "replace" => Command::Replace(from_text(flags)?),
        "create" if flags.value("filename").is_some() => Command::Create(from_text(flags)?),
        "create" => create(flags)?,
        "run" => run(flags)?,
        "scale" => scale(flags)?,
        "set" => set(flags)?,
        "patch" => patch(flags)?,
        "label" => label(flags, false)?,
        "annotate" => label(flags, true)?,
        "rollout" => rollout(flags)?,
        "cordon" => Command::Cordon(nodes(flags, &flags.words)?, true),
        "uncordon" => Command::Cordon(nodes(flags, &flags.words)?, false),
        "taint" => taint(flags)?,
        "logs" => logs(flags)?,
        "events" => {
            let mut view = view(flags)?;
            view.no_headers = flags.has("no-headers");
            let about: Vec<String> = flags.value("for").map(str::to_string).into_iter().collect();
            Command::Events(select(flags, &about, Naming::AtWill)?, view)
        }
        "explain" => match flags.words.as_slice() {
            [path] => Command::Explain(path.clone()),
            _ => {
                let message = "You must specify the type of resource to explain. Use \"kubectl \
                               api-resources\" for a complete list of supported resources.";
                return Err(UsageError::plain(message));
            }
        },
        "api-resources" => Command::ApiResources,
        "version" => Command::Version,
        "help" => Command::Help,
        other => Command::NotHere(other.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::select::ALL;
    use super::*;
    use crate::api::Kind;
    use crate::api::selector::Selector;
    use crate::kubectl::command::{Target, Which};

    fn refused(line: &str) -> String {
        parse(line).expect_err(line).to_string()
    }

    #[test]
    fn kubectl_may_be_left_out_and_aliases_are_known() {
        let command = parse("kubectl get pods").unwrap();
        for line in ["get po", "k get pod", "get Pods"] {
            assert_eq!(parse(line).unwrap(), command, "{line}");
        }
        assert_eq!(parse(""), Ok(Command::Help));
    }

    #[test]
    fn objects_are_named_in_all_of_kubectls_ways() {
        let targets = |line: &str| match parse(line) {
            Ok(Command::Get(select, _)) => select.targets,
            other => panic!("{line}: {other:?}"),
        };
        let named = |kind, name: &str| Target { kind, which: Which::Name(name.into()) };
        assert_eq!(
            targets("get pod/a deploy/b"),
            [named(Kind::Pod, "a"), named(Kind::Deployment, "b")]
        );
        assert_eq!(targets("get pods a b"), [named(Kind::Pod, "a"), named(Kind::Pod, "b")]);
        assert_eq!(targets("get po,rs").len(), 2);
        assert_eq!(targets("get all").len(), ALL.len());
        let chosen = targets("get pod/$(app=web)[2]");
        let selector = Selector::parse("app=web").unwrap();
        assert_eq!(chosen[0].which, Which::Chosen(selector, 2));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_with_the_nearest_right_one() {
        assert_eq!(
            refused("gett pods"),
            "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tget"
        );
        assert!(refused("get pds").contains("doesn't have a resource type \"pds\""));
        assert!(refused("get deploymnets").ends_with("\tdeployments"));
        assert!(refused("scale deploy web --replcias 3").ends_with("\t--replicas"));
        assert!(refused("rollout stat deploy/web").contains("kubectl rollout"));
        assert!(refused("delete pods").contains("no name was specified"));
        assert!(refused("get pod/a -l x=y").contains("when a selector is specified"));
        assert!(refused("scale deploy web").contains("required flag(s) \"replicas\""));
        assert!(refused("apply -f web.yaml").contains("standard input"));
        assert!(refused("get pods -o yml").ends_with("\t-o yaml"));
    }

    #[test]
    fn a_forced_deletion_has_no_grace_and_an_unforced_one_always_some() {
        let grace = |line: &str| match parse(line) {
            Ok(Command::Delete(_, options)) => options.grace_period,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(grace("delete pod a"), None);
        assert_eq!(grace("delete pod a --force"), Some(0));
        assert_eq!(grace("delete pod a --grace-period=0"), Some(1));
        assert_eq!(grace("delete pod a --now"), Some(1));
        assert_eq!(grace("delete pod a --grace-period 5"), Some(5));
        assert!(refused("delete pod a --force --grace-period=5").contains("together"));
    }
}
