// The plot of the Metrics tab, bundled into dist/metrics.js and fetched when the tab is first
// opened. It stands in a shadow root, so that its styles come along under a strict
// Content-Security-Policy.

import uPlot from "uplot";
import css from "uplot/dist/uPlot.min.css";

const HEIGHT = 190;

const own = `
  :host { display: block; }
  .u-legend { font: 0.75rem var(--sans); color: var(--ink); text-align: start; }
  .u-legend .u-value { font-variant-numeric: tabular-nums; }
`;

/** A colour of the page as it is now: a canvas knows no `light-dark()`. */
function tone(host, name) {
  const probe = host.shadowRoot.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/**
 * Puts a plot into `host`. The answer's `show(title, unit, names, rows)` draws `rows`: seconds, then
 * one row of numbers for each name; edge is dashed, level is not, what is wanted is thin.
 */
function create(host) {
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css + own);
  root.adoptedStyleSheets = [sheet];
  const place = root.appendChild(document.createElement("div"));
  let plot = null;
  let shown = "";

  const width = () => Math.max(200, host.clientWidth);
  new ResizeObserver(() => plot?.setSize({ width: width(), height: HEIGHT })).observe(host);

  function options(title, unit, names) {
    const ink = tone(host, "--muted");
    const grid = { stroke: tone(host, "--line"), width: 1 };
    const font = `12px ${getComputedStyle(host).fontFamily}`;
    const axis = { stroke: ink, grid, ticks: grid, font };
    const looks = [
      { stroke: tone(host, "--trouble"), dash: [6, 4], width: 2 },
      { stroke: tone(host, "--observed"), width: 2 },
      { stroke: tone(host, "--desired"), width: 1, dash: [2, 3] },
    ];
    return {
      width: width(),
      height: HEIGHT,
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high * 1.08)] } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => `${tick} s`) }, { ...axis, size: 46 }],
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      series: [
        { label: "", value: (_, at) => (at == null ? "–" : `${at.toFixed(1)} s`) },
        ...names.map((label, index) => ({
          label,
          ...looks[index],
          points: { show: false },
          paths: uPlot.paths.stepped({ align: 1 }),
          value: (_, value) => (value == null ? "–" : `${Math.round(value * 10) / 10}${unit}`),
        })),
      ],
    };
  }

  function show(title, unit, names, rows) {
    const data = Array.from(rows, (row) => Array.from(row));
    const key = [title, unit, ...names, tone(host, "--ink")].join("|");
    if (key !== shown) {
      plot?.destroy();
      plot = new uPlot(options(title, unit, Array.from(names)), data, place);
      shown = key;
      return;
    }
    plot.setData(data);
  }
  return { show };
}

globalThis.loopscopePlots = { create };
