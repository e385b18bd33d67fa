/* ---- looks: the palette of Okabe and Ito, told apart by the colour-blind, and beside it dashes and markers ---- */

const LIGHT = { text: "#1b1b1b", faint: "#5c5c5c", grid: "#dddddd", back: "#ffffff",
  colours: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9"] };
const DARK = { text: "#ececec", faint: "#aaaaaa", grid: "#3a3a3a", back: "#17191c",
  colours: ["#56b4e9", "#e69f00", "#00b884", "#cc79a7", "#ffffff", "#f0e442", "#d55e00"] };
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [14, 4]];
const MARKERS = ["circle", "triangle", "rect", "rectRot", "crossRot", "star", "cross"];
const BAND_AT = 0.55; /* in the strip under the curves: the ranges, and below them the crossings */
const CROSSING_AT = 0.06;
const ZERO_AT = 0.5; /* where an axis of powers shows size 0 */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let themeChoice = "system", printing = false;

function isDark() { return !printing && (themeChoice === "dark" || (themeChoice === "system" && dark.matches)); }
function theme() { return isDark() ? DARK : LIGHT; }

/* 7 colours, then the same with the next dash and marker: 245 before two look the same. */
function styleOf(index) {
  const round = Math.floor(index / 7);
  return {
    colour: theme().colours[index % 7],
    dash: DASHES[round % DASHES.length],
    marker: MARKERS[(index + round) % MARKERS.length],
  };
}

function faded(colour) { return colour + "33"; }

/* ---- axes ---- */

function xOf(size) { return size === 0 ? ZERO_AT : size; }

function sizeTicks(axis) {
  const room = Math.max(2, Math.floor(axis.width / 58));
  const low = Math.ceil(Math.log2(axis.min)), high = Math.floor(Math.log2(axis.max));
  const step = Math.max(1, Math.ceil((high - low + 1) / room));
  axis.ticks = [];
  for (let e = low; e <= high; e += step) axis.ticks.push({ value: Math.pow(2, e) });
}

function costTicks(axis) {
  const times = axis.max / axis.min;
  const fine = [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 7];
  const parts = times < 6 ? fine : times < 30 ? [1, 1.5, 2, 3, 5, 7] : times < 500 ? [1, 2, 5] : [1];
  axis.ticks = [];
  for (let e = Math.floor(Math.log10(axis.min)); e <= Math.log10(axis.max); e++)
    for (const part of parts) {
      const value = part * Math.pow(10, e);
      if (value >= axis.min * 0.999 && value <= axis.max * 1.001) axis.ticks.push({ value });
    }
}

function axes(spec) {
  const t = theme();
  const font = { size: 12 };
  const out = {
    x: {
      type: "logarithmic", min: xOf(spec.xMin), max: spec.xMax, afterBuildTicks: sizeTicks, grid: { color: t.grid },
      title: { display: true, text: spec.xTitle, color: t.faint, font },
      ticks: { color: t.faint, autoSkip: false, maxRotation: 0,
          callback: (v) => (v === ZERO_AT ? "0" : sizeText(v)) },
    },
    y: {
      type: "logarithmic", min: spec.yMin, max: spec.yMax, afterBuildTicks: costTicks, grid: { color: t.grid },
      title: { display: true, text: spec.yTitle, color: t.faint, font }, stack: "one", stackWeight: 9,
      ticks: { color: t.faint, autoSkip: false, callback: (v) => numberText(v) },
    },
  };
  if (spec.ranges.length)
    out.ranges = {
      axis: "y", position: "left", type: "linear", min: 0, max: 1, stack: "one", stackWeight: 1, weight: -1,
      afterBuildTicks: (axis) => { axis.ticks = [{ value: BAND_AT }]; }, grid: { display: false },
      ticks: { color: t.faint, callback: () => "chosen" },
    };
  return out;
}

/* ---- curves and ranges ---- */

function curveSets(spec) {
  const sets = [];
  spec.series.forEach((s, k) => {
    const look = styleOf(s.look);
    const at = (key) => s.rows.map((r) => ({ x: xOf(r.size), y: r[key] }));
    sets.push({
      label: s.name, kind: "curve", data: s.rows.map((r) => ({ x: xOf(r.size), y: r.y, row: r })),
      borderColor: look.colour, backgroundColor: look.colour, borderDash: look.dash, borderWidth: 2,
      pointStyle: look.marker, pointBorderColor: look.colour,
      pointRadius: (c) => (s.rows.length < 16 || c.dataIndex % 8 === k % 8 ? 4 : 0), pointHoverRadius: 5,
    });
    if (!spec.intervals || !s.rows.some((r) => r.lo < r.hi)) return;
    sets.push({ label: s.name, kind: "lo", data: at("lo"), borderWidth: 0, pointRadius: 0, pointHitRadius: 0 });
    sets.push({ label: s.name, kind: "hi", data: at("hi"), borderWidth: 0, pointRadius: 0, pointHitRadius: 0,
      fill: "-1", backgroundColor: faded(look.colour) });
  });
  return sets;
}

