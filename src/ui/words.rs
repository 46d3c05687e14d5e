//! What the stage says, in sentences of the language of the moment.

use crate::api::ObjectKey;
use crate::controllers::{Deed, Fact};
use crate::view::{
    Cause, Divergence, Fate, Flight, FlightKind, LoopFlavour, LoopId, LoopView, PassRow, PassView,
    PodLook, Shortfall, Stage, VerdictView,
};

use super::bridge::{Hint, LaneId, Notice, Verb};
use super::format;
use super::i18n::tr;

/// What is said of a link that could not be followed.
pub fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Malformed => tr!(link.malformed).to_owned(),
        Notice::Newer => tr!(link.newer).to_owned(),
        Notice::UnknownScenario(name) => {
            tr!(link.unknown, name = super::format::short(name, 40))
        }
    }
}

/// What may help with a problem in a manifest.
pub fn hint(hint: &Hint) -> String {
    match hint {
        Hint::DidYouMean(word) => tr!(hint.did_you_mean, word = word.clone()),
        Hint::HelmTemplate => tr!(hint.helm).to_owned(),
        Hint::NonBreakingSpace => tr!(hint.nbsp).to_owned(),
        Hint::TabIndent => tr!(hint.tab).to_owned(),
        Hint::MarkdownFence => tr!(hint.fence).to_owned(),
        Hint::QuoteIt(word) => tr!(hint.quote, word = word.clone()),
        Hint::Unquote(word) => tr!(hint.unquote, word = word.clone()),
        Hint::NeedsDash => tr!(hint.dash).to_owned(),
        Hint::Octal(number) => tr!(hint.octal, n = *number),
        Hint::LastWins => tr!(hint.last).to_owned(),
        Hint::NotUtf8 => tr!(hint.utf8).to_owned(),
        Hint::NotSimulated => tr!(hint.kept).to_owned(),
        Hint::UnknownKind => tr!(hint.kind).to_owned(),
        Hint::More => tr!(hint.more).to_owned(),
    }
}

/// A lane's name.
pub fn lane(lane: LaneId) -> &'static str {
    match lane {
        LaneId::Edge => tr!(lane.edge),
        LaneId::Level => tr!(lane.level),
    }
}

/// A lane in one word.
pub fn lane_word(lane: LaneId) -> &'static str {
    match lane {
        LaneId::Edge => tr!(lane.edge_word),
        LaneId::Level => tr!(lane.level_word),
    }
}

/// A loop's name in full, as it is called on the console.
pub fn loop_name(id: LoopId) -> &'static str {
    match id {
        LoopId::Deployment => "deployment",
        LoopId::ReplicaSet => "replicaset",
        LoopId::Scheduler => "scheduler",
        LoopId::Kubelet => "kubelet",
        LoopId::GarbageCollector => "garbage-collector",
        LoopId::NodeLifecycle => "node-lifecycle",
        LoopId::HorizontalAutoscaler => "hpa",
        LoopId::GitOps => "gitops",
        LoopId::Order => "order",
        LoopId::Job => "job",
        LoopId::StatefulSet => "statefulset",
        LoopId::CronJob => "cronjob",
        LoopId::DaemonSet => "daemonset",
        LoopId::EndpointSlice => "endpointslice",
    }
}

/// A loop's name where there is room for little, as kubectl shortens the kinds.
pub fn loop_short(id: LoopId) -> &'static str {
    match id {
        LoopId::Deployment => "deploy",
        LoopId::ReplicaSet => "rs",
        LoopId::Scheduler => "sched",
        LoopId::Kubelet => "kubelet",
        LoopId::GarbageCollector => "gc",
        LoopId::NodeLifecycle => "nodes",
        LoopId::HorizontalAutoscaler => "hpa",
        LoopId::GitOps => "git",
        LoopId::Order => "order",
        LoopId::Job => "job",
        LoopId::StatefulSet => "sts",
        LoopId::CronJob => "cj",
        LoopId::DaemonSet => "ds",
        LoopId::EndpointSlice => "eps",
    }
}

