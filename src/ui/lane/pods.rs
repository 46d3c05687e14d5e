//! A place for a pod, and the pod in it. The place stays while pods come and go, so that nothing
//! moves.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use web_sys::Element;

use crate::api::Str;
use crate::ui::bridge::Lanes;
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::menu::{lines, place_of};
use crate::ui::state::{Page, What};
use crate::ui::words;
use crate::view::{PodCell, PodLook, Stage};

use super::Lane;

/// Places in which pods are drawn one by one.
pub const CELLS: u32 = 24;

type Place = ArcRwSignal<Option<PodCell>>;

/// The pods of one node, or of none, each in its place: a place hears of its own pod alone, so
/// that a jump in time costs no more than what it changes.
#[derive(Clone, Copy)]
pub struct Pods(StoredValue<Vec<Place>>);

impl Pods {
    /// Follows what is found on the stage, in the order of the places.
    pub fn follow(lane: Lane, find: impl Fn(&Stage) -> &[PodCell] + 'static) -> Pods {
        let pods = Pods(StoredValue::default());
        lane.stage.with_untracked(|stage| pods.show(find(stage)));
        Effect::new(move || lane.stage.with(|stage| pods.show(find(stage))));
        pods
    }

    fn show(&self, pods: &[PodCell]) {
        let used = pods.last().map_or(0, |pod| pod.place + 1).min(CELLS);
        if let Some(last) = used.checked_sub(1) {
            self.at(last);
        }
        let mut pods = pods.iter().peekable();
        self.0.with_value(|places| {
            for (at, place) in (0..).zip(places) {
                let now = pods.next_if(|pod| pod.place == at);
                if place.with_untracked(|before| !is_drawn_alike(before.as_ref(), now)) {
                    place.set(now.cloned());
                }
            }
        });
    }

    fn at(&self, place: u32) -> Place {
        let place = place as usize;
        self.0.update_value(|places| {
            let size = places.len().max(place + 1);
            places.resize_with(size, Place::default);
        });
        self.0.with_value(|places| places[place].clone())
    }
}

