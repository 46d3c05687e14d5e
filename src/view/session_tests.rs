use super::*;

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
