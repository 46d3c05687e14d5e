//! A link is a run: version, scenario, seed, what a person did and when, the futures that were
//! left, and the moment that is shown. A short session is plain text; a longer one is deflated JSON
//! in base64url. Whatever else stands in an address, the page opens, with a notice.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};

use crate::kernel::Time;
use crate::scenario::schedule::LATEST;
use crate::scenario::{INPUTS_MAX, In, Input, Scenario, Shipped};

use super::futures::{Futures, INPUTS_KEPT_MAX, Linked, Listed};
use super::session::Session;

/// The newest version that this program writes and reads: for a run with other futures.
const VERSION: u32 = 2;
/// What it writes for a run without, so that older programs read it too.
const PLAIN_VERSION: u32 = 1;
/// The longest link that is handed out, in characters.
pub const LINK_MAX: usize = 2_000;
/// The longest fragment that is read.
const FRAGMENT_MAX: usize = 512 * 1024;
/// The longest text that a fragment may unfold to.
const INFLATED_MAX: usize = 4 * 1024 * 1024;

/// A session that does not fit into a link; it can be kept as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Its length in characters.
    pub length: usize,
}

/// A link, and what found no room in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The fragment, without `#`.
    pub text: String,
    /// How many other futures were left out, so that it is not too long.
    pub lost: usize,
}

/// Why a link was not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is no link of ours, or it was cut.
    Malformed,
    /// It comes from a newer version of the page.
    Newer,
    /// There is no scenario of this name.
    UnknownScenario(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    v: u32,
    /// A scenario that ships, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// ... or the text of one that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    seed: u64,
    /// The moment shown, in nanoseconds.
    t: u64,
    /// What was done, in order; with `f`, in all futures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    i: Vec<SavedInput>,
    /// How it forks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    f: Option<SavedForks>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<String>,
}

/// (nanoseconds, lane, line, standard input, when it was given, if it was put off)
#[derive(Serialize, Deserialize)]
struct SavedInput(
    u64,
    String,
    String,
    #[serde(default)] Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<u64>,
);

/// The tree over the inputs, by their places in the list.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedForks {
    /// The end of the branch that is shown; absent: nothing was done in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    s: Option<usize>,
    /// What redo comes back to, the next one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    u: Vec<usize>,
    /// (place, the one before it, the end of the branch that was shown when it was given), for
    /// those where that is not just the one before in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    n: Vec<(usize, Option<usize>, Option<usize>)>,
}

impl SavedForks {
    /// None: it is one branch, shown as far as it goes.
    fn of(list: &Listed) -> Option<SavedForks> {
        let last = |place: usize| place.checked_sub(1);
        let forks = list.inputs.iter().enumerate().filter(|(place, linked)| {
            (linked.parent, linked.before) != (last(*place), last(*place))
        });
        let n: Vec<_> = forks.map(|(at, linked)| (at, linked.parent, linked.before)).collect();
        let plain = n.is_empty() && list.shown == last(list.inputs.len());
        let (s, u) = (list.shown, list.undone.clone());
        (!plain).then_some(SavedForks { s, u, n })
    }

    fn tree(self, inputs: Vec<Input>) -> Option<Futures> {
        let linked = inputs.into_iter().enumerate().map(|(place, input)| {
            let last = place.checked_sub(1);
            Linked { input, parent: last, before: last }
        });
        let mut list = Listed { inputs: linked.collect(), shown: self.s, undone: self.u };
        for (place, parent, before) in self.n {
            let linked = list.inputs.get_mut(place)?;
            (linked.parent, linked.before) = (parent, before);
        }
        Futures::from_list(list)
    }
}

impl Session {
    /// The fragment of this session's link, without `#`.
    pub fn link(&self) -> Result<String, TooLong> {
        self.link_with_losses().map(|link| link.text)
    }

    /// The same, and how many other futures had to be left out: the oldest go first.
    pub fn link_with_losses(&self) -> Result<Link, TooLong> {
        let scenario = self.scenario();
        let mut futures = self.futures.clone();
        let plain = futures == Futures::default() && self.draft.is_none();
        if plain && !scenario.id.is_empty() && self.now() < LATEST {
            let (id, seed, now) = (&scenario.id, self.seed(), self.now().as_nanos());
            return Ok(Link { text: format!("{PLAIN_VERSION}/{id}/{seed}/{now}"), lost: 0 });
        }
        let all = futures.list().len();
        loop {
            let text = packed(&self.saved(&futures));
            let kept = futures.list().len();
            if text.len() <= LINK_MAX {
                return Ok(Link { text, lost: all - kept });
            }
            match (kept, futures.can_undo_redo().1) {
                (0, false) => return Err(TooLong { length: text.len() }),
                (0, true) => futures.forget_undone(),
                _ => futures.prune(kept / 2),
            }
        }
    }

