/* ---- elements; all text goes in as text ---- */

function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const key of Object.keys(attributes || {}))
    if (key in e && typeof attributes[key] !== "string") e[key] = attributes[key];
    else e.setAttribute(key, attributes[key]);
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

/* heads: texts; rows: lists of texts, elements, or {text, head, mark, number}. */
function table(caption, heads, rows) {
  const cell = (c) => {
    if (c instanceof Node) return el("td", null, c);
    if (!isObject(c)) return el("td", null, c === null || c === undefined ? "\u2013" : String(c));
    const e = el(c.head ? "th" : "td", c.head ? { scope: "row" } : null, c.text === null ? "\u2013" : String(c.text));
    if (c.mark) e.className = "mark";
    return e;
  };
  const body = el("tbody", null, ...rows.map((r) => el("tr", null, ...r.map(cell))));
  const head = el("thead", null, el("tr", null, ...heads.map((h) => el("th", { scope: "col" }, h))));
  return el("div", { class: "wide" }, el("table", null, el("caption", null, caption), head, body));
}

function details(summary, open, ...children) {
  return el("details", { open }, el("summary", null, summary), ...children);
}

function absent(text) { return el("p", { class: "absent" }, text); }

/* ---- any value, as it stands in the profile ---- */

/* Objects become rows "a, b: value"; lists of objects become a text each. */
function flatten(v, path, out) {
  if (isObject(v) && Object.keys(v).length)
    for (const key of Object.keys(v)) flatten(v[key], path.concat(key.replace(/_/g, " ")), out);
  else if (Array.isArray(v) && v.some(isObject))
    v.forEach((item, i) => flatten(item, path.concat(String(i + 1)), out));
  else out.push([path.join(", "), isObject(v) ? "\u2013" : plain(v)]);
  return out;
}

/* The same where it holds lists of objects: a table of the rest, and one of each list. */
function valueTables(caption, v) {
  const single = [], lists = [];
  const walk = (x, path) => {
    if (isObject(x) && Object.keys(x).length)
      for (const key of Object.keys(x)) walk(x[key], path.concat(key.replace(/_/g, " ")));
    else if (Array.isArray(x) && x.some(isObject)) lists.push([path.join(", "), x]);
    else single.push([{ head: true, text: path.join(", ") }, plain(x)]);
  };
  walk(v, []);
  return [single.length ? table(caption, ["", ""], single) : el("h4", null, caption),
      ...lists.map(([name, list]) => listTable(name, list))];
}

function listTable(name, list) {
  const rows = list.map((x) => new Map(flatten(x, [], []))), heads = [];
  for (const row of rows) for (const key of row.keys()) if (!heads.includes(key)) heads.push(key);
  const texts = rows.map((row) => heads.map((h) => (row.has(h) ? row.get(h) : "\u2013")));
  return table(name, heads.map((h) => h || "value"), texts);
}

/* One row a fact, one column a box. */
function facts(caption, pick) {
  const columns = BOXES.map((box) => new Map(flatten(pick(box.profile), [], [])));
  const keys = [];
  for (const c of columns) for (const key of c.keys()) if (!keys.includes(key)) keys.push(key);
  return table(caption, ["", ...BOXES.map(boxName)],
    keys.map((key) => [{ head: true, text: key || "all" },
        ...columns.map((c) => (c.has(key) ? c.get(key) : "\u2013"))]));
}

/* ---- the answers ---- */

function sureText(s) {
  const spread = Array.isArray(s.margin_interval) ? " (" + s.margin_interval.map(ratioText).join(" to ") + ")" : "";
  const words = [];
  if (!s.runner_up) words.push("no other all through it");
  else if (s.tie) words.push("tie" + spread + ": the simpler one");
  else if (s.margin < 1) words.push("by the whole ladder\u2019s cost" + spread);
  else words.push(spread ? "interval of the margin" + spread : "no spread given");
  if (s.lo && s.hi) words.push("crosses at " + sizeText(s.lo) + " to " + sizeText(s.hi));
  if (s.bracketed === false) words.push("end not found, measured to " + sizeText(s.measured_to));
  if (isObject(s.guard))
    words.push("guarded: " + plain(s.guard.test).replace(/_/g, " ") + " " + s.guard.lo + " to " + s.guard.hi
      + " goes to " + s.guard.else);
  return words.join("; ");
}

function marginText(s) {
  if (!s.runner_up || !isNumber(s.margin)) return "\u2013";
  const off = (s.margin - 1) * 100;
  return plain(s.runner_up) + " costs " + Math.abs(off).toFixed(1) + (off >= 0 ? " % more" : " % less");
}

