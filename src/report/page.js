/* ---- the two pictures and what steers them ---- */

const WEIGHTS = "weights";
const state = {
  entry: "copy", view: WEIGHTS, unit: "relative", top: "3", intervals: true, shown: new Set(),
  box: 0, strategy: "", kind: "consumer",
};

const UNITS = {
  relative: { name: "times the cheapest", text: (v) => numberText(v), title: "cost, times the cheapest" },
  cost: { name: "ns", text: numberText, title: "ns a call" },
  rate: { name: "GB/s", text: numberText, title: "GB/s (10\u2079 bytes)" },
};

function unitName(box) { return (box.profile.cells && box.profile.cells.unit) || "ns"; }

/* One list of views over all boxes, in the order of their kinds. */
function allViews(entry) {
  const views = new Map();
  for (const box of BOXES) for (const [key, view] of box.views[entry]) if (!views.has(key)) views.set(key, view);
  return [...views.values()].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)
      || a.text.localeCompare(b.text, "en", { numeric: true }));
}

/* What is shown at first: chosen and runners-up of the entry, and the C library. */
function firstShown() {
  const names = new Set(["libc"]);
  for (const box of BOXES)
    for (const s of segmentsOf(box, state.entry)) names.add(s.strategy).add(s.runner_up);
  return new Set(NAMES.filter((n) => names.has(n)));
}

/* Lowest cost at each size among the candidates of a view, for what is told relative to it. */
function lowest(box, entry, key) {
  const view = box.views[entry].get(key), low = new Map();
  const roles = new Map((box.profile.cells ? box.profile.cells.groups : []).map((g) => [g.strategy, g.role]));
  if (view)
    for (const [name, rows] of view.curves) {
      if (roles.get(name)) continue; /* baselines, references and limits */
      for (const r of rows) if (!(low.get(r.size) <= r.y)) low.set(r.size, r.y);
    }
  return low;
}

function convert(rows, unit, low) {
  const out = [];
  for (const r of rows) {
    if (unit === "cost") out.push(r);
    else if (unit === "rate" && r.size > 0)
      out.push(Object.assign({}, r, { y: r.size / r.y, lo: r.size / r.hi, hi: r.size / r.lo }));
    else if (unit === "relative" && low.has(r.size)) {
      const by = low.get(r.size);
      out.push(Object.assign({}, r, { y: r.y / by, lo: r.lo / by, hi: r.hi / by }));
    }
  }
  return out;
}

function rowsFor(box, entry, key, strategy, unit) {
  if (key === WEIGHTS)
    return unit === "relative" ? weightedRows(box, entry, strategy, false)
        : convert(weightedRows(box, entry, strategy, true), unit, null);
  const view = box.views[entry].get(key);
  const rows = view && view.curves.get(strategy);
  return rows ? convert(rows, unit, unit === "relative" ? lowest(box, entry, key) : null) : [];
}

/* The rows of whatever the profile chose at each size. */
function chosenRows(box, entry, key, unit) {
  const out = [];
  for (const name of new Set(segmentsOf(box, entry).map((s) => s.strategy)))
    out.push(...rowsFor(box, entry, key, name, unit).filter((r) => chosenAt(box, entry, r.size) === name));
  return out.sort((a, b) => a.size - b.size);
}

function rangesOf(box, entry) {
  const list = segmentsOf(box, entry);
  return list.map((s, i) => ({ from: i ? list[i - 1].max + 1 : 0, to: s.max, name: s.strategy,
      look: NAMES.indexOf(s.strategy), lo: s.lo, hi: s.hi }));
}

function isMixed(key) {
  const view = allViews(state.entry).find((v) => v.key === key);
  return Boolean(view && view.place.mix);
}

function unitFor(box, unit) {
  const u = Object.assign({}, UNITS[unit]);
  if (unit === "cost") { u.name = unitName(box); u.title = u.name.replace(/_/g, " ") + " a call"; }
  return u;
}

function weightsText(box) {
  const w = box.profile.weights;
  if (!box.weights_known) return "the weights \u201cdefault\u201d (this program does not know the profile\u2019s own)";
  return "the weights \u201c" + (w && w.name ? w.name : "default") + "\u201d";
}

function viewText(box, key, unit) {
  if (key === WEIGHTS)
    return (unit === "relative"
        ? "Cost over the lowest of each cell, averaged by " : "Cells of one size repeated, averaged by ")
        + weightsText(box);
  const view = allViews(state.entry).find((v) => v.key === key);
  return "Measured: " + (view ? view.text : key) + (unit === "relative" ? "; over the cheapest candidate there" : "");
}

