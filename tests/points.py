"""TAP of a list of test functions: a point is named by its function; AssertionError fails it, Skip skips it."""
import sys
import traceback


class Skip(Exception):
    """The reason why a test is skipped."""


def equal(have, want):
    if have != want:
        raise AssertionError(f"want {want!r}\nhave {have!r}")


def holds(text, words):
    if words not in text:
        raise AssertionError(f"{words!r} is not in:\n{text}")


def report(number, test):
    name = test.__name__
    try:
        test()
        print(f"ok {number} - {name}", flush=True)
        return True
    except Skip as why:
        print(f"ok {number} - {name} # SKIP {why}", flush=True)
        return True
    except Exception:  # whatever it is, the point has failed
        print("\n".join("# " + line for line in traceback.format_exc().splitlines()))
        print(f"not ok {number} - {name}", flush=True)
        return False


def run(tests):
    print(f"1..{len(tests)}")
    results = [report(i + 1, test) for i, test in enumerate(tests)]
    return 0 if all(results) else 1


def main(module):
    """Runs every function of a module whose name begins with test_, in its order."""
    sys.exit(run([f for name, f in vars(module).items() if name.startswith("test_") and callable(f)]))
