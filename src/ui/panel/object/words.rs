//! What a diagnosis says, in sentences of the language of the moment.

use crate::api::ObjectKey;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::words as common;
use crate::view::inspect::{
    Finding, LoopState, Next, Owner, Refuser, Step, StepState, What, Why, Writer,
};

/// A step's name.
pub fn step(step: Step) -> &'static str {
    match step {
        Step::Apply => tr!(step.apply),
        Step::Controller => tr!(step.controller),
        Step::ReplicaSet => tr!(step.replica_set),
        Step::Pods => tr!(step.pods),
        Step::Scheduler => tr!(step.scheduler),
        Step::Kubelet => tr!(step.kubelet),
        Step::Container => tr!(step.container),
        Step::Probe => tr!(step.probe),
    }
}

/// How far it has come, in a word.
pub fn step_state(state: StepState) -> &'static str {
    match state {
        StepState::Done => tr!(step.done),
        StepState::Here => tr!(step.here),
        StepState::Stopped => tr!(step.stopped),
        StepState::Ahead => tr!(step.ahead),
    }
}

/// The same for style sheets.
pub fn step_key(state: StepState) -> &'static str {
    match state {
        StepState::Done => "done",
        StepState::Here => "here",
        StepState::Stopped => "stopped",
        StepState::Ahead => "ahead",
    }
}

/// What is the matter.
pub fn what(finding: &Finding) -> String {
    let object = common::object(&finding.object);
    let (object, what) = (object.as_str(), &finding.what);
    of_pods(object, what)
        .or_else(|| of_node(object, what))
        .or_else(|| of_container(object, what))
        .unwrap_or_else(|| of_rest(object, what))
}

fn of_pods(object: &str, what: &What) -> Option<String> {
    Some(match what {
        What::Unobserved { generation, observed } => {
            tr!(find.unobserved, object = object, generation = generation, observed = observed)
        }
        What::NoSet => tr!(find.no_set, object = object),
        What::SetSize { want, have } => {
            tr!(find.set_size, object = object, want = want, have = have)
        }
        What::Paused => tr!(find.paused, object = object),
        What::Deadline => tr!(find.deadline, object = object),
        What::Blocked { available, least, unready } => tr!(
            find.blocked,
            object = object,
            available = available,
            least = least,
            unready = unready
        ),
        What::Missing { want, have: 0 } => tr!(find.missing_all, object = object, want = want),
        What::Missing { want, have } => {
            tr!(find.missing, object = object, want = want, have = have)
        }
        What::Surplus { want, have } => {
            tr!(find.surplus, object = object, want = want, have = have)
        }
        What::InOrder { pod } => tr!(find.in_order, object = object, pod = pod),
        _ => return None,
    })
}

fn of_node(object: &str, what: &What) -> Option<String> {
    Some(match what {
        What::Unschedulable => tr!(find.unschedulable, object = object),
        What::NoNode => tr!(find.no_node, object = object),
        What::NodeOff { node } => tr!(find.node_off, object = object, node = node),
        What::NodeCut { node } => tr!(find.node_cut, object = object, node = node),
        What::KubeletDown { node } => tr!(find.kubelet_down, object = object, node = node),
        What::NodeNotReady => tr!(find.node_not_ready, object = object),
        _ => return None,
    })
}

fn of_container(object: &str, what: &What) -> Option<String> {
    Some(match what {
        What::NotPulled { container, image, reason } => tr!(
            find.not_pulled,
            object = object,
            container = container,
            image = image,
            reason = reason
        ),
        What::CrashLoop { container, code, restarts } => tr!(
            find.crash_loop,
            object = object,
            container = container,
            code = code,
            restarts = restarts
        ),
        What::Ended { container, code, reason } => {
            tr!(find.ended, object = object, container = container, code = code, reason = reason)
        }
        What::Starting { container, reason } => {
            tr!(find.starting, object = object, container = container, reason = reason)
        }
        What::StartupProbe { container } => {
            tr!(find.startup_probe, object = object, container = container)
        }
        What::NotReady { container, probe: true, since: Some(at) } => {
            let at = format::clock(*at);
            tr!(find.probe_since, object = object, container = container, at = at)
        }
        What::NotReady { container, probe: true, .. } => {
            tr!(find.probe, object = object, container = container)
        }
        What::NotReady { container, .. } => {
            tr!(find.not_ready, object = object, container = container)
        }
        What::PodFailed { reason } => tr!(find.pod_failed, object = object, reason = reason),
        _ => return None,
    })
}