function cut(spec, limit) {
  if (limit !== "all" && spec.unit.name === UNITS.relative.name) spec.yMax = Math.min(spec.yMax, Number(limit));
}

/* ---- the table behind a picture ---- */

function pictureTable(spec) {
  const sizes = [...new Set(spec.series.flatMap((s) => s.rows.map((r) => r.size)))].sort((a, b) => a - b);
  const by = spec.series.map((s) => new Map(s.rows.map((r) => [r.size, r])));
  return table(spec.caption, ["bytes", ...spec.series.map((s) => s.name)],
      sizes.map((n) => [{ head: true, text: sizeText(n) },
    ...by.map((m) => {
      const r = m.get(n);
      return r ? spec.unit.text(r.y) + (r.lo < r.hi ? " (" + spec.unit.text(r.lo) + " to " + spec.unit.text(r.hi)
          + ")" : "") : null;
    })]));
}

/* The table is made when it is opened: 60 strategies at 150 sizes are long. */
function fillTable(figure, spec) {
  const box = figure.querySelector("details");
  const fill = () => { if (box.open) box.querySelector("div").replaceChildren(pictureTable(spec)); };
  box.ontoggle = fill;
  fill();
}

function makeFigure(id) {
  const canvas = el("canvas", { role: "img", id });
  return el("figure", null, el("h3", null), el("div", { class: "canvas" }, canvas), el("figcaption", null),
      details("Table of this picture", false, el("div", null)));
}

function show(figure, spec) {
  figure.querySelector("h3").textContent = spec.title;
  figure.querySelector("figcaption").textContent = spec.caption;
  figure.spec = spec;
  draw(figure.querySelector("canvas"), spec);
  fillTable(figure, spec);
}

/* ---- picture 1: every strategy, a picture a box ---- */

function strategySpec(box) {
  const { entry, view, unit } = state;
  const series = NAMES.filter((n) => state.shown.has(n))
    .map((name) => ({ name, look: NAMES.indexOf(name),
        rows: rowsFor(box, entry, view, name, unit) })).filter((s) => s.rows.length);
  const chosen = segmentsOf(box, entry).length
      ? " Under the curves: the chosen ranges; a thin line: where the crossing may lie." : "";
  return {
    title: boxName(box), label: boxName(box) + ", " + entry, series, ranges: rangesOf(box, entry),
    intervals: state.intervals, unit: unitFor(box, unit), yTitle: unitFor(box, unit).title,
    xTitle: isMixed(view) ? "bytes a copy, drawn from 0 to" : "bytes a copy",
    caption: viewText(box, view, unit) + "." + (state.intervals ? " Shaded: 95 % interval." : "") + chosen
        + (series.length ? "" : " Nothing of this was measured on this box."),
    sizeWord: isMixed(view) ? "0 to " : "", onLegend: (name) => toggle(name, false),
  };
}

function drawStrategies() {
  const specs = BOXES.map(strategySpec), b = bounds(specs);
  specs.forEach((spec, i) => {
    Object.assign(spec, b);
    cut(spec, state.top);
    show(document.getElementById("strategies-" + i).closest("figure"), spec);
  });
}

function toggle(name, on) {
  if (on) state.shown.add(name);
  else state.shown.delete(name);
  for (const input of document.querySelectorAll("#names input")) if (input.value === name) input.checked = on;
  drawStrategies();
}

/* ---- picture 2: one strategy, every place of a kind; picture 3: the chosen ones of every box. Where picture 1 is
   relative to the cheapest, these are relative to their first curve: the usual place, the first box. ---- */

function plainUnit() { return state.unit === "relative" ? "cost" : state.unit; }

/* The others over the first, at the sizes that both have. */
function overFirst(series) {
  const base = new Map(series[0].rows.map((r) => [r.size, r.y]));
  return series.slice(1).map((s) => Object.assign({}, s, { rows: convert(s.rows, "relative", base) }));
}

function changeSeries() {
  const { entry, strategy, kind } = state, box = BOXES[state.box], unit = plainUnit();
  const usual = usualView(entry);
  const views = allViews(entry).filter((v) => v.kind === kind || v.key === usual)
    .sort((a, b) => (b.key === usual) - (a.key === usual));
  const rows = (key) => (strategy ? rowsFor(box, entry, key, strategy, unit) : chosenRows(box, entry, key, unit));
  return views.map((v, i) => ({ name: v.text, look: i, rows: rows(v.key) })).filter((s) => s.rows.length);
}

