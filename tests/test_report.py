#!/usr/bin/env python3
"""`ucopy-tune report` and `plot`: the page as a document, its data against the profiles, what a reader does with it in
headless Chromium, the picture, and what fails. Profiles with odd names are made of the committed ones.

Prints TAP.
"""
import copy
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import points  # noqa: E402
from points import equal, holds  # noqa: E402

TUNE = os.environ.get("UCOPY_TUNE", "ucopy-tune")
PROFILES = os.path.join(ROOT, "profiles")
AMD = os.path.join(PROFILES, "amd-19-01-kernel.json")  # the kernel ones are small
INTEL = os.path.join(PROFILES, "intel-06-cf-kernel.json")
FOLDER = tempfile.TemporaryDirectory()
CHART = "/usr/share/javascript/chart.js/chart.min.js"

# Each of them would do something where a text were taken for markup, a script, or a command of gnuplot's.
HOSTILE = ["</script><script>PROBLEMS.push(0)</script>", "<img src=x onerror=PROBLEMS.push(1)>", "__proto__",
           "constructor", "'; system 'touch pwned'; #", "`touch pwned`", "a\tb & \"c\" \\ \u00e9 @TITLE@", "toString"]
# A stand-in for the library, where the page is not run: the structure does not depend on it.
STAND_IN = "/*!\n * Chart.js v3.9.9\n */\nvar made_up = '</script><b>';\n"


def path_of(name):
    return os.path.join(FOLDER.name, name)