function ladderRows(segments) {
  const range = (s, i) => (s.max !== null ? "to " + sizeText(s.max) : i ? "above" : "all");
  return segments.map((s, i) => [{ head: true, text: range(s, i) },
    swatch(s.strategy), marginText(s), sureText(s)]);
}

/* The C library's cost over the chosen one's, geometric mean over the sizes of each range. */
function overLibc(box, entry) {
  const list = segmentsOf(box, entry), logs = list.map(() => []);
  const libc = new Map(weightedRows(box, entry, "libc", false).map((r) => [r.size, r.y]));
  list.forEach((s, i) => {
    for (const r of weightedRows(box, entry, s.strategy, false))
      if (libc.has(r.size) && list.findIndex((x) => x.max === null || r.size <= x.max) === i)
        logs[i].push(Math.log(libc.get(r.size) / r.y));
  });
  return logs.map((l) => (l.length ? ratioText(Math.exp(l.reduce((a, b) => a + b, 0) / l.length)) : "\u2013"));
}

function swatch(name) {
  const mark = el("span", { class: "band" });
  if (NAMES.includes(name)) mark.style.background = styleOf(NAMES.indexOf(name)).colour;
  return el("span", null, mark, plain(name));
}

function answer(box, entry) {
  const e = entryOf(box, entry);
  if (!e) return absent(boxName(box) + ": no entry " + entry + " in this profile");
  const weights = box.profile.weights ? box.profile.weights.name : "not named", libc = overLibc(box, entry);
  const out = el("div", { class: "answer" },
    table(boxName(box), ["bytes", "strategy", "libc costs", "the next best", "how sure"],
        ladderRows(e.segments).map((r, i) => [r[0], r[1], libc[i], r[2], r[3]])));
  const notes = ["Chosen by the weights \u201c" + weights
      + "\u201d; libc\u2019s cost over the chosen one\u2019s is the geometric mean over the range\u2019s sizes, "
      + "by the cells that chose."];
  if (isNumber(e.loss))
    notes.push("The whole ladder costs " + perCent(e.loss) + " more than the best strategy of each size, borders "
      + "included.");
  for (const form of ["baseline", "wide"])
    if (e.inline && e.inline[form])
      notes.push("Inlined (" + form + ") to " + sizeText(e.inline[form].max) + ": " + e.inline[form].strategy + ".");
  out.append(el("p", { class: "note" }, notes.join(" ")));
  return out;
}

function makeAnswers() {
  const home = document.getElementById("answers");
  while (home.children.length > 1) home.lastChild.remove();
  for (const entry of Object.keys(ENTRIES)) {
    home.append(el("h3", null, ENTRIES[entry]));
    home.append(el("div", { class: "side" }, ...BOXES.map((box) => answer(box, entry))));
  }
}

/* ---- the boxes ---- */

function gainText(p) {
  const gain = p.validation && p.validation.libc_gain;
  if (!isObject(gain)) return "gain over the C library: not measured";
  return "time of " + (p.validation.libc || "libc") + " over this copy\u2019s, called: " + ratioText(gain.geomean)
      + " in the mean of sizes, " + ratioText(gain.worst) + " at worst (" + sizeText(gain.worst_size) + ")";
}

function makeBoxes() {
  const home = document.getElementById("boxes");
  for (const box of BOXES) {
    const p = box.profile, m = p.method || {};
    const lines = [p.cpu ? p.cpu.name || "no name told" : "a table of no named CPU",
      "grade " + (m.grade || "not told") + (m.quick ? ", a quick run" : ""), gainText(p)];
    const card = el("article", null, el("h2", null, boxName(box)), ...lines.map((t) => el("p", null, t)));
    if (!p.complete) card.append(el("p", { class: "warn" }, "The run that made it was interrupted."));
    if (box.edited) card.append(el("p", { class: "warn" }, "Edited by hand: its digest differs."));
    if (m.optimised === false) card.append(el("p", { class: "warn" }, "Measured by an unoptimised build."));
    home.append(card);
  }
  document.getElementById("made").textContent = "Made by " + DATA.tool + " of "
      + BOXES.map((b) => b.file).join(", ") +
    ". Sizes in bytes (KiB, MiB: binary); nothing was measured for this page.";
}

/* ---- notes under the changes ---- */

function objects(list) { return Array.isArray(list) ? list.filter(isObject) : []; }

function listRows(list, row) { return (list || []).map(row); }