/* A mix is told by its largest size, at which one size repeated is another thing: not over that. */
function plainSpec(title, curves, box, caption) {
  const over = state.unit === "relative" && curves.length > 1 && !caption.includes("mixed sizes");
  const series = over ? overFirst(curves) : curves;
  const times = { name: "times", text: numberText, title: over ? "time, times that of: " + curves[0].name : "" };
  const unit = over ? times : unitFor(box, plainUnit());
  const spec = {
    title, label: title, series, ranges: [], intervals: state.intervals, unit, yTitle: unit.title,
        xTitle: "bytes a copy",
    caption: caption + (over ? ". Over the time of: " + curves[0].name : "") + "."
        + (state.intervals ? " Shaded: 95 % interval of the curve\u2019s own cells." : "")
        + (curves.length ? "" : " Nothing of this was measured."),
    onLegend: (name, chart, i) => { chart.setDatasetVisibility(i, !chart.isDatasetVisible(i)); chart.update(); },
  };
  return Object.assign(spec, bounds([spec]));
}

/* The place that others are changes of: the plainest. */
function usualView(entry) {
  const views = allViews(entry).filter((v) => v.kind === "consumer");
  const plainest = views.find((v) => v.key === "{}") || views[0];
  return plainest ? plainest.key : WEIGHTS;
}

function drawChanges() {
  const box = BOXES[state.box], what = state.strategy || "What the profile chose at each size";
  const lies = state.entry === "copy" ? "; small sizes in L1 and larger ones where the size leads, unless said" : "";
  const spec = plainSpec(boxName(box), changeSeries(), box, what + ", " + state.entry + ", by " + state.kind + lies);
  spec.ranges = rangesOf(box, state.entry);
  show(document.getElementById("change").closest("figure"), spec);
}

function drawBoxes() {
  const { entry, view } = state, key = view === WEIGHTS ? usualView(entry) : view;
  if (BOXES.length < 2) return;
  const series = BOXES.map((b, i) => ({ name: boxName(b), look: i,
      rows: chosenRows(b, entry, key, plainUnit()) })).filter((s) => s.rows.length);
  const spec = plainSpec("The chosen copies, " + entry, series, BOXES[0],
      "What each profile chose at each size, on its own box. " + viewText(BOXES[0], key, plainUnit()));
  show(document.getElementById("both").closest("figure"), spec);
}

function drawAll() {
  drawStrategies();
  drawChanges();
  drawBoxes();
}

/* ---- controls ---- */

function select(label, id, options, value, change) {
  const s = el("select", { id });
  for (const [group, list] of options) {
    const items = list.map(([v, text]) => el("option", { value: v }, text));
    if (group) s.append(el("optgroup", { label: group }, ...items));
    else s.append(...items);
  }
  s.value = value;
  s.onchange = () => change(s.value);
  return el("label", null, label + " ", s);
}

function viewOptions() {
  const views = allViews(state.entry);
  const groups = KINDS.map((kind) => [kind, views.filter((v) => v.kind === kind).map((v) => [v.key, v.text])]);
  return [["", [[WEIGHTS, "all cells, by the weights"]]], ...groups.filter((g) => g[1].length)];
}

function kindOptions() {
  const kinds = [...new Set(allViews(state.entry).map((v) => v.kind))];
  return [["", kinds.map((k) => [k, k])]];
}

function checkbox(name) {
  const look = styleOf(NAMES.indexOf(name));
  const input = el("input", { type: "checkbox", value: name, checked: state.shown.has(name) });
  const line = el("span", { class: "line" });
  line.innerHTML = `<svg width="34" height="8" aria-hidden="true"><line x1="0" x2="34" y1="4" y2="4" stroke="${look.colour}" stroke-width="3" stroke-dasharray="${look.dash.join(" ")}"/></svg>`;
  input.onchange = () => toggle(name, input.checked);
  return el("label", null, input, line, name);
}

function makeNames() {
  const here = new Set(BOXES.flatMap((b) => strategyNames(b, state.entry)));
  document.getElementById("names").replaceChildren(...NAMES.filter((n) => here.has(n)).map(checkbox));
  filterNames();
}

function filterNames() {
  const words = document.getElementById("filter").value.toLowerCase().split(" ").filter(Boolean);
  for (const label of document.querySelectorAll("#names label"))
    label.hidden = !words.every((w) => label.textContent.toLowerCase().includes(w));
}

