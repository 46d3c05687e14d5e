//! What stops rarely, one after the other: each matter, each reason and each state of a loop that
//! `tests.rs` does not come by.

use super::tests::{LEVEL, deploy, first_of, key, one, play, play_scenario, web};
use super::*;
use crate::api::Kind;
use crate::scenario::{In, Shipped};

/// Plays with these console lines, each at its second.
fn with(objects: &str, rest: &str, lines: &[(u64, &str)], until: u64) -> Run {
    let mut run = play(objects, rest, 0);
    for (second, line) in lines {
        assert!(run.schedule(Time::from_secs(*second), line, None, In::Both));
    }
    run.run_until(Time::from_secs(until), u64::MAX);
    for (number, input) in run.inputs().iter().enumerate() {
        let said = run.output(false, number, LEVEL).expect("it was done");
        assert!(!said.error, "{}: {}", input.line, said.text);
    }
    run
}

/// The same of the Deployment `web`, and what is said of it in a lane.
fn of_web(lane: LaneId, container: &str, rest: &str, lines: &[(u64, &str)]) -> Vec<Finding> {
    let until = lines.last().map_or(20, |(second, _)| second + 5);
    findings(&with(&web("", container), rest, lines, until), lane, &deploy())
}

/// How the loop stands that a finding names.
#[track_caller]
fn state(finding: &Finding) -> &LoopState {
    match &finding.why {
        Some(Why::Loop { state, .. }) => state,
        _ => panic!("no loop is named: {finding:#?}"),
    }
}

fn is_missing(what: &What) -> bool {
    matches!(what, What::Missing { .. })
}