/// A number, a word or `2/3`; nothing where there is nothing to say.
pub fn fact(fact: &Fact) -> Option<String> {
    match fact {
        Fact::None => None,
        Fact::Count(n) => Some(n.to_string()),
        Fact::Of(n, all) => Some(format!("{n}/{all}")),
        Fact::Gone => Some(tr!(say.gone).to_owned()),
        Fact::Word(word) => Some(word.to_string()),
    }
}

/// "sees 2".
pub fn sees(pass: &PassView) -> Option<String> {
    fact(&pass.sees).map(|what| tr!(say.sees, what = what))
}

/// "wants 3".
pub fn wants(pass: &PassView) -> Option<String> {
    fact(&pass.wants).map(|what| tr!(say.wants, what = what))
}

/// How what a pass wanted differs from what it saw: "1 too few"; none where the two cannot be
/// compared.
pub fn difference(pass: &PassView) -> Option<String> {
    match (&pass.sees, &pass.wants) {
        (Fact::Count(sees), Fact::Count(wants)) if sees < wants => {
            Some(tr!(say.too_few, n = wants - sees))
        }
        (Fact::Count(sees), Fact::Count(wants)) if sees > wants => {
            Some(tr!(say.too_many, n = sees - wants))
        }
        (Fact::None, _) | (_, Fact::None) => None,
        (sees, wants) if sees == wants => Some(tr!(say.no_difference).to_owned()),
        (Fact::Word(_) | Fact::Gone, _) | (_, Fact::Gone) => {
            Some(format!("{} → {}", fact(&pass.sees)?, fact(&pass.wants)?))
        }
        _ => None,
    }
}

/// What there was in truth beside what a pass saw.
pub fn truth(truth: &Fact, pass: &PassView) -> Option<String> {
    let what = fact(truth)?;
    Some(match fact(&pass.sees).filter(|_| *truth != pass.sees) {
        Some(seen) => tr!(say.truth_other, what = what, seen = seen),
        None => tr!(say.truth_same, what = what),
    })
}

/// "creates 1, deletes 2"; "nothing to do".
pub fn does(pass: &PassView) -> String {
    if pass.crashed {
        return tr!(say.crashed).to_owned();
    }
    if pass.does.is_empty() {
        return match &pass.error {
            Some(_) => tr!(say.failed).to_owned(),
            None => tr!(say.nothing).to_owned(),
        };
    }
    let deeds: Vec<String> = pass.does.iter().map(|(what, n)| deed(*what, *n)).collect();
    deeds.join(", ")
}

fn deed(deed: Deed, n: u32) -> String {
    match deed {
        Deed::CreatePod => tr!(deed.create_pod, n = n),
        Deed::DeletePod => tr!(deed.delete_pod, n = n),
        Deed::CreateReplicaSet => tr!(deed.create_rs, n = n),
        Deed::ScaleReplicaSet => tr!(deed.scale_rs, n = n),
        Deed::DeleteReplicaSet => tr!(deed.delete_rs, n = n),
        Deed::Adopt => tr!(deed.adopt, n = n),
        Deed::Release => tr!(deed.release, n = n),
        Deed::Create => tr!(deed.create, n = n),
        Deed::Update => tr!(deed.update, n = n),
        Deed::Bind => tr!(deed.bind, n = n),
        Deed::Delete => tr!(deed.delete, n = n),
        Deed::Orphan => tr!(deed.orphan, n = n),
        Deed::Unblock => tr!(deed.unblock, n = n),
        Deed::Status => tr!(deed.status).to_owned(),
        Deed::Taint => tr!(deed.taint, n = n),
        Deed::Evict => tr!(deed.evict, n = n),
        Deed::Read => tr!(deed.read).to_owned(),
        Deed::Renew => tr!(deed.renew).to_owned(),
        Deed::Scale => tr!(deed.scale).to_owned(),
        Deed::Apply => tr!(deed.apply, n = n),
        Deed::Prune => tr!(deed.prune, n = n),
        Deed::Charge => tr!(deed.charge, n = n),
        Deed::Refund => tr!(deed.refund, n = n),
        Deed::Cancel => tr!(deed.cancel, n = n),
        Deed::Record => tr!(deed.record).to_owned(),
    }
}

