use std::time::Duration;

use crate::controllers::Deed;
use crate::kernel::Time;
use crate::scenario::{In, shipped};
use crate::view::{LaneId, Session};

use super::layout::{Layout, Room};
use super::*;

const ROOM: Room = Room { width: 900.0, column_min: 46.0, scale: 0.06 };

fn at(scenario: &str, secs: u64) -> Session {
    let mut session = Session::open_shipped(scenario, Some(7));
    session.seek(Time::from_secs(secs));
    session
}

fn ask(focus: Focus) -> Ask {
    Ask { focus, lane: None, within: None, idle: false, every_event: false }
}

fn laid_out(session: &Session, diagram: &Diagram) -> Layout {
    Layout::of(diagram, ROOM, &|at| session.shown_of(at), &|item, _| match &item.what {
        What::Pass(..) => "creates 1".to_owned(),
        What::Watch { event, .. } => event.word().to_owned(),
        What::Did { line, .. } | What::Fault { line } => line.to_string(),
        _ => "x".to_owned(),
    })
}

fn reaches(diagram: &Diagram, from: usize, wanted: impl Fn(&What) -> bool) -> bool {
    diagram.chain(from).into_iter().any(|at| wanted(&diagram.items[at].what))
}

fn is_deletion(what: &What) -> bool {
    matches!(what, What::Did { line, .. } if line.starts_with("delete pod"))
}

fn is_drop(what: &What) -> bool {
    matches!(what, What::Fault { line } if line.starts_with("fault drop"))
}

#[test]
fn the_lost_event_is_there_in_both_lanes_and_leads_back_to_the_line_and_the_fault() {
    let session = at("lost-event", 60);
    let diagram = session.diagram(&ask(Focus::Divergence(0)));
    assert_eq!(diagram.lanes, [LaneId::Edge, LaneId::Level]);
    for lane in [LaneId::Edge, LaneId::Level] {
        let lost = diagram.items.iter().position(|item| {
            item.lane == lane
                && matches!(&item.what, What::Watch { end: End::LostAtDoor, event, .. }
                    if event.word() == "DELETED")
        });
        let lost = lost.unwrap_or_else(|| panic!("{lane:?}: {:#?}", diagram.items));
        assert!(reaches(&diagram, lost, is_deletion));
        assert!(reaches(&diagram, lost, is_drop));
    }
}

#[test]
fn what_led_to_the_level_lanes_pass_reaches_what_somebody_did() {
    let session = at("lost-event", 60);
    let (lane, number) = session.divergences()[0].pass;
    assert_eq!(lane, LaneId::Level);
    let diagram = session.diagram(&ask(Focus::Pass(lane, number)));
    assert_eq!(diagram.lanes, [LaneId::Level]);
    let pass = diagram.find(lane, ItemId::Pass(number)).expect("the pass itself is there");
    assert!(reaches(&diagram, pass, is_deletion));
    // What it asked for is there, and nothing that came later.
    let asked = diagram.effects(pass).count();
    assert!(asked >= 1);
    let end = diagram.items[pass].to.1;
    assert!(diagram.items.iter().all(|item| item.from.1 <= end));
}

#[test]
fn the_chain_of_a_typed_deletion_is_walked_link_by_link() {
    let mut session = at("doubled-event", 9);
    let line = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";
    session.act(line, None, In::Both);
    session.seek(Time::ZERO + Duration::from_millis(9_900));
    let passes = session.passes(crate::view::PassFilter::default(), 50, 0);
    let bound = passes.iter().rev().find(|row| {
        row.lane == LaneId::Level && row.pass.does.iter().any(|(deed, _)| *deed == Deed::Bind)
    });
    let number = bound.expect("the new pod was bound").pass.number;
    let diagram = session.diagram(&ask(Focus::Pass(LaneId::Level, number)));
    let mut here = diagram.find(LaneId::Level, ItemId::Pass(number)).expect("is there");
    let mut words = Vec::new();
    while let Some(up) = diagram.step(here, Step::Cause) {
        let (low, high) = (&diagram.items[here], &diagram.items[up]);
        assert!(high.from.1 <= low.from.1, "a cause comes first: {high:?} {low:?}");
        words.push(match &high.what {
            What::Watch { event, .. } => event.word().to_owned(),
            What::Request { verb, .. } => format!("{verb:?}"),
            What::Pass(id, _) => format!("{id:?}"),
            What::Did { line, .. } => line.to_string(),
            other => format!("{other:?}"),
        });
        here = up;
    }
    assert_eq!(words, ["ADDED", "Create", "ReplicaSet", "DELETED", line]);
    assert!(diagram.step(here, Step::Effect).is_some());
}

