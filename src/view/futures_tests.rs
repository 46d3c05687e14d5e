//! Tests of the tree of futures.

use super::*;
use crate::scenario::In;

fn input(at: u64, line: &str) -> Input {
    let line = line.to_string();
    let at = Time::from_secs(at);
    let (given, lanes) = (at, In::Both);
    Input { at, given, lanes, line, stdin: None, fails: None, prints: None }
}

fn lines(futures: &Futures) -> String {
    futures.inputs().into_iter().map(|input| input.line).collect::<Vec<_>>().join(" ")
}

/// a at 10 s, b at 20 s; then, back at 15 s, c.
fn forked() -> Futures {
    let mut futures = Futures::of(&[input(10, "a"), input(20, "b")]);
    futures.note(input(15, "c"), 1, None);
    futures
}

fn undo(futures: &mut Futures) -> Option<Time> {
    futures.undo(Left::default())
}

fn redo(futures: &mut Futures) -> Option<Time> {
    futures.redo(Left::default())
}

#[test]
fn a_branch_from_inputs_is_that_of_giving_them_one_by_one() {
    let inputs = [input(10, "a"), input(20, "b"), input(30, "c")];
    let mut given = Futures::default();
    for (done, input) in inputs.iter().enumerate() {
        given.note(input.clone(), done, None);
    }
    assert_eq!(Futures::of(&inputs), given);
    assert_eq!(given.shown_len(), 3);
}

#[test]
fn acting_in_the_past_keeps_the_future_that_it_cuts_off() {
    let futures = forked();
    assert_eq!(lines(&futures), "a c");
    let others = futures.list();
    assert_eq!(others.len(), 1);
    assert_eq!(others[0].lines, [(Time::from_secs(20), "b".to_string())]);
    assert_eq!(others[0].fork, Time::from_secs(15));
}

#[test]
fn undo_takes_the_fork_back_and_redo_gives_it_again() {
    let mut futures = forked();
    assert_eq!(undo(&mut futures), Some(Time::from_secs(15)));
    assert_eq!(lines(&futures), "a b");
    assert_eq!(futures.list(), [], "what redo brings is not told as another future");
    assert_eq!(undo(&mut futures), Some(Time::from_secs(20)));
    assert_eq!(undo(&mut futures), Some(Time::from_secs(10)));
    assert_eq!((lines(&futures).as_str(), undo(&mut futures)), ("", None));
    for expected in ["a", "a b", "a c"] {
        assert!(redo(&mut futures).is_some());
        assert_eq!(lines(&futures), expected);
    }
    assert_eq!(redo(&mut futures), None);
}

#[test]
fn what_was_undone_is_another_future_once_something_else_is_done() {
    let mut futures = Futures::of(&[input(10, "a"), input(20, "b")]);
    undo(&mut futures);
    futures.note(input(20, "c"), 1, None);
    assert_eq!(lines(&futures), "a c");
    assert_eq!(futures.list().len(), 1);
    undo(&mut futures);
    assert_eq!(lines(&futures), "a", "the branch on which c was given");
}

#[test]
fn another_future_is_shown_again_and_the_first_is_the_other_then() {
    let mut futures = forked();
    let other = futures.list()[0].id;
    let left = Left { end: Time::from_secs(40), outcome: Vec::new() };
    assert_eq!(futures.show(other, left.clone()), Some(Time::from_secs(15)));
    assert_eq!(lines(&futures), "a b");
    let told = futures.list();
    assert_eq!((told.len(), &told[0].left), (1, &Some(left)));
    assert_eq!(futures.show(999, Left::default()), None);
}

#[test]
fn above_the_limit_the_oldest_future_goes_and_it_is_counted() {
    let mut futures = Futures::of(&[input(10, "a")]);
    for number in 0..FUTURES_MAX + 3 {
        futures.note(input(5, &format!("f{number}")), 0, None);
    }
    assert_eq!(futures.list().len(), FUTURES_MAX);
    assert_eq!(futures.dropped(), 3);
    assert!(futures.list().iter().all(|future| future.lines[0].1 != "a"), "the oldest");
    // Undo still ends, at the branches that are left.
    let steps = (0..).take_while(|_| undo(&mut futures).is_some()).count();
    assert!(steps > FUTURES_MAX);
}

#[test]
fn a_tree_comes_back_from_its_list() {
    let mut futures = forked();
    undo(&mut futures);
    let again = Futures::from_list(futures.listed()).expect("it is a tree");
    assert_eq!(again.listed(), futures.listed());
    assert_eq!(lines(&again), "a b");
}

#[test]
fn a_list_that_is_no_tree_is_refused() {
    let good = forked().listed();
    assert!(Futures::from_list(good.clone()).is_some());
    let broken: [fn(&mut Listed); 5] = [
        |list| list.inputs[0].parent = Some(0),
        |list| list.inputs[1].before = Some(7),
        |list| list.inputs[1].input.given = Time::from_secs(1),
        |list| list.shown = Some(3),
        |list| list.undone = vec![9],
    ];
    for spoil in broken {
        let mut list = good.clone();
        spoil(&mut list);
        assert!(Futures::from_list(list.clone()).is_none(), "{list:?}");
    }
}
