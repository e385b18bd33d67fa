#!/usr/bin/env python3
"""Expands strategies for the build: one C unit that compiles them, and their text for the header.

expand.py CC SOURCE_DIR OUT_CODE OUT_TEXT DEPFILE

A strategies/<name>.h that includes a template is run through the preprocessor, adjacent string literals are
joined and split again at line ends, and the leading comment is put back; any other file is taken as it is.
The result is what is compiled into the tuner and what the generated header embeds, the same for every compiler.
"""
import os
import re
import subprocess
import sys

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d\w*|\s+|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/&|]=|.')


def rows(source_dir):
    """(name, parts) of every row of strategies.def that has a text."""
    text = open(os.path.join(source_dir, "strategies.def"), encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for row in re.findall(r"UCOPY_STRATEGY\((.*?)\)\n", text + "\n", flags=re.S):
        fields = [f.strip() for f in re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", row)]
        if "UCOPY_LIBC" not in fields[5]:
            yield fields[0], fields[8].strip('"').split()


def leading_comment(path, text):
    match = re.match(r"/\*.*?\*/\n", text, flags=re.S)
    if not match:
        sys.exit(f"{path}: the file must begin with a comment that says how it moves the bytes")
    return match.group(0)


def preprocess(cc, path):
    # -undef keeps the compiler's own macros (linux, unix) out of the text.
    command = cc + ["-E", "-P", "-undef", "-x", "c", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr}")
    return run.stdout


def tokens(text):
    return [t for t in TOKEN.findall(text) if not t.isspace()]


def join_strings(toks):
    out = []
    for t in toks:
        if t[0] == '"' and out and out[-1][0] == '"':
            out[-1] = out[-1][:-1] + t[1:]
        else:
            out.append(t)
    return out


def asm_lines(literal, indent):
    parts = re.split(r"(?<=\\n)(?!\\t)|(?<=\\n\\t)", literal[1:-1])
    return ("\n" + indent).join('"%s"' % p for p in parts if p)


def spaced(toks):
    """Tokens as C text, spaced as the templates' few statements need it."""
    text = " ".join(toks)
    text = re.sub(r" ([,;)\]])", r"\1", text)
    text = re.sub(r"([(\[]) ", r"\1", text)
    text = re.sub(r"([\w\"]) \(", r"\1(", text)
    text = re.sub(r"\* (?=[A-Za-z_]\w*( =|[,();]))", "*", text)
    text = re.sub(r"(\w) \[(?=\d)", r"\1[", text)
    text = re.sub(r"\) (?=~? ?\(ucopy_size\)|scratch\b)", ")", text)
    text = re.sub(r"~ \(", "~(", text)
    return re.sub(r"\*\) (\w)", r"*)\1", text)


def layout(toks):
    """A function of declarations, one asm block and a return: a line each."""
    lines, current, depth = [], [], 0
    i = 0
    while i < len(toks):
        t = toks[i]
        if t == "__asm__":
            end = asm_end(toks, i)
            lines.append("    " * depth + asm_block(toks[i:end]))
            i = end
            continue
        if t == "{":
            lines += [spaced(current), "{"]
            current, depth = [], 1
        elif t == "}":
            lines.append("}")
            depth = 0
        else:
            current.append(t)
            if t == ";":
                lines.append("    " * depth + spaced(current))
                current = []
        i += 1
    return "\n".join(lines) + "\n"


def asm_end(toks, i):
    parens = 0
    while True:
        parens += (toks[i] == "(") - (toks[i] == ")")
        i += 1
        if toks[i] == ";" and not parens:
            return i + 1


def asm_block(toks):
    indent = " " * 21
    head = "__asm__ volatile("
    body = toks[3:-2]
    text = asm_lines(body[0], indent)
    sections, current, depth = [], [], 0
    for t in body[1:]:
        depth += (t in "([") - (t in ")]")
        if t == ":" and not depth:
            sections.append(current)
            current = []
        else:
            current.append(t)
    sections.append(current)
    for section in sections[1:]:
        text += "\n" + indent + (": " + spaced(section)).rstrip()
    return head + text + ");"


def text_of(cc, source_dir, name):
    """The file as it is, or, where it includes a template, expanded."""
    path = os.path.join(source_dir, name + ".h")
    text = open(path, encoding="utf-8").read()
    if not re.search(r"^#include", text, flags=re.M):
        return text
    return leading_comment(path, text) + layout(join_strings(tokens(preprocess(cc, path))))


def c_string(text):
    lines = text.splitlines(keepends=True)
    return "\n".join('    "%s"' % l.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for l in lines)


def main():
    *cc, source_dir, out_code, out_text, depfile = sys.argv[1:]
    strategies = list(rows(source_dir))
    parts = []
    for _, needed in strategies:
        parts += [p for p in needed if p not in parts]
    parts = ["prelude", "detect", "pick"] + parts
    texts = {n: text_of(cc, source_dir, n) for n in parts + [n for n, _ in strategies]}
    with open(out_code, "w", encoding="utf-8") as f:
        f.write("/* Generated by expand.py: every part and strategy, expanded. */\n")
        for name, text in texts.items():
            f.write(text + "\n")
    with open(out_text, "w", encoding="utf-8") as f:
        f.write("/* Generated by expand.py: the same texts, for the header. */\n")
        for name, text in texts.items():
            kind = "part" if name in parts else "text"
            f.write(f"static const char {kind}_{name}[] =\n{c_string(text)};\n")
        f.write("#define UCOPY_PARTS(X) " + " ".join(f"X({p})" for p in parts) + "\n")

    with open(depfile, "w", encoding="utf-8") as f:
        headers = sorted(h for h in os.listdir(source_dir) if h.endswith(".h"))
        f.write(f"{out_code} {out_text}: " + " ".join(os.path.join(source_dir, h) for h in headers) + "\n")


if __name__ == "__main__":
    main()