    /// The session as a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.saved(&self.futures)).unwrap_or_default()
    }

    fn saved(&self, futures: &Futures) -> Saved {
        let scenario = self.scenario();
        let ships = !scenario.id.is_empty();
        let list = futures.listed();
        let f = SavedForks::of(&list);
        let inputs = list.inputs.into_iter().map(|linked| {
            let Input { at, given, lanes, line, stdin, .. } = linked.input;
            let given = (given < at).then(|| given.as_nanos());
            SavedInput(at.as_nanos(), lanes.word().into(), line, stdin, given)
        });
        Saved {
            v: if f.is_some() { VERSION } else { PLAIN_VERSION },
            id: ships.then(|| scenario.id.clone()),
            text: (!ships).then(|| scenario.text.clone()),
            seed: self.seed(),
            t: self.now().as_nanos(),
            i: inputs.collect(),
            f,
            draft: self.draft.clone(),
        }
    }

    /// The session that a fragment describes; the default scenario and a notice if it describes
    /// none.
    pub fn from_link(fragment: &str) -> (Session, Option<Notice>) {
        let fragment = fragment.trim_start_matches('#');
        if fragment.is_empty() {
            return (Session::open_shipped(crate::scenario::DEFAULT, None), None);
        }
        match read(fragment).and_then(open) {
            Ok(session) => (session, None),
            Err(notice) => (Session::open_shipped(crate::scenario::DEFAULT, None), Some(notice)),
        }
    }

    /// The session that a file describes.
    pub fn from_json(text: &str) -> Result<Session, Notice> {
        let saved: Saved = serde_json::from_str(text).map_err(|_| Notice::Malformed)?;
        if saved.v > VERSION { Err(Notice::Newer) } else { open(saved) }
    }
}

fn packed(saved: &Saved) -> String {
    let json = serde_json::to_vec(saved).unwrap_or_default();
    let packed = URL_SAFE_NO_PAD.encode(compress_to_vec(&json, 9));
    format!("{}z/{packed}", saved.v)
}

fn read(fragment: &str) -> Result<Saved, Notice> {
    if fragment.len() > FRAGMENT_MAX {
        return Err(Notice::Malformed);
    }
    let (version, rest) = fragment.split_once('/').ok_or(Notice::Malformed)?;
    let packed = version.ends_with('z');
    let version: u32 = version.trim_end_matches('z').parse().map_err(|_| Notice::Malformed)?;
    if version > VERSION {
        return Err(Notice::Newer);
    }
    if !packed {
        return read_plain(rest);
    }
    let bytes = URL_SAFE_NO_PAD.decode(rest).map_err(|_| Notice::Malformed)?;
    let json = decompress_to_vec_with_limit(&bytes, INFLATED_MAX).map_err(|_| Notice::Malformed)?;
    let saved: Saved = serde_json::from_slice(&json).map_err(|_| Notice::Malformed)?;
    if saved.v > VERSION { Err(Notice::Newer) } else { Ok(saved) }
}

fn read_plain(rest: &str) -> Result<Saved, Notice> {
    let mut parts = rest.split('/');
    let (Some(id), Some(seed), Some(t), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Notice::Malformed);
    };
    let number = |text: &str| text.parse().map_err(|_| Notice::Malformed);
    Ok(Saved {
        v: PLAIN_VERSION,
        id: Some(id.to_string()),
        text: None,
        seed: number(seed)?,
        t: number(t)?,
        i: Vec::new(),
        f: None,
        draft: None,
    })
}

fn open(saved: Saved) -> Result<Session, Notice> {
    let scenario = match (&saved.id, &saved.text) {
        (Some(id), _) => {
            Shipped::find(id).ok_or_else(|| Notice::UnknownScenario(id.clone()))?.load()
        }
        (None, Some(text)) => Scenario::read("", text).map_err(|_| Notice::Malformed)?,
        (None, None) => return Err(Notice::Malformed),
    };
    if saved.i.len() > INPUTS_KEPT_MAX {
        return Err(Notice::Malformed);
    }
    let mut inputs = Vec::new();
    for SavedInput(at, lanes, line, stdin, given) in saved.i {
        let lanes = match lanes.as_str() {
            "edge" => In::Edge,
            "level" => In::Level,
            "both" => In::Both,
            _ => return Err(Notice::Malformed),
        };
        let at = Time::from_nanos(at).min(LATEST);
        let given = given.map_or(at, |given| Time::from_nanos(given).min(at));
        inputs.push(Input { at, given, lanes, line, stdin, fails: None, prints: None });
    }
    let futures = match saved.f {
        Some(forks) => forks.tree(inputs).ok_or(Notice::Malformed)?,
        None => {
            inputs.sort_by_key(|input| input.given);
            Futures::of(&inputs)
        }
    };
    if futures.shown_len() > INPUTS_MAX {
        return Err(Notice::Malformed);
    }
    let mut session = Session::at_start(Arc::new(scenario), saved.seed, futures);
    session.draft = saved.draft;
    session.seek(Time::from_nanos(saved.t).min(LATEST));
    // What has failed on the way here is no news.
    session.run.take_failed();
    Ok(session)
}
