#!/usr/bin/env python3
"""The installed files, and the committed headers used from there: by pkg-config's flags, and by a meson project that has
this one as its subproject. Prints TAP.

test_install.py BUILD_ROOT
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import points  # noqa: E402
from points import equal  # noqa: E402

HEADERS = sorted(os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "profiles", "*.h")))
FOLDER = tempfile.TemporaryDirectory()
INSTALLED = os.path.join(FOLDER.name, "installed")


def run(*command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise points.Skip(f"no {program}")


def write(name, text):
    path = os.path.join(FOLDER.name, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def program():
    """Copies by every header at once."""
    names = ["ucopy_" + header[:-2].replace("-", "_") for header in HEADERS]
    return ("".join(f"#include <{header}>\n" for header in HEADERS) + "#include <string.h>\n"
            "static char from[3000], to[3000];\nint main(void)\n{\n    volatile unsigned long n = 2999;\n"
            "    memset(from, 'x', sizeof from - 1);\n"
            + "".join(f"    memset(to, 0, sizeof to);\n    if ({name}(to, from, n) != to || strcmp(to, from)) return 1;\n"
                      for name in names) + "    return 0;\n}\n")


def found(pattern):
    paths = glob.glob(os.path.join(INSTALLED, "**", pattern), recursive=True)
    equal(len(paths), 1)
    return paths[0]


def test_all_is_installed():
    need("meson")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", INSTALLED)
    equal(run(found("bin/ucopy-tune"), "--version").split()[0], "ucopy-tune")
    for pattern in ["ucopy-tune.1", "bash-completion/completions/ucopy-tune", "site-functions/_ucopy-tune",
                    "vendor_completions.d/ucopy-tune.fish", "pkgconfig/ucopy-profiles.pc"]:
        found(pattern)
    equal(sorted(os.listdir(os.path.dirname(found("ucopy/" + HEADERS[0])))), HEADERS)


def test_pkg_config_finds_the_headers():
    need("meson", "pkg-config", "cc")
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found("ucopy-profiles.pc")), PKG_CONFIG_SYSROOT_DIR=INSTALLED)
    flags = run("pkg-config", "--cflags", "--libs", "ucopy-profiles", env=env).split()
    output = os.path.join(FOLDER.name, "program")
    run("cc", "-Wall", "-Wextra", "-Werror", write("program.c", program()), *flags, "-o", output)
    run(output)
    equal(run("pkg-config", "--modversion", "ucopy-profiles", env=env).strip(),
          run(found("bin/ucopy-tune"), "--version").split()[1])


def test_a_project_has_it_as_its_subproject():
    need("meson", "ninja", "cc")
    write("user/user.c", program())
    write("user/meson.build", "project('user', 'c', default_options: ['warning_level=2', 'werror=true'])\n"
          "profiles = dependency('ucopy-profiles', fallback: 'ucopy-tune')\n"
          "executable('user', 'user.c', dependencies: profiles)\n")
    subproject = os.path.join(FOLDER.name, "user", "subprojects", "ucopy-tune")
    os.mkdir(os.path.dirname(subproject))
    os.symlink(ROOT, subproject)
    build = os.path.join(FOLDER.name, "user", "build")
    run("meson", "setup", "--wrap-mode=forcefallback", build, os.path.join(FOLDER.name, "user"))
    run("ninja", "-C", build)
    run(os.path.join(build, "user"))


if __name__ == "__main__":
    points.main(sys.modules["__main__"])
