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
