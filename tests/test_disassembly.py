#!/usr/bin/env python3
"""What is compiled is what was written: the strategies' assembly through compilers, flags and link-time optimisation.

test_disassembly.py SOURCE_ROOT STRATEGIES_BUILD_DIR HEADER_PROGRAM

Every gcc and clang in PATH compiles two units at each level, which are then disassembled:

- registry.c, the very unit that the tuner is made of. Each asm block of a strategy's text (its own and those of the
  moves that it calls) is assembled alone. A called form must hold each of its blocks as one run of instructions, with
  no other vector or string instruction and no call beside them, so a loop that a compiler made into memcpy, SSE or
  rep movsb shows. An operand's register may be any, padding is dropped, jump targets are distances.
- a unit that uses generated headers: those that HEADER_PROGRAM writes, which hold every candidate between them, and the
  committed ones; a few at each level, all of them for each compiler. The same holds for their called functions and for
  what they inline into their callers. The fallback is a function of the test, so that every call to memcpy, memmove or
  memset is a fault. In every second header __builtin_memcpy is one too: constant sizes to 64 must reach it, and
  nothing else may.

Prints TAP, and in lines that begin with "# compiler" which ones were used. What is not there (a kind of compiler,
objdump, a linker for link-time optimisation) is skipped by name.
"""
import functools
import glob
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD, HEADER_PROGRAM = (os.path.abspath(p) for p in sys.argv[1:4])
STRATEGIES = os.path.join(ROOT, "strategies")
sys.path.insert(0, STRATEGIES)
sys.dont_write_bytecode = True
import expand  # noqa: E402

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
ARCHES = ["-march=x86-64", "-march=native"]
# x86-64-v4: headers inline their wide parts there, also where this machine has no AVX-512.
FLAGS = [[level, arch] for level in LEVELS for arch in ARCHES] + [["-O2", "-march=x86-64-v4"]]
LTO_FLAGS = [["-flto", "-fPIC", level, arch] for level in LEVELS for arch in ARCHES]
OLDEST = {"gcc": 12, "clang": 14}  # what the tuner and its headers are written for
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wundef", "-Werror"]

FUNCTION = re.compile(r"^([A-Za-z_][^;{}]*?)\b((?:ucopy|use|across|known\d+|reach)_\w+)\([^;{}]*\)\s*"
                      r"\{(.*?)^\}", re.M | re.S)
