//! What a reflector remembers and decides: which version it asks a list for, page by page, and what
//! it does when a list or a watch fails (client-go `tools/cache/reflector.go`, `tools/pager`).
//!
//! It knows no time and no network: who owns it sends what it asks and gives the answers back.
//! Left out: streaming lists (WatchList), and the end of a watch after five to ten minutes, which
//! loses nothing.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Object, Str};
use crate::apiserver::{ApiError, Reason};
use crate::kernel::{Rng, Time};

/// The first wait after a failure; it doubles with each that follows.
pub const BACKOFF_INITIAL: Duration = Duration::from_millis(800);
/// The longest wait.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// By what a wait grows.
pub const BACKOFF_FACTOR: u32 = 2;
/// Each wait is lengthened by a random part of up to so many times itself.
pub const BACKOFF_JITTER: u32 = 1;
/// After so long without a failure the waits begin anew.
pub const BACKOFF_RESET: Duration = Duration::from_secs(120);
/// What a watch asks for at least, and at most: so long it shall run.
pub const WATCH_TIMEOUT: (Duration, Duration) =
    (Duration::from_secs(300), Duration::from_secs(600));
/// Objects that a page of a list has, unless somebody wants another number.
const PAGE_SIZE: u32 = 500;

/// A request for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// `resourceVersion`: not older than this, 0 for any; none for the newest of all.
    pub version: Option<u64>,
    /// Objects at most; 0 for all.
    pub limit: u32,
    /// The token of the page before.
    pub continues: Option<Str>,
}

/// The answer to a list.
#[derive(Clone, Debug, Default)]
pub struct ListPage {
    /// The version that it shows.
    pub version: u64,
    /// The objects.
    pub items: Vec<Arc<Object>>,
    /// There is more: the token for it.
    pub continues: Option<Str>,
}

/// What follows from the answer to a list.
#[derive(Clone, Debug)]
pub enum Listing {
    /// Another request.
    Ask(ListRequest),
    /// The whole list is there; the watch can be opened from `Reflector::version`.
    Done(Vec<Arc<Object>>),
    /// It failed: begin again after this time.
    Failed(Duration),
}

/// What follows when a watch could not be opened, or ended with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWatch {
    /// Open it again, from the same version, after this time.
    Rewatch(Duration),
    /// List again after this time.
    Relist(Duration),
}

/// A reflector's memory.
#[derive(Clone, Debug, Default)]
pub struct Reflector {
    /// The last version that it has seen; none before the first list.
    version: Option<u64>,
    /// The server does not have that version any more, or not yet.
    is_unavailable: bool,
    /// The first list came in pages: so will the others.
    is_paged: bool,
    page_size: Option<u32>,
    list: Option<ListUnderWay>,
    backoff: Backoff,
}

#[derive(Clone, Debug)]
struct ListUnderWay {
    /// The version that the first page asked for.
    wanted: Option<u64>,
    /// The size of its pages.
    limit: u32,
    request: ListRequest,
    got: ListPage,
    has_pages: bool,
    /// The list is being tried again with the newest version: if that fails too, it has failed.
    is_second: bool,
}

#[derive(Clone, Debug, Default)]
struct Backoff {
    next: Duration,
    last: Option<Time>,
}

impl Backoff {
    fn take(&mut self, now: Time, rng: &mut Rng) -> Duration {
        let is_old = self.last.is_none_or(|last| now.since(last) > BACKOFF_RESET);
        let wait = if is_old { BACKOFF_INITIAL } else { self.next };
        self.last = Some(now);
        self.next = (wait * BACKOFF_FACTOR).min(BACKOFF_MAX);
        wait + rng.span(Duration::ZERO, wait * BACKOFF_JITTER)
    }
}

impl Reflector {
    /// A reflector that asks for pages of this size.
    pub fn with_page_size(size: u32) -> Reflector {
        Reflector { page_size: Some(size), ..Reflector::default() }
    }

    /// A reflector that has seen this version.
    pub fn at(version: u64) -> Reflector {
        Reflector { version: Some(version), ..Reflector::default() }
    }

    /// The last version that it has seen: from here a watch is opened.
    pub fn version(&self) -> u64 {
        self.version.unwrap_or(0)
    }

    /// A watch event of this version arrived, a bookmark included. The store is told so too.
    pub fn saw(&mut self, version: u64) {
        self.version = Some(version);
    }

    /// The request that is under way, if any.
    pub fn asked(&self) -> Option<&ListRequest> {
        self.list.as_ref().map(|list| &list.request)
    }