/// What a deed counts in the middle of the ring: `+1`, `−2`.
pub fn deed_mark(pass: &PassView) -> String {
    let Some((deed, n)) = pass.does.first() else {
        return "!".to_owned();
    };
    match deed {
        Deed::CreatePod | Deed::CreateReplicaSet | Deed::Create | Deed::Charge => format!("+{n}"),
        Deed::DeletePod | Deed::DeleteReplicaSet | Deed::Delete | Deed::Evict | Deed::Prune => {
            format!("−{n}")
        }
        Deed::Status | Deed::Read | Deed::Renew | Deed::Record => "✓".to_owned(),
        _ => format!("~{n}"),
    }
}

/// What woke a pass.
pub fn woken(wake: &Cause) -> String {
    match wake {
        Cause::Watch(kind, object, _) => {
            tr!(wake.watch, event = kind.word(), name = object.name.to_string())
        }
        Cause::Resync => tr!(wake.resync).to_owned(),
        Cause::Poll => tr!(wake.poll).to_owned(),
        Cause::List => tr!(wake.list).to_owned(),
        Cause::Retry => tr!(wake.retry).to_owned(),
        Cause::Timer => tr!(wake.timer).to_owned(),
    }
}

/// The loop of a pass, for a kubelet with its node.
pub fn loop_of(row: &PassRow) -> String {
    loop_on(row.id, row.pass.node.as_deref())
}

/// A loop's name, with the node's if it is a kubelet.
pub fn loop_on(id: LoopId, node: Option<&str>) -> String {
    match node {
        Some(node) => format!("{} {node}", loop_name(id)),
        None => loop_name(id).to_owned(),
    }
}

/// A whole pass in one line, for the log and for ears: "sees 2 · wants 3 · creates 1".
pub fn pass(pass: &PassView) -> String {
    let parts = [sees(pass), wants(pass), Some(does(pass))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// How the verdict was found: what was looked at, in numbers.
pub fn evidence(stage: &Stage) -> String {
    let queued: usize = stage.loops.iter().map(|view| view.queued).sum();
    let thinking = stage.loops.iter().filter(|view| view.pass.is_some()).count();
    let flying = stage.under_way;
    let counts = tr!(evidence.counts, queued = queued, flying = flying, thinking = thinking);
    let why = match &stage.verdict {
        VerdictView::Converged { .. } => tr!(evidence.converged).to_owned(),
        VerdictView::Converging => tr!(evidence.converging).to_owned(),
        VerdictView::Waiting { what, .. } if &**what == "release" => tr!(evidence.held).to_owned(),
        VerdictView::Waiting { until, what, .. } => {
            tr!(evidence.waiting, what = waits_for(what), at = format::clock(*until))
        }
        VerdictView::Stuck { in_vain: Some(at), .. } => {
            tr!(evidence.in_vain, at = format::clock(*at))
        }
        VerdictView::Stuck { .. } => tr!(evidence.stuck).to_owned(),
        VerdictView::Oscillating { object, field, turns, .. } => {
            tr!(evidence.oscillating, field = field, object = object, n = turns)
        }
    };
    format!("{counts} {why}")
}

/// The verdict's word.
pub fn verdict(verdict: &VerdictView) -> &'static str {
    match verdict {
        VerdictView::Converged { .. } => tr!(verdict.converged),
        VerdictView::Converging => tr!(verdict.converging),
        VerdictView::Waiting { .. } => tr!(verdict.waiting),
        VerdictView::Stuck { .. } => tr!(verdict.stuck),
        VerdictView::Oscillating { .. } => tr!(verdict.oscillating),
    }
}

/// For style sheets.
pub fn verdict_key(verdict: &VerdictView) -> &'static str {
    match verdict {
        VerdictView::Converged { .. } => "converged",
        VerdictView::Converging => "converging",
        VerdictView::Waiting { .. } => "waiting",
        VerdictView::Stuck { .. } => "stuck",
        VerdictView::Oscillating { .. } => "oscillating",
    }
}

