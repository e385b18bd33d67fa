/* What a reader does with a page of `report`, for test_report.py: appended to a copy of the page. Each step leaves
   what was seen in RESULT, which ends up in the document as JSON; the script in the page's head has collected errors
   in PROBLEMS. */
(async () => {
  const RESULT = {};
  const byId = (id) => document.getElementById(id);
  const pause = () => new Promise((done) => setTimeout(done, 60));
  const choose = (id, value) => { byId(id).value = value; byId(id).onchange(); };
  const chart = (id) => Chart.getChart(byId(id));
  const curves = (id) => chart(id).data.datasets.filter((s) => s.kind === "curve");
  const named = (id, name) => curves(id).find((s) => s.label === name);
  const tick = (name) => [...document.querySelectorAll("#names input")].find((i) => i.value === name).click();
  const shown = () => [...document.querySelectorAll("#names label")].filter((l) => !l.hidden).map((l) => l.querySelector("input").value);
  const boxes = () => [...document.querySelectorAll("canvas")].map((c) => c.id);

  try {
    RESULT.canvases = boxes();
    RESULT.first = curves("strategies-0").map((s) => s.label);
    RESULT.weighted = named("strategies-0", "rep_movsb").data.map((p) => [p.row.size, p.y]);
    RESULT.ranges = chart("strategies-0").data.datasets.filter((s) => s.kind === "range").map((s) => [s.label,
        s.data[1].x]);

    RESULT.change = curves("change").map((s) => [s.label, s.data.map((p) => [p.row.size, p.y])]);
    RESULT.both = curves("both").map((s) => [s.label, s.data.map((p) => [p.row.size, p.y])]);

    choose("unit", "cost");
    choose("view", "{}");
    RESULT.points = [0, 1].map((i) => curves("strategies-"
        + i).map((s) => [s.label, s.data.map((p) => [p.row.size, p.y, p.row.lo, p.row.hi])]));
    RESULT.intervals = chart("strategies-0").data.datasets.filter((s) => s.kind === "hi").length;
    byId("intervals").click();
    RESULT.no_intervals = chart("strategies-0").data.datasets.filter((s) => s.kind === "hi").length;

    const here = RESULT.points[0].map((c) => c[0]);
    byId("show-all").click();
    RESULT.other = curves("strategies-0").map((s) => s.label).find((n) => !here.includes(n));
    byId("show-chosen").click();
    RESULT.before = Boolean(named("strategies-0", RESULT.other));
    tick(RESULT.other);
    RESULT.on = Boolean(named("strategies-0", RESULT.other));
    tick(RESULT.other);
    RESULT.off = Boolean(named("strategies-0", RESULT.other));
    byId("filter").value = "rep movsb";
    byId("filter").oninput();
    RESULT.filtered = shown();
    byId("filter").value = "";
    byId("filter").oninput();
    byId("show-none").click();
    RESULT.none = curves("strategies-0").length;
    byId("show-all").click();
    RESULT.all = curves("strategies-0").length;
    byId("show-chosen").click();

    const set = named("strategies-0", "rep_movsb"), k = set.data.findIndex((p) => p.row.size === 1024);
    const at = chart("strategies-0").getDatasetMeta(chart("strategies-0").data.datasets.indexOf(set)).data[k];
    const frame = byId("strategies-0").getBoundingClientRect();
    byId("strategies-0").dispatchEvent(new MouseEvent("mousemove",
        { clientX: frame.left + at.x, clientY: frame.top + at.y, bubbles: true }));
    await pause();
    RESULT.pointer = { title: chart("strategies-0").tooltip.title,
        lines: chart("strategies-0").tooltip.body.map((b) => b.lines[0]) };

    const details = byId("strategies-0").closest("figure").querySelector("details");
    details.open = true;
    await pause();
    RESULT.table = [...details.querySelectorAll("tr")].map((r) => [...r.children].map((c) => c.textContent));

    RESULT.colour = [document.documentElement.dataset.theme, set.borderColor];
    byId("theme").click();
    byId("theme").click();
    RESULT.dark = [document.documentElement.dataset.theme, named("strategies-0", "rep_movsb").borderColor];
    byId("theme").click();

    RESULT.pictures = 0;
    const values = (id) => [...byId(id).querySelectorAll("option")].map((o) => o.value);
    for (const entry of values("entry")) {
      choose("entry", entry);
      for (const unit of values("unit")) { choose("unit", unit); RESULT.pictures++; }
      for (const view of values("view")) { choose("view", view); RESULT.pictures++; }
      for (const kind of values("kind")) { choose("kind", kind); RESULT.pictures += curves("change").length > 0; }
      for (const name of values("strategy").slice(0, 4)) choose("strategy", name);
    }
    window.dispatchEvent(new Event("beforeprint"));
    RESULT.printed = document.documentElement.dataset.theme;
    window.dispatchEvent(new Event("afterprint"));

    RESULT.too_wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    RESULT.images = document.querySelectorAll("img, iframe, object, embed").length;
    RESULT.requests = performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith("data:"));
    RESULT.text = document.body.innerText.includes("<img src=x onerror=PROBLEMS.push(1)>");
  } catch (e) {
    PROBLEMS.push(String(e.stack));
  }
  RESULT.problems = PROBLEMS;
  const pre = document.createElement("pre");
  pre.id = "result";
  pre.textContent = JSON.stringify(RESULT);
  document.body.append(pre);
})();