function rangeText(s) { return plain(s.strategy) + (s.max === null ? " above" : " to " + sizeText(s.max)); }

function changeNotes(box, entry) {
  const e = entryOf(box, entry), out = [];
  if (!e) return out;
  const asked = e.consumers || {};
  const rows = Object.keys(asked).map((c) => [{ head: true, text: member(CONSUMERS, c) || c },
    asked[c] ? perCent(1 - 1 / asked[c].gain) : "\u2013",
    asked[c] ? objects(asked[c].segments).map(rangeText).join(", ") : "the same, or no more than the margin cheaper"]);
  if (rows.length) out.push(table(boxName(box) + ", " + entry + ": tuned for one consumer alone",
      ["consumer", "cheaper", "it would be"], rows));
  out.push(details(boxName(box) + ", " + entry + ": barred for a bad placement (" + e.barred.length + ")", false,
    table("", ["strategy", "from", "to", "why"], listRows(e.barred,
        (b) => [{ head: true, text: b.strategy }, sizeText(b.from), b.to === null ? "the end" : sizeText(b.to),
        b.why]))));
  out.push(details(boxName(box) + ", " + entry + ": sizes out of line with their neighbours (" + e.anomalies.length
      + ")", false,
    table("Cost over that of the neighbours; they moved nothing.", ["strategy", "size", "ratio"],
      listRows(e.anomalies, (a) => [{ head: true, text: a.strategy }, sizeText(a.size), ratioText(a.ratio)]))));
  out.push(loadNote(box, entry, e.load));
  return out;
}

function loadNote(box, entry, load) {
  const name = boxName(box) + ", " + entry + ": beside other copies";
  if (!load) return absent(name + ": not measured");
  const rest = Object.assign({}, load), parts = [];
  if (objects(load.segments).length) {
    delete rest.segments;
    parts.push(table(name, ["bytes", "strategy", "the next best", "how sure"], ladderRows(objects(load.segments))));
  }
  return el("div", null, ...parts, ...valueTables(parts.length ? "" : name, rest));
}

/* ---- how the boxes differ ---- */

function comparedBoxes(t) { return t.profiles.map((label) => boxName(BOXES.find((b) => b.label === label))); }

function stepTable(t) {
  return table("Strategies by size; ranges in which the boxes differ are marked", ["bytes", ...comparedBoxes(t)],
    t.steps.map((s) => [{ head: true, text: s.last === null ? "from " + s.first : s.first + " to " + s.last },
      ...s.strategies.map((name) => ({ text: name, mark: s.differ }))]));
}

function limitTable(t) {
  return table("Limits, inclusive", ["what", ...comparedBoxes(t), "factor"],
    t.limits.map((l) => [{ head: true, text: l.what }, ...l.at.map((v) => (isNumber(v) ? sizeText(v) : v)),
        l.factor === null ? null : ratioText(l.factor)]));
}

function lossTable(t) {
  const names = comparedBoxes(t);
  return table("What the profile of a row would cost more on the box of a column, by that box\u2019s cells, weights and caches: mean, and worst size", ["profile", ...names.map((n) => "on " + n)],
    t.profiles.map((label, i) => [{ head: true, text: names[i] }, ...t.profiles.map((on) => {
      const x = t.loss.find((l) => l.profile === label && l.on === on);
      if (!x || x.mean === null) return "not measured";
      return perCent(x.mean) + "; " + perCent(x.worst) + " at " + sizeText(x.worst_at)
          + (x.lacks ? " (lacks " + x.lacks + ": the C library\u2019s memcpy)" : "");
    })]));
}

function makeDifferences() {
  const home = document.getElementById("differences");
  if (BOXES.length > 1) home.append(makeFigure("both"));
  const tables = DATA.compare ? DATA.compare.tables.filter((t) => t.profiles.length > 1) : [];
  if (BOXES.length < 2) home.append(absent("One profile was given: name several to see them side by side."));
  else if (!tables.length) home.append(absent("No two of these profiles share an environment and an entry."));
  for (const t of tables) {
    home.append(el("h3", null, ENTRIES[t.entry] + " (" + t.environment + ")"), stepTable(t), limitTable(t),
        lossTable(t));
    if (t.one_header) home.append(el("p", { class: "note" }, "One header for these boxes: that of "
        + boxName(BOXES.find((b) => b.label === t.one_header)) + " has the least of the largest mean losses."));
  }
  if (BOXES.length > 1 && DATA.compare.absent.length)
    home.append(details("Strategies that a box has no cells of (" + DATA.compare.absent.length + ")", false,
      table("", ["strategy", "box", "why"], DATA.compare.absent.map((a) => [{ head: true, text: a.strategy },
          boxName(BOXES.find((b) => b.label === a.profile)), a.why]))));
}