    /// Begins a list: not older than what was seen, so that it can come from the watch cache.
    pub fn begin_list(&mut self) -> ListRequest {
        let wanted = match self.is_unavailable {
            true => None,
            false => Some(self.version.unwrap_or(0)),
        };
        let limit = match self.page_size {
            Some(size) => size,
            None if self.is_paged => PAGE_SIZE,
            // From the watch cache in one piece.
            None if wanted.is_some_and(|version| version != 0) => 0,
            None => PAGE_SIZE,
        };
        self.ask(wanted, limit, false)
    }

    fn ask(&mut self, wanted: Option<u64>, limit: u32, is_second: bool) -> ListRequest {
        let request = ListRequest { version: wanted, limit, continues: None };
        self.list = Some(ListUnderWay {
            wanted,
            limit,
            request: request.clone(),
            got: ListPage::default(),
            has_pages: false,
            is_second,
        });
        request
    }

    /// Takes the answer to the request that is under way.
    pub fn list_answered(
        &mut self,
        answer: Result<ListPage, &ApiError>,
        now: Time,
        rng: &mut Rng,
    ) -> Listing {
        let Some(list) = &mut self.list else {
            return Listing::Failed(self.backoff.take(now, rng));
        };
        match answer {
            Ok(page) => self.take_page(page),
            Err(error) if is_expired(error) && list.request.continues.is_some() => {
                // The rest of the pages is gone: all at once then.
                list.got = ListPage::default();
                list.request = ListRequest { version: list.wanted, limit: 0, continues: None };
                Listing::Ask(list.request.clone())
            }
            Err(error) if (is_expired(error) || is_too_large(error)) && !list.is_second => {
                self.is_unavailable = true;
                let limit = list.limit;
                Listing::Ask(self.ask(None, limit, true))
            }
            Err(_) => {
                self.list = None;
                Listing::Failed(self.backoff.take(now, rng))
            }
        }
    }

    fn take_page(&mut self, page: ListPage) -> Listing {
        let Some(mut list) = self.list.take() else { return Listing::Done(page.items) };
        if !list.has_pages {
            list.got.version = page.version;
        }
        list.got.items.extend(page.items);
        if let Some(token) = page.continues {
            list.has_pages = true;
            list.request.continues = Some(token);
            list.request.version = None;
            let next = list.request.clone();
            self.list = Some(list);
            return Listing::Ask(next);
        }
        self.is_paged |= list.wanted == Some(0) && list.has_pages;
        self.is_unavailable = false;
        self.version = Some(list.got.version);
        Listing::Done(list.got.items)
    }

    /// A watch could not be opened, or brought an ERROR event.
    pub fn watch_failed(&mut self, error: &ApiError, now: Time, rng: &mut Rng) -> AfterWatch {
        let wait = self.backoff.take(now, rng);
        // Nothing was missed: the server is merely not there, or busy.
        if error.reason == Reason::TooManyRequests || is_connection_refused(error) {
            AfterWatch::Rewatch(wait)
        } else {
            AfterWatch::Relist(wait)
        }
    }
}

fn is_expired(error: &ApiError) -> bool {
    error.reason == Reason::Expired
}

fn is_too_large(error: &ApiError) -> bool {
    error.reason == Reason::Timeout && error.message.contains("Too large resource version")
}

fn is_connection_refused(error: &ApiError) -> bool {
    error.message.contains("connection refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_begin_anew_after_a_quiet_time() {
        let (mut reflector, mut rng) = (Reflector::at(5), Rng::stream(1, "test"));
        let busy = ApiError::new(Reason::TooManyRequests, "busy");
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..9 {
            let AfterWatch::Rewatch(wait) = reflector.watch_failed(&busy, now, &mut rng) else {
                panic!("no list is needed");
            };
            now += wait;
            waits.push(wait);
        }
        for (place, wait) in waits.iter().enumerate() {
            let least = (BACKOFF_INITIAL * 2u32.pow(place as u32)).min(BACKOFF_MAX);
            assert!((least..=least * 2).contains(wait), "{place}: {wait:?}");
        }
        now += Duration::from_secs(121);
        let AfterWatch::Rewatch(wait) = reflector.watch_failed(&busy, now, &mut rng) else {
            panic!("no list is needed");
        };
        assert!(wait <= BACKOFF_INITIAL * 2);
    }

    #[test]
    fn a_watch_from_a_compacted_version_lists_not_older_than_what_was_seen() {
        let (mut reflector, mut rng) = (Reflector::at(5), Rng::stream(1, "test"));
        let expired = ApiError::new(Reason::Expired, "too old resource version: 5 (9)");
        let after = reflector.watch_failed(&expired, Time::ZERO, &mut rng);
        assert!(matches!(after, AfterWatch::Relist(_)));
        assert_eq!(reflector.begin_list().version, Some(5));
    }
}
