//! Without faults both flavours end in the same state, whatever is applied and whenever.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::api::Kind;
use crate::api::{Condition, Deployment, IntOrString, ReplicaSet, RollingUpdate, StrategyType};
use crate::apiserver::{Part, Request};

use super::super::{annotations, progress, proportional};
use super::lane::{Flavour, Lane, set_image, web};

/// A deadline that stands for none.
const NO_DEADLINE: i32 = i32::MAX;

/// What somebody does.
#[derive(Clone, Debug)]
enum Edit {
    Replicas(i32),
    Image(u8),
    Rolling(i32, i32),
    Recreate,
    Pause(bool),
    Annotate(u8),
    HistoryLimit(i32),
    MinReady(i32),
    Deadline(i32),
    ReplicasAndImage(i32, u8),
    DeleteSet(Index),
    ResizeSet(Index, i32),
}

/// What happens next: an edit, or the played cluster moves.
#[derive(Clone, Debug)]
enum Op {
    Edit(Edit),
    Acts(Vec<Index>),
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (0..7i32).prop_map(Edit::Replicas),
        4 => (0..4u8).prop_map(Edit::Image),
        1 => (0..3i32, 0..3i32).prop_filter_map("both zero", |(surge, gone)| {
            (surge + gone > 0).then_some(Edit::Rolling(surge, gone))
        }),
        1 => Just(Edit::Recreate),
        2 => any::<bool>().prop_map(Edit::Pause),
        1 => (0..3u8).prop_map(Edit::Annotate),
        1 => (0..3i32).prop_map(Edit::HistoryLimit),
        1 => (0..2i32).prop_map(Edit::MinReady),
        1 => prop_oneof![Just(NO_DEADLINE), Just(600)].prop_map(Edit::Deadline),
        1 => (0..7i32, 0..4u8).prop_map(|(n, image)| Edit::ReplicasAndImage(n, image)),
        1 => any::<Index>().prop_map(Edit::DeleteSet),
        1 => (any::<Index>(), 0..7i32).prop_map(|(set, size)| Edit::ResizeSet(set, size)),
    ]
}

fn ops(acts: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        1 => edits().prop_map(Op::Edit),
        2 => prop::collection::vec(any::<Index>(), 1..=acts).prop_map(Op::Acts),
    ];
    prop::collection::vec(op, 1..30)
}

fn image(number: u8) -> String {
    format!("web:{number}")
}

fn edit_deployment(deployment: &mut Deployment, edit: &Edit) {
    let spec = &mut deployment.spec;
    match edit {
        Edit::Replicas(replicas) => spec.replicas = Some(*replicas),
        Edit::Image(number) => set_image(deployment, &image(*number)),
        Edit::ReplicasAndImage(replicas, number) => {
            spec.replicas = Some(*replicas);
            set_image(deployment, &image(*number));
        }
        Edit::Rolling(surge, unavailable) => {
            spec.strategy.kind = Some(StrategyType::RollingUpdate);
            spec.strategy.rolling_update = Some(RollingUpdate {
                max_surge: Some(IntOrString::Int(*surge)),
                max_unavailable: Some(IntOrString::Int(*unavailable)),
            });
        }
        Edit::Recreate => {
            spec.strategy.kind = Some(StrategyType::Recreate);
            spec.strategy.rolling_update = None;
        }
        Edit::Pause(paused) => spec.paused = *paused,
        Edit::Annotate(number) => {
            let value = number.to_string().as_str().into();
            deployment.metadata.annotations.insert("note".into(), value);
        }
        Edit::HistoryLimit(limit) => spec.revision_history_limit = Some(*limit),
        Edit::MinReady(seconds) => spec.min_ready_seconds = *seconds,
        Edit::Deadline(seconds) => spec.progress_deadline_seconds = Some(*seconds),
        Edit::DeleteSet(_) | Edit::ResizeSet(..) => {}
    }
}

fn do_edit(lane: &mut Lane, edit: &Edit) {
    let sets = lane.sets();
    match edit {
        Edit::DeleteSet(index) if !sets.is_empty() => {
            lane.delete_set(&index.get(&sets).metadata.name.clone());
        }
        Edit::ResizeSet(index, size) if !sets.is_empty() => {
            let mut set = index.get(&sets).clone();
            set.spec.replicas = Some(*size);
            set.metadata.resource_version = 0;
            lane.ask(Request::Update(Part::Main, std::sync::Arc::new(set.into())));
        }
        edit => lane.edit(|deployment| edit_deployment(deployment, edit)),
    }
}