fn of_rest(object: &str, what: &What) -> String {
    match what {
        What::NotSimulated => tr!(find.not_simulated, object = object),
        What::Finalizers { names } => tr!(find.finalizers, object = object, names = names),
        What::Grace { until } => tr!(find.grace, object = object, at = format::clock(*until)),
        What::Terminating => tr!(find.terminating, object = object),
        What::Suspended => tr!(find.suspended, object = object),
        What::JobFailed { reason } => tr!(find.job_failed, object = object, reason = reason),
        What::JobBackOff { failed, limit } => {
            tr!(find.job_back_off, object = object, failed = failed, limit = limit)
        }
        What::NoMetrics { reason } => tr!(find.no_metrics, object = object, reason = reason),
        What::CannotScale { reason } => tr!(find.cannot_scale, object = object, reason = reason),
        What::ShouldScale { want, have } => {
            tr!(find.should_scale, object = object, want = want, have = have)
        }
        What::OutOfSync => tr!(find.out_of_sync, object = object),
        What::OrderBehind => tr!(find.order_behind, object = object),
        What::Condition { kind, reason } => {
            tr!(find.condition, object = object, kind = kind, reason = reason)
        }
        _ => object.to_owned(),
    }
}

/// Why nobody puts it right.
pub fn why(why: &Why) -> String {
    match why {
        Why::Refused { by, verb, code, message } => {
            refusal(*by, common::verb(*verb), *code, message)
        }
        Why::Loop { name, state } => of_loop(name, state),
    }
}

fn refusal(by: Refuser, verb: &str, code: u16, message: &str) -> String {
    match by {
        Refuser::Quota => tr!(blame.quota, verb = verb, code = code, message = message),
        Refuser::LimitRange => tr!(blame.limits, verb = verb, code = code, message = message),
        Refuser::Conflict => tr!(blame.conflict, verb = verb, code = code, message = message),
        Refuser::Timeout => tr!(blame.timeout, verb = verb, code = code, message = message),
        Refuser::Throttled => tr!(blame.throttled, verb = verb, code = code, message = message),
        Refuser::Namespace => tr!(blame.namespace, verb = verb, code = code, message = message),
        Refuser::Other => tr!(blame.refused, verb = verb, code = code, message = message),
    }
}

fn of_loop(name: &str, state: &LoopState) -> String {
    match state {
        LoopState::ServerDown => tr!(blame.server_down).to_owned(),
        LoopState::Down => tr!(blame.down, name = name),
        LoopState::PausedUntil(at) => tr!(blame.paused, name = name, at = format::clock(*at)),
        LoopState::Cut => tr!(blame.cut, name = name),
        LoopState::EventLost { event, object, .. } => {
            let object = common::object(object);
            tr!(blame.lost, name = name, event = event.word(), object = object)
        }
        LoopState::Believes { sees, truth } => {
            tr!(blame.believes, name = name, sees = sees, truth = truth)
        }
        LoopState::AtWork => tr!(blame.at_work, name = name),
        LoopState::Queued => tr!(blame.queued, name = name),
        LoopState::Due { at, back_off: true } => {
            tr!(blame.back_off, name = name, at = format::clock(*at))
        }
        LoopState::Due { at, .. } => tr!(blame.due, name = name, at = format::clock(*at)),
        LoopState::OnItsWay(at) => tr!(blame.on_its_way, name = name, at = format::clock(*at)),
        LoopState::Untold => tr!(blame.untold, name = name),
    }
}

/// What would change it.
pub fn next(next: &Next) -> String {
    match next {
        Next::Retry(at) => tr!(next.retry, at = format::clock(*at)),
        Next::Due(at, what) => tr!(next.due, what = what, at = format::clock(*at)),
        Next::UnderWay => tr!(next.under_way).to_owned(),
        Next::Never => tr!(next.never).to_owned(),
        Next::ByHand => tr!(next.by_hand).to_owned(),
    }
}

/// Who wrote a revision.
pub fn writer(writer: &Writer) -> String {
    match writer {
        Writer::Pass { id, node, .. } => common::loop_on(*id, node.as_deref()),
        Writer::Line { line, .. } => line.to_string(),
        Writer::Component(name) => name.to_string(),
    }
}

/// Whose a field is.
pub fn owners(owners: &[Owner]) -> String {
    let one = |owner: &Owner| match owner.applies {
        true => tr!(object.applied, owner = owner.manager),
        false => owner.manager.to_string(),
    };
    match owners {
        [] => tr!(object.nobody).to_owned(),
        owners => owners.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

/// `Pod web-5d9-x7k`, with its namespace where that is not the usual one.
pub fn choice(key: &ObjectKey) -> String {
    match &*key.namespace {
        "" | "default" => common::object(key),
        _ => key.to_string(),
    }
}