fn pod(name: &str, spec: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

const ONE: &str = "containers: [{name: c, image: \"registry.example/one:1\"}]";

#[test]
fn a_pod_on_a_node_that_is_cut_off_does_not_end() {
    let cut = (20, "fault node node-1 network=cut");
    let run = with(&web("", ""), "", &[cut, (21, "kubectl delete pod --all --wait=false")], 60);
    let is_cut = |what: &What| matches!(what, What::NodeCut { node } if &**node == "node-1");
    let store = run.lane(LEVEL).expect("it is there").world.store();
    let ending = store.list(Kind::Pod).find(|pod| pod.meta().is_terminating());
    let ending = ending.expect("nobody ends it").key();
    assert_eq!(one(&findings(&run, LEVEL, &ending), is_cut).step, Step::Kubelet);
    let node = ObjectKey::new(Kind::Node, "", "node-1");
    one(&findings(&run, LEVEL, &node), is_cut);
    let back = with(&web("", ""), "", &[cut, (90, "fault node node-1 network=restored")], 120);
    assert!(findings(&back, LEVEL, &node).is_empty());
}

#[test]
fn a_node_without_a_machine_is_not_ready() {
    let run = play("apiVersion: v1\nkind: Node\nmetadata: {name: ghost}\n", "", 10);
    let found = findings(&run, LEVEL, &ObjectKey::new(Kind::Node, "", "ghost"));
    assert_eq!(one(&found, |what| *what == What::NodeNotReady).step, Step::Kubelet);
}

#[test]
fn a_dead_kubelet_is_told_from_a_dead_machine() {
    let lines = [(20, "fault kill kubelet/node-1"), (21, "kubectl scale deploy web --replicas=9")];
    let run = with(&web("", ""), "", &lines, 30);
    let down = |what: &What| matches!(what, What::KubeletDown { node } if &**node == "node-1");
    let found = findings(&run, LEVEL, &deploy());
    let stopped = one(&found, down);
    assert_eq!((stopped.object.kind, stopped.step), (Kind::Pod, Step::Kubelet));
    one(&findings(&run, LEVEL, &ObjectKey::new(Kind::Node, "", "node-1")), down);
}

#[test]
fn a_startup_probe_that_has_not_passed_is_told_from_an_unready_container() {
    let probe = "startupProbe: {httpGet: {path: /, port: 80}, failureThreshold: 500}";
    let images = "images: {\"registry.example/web:1\": {readyAfter: 1h}}";
    let found = of_web(LEVEL, probe, images, &[]);
    let starts = one(&found, |what| *what == What::StartupProbe { container: "web".into() });
    assert_eq!((starts.step, starts.count), (Step::Probe, 3));
    let bare = of_web(LEVEL, "", images, &[]);
    assert!(!bare.iter().any(|finding| matches!(finding.what, What::StartupProbe { .. })));
}

#[test]
fn a_readiness_gate_that_nobody_opens_is_a_condition() {
    let gate = pod("held", &format!("readinessGates: [{{conditionType: example/open}}], {ONE}"));
    let found = findings(&play(&gate, "", 30), LEVEL, &key(Kind::Pod, "held"));
    let closed = one(&found, |what| matches!(what, What::Condition { .. }));
    let what = What::Condition { kind: "Ready".into(), reason: "ReadinessGatesNotReady".into() };
    assert_eq!((&closed.what, closed.step), (&what, Step::Probe));
}

#[test]
fn refusals_are_told_apart_by_who_says_no() {
    for (with, code, by) in [
        ("throttled", 429, Refuser::Throttled),
        ("conflict", 409, Refuser::Conflict),
        ("forbidden", 403, Refuser::Other),
        ("internal", 500, Refuser::Other),
    ] {
        let fail = format!("fault fail from=replicaset verb=create kind=Pod with={with} count=99");
        let scale = (11, "kubectl scale deploy web --replicas=4");
        let found = of_web(LEVEL, "", "", &[(10, fail.as_str()), scale]);
        let missing = one(&found, is_missing);
        let Some(Why::Refused { by: who, code: number, .. }) = &missing.why else {
            panic!("{with}: {missing:#?}")
        };
        assert_eq!((*who, *number), (by, code), "{with}");
        assert!(matches!(missing.next, Next::Retry(_)), "{with}: {missing:#?}");
    }
}

#[test]
fn a_container_that_ended_for_good_says_how() {
    let images = "images: {\"registry.example/one:1\": {exitsAfter: 1s, exitCode: 3}}";
    let objects = pod("once", &format!("restartPolicy: Never, {ONE}"));
    let found = findings(&play(&objects, images, 30), LEVEL, &key(Kind::Pod, "once"));
    let ended = one(&found, |what| matches!(what, What::Ended { code: 3, .. }));
    assert_eq!(ended.step, Step::Container);
    // The one beside it runs on: the pod has not failed.
    let two = "restartPolicy: Never, containers: [{name: c, image: \"registry.example/one:1\"}, \
               {name: d, image: \"registry.example/two:1\"}]";
    let run = play(&pod("two", two), images, 30);
    let found = findings(&run, LEVEL, &key(Kind::Pod, "two"));
    one(
        &found,
        |what| matches!(what, What::Ended { container, code: 3, .. } if &**container == "c"),
    );
}

#[test]
fn a_pod_that_its_kubelet_will_not_take_has_failed() {
    let spec = "nodeName: node-1, containers: [{name: c, image: \"registry.example/one:1\", \
                resources: {requests: {cpu: 900}}}]";
    let found = findings(&play(&pod("big", spec), "", 20), LEVEL, &key(Kind::Pod, "big"));
    one(&found, |what| *what == What::PodFailed { reason: "OutOfcpu".into() });
}

#[test]
fn what_is_being_made_says_so_and_goes_on_by_itself() {
    let images = "images: {\"registry.example/web:1\": {pull: 60s}}";
    let found = of_web(LEVEL, "", images, &[]);
    let what = What::Starting { container: "web".into(), reason: "ContainerCreating".into() };
    let starts = one(&found, |found| *found == what);
    assert_eq!((starts.step, &starts.next, starts.count), (Step::Kubelet, &Next::UnderWay, 3));
}

#[test]
fn without_a_scheduler_pods_have_no_node() {
    let lines = [(10, "fault kill scheduler"), (11, "kubectl scale deploy web --replicas=5")];
    let found = of_web(LEVEL, "", "", &lines);
    let none = one(&found, |what| *what == What::NoNode);
    assert_eq!((none.step, none.count, state(none)), (Step::Scheduler, 2, &LoopState::Down));
    assert_eq!(none.next, Next::Never);
}

#[test]
fn too_many_pods_are_told_too() {
    let lines = [(10, "fault kill replicaset"), (11, "kubectl scale deploy web --replicas=1")];
    let found = of_web(LEVEL, "", "", &lines);
    let surplus = one(&found, |what| *what == What::Surplus { want: 1, have: 3 });
    assert_eq!((surplus.step, state(surplus)), (Step::Pods, &LoopState::Down));
}

#[test]
fn an_api_server_that_is_down_is_the_reason_for_everybody() {
    let lines =
        [(10, "kubectl scale deploy web --replicas=5"), (10, "fault apiserver down for=60s")];
    let found = of_web(LEVEL, "", "", &lines);
    let loops = found.iter().filter(|finding| finding.why.is_some());
    let states: Vec<&LoopState> = loops.map(state).collect();
    assert!(
        !states.is_empty() && states.iter().all(|s| **s == LoopState::ServerDown),
        "{found:#?}"
    );
}

#[test]
fn what_should_be_gone_and_is_not_is_terminating() {
    let delete = "kubectl delete pod one --grace-period=2 --wait=false";
    let lines = [(20, delete), (21, "fault apiserver down for=60s")];
    let run = with(&pod("one", ONE), "", &lines, 30);
    let found = findings(&run, LEVEL, &key(Kind::Pod, "one"));
    assert_eq!(one(&found, |what| *what == What::Terminating).step, Step::Controller);
}

#[test]
fn a_paused_leader_is_known_with_the_moment_of_its_return() {
    let lines = [
        (10, "fault leader replicaset paused for=60s"),
        (11, "kubectl scale deploy web --replicas=5"),
    ];
    let found = of_web(LEVEL, "", "", &lines);
    let missing = one(&found, is_missing);
    let until = Time::from_secs(70);
    assert_eq!(*state(missing), LoopState::PausedUntil(until));
    assert_eq!(missing.next, Next::Retry(until));
}

#[test]
fn news_that_is_late_is_on_its_way() {
    let lines = [
        (10, "fault delay to=replicaset kind=ReplicaSet by=40s at=wire"),
        (11, "kubectl scale deploy web --replicas=5"),
    ];
    let found = of_web(LEVEL, "", "", &lines);
    let missing = one(&found, is_missing);
    let LoopState::OnItsWay(at) = state(missing) else { panic!("{missing:#?}") };
    assert!(*at > Time::from_secs(50) && *at < Time::from_secs(53), "{at:?}");
}

#[test]
fn a_loop_that_starts_from_now_counts_nothing_of_what_was_there() {
    let lines = [
        (10, "fault kill replicaset"),
        (11, "kubectl scale deploy web --replicas=5"),
        (12, "fault restart replicaset"),
    ];
    let found = of_web(LaneId::Edge, "", "", &lines);
    let missing = one(&found, |what| *what == What::Missing { want: 5, have: 3 });
    assert_eq!(*state(missing), LoopState::Believes { sees: 0, truth: 3 });
    assert_eq!(missing.next, Next::Never);
    assert!(of_web(LEVEL, "", "", &lines).iter().all(|finding| !is_missing(&finding.what)));
}

#[test]
fn a_cache_that_is_wrong_believes_what_is_not_so() {
    let scenario = Shipped::find("lost-on-the-wire").expect("it ships").load();
    let mut run = play_scenario(scenario, 0);
    let believes = (1..120).find_map(|second| {
        run.run_until(Time::from_secs(second), u64::MAX);
        let found = findings(&run, LEVEL, &key(Kind::ReplicaSet, "web"));
        found.iter().find_map(|finding| match &finding.why {
            Some(Why::Loop { state: LoopState::Believes { sees, truth }, .. }) => {
                Some((*sees, *truth))
            }
            _ => None,
        })
    });
    assert_eq!(believes, Some((3, 2)));
}

#[test]
fn what_shall_not_run_now_waits_for_a_person() {
    let template = format!("template: {{spec: {{restartPolicy: Never, {ONE}}}}}");
    let job = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: later}}\n\
         spec: {{suspend: true, {template}}}\n---\n\
         apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: nightly}}\n\
         spec: {{suspend: true, schedule: \"* * * * *\", jobTemplate: {{spec: {{{template}}}}}}}\n"
    );
    let run = play(&job, "", 20);
    for key in [key(Kind::Job, "later"), key(Kind::CronJob, "nightly")] {
        let found = findings(&run, LEVEL, &key);
        assert_eq!(one(&found, |what| *what == What::Suspended).next, Next::ByHand, "{key}");
    }
}

