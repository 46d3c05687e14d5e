//! The last request about an object that was refused.

use std::sync::Arc;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::Verb;
use crate::scenario::Run;
use crate::view::passes::ended;
use crate::world::{Act, ControllerId, LaneId, PassRecord};

use super::super::finding::{Evidence, Refuser, Why};

/// Entries of the story that are looked through.
const LOOKED_MAX: usize = 50_000;

/// The passes of a loop over a key up to now, newest first.
pub fn passes<'a>(
    run: &'a Run,
    lane: LaneId,
    role: ControllerId,
    key: &'a ObjectKey,
) -> impl Iterator<Item = &'a Arc<PassRecord>> {
    let newest = run.past(lane).iter().rev().take(LOOKED_MAX).filter_map(ended);
    newest.filter(move |pass| pass.controller.role() == role && pass.key == *key)
}

/// Why the newest pass that asked for what is missing, a pod or a Deployment's ReplicaSet, did not
/// get it; and the request.
pub fn refused(
    run: &Run,
    lane: LaneId,
    role: ControllerId,
    key: &ObjectKey,
) -> Option<(Why, Evidence)> {
    let asks = |act: &&Act| match role {
        ControllerId::Deployment => act.object.kind == Kind::ReplicaSet,
        _ => act.verb == Verb::Create && act.object.kind == Kind::Pod,
    };
    let mut newest = passes(run, lane, role, key).filter(|pass| pass.acts.iter().any(|a| asks(&a)));
    let pass = newest.next()?;
    let act = pass.acts.iter().rev().filter(asks).find(|act| act.outcome.is_err())?;
    let Err((code, message)) = &act.outcome else { return None };
    let why = Why::Refused {
        by: refuser(*code, message),
        verb: act.verb,
        code: *code,
        message: message.as_str().into(),
    };
    let request = Evidence::Request {
        at: pass.decided,
        verb: act.verb,
        object: act.object.clone(),
        code: *code,
        message: message.as_str().into(),
        pass: pass.number,
    };
    Some((why, request))
}

/// Who says such a thing: the words of the admission plugins.
fn refuser(code: u16, message: &str) -> Refuser {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
        403 if says(&["exceeded quota", "failed quota"]) => Refuser::Quota,
        403 if says(&["because it is being terminated"]) => Refuser::Namespace,
        403 if says(&["usage per", "limit to request ratio"]) => Refuser::LimitRange,
        409 => Refuser::Conflict,
        408 | 504 => Refuser::Timeout,
        429 => Refuser::Throttled,
        _ => Refuser::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_refused_is_known_by_the_code_and_the_words_of_the_admission_plugins() {
        let pods = "pods \"web-1\" is forbidden: ";
        for (code, words, by) in [
            (403, "exceeded quota: none, requested: pods=1, used: pods=0", Refuser::Quota),
            (403, "failed quota: none: must specify cpu for: c", Refuser::Quota),
            (403, "maximum cpu usage per Container is 100m, but limit is 1", Refuser::LimitRange),
            (403, "cpu max limit to request ratio per Container is 2", Refuser::LimitRange),
            (
                403,
                "unable to create new content in namespace a because it is being terminated",
                Refuser::Namespace,
            ),
            (403, "", Refuser::Other),
            (409, "the object has been modified", Refuser::Conflict),
            (408, "", Refuser::Timeout),
            (504, "", Refuser::Timeout),
            (429, "too many requests", Refuser::Throttled),
            (422, "", Refuser::Other),
        ] {
            assert_eq!(refuser(code, &format!("{pods}{words}")), by, "{code} {words}");
        }
    }
}