#[test]
fn the_diagram_of_a_seek_is_that_of_a_fresh_run() {
    for id in ["lost-event", "killed-half-way", "doubled-event"] {
        let fresh = at(id, 50);
        let mut sought = at(id, 50);
        sought.seek(Time::from_secs(12));
        sought.seek(Time::from_secs(50));
        for focus in [Focus::Everything, Focus::Divergence(0)] {
            let ask = Ask { every_event: true, ..ask(focus) };
            let (a, b) = (fresh.diagram(&ask), sought.diagram(&ask));
            assert_eq!(a, b, "{id}");
            let heights = [laid_out(&fresh, &a).height, laid_out(&sought, &b).height];
            assert!((heights[0] - heights[1]).abs() < 1e-3, "{id}: {heights:?}");
        }
    }
}

#[test]
fn a_divergence_stays_told_when_the_moment_shown_lies_before_it() {
    let mut session = at("lost-event", 60);
    let told = session.divergences();
    session.seek(Time::from_secs(11));
    assert_eq!(session.divergences(), told);
    let diagram = session.diagram(&ask(Focus::Divergence(0)));
    assert!(!diagram.items.is_empty());
}

#[test]
fn every_shipped_scenario_gives_a_bounded_diagram_that_holds_together() {
    for shipped in shipped() {
        let session = at(shipped.id, 90);
        for focus in [Focus::Everything, Focus::Divergence(0)] {
            let diagram = session.diagram(&ask(focus));
            let passes = |lane| {
                let own = diagram.items.iter().filter(|item| item.lane == lane);
                own.filter(|item| matches!(item.what, What::Pass(..))).count()
            };
            for lane in &diagram.lanes {
                assert!(passes(*lane) <= PASSES_MAX, "{}", shipped.id);
            }
            for (at, item) in diagram.items.iter().enumerate() {
                assert!(item.from.1 <= item.to.1, "{}: {item:?}", shipped.id);
                assert!(item.from.0 < diagram.columns.len() && item.to.0 < diagram.columns.len());
                assert!(item.causes.iter().all(|cause| *cause != at));
                for cause in &item.causes {
                    assert_eq!(diagram.items[*cause].lane, item.lane, "{}", shipped.id);
                }
            }
            holds(shipped.id, &laid_out(&session, &diagram), &diagram);
        }
    }
}

/// All is inside, nothing is written over anything else, and time goes down in both lanes alike.
fn holds(id: &str, layout: &Layout, diagram: &Diagram) {
    let rising = layout.axis.knots.windows(2).all(|pair| pair[0].1 < pair[1].1);
    assert!(rising, "{id}: the axis goes back");
    for item in &diagram.items {
        let (from, to) = layout.ends(item);
        for (x, y) in [from, to] {
            assert!(
                (0.0..=layout.width).contains(&x) && (0.0..=layout.height).contains(&y),
                "{id}"
            );
        }
    }
    for (place, a) in layout.labels.iter().enumerate() {
        for b in layout.labels.iter().skip(place + 1) {
            let apart = (a.y - b.y).abs() >= 14.9
                || a.x + super::layout::width(&a.text) <= b.x
                || b.x + super::layout::width(&b.text) <= a.x;
            assert!(apart, "{id}: {a:?} over {b:?}");
        }
    }
}

#[test]
fn a_long_wait_is_a_marked_gap_and_does_not_take_its_length() {
    let session = at("lost-event", 60);
    let diagram = session.diagram(&ask(Focus::Divergence(0)));
    let layout = laid_out(&session, &diagram);
    let longest = layout.axis.gaps.iter().map(|(wait, _)| *wait).max().expect("there is a gap");
    assert!(longest > Duration::from_secs(10), "{longest:?}");
    assert!(layout.height < 900.0, "{}", layout.height);
}

#[test]
fn what_has_to_do_with_one_object_leaves_the_rest_out() {
    let session = at("rolling-update", 60);
    let all = session.diagram(&ask(Focus::Everything));
    let keys = session.diagram_objects();
    let key = keys.iter().find(|key| key.kind == crate::api::Kind::Deployment).expect("is there");
    let one = session.diagram(&ask(Focus::Object(key.clone())));
    assert!(!one.items.is_empty() && one.items.len() < all.items.len());
    let idle = session.diagram(&Ask { idle: true, ..ask(Focus::Everything) });
    assert!(idle.left_out > 0, "a rolling update has more passes than a diagram takes");
}