/// What stands behind the verdict.
pub fn verdict_reason(verdict: &VerdictView) -> String {
    match verdict {
        VerdictView::Converged { since } => tr!(verdict.since, at = format::clock(*since)),
        VerdictView::Converging => tr!(verdict.under_way).to_owned(),
        VerdictView::Waiting { short, what, .. } if &**what == "release" => {
            let held = tr!(verdict.held);
            if short.is_empty() { held.to_owned() } else { format!("{}; {held}", shortfall(short)) }
        }
        VerdictView::Waiting { short, until, what } => tr!(
            verdict.until,
            short = shortfall(short),
            what = waits_for(what),
            at = format::clock(*until)
        ),
        VerdictView::Stuck { short, in_vain: Some(at) } => {
            tr!(verdict.in_vain, short = shortfall(short), at = format::clock(*at))
        }
        VerdictView::Stuck { short, .. } => tr!(verdict.nothing_wakes, short = shortfall(short)),
        VerdictView::Oscillating { object, field, sides: [one, other], period, .. } => tr!(
            verdict.turns,
            object = object.name.to_string(),
            field = field.to_string(),
            one = one.0.to_string(),
            value = one.1,
            other = other.0.to_string(),
            others_value = other.1,
            period = format::span(*period)
        ),
    }
}

fn waits_for(what: &str) -> String {
    match what {
        "poll" => tr!(verdict.next_look).to_owned(),
        "scheduler-flush" => tr!(verdict.flush).to_owned(),
        "pod-gc" => tr!(verdict.collection).to_owned(),
        what => what.to_owned(),
    }
}

/// "1 pod short": the most telling of what is missing, that is, the deepest.
fn shortfall(short: &[Shortfall]) -> String {
    let Some(last) = short.last() else {
        return tr!(verdict.differs).to_owned();
    };
    if last.object.kind.is_custom() {
        return order_shortfall(last);
    }
    match last.want - last.have {
        1 => tr!(verdict.one_short).to_owned(),
        n if n > 0 => tr!(verdict.short, n = n),
        -1 => tr!(verdict.one_over).to_owned(),
        n if n < 0 => tr!(verdict.over, n = -n),
        _ => tr!(verdict.object_differs, object = last.object.name.to_string()),
    }
}

/// An Order: its payments are counted, not pods.
fn order_shortfall(short: &Shortfall) -> String {
    let object = short.object.name.to_string();
    match (short.want, short.have) {
        (want, have) if have > 1 => tr!(verdict.paid_often, object = object, want = want, n = have),
        (0, _) => tr!(verdict.not_refunded, object = object),
        _ => tr!(verdict.not_paid, object = object),
    }
}

/// The first differing decision in one sentence.
pub fn divergence(found: &Divergence) -> String {
    let name = loop_name(found.controller).to_owned();
    match (&found.level, &found.edge) {
        (Some(level), None) => tr!(divergence.edge_untold, name = name, level = pass(level)),
        (None, Some(edge)) => tr!(divergence.edge_alone, name = name, edge = pass(edge)),
        (Some(level), Some(edge)) => {
            tr!(divergence.differ, name = name, level = pass(level), edge = pass(edge))
        }
        (None, None) => tr!(divergence.plain, name = name),
    }
}

