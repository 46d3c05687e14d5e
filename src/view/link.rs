//! A link is a run: version, scenario, seed, what a person did and when, and the moment that is
//! shown. A short session is plain text; a longer one is deflated JSON in base64url. Whatever else
//! stands in an address, the page opens, with a notice.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};

use crate::kernel::Time;
use crate::scenario::{INPUTS_MAX, In, Input, Scenario, Shipped};

use super::session::Session;

/// The version that this program writes.
const VERSION: u32 = 1;
/// The longest link that is handed out, in characters.
pub const LINK_MAX: usize = 2_000;
/// The longest fragment that is read.
const FRAGMENT_MAX: usize = 512 * 1024;
/// The longest text that a fragment may unfold to.
const INFLATED_MAX: usize = 4 * 1024 * 1024;
/// The latest moment that a link may show: an hour.
const LATEST: u64 = 3_600_000_000_000;

/// A session that does not fit into a link; it can be kept as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Its length in characters.
    pub length: usize,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    i: Vec<SavedInput>,
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

impl Session {
    /// The fragment of this session's link, without `#`.
    pub fn link(&self) -> Result<String, TooLong> {
        let scenario = self.scenario();
        let plain = self.run.inputs().is_empty() && self.draft.is_none() && !scenario.id.is_empty();
        if plain && self.now().as_nanos() < LATEST {
            return Ok(format!(
                "{VERSION}/{}/{}/{}",
                scenario.id,
                self.seed(),
                self.now().as_nanos()
            ));
        }
        let json = self.to_json();
        let packed = URL_SAFE_NO_PAD.encode(compress_to_vec(json.as_bytes(), 9));
        let link = format!("{VERSION}z/{packed}");
        let length = link.len();
        if length > LINK_MAX { Err(TooLong { length }) } else { Ok(link) }
    }

    /// The session as a file.
    pub fn to_json(&self) -> String {
        let scenario = self.scenario();
        let ships = !scenario.id.is_empty();
        let saved = Saved {
            v: VERSION,
            id: ships.then(|| scenario.id.clone()),
            text: (!ships).then(|| scenario.text.clone()),
            seed: self.seed(),
            t: self.now().as_nanos(),
            i: self
                .run
                .inputs()
                .iter()
                .map(|input| {
                    let (line, stdin) = (input.line.clone(), input.stdin.clone());
                    let given = (input.given < input.at).then(|| input.given.as_nanos());
                    SavedInput(input.at.as_nanos(), input.lanes.word().into(), line, stdin, given)
                })
                .collect(),
            draft: self.draft.clone(),
        };
        serde_json::to_string(&saved).unwrap_or_default()
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
        serde_json::from_str(text).map_err(|_| Notice::Malformed).and_then(open)
    }
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
        v: VERSION,
        id: Some(id.to_string()),
        text: None,
        seed: number(seed)?,
        t: number(t)?,
        i: Vec::new(),
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
    if saved.i.len() > INPUTS_MAX {
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
        let at = Time::from_nanos(at.min(LATEST));
        let given = given.map_or(at, |given| Time::from_nanos(given).min(at));
        inputs.push(Input { at, given, lanes, line, stdin, fails: None, prints: None });
    }
    inputs.sort_by_key(|input| input.given);
    let mut session = Session::at_start(Arc::new(scenario), saved.seed, inputs);
    session.draft = saved.draft;
    session.seek(Time::from_nanos(saved.t.min(LATEST)));
    Ok(session)
}