fn scaler(target: &str) -> String {
    format!(
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\n\
         spec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}\n  \
         minReplicas: 1\n  maxReplicas: 9\n  metrics: [{{type: Resource, resource: {{name: cpu, \
         target: {{type: AverageValue, averageValue: 100m}}}}}}]\n"
    )
}

#[test]
fn an_autoscaler_says_that_its_target_is_not_there_or_what_it_should_be() {
    let hpa = key(Kind::HorizontalPodAutoscaler, "web");
    let run = play(&(web("", "") + &scaler("nobody")), "", 60);
    let found = findings(&run, LEVEL, &hpa);
    let what = What::CannotScale { reason: "FailedGetScale".into() };
    assert_eq!(one(&found, |found| *found == what).step, Step::Controller);
    let lines = [
        (1, "load deploy/web cpu=100m"),
        (60, "load deploy/web total cpu=600m"),
        (60, "fault kill hpa"),
    ];
    let run = with(&(web("", "") + &scaler("web")), "", &lines, 120);
    let found = findings(&run, LEVEL, &hpa);
    let should = one(&found, |what| matches!(what, What::ShouldScale { .. }));
    assert_eq!(should.what, What::ShouldScale { want: 6, have: 3 });
    assert_eq!(state(should), &LoopState::Down);
}

