# Prints where axe.min.js is: what $FANOUT_AXE names, or that of a Python package which carries it
# (axe-playwright-python, axe-core-python); nothing where there is none.
if [ -n "${FANOUT_AXE:-}" ]; then
    echo "$FANOUT_AXE"
    exit 0
fi
python3 -c 'import importlib.util as u, os
for name in ("axe_playwright_python", "axe_core_python"):
    spec = u.find_spec(name)
    path = os.path.join(os.path.dirname(spec.origin), "axe.min.js") if spec and spec.origin else ""
    if os.path.exists(path):
        print(path)
        break'
