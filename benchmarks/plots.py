"""Draw the results of the benchmarks: cost against rows and share of changes, and many loads of one dimension."""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
# Text stays text, and a drawing of the same figures is the same file.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "delta_scd2", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", type=Path, help="where the JSON files are, and the drawings go")
    directory = arguments.parse_args().directory
    for source, draw in {"contenders.json": draw_contenders, "many_loads.json": draw_many_loads}.items():
        if (directory / source).exists():
            drawing = (directory / source).with_suffix(".svg")
            draw(json.loads((directory / source).read_text()), drawing)
            print(f"drawn: {drawing}")


def draw_contenders(results: list[dict[str, Any]], drawing: Path) -> None:
    """Ratios to the floor: by size at the first share of changes, and by share on the largest dimension."""
    # Of the first size, which warms up Java, the last measurement counts.
    latest = {(result["keys"], result["changed_percent"]): result for result in results}
    results = [result for (_, share), result in latest.items() if share is not None]
    share = results[0]["changed_percent"]
    largest = max(result["keys"] for result in results)
    figure, (by_rows, by_share) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    draw_ratios(by_rows, [result for result in results if result["changed_percent"] == share], "keys")
    draw_ratios(by_share, [result for result in results if result["keys"] == largest], "changed_percent")
    by_rows.set(title=f"{share:g} % of the keys changed", xlabel="current keys", ylabel="times the floor")
    by_share.set(title=f"{largest:,} current keys", xlabel="percent of the keys changed")
    # Only now, as it would keep the top where the first of the two has it.
    by_rows.set_ylim(bottom=0)
    by_share.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, drawing)


def draw_ratios(axes: Axes, results: list[dict[str, Any]], along: str) -> None:
    results = sorted(results, key=lambda result: float(result[along]))
    medians = [{name: statistics.median(taken) for name, taken in result["seconds"].items()} for result in results]
    for name in [name for name in medians[0] if name != "floor"]:
        ours = name.startswith("ours")
        axes.plot(
            [result[along] for result in results],
            [median[name] / median["floor"] for median in medians],
            marker="o",
            linewidth=2.5 if ours else 1.2,
            linestyle="-" if ours else "--",
            label=name,
        )
    axes.set_xscale("log")
    axes.spines[["top", "right"]].set_visible(False)


def draw_many_loads(result: dict[str, dict[str, list[float]]], drawing: Path) -> None:
    figure, (seconds, files) = plt.subplots(1, 2, figsize=(10, 3.5))
    for name, measured in result.items():
        loads = range(1, len(measured["seconds"]) + 1)
        seconds.plot(loads, measured["seconds"], linewidth=1, label=name)
        files.plot(loads, measured["files"], linewidth=1, label=name)
    for axes, what in ((seconds, "seconds of a load"), (files, "files of the table")):
        axes.set(xlabel="load", ylabel=what, ylim=(0, None))
        axes.spines[["top", "right"]].set_visible(False)
    files.legend(frameon=False)
    save(figure, drawing)


def save(figure: Any, drawing: Path) -> None:
    figure.tight_layout()
    figure.savefig(drawing, metadata={"Date": None})


if __name__ == "__main__":
    main()
