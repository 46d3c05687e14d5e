//! The one frame loop: display time moves on, the simulation follows, the canvases are drawn, and
//! ten times a second at most the panes are told. It sleeps while nothing moves.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use super::bridge::{LANES, index};
use super::canvas::LaneCanvas;
use super::dom;
use super::state::Page;
use crate::view::range::Turn;

/// A hidden tab stops the frames; what it missed is not caught up with.
const LONGEST_STEP_MS: f64 = 100.0;
const PATCH_EVERY_MS: f64 = 100.0;
/// Where nothing may move, a pass is shown for so long.
const STILL_PASS_MS: f64 = 1400.0;

/// The loop's own memory.
#[derive(Default)]
struct Loop {
    closure: Option<Closure<dyn FnMut(f64)>>,
    asked: bool,
    last: Option<f64>,
    patched: f64,
    stepped: f64,
    canvases: [Option<LaneCanvas>; 2],
}

/// A handle to the loop, to be kept where only the page's own thread reaches it.
#[derive(Clone, Copy)]
pub struct Frames(StoredValue<Rc<RefCell<Loop>>, LocalStorage>);

impl Frames {
    /// Starts the loop for a page.
    pub fn start(page: Page) -> Frames {
        let frames = Frames(StoredValue::new_local(Rc::default()));
        let closure = Closure::new(move |now| frames.turn(page, now));
        frames.with(|own| own.closure = Some(closure));
        Effect::new(move || {
            page.playing.track();
            page.run.jumps.track();
            page.run.changed.track();
            page.redraw.track();
            frames.wake();
        });
        on_cleanup(move || {
            frames.with(|own| own.closure = None);
        });
        frames
    }

    fn with<T>(&self, f: impl FnOnce(&mut Loop) -> T) -> Option<T> {
        let own = self.0.try_get_value()?;
        let mut own = own.try_borrow_mut().ok()?;
        Some(f(&mut own))
    }

    /// Gives a lane's canvas to the loop.
    pub fn adopt(&self, canvas: LaneCanvas) {
        self.with(|own| {
            let place = index(canvas.lane());
            own.canvases[place] = Some(canvas);
        });
        self.wake();
    }

    /// A lane's places have moved: they are measured again before the next drawing.
    pub fn measure(&self) {
        self.with(|own| {
            for canvas in own.canvases.iter_mut().flatten() {
                canvas.forget_places();
            }
        });
        self.wake();
    }

    /// The message at a place of a lane's canvas.
    pub fn hit(&self, lane: crate::view::LaneId, x: f64, y: f64) -> Option<u64> {
        self.with(|own| own.canvases[index(lane)].as_ref()?.hit(x, y)).flatten()
    }

    /// Where a message was drawn, in pixels of its canvas.
    pub fn place(&self, lane: crate::view::LaneId, flight: u64) -> Option<(f64, f64)> {
        self.with(|own| own.canvases[index(lane)].as_ref()?.place(flight)).flatten()
    }

    /// Asks for a frame.
    pub fn wake(&self) {
        self.with(|own| {
            if own.asked {
                return;
            }
            let Some(closure) = &own.closure else { return };
            let asked = window().request_animation_frame(closure.as_ref().unchecked_ref());
            own.asked = asked.is_ok();
        });
    }

    fn turn(&self, page: Page, now: f64) {
        let (step, patch) = self
            .with(|own| {
                own.asked = false;
                let step = own.last.map_or(0.0, |last| now - last);
                own.last = Some(now);
                (step.clamp(0.0, LONGEST_STEP_MS), now - own.patched >= PATCH_EVERY_MS)
            })
            .unwrap_or_default();
        let playing = page.playing.get_untracked();
        if playing {
            self.move_on(page, now, step);
            if patch {
                self.with(|own| own.patched = now);
                page.run.publish();
            }
        }
        self.draw(page);
        if playing {
            self.wake();
        } else {
            self.with(|own| own.last = None);
        }
    }

    /// Time goes on, within the stretch that is played.
    fn move_on(&self, page: Page, now: f64, step: f64) {
        let before = page.run.now();
        self.move_time(page, now, step);
        match page.range.get_untracked().turn(before, page.run.now()) {
            Turn::On => {}
            Turn::Back(at) => page.run.seek(at),
            Turn::Stop(at) => {
                page.go(at);
            }
        }
    }

    fn move_time(&self, page: Page, now: f64, step: f64) {
        let speed = page.speed.get_untracked();
        if !page.still.get_untracked() {
            page.run.advance(step * speed, page.pace.get_untracked());
            return;
        }
        let due = self.with(|own| {
            let due = now - own.stepped >= STILL_PASS_MS / speed;
            if due {
                own.stepped = now;
            }
            due
        });
        if due == Some(true) {
            page.run.step(true);
        }
    }

    fn draw(&self, page: Page) {
        let still = page.still.get_untracked();
        let shown = page.run.shown();
        for lane in LANES {
            if untrack(|| page.alone()).is_some_and(|alone| alone != lane) {
                continue;
            }
            let stage = page.run.look(lane);
            self.with(|own| {
                if let Some(canvas) = &mut own.canvases[index(lane)] {
                    canvas.draw(&page.run, &stage, shown, still);
                }
            });
        }
    }
}

/// Stops time while nobody can see the page.
pub fn pause_when_hidden(page: Page) {
    let listener = window_event_listener_untyped("visibilitychange", move |_| {
        if document().hidden() {
            page.playing.set(false);
        }
    });
    on_cleanup(move || listener.remove());
}

/// Tells tests and style sheets what is shown.
pub fn mark_root(page: Page) {
    Effect::new(move || {
        dom::mark("playing", if page.playing.get() { "true" } else { "false" });
    });
    Effect::new(move || {
        let clock = page.run.clock.get();
        dom::mark("time", &format!("{:.6}", clock.now.as_secs_f64()));
    });
    Effect::new(move || {
        dom::mark("seed", &page.run.seed().to_string());
        dom::mark("revision", &page.run.changed.get().to_string());
        for (lane, name) in LANES.into_iter().zip(["hash-edge", "hash-level"]) {
            dom::mark(name, &format!("{:016x}", page.run.trace_hash(lane)));
        }
    });
}