/// A set as it is compared: size, annotations, numbers.
fn told_set(set: &ReplicaSet) -> String {
    let meta = &set.metadata;
    format!(
        "{} size {} ready after {} {:?} has {} ready {} available {}",
        meta.name,
        set.spec.replicas(),
        set.spec.min_ready_seconds,
        meta.annotations,
        set.status.replicas,
        set.status.ready_replicas,
        set.status.available_replicas,
    )
}

fn told_condition(condition: &Condition) -> String {
    let Condition { kind, status, reason, .. } = condition;
    format!("{kind} {status:?} {reason:?}")
}

/// The state as it is compared, less what the sets say of the size of the Deployment: that is from
/// their last resize, whenever that was.
fn told_in_the_end(lane: &Lane) -> Vec<String> {
    let mut sets = lane.sets();
    for set in &mut sets {
        set.metadata.annotations.remove(annotations::DESIRED);
        set.metadata.annotations.remove(annotations::MAX);
    }
    told_with(lane, &sets)
}

/// The state as it is compared: all but times, messages and versions.
fn told(lane: &Lane) -> Vec<String> {
    told_with(lane, &lane.sets())
}

fn told_with(lane: &Lane, sets: &[ReplicaSet]) -> Vec<String> {
    let deployment = lane.deployment();
    let mut status = deployment.status.clone();
    let conditions = std::mem::take(&mut status.conditions);
    let mut conditions: Vec<String> = conditions.iter().map(told_condition).collect();
    conditions.sort();
    let revision = deployment.metadata.annotations.get(annotations::REVISION).cloned();
    let mut told = vec![format!("{status:?}"), format!("revision {revision:?}")];
    told.extend(conditions);
    told.extend(sets.iter().map(told_set));
    told
}

fn both() -> [Lane; 2] {
    let mut lanes = [Lane::new(Flavour::Level), Lane::new(Flavour::Edge)];
    for lane in &mut lanes {
        let web = std::sync::Arc::new(web(3, &image(0)).into());
        lane.ask(Request::Create(web));
        lane.settle();
    }
    lanes
}

/// Both lanes do the same; after each op both controllers come to rest. `check` compares them.
fn play(
    ops: &[Op],
    mut check: impl FnMut(&[Lane; 2], &Op) -> Result<(), TestCaseError>,
) -> Result<[Lane; 2], TestCaseError> {
    let mut lanes = both();
    for op in ops {
        match op {
            Op::Edit(edit) => lanes.iter_mut().for_each(|lane| do_edit(lane, edit)),
            Op::Acts(indexes) => {
                for index in indexes {
                    let acts: Vec<_> = lanes[0].acts().into_iter().collect();
                    if acts.is_empty() {
                        break;
                    }
                    let act = index.get(&acts).clone();
                    for lane in &mut lanes {
                        if lane.acts().contains(&act) {
                            lane.act(&act);
                        }
                    }
                }
            }
        }
        lanes.iter_mut().for_each(Lane::settle);
        check(&lanes, op)?;
    }
    Ok(lanes)
}

/// A Deployment whose size changes in the middle may wait for ever, in Kubernetes too: the
/// annotation of a set asks for a change of size before anything else is done, and that has
/// nothing to do if the only set is of that size by chance, or if two sets have pods and the
/// strategy is Recreate.
fn waits_for_ever(lane: &Lane) -> bool {
    let sets = lane.sets();
    let sets: Vec<&ReplicaSet> = sets.iter().collect();
    proportional::is_due(&lane.deployment(), &sets)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn told_one_change_at_a_time_both_flavours_agree_at_every_rest(ops in ops(1)) {
        let lanes = play(&ops, |lanes, op| {
            let [level, edge] = lanes;
            prop_assert_eq!(told(level), told(edge), "after {:?}", op);
            Ok(())
        })?;
        drop(lanes);
    }

    #[test]
    fn told_several_changes_at_once_both_flavours_end_in_the_same_state(ops in ops(5)) {
        // Which old sets are left when one goes back to them depends on when the rollout was done.
        let is_limit = |op: &Op| matches!(op, Op::Edit(Edit::HistoryLimit(_)));
        let ops: Vec<Op> = ops.into_iter().filter(|op| !is_limit(op)).collect();
        let mut lanes = play(&ops, |_, _| Ok(()))?;
        for lane in &mut lanes {
            lane.edit(|deployment| deployment.spec.paused = false);
            lane.converge();
        }
        let [level, edge] = &lanes;
        let deployment = level.deployment();
        let is_complete = progress::is_complete(&deployment, &deployment.status);
        if waits_for_ever(level) || waits_for_ever(edge) {
            return Ok(());
        }
        prop_assert!(is_complete);
        prop_assert_eq!(told_in_the_end(level), told_in_the_end(edge));
        let wanted = deployment.spec.replicas();
        prop_assert_eq!(level.server.store().list(Kind::Pod).count(), wanted as usize);
    }
}
