#!/usr/bin/env python3
"""What the shells offer is what the program takes: its commands, every option of each, the words of each option and
the strategies. Shells that are absent are skipped by name. Prints TAP.
"""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import points  # noqa: E402
from points import equal  # noqa: E402

TUNE = os.environ.get("UCOPY_TUNE", "ucopy-tune")
SCRIPTS = os.path.join(ROOT, "src", "completion")
FOLDER = tempfile.TemporaryDirectory()
os.symlink(TUNE, os.path.join(FOLDER.name, "ucopy-tune"))
ENV = dict(os.environ, PATH=FOLDER.name + os.pathsep + os.environ["PATH"], HOME=FOLDER.name)

BASH = """
. "$1/ucopy-tune.bash"; shift
COMP_WORDS=(ucopy-tune "$@") COMP_CWORD=$#
_ucopy_tune
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = """
source $argv[1]/ucopy-tune.fish
complete -C "ucopy-tune $argv[2..]"
"""
# The completion system is its own: these stand for the three of its functions that are called.
ZSH = """
script=$1/_ucopy-tune; shift
words=(ucopy-tune "$@") CURRENT=$(( $# + 1 )) PREFIX=$words[-1] IPREFIX=
compset() {
    [[ $PREFIX == ${~2}* ]] || return 1
    IPREFIX+=${(M)PREFIX##$~2} PREFIX=${PREFIX##$~2}
}
compadd() {
    if [[ $1 == -a ]]; then set -- $candidates; elif [[ $1 == -- ]]; then shift; fi
    for word; do [[ $word == $PREFIX* ]] && print -r -- $IPREFIX$word; done
}
_files() { : }
complete_it() { source $script }
complete_it
"""


def said(*words):
    return subprocess.run([TUNE, *words], capture_output=True, text=True, check=False)


def known(*words):
    """The words that the program lists where it is given one that it does not know."""
    return set(re.search(r"\(known: (.*)\)$", said(*words).stderr.strip()).group(1).split(", "))


def commands():
    return known("no_such_command")


def options(command):
    return set(re.search(r"\(known:(.*)\)$", said(command, "--no-such-option").stderr.strip()).group(1).split())


def strategies():
    return {s["name"] for s in json.loads(said("list", "--format", "json").stdout)["strategies"]}


@functools.lru_cache(maxsize=None)
def script(shell):
    if not shutil.which(shell):
        raise points.Skip(f"no {shell}")
    path = os.path.join(FOLDER.name, "script." + shell)
    with open(path, "w", encoding="utf-8") as f:
        f.write({"bash": BASH, "fish": FISH, "zsh": ZSH}[shell])
    flags = {"bash": ["--norc"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
    return [shell, *flags, path, SCRIPTS]


def offers(shell, *words):
    """What is offered for the last word."""
    done = subprocess.run([*script(shell), *words], capture_output=True, text=True, env=ENV, cwd=FOLDER.name, check=False)
    equal(done.stderr, "")
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line}


def check_commands(shell):
    equal(offers(shell, ""), commands())
    equal(offers(shell, "l"), {"list"})


def check_options(shell):
    for command in commands():
        equal((command, offers(shell, command, "--")), (command, options(command)))
    equal(offers(shell, "--"), options("tune"))


def check_words(shell):
    formats = {"list": [], "info": [], "bench": [], "stats": ["x"], "fit": ["x"], "verify": ["x"], "compare": ["x"],
               "emit": ["x"]}
    for command, file in formats.items():
        want = known(command, "--format", "?", *file)
        equal((command, offers(shell, command, "--format", "")), (command, want))
    equal(offers(shell, "bench", "--state", "l"), {"l1", "l2", "l3"})
    equal(offers(shell, "tune", "--environment", ""), {"user", "kernel"})
    equal(offers(shell, "fit", "--entry", ""), {"copy", "nocache"})
    equal(offers(shell, "list", "--disable-isa", ""), known("list", "--disable-isa", "?"))
    equal(offers(shell, "list", "--disable-isa", "avx2,er"), {"avx2,erms"})
    behind = offers(shell, *(["fit", "--entry", "=", "n"] if shell == "bash" else ["fit", "--entry=n"]))
    equal({word.split("=")[-1] for word in behind}, {"nocache"})


def check_strategies(shell):
    equal(offers(shell, "bench", ""), strategies())
    equal(offers(shell, "bench", "--inline", "rep_movsb_"), {"rep_movsb_aligned"})


def add_tests():
    for shell in ["bash", "zsh", "fish"]:
        for check in [check_commands, check_options, check_words, check_strategies]:
            test = functools.partial(check, shell)
            test.__name__ = f"test_{shell}_{check.__name__}"
            globals()[test.__name__] = test


add_tests()

if __name__ == "__main__":
    points.main(sys.modules["__main__"])