/// Since when a pod has its look, and whose it is, is not drawn.
fn is_drawn_alike(one: Option<&PodCell>, other: Option<&PodCell>) -> bool {
    let drawn = |pod: &'_ PodCell| (pod.state, pod.restarts);
    match (one, other) {
        (Some(one), Some(other)) => {
            let same = one.uid == other.uid && one.key == other.key && one.status == other.status;
            same && drawn(one) == drawn(other)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The pod that is in a place, and the look of the one that has just left it.
type Gone = (Option<(Str, PodLook)>, Option<PodLook>);

#[component]
pub fn Cell(lane: Lane, pods: Pods, place: u32) -> impl IntoView {
    let (page, pod) = (Page::get(), RwSignal::from(pods.at(place)));
    // The one that was here before shrinks away under the one that comes.
    let gone = Memo::new(move |before: Option<&Gone>| {
        let now = pod.with(|pod| pod.as_ref().map(|pod| (pod.uid.clone(), pod.state)));
        let last = before.and_then(|(last, _)| last.as_ref());
        let left = last.filter(|last| now.as_ref().is_none_or(|now| now.0 != last.0));
        let left = left.filter(|_| !page.run.is_quiet()).map(|(_, look)| *look);
        (now, left)
    });
    let going = Memo::new(move |_| gone.with(|(_, left)| *left));
    let going = move || Some(view! { <span class="going">{drawing(going.get()?)}</span> });
    let button = button_of(page, pod);
    view! {
        <div class="place" class:free=move || pod.with(Option::is_none)>
            {going}
            {move || button.get().map(|_| view! { <Pod lane=lane pod=pod/> })}
        </div>
    }
    .into_any()
}

/// The number of the button for the pod in a place. Another pod gets another one, which grows in;
/// after a jump in time the one that is there is given to it, and stays out of sight where there is
/// none: to make hundreds anew would be slow.
fn button_of(page: Page, pod: RwSignal<Option<PodCell>>) -> Memo<Option<u32>> {
    let made = StoredValue::new((None::<Str>, None::<u32>, 0));
    Memo::new(move |_| {
        let now = pod.with(|pod| pod.as_ref().map(|pod| pod.uid.clone()));
        let quiet = page.run.is_quiet();
        let mut number = None;
        made.update_value(|(last, button, made)| {
            if now.is_none() {
                *button = button.filter(|_| quiet);
            } else if *last != now && !(quiet && button.is_some()) {
                *made += 1;
                *button = Some(*made);
            }
            last.clone_from(&now);
            number = *button;
        });
        number
    })
}

#[component]
fn Pod(lane: Lane, pod: RwSignal<Option<PodCell>>) -> impl IntoView {
    let page = Page::get();
    let is_here = Memo::new(move |_| pod.with(Option::is_some));
    let look = Memo::new(move |before: Option<&PodLook>| {
        let look = pod.with(|pod| pod.as_ref().map(|pod| pod.state));
        look.or(before.copied()).unwrap_or(PodLook::Unknown)
    });
    let says = Memo::new(move |_| pod.with(|pod| pod.as_ref().map(describe).unwrap_or_default()));
    // Hundreds of titles that nobody points at would be written with each jump in time.
    let pointed = RwSignal::new(false);
    let restarts = Memo::new(move |_| {
        let restarts = pod.with(|pod| pod.as_ref().map_or(0, |pod| pod.restarts));
        (restarts > 0).then_some(restarts)
    });
    let open = move |event: leptos::ev::MouseEvent| {
        if let Some(pod) = pod.get_untracked() {
            let (at, by_pointer) = place_of(&event);
            page.open_menu(lane.id, What::Pod(pod.key), at, by_pointer);
        }
    };
    let press = move |event: KeyboardEvent| {
        let key = pod.with_untracked(|pod| pod.as_ref().map(|pod| pod.key.clone()));
        if super::inspects(page, lane.id, &event, key)
            || !matches!(event.key().as_str(), "Delete" | "Backspace")
        {
            return;
        }
        event.prevent_default();
        if let Some(pod) = pod.get_untracked() {
            let lanes = if event.shift_key() { lane.id.into() } else { Lanes::Both };
            page.act(&lines::delete_pod(&pod.key), lanes);
        }
    };
    view! {
        <button
            class:pod=move || is_here.get()
            class:settled=page.run.is_quiet()
            hidden=move || !is_here.get()
            data-look=move || look_key(look.get())
            data-pod=move || pod.with(|pod| pod.as_ref().map(|pod| pod.key.name.to_string()))
            tabindex="-1"
            aria-haspopup="dialog"
            aria-label=move || says.get()
            title=move || pointed.get().then(|| says.get())
            on:pointerenter=move |_| pointed.set(true)
            on:pointerleave=move |_| pointed.set(false)
            on:click=open
            on:keydown=press
        >
            <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
                {paths(look.into())}
            </svg>
            {move || restarts.get().map(|n| view! { <small class="restarts">{n}</small> })}
        </button>
    }
    .into_any()
}

/// `web-5d9-x7k, Running, ready`.
pub fn describe(pod: &PodCell) -> String {
    let look = words::look(pod.state);
    let mut text = pod.key.name.to_string();
    text = format!("{text}, {}", pod.status);
    if *pod.status != *look {
        text = format!("{text}, {look}");
    }
    if pod.restarts > 0 {
        text = format!("{text}, {}", tr!(nodes.restarts, n = pod.restarts));
    }
    text
}

/// The drawing of a look.
pub fn drawing(look: PodLook) -> AnyView {
    view! {
        <svg class="glyph" data-look=look_key(look) viewBox="0 0 24 24" aria-hidden="true">
            {paths(Signal::stored(look))}
        </svg>
    }
    .into_any()
}

/// A shape and a sign on it, which take their colours and strokes from the look around them. There
/// are hundreds, and many change with each jump in time: as references to a sprite they are slow.
fn paths(look: Signal<PodLook>) -> AnyView {
    view! {
        <path class="shape" d=move || shape(look.get())></path>
        <path class="sign" d=move || sign(look.get())></path>
    }
    .into_any()
}

/// Its outline.
fn shape(look: PodLook) -> &'static str {
    match look {
        PodLook::Ready => "M7 1h10a6 6 0 0 1 6 6v10a6 6 0 0 1-6 6H7a6 6 0 0 1-6-6V7a6 6 0 0 1 6-6z",
        PodLook::CrashLoopBackOff => "M7.5 1h9L23 7.5v9L16.5 23h-9L1 16.5v-9z",
        PodLook::ImagePullBackOff => "M7.7 2h8.6L22 7.7v8.6L16.3 22H7.7L2 16.3V7.7z",
        PodLook::Failed => "M12 .8 23.2 12 12 23.2.8 12z",
        PodLook::Succeeded | PodLook::Unknown => "M12 2a10 10 0 0 1 0 20 10 10 0 0 1 0-20z",
        PodLook::Pending
        | PodLook::ContainerCreating
        | PodLook::NotReady
        | PodLook::Terminating => {
            "M7 2h10a5 5 0 0 1 5 5v10a5 5 0 0 1-5 5H7a5 5 0 0 1-5-5V7a5 5 0 0 1 5-5z"
        }
    }
}

/// A letter, or the mark of what is well.
fn sign(look: PodLook) -> &'static str {
    match look {
        PodLook::Ready => "m6.8 12.4 3.5 3.6 6.9-7.6",
        PodLook::Pending => "M9 16.8V7.2h3.4a2.8 2.8 0 0 1 0 5.6H9",
        PodLook::ContainerCreating => "M15.4 9.2a3.9 4.8 0 1 0 0 5.6",
        PodLook::NotReady => "M8.6 16.8V7.2l6.8 9.6V7.2",
        PodLook::Terminating => "M8.2 7.2h7.6M12 7.2v9.6",
        PodLook::CrashLoopBackOff => "M9.4 7.2v9.6h5.8",
        PodLook::ImagePullBackOff => "M9.4 7.2h5.2M9.4 16.8h5.2M12 7.2v9.6",
        PodLook::Failed => "M9.6 16.8V7.2h5.6M9.6 11.8h4.8",
        PodLook::Succeeded => {
            "M15.2 9a3.1 3.1 0 0 0-3.1-1.8c-1.9 0-3 1-3 2.3 0 3.3 6.2 1.6 6.2 4.9 \
             0 1.5-1.3 2.4-3.2 2.4a3.4 3.4 0 0 1-3.3-1.9"
        }
        PodLook::Unknown => "M9.2 9.6a2.8 2.6 0 1 1 4.2 2.3c-1 .6-1.4 1-1.4 2M12 16.7v.1",
    }
}

/// A look's name in attributes.
pub fn look_key(look: PodLook) -> &'static str {
    match look {
        PodLook::Pending => "Pending",
        PodLook::ContainerCreating => "ContainerCreating",
        PodLook::NotReady => "NotReady",
        PodLook::Ready => "Ready",
        PodLook::Terminating => "Terminating",
        PodLook::CrashLoopBackOff => "CrashLoopBackOff",
        PodLook::ImagePullBackOff => "ImagePullBackOff",
        PodLook::Failed => "Failed",
        PodLook::Succeeded => "Succeeded",
        PodLook::Unknown => "Unknown",
    }
}

/// Arrow keys go through the buttons of a list; there they do not step through time.
pub fn rove(list: Option<Element>, event: &KeyboardEvent) {
    let Some(list) = list else { return };
    if !event.ctrl_key()
        && !event.meta_key()
        && dom::rove(&list, "button:not([hidden])", &event.key())
    {
        event.prevent_default();
    }
}
