"use strict";
/* The data: {"tool", "boxes": [{"label", "file", "edited", "weights_known", "profile", "curves": {entry:
   {strategy: columns}}}], "compare": {"tables", "absent"} or null}. Profiles are as on disk. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const BOXES = DATA.boxes;
const ENTRIES = { copy: "copy: dst is used soon", nocache: "nocache: dst is not used" };

/* ---- words. Some parts of a profile are kept as they stand and may hold anything: that is shown as it is. ---- */

const MOST = 16; /* of a list in one cell of a table */

function isNumber(v) { return typeof v === "number" && isFinite(v); }
function isObject(v) { return v !== null && typeof v === "object" && !Array.isArray(v); }

function plain(v) {
  if (v === null || v === undefined) return "\u2013";
  if (!Array.isArray(v)) return isObject(v) ? JSON.stringify(v) : String(v);
  const more = v.length > MOST ? ", and " + (v.length - MOST) + " more" : "";
  return v.length ? v.slice(0, MOST).map(plain).join(", ") + more : "none";
}

function sizeText(n) {
  if (!isNumber(n)) return plain(n);
  let v = n, u = 0;
  while (u < 3 && v >= 1024) { v /= 1024; u++; }
  return v * 4 === Math.floor(v * 4) ? v + ["", " KiB", " MiB", " GiB"][u] : String(n);
}

function numberText(v) {
  if (!isNumber(v)) return plain(v);
  if (v === 0) return "0";
  const digits = Math.abs(v) >= 1000 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(v))));
  return String(Number(v.toFixed(Math.min(digits, 20))));
}

function ratioText(v) { return isNumber(v) ? v.toFixed(v < 10 ? 2 : 1) + "\u00d7" : plain(v); }
function perCent(v) { return isNumber(v) ? (v * 100).toFixed(1) + " %" : plain(v); }

/* Own members alone: a strategy may be called "constructor". */
function member(object, key) {
  return isObject(object) && Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
}

function boxName(box) {
  const p = box.profile, key = p.cpu ? p.cpu.key : "no CPU named";
  return box.label + ": " + key + (p.environment === "kernel" ? ", kernel" : "")
      + (p.variant ? ", " + p.variant : "");
}

/* ---- the ladder ---- */

function entryOf(box, entry) { return member(box.profile.entries, entry) || null; }

function segmentsOf(box, entry) {
  const e = entryOf(box, entry);
  return e && Array.isArray(e.segments) ? e.segments : [];
}

function chosenAt(box, entry, size) {
  const list = segmentsOf(box, entry);
  const s = list.find((x) => x.max === null || size <= x.max);
  return s ? s.strategy : null;
}

/* ---- cells: groups of columns become views, a view being one place that strategies were timed in ---- */

const COLUMNS = ["size_hi", "cost", "below", "above", "n", "mapping_spread", "code_ratio", "code_bytes"];
const NO_PLACE = ["strategy", "role", "grid", "entry", "environment"];
const CONSUMERS = {
  none: "dst not read", read: "dst read at once", wait: "dst waited for",
  scan: "all of dst read", evict: "a warm set read after it",
};
const KINDS = ["consumer", "mixed sizes", "inlined or checked", "state of the bytes", "page distance", "page end",
  "alignment", "load", "code", "other"];

/* Which kind of question a place answers: the first of its dimensions that is not the usual one. */
const KIND_OF = [
  ["threads", "load"], ["page_distance", "page distance"],
  ["dst_end", "page end"], ["src_end", "page end"],
  ["dst_end_distance", "page end"], ["src_end_distance", "page end"],
  ["dst_align", "alignment"], ["src_align", "alignment"],
  ["form", "inlined or checked"], ["mix", "mixed sizes"], ["order", "mixed sizes"],
  ["src_state", "state of the bytes"], ["dst_state", "state of the bytes"],
  ["code", "code"], ["code_placement", "code"], ["consumer", "consumer"],
];

function valueAt(column, i) { return Array.isArray(column) ? column[i] : column; }

/* In L1 for the small sizes and where the size itself leads for the rest is how a copy is used: one place. */
function placeOf(group) {
  const place = {};
  for (const key of Object.keys(group))
    if (!COLUMNS.includes(key) && !NO_PLACE.includes(key)) place[key] = group[key];
  if ((place.src_state || "l1") === "l1" && (place.dst_state || "l1") === "l1") {
    delete place.src_state;
    delete place.dst_state;
  }
  return place;
}

function kindOf(place, entry) {
  for (const [key, kind] of KIND_OF)
    if (key in place && !(entry === "nocache" && key.endsWith("_state"))) return kind;
  return Object.keys(place).length ? "other" : "consumer";
}