/* A band a range; under its end the interval in which the crossing lies. */
function rangeSets(spec) {
  const sets = [];
  for (const r of spec.ranges) {
    const from = Math.max(xOf(r.from), xOf(spec.xMin)), to = Math.min(r.to === null ? spec.xMax : r.to, spec.xMax);
    if (from >= to) continue;
    const bar = (x0, x1, y, colour, width, kind) => ({
      label: r.name, kind, yAxisID: "ranges", data: [{ x: x0, y }, { x: x1, y }], borderColor: colour,
      borderWidth: width, pointRadius: 0, pointHitRadius: 0, borderCapStyle: "butt", clip: 0,
    });
    sets.push(bar(from, to, BAND_AT, styleOf(r.look).colour, 18, "range"));
    if (r.lo && r.hi > r.lo && r.hi <= spec.xMax)
      sets.push(bar(Math.max(r.lo, spec.xMin), r.hi, CROSSING_AT, theme().text, 4, "crossing"));
  }
  return sets;
}

/* The name of each range, in its band where there is room. */
const rangeNames = {
  id: "rangeNames",
  afterDatasetsDraw(chart) {
    chart.data.datasets.forEach((set, i) => {
      if (set.kind !== "range" || !chart.isDatasetVisible(i)) return;
      const [a, b] = chart.getDatasetMeta(i).data, c = chart.ctx;
      c.save();
      c.font = "bold 11px sans-serif";
      const wide = c.measureText(set.label).width;
      if (b.x - a.x > wide + 8) {
        c.fillStyle = textOn(set.borderColor);
        c.textBaseline = "middle";
        c.textAlign = "center";
        c.fillText(set.label, (a.x + b.x) / 2, a.y + 1);
      }
      c.restore();
    });
  },
};

function textOn(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#000000" : "#ffffff";
}

function rowText(name, row, unit) {
  const spread = row.lo < row.hi ? " (" + unit.text(row.lo) + " to " + unit.text(row.hi) + ")" : "";
  return name + ": " + unit.text(row.y) + " " + unit.name + spread;
}

function bytesText(n) { return n < 1024 ? n + " bytes" : sizeText(n); }

function tooltip(spec) {
  return {
    filter: (item) => item.dataset.kind === "curve",
    itemSort: (a, b) => a.raw.y - b.raw.y,
    usePointStyle: true,
    callbacks: {
      title: (items) => (items.length ? (spec.sizeWord || "") + bytesText(items[0].raw.row.size) : ""),
      label: (item) => rowText(item.dataset.label, item.raw.row, spec.unit),
    },
  };
}

function chartOptions(spec) {
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: axes(spec),
    plugins: {
      tooltip: tooltip(spec),
      legend: {
        position: "bottom",
        labels: { color: theme().text, usePointStyle: true, boxWidth: 8, boxHeight: 6,
            filter: (item, data) => data.datasets[item.datasetIndex].kind === "curve" },
        onClick: (event, item, legend) => spec.onLegend(item.text, legend.chart, item.datasetIndex),
      },
    },
  };
}

/* Bounds of all that is to be seen, so that pictures side by side have one scale. */
function bounds(specs) {
  let xMin = Infinity, xMax = 0, yMin = Infinity, yMax = 0;
  for (const spec of specs)
    for (const s of spec.series)
      for (const r of s.rows) {
        xMin = Math.min(xMin, r.size);
        xMax = Math.max(xMax, r.size);
        yMin = Math.min(yMin, r.y);
        yMax = Math.max(yMax, r.y);
      }
  if (!(yMax > 0)) return { xMin: 1, xMax: 2, yMin: 1, yMax: 2 };
  return { xMin, xMax: Math.max(xMax, xOf(xMin) * 2), yMin: yMin * 0.92, yMax: yMax * 1.08 };
}

function draw(canvas, spec) {
  const old = Chart.getChart(canvas);
  const data = { datasets: curveSets(spec).concat(rangeSets(spec)) };
  canvas.setAttribute("aria-label", spec.label);
  if (old) old.destroy();
  return new Chart(canvas, { type: "line", data, options: chartOptions(spec), plugins: [rangeNames] });
}
