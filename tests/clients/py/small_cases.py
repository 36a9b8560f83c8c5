"""Other people's test suites at sizes that a simulator ends in minutes: a plugin of pytest, `-p small_cases`.

Of each test function the CASES cases with the smallest numbers stay (2 unless the environment says otherwise), one of
each data type while they last. Their numbers are made smaller, and Triton's autotuner, which tries each of some ten
configurations for 125 ms, takes the first."""

import os

from triton.runtime.autotuner import Autotuner

LARGE = 256


def smaller(x):
    """Multiples of 32 stay such, odd numbers odd, and what is small already stays as it is."""
    if type(x) in (tuple, list):
        return type(x)(smaller(v) for v in x)
    if type(x) is not int or x <= 32:
        return x
    if x % 32 == 0:
        return min(x, LARGE)
    root = 16 + int(x**0.6)
    return min(x, root + (root + x) % 2)


def weight(x):
    if type(x) is int:
        return max(1, abs(x))
    return weight_of(x) if type(x) in (tuple, list) else 1


def weight_of(values):
    product = 1
    for value in values:
        product *= weight(value)
    return product


def parameters(item):
    return item.callspec.params if hasattr(item, "callspec") else {}


def chosen(cases):
    """The lightest, those of a data type that the ones before do not have first."""
    new, known, types = [], [], set()
    for item in sorted(cases, key=lambda item: weight_of(parameters(item).values())):
        kinds = tuple(str(v) for v in parameters(item).values() if "torch." in str(v))
        (known if kinds in types else new).append(item)
        types.add(kinds)
    return (new + known)[: int(os.environ.get("CASES", "2"))]


def pytest_collection_modifyitems(config, items):
    functions = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for cases in functions.values() for item in chosen(cases)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]
    for item in items:
        values = parameters(item)
        for name in values:
            if "index" not in name:
                values[name] = smaller(values[name])


make = Autotuner.__init__


def make_with_first(self, fn, arg_names, configs, *words, **more):
    make(self, fn, arg_names, configs[:1], *words, **more)


Autotuner.__init__ = make_with_first