/* ---- proof, identity, method ---- */

function gainRows(v, key, name) {
  const rows = [], gain = v[key];
  if (!isObject(gain)) return rows;
  for (const consumer of Object.keys(CONSUMERS))
    for (const mix of Object.keys(gain[consumer] || {})) {
      const g = gain[consumer][mix];
      if (isObject(g)) rows.push([{ head: true, text: name }, CONSUMERS[consumer],
          { fixed: "one size repeated", band: "mixed", learned: "mixed, learned" }[mix] || mix,
        ratioText(g.geomean), ratioText(g.worst) + " at " + sizeText(g.worst_size), g.slower + " of " + g.cells]);
    }
  rows.push([{ head: true, text: name }, "all", "all", ratioText(gain.geomean), ratioText(gain.worst) + " at "
      + sizeText(gain.worst_size), gain.slower + " of " + gain.cells]);
  return rows;
}

function regretRows(v) {
  const told = [["regret", "copy"], ["regret_nocache", "nocache"]].filter(([key]) => isObject(v[key]));
  return told.map(([key, name]) => {
    const r = v[key];
    return [{ head: true, text: name }, perCent(r.mean), perCent(r.worst) + " at " + sizeText(r.worst_size),
        r.above_10_percent + " of " + r.sizes];
  });
}

function makeProof() {
  const home = document.getElementById("proof");
  for (const box of BOXES) {
    const v = box.profile.validation;
    home.append(el("h3", null, boxName(box)));
    if (!v) { home.append(absent("not measured")); continue; }
    home.append(table("Regret: cost over the best strategy of each size, on readings taken after the choice",
        ["entry", "mean", "worst", "sizes surely above 10 %"], regretRows(v)));
    home.append(table("Time of " + (v.libc || "libc")
        + " memcpy over that of the generated copy (above 1: the copy is faster)",
        ["form", "dst", "sizes", "mean", "worst", "slower"],
      [...gainRows(v, "libc_gain", "copy, called"), ...gainRows(v, "libc_gain_inlined", "copy, inlined"),
          ...gainRows(v, "libc_gain_nocache", "nocache, called")]));
  }
  home.append(details("All of it, as it stands in the profiles", false, facts("validation", (p) => p.validation)));
  for (const entry of Object.keys(ENTRIES)) home.append(...evidence(entry));
}

/* What else an entry tells of its choice. */
const SHOWN = ["segments", "loss", "inline", "barred", "anomalies", "load", "consumers"];
const EVIDENCE = { whole: "whole copies timed beside each other", limits: "limits looked at more closely",
    counters: "hardware counters" };

function evidence(entry) {
  const told = BOXES.filter((b) => entryOf(b, entry)), keys = Object.keys(EVIDENCE);
  for (const key of told.flatMap((b) => Object.keys(entryOf(b, entry))))
    if (!keys.includes(key) && !SHOWN.includes(key)) keys.push(key);
  return keys.map((key) => {
    const name = entry + ", " + (member(EVIDENCE, key) || key), have = told.filter((b) => entryOf(b, entry)[key]);
    if (!have.length) return absent(name + ": not in these profiles");
    return details(name, false, ...have.flatMap((b) => valueTables(boxName(b), entryOf(b, entry)[key])));
  });
}

function makeMethod() {
  const home = document.getElementById("method");
  home.append(facts("CPU", (p) => Object.assign({ environment: p.environment, variant: p.variant, tool: p.tool },
      p.cpu)),
    facts("Method", (p) => p.method || "not told"),
    facts("Caches, bytes", (p) => p.caches || "not told"),
    facts("Weights", (p) => p.weights || "not told"));
  const any = (key) => BOXES.some((b) => b.profile[key]);
  home.append(any("slopes") ? details("Start-up cost and slope of every strategy", false,
      facts("Slopes", (p) => p.slopes || "not told")) : absent("Start-up cost and slope: not in these profiles"));
  for (const b of BOXES)
    if (b.profile.syscalls) home.append(...valueTables(boxName(b) + ": the kernel\u2019s own copies (system calls)",
        b.profile.syscalls));
  if (!any("syscalls")) home.append(absent("The kernel\u2019s own copies (system calls): not measured"));
  home.append(details("Digests of profiles and strategies", false,
      facts("SHA-256", (p) => Object.assign({ profile: p.digest }, p.strategies))));
}