#[test]
fn every_watch_event_is_drawn_if_asked_for_bounded_and_without_taking_room() {
    let session = at("rolling-update", 20);
    let few = session.diagram(&ask(Focus::Everything));
    let many = session.diagram(&Ask { every_event: true, ..ask(Focus::Everything) });
    let is_quiet = |item: &&Item| matches!(&item.what, What::Watch { end, .. } if end.is_quiet());
    assert_eq!(few.items.iter().filter(is_quiet).count(), 0);
    for lane in &many.lanes {
        let quiet: Vec<&Item> =
            many.items.iter().filter(is_quiet).filter(|item| item.lane == *lane).collect();
        assert!((20..=EVENTS_MAX).contains(&quiet.len()), "{lane:?}: {}", quiet.len());
        // Each is told of once: what woke a pass that is drawn is drawn as that.
        for item in &quiet {
            let What::Watch { object, revision, .. } = &item.what else { panic!("{item:?}") };
            let same = many.items.iter().filter(|other| {
                let told = |what: &What| {
                    matches!(what, What::Watch { object: o, revision: r, .. }
                        if (o, r) == (object, revision))
                };
                other.lane == *lane && other.to.0 == item.to.0 && told(&other.what)
            });
            assert_eq!(same.count(), 1, "{item:?}");
            assert!(item.causes.iter().all(|cause| many.items[*cause].from.1 <= item.from.1));
        }
        assert!(quiet.iter().any(|item| !item.causes.is_empty()), "they come from writes");
    }
    let heights = [&few, &many].map(|diagram| laid_out(&session, diagram).height);
    assert!((heights[1] - heights[0]).abs() < 1.0, "{heights:?}");
    holds("rolling-update", &laid_out(&session, &many), &many);
}

#[test]
fn the_watch_events_of_one_object_are_all_that_its_diagram_has() {
    let session = at("lost-event", 9);
    let keys = session.diagram_objects();
    let pod = keys.iter().find(|key| key.kind == crate::api::Kind::Pod).expect("is there");
    let ask = Ask { every_event: true, ..ask(Focus::Object(pod.clone())) };
    let diagram = session.diagram(&ask);
    let events = diagram.items.iter().filter_map(|item| match &item.what {
        What::Watch { object, end, .. } if end.is_quiet() => Some(object),
        _ => None,
    });
    let events: Vec<_> = events.collect();
    assert!(events.len() > 3 && events.iter().all(|object| *object == pod), "{events:?}");
    assert_eq!(diagram.events_left_out, 0);
}

#[test]
fn the_item_near_the_pointer_is_found() {
    let session = at("lost-event", 60);
    let diagram = session.diagram(&ask(Focus::Divergence(0)));
    let layout = laid_out(&session, &diagram);
    for (at, item) in diagram.items.iter().enumerate() {
        let ((x0, y0), (x1, y1)) = layout.ends(item);
        let hit = layout.hit(&diagram, (x0 + x1) / 2.0, (y0 + y1) / 2.0);
        let hit = hit.unwrap_or_else(|| panic!("{item:?}"));
        // Where two lie over each other either may be meant.
        let far = |at: usize| layout.distance(&diagram.items[at], x0.midpoint(x1), y0.midpoint(y1));
        assert!(hit == at || far(hit) <= far(at), "{item:?} is not found");
    }
    assert_eq!(layout.hit(&diagram, -100.0, -100.0), None);
}

#[test]
fn a_knob_that_is_turned_is_a_fault_and_not_something_that_reaches_the_server() {
    let mut session = at("rolling-update", 5);
    session.act("knob replicaset workers=2", None, In::Both);
    session.seek(Time::from_secs(6));
    let diagram = session.diagram(&ask(Focus::Everything));
    let knob = diagram.items.iter().find(|item| match &item.what {
        What::Did { line, .. } | What::Fault { line } => line.starts_with("knob"),
        _ => false,
    });
    assert!(knob.is_some_and(|knob| matches!(knob.what, What::Fault { .. })), "{knob:?}");
}

#[test]
fn what_somebody_holds_is_on_its_way_and_comes_late_once_it_is_let_go() {
    let mut session = at("rolling-update", 5);
    let hold = "fault hold to=replicaset kind=Pod type=DELETED at=wire";
    session.act(hold, None, In::Level);
    session.act(
        "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force",
        None,
        In::Level,
    );
    let end = |session: &Session| {
        let all = session.diagram(&Ask { idle: true, ..ask(Focus::Everything) });
        let told = all.items.iter().filter_map(|item| match &item.what {
            What::Watch { event, end, .. } if event.word() == "DELETED" => Some(*end),
            _ => None,
        });
        let told = told.filter(|end| *end != End::Heard).collect::<Vec<_>>();
        assert!(told.len() <= 1, "{told:?}");
        told.first().copied()
    };
    session.seek(Time::from_secs(6));
    assert_eq!(end(&session), Some(End::Held));
    session.act("fault release to=replicaset", None, In::Level);
    session.seek(Time::from_secs(8));
    assert_eq!(end(&session), Some(End::Late));
}
