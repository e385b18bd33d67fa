#!/usr/bin/env python3
"""What is compiled is what was written: the strategies' assembly through compilers, flags and link-time optimisation.

test_disassembly.py SOURCE_ROOT STRATEGIES_BUILD_DIR

registry.c, the very unit that the tuner is made of, is compiled with each compiler that is there at several levels
and disassembled. Each asm block of a strategy's text (its own and those of the moves that it calls) is assembled
alone. A called form must hold each of its blocks as one run of instructions, with no other vector or string
instruction and no call beside them, so a loop that a compiler made into memcpy, SSE or rep movsb shows.
An operand's register may be any, padding is dropped, jump targets are distances.

Prints TAP. What is not there (a compiler, objdump, a linker for link-time optimisation) is skipped by name.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = (os.path.abspath(p) for p in sys.argv[1:3])
STRATEGIES = os.path.join(ROOT, "strategies")
sys.path.insert(0, STRATEGIES)
sys.dont_write_bytecode = True
import expand  # noqa: E402

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
ARCHES = ["-march=x86-64", "-march=native"]

FUNCTION = re.compile(r"^UCOPY_LEAF [^;{]*?\bucopy_(\w+)\([^;{]*\)\n\{(.*?)^\}", re.M | re.S)
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


def read_functions(code):
    """name -> (asm templates with their pinned operands, names it calls), of every leaf in the expanded code."""
    functions = {}
    for name, body in FUNCTION.findall(code):
        templates = [(block_text(asm), pinned(asm)) for asm in ASM.findall(body)]
        functions[name] = templates, re.findall(r"\bucopy_(\w+)\(", body)
    return functions


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


def blocks_of(name, functions, seen=None):
    seen = set() if seen is None else seen
    if name in seen or name not in functions:
        return []
    seen.add(name)
    templates, calls = functions[name]
    return [(name, t) for t in templates] + [b for c in calls for b in blocks_of(c, functions, seen)]


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
    return out


def shape(instruction):
    """The instruction without its operands."""
    return instruction.split(" ")[0]


def same_but_for_registers(written, compiled, operands):
    """Are both the same instructions, each register of an operand standing for one of the compiler's choice?
    Two operands may have been given one register, where the compiler knows that their values are the same."""
    chosen = {}
    for ours, theirs in zip(written, compiled):
        ours, theirs = (re.split(r"%(\w+)", re.sub(r"\b0x0\(", "(", t)) for t in (ours, theirs))
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
    return [i for i in range(len(function) - len(block) + 1)
            if shape(function[i]) == shape(block[0])
            and same_but_for_registers(block, function[i:i + len(block)], operands)]


# ---- the checks


def assemble_blocks(functions, folder):
    """Template -> (instructions, registers that stand for operands), each assembled alone."""
    templates = sorted({t for texts, _ in functions.values() for t in texts})
    source, output = os.path.join(folder, "blocks.s"), os.path.join(folder, "blocks.o")
    texts = [with_operands(*template) for template in templates]
    with open(source, "w", encoding="utf-8") as f:
        for i, (text, _) in enumerate(texts):
            f.write(f".p2align 6\nblock_{i}:\n\t{text}\n")
    checked(["as", source, "-o", output])
    symbols = disassemble(output)
    return {t: (clean(symbols[f"block_{i}"]), texts[i][1]) for i, t in enumerate(templates)}


# What a compiler must not bring in beside the blocks. gcc puts a vzeroupper of its own at the end of a function that
# may use AVX and clobbers a low vector register; it does no harm beside the time it takes.
FOREIGN = re.compile(r"%[xyz]mm\d|%k[0-7]\b|\brep|\bcall|\bmovs[bwlq]? |\bstos[bwlq]? ")


def check_form(name, form, blocks):
    covered = set()
    for owner, (block, operands) in blocks:
        places = find_block(block, operands, form)
        if not places:
            raise AssertionError(f"{name}: the block of {owner} is not there as one run:\n  want "
                                 + "\n       ".join(block) + "\n  have " + "\n       ".join(form))
        for place in places:
            covered.update(range(place, place + len(block)))
    for i, instruction in enumerate(form):
        if FOREIGN.search(instruction) and i not in covered:
            raise AssertionError(f"{name}: an instruction of no block: {instruction}")


def check_object(path, strategies):
    symbols = disassemble(path)
    for name, blocks in strategies.items():
        found = [s for s in symbols if re.fullmatch(rf"called_{name}(\.\w+)*", s)]
        if len(found) != 1:
            raise AssertionError(f"{name}: {len(found)} called forms ({', '.join(found)})")
        check_form(name, clean(symbols[found[0]]), blocks)
    for symbol, instructions in symbols.items():
        for _, text in instructions:
            if re.search(r"\b(?:mem(?:cpy|move|set)|__mem\w+)\b", text) and re.match(r"call|jmp", text):
                raise AssertionError(f"{symbol}: {text}")


def compile_unit(compiler, flags, folder, output="unit.o", compile_only=True):
    path = os.path.join(folder, output)
    command = [compiler, "-std=gnu11", "-w", *flags, "-I", ROOT, "-I", BUILD, os.path.join(STRATEGIES, "registry.c"),
               "-o", path]
    checked(command + (["-c"] if compile_only else []))
    return path


def lto_flags(compiler, folder):
    """Flags with which this compiler can link what it wrote with -flto."""
    empty = os.path.join(folder, "empty.c")
    with open(empty, "w", encoding="utf-8") as f:
        f.write("int ucopy_empty;\n")
    for linker in [[], ["-fuse-ld=lld"], ["-fuse-ld=gold"]]:
        flags = ["-O2", "-flto", "-fPIC", "-shared", *linker]
        if not run([compiler, *flags, empty, "-o", os.path.join(folder, "empty.so")]).returncode:
            return flags
    raise Skip("no linker for this compiler's link-time optimisation")


def compilers():
    """gcc, clang and the newest gcc-N and clang-N, each program once."""
    found = {}
    for kind in ["gcc", "clang"]:
        versions = {int(m.group(1)) for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isdir(folder)
                    for m in (re.fullmatch(rf"{kind}-(\d+)", f) for f in os.listdir(folder)) if m}
        for name in [kind] + [f"{kind}-{v}" for v in sorted(versions)[-1:]]:
            path = shutil.which(name)
            if path:
                found.setdefault(os.path.realpath(path), name)
            else:
                found.setdefault(name, None)
    return [(name or key, name is not None) for key, name in found.items()]


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
        defined = set(re.findall(r"^UCOPY_LEAF [^;{]*?\bucopy_(\w+)\(", unit, re.M))
        called = {c for f in defined & set(functions) for c in functions[f][1]}
        if called - defined:
            raise AssertionError(f"{name} calls {', '.join(sorted(called - defined))}, of a part that it does not name")


def make_tests(folder):
    functions = read_functions(read_built("strategies_code.h"))
    strategies = {}

    def expected():
        if not strategies:
            for tool in ["as", "objdump"]:
                if not shutil.which(tool):
                    raise Skip(f"no {tool}")
            assembled = assemble_blocks(functions, folder)
            strategies.update({name: [(owner, assembled[t]) for owner, t in blocks_of(name, functions)]
                               for name, _ in expand.rows(STRATEGIES)})
            empty = [n for n, blocks in strategies.items() if not blocks]
            if empty:
                raise AssertionError(f"no asm block: {', '.join(empty)}")
        return strategies

    yield "the embedded text is what is compiled", text_is_what_is_compiled
    yield "each strategy has the parts that it calls", lambda: stands_alone(
        shutil.which("cc") or "gcc", functions)
    for compiler, there in compilers():
        if not there:
            yield f"{compiler}", lambda c=compiler: absent(c)
            continue
        yield f"{compiler} expands to the same text", lambda c=compiler: same_expansion(c, folder)
        for flags in [[level, arch] for level in LEVELS for arch in ARCHES]:
            yield f"{compiler} {' '.join(flags)}", lambda c=compiler, f=flags: check_object(
                compile_unit(c, f, folder), expected())
        yield f"{compiler} -O2 -flto", lambda c=compiler: check_object(
            compile_unit(c, lto_flags(c, folder), folder, "unit.so", False), expected())


def absent(compiler):
    raise Skip(f"no {compiler}")


def report(number, name, test):
    try:
        test()
        print(f"ok {number} - {name}")
    except Skip as why:
        print(f"ok {number} - {name} # SKIP {why}")
    except AssertionError as why:
        print("\n".join("# " + line for line in str(why).splitlines()[:80]))
        print(f"not ok {number} - {name}")
        return 1
    finally:
        sys.stdout.flush()
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        tests = list(make_tests(folder))
        print(f"1..{len(tests)}")
        failed = sum(report(i + 1, name, test) for i, (name, test) in enumerate(tests))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
