use super::*;
use crate::view::costs;

fn at(scenario: &str, secs: u64) -> Session {
    let mut session = Session::open_shipped(scenario, Some(7));
    session.seek(Time::from_secs(secs));
    session
}

#[test]
fn a_line_that_acts_outside_of_the_cluster_is_kept_and_can_be_taken_back() {
    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n";
    let mut session = at("autoscaler-against-gitops", 16);
    let lines =
        [("load deploy/nginx cpu=200m", None), ("git push", Some(MAP)), ("git revert", None)];
    for (number, (line, stdin)) in lines.into_iter().enumerate() {
        let answers = session.act(line, stdin, In::Both);
        assert!(answers.iter().all(|(_, output)| !output.error), "{line}: {answers:?}");
        assert_eq!(session.run().inputs().len(), number + 1, "{line}");
    }
    let repository = |session: &Session| {
        let world = &session.run().lanes()[0].world;
        world.repository().log().count()
    };
    assert_eq!(repository(&session), 3);
    assert!(session.undo());
    assert_eq!(repository(&session), 2);
}

#[test]
fn a_line_that_only_reads_leaves_no_trace() {
    let mut session = at("order-lost-webhook", 16);
    for line in ["kubectl get pods", "git log", "ledger", "no such line"] {
        let answers = session.act(line, None, In::Both);
        assert!(!answers.is_empty() && session.run().inputs().is_empty(), "{line}");
    }
}

/// What is kept, and what a fresh reading finds.
fn is_fresh(session: &Session) {
    let mut forks: Vec<Time> = session.futures.list().iter().map(|future| future.fork).collect();
    forks.sort();
    forks.dedup();
    let divergences = divergence::all(&session.run);
    assert_eq!(session.divergences()[..], divergences);
    assert_eq!(session.marks()[..], story::marks(&session.run, &divergences, &forks));
    for limit in [8, 500] {
        assert_eq!(session.log(limit)[..], story::log(&session.run, &divergences, limit));
    }
    assert_eq!(session.costs()[..], costs::list(&session.run));
    assert_eq!(session.futures()[..], session.futures.list());
}

#[test]
fn what_was_read_off_the_run_is_what_a_fresh_reading_finds() {
    let mut session = at("lost-event", 30);
    is_fresh(&session);
    session.act("kubectl scale deployment web --replicas=5", None, In::Both);
    is_fresh(&session);
    session.seek(Time::from_secs(40));
    is_fresh(&session);
    session.act("in 5s fault kill replicaset", None, In::Level);
    is_fresh(&session);
    session.seek(Time::from_secs(50));
    is_fresh(&session);
    session.seek(Time::from_secs(32));
    session.act("kubectl scale deployment web --replicas=2", None, In::Edge);
    is_fresh(&session);
    for act in [Session::undo, Session::undo, Session::redo] {
        assert!(act(&mut session));
        is_fresh(&session);
    }
    session.restart();
    is_fresh(&session);
    assert!(!session.futures().is_empty());
    let other = session.futures()[0].id;
    assert!(session.show_future(other));
    is_fresh(&session);
    while session.undo() {}
    is_fresh(&session);
    // Nothing is told anew by this, and what was undone is another future now.
    session.restart();
    is_fresh(&session);
}

#[test]
fn going_back_and_forth_reads_nothing_anew() {
    let mut session = at("lost-event", 60);
    let read = |session: &Session| (session.divergences(), session.marks(), session.costs());
    let before = read(&session);
    for seconds in [12, 30, 29, 60] {
        session.seek(Time::from_secs(seconds));
        let now = read(&session);
        assert!(Arc::ptr_eq(&before.0, &now.0), "differences at {seconds} s");
        assert!(Arc::ptr_eq(&before.1, &now.1), "marks at {seconds} s");
        assert!(Arc::ptr_eq(&before.2, &now.2), "costs at {seconds} s");
    }
    // The log is that of the past: it stays as long as nothing happens.
    let log = session.log(80);
    session.seek(Time::from_millis(60_001));
    assert!(Arc::ptr_eq(&log, &session.log(80)));
    session.seek(Time::from_secs(70));
    assert!(!Arc::ptr_eq(&before.1, &read(&session).1), "the upkeep of ten seconds is told");
}

#[test]
fn the_log_tells_what_was_done_in_order_however_much_it_is() {
    let mut session = at("rolling-update", 5);
    session.act("in 1s kubectl label deploy web late=yes", None, In::Both);
    for n in 0..30 {
        session.act(&format!("kubectl label deploy web n={n} --overwrite"), None, In::Both);
    }
    let log = session.log(500);
    assert_eq!(session.log(8)[..], log[log.len() - 8..]);
    let lines: Vec<String> = log
        .iter()
        .filter_map(|line| match &line.what {
            crate::view::Happening::You(text) | crate::view::Happening::PutOff(text) => {
                Some(text.trim_start_matches("kubectl label deploy web ").to_string())
            }
            _ => None,
        })
        .collect();
    let labels = (0..30).map(|n| format!("n={n} --overwrite"));
    let expected: Vec<String> = labels.chain(["late=yes".to_string()]).collect();
    assert_eq!(lines, expected);
}

#[test]
fn verdicts_are_found_without_the_story_as_they_stand_in_it() {
    let mut session = at("autoscaler-against-gitops", 90);
    for seconds in [90, 20, 45] {
        session.seek(Time::from_secs(seconds));
        let run = session.run();
        for lane in session.lanes() {
            let in_story = run.story(lane).iter().enumerate().filter_map(|(number, entry)| {
                let Told::Verdict(verdict) = &entry.what else { return None };
                Some((number, entry.at, verdict))
            });
            assert!(run.turns(lane).eq(in_story), "{lane:?} at {seconds} s");
            let is_verdict = |told: &Told| matches!(told, Told::Verdict(_));
            let last = run.past(lane).iter().rfind(|entry| is_verdict(&entry.what));
            assert_eq!(run.verdict_since(lane), last.map(|entry| entry.at), "{lane:?}");
        }
    }
}

#[test]
fn a_step_forward_ends_where_the_next_pass_does_also_in_what_is_known() {
    let mut session = at("rolling-update", 8);
    session.seek(Time::from_secs(5));
    let ends: std::collections::BTreeSet<Time> = session
        .run()
        .lanes()
        .iter()
        .flat_map(|lane| story::pass_ends(session.run().story(lane.id)))
        .filter(|at| *at > session.now())
        .collect();
    assert!(ends.len() > 2, "{ends:?}");
    for end in ends {
        assert!(session.step_forward());
        assert_eq!(session.now(), end);
    }
}