/// Why nothing wakes a stuck lane, in one sentence.
pub fn why_stuck(lane: LaneId, stage: &Stage, found: Option<&Divergence>) -> String {
    if matches!(stage.verdict, VerdictView::Stuck { in_vain: Some(_), .. }) {
        return tr!(stuck.no_node).to_owned();
    }
    match (lane, found) {
        (LaneId::Edge, found) => match (stage.loops.iter().find(|one| believes(one)), found) {
            (Some(one), _) => {
                let (sees, truth) = (one.cache.sees, one.cache.truth);
                tr!(stuck.edge_believes, name = loop_name(one.id), n = sees, truth = truth)
            }
            (None, Some(found)) => tr!(stuck.edge_untold, name = loop_name(found.controller)),
            (None, None) => tr!(stuck.edge).to_owned(),
        },
        (LaneId::Level, _) => tr!(stuck.level).to_owned(),
    }
}

/// Whether an edge loop's own count is wrong, with nothing under way that could correct it.
pub fn believes(view: &LoopView) -> bool {
    view.flavour == LoopFlavour::Edge
        && view.cache.sees != view.cache.truth
        && view.cache.stale.is_zero()
}

/// A message's first line: `DELETED`, `create`, `409`.
pub fn flight_kind(kind: FlightKind) -> String {
    match kind {
        FlightKind::Watch(event) => event.word().to_owned(),
        FlightKind::Request(what) => verb(what).to_owned(),
        FlightKind::Answer(what, None) => format!("{} ✓", verb(what)),
        FlightKind::Answer(_, Some(code)) => refused(code),
    }
}

fn refused(code: u16) -> String {
    match code {
        409 => "409 Conflict".to_owned(),
        403 => "403 Forbidden".to_owned(),
        404 => "404 NotFound".to_owned(),
        422 => "422 Invalid".to_owned(),
        429 => "429 TooMany".to_owned(),
        _ => code.to_string(),
    }
}

/// A verb as kubectl and the API server call it.
pub fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
        Verb::Get => "get",
        Verb::Bind => "bind",
        Verb::Evict => "evict",
    }
}

/// A message in one sentence, for lists and ears.
pub fn flight(flight: &Flight) -> String {
    let what = flight_kind(flight.what);
    let object = object(&flight.object);
    let name = match &flight.node {
        Some(node) => format!("{} ({node})", loop_name(flight.lane_loop)),
        None => loop_name(flight.lane_loop).to_owned(),
    };
    let text = match flight.what {
        FlightKind::Request(_) => tr!(flight.up, what = what, object = object, name = name),
        _ => tr!(flight.down, what = what, object = object, name = name),
    };
    match fate(flight.fate) {
        Some(fate) => format!("{text} ({fate})"),
        None => text,
    }
}

/// What will become of a message.
pub fn fate(fate: Fate) -> Option<&'static str> {
    match fate {
        Fate::Intact => None,
        Fate::DroppedAtDoor => Some(tr!(fate.door)),
        Fate::DroppedOnWire => Some(tr!(fate.wire)),
        Fate::Delayed => Some(tr!(fate.delayed)),
        Fate::Doubled => Some(tr!(fate.doubled)),
        Fate::Swapped => Some(tr!(fate.swapped)),
        Fate::HeldAtDoor => Some(tr!(fate.held_door)),
        Fate::HeldOnWire => Some(tr!(fate.held_wire)),
        Fate::Behind => Some(tr!(fate.behind)),
    }
}

/// `ReplicaSet web-5d9`.
pub fn object(key: &ObjectKey) -> String {
    format!("{} {}", key.kind.info().kind, key.name)
}

/// A pod's look in words; kubectl's own where it has one.
pub fn look(look: PodLook) -> &'static str {
    match look {
        PodLook::Pending => "Pending",
        PodLook::ContainerCreating => "ContainerCreating",
        PodLook::NotReady => tr!(look.not_ready),
        PodLook::Ready => tr!(look.ready),
        PodLook::Terminating => "Terminating",
        PodLook::CrashLoopBackOff => "CrashLoopBackOff",
        PodLook::ImagePullBackOff => "ImagePullBackOff",
        PodLook::Failed => "Failed",
        PodLook::Succeeded => "Completed",
        PodLook::Unknown => "Unknown",
    }
}