ASM = re.compile(r"__asm__ volatile\((.*?)\);", re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Skip(Exception):
    """The reason why a test is skipped."""


def run(command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


def read_built(name):
    with open(os.path.join(BUILD, name), encoding="utf-8") as f:
        return f.read()


def checked(command, **kwargs):
    result = run(command, **kwargs)
    if result.returncode:
        raise AssertionError(f"{' '.join(command)}:\n{result.stderr}")
    return result.stdout


# ---- the text: functions, their asm blocks, and the functions that they call


class Function:
    """A function of C text: the asm blocks in it, the functions that it names, and whether it is always inlined, or
    never."""

    def __init__(self, head, body):
        self.blocks = [(block_text(asm), pinned(asm)) for asm in ASM.findall(body)]
        self.calls = list(dict.fromkeys(re.findall(r"\b((?:ucopy|use)_\w+)\(", body)))
        self.leaf = re.search(r"\bUCOPY_\w*LEAF\b|always_inline", head) is not None
        self.apart = "noinline" in head
        self.straight = not re.search(r"\bif\b", body)


def read_functions(code):
    """Name -> Function."""
    return {name: Function(head, body) for head, name, body in FUNCTION.findall(code)}


def block_text(asm):
    """The assembler text of an asm statement: its strings up to the first colon outside of one."""
    text = ""
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|:|[^":]+', asm):
        if token == ":":
            break
        match = STRING.fullmatch(token)
        text += match.group(1) if match else ""
    return text.replace("\\n", "\n").replace("\\t", "\t")


CONSTRAINT = {"a": "a", "b": "b", "c": "c", "d": "d", "S": "si", "D": "di"}


def pinned(asm):
    """Operands whose constraint names one register."""
    pairs = re.findall(r'\[(\w+)\]\s*"[=+&]*(\w)"', asm)
    return tuple((name, CONSTRAINT[letter]) for name, letter in pairs if letter in CONSTRAINT)


def inlined(name, functions):
    """What a compiler may inline into a function, itself first."""
    seen = [name]
    for caller in seen:
        seen += [c for c in functions[caller].calls if c in functions and c not in seen and not functions[c].apart]
    return seen


def blocks_of(name, functions):
    """The templates of the asm blocks that a function may hold."""
    return tuple(dict.fromkeys(t for f in inlined(name, functions) for t in functions[f].blocks))


SIZES = {
    "a": ("rax", "eax", "ax", "al"), "b": ("rbx", "ebx", "bx", "bl"),
    "c": ("rcx", "ecx", "cx", "cl"), "d": ("rdx", "edx", "dx", "dl"),
    "si": ("rsi", "esi", "si", "sil"), "di": ("rdi", "edi", "di", "dil"),
    "bp": ("rbp", "ebp", "bp", "bpl"),
}
SIZES.update({str(i): (f"r{i}", f"r{i}d", f"r{i}w", f"r{i}b") for i in range(8, 16)})
REGISTER = {name: (family, width) for family, names in SIZES.items() for width, name in enumerate(names)}
WIDTH = {"": 0, "q": 0, "k": 1, "w": 2, "b": 3}


def with_operands(template, pins):
    """The template as an assembler takes it: each operand a register that the text itself does not name."""
    named = {REGISTER[r][0] for r in re.findall(r"%%(\w+)", template) if r in REGISTER}
    given = dict(pins)
    free = [f for f in SIZES if f not in named and f not in given.values()]

    def operand(match):
        if match.group(2) not in given:
            given[match.group(2)] = free.pop()
        family = given[match.group(2)]
        return "%" + SIZES[family][WIDTH[match.group(1)]]

    text = re.sub(r"%([kbwq]?)\[(\w+)\]", operand, template)
    return re.sub(r"%([%{}|])", r"\1", text), set(given.values()) - {family for _, family in pins}


# ---- disassembly

LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)$")
LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
JUMP = re.compile(r"^(j\w+)\s+(?:\*?)([0-9a-f]+)\b")
PADDING = re.compile(r"^(?:(?:data16|cs|repz) )*(?:nop\w*\b|xchg\s+%ax,%ax|endbr64|lea\s+0x0\((%\w+)(?:,%\w+,1)?\),\1$)")


def disassemble(path):
    """Symbol -> [(address, instruction)], padding kept."""
    symbols, current = {}, None
    for line in checked(["objdump", "-d", "-r", "--no-show-raw-insn", "-w", path]).splitlines():
        label, instruction = LABEL.match(line), LINE.match(line)
        if label:
            current = symbols.setdefault(label.group(1), [])
        elif instruction and current is not None:
            current.append((int(instruction.group(1), 16), instruction.group(2).split("\t")[0].strip()
                            + relocation(instruction.group(2))))
    return symbols


def relocation(text):
    match = re.search(r"R_X86_64_\w+\s+(\S+)", text)
    return f" # {match.group(1)}" if match else ""


BRANCH = re.compile(r"(?:bnd )?(?:call|j\w+)\b")
RELOCATED, PLACE = re.compile(r" # ([\w.]+)"), re.compile(r"<([\w.]+)(?:@plt)?(?:[+-]0x[0-9a-f]+)?>")


def base(symbol):
    """The function of C that a symbol comes from: compilers put .part.0, .constprop.1, .cold and the like behind it."""
    return symbol.split(".")[0]


def targets(symbol, instructions):
    """The functions that a symbol calls or jumps to, less itself and section names, which stand for parts of it."""
    found = set()
    for _, text in instructions:
        match = BRANCH.match(text) and (RELOCATED.search(text) or PLACE.search(text))
        if match:
            found.add(base(match.group(1)))
    return found - {base(symbol), ""}


def clean(instructions):
    """Instructions without padding; a jump's target is the distance in instructions, or where it lies outside
    of the function its text."""
    kept = [(a, t) for a, t in instructions if not PADDING.match(t)]
    index = {}
    position = len(kept)
    for address, text in reversed(instructions):
        if not PADDING.match(text):
            position -= 1
        index[address] = position
    end = instructions[-1][0] + 16 if instructions else 0
    out = []
    for i, (_, text) in enumerate(kept):
        jump = JUMP.match(text)
        if jump:
            target = int(jump.group(2), 16)
            inside = target in index or instructions[-1][0] < target < end
            text = f"{jump.group(1)} {index.get(target, len(kept)) - i:+d}" if inside else text
        out.append(re.sub(r"\s*(?:<[^>]*>|# [0-9a-f]+ <.*)$", "", re.sub(r"\s+", " ", text)))
    return tuple(out)


def shape(instruction):
    """The instruction without its operands."""
    return instruction.split(" ")[0]


@functools.lru_cache(maxsize=None)
def split_registers(instruction):
    return re.split(r"%(\w+)", re.sub(r"\b0x0\(", "(", instruction))


def same_but_for_registers(written, compiled, operands):
    """Are both the same instructions, each register of an operand standing for one of the compiler's choice?
    Two operands may have been given one register, where the compiler knows that their values are the same."""
    chosen = {}
    for ours, theirs in zip(written, compiled):
        ours, theirs = split_registers(ours), split_registers(theirs)
        if ours[::2] != theirs[::2]:
            return False
        for a, b in zip(ours[1::2], theirs[1::2]):
            family, width = REGISTER.get(a, (None, 0))
            if family not in operands and a == b:
                continue
            if family not in operands or b not in REGISTER or REGISTER[b][1] != width:
                return False
            if chosen.setdefault(family, REGISTER[b][0]) != REGISTER[b][0]:
                return False
    return True


def find_block(block, operands, function):
    """Where in the function the block lies as one run; [] where it does not."""
    shapes = [shape(i) for i in block]
    return [i for i in range(len(function) - len(block) + 1)
            if shape(function[i]) == shapes[0] and [shape(t) for t in function[i:i + len(block)]] == shapes
            and same_but_for_registers(block, function[i:i + len(block)], operands)]


# ---- the checks


assembled = {}  # template -> (instructions, registers that stand for operands)


def assemble(templates, folder):
    """Each template alone, as an assembler takes it."""
    templates = sorted(set(templates))
    source, output = os.path.join(folder, "blocks.s"), os.path.join(folder, "blocks.o")
    texts = [with_operands(*template) for template in templates]
    with open(source, "w", encoding="utf-8") as f:
        for i, (text, _) in enumerate(texts):
            f.write(f".p2align 6\nblock_{i}:\n\t{text}\n")
    checked(["as", source, "-o", output])
    symbols = disassemble(output)
    assembled.update({t: (clean(symbols[f"block_{i}"]), texts[i][1]) for i, t in enumerate(templates)})


# What a compiler must not bring in beside the blocks. gcc puts a vzeroupper of its own at the end of a function that
# may use AVX and clobbers a low vector register; it does no harm beside the time it takes.
FOREIGN = re.compile(r"%[xyz]mm\d|%k[0-7]\b|\brep|\bmovs[bwlq]? |\bstos[bwlq]? ")


@functools.lru_cache(maxsize=None)
def match_blocks(code, templates):
    """The templates that the code holds as one run, and its foreign instructions outside of all of them."""
    covered, found = set(), set()
    for template in templates:
        block, operands = assembled[template]
        for place in find_block(block, operands, code):
            found.add(template)
            covered.update(range(place, place + len(block)))
    return found, [t for i, t in enumerate(code) if FOREIGN.search(t) and i not in covered]


def must_hold(name, templates, found, codes):
    for template in templates:
        if template not in found:
            raise AssertionError(f"{name}: a block is not there as one run:\n  want "
                                 + "\n       ".join(assembled[template][0]) + "\n  have "
                                 + "\n       ".join("\n       ".join(code) + "\n" for code in codes))


def no_foreign(name, foreign):
    if foreign:
        raise AssertionError(f"{name}: an instruction of no block: {foreign[0]}")


def no_memory_function(symbols):
    for symbol, instructions in symbols.items():
        for target in targets(symbol, instructions):
            if re.match(r"(?:__)?mem(?:cpy|move|set)", target):
                raise AssertionError(f"{symbol} calls {target}")


def check_strategies(symbols, strategies):
    for name, templates in strategies.items():
        found = [s for s in symbols if base(s) == f"called_{name}"]
        if len(found) != 1:
            raise AssertionError(f"{name}: {len(found)} called forms ({', '.join(found)})")
        code = clean(symbols[found[0]])
        held, foreign = match_blocks(code, templates)
        must_hold(name, templates, held, [code])
        no_foreign(name, foreign)
        outside = targets(found[0], symbols[found[0]])
        if outside or any(t.startswith("call") for t in code):
            raise AssertionError(f"{name} calls {', '.join(outside)}")
    no_memory_function(symbols)


# ---- headers

# Sizes that the compiler knows, on both sides of the last one that is its own to copy.
KNOWN = [0, 1, 17, 64, 65, 4096]


class Header:
    """A generated header, included either as it is or with the constant sizes routed to a function of the test."""

    def __init__(self, path, text, routed):
        self.path, self.routed = path, routed
        entries = re.findall(r"^(ucopy_\w+)\(void \*dst, const void \*src, (ucopy_\w+)_size n\)$", text, re.M)
        self.entries = [name for name, _ in entries]
        self.prefix = entries[0][1]
        self.called = list(dict.fromkeys(re.findall(r"^static void \*(ucopy_\w+_called)\(", text, re.M)))


PARAMETERS = "void *d, const void *s, __SIZE_TYPE__"


def headers_unit(headers):
    """Each entry with any size and with known ones; the called functions too, with any size, for a compiler that sees
    all calls of a static function drops what those sizes do not need. hidden: may be inlined across units."""
    unit = "".join(f"void *{name}({PARAMETERS} n);\n" for name in ["small_copy", "fallback"])
    unit += "#define UCOPY_FALLBACK(d, s, n) fallback(d, s, n)\n"
    for h in headers:
        include = f'#include "{h.path}"\n'
        unit += (f"#define __builtin_memcpy small_copy\n{include}#undef __builtin_memcpy\n" if h.routed else include)
    functions = []
    for h in headers:
        functions += [(f"use_{e}", "n", e, "n") for e in h.entries]
        functions += [(f"known{n}_{e}", "unused", e, f"{n}") for e in h.entries for n in KNOWN]
        functions += [(f"reach_{c}", "n", c, "n") for c in h.called]
    for name, parameter, callee, size in functions:
        unit += (f'__attribute__((visibility("{"hidden" if name.startswith("use") else "default"}")))\n'
                 f"void *{name}({PARAMETERS} {parameter})\n{{\n    (void){parameter};\n"
                 f"    return {callee}(d, s, {size});\n}}\n")
    return unit


def across_unit(headers):
    """Calls from another unit."""
    return "".join(f"void *use_{e}({PARAMETERS} n);\n"
                   f"void *across_{e}({PARAMETERS} n)\n{{\n    return use_{e}(d, s, n);\n}}\n"
                   for h in headers for e in h.entries)


class HeadersObject:
    """The unit above, preprocessed into functions and compiled into symbols."""

    def __init__(self, headers, functions, symbols, optimised):
        self.headers, self.functions, self.symbols, self.optimised = headers, functions, symbols, optimised
        self.of = {}
        for symbol in symbols:
            self.of.setdefault(base(symbol), []).append(symbol)

    def codes(self, name):
        """The symbols of a function as lists of instructions."""
        return [clean(self.symbols[symbol]) for symbol in self.of.get(name, [])]

    def places(self, name):
        """The functions whose code stands for this one: itself, or where it is but a jump to another, that one.
        Compilers keep one of two that are identical."""
        symbols = self.of.get(name, [])
        if len(symbols) == 1 and len(clean(self.symbols[symbols[0]])) == 1:
            elsewhere = targets(symbols[0], self.symbols[symbols[0]]) & set(self.of)
            if elsewhere:
                return self.places(elsewhere.pop())
        return [name]

    def merged(self, name):
        """Is there another function of the same blocks, of which this may be a second name?"""
        blocks = blocks_of(name, self.functions)
        return any(blocks_of(other, self.functions) == blocks
                   for other in self.functions if other != name and other in self.of)

    def check_blocks(self, name, places):
        """What name inlines is in the places: all blocks of a function without branches, else one of each leaf that
        it calls, for a range of sizes may need no more."""
        codes = [code for place in places for other in self.places(place) for code in self.codes(other)]
        if not codes and self.merged(name):
            return
        templates = blocks_of(name, self.functions)
        found = set().union(*(match_blocks(code, templates)[0] for code in codes))
        if self.functions[name].straight:
            must_hold(name, templates, found, codes)
            return
        for leaf in self.functions[name].calls:
            blocks = blocks_of(leaf, self.functions) if leaf in self.functions and self.functions[leaf].leaf else ()
            if blocks and not found.intersection(blocks) and not self.jumps_to_twin(name, leaf):
                must_hold(f"{name}, {leaf}", blocks, found, codes)

    def jumps_to_twin(self, name, leaf):
        """Does name go to another function that holds the leaf's blocks? gcc -Os puts a leaf of branches out of line
        and keeps one of two that are identical."""
        blocks = blocks_of(leaf, self.functions)
        reached = set().union(*(targets(s, self.symbols[s]) for s in self.of.get(name, [])))
        return any(blocks_of(other, self.functions) == blocks
                   and any(match_blocks(code, blocks)[0] for code in self.codes(other))
                   for other in reached if other in self.functions)

    def check_instructions(self, name):
        templates = blocks_of(name, self.functions)
        for code in self.codes(name):
            no_foreign(name, match_blocks(code, templates)[1])

    def check_targets(self, header):
        """Calls go to the header's own functions and the fallback, and to the test's copy of small sizes only from
        where a size is known."""
        for symbol, instructions in self.symbols.items():
            if not re.fullmatch(rf"(?:(?:use|across|known\d+|reach)_)?{header.prefix}(?:_\w+)?", base(symbol)):
                continue
            allowed = {*self.functions, "fallback"} | ({"small_copy"} if base(symbol).startswith("known") else set())
            strange = {t for t in targets(symbol, instructions) if not t.startswith(".")} - allowed
            if strange:
                raise AssertionError(f"{symbol} calls {', '.join(strange)}")

    def check_known(self, entry, size, routed):
        """A known size to 64 is __builtin_memcpy's, where the compiler knows it at all; a larger one is not."""
        name = f"known{size}_{entry}"
        outside = set().union(*(targets(s, self.symbols[s])
                                for place in self.places(name) for s in self.of.get(place, [])))
        if size > 64 or not self.optimised:
            self.check_instructions(name)
            if "small_copy" in outside:
                raise AssertionError(f"{name}: the size goes to __builtin_memcpy")
            return
        wanted = {"small_copy"} if routed and size else set()
        if name in self.of and outside != wanted:
            raise AssertionError(f"{name}: calls {outside}, not {wanted}")

    def check(self):
        no_memory_function(self.symbols)
        for h in self.headers:
            self.check_targets(h)
            for name in h.called:
                self.check_blocks(name, [name])
                self.check_instructions(name)
            for entry in h.entries:
                self.check_blocks(entry, [f"{kind}{entry}" for kind in ["", "use_", "across_"]])
                for kind in ["", "use_", "across_"]:
                    if kind + entry in self.functions:
                        self.check_instructions(kind + entry)
                for size in KNOWN:
                    self.check_known(entry, size, h.routed)


# ---- compiling


def write_in(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compile_registry(compiler, flags, folder):
    output = os.path.join(folder, "registry.o")
    checked([compiler, "-std=gnu11", "-w", *flags, "-I", ROOT, "-I", BUILD, "-c", os.path.join(STRATEGIES, "registry.c"),
             "-o", output])
    return output


def compile_headers(compiler, flags, folder, headers):
    """The object, and the functions of the preprocessed unit."""
    source, output = write_in(folder, "headers.c", headers_unit(headers)), os.path.join(folder, "headers.o")
    command = [compiler, "-std=gnu11", *WARNINGS, *flags, source]
    checked([*command, "-c", "-o", output])
    return output, read_functions(checked([*command, "-E", "-P"]))


def check_registry(compiler, flags, folder, strategies):
    check_strategies(disassemble(compile_registry(compiler, flags, folder)), strategies)


def check_headers(compiler, flags, folder, headers):
    path, functions = compile_headers(compiler, flags, folder, headers)
    HeadersObject(headers, functions, disassemble(path), "-O0" not in flags).check()


def check_linked(compiler, flags, folder, headers, strategies):
    linker, across = lto_linker(compiler), across_unit(headers)
    if linker is None:
        raise Skip("no linker for this compiler's link-time optimisation")
    path, functions = compile_headers(compiler, flags, folder, headers)
    objects = [compile_registry(compiler, flags, folder), path, os.path.join(folder, "across.o")]
    checked([compiler, *flags, "-c", write_in(folder, "across.c", across), "-o", objects[-1]])
    library = os.path.join(folder, "unit.so")
    checked([compiler, *flags, "-shared", *linker, *objects, "-o", library])
    symbols = disassemble(library)
    check_strategies(symbols, strategies)
    HeadersObject(headers, {**functions, **read_functions(across)}, symbols, "-O0" not in flags).check()


@functools.lru_cache(maxsize=None)
def lto_linker(compiler):
    """The options for a linker that can link what this compiler wrote with -flto, or None. gcc and some clang bring a
    plugin for ld; Debian's lld has clang's number in its name."""
    own = f"-fuse-ld=lld-{version(compiler)[1]}"
    with tempfile.TemporaryDirectory() as folder:
        probe = write_in(folder, "probe.c", "const char *ucopy_probe(int i) { return i ? __FILE__ : 0; }\n")
        for options in [[], [own], ["-fuse-ld=lld"], ["-fuse-ld=gold"]]:
            command = [compiler, "-O2", "-flto", "-fPIC", "-shared", *options, probe, "-o", probe + ".so"]
            if not run(command).returncode:
                return options
    return None


def version(compiler):
    """The first line of its own words on itself, and the number of its version."""
    line = run([compiler, "--version"]).stdout.split("\n")[0]
    number = re.search(r"(\d+)\.\d+", re.sub(r"\(.*?\)", "", line))
    return line, int(number.group(1)) if number else 0


def compilers(kind):
    """gcc or clang and all with a number behind the name, each program once: name -> its words."""
    names = {f for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isdir(folder)
             for f in os.listdir(folder) if re.fullmatch(rf"{kind}(-\d+)?", f)}
    found = {}
    for name in sorted(names, key=lambda n: int(n[len(kind) + 1:] or 0)):
        path = shutil.which(name)
        line, number = version(path) if path else ("", 0)
        if number >= OLDEST[kind]:
            found.setdefault(os.path.realpath(path), (name, line))
    return dict(found.values())


# ---- the tests, each (name, function)


def text_is_what_is_compiled():
    """The texts that a header embeds, one behind the other, are the code that the tuner is made of."""
    _, code = read_built("strategies_code.h").split("\n", 1)
    literals = re.findall(r"static const char (?:part|text)_(\w+)\[\] =\n(.*?);\n(?=static|#)",
                          read_built("strategies_text.h"), re.S)
    for name, lines in literals:
        embedded = "".join(STRING.findall(lines))
        embedded = re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), embedded) + "\n"
        if not code.startswith(embedded):
            raise AssertionError(f"the text of {name} is not what is compiled")
        code = code[len(embedded):]
    if code or not literals:
        raise AssertionError(f"compiled, but embedded in no header:\n{code}")


def same_expansion(compiler, folder):
    outputs = [os.path.join(folder, n) for n in ["code.h", "text.h", "depfile"]]
    checked([sys.executable, os.path.join(STRATEGIES, "expand.py"), compiler, STRATEGIES, *outputs])
    for output, built in zip(outputs, ["strategies_code.h", "strategies_text.h"]):
        with open(output, encoding="utf-8") as f:
            if f.read() != read_built(built):
                raise AssertionError(f"{compiler} expands {built} to another text")


def stands_alone(compiler, functions):
    """A strategy with the parts that its row names is whole: nothing that it calls is missing."""
    texts = {}
    for name, parts in expand.rows(STRATEGIES):
        unit = ""
        for part in ["prelude", *parts, name]:
            texts.setdefault(part, expand.text_of([compiler], STRATEGIES, part))
            unit += texts[part]
        defined = set(read_functions(unit))
        called = {c for f in defined & set(functions) for c in functions[f].calls}
        if called - defined:
            raise AssertionError(f"{name} calls {', '.join(sorted(called - defined))}, of a part that it does not name")


def prepare(functions, folder):
    """What the checks of objects need: strategy -> its templates, and the headers as (path, text)."""
    for tool in ["as", "objdump"]:
        if not shutil.which(tool):
            raise Skip(f"no {tool}")
    checked([HEADER_PROGRAM, folder])
    headers = []
    for path in sorted(glob.glob(os.path.join(ROOT, "profiles", "*.h"))) + sorted(glob.glob(folder + "/*.h")):
        with open(path, encoding="utf-8") as f:
            headers.append((path, f.read()))
    every = [*functions.values(), *(f for _, text in headers for f in read_functions(text).values())]
    assemble([t for f in every if f.leaf for t in f.blocks], folder)
    strategies = {name: blocks_of("ucopy_" + name, functions) for name, _ in expand.rows(STRATEGIES)}
    empty = [n for n, blocks in strategies.items() if not blocks]
    if empty:
        raise AssertionError(f"no asm block: {', '.join(empty)}")
    return strategies, headers


def tests_of(compiler, number, strategies, headers):
    """The tests of one compiler, each (name, function of a folder). Each level has its share of the headers; the next
    compiler has another share there, and routes the others."""
    cases = FLAGS + LTO_FLAGS
    yield f"{compiler} expands to the same text", lambda folder: same_expansion(compiler, folder)
    for i, flags in enumerate(cases):
        name = f"{compiler} {' '.join(flags)}"
        share = [Header(path, text, (k + i + number) % 2 == 1)
                 for k, (path, text) in enumerate(headers[(i + 4 * number) % len(cases)::len(cases)])]
        if flags in LTO_FLAGS:
            yield f"{name}, linked", functools.partial(check_linked, compiler, flags, headers=share,
                                                       strategies=strategies)
            continue
        yield f"{name}: strategies", functools.partial(check_registry, compiler, flags, strategies=strategies)
        yield f"{name}: headers", functools.partial(check_headers, compiler, flags, headers=share)


def skipped(why, folder):
    raise Skip(why)


def failed(why, folder):
    raise AssertionError(why)


def make_tests(folder):
    functions = read_functions(read_built("strategies_code.h"))
    yield "the embedded text is what is compiled", lambda _: text_is_what_is_compiled()
    yield "each strategy has the parts that it calls", lambda _: stands_alone(shutil.which("cc") or "gcc", functions)
    try:
        strategies, headers = prepare(functions, folder)
    except Skip as why:
        yield "the blocks and the headers", functools.partial(skipped, str(why))
        return
    except AssertionError as why:
        yield "the blocks and the headers", functools.partial(failed, str(why))
        return
    number = 0
    for kind in OLDEST:
        there = compilers(kind)
        if not there:
            yield kind, functools.partial(skipped, f"no {kind} {OLDEST[kind]} or later")
        for name, line in there.items():
            print(f"# compiler {name}: {line}")
            yield from tests_of(name, number, strategies, headers)
            number += 1


tests = []


def report(number):
    """Runs one test in a folder of its own: what to print, and whether it failed."""
    name, test = tests[number]
    with tempfile.TemporaryDirectory() as folder:
        try:
            test(folder)
            return f"ok {number + 1} - {name}", False
        except Skip as why:
            return f"ok {number + 1} - {name} # SKIP {why}", False
        except AssertionError as why:
            return "".join(f"# {line}\n" for line in str(why).splitlines()[:80]) + f"not ok {number + 1} - {name}", True


def main():
    os.nice(19)  # it gives way to tests that time something
    with tempfile.TemporaryDirectory() as folder:
        tests.extend(make_tests(folder))
        print(f"1..{len(tests)}", flush=True)
        bad = 0
        # fork: the children know the tests; two, as many as the smallest machine that runs them has cores
        with multiprocessing.get_context("fork").Pool(min(2, len(os.sched_getaffinity(0)))) as pool:
            for text, is_bad in pool.imap(report, range(len(tests))):
                print(text, flush=True)
                bad += is_bad
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