/* "all" and "none" mean those that the filter leaves. */
function showMany(which) {
  if (which === "chosen") state.shown = firstShown();
  else
    for (const label of document.querySelectorAll("#names label"))
      if (!label.hidden) state.shown[which === "all" ? "add" : "delete"](label.querySelector("input").value);
  makeNames();
  drawStrategies();
}

/* The other choices are of an entry: they begin anew. */
function chooseEntry(entry) {
  Object.assign(state, { entry, view: WEIGHTS, kind: "consumer", strategy: "" });
  state.shown = firstShown();
  rebuild();
}

function curveControls() {
  const box = el("div", { class: "controls" });
  box.append(
    select("entry", "entry", [["", Object.keys(ENTRIES).map((e) => [e, ENTRIES[e]])]], state.entry,
        chooseEntry),
    select("measured", "view", viewOptions(), state.view, (v) => { state.view = v; drawAll(); }),
    select("shown as", "unit", [["", [["relative", "times the cheapest"], ["cost", "time a call"],
        ["rate", "GB/s"]]]], state.unit, (v) => { state.unit = v; drawAll(); }),
    select("cut at", "top", [["", [["1.5", "1.5 times"], ["3", "3 times"], ["10", "10 times"], ["all", "nothing"]]]],
        state.top, (v) => { state.top = v; drawAll(); }));
  const intervals = el("input", { type: "checkbox", id: "intervals", checked: state.intervals });
  intervals.onchange = () => { state.intervals = intervals.checked; drawAll(); };
  box.append(el("label", null, intervals, " intervals"));
  return box;
}

function nameControls() {
  const filter = el("input", { type: "search", id: "filter", placeholder: "filter, e.g. avx2 loop" });
  filter.oninput = filterNames;
  const button = (which, text) => {
    const b = el("button", { type: "button", id: "show-" + which }, text);
    b.onclick = () => showMany(which);
    return b;
  };
  return el("div", { class: "controls" }, el("label", null, "strategies ", filter),
      button("chosen", "chosen and next best"), button("all", "all of these"), button("none", "none of these"));
}

function changeControls() {
  const names = NAMES.filter((n) => BOXES.some((b) => strategyNames(b, state.entry).includes(n)));
  const box = el("div", { class: "controls" });
  box.append(select("what changes", "kind", kindOptions(), state.kind, (v) => { state.kind = v; drawChanges(); }),
    select("strategy", "strategy", [["", [["", "the chosen one of each size"]]],
        ["one strategy", names.map((n) => [n, n])]], state.strategy, (v) => { state.strategy = v; drawChanges(); }));
  if (BOXES.length > 1)
    box.append(select("box", "box", [["", BOXES.map((b, i) => [String(i), boxName(b)])]], String(state.box),
        (v) => { state.box = Number(v); drawChanges(); }));
  return box;
}

/* ---- the page ---- */

function rebuild() {
  document.getElementById("curve-controls").replaceChildren(curveControls(), nameControls(),
      el("div", { id: "names", class: "names", role: "group", "aria-label": "strategies shown" }));
  document.getElementById("change-controls").replaceChildren(changeControls());
  document.getElementById("change-notes").replaceChildren(...BOXES.flatMap((b) => changeNotes(b, state.entry)));
  makeNames();
  drawAll();
}

function makePictures() {
  document.getElementById("curves").append(el("div", { id: "curve-controls" }),
      el("div", { class: "side figures" }, ...BOXES.map((b, i) => makeFigure("strategies-" + i))));
  document.getElementById("changes").append(el("div", { id: "change-controls" }), makeFigure("change"),
      el("div", { id: "change-notes" }));
}

/* ---- colours ---- */

function repaint() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  makeAnswers();
  makeNames();
  drawAll();
}

const themeButton = document.getElementById("theme");
themeButton.onclick = () => {
  themeChoice = { system: "light", light: "dark", dark: "system" }[themeChoice];
  themeButton.textContent = "colours: " + (themeChoice === "system" ? "as the system" : themeChoice);
  repaint();
};
dark.addEventListener("change", repaint);
window.addEventListener("beforeprint", () => { printing = true; repaint(); });
window.addEventListener("afterprint", () => { printing = false; repaint(); });

state.shown = firstShown();
makeBoxes();
makePictures();
makeDifferences();
makeProof();
makeMethod();
document.documentElement.dataset.theme = isDark() ? "dark" : "light";
makeAnswers();
rebuild();