function endText(place, side) {
  const kind = place[side + "_end"], at = place[side + "_end_distance"];
  if (kind === undefined || kind === "none") return [];
  return [side + " ends " + (at ? at + " B before" : "at") + " a page end, next page " + kind];
}

function placeText(place) {
  const words = [];
  const rest = Object.assign({}, place);
  const take = (key) => { const v = rest[key]; delete rest[key]; return v; };
  words.push(CONSUMERS[take("consumer") || "none"] || "consumer " + place.consumer);
  const mix = take("mix"), order = take("order");
  if (mix === "band") words.push("mixed sizes from 0 to the size" + (order === "learned" ? ", learned" : ""));
  else if (mix) words.push("sizes of a distribution" + (order === "learned" ? ", learned" : ""));
  else if (order) words.push("order " + order);
  const form = take("form");
  if (form) words.push(form);
  const src = take("src_state"), dst = take("dst_state");
  if (src || dst) words.push("src in " + (src || "its natural state") + ", dst in " + (dst || "its natural state"));
  const distance = take("page_distance");
  if (distance !== undefined) words.push("dst \u2212 src = " + distance + " mod 4096");
  words.push(...endText(place, "dst"), ...endText(place, "src"));
  for (const key of ["dst_end", "src_end", "dst_end_distance", "src_end_distance"]) take(key);
  const threads = take("threads");
  if (threads) words.push(threads + " threads at once");
  for (const key of Object.keys(rest)) words.push(key.replace(/_/g, " ") + " " + rest[key]);
  return words.join("; ");
}

function rowsOf(cells, group) {
  const grid = cells.grids[group.grid] || [];
  return grid.map((size, i) => {
    const cost = valueAt(group.cost, i), high = valueAt(group.size_hi, i);
    const row = { size: high || size, y: cost, n: valueAt(group.n, i) || null,
        natural: group.src_state === undefined };
    row.lo = cells.interval ? cost * (1 - (valueAt(group.below, i) || 0) / 100) : cost;
    row.hi = cells.interval ? cost * (1 + (valueAt(group.above, i) || 0) / 100) : cost;
    return row;
  });
}

function addRows(view, strategy, rows) {
  const have = view.curves.get(strategy) || new Map();
  for (const row of rows)
    if (!have.has(row.size) || row.natural) have.set(row.size, row);
  view.curves.set(strategy, have);
}

/* Map of views of an entry by their key; the curves of each by strategy, rows by size. */
function viewsOf(box, entry) {
  const views = new Map(), cells = box.profile.cells;
  for (const group of cells ? cells.groups : []) {
    if ((group.entry || "copy") !== entry) continue;
    const place = placeOf(group), key = JSON.stringify(place, Object.keys(place).sort());
    if (!views.has(key))
      views.set(key, { key, place, kind: kindOf(place, entry), text: placeText(place), curves: new Map() });
    addRows(views.get(key), group.strategy, rowsOf(cells, group));
  }
  for (const view of views.values())
    for (const [name, rows] of view.curves) view.curves.set(name, [...rows.values()].sort((a, b) => a.size - b.size));
  return views;
}

for (const box of BOXES) {
  box.views = {};
  for (const entry of Object.keys(ENTRIES)) box.views[entry] = viewsOf(box, entry);
}

/* The curves under the weights, as rows of the same form. */
function weightedRows(box, entry, strategy, raw) {
  const c = member(member(box.curves, entry), strategy);
  if (!c) return [];
  return c.size.map((size, i) => {
    if (raw) return { size, y: c.raw[i], lo: c.raw[i], hi: c.raw[i] };
    const y = c.cost[i], or = (v) => (v === null ? y : v);
    return { size, y, lo: or(c.lo[i]), hi: or(c.hi[i]) };
  }).filter((row) => isNumber(row.y));
}

function strategyNames(box, entry) {
  const names = new Set(Object.keys(box.curves[entry] || {}));
  for (const view of box.views[entry].values())
    for (const name of view.curves.keys()) names.add(name);
  return [...names];
}

/* All names of all boxes, so that a strategy looks the same in every picture: those chosen anywhere come first,
   then runners-up and the C library, which get the colours that are told apart best. */
function orderedNames() {
  const first = [], all = new Set();
  const put = (name) => { if (name && !first.includes(name)) first.push(name); };
  const segments = Object.keys(ENTRIES).flatMap((entry) => BOXES.flatMap((box) => segmentsOf(box, entry)));
  for (const s of segments) put(s.strategy);
  for (const s of segments) put(s.runner_up);
  put("libc");
  for (const entry of Object.keys(ENTRIES))
    for (const box of BOXES) for (const name of strategyNames(box, entry)) all.add(name);
  return first.concat([...all].filter((name) => !first.includes(name)).sort());
}

const NAMES = orderedNames();