def write(name, text):
    with open(path_of(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path_of(name)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def load(path):
    return json.loads(read(path))


def tune(*arguments, **variables):
    """The program in the folder of this test, with the stand-in unless told otherwise."""
    environment = dict(os.environ, UCOPY_CHART_JS=write("chart.js", STAND_IN))
    environment.update(variables)
    return subprocess.run([TUNE, *arguments], capture_output=True, text=True, check=False, cwd=FOLDER.name,
                          env={k: v for k, v in environment.items() if v is not None})


def done(*arguments, **variables):
    result = tune(*arguments, **variables)
    equal((result.returncode, result.stdout), (0, ""))
    return result.stderr


def refused(code, words, *arguments, **variables):
    result = tune(*arguments, **variables)
    equal((result.returncode, result.stdout, result.stderr.count("\n")), (code, "", 1))
    holds(result.stderr, words)


def renamed(profile, names):
    """The profile with its strategies called otherwise, wherever they stand."""
    if isinstance(profile, dict):
        return {names.get(k, k): renamed(v, names) for k, v in profile.items()}
    if isinstance(profile, list):
        return [renamed(v, names) for v in profile]
    return names.get(profile, profile) if isinstance(profile, str) else profile


def hostile():
    profile = load(INTEL)
    names = sorted({g["strategy"] for g in profile["cells"]["groups"]} - {"libc", "rep_movsb"})
    profile = renamed(profile, dict(zip(names, HOSTILE)))
    profile["cpu"]["name"] = HOSTILE[1]
    profile["method"]["kernel"] = HOSTILE[0]
    # what is kept as it stands may be of any kind
    profile["validation"].update(regret=7, libc_gain={"geomean": "much", "none": {"fixed": {"geomean": []}}, "read": "x"})
    profile["entries"]["copy"]["load"] = {"threads": {}, "segments": [1, {"max": "x", "margin_interval": 5, "guard": 1}]}
    profile["entries"]["copy"]["consumers"] = {"none": {"gain": "a", "segments": 7}, "toString": {"segments": [None]}}
    profile["syscalls"] = {"read": [[1], {"a": None}], "constructor": None}
    profile["entries"]["copy"]["whole"] = {"called": [{"max": 64}, 7, {"other": [{}]}]}
    profile["weights"]["name"] = ["no", "name"]
    return write("hostile.json", json.dumps(profile))


class Document(html.parser.HTMLParser):
    """Elements, attributes and texts, with a complaint where one is not closed in its order."""
    EMPTY = {"meta", "link", "br", "input", "img"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], {}
        self.feed(text)
        self.close()
        equal(self.open, [])

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def count(self, tag):
        return sum(1 for t, _ in self.elements if t == tag)

    def data(self):
        return json.loads(self.texts["script"][0])


def page_of(*profiles, **variables):
    done("report", *profiles, "-o", "page.html", **variables)
    return read(path_of("page.html"))


# ---- the page as a document ----


def test_the_page_is_one_document_that_loads_nothing():
    text = page_of(AMD, INTEL)
    page = Document(text)
    equal(text.startswith("<!DOCTYPE html>\n<html lang="), True)
    equal([page.count(t) for t in ("html", "head", "body", "title", "style", "main")], [1] * 6)
    ids = [a["id"] for _, a in page.elements if "id" in a]
    equal(len(ids), len(set(ids)))
    for tag, attributes in page.elements:
        for key in ("src", "href", "action", "data", "poster", "srcset", "style"):
            equal((tag, key, attributes.get(key)), (tag, key, "data:," if (tag, key) == ("link", "href") else None))
    equal(re.findall(r"@import|url\(|@font-face", page.texts["style"][0]), [])
    policy = [a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    equal(len(policy), 1)
    holds(policy[0], "default-src 'none'")
    own = page.texts["script"][2]  # data, library, the page's own
    equal(re.findall(r"https?:|fetch\(|XMLHttpRequest|WebSocket|import\(|eval\(", own), [])
    equal(page.texts["title"], ["amd-19-01-kernel, intel-06-cf-kernel: how to copy n bytes"])


def test_the_data_are_the_profiles():
    data = Document(page_of(AMD, INTEL)).data()
    equal(data["tool"] + "\n", tune("--version").stdout)
    equal([b["label"] for b in data["boxes"]], ["A", "B"])
    equal([b["file"] for b in data["boxes"]], [os.path.basename(AMD), os.path.basename(INTEL)])
    equal([b["profile"] == load(p) for b, p in zip(data["boxes"], (AMD, INTEL))], [True, True])
    equal([b["edited"] for b in data["boxes"]], [False, False])
    compared = json.loads(tune("compare", "--format", "json", AMD, INTEL).stdout)
    for table in compared["tables"]:  # the C library's column is this machine's affair
        for step in table["steps"]:
            step["libc"] = None
    equal(data["compare"], {"tables": compared["tables"], "absent": compared["absent"]})


def test_curves_are_costs_over_the_cheapest():
    rows = [f"{name},{size},{cost},{cost * .9},{cost * 1.1}" for name, cost in (("a", 10), ("b", 25))
            for size in (1024, 4096, 65536)]
    table = write("cells.csv", "strategy,size,ns,lo,hi\n" + "\n".join(rows) + "\n")
    write("made-up.json", tune("fit", table, "--format", "json", "-q").stdout)
    box = Document(page_of("made-up.json")).data()["boxes"][0]
    curves = box["curves"]["copy"]
    equal(sorted(curves), ["a", "b"])
    equal(curves["a"]["size"], [1024, 4096, 65536])
    equal([round(v, 6) for v in curves["a"]["cost"] + curves["b"]["cost"]], [1] * 3 + [2.5] * 3)
    equal([round(v, 6) for v in curves["b"]["raw"]], [25] * 3)
    equal([lo < 2.5 < hi for lo, hi in zip(curves["b"]["lo"], curves["b"]["hi"])], [True] * 3)
    equal(box["curves"]["nocache"], {})


def test_a_header_alone_and_many_boxes_make_a_page():
    header = shutil.copy(AMD.replace(".json", ".h"), path_of("alone.h"))
    data = Document(page_of(header)).data()
    equal(data["boxes"][0]["profile"]["cells"], None)
    equal(data["boxes"][0]["curves"], {"copy": {}, "nocache": {}})
    equal([s["max"] for s in data["boxes"][0]["profile"]["entries"]["copy"]["segments"]],
          [s["max"] for s in load(AMD)["entries"]["copy"]["segments"]])
    equal([b["label"] for b in Document(page_of(*[header] * 12)).data()["boxes"]], list("ABCDEFGHIJKL"))
    refused(2, "more than 12 profiles", "report", *[header] * 13, "-o", "page.html")


def test_texts_of_a_profile_stay_texts():
    holds(done("report", hostile(), "-o", "page.html"), "edited by hand")
    page = Document(read(path_of("page.html")))
    equal([page.count(t) for t in ("script", "img", "b")], [3, 0, 0])
    box = page.data()["boxes"][0]
    equal(box["edited"], True)
    equal({g["strategy"] for g in box["profile"]["cells"]["groups"]}.issuperset(HOSTILE), True)
    equal(box["profile"] == json.loads(tune("emit", "hostile.json", "--format", "json").stdout), True)


# ---- what fails ----


def test_bad_input_leaves_no_page():
    before = set(os.listdir(FOLDER.name)) - {"bad.html", "bad.svg"}
    profile = load(AMD)
    newer = write("newer.json", json.dumps(dict(profile, format=2)))
    damaged = write("damaged.json", read(AMD)[:5000])
    wrong = copy.deepcopy(profile)
    wrong["entries"]["copy"]["segments"][0]["max"] = "64"
    wrong = write("wrong.json", json.dumps(wrong))
    for command, output in (("report", "bad.html"), ("plot", "bad.svg")):
        refused(2, "absent.json: No such file", command, "absent.json", "-o", output)
        refused(2, "newer.json: format: 2 is newer", command, AMD, newer, "-o", output)
        refused(2, "damaged.json: line ", command, damaged, "-o", output)
        refused(2, "wrong.json: entries.copy.segments[0].max: ", command, wrong, "-o", output)
    equal(set(os.listdir(FOLDER.name)) - {"newer.json", "damaged.json", "wrong.json", "chart.js"}, before - {"chart.js"})


def test_output_that_cannot_be_written():
    for command, output in (("report", "bad.html"), ("plot", "bad.svg")):
        refused(3, "nowhere/bad: cannot write".replace("bad", output), command, AMD, "-o", "nowhere/" + output)
        os.makedirs(path_of(output), exist_ok=True)
        refused(3, output + ": cannot write: Is a directory", command, AMD, "-o", output)
        os.rmdir(path_of(output))
    refused(3, "/dev/full: cannot write: No space left", "report", AMD, "-o", "/dev/full")
    # the path is looked at before the profiles
    refused(3, "nowhere/x.html: cannot write", "report", "absent.json", "-o", "nowhere/x.html")
    refused(3, "nowhere/x.svg: cannot write", "plot", "absent.json", "-o", "nowhere/x.svg")
    write("page.html", "the old one")
    refused(2, "absent.json", "report", "absent.json", "-o", "page.html")
    equal(read(path_of("page.html")), "the old one")


def test_without_the_library_the_remedy_is_told():
    refused(3, "no.js: No such file or directory (Chart.js 3 draws the page: install Debian's libjs-chart.js",
            "report", AMD, "-o", "bad.html", UCOPY_CHART_JS="no.js")
    refused(3, "other.js: not Chart.js 3", "report", AMD, "-o", "bad.html",
            UCOPY_CHART_JS=write("other.js", "/* Chart.js v4.0.0 */"))
    equal(os.path.exists(path_of("bad.html")), False)


# ---- in a browser ----


def cells_of(profile, strategy, consumer="none"):
    """By hand: the cells of copy, one size repeated, called, in L1 or where the size leads."""
    out = {}
    grids = profile["cells"]["grids"]
    usual = {"strategy", "role", "grid", "environment", "src_state", "dst_state", "cost", "below", "above", "n",
             "mapping_spread", "code_ratio", "code_bytes"}
    for group in profile["cells"]["groups"]:
        states = {group.get("src_state", "l1"), group.get("dst_state", "l1")}
        if group["strategy"] != strategy or states != {"l1"} or set(group) - usual - {"consumer"}:
            continue
        if group.get("consumer", "none") != consumer:
            continue
        for i, size in enumerate(grids[group["grid"]]):
            def at(key):
                return group[key][i] if isinstance(group[key], list) else group[key]
            if size not in out or "src_state" not in group:
                out[size] = [size, at("cost"), at("cost") * (1 - at("below") / 100), at("cost") * (1 + at("above") / 100)]
    return [out[size] for size in sorted(out)]


def first_shown(profiles, entry="copy"):
    names = {"libc"}
    for profile in profiles:
        for segment in profile["entries"][entry]["segments"]:
            names |= {segment["strategy"], segment["runner_up"]}
    return names - {None}


def browse(page):
    """The page with the probe in it, opened in a narrow window; what the probe saw."""
    probe = read(os.path.join(HERE, "report_probe.js"))
    early = ("<script>var PROBLEMS = [];"
             "addEventListener('error', (e) => PROBLEMS.push(String(e.message)));"
             "addEventListener('unhandledrejection', (e) => PROBLEMS.push(String(e.reason)));"
             "addEventListener('securitypolicyviolation', (e) => PROBLEMS.push('request: ' + e.blockedURI));"
             "console.error = console.warn = (...w) => PROBLEMS.push(w.join(' '));</script>\n</head>")
    # the last </body>: the library's text and the data come before it
    head, tail = page.replace("</head>", early, 1).rsplit("</body>", 1)
    path = write("probed.html", head + "<script>\n" + probe + "</script>\n</body>" + tail)
    run = subprocess.run([shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                          "--disable-dev-shm-usage", "--user-data-dir=" + path_of("browser"), "--window-size=500,900",
                          "--virtual-time-budget=20000", "--dump-dom", "file://" + path],
                         capture_output=True, text=True, check=False, timeout=120)
    found = re.search(r'<pre id="result">(.*?)</pre>', run.stdout, flags=re.S)
    if not found:
        raise AssertionError("the page's probe has said nothing:\n" + run.stderr[-2000:])
    return json.loads(html.unescape(found.group(1)))


def test_a_reader_in_a_browser():
    if not shutil.which("chromium"):
        raise points.Skip("no chromium")
    if not os.path.exists(CHART):
        raise points.Skip("no libjs-chart.js")
    profiles = [load(AMD), load(hostile())]
    saw = browse(page_of(AMD, path_of("hostile.json"), UCOPY_CHART_JS=None))
    equal(saw["problems"], [])
    equal(saw["requests"], [])
    equal(saw["images"], 0)
    equal(saw["text"], True)
    equal(saw["canvases"], ["strategies-0", "strategies-1", "change", "both"])
    have = {g["strategy"] for g in profiles[0]["cells"]["groups"]}
    equal(set(saw["first"]), first_shown(profiles) & have)
    equal([r[0] for r in saw["ranges"]], [s["strategy"] for s in profiles[0]["entries"]["copy"]["segments"]])
    equal([r[1] for r in saw["ranges"]][:-1], [s["max"] for s in profiles[0]["entries"]["copy"]["segments"]][:-1])
    check_points(saw, profiles)
    check_changes(saw, profiles)
    check_switches(saw, profiles[0])
    check_reading_off(saw, profiles[0])
    equal(saw["colour"][0], "light")
    equal(saw["dark"][0], "dark")
    equal(saw["colour"][1] == saw["dark"][1], False)
    equal(saw["printed"], "light")
    equal(saw["pictures"] > 40, True)
    equal(saw["too_wide"] <= 0, True)


def check_points(saw, profiles):
    """Every point of every curve is the profile's cell."""
    for profile, curves in zip(profiles, saw["points"]):
        equal(len(curves) > 3, True)
        for name, rows in curves:
            want = cells_of(profile, name)
            equal((name, [r[:2] for r in rows]), (name, [r[:2] for r in want]))
            equal(max(abs(a - b) for r, w in zip(rows, want) for a, b in zip(r, w)) < 1e-6 * max(w[3] for w in want), True)
    page = Document(read(path_of("page.html"))).data()["boxes"][0]["curves"]["copy"]["rep_movsb"]
    equal(saw["weighted"], [list(p) for p in zip(page["size"], page["cost"])])


def chosen_costs(profile, consumer="none"):
    """Cost by size of what the profile chose there."""
    out = {}
    low = -1
    for segment in profile["entries"]["copy"]["segments"]:
        high = segment["max"] or 1 << 62
        out.update({r[0]: r[1] for r in cells_of(profile, segment["strategy"], consumer) if low < r[0] <= high})
        low = high
    return out


def check_changes(saw, profiles):
    """Other consumers over the usual one, the other box over the first."""
    usual, waited, other = chosen_costs(profiles[0]), chosen_costs(profiles[0], "wait"), chosen_costs(profiles[1])
    equal([name for name, _ in saw["change"]], ["all of dst read", "dst read at once", "dst waited for"])
    for (name, rows), want in (saw["change"][2], waited), (saw["both"][0], other):
        equal((name, [r[0] for r in rows]), (name, sorted(set(usual) & set(want))))
        equal(max(abs(y * usual[n] / want[n] - 1) for n, y in rows) < 1e-9, True)


def check_switches(saw, profile):
    equal((saw["before"], saw["on"], saw["off"]), (False, True, False))
    equal(saw["other"] in saw["first"], False)
    equal(all("rep" in n and "movsb" in n for n in saw["filtered"]) and "rep_movsb" in saw["filtered"], True)
    equal(saw["none"], 0)
    names = {g["strategy"] for g in profile["cells"]["groups"] if g.get("entry", "copy") == "copy"}
    equal(saw["all"], sum(1 for n in names if cells_of(profile, n)))
    equal((saw["intervals"] > 0, saw["no_intervals"]), (True, 0))


def check_reading_off(saw, profile):
    [cost] = [r[1] for r in cells_of(profile, "rep_movsb") if r[0] == 1024]
    equal(saw["pointer"]["title"], ["1 KiB"])
    equal([l for l in saw["pointer"]["lines"] if l.startswith(f"rep_movsb: {cost:g} ns")] != [], True)
    column = saw["table"][0].index("rep_movsb")
    cells = {r[0]: r[column] for r in saw["table"][1:]}
    equal(cells["1 KiB"].split(" ")[0], f"{cost:g}")


# ---- the picture ----


def gnuplot():
    if not shutil.which("gnuplot"):
        raise points.Skip("no gnuplot")


def test_the_picture_is_drawn():
    gnuplot()
    done("plot", AMD, INTEL, "-o", "boxes.svg")
    svg = xml.etree.ElementTree.parse(path_of("boxes.svg"))
    texts = {"".join(t.itertext()).strip() for t in svg.iter("{http://www.w3.org/2000/svg}text")}
    for path in (AMD, INTEL):
        profile = load(path)
        for entry in ("copy", "nocache"):
            equal(first_shown([profile], entry) - texts, set())
    for words in ("A: amd-19-01-kernel, copy", "B: intel-06-cf-kernel, nocache", "by the weights default", "bytes a copy",
                  "16 KiB", "8 MiB"):
        equal((words, words in texts), (words, True))
    done("plot", AMD, "-o", "box.png")
    with open(path_of("box.png"), "rb") as f:
        equal(f.read(8), b"\x89PNG\r\n\x1a\n")


def test_names_are_no_commands_of_gnuplot():
    gnuplot()
    done("plot", hostile(), "-o", "hostile.svg")
    xml.etree.ElementTree.parse(path_of("hostile.svg"))
    equal(os.path.exists(path_of("pwned")), False)


def test_without_gnuplot_the_remedy_is_told():
    refused(3, "install Debian's gnuplot-nox", "plot", AMD, "-o", "none.svg", PATH="/nowhere")
    os.makedirs(path_of("bin"), exist_ok=True)
    write("bin/gnuplot", "#!/bin/sh\necho '  line 7: no such terminal' >&2\necho half\nexit 1\n")
    os.chmod(path_of("bin/gnuplot"), 0o755)
    refused(3, "gnuplot cannot draw this: line 7: no such terminal", "plot", AMD, "-o", "none.svg",
            PATH=path_of("bin") + ":/usr/bin:/bin")
    equal(os.path.exists(path_of("none.svg")), False)


if __name__ == "__main__":
    points.main(sys.modules["__main__"])
