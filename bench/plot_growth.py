#!/usr/bin/env python3
"""Draws docs/growth.svg: what a link crossing costs, by endpoints and by bytes.

    fanout bench growth --runs 3 --format json >growth.json
    bench/plot_growth.py growth.json docs/growth.svg        needs matplotlib
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# The same input gives the same bytes.
matplotlib.rcParams["svg.hashsalt"] = "fanout"


def panel(axes, rows, bench, label):
    points = [(row["what"], 1 / row["of_heap"]) for row in rows if row["bench"] == bench]
    axes.plot(*zip(*points), marker="o", color="#1f5fa8")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1.1 * max(cost for _, cost in points))
    axes.set_xlabel(label)
    axes.grid(True, alpha=0.3)


def main(source, target):
    with open(source, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=False)
    panel(left, rows, "uniform", "endpoints, uniform random traffic")
    panel(right, rows, "nvls", "bytes of an NVLS all-reduce, 8 GPUs")
    left.set_ylabel("cost of a crossing,\nin holds of a binary heap")
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:3])