#[test]
fn what_lies_outside_of_the_cluster_is_compared_by_the_verdict_and_its_loop_is_named() {
    let scenario = Shipped::find("autoscaler-against-gitops").expect("it ships").load();
    let mut run = play_scenario(scenario, 14);
    run.act("fault kill gitops", None, In::Both);
    run.act("kubectl delete deploy --all --wait=false", None, In::Both);
    run.run_until(Time::from_secs(20), u64::MAX);
    let app = choices(&run.lane(LEVEL).expect("it is there").world).into_iter();
    let app = app.into_iter().find(|key| key.kind == Kind::Application).expect("there is one");
    let found = findings(&run, LEVEL, &app);
    let behind = one(&found, |what| *what == What::OutOfSync);
    assert_eq!(state(behind), &LoopState::Down);
    let scenario = Shipped::find("order-lost-webhook").expect("it ships").load();
    let run = play_scenario(scenario, 60);
    let short = short_of(&run.verdict(LaneId::Edge)).expect("the edge lane is short of it");
    one(&findings(&run, LaneId::Edge, &short), |what| *what == What::OrderBehind);
}

#[test]
fn the_tab_opens_with_what_is_short_else_with_what_was_written_last() {
    let run = play(&web("", ""), "", 30);
    assert_eq!(first(&run), Some((LEVEL, deploy())), "what the scenario wrote");
    let lines = [(20, "kubectl create configmap notes"), (21, "kubectl delete configmap notes")];
    assert_eq!(first(&with(&web("", ""), "", &lines, 30)), Some((LEVEL, deploy())));
    assert_eq!(first(&with(&web("", ""), "", &lines[..1], 30)), {
        Some((LEVEL, key(Kind::ConfigMap, "notes")))
    });
    let stuck = play_scenario(Shipped::find("lost-event").expect("it ships").load(), 50);
    let short = short_of(&stuck.verdict(LaneId::Edge)).expect("it is stuck");
    assert_eq!(first(&stuck), Some((LaneId::Edge, short)));
    let pods = first_of(&run, LEVEL, Kind::Pod);
    assert!(choices(&run.lane(LEVEL).expect("it is there").world).contains(&pods));
}
