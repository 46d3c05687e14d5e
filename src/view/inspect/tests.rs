//! Scenarios in which something stops, and what is said of them.

use std::sync::Arc;

use super::*;
use crate::api::Kind;
use crate::scenario::{Input, Scenario, Shipped};
use crate::world::{LaneId, Verdict};

pub const LEVEL: LaneId = LaneId::Level;

/// A Deployment of three pods named `web`, with these fields in its spec and its container.
pub fn web(spec: &str, container: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  {spec}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: \"registry.example/web:1\", {container}}}]}}
"
    )
}

/// A run of these objects with these steps, up to a second.
pub fn play(objects: &str, rest: &str, until: u64) -> Run {
    let objects = objects.replace('\n', "\n  ");
    let text = format!("seed: 5\nobjects: |\n  {objects}\n{rest}\n");
    let scenario = Scenario::read("", &text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    play_scenario(scenario, until)
}

pub fn play_scenario(scenario: Scenario, until: u64) -> Run {
    let seed = scenario.seed();
    let mut run = Run::new(Arc::new(scenario), seed, Vec::<Input>::new());
    run.run_until(Time::from_secs(until), u64::MAX);
    run
}

pub fn key(kind: Kind, name: &str) -> ObjectKey {
    ObjectKey::new(kind, "default", name)
}

pub fn deploy() -> ObjectKey {
    key(Kind::Deployment, "web")
}

pub fn first_of(run: &Run, lane: LaneId, kind: Kind) -> ObjectKey {
    let world = &run.lane(lane).expect("the lane is there").world;
    let first = world.store().list(kind).find(|object| &*object.meta().namespace == "default");
    first.expect("there is one").key()
}

/// Plays, and gives what is said of the Deployment in the level lane.
fn told(objects: &str, rest: &str, until: u64) -> Vec<Finding> {
    findings(&play(objects, rest, until), LEVEL, &deploy())
}

#[track_caller]
pub fn one(findings: &[Finding], is: impl Fn(&What) -> bool) -> &Finding {
    let found = findings.iter().find(|finding| is(&finding.what));
    found.unwrap_or_else(|| panic!("not among {findings:#?}"))
}

#[test]
fn a_full_quota_is_named_with_its_words_and_the_next_try() {
    let quota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none}\n\
                 spec: {hard: {pods: \"0\"}}\n";
    // The quota is there first.
    let objects = format!("{}{}", &quota[4..], format_args!("---\n{}", web("", "")));
    let run = play(&objects, "", 20);
    let found = findings(&run, LEVEL, &deploy());
    let missing = one(&found, |what| *what == What::Missing { want: 3, have: 0 });
    assert_eq!((missing.step, missing.object.kind), (Step::Pods, Kind::ReplicaSet));
    let Some(Why::Refused { by, code, message, .. }) = &missing.why else { panic!("{missing:#?}") };
    assert_eq!((*by, *code), (Refuser::Quota, 403));
    assert!(message.contains("exceeded quota: none"), "{message}");
    assert!(matches!(missing.evidence[0], Evidence::Request { .. }), "{missing:#?}");
    let Next::Retry(at) = missing.next else { panic!("{missing:#?}") };
    assert!(at > Time::from_secs(20) && at < Time::from_secs(1_100), "{at:?}");
    let steps = standing(&run, LEVEL, &deploy()).expect("it is there").steps;
    let stopped = steps.iter().find(|step| step.state == StepState::Stopped);
    assert_eq!(stopped.map(|step| (step.step, step.done, step.of)), Some((Step::Pods, 0, 3)));
}

#[test]
fn a_limit_range_that_refuses_is_told_from_a_quota() {
    let limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\n\
                  spec: {limits: [{type: Container, max: {cpu: 100m}}]}\n---\n";
    let objects = format!("{limits}{}", web("", "resources: {limits: {cpu: 1}}"));
    let found = told(&objects, "", 20);
    let missing = one(&found, |what| matches!(what, What::Missing { have: 0, .. }));
    assert!(
        matches!(missing.why, Some(Why::Refused { by: Refuser::LimitRange, .. })),
        "{missing:#?}"
    );
}

#[test]
fn a_request_that_ran_out_of_time_is_the_reason_while_it_is_the_last_one() {
    let rest = "steps: [{at: 0s, fault: {fail: {from: replicaset, verb: create, kind: Pod, \
                with: timeout, count: 30}}}]";
    let found = told(&web("", ""), rest, 15);
    let missing = one(&found, |what| matches!(what, What::Missing { .. }));
    let refused = matches!(missing.why, Some(Why::Refused { by: Refuser::Timeout, .. }));
    assert!(refused, "{missing:#?}");
}

#[test]
fn a_deployment_says_that_its_replica_set_was_refused() {
    let rest = "steps: [{at: 0s, fault: {fail: {from: deployment, verb: create, \
                kind: ReplicaSet, with: forbidden, count: 100}}}]";
    let found = told(&web("", ""), rest, 10);
    let none = one(&found, |what| *what == What::NoSet);
    let refused = matches!(none.why, Some(Why::Refused { by: Refuser::Other, code: 403, .. }));
    assert!(refused && matches!(none.next, Next::Retry(_)), "{none:#?}");
}

#[test]
fn a_pod_that_fits_nowhere_is_told_once_for_all_three() {
    let found = told(&web("", "resources: {requests: {cpu: 1000}}"), "", 20);
    let pod = one(&found, |what| *what == What::Unschedulable);
    assert_eq!((pod.count, pod.step), (3, Step::Scheduler));
    let Some(Evidence::Condition(row)) = pod.evidence.first() else { panic!("{pod:#?}") };
    assert!(row.message.contains("Insufficient cpu"), "{row:?}");
}

#[test]
fn an_image_that_is_not_there_says_when_it_is_tried_again() {
    let images = "images: {\"registry.example/web:1\": {pull: notFound}}";
    let found = told(&web("", ""), images, 30);
    let pull = one(&found, |what| matches!(what, What::NotPulled { .. }));
    assert_eq!(pull.step, Step::Kubelet);
    let Next::Retry(at) = pull.next else { panic!("{pull:#?}") };
    assert!(at > Time::from_secs(30) && at < Time::from_secs(400), "{at:?}");
    // It really is: by then another pull has failed.
    let run = play(&web("", ""), images, 30);
    let pod = pull.object.clone();
    let pulls = |run: &Run| {
        let events = standing(run, LEVEL, &pod).expect("it is there").events;
        events.iter().filter(|e| &*e.reason == "Pulling").map(|e| e.count).sum::<i32>()
    };
    let before = pulls(&run);
    let mut run = run;
    run.run_until(at + std::time::Duration::from_secs(2), u64::MAX);
    assert_eq!(pulls(&run), before + 1);
}

#[test]
fn a_crash_loop_says_how_it_ended_and_when_it_starts_again() {
    let images = "images: {\"registry.example/web:1\": {exitsAfter: 1s, exitCode: 3}}";
    let found = told(&web("", ""), images, 60);
    let crash = one(&found, |what| matches!(what, What::CrashLoop { code: 3, .. }));
    assert_eq!(crash.step, Step::Container);
    assert!(matches!(crash.next, Next::Retry(at) if at > Time::from_secs(60)), "{crash:#?}");
}

#[test]
fn a_probe_that_fails_is_told_with_the_moment_since_which_it_does() {
    let probe = "readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 1}";
    let images = "images: {\"registry.example/web:1\": {readyAfter: 1h}}";
    let found = told(&web("", probe), images, 30);
    let unready = one(&found, |what| matches!(what, What::NotReady { probe: true, .. }));
    assert_eq!((unready.step, unready.count), (Step::Probe, 3));
}

#[test]
fn a_dead_controller_is_named() {
    let rest = "steps: [{at: 10s, fault: {kill: replicaset}}, \
                {at: 11s, kubectl: \"scale deploy web --replicas=5\"}]";
    let found = told(&web("", ""), rest, 20);
    let missing = one(&found, |what| *what == What::Missing { want: 5, have: 3 });
    let down = Why::Loop { name: "replicaset", state: LoopState::Down };
    assert_eq!((missing.why.as_ref(), &missing.next), (Some(&down), &Next::Never));
}

#[test]
fn a_dead_deployment_controller_has_not_seen_the_new_spec() {
    let rest = "steps: [{at: 10s, fault: {kill: deployment}}, \
                {at: 11s, kubectl: \"scale deploy web --replicas=5\"}]";
    let found = told(&web("", ""), rest, 20);
    let unseen = one(&found, |what| matches!(what, What::Unobserved { .. }));
    assert_eq!(unseen.step, Step::Controller);
    assert!(matches!(unseen.why, Some(Why::Loop { state: LoopState::Down, .. })));
    one(&found, |what| *what == What::SetSize { want: 5, have: 3 });
}

#[test]
fn a_broken_watch_is_named() {
    let rest = "steps: [{at: 10s, fault: {cut: {controller: replicaset, for: 60s}}}, \
                {at: 11s, kubectl: \"scale deploy web --replicas=5\"}]";
    let found = told(&web("", ""), rest, 20);
    let missing = one(&found, |what| matches!(what, What::Missing { .. }));
    assert!(matches!(missing.why, Some(Why::Loop { state: LoopState::Cut, .. })), "{missing:#?}");
}

#[test]
fn a_lost_event_is_the_reason_in_the_edge_lane_and_the_resync_the_way_out_in_the_level_lane() {
    let scenario = Shipped::find("lost-event").expect("it ships").load();
    let run = play_scenario(scenario, 29);
    let edge = findings(&run, LaneId::Edge, &deploy());
    let missing = one(&edge, |what| *what == What::Missing { want: 3, have: 2 });
    let Some(Why::Loop { state: LoopState::EventLost { object, .. }, .. }) = &missing.why else {
        panic!("{missing:#?}")
    };
    assert_eq!((object.kind, &missing.next), (Kind::Pod, &Next::Never));
    assert!(missing.evidence.iter().any(|e| matches!(e, Evidence::Struck { .. })));
    let level = findings(&run, LEVEL, &deploy());
    let missing = one(&level, |what| matches!(what, What::Missing { .. }));
    assert!(matches!(&missing.next, Next::Due(_, what) if &**what == "resync"), "{missing:#?}");
}

#[test]
fn a_node_without_power_is_where_its_pods_stopped() {
    let rest = "steps: [{at: 20s, fault: {node: {name: node-1, power: off}}}]";
    let run = play(&web("", ""), rest, 30);
    let found = findings(&run, LEVEL, &deploy());
    let off = one(&found, |what| matches!(what, What::NodeOff { .. }));
    assert_eq!((off.object.kind, off.step), (Kind::Pod, Step::Kubelet));
    let node = ObjectKey::new(Kind::Node, "", "node-1");
    one(&findings(&run, LEVEL, &node), |what| matches!(what, What::NodeOff { .. }));
    let steps = standing(&run, LEVEL, &deploy()).expect("it is there").steps;
    let stopped = steps.iter().find(|step| step.state == StepState::Stopped);
    assert_eq!(stopped.map(|step| step.step), Some(Step::Kubelet), "{steps:#?}");
}

#[test]
fn what_ends_says_what_it_waits_for() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: held, finalizers: [a.example/b]}\n\
               spec: {containers: [{name: c, image: \"registry.example/slow:1\"}]}\n";
    let rest = "images: {\"registry.example/slow:1\": {stopsAfter: 20s}}\n\
                steps: [{at: 20s, kubectl: \"delete pod held --wait=false\"}]";
    let pod_key = key(Kind::Pod, "held");
    let at = |until| findings(&play(pod, rest, until), LEVEL, &pod_key);
    let grace = at(25);
    let found = one(&grace, |what| matches!(what, What::Grace { .. }));
    assert_eq!(found.next, Next::Retry(Time::from_secs(50)));
    let names = What::Finalizers { names: "a.example/b".into() };
    one(&at(200), |what| *what == names);
}

#[test]
fn a_paused_rollout_waits_for_a_person() {
    let rest = "steps: [{at: 20s, kubectl: \"rollout pause deploy web\"}, \
                {at: 21s, kubectl: \"set image deploy/web web=registry.example/web:2\"}]";
    let run = play(&web("", ""), rest, 40);
    let found = findings(&run, LEVEL, &deploy());
    let paused = one(&found, |what| *what == What::Paused);
    assert_eq!(paused.next, Next::ByHand);
}

#[test]
fn a_rollout_that_may_not_take_an_old_pod_away_says_so_and_then_passes_its_deadline() {
    let images = "images: {\"registry.example/web:2\": {pull: notFound}}\n\
                  steps: [{at: 20s, kubectl: \"set image deploy/web web=registry.example/web:2\"}]";
    let spec = "progressDeadlineSeconds: 60";
    let early = told(&web(spec, ""), images, 50);
    let blocked = one(&early, |what| matches!(what, What::Blocked { .. }));
    assert_eq!(blocked.what, What::Blocked { available: 3, least: 3, unready: 1 });
    assert!(early.iter().all(|finding| finding.what != What::Deadline));
    let late = told(&web(spec, ""), images, 200);
    let deadline = one(&late, |what| *what == What::Deadline);
    let Some(Evidence::Condition(row)) = deadline.evidence.first() else { panic!("{deadline:#?}") };
    assert_eq!(&*row.reason, "ProgressDeadlineExceeded");
}

#[test]
fn a_job_says_how_often_it_failed_when_it_tries_again_and_that_it_gave_up() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: work}\nspec:\n  \
               backoffLimit: 2\n  \
               template:\n    spec:\n      restartPolicy: Never\n      \
               containers: [{name: c, image: \"registry.example/bad:1\"}]\n";
    let images = "images: {\"registry.example/bad:1\": {exitsAfter: 1s, exitCode: 1}}";
    let work = key(Kind::Job, "work");
    let early = findings(&play(job, images, 8), LEVEL, &work);
    let waits = one(&early, |what| *what == What::JobBackOff { failed: 1, limit: 2 });
    assert!(matches!(waits.next, Next::Retry(at) if at > Time::from_secs(8)), "{waits:#?}");
    let late = findings(&play(job, images, 200), LEVEL, &work);
    let reason = What::JobFailed { reason: "BackoffLimitExceeded".into() };
    assert_eq!(one(&late, |what| *what == reason).next, Next::ByHand);
}

#[test]
fn a_stateful_set_waits_for_its_broken_pod_in_order() {
    let scenario = Shipped::find("statefulset-stuck").expect("it ships").load();
    let run = play_scenario(scenario, 150);
    let found = findings(&run, LEVEL, &key(Kind::StatefulSet, "web"));
    one(&found, |what| *what == What::InOrder { pod: "web-2".into() });
    one(&found, |what| matches!(what, What::NotPulled { .. }));
}

#[test]
fn an_autoscaler_without_metrics_and_a_kind_that_is_only_kept_are_named() {
    let objects = format!(
        "{}---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n\
         metadata: {{name: web}}\n\
         spec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}\n  \
         minReplicas: 1\n  maxReplicas: 5\n  metrics: [{{type: Resource, resource: {{name: cpu, \
         target: {{type: Utilization, averageUtilization: 50}}}}}}]\n---\napiVersion: v1\n\
         kind: PersistentVolumeClaim\nmetadata: {{name: data}}\nspec: {{accessModes: \
         [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n",
        web("", "resources: {requests: {cpu: 100m}}")
    );
    let run = play(&objects, "", 60);
    let scaler = findings(&run, LEVEL, &key(Kind::HorizontalPodAutoscaler, "web"));
    one(&scaler, |what| matches!(what, What::NoMetrics { .. }));
    let claim = findings(&run, LEVEL, &key(Kind::PersistentVolumeClaim, "data"));
    assert_eq!(one(&claim, |what| *what == What::NotSimulated).next, Next::ByHand);
}

#[test]
fn nothing_is_said_of_what_is_as_it_should_be() {
    let run = play(&web("", ""), "", 60);
    for kind in [Kind::Deployment, Kind::ReplicaSet, Kind::Pod] {
        let found = findings(&run, LEVEL, &first_of(&run, LEVEL, kind));
        assert!(found.is_empty(), "{found:#?}");
    }
    let steps = standing(&run, LEVEL, &deploy()).expect("it is there").steps;
    assert!(steps.len() == 8 && steps.iter().all(|step| step.state == StepState::Done));
}

#[test]
fn what_comes_next_agrees_with_the_verdict_in_every_scenario_that_ships() {
    let (mut stuck, mut told) = (0, 0);
    for shipped in crate::scenario::shipped() {
        let mut run = play_scenario(shipped.load(), 0);
        for until in [5, 12, 29, 45, 95, 150, 400] {
            run.run_until(Time::from_secs(until), u64::MAX);
            for lane in run.lanes() {
                let verdict = run.verdict(lane.id);
                let is_stuck = matches!(verdict, Verdict::Stuck { .. });
                let keys = choices(&lane.world);
                let all = keys.iter().flat_map(|key| findings(&run, lane.id, key));
                for finding in all {
                    let by_hand = finding.next == Next::ByHand;
                    assert!(
                        (finding.next == Next::Never) == (is_stuck && !by_hand),
                        "{} at {until} s: {verdict:?}, {finding:#?}",
                        shipped.id
                    );
                    told += 1;
                }
                // Who is short is told why.
                if let Some(short) = short_of(&verdict) {
                    stuck += usize::from(is_stuck);
                    let found = findings(&run, lane.id, &short);
                    let oscillates = matches!(verdict, Verdict::Oscillating { .. });
                    assert!(oscillates || !found.is_empty(), "{} {until}: {short}", shipped.id);
                }
            }
        }
    }
    assert!(stuck > 2 && told > 50, "{stuck} {told}");
}

fn field<'a>(record: &'a Record, path: &str) -> &'a FieldRow {
    let rows = record.lines.iter().flat_map(|(left, right)| [left, right]).flatten();
    let mut rows = rows.filter(|row| &*row.path == path);
    rows.next().unwrap_or_else(|| panic!("no {path} in {:#?}", record.lines))
}

fn owners(row: &FieldRow) -> Vec<&str> {
    row.owners.iter().map(|owner| &*owner.manager).collect()
}

#[test]
fn every_field_has_its_owner_and_the_revision_that_set_it() {
    let rest = "steps: [{at: 20s, kubectl: \"scale deploy web --replicas=4\"}]";
    let run = play(&web("", ""), rest, 40);
    let told = record(&run, LEVEL, &deploy(), None).expect("it is there");
    let replicas = field(&told, "spec.replicas");
    assert_eq!((owners(replicas), replicas.value.as_deref()), (vec!["kubectl"], Some("4")));
    assert_eq!(replicas.since.map(|(_, at)| at), Some(Time::from_secs(20)));
    let image = field(&told, "spec.template.spec.containers[web].image");
    assert_eq!(owners(image), ["kubectl-client-side-apply"]);
    let ready = field(&told, "status.readyReplicas");
    assert_eq!(owners(ready), ["kube-controller-manager"]);
    assert!(ready.since > replicas.since && ready.fresh && !replicas.fresh);
    // What answers each other stands in one line.
    let pair = told.lines.iter().find(|(left, _)| left.as_ref().is_some_and(|l| l == replicas));
    let right = pair.and_then(|(_, right)| right.as_ref()).map(|right| &*right.path);
    assert_eq!(right, Some("status.replicas"));
}

#[test]
fn a_field_of_server_side_apply_says_so() {
    let steps = "steps: [{at: 5s, kubectl: \"apply --server-side -f -\", stdin: \"{apiVersion: v1, \
                 kind: ConfigMap, metadata: {name: c}, data: {a: b}}\"}]";
    let run = play(&web("", ""), steps, 10);
    let told = record(&run, LEVEL, &key(Kind::ConfigMap, "c"), None).expect("it is there");
    let owner = &field(&told, "data.a").owners[0];
    assert_eq!((&*owner.manager, owner.applies), ("kubectl", true));
}

#[test]
fn each_revision_says_who_wrote_and_what_changed() {
    let rest = "steps: [{at: 20s, kubectl: \"scale deploy web --replicas=4\"}]";
    let run = play(&web("", ""), rest, 40);
    let told = record(&run, LEVEL, &deploy(), None).expect("it is there").revisions;
    assert_eq!(told.last().map(|first| first.kind), Some(RevisionKind::Created));
    let scaled = told.iter().find(|revision| revision.at == Time::from_secs(20));
    let scaled = scaled.expect("the line made a revision");
    assert!(
        matches!(&scaled.writer, Writer::Line { line, of_script: true } if line.contains("scale")),
        "{scaled:#?}"
    );
    let change = scaled.changes.iter().find(|change| &*change.path == "spec.replicas");
    let change = change.expect("replicas changed");
    assert_eq!((change.old.as_deref(), change.new.as_deref()), (Some("3"), Some("4")));
    let by_loop = told.iter().find_map(|revision| match revision.writer {
        Writer::Pass { number, .. } => Some((revision, number)),
        _ => None,
    });
    let (revision, number) = by_loop.expect("its loop wrote its status");
    let pass = crate::view::passes::find(&run, LEVEL, number).expect("the pass is told");
    assert!(pass.pass.wrote.contains(&revision.revision));
    assert!(
        revision.changes.iter().all(
            |change| change.path.starts_with("status.") || change.path.starts_with("metadata.")
        ),
        "{revision:#?}"
    );
}

#[test]
fn of_two_lines_of_a_moment_each_has_its_own_revision() {
    let step =
        |replicas| format!("{{at: 20s, kubectl: \"scale deploy web --replicas={replicas}\"}}");
    let run = play(&web("", ""), &format!("steps: [{}, {}]", step(4), step(5)), 40);
    let told = record(&run, LEVEL, &deploy(), None).expect("it is there").revisions;
    let then = told.iter().filter(|revision| revision.at == Time::from_secs(20)).rev();
    let wrote: Vec<(&str, &str)> = then
        .map(|revision| {
            let Writer::Line { line, .. } = &revision.writer else { panic!("{revision:#?}") };
            let set = revision.changes.iter().find(|change| &*change.path == "spec.replicas");
            let number = set.and_then(|change| change.new.as_deref()).expect("replicas changed");
            (line.split('=').next_back().unwrap_or_default(), number)
        })
        .collect();
    assert_eq!(wrote, [("4", "4"), ("5", "5")]);
}

#[test]
fn a_knob_that_is_turned_at_the_moment_of_a_line_wrote_nothing() {
    let mut run = play(&web("", ""), "", 19);
    for line in ["knob replicaset workers=2", "scale deploy web --replicas=4"] {
        run.schedule(Time::from_secs(20), line, None, crate::scenario::In::Both);
    }
    run.run_until(Time::from_secs(40), u64::MAX);
    let told = record(&run, LEVEL, &deploy(), None).expect("it is there").revisions;
    let scaled = told.iter().find(|revision| revision.at == Time::from_secs(20));
    let writer = scaled.map(|revision| &revision.writer);
    assert!(
        matches!(writer, Some(Writer::Line { line, .. }) if line.contains("scale")),
        "{writer:?}"
    );
}

#[test]
fn a_removed_object_is_told_as_it_was_last() {
    let rest = "steps: [{at: 20s, kubectl: \"delete deploy web --cascade=orphan\"}]";
    let run = play(&web("", ""), rest, 40);
    let told = standing(&run, LEVEL, &deploy()).expect("it is remembered");
    assert!(!told.there && told.findings.is_empty());
    let revisions = record(&run, LEVEL, &deploy(), None).expect("it is remembered").revisions;
    assert_eq!(revisions.first().map(|last| last.kind), Some(RevisionKind::Removed));
}

#[test]
fn the_family_leads_from_the_deployment_to_the_node_and_the_container() {
    let run = play(&web("", ""), "", 40);
    let pod = first_of(&run, LEVEL, Kind::Pod);
    let family = standing(&run, LEVEL, &pod).expect("it is there").family;
    let names: Vec<String> = family
        .iter()
        .map(|member| match &member.what {
            MemberKind::Object(key) => key.kind.info().kind.to_string(),
            MemberKind::Container(name) => format!("container {name}"),
        })
        .collect();
    assert_eq!(names, ["Deployment", "ReplicaSet", "Pod", "Node", "container web"]);
    assert_eq!(family.iter().map(|member| member.depth).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(family.iter().all(|member| member.well), "{family:#?}");
}

#[test]
fn the_other_lane_has_a_counterpart_by_name_or_by_place() {
    let scenario = Shipped::find("lost-event").expect("it ships").load();
    let run = play_scenario(scenario, 60);
    let world = |lane| &run.lane(lane).expect("the lane is there").world;
    let (edge, level) = (world(LaneId::Edge), world(LEVEL));
    assert_eq!(counterpart(edge, level, &deploy()), Some((deploy(), false)));
    // The level lane made a pod that the edge lane never made.
    let extra = choices(level).into_iter().find(|key| edge.store().get(key).is_none());
    assert_eq!(counterpart(level, edge, &extra.expect("one more pod")), None);
}

#[test]
fn a_step_back_keeps_the_later_revisions_until_the_future_is_another() {
    let rest = "steps: [{at: 20s, kubectl: \"scale deploy web --replicas=4\"}]";
    let mut run = play(&web("", ""), rest, 40);
    let whole = record(&run, LEVEL, &deploy(), None).expect("it is there");
    run.seek(Time::from_secs(15), u64::MAX);
    let alone = record(&run, LEVEL, &deploy(), None).expect("it is there");
    let again = record(&run, LEVEL, &deploy(), Some(&whole)).expect("it is there");
    assert!(alone.revisions.len() < whole.revisions.len());
    assert_eq!(again.revisions, whole.revisions);
    run.act("kubectl label deploy web a=b", None, crate::scenario::In::Both);
    let forked = record(&run, LEVEL, &deploy(), Some(&whole)).expect("it is there");
    assert!(forked.revisions.iter().all(|revision| revision.at <= Time::from_secs(15)));
}
