//! What the run costs: one measure at a time, both lanes in one plot, and the numbers of the moment
//! beside it as a table.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::ui::bridge::{LANES, Sample};
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;

#[wasm_bindgen]
extern "C" {
    /// What `plots/metrics.js` gives back.
    #[derive(Clone)]
    type Plot;
    #[wasm_bindgen(method)]
    fn show(this: &Plot, title: &str, unit: &str, names: &js_sys::Array, rows: &js_sys::Array);

    #[wasm_bindgen(thread_local_v2, js_name = loopscopePlots)]
    static MODULE: Option<Module>;

    #[derive(Clone)]
    type Module;
    #[wasm_bindgen(method)]
    fn create(this: &Module, host: &web_sys::HtmlElement) -> Plot;
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Ready,
    Queued,
    Passes,
    Retries,
    Reads,
    Writes,
    Events,
    Adds,
    Merges,
    Stale,
    Waiting,
    Refused,
}

use Measure::{
    Adds, Events, Merges, Passes, Queued, Reads, Ready, Refused, Retries, Stale, Waiting, Writes,
};

const MEASURES: [Measure; 12] =
    [Ready, Queued, Passes, Writes, Reads, Events, Retries, Adds, Merges, Stale, Waiting, Refused];

fn name(measure: Measure) -> &'static str {
    match measure {
        Ready => tr!(metrics.ready),
        Queued => tr!(metrics.queued),
        Passes => tr!(metrics.passes),
        Retries => tr!(metrics.retries),
        Reads => tr!(metrics.reads),
        Writes => tr!(metrics.writes),
        Events => tr!(metrics.events),
        Adds => tr!(metrics.adds),
        Merges => tr!(metrics.merges),
        Stale => tr!(metrics.stale),
        Waiting => tr!(metrics.waiting),
        Refused => tr!(metrics.refused),
    }
}

fn value(measure: Measure, sample: &Sample) -> f64 {
    // Counts stay far below 2^53.
    match measure {
        Ready => sample.ready as f64,
        Queued => sample.queued as f64,
        Passes => sample.passes as f64,
        Retries => sample.retries as f64,
        Reads => sample.reads as f64,
        Writes => sample.writes as f64,
        Events => sample.watch_events as f64,
        Adds => sample.adds as f64,
        Merges => sample.merges as f64,
        Stale => sample.stale.as_secs_f64() * 1e3,
        Waiting => sample.waiting as f64,
        Refused => sample.refused as f64,
    }
}

fn unit(measure: Measure) -> &'static str {
    if measure == Stale { " ms" } else { "" }
}

#[component]
pub fn Metrics() -> impl IntoView {
    let page = Page::get();
    let host = NodeRef::<Div>::new();
    let measure = RwSignal::new(Ready);
    let plot = RwSignal::new_local(None::<Plot>);
    let asked = StoredValue::new(false);
    Effect::new(move || {
        if page.tab.get() == Tab::Metrics && !asked.get_value() && host.get().is_some() {
            asked.set_value(true);
            load(host, plot);
        }
    });
    Effect::new(move || {
        if page.tab.get() != Tab::Metrics {
            return;
        }
        page.run.changed.track();
        page.redraw.track();
        if let Some(plot) = plot.get() {
            draw(page, &plot, measure.get());
        }
    });
    let choose = move |event| {
        let index = event_target_value(&event).parse().unwrap_or(0);
        measure.set(MEASURES.get(index).copied().unwrap_or(Ready));
    };
    let choices = move || {
        let choice = |(index, measure): (usize, Measure)| {
            view! { <option value=index.to_string()>{name(measure)}</option> }.into_any()
        };
        MEASURES.into_iter().enumerate().map(choice).collect_view()
    };
    view! {
        <div class="metrics">
            <div class="filters">
                <select aria-label=move || tr!(metrics.what) on:change=choose>{choices}</select>
            </div>
            <div class="plot" node_ref=host aria-hidden="true"></div>
            <Numbers/>
            <super::costs::Costs/>
        </div>
    }
    .into_any()
}

/// The numbers of the moment: what the plot shows for eyes, all measures at once.
#[component]
fn Numbers() -> impl IntoView {
    let page = Page::get();
    let rows = move || {
        if page.tab.get() != Tab::Metrics {
            return None;
        }
        page.run.changed.track();
        let last = LANES.map(|lane| page.run.last_sample(lane));
        let row = |measure| {
            let cells = last.map(|sample| {
                let number = format!("{:.0}{}", value(measure, &sample), unit(measure));
                view! { <td>{number}</td> }.into_any()
            });
            view! {
                <tr>
                    <th scope="row">{name(measure)}</th>
                    {cells.collect_view()}
                </tr>
            }
            .into_any()
        };
        let wanted = last.map(|sample| view! { <td>{sample.wanted}</td> }.into_any());
        let wanted = view! {
            <tr>
                <th scope="row">{tr!(metrics.wanted)}</th>
                {wanted.collect_view()}
            </tr>
        };
        Some((wanted.into_any(), MEASURES.map(row).collect_view()).into_any())
    };
    let heads = LANES.map(|lane| view! { <th scope="col">{move || words::lane_word(lane)}</th> });
    view! {
        <table class="numbers">
            <caption>{move || tr!(metrics.now)}</caption>
            <thead>
                <tr>
                    <th scope="col">{move || tr!(metrics.what)}</th>
                    {heads.collect_view()}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// Both lanes over the moments at which either was measured.
fn draw(page: Page, plot: &Plot, measure: Measure) {
    let (edge, level) = (page.run.samples(LANES[0]), page.run.samples(LANES[1]));
    let mut moments: Vec<_> = edge.iter().chain(&level).map(|sample| sample.at).collect();
    moments.sort();
    moments.dedup();
    let row = |samples: &[Sample], value: &dyn Fn(&Sample) -> f64| {
        let row = js_sys::Array::new();
        for at in &moments {
            let known = samples.partition_point(|sample| sample.at <= *at);
            let number = known.checked_sub(1).map(|index| value(&samples[index]));
            row.push(&number.map_or(JsValue::NULL, JsValue::from));
        }
        row
    };
    let seconds = js_sys::Array::new();
    moments.iter().for_each(|at| {
        seconds.push(&at.as_secs_f64().into());
    });
    let names = js_sys::Array::new();
    LANES.iter().for_each(|lane| {
        names.push(&words::lane_word(*lane).into());
    });
    let rows = js_sys::Array::of1(&seconds);
    rows.push(&row(&edge, &|sample| value(measure, sample)));
    rows.push(&row(&level, &|sample| value(measure, sample)));
    if measure == Ready {
        names.push(&tr!(metrics.wanted).into());
        rows.push(&row(&level, &|sample| sample.wanted as f64));
    }
    plot.show(name(measure), unit(measure), &names, &rows);
}

/// Fetches the plot. If it cannot be had, the table stays.
fn load(host: NodeRef<Div>, plot: RwSignal<Option<Plot>, LocalStorage>) {
    let ready = move || {
        if let (Some(host), Some(module)) = (host.get_untracked(), MODULE.with(Clone::clone)) {
            plot.set(Some(module.create(&host)));
        }
    };
    dom::load_script("./metrics.js", ready, || {});
}
