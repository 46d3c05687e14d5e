use super::*;
use crate::kernel::Time;
use crate::scenario::{Followed, In, Scenario};

const WEB: &str = "title: Test
seed: 3
objects: |
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: \"registry.example/web:1\"}]}
";

fn session() -> Session {
    let mut session = Session::open(Scenario::read("test", WEB).expect("a scenario"), None);
    session.seek(Time::ZERO);
    session
}

fn to(session: &mut Session, seconds: u64) {
    session.seek(Time::from_secs(seconds));
}

fn enter(session: &mut Session, line: &str) -> u64 {
    session.act(line, None, In::Both);
    session.follow_line(line, None, In::Both).unwrap_or_else(|| panic!("{line} goes on"))
}

fn shown(session: &mut Session, number: u64, lane: LaneId) -> Followed {
    let lanes = session.followed(number).expect("it is known");
    lanes.into_iter().find(|(id, _)| *id == lane).expect("both lanes").1
}

fn level(session: &mut Session, number: u64) -> Followed {
    shown(session, number, LaneId::Level)
}

fn texts(session: &mut Session, number: u64) -> Vec<std::sync::Arc<str>> {
    let lanes = session.followed(number).expect("it is known");
    lanes.into_iter().map(|(_, followed)| followed.text).collect()
}

fn delete_a_pod(session: &mut Session) {
    session.act("kubectl delete pod/$(app=web)[0] --wait=false", None, In::Both);
}

#[test]
fn a_wait_prints_when_what_it_waits_for_has_come_and_only_at_moments_after_that() {
    let mut session = session();
    let line = "kubectl wait deploy/web --for=condition=Available --timeout=60s";
    let number = enter(&mut session, line);
    let open = Followed { text: "".into(), is_open: true, error: false };
    let met = "deployment.apps/web condition met\n";
    let over = Followed { text: met.into(), is_open: false, error: false };
    for (second, expected) in [(0, &open), (30, &over), (0, &open), (1, &open), (50, &over)] {
        to(&mut session, second);
        assert_eq!(level(&mut session, number), *expected, "at {second} s");
    }
}

#[test]
fn a_wait_that_is_not_met_ends_with_its_time_and_an_error() {
    let mut session = session();
    to(&mut session, 20);
    let path = "--for=jsonpath='{.spec.replicas}'=9";
    let number = enter(&mut session, &format!("kubectl wait deploy/web {path} --timeout=5s"));
    let usual = enter(&mut session, &format!("kubectl wait deploy/web {path}"));
    to(&mut session, 24);
    assert!(level(&mut session, number).is_open && level(&mut session, usual).is_open);
    to(&mut session, 25);
    let words = "error: timed out waiting for the condition on deployments.apps/web\n";
    let late = Followed { text: words.into(), is_open: false, error: true };
    assert_eq!(level(&mut session, number), late);
    assert!(level(&mut session, usual).is_open, "without a word it waits for 30 s");
    to(&mut session, 50);
    assert_eq!(level(&mut session, usual), late);
}

#[test]
fn waits_for_what_comes_and_for_what_goes_are_met_one_object_after_the_other() {
    let mut session = session();
    to(&mut session, 20);
    let gone = enter(&mut session, "kubectl wait pod -l app=web --for=delete --timeout=5m");
    let there = enter(&mut session, "kubectl wait configmap/one --for=create --timeout=5m");
    session.act("kubectl create configmap one", None, In::Level);
    assert_eq!(&*level(&mut session, there).text, "configmap/one condition met\n");
    assert!(shown(&mut session, there, LaneId::Edge).is_open, "only the other lane has it");
    session.act("kubectl scale deploy web --replicas=0", None, In::Both);
    to(&mut session, 120);
    let text = level(&mut session, gone).text;
    assert_eq!(text.matches(" condition met\n").count(), 3, "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_rollout_is_followed_to_its_end() {
    let mut session = session();
    to(&mut session, 20);
    session.act("kubectl set image deploy/web web=registry.example/web:2", None, In::Both);
    let number = enter(&mut session, "kubectl rollout status deploy/web");
    let once = "kubectl rollout status deploy/web --watch=false";
    assert_eq!(session.follow_line(once, None, In::Both), None);
    let waits = "Waiting for deployment spec update to be observed...\n";
    assert_eq!(&*level(&mut session, number).text, waits);
    to(&mut session, 120);
    let told = level(&mut session, number);
    assert!(told.text.ends_with("deployment \"web\" successfully rolled out\n"), "{}", told.text);
    assert!(told.text.contains("1 out of 3 new replicas have been updated..."), "{}", told.text);
    assert!(!told.is_open && !told.error);
    let late = enter(&mut session, "kubectl rollout status deploy/web --timeout=1s");
    assert!(!level(&mut session, late).is_open, "there is nothing to wait for");
}

#[test]
fn a_watch_prints_a_row_for_each_change_below_one_head() {
    let mut session = session();
    to(&mut session, 20);
    let number = enter(&mut session, "kubectl get pods -w");
    let before = level(&mut session, number).text;
    assert_eq!(before.lines().count(), 4, "{before}");
    to(&mut session, 40);
    assert_eq!(level(&mut session, number).text, before, "nothing has happened");
    delete_a_pod(&mut session);
    to(&mut session, 80);
    let after = level(&mut session, number);
    assert!(after.is_open && after.text.starts_with(&*before), "{}", after.text);
    assert_eq!(after.text.matches("NAME").count(), 1, "{}", after.text);
    for word in ["Terminating", "Pending", "ContainerCreating", "Running"] {
        assert!(after.text[before.len()..].contains(word), "{word}: {}", after.text);
    }
    let ready: Vec<Option<usize>> = after.text.lines().map(|line| line.find("/1")).collect();
    assert!(ready[1..].iter().all(|at| *at == ready[1]), "columns stay: {}", after.text);
}

#[test]
fn a_watch_has_its_own_forms_and_its_own_refusals() {
    let mut session = session();
    to(&mut session, 20);
    let only = enter(&mut session, "kubectl get pods --watch-only --no-headers");
    assert_eq!(&*level(&mut session, only).text, "");
    let name = enter(&mut session, "kubectl get deploy web -w -o name");
    let events = enter(&mut session, "kubectl events -w --types=Normal");
    let told = level(&mut session, events).text;
    assert!(told.starts_with("LAST SEEN"), "{told}");
    let two = enter(&mut session, "kubectl get pods,deploy -w");
    let words = "watch is only supported on individual resources and resource collections";
    let refused = level(&mut session, two);
    assert_eq!(*refused.text, *format!("error: {words} - 2 resources were found\n"));
    assert!(refused.error && !refused.is_open);
    let none = enter(&mut session, "kubectl get pod nobody -w");
    assert!(level(&mut session, none).text.contains("\"nobody\" not found"));
    delete_a_pod(&mut session);
    to(&mut session, 80);
    let pods = level(&mut session, only).text;
    assert!(pods.starts_with("web-") && pods.contains("Terminating"), "{pods}");
    let names = level(&mut session, name).text;
    assert!(names.lines().count() > 1 && names.lines().all(|l| l == "deployment.apps/web"));
    let later = level(&mut session, events).text;
    assert!(later.starts_with(&*told) && later[told.len()..].contains("Killing"), "{later}");
}

#[test]
fn what_was_played_step_by_step_reads_as_what_was_jumped_to() {
    let lines =
        ["kubectl get pods -w", "kubectl get events -w", "kubectl rollout status deploy/web"];
    let play = |step: u64| {
        let mut session = session();
        let numbers = lines.map(|line| enter(&mut session, line));
        for second in (0..=60).step_by(step as usize) {
            to(&mut session, second);
            numbers.iter().for_each(|number| drop(texts(&mut session, *number)));
        }
        let told = numbers.map(|number| texts(&mut session, number));
        (told, [LaneId::Edge, LaneId::Level].map(|lane| session.trace_hash(lane)))
    };
    let (by_steps, at_once) = (play(1), play(60));
    assert!(by_steps.0[0][0].lines().count() > 6, "{:?}", by_steps.0);
    assert_eq!(by_steps, at_once);
    let mut alone = session();
    to(&mut alone, 60);
    assert_eq!(alone.trace_hash(LaneId::Level), at_once.1[1], "following leaves no trace");
}

#[test]
fn another_course_of_the_run_is_followed_too_and_undo_brings_the_first_one_back() {
    let mut session = session();
    to(&mut session, 20);
    let number = enter(&mut session, "kubectl get pods -w");
    to(&mut session, 60);
    let first = level(&mut session, number).text;
    to(&mut session, 30);
    delete_a_pod(&mut session);
    to(&mut session, 60);
    let second = level(&mut session, number).text;
    assert!(second.len() > first.len() && second.starts_with(&*first), "{second}");
    assert!(session.undo());
    to(&mut session, 60);
    assert_eq!(level(&mut session, number).text, first);
    // Before it was entered it shows what it said at first.
    to(&mut session, 10);
    assert!(!level(&mut session, number).is_open);
}

#[test]
fn a_line_that_was_ended_prints_nothing_after_that_moment() {
    let mut session = session();
    let number = enter(&mut session, "kubectl get pods -w");
    let other = enter(&mut session, "kubectl get deploy -w");
    to(&mut session, 20);
    let told = level(&mut session, number).text;
    session.stop_following(Some(number));
    assert_eq!(*level(&mut session, number).text, *format!("{told}^C\n"));
    assert!(level(&mut session, other).is_open);
    delete_a_pod(&mut session);
    to(&mut session, 60);
    let over = Followed { text: format!("{told}^C\n").into(), is_open: false, error: false };
    assert_eq!(level(&mut session, number), over);
    to(&mut session, 1);
    assert!(level(&mut session, number).is_open, "it was not ended yet");
    to(&mut session, 60);
    session.stop_following(None);
    assert_eq!(level(&mut session, number), over);
    assert!(!level(&mut session, other).is_open);
}

#[test]
fn each_lane_prints_what_happens_in_it() {
    let mut session = session();
    to(&mut session, 20);
    let number = enter(&mut session, "kubectl get rs -w");
    session.act("fault drop to=replicaset kind=Pod type=DELETED", None, In::Both);
    delete_a_pod(&mut session);
    to(&mut session, 90);
    let [edge, level] = texts(&mut session, number).try_into().expect("two lanes");
    assert!(level.lines().count() > edge.lines().count(), "{level}{edge}");
}

#[test]
fn what_the_history_no_longer_keeps_is_said_to_be_missing() {
    let mut session = session();
    let number = enter(&mut session, "kubectl get pods -w");
    to(&mut session, 20);
    let kept = level(&mut session, number).text;
    session.act("fault compact", None, In::Both);
    assert_eq!(level(&mut session, number).text, kept, "what was told stays told");
    to(&mut session, 19);
    assert_eq!(level(&mut session, number).text.lines().next(), kept.lines().next());
    to(&mut session, 40);
    let text = level(&mut session, number).text;
    assert!(text.starts_with("# what changed before is no longer kept\nNAME"), "{text}");
}

#[test]
fn of_very_many_lines_the_newest_are_kept() {
    let mut session = session();
    let number = enter(&mut session, "kubectl get deploy web -w -o jsonpath={.metadata.labels.n}");
    for n in 0..450 {
        session.act(&format!("kubectl label deploy web n={n} --overwrite"), None, In::Level);
    }
    let text = level(&mut session, number).text;
    assert_eq!(text.lines().count(), 401);
    assert!(text.starts_with("# ") && text.ends_with("\n449\n"), "{text}");
}

#[test]
fn logs_are_read_on_until_the_container_ends_and_no_further() {
    let mut session = session();
    to(&mut session, 20);
    let first = "starting registry.example/web:1\nready after ";
    let number = enter(&mut session, "kubectl logs -f deploy/web");
    let before = level(&mut session, number);
    assert!(before.is_open && before.text.starts_with(first), "{}", before.text);
    let crash = enter(&mut session, "kubectl logs -f pod/$(app=web)[2] --tail=1 --prefix");
    to(&mut session, 30);
    session.act("fault container $(app=web)[2] crash", None, In::Both);
    session.act("kubectl delete pod/$(app=web)[0] --wait=false", None, In::Both);
    to(&mut session, 200);
    let after = level(&mut session, number);
    let added = after.text.strip_prefix(&*before.text).expect("it goes on");
    assert_eq!((added, after.is_open), ("received SIGTERM, stopping\nbye\n", false));
    let crashed = level(&mut session, crash);
    assert!(crashed.text.lines().all(|line| line.starts_with("[pod/web-")), "{}", crashed.text);
    assert!(crashed.text.contains("] ready after ") && crashed.text.contains("] fatal: "));
    assert!(!crashed.is_open && !crashed.text.contains("starting"), "another run is not read");
    to(&mut session, 25);
    assert_eq!(level(&mut session, number), before);
}

#[test]
fn logs_of_a_container_that_never_ran_are_refused() {
    let mut session = session();
    let number = enter(&mut session, "kubectl logs -f deploy/web");
    assert!(level(&mut session, number).error, "there is no pod yet");
    to(&mut session, 1);
    let number = enter(&mut session, "kubectl logs -f deploy/web");
    let refused = level(&mut session, number);
    assert!(refused.text.contains("is waiting to start"), "{}", refused.text);
    assert!(refused.error && !refused.is_open);
}

#[test]
fn a_line_that_was_put_off_prints_from_its_moment_on() {
    let mut session = session();
    to(&mut session, 20);
    let wait = "kubectl wait deploy/web --for=jsonpath='{.status.replicas}'=5 --timeout=60s";
    let number = enter(&mut session, &format!("in 10s {wait}"));
    let list = enter(&mut session, "at 25s kubectl get deploy web -o name");
    let wrong = enter(&mut session, "at 26s kubectl scale deploy nobody --replicas=1");
    let said = format!("at 30s {wait}\n");
    let ahead = Followed { text: said.as_str().into(), is_open: false, error: false };
    assert_eq!(level(&mut session, number), ahead);
    to(&mut session, 29);
    assert_eq!(level(&mut session, number), ahead);
    let listed = "at 25s kubectl get deploy web -o name\ndeployment.apps/web\n";
    assert_eq!(&*level(&mut session, list).text, listed);
    let told = level(&mut session, wrong);
    assert!(told.error && told.text.contains("\"nobody\" not found"), "{}", told.text);
    to(&mut session, 35);
    let open = Followed { is_open: true, ..ahead.clone() };
    assert_eq!(level(&mut session, number), open);
    // Another line at the prompt does not end it.
    session.stop_following(None);
    session.act("kubectl scale deploy web --replicas=5", None, In::Level);
    to(&mut session, 80);
    let met = format!("{said}deployment.apps/web condition met\n");
    let over = Followed { text: met.as_str().into(), is_open: false, error: false };
    assert_eq!(level(&mut session, number), over);
    assert!(shown(&mut session, number, LaneId::Edge).is_open, "five are wanted in one lane only");
    // It reads the same in another course, and nothing where it was taken back.
    to(&mut session, 22);
    session.act("kubectl label deploy web a=b", None, In::Both);
    to(&mut session, 60);
    assert_eq!(level(&mut session, number), open);
    while session.undo() {}
    to(&mut session, 60);
    assert_eq!(level(&mut session, number), ahead);
}

#[test]
fn a_line_that_was_put_off_is_ended_by_its_own_button() {
    let mut session = session();
    to(&mut session, 20);
    let number = enter(&mut session, "in 10s kubectl get pods -w");
    session.stop_following(Some(number));
    to(&mut session, 35);
    assert!(level(&mut session, number).is_open, "before its moment there is nothing to end");
    session.stop_following(Some(number));
    to(&mut session, 40);
    let told = level(&mut session, number);
    assert!(!told.is_open && told.text.ends_with("^C\n"), "{}", told.text);
    to(&mut session, 32);
    assert!(level(&mut session, number).is_open);
}

#[test]
fn other_lines_are_not_followed() {
    let mut session = session();
    for line in [
        "kubectl get pods",
        "kubectl wait deploy/web --for=condition=Available --timeout=0",
        "kubectl wait deploy/web --for=nonsense",
        "fault kill replicaset",
        "in 5s kubectl get pods -w",
        "",
    ] {
        assert_eq!(session.follow_line(line, None, In::Both), None, "{line}");
    }
}
