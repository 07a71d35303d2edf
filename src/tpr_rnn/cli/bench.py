"""`tpr-rnn bench`: the step-by-step algorithm and ours, side by side in one run."""

import json as json_format
import os
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, print_json
from tpr_rnn.errors import UserError
from tpr_rnn.files import make_directory


def bench(
    *,
    quick: Annotated[
        bool,
        Parameter(negative="", help="Fewer rounds and only the main parts; takes under a minute."),
    ] = False,
    layer: Annotated[
        bool,
        Parameter(negative="", help="Measure the layer, TPRMemory, instead; see docs/layer.md."),
    ] = False,
    systems: Annotated[
        bool,
        Parameter(negative="", help="Measure every system instead, by its presets."),
    ] = False,
    out: Annotated[
        Path | None,
        Parameter(help="Directory for bench.json (or layer.json, systems.json) and pictures."),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Measure full training steps, memory and growth, as ratios against the step-by-step form."""
    # The profiler, which measures memory, would log a lot.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    from tpr_rnn.bench.run import measure_all, measure_layer_alone, measure_systems_alone
    from tpr_rnn.cli.console import Console

    console = Console(to_stderr=json)
    if out is not None:
        make_directory(out)
    if layer and systems:
        raise UserError("--layer and --systems are two measurements; choose one")
    measure, show, name = measure_all, _show, "bench.json"
    if layer:
        measure, show, name = measure_layer_alone, _show_layer, "layer.json"
    if systems:
        measure, show, name = measure_systems_alone, _show_systems, "systems.json"
    record = measure(quick, say=lambda text: console.print(f"measuring: {text}", style="dim"))
    show(record, console)
    if out is not None:
        (out / name).write_text(json_format.dumps(record, indent=2) + "\n", "utf-8")
        picture = _draw(record, out, layer=layer)
        console.print(f"Saved in {out}: {name}{f', {picture}' if picture else ''}")
    if json:
        print_json(record)
    return 0


def _draw(record: dict[str, Any], out: Path, *, layer: bool) -> str | None:
    """Draw how the time grows with the length, if that was measured; returns the file's name."""
    if "growth" not in record:
        return None
    from tpr_rnn.bench.picture import draw_growth

    growth = record["growth"]
    if layer:
        name, microseconds = "layer-growth.png", growth["microseconds"]
    else:
        name, microseconds = "growth.png", [1000 * ms for ms in growth["ms_per_sentence"]]
    draw_growth(out / name, growth["lengths"], microseconds, of="step" if layer else "sentence")
    return name


def _show_systems(record: dict[str, Any], console: Any) -> None:
    from rich.table import Table

    table = Table("system", "preset", "work", title="full training steps on one thread")
    for heading in ("parameters", "questions a second"):
        table.add_column(heading, justify="right")
    for each in record["systems"]:
        numbers = f"{each['parameters']:,}", f"{each['questions_per_second']:,.0f}"
        table.add_row(each["system"], each["preset"], each["work"], *numbers)
    console.print(table)


def _show(record: dict[str, Any], console: Any) -> None:
    from rich.table import Table

    table = Table("work", "threads", title="full training steps: questions a second, peak memory")
    headings = ("step by step", "ours", "faster", "one story a question", "MB", "ours", "less")
    for heading in headings:
        table.add_column(heading, justify="right")
    for case in record["cases"]:
        table.add_row(
            case["name"],
            str(case["threads"]),
            f"{case['baseline_questions_per_second']:,.0f}",
            f"{case['questions_per_second']:,.0f}",
            f"{case['speedup']:.1f}x",
            f"{case['by_question']['speedup']:.1f}x",
            f"{case['baseline_peak_mb']:.0f}",
            f"{case['ours_peak_mb']:.1f}",
            f"{case['memory_ratio']:.0f}x",
        )
    console.print(table)
    table = Table(
        "work", "threads", title="operations that the algorithm needs, and the peak of the machine"
    )
    for heading in ("MFLOP a step", "GFLOP/s", "peak", "share"):
        table.add_column(heading, justify="right")
    for case in record["cases"]:
        table.add_row(
            case["name"],
            str(case["threads"]),
            f"{1000 * case['gflop']:.1f}",
            f"{case['gflops']:.1f}",
            f"{case['machine_gflops']:.0f}",
            f"{case['share_of_peak']:.0%}",
        )
    console.print(table)
    growth = record["growth"]
    table = Table("sentences", title="forward and backward through one story")
    table.add_column("microseconds a sentence", justify="right")
    for length, ms in zip(growth["lengths"], growth["ms_per_sentence"], strict=True):
        table.add_row(f"{length:,}", f"{1000 * ms:.1f}")
    console.print(table)
    console.print(f"10,000 sentences against 100: {growth['ratio']:.2f}x the time a sentence")
    scoring = record["scoring"]
    console.print(
        f"scoring {scoring['questions']:,} questions: {scoring['seconds']:.2f} s, "
        f"{scoring['ratio']:.2f} of the time with a story for each question"
    )
    console.print(f"one question about a story of 20 sentences: {record['answer_ms']:.2f} ms")
    if "side_by_side" in record:
        ratio = record["side_by_side"]["ratio"]
        console.print(f"two runs side by side: {ratio:.2f}x the throughput of one")
        loading = record["loading"]
        console.print(
            f"reading and encoding {loading['questions']:,} questions: {loading['seconds']:.1f} s"
        )
    console.print(f"{record['machine']['cpu']}, memory: parallel form, {record['memory']}")


def _show_layer(record: dict[str, Any], console: Any) -> None:
    from rich.table import Table

    sizes = record["sizes"]
    title = f"forward and backward: {sizes['steps']:,} steps, batch {sizes['batch']}, one thread"
    table = Table("layer", title=title)
    for heading in ("microseconds a step", "against TPRMemory", "parameters"):
        table.add_column(heading, justify="right")
    for name, microseconds in record["microseconds"].items():
        against = record["against"].get(name)
        parameters = record["parameters"].get(name)
        table.add_row(
            {"layer": "TPRMemory", "lstm": "nn.LSTM", "delta_rule": "delta rule"}.get(
                name, "TPRMemory, step by step"
            ),
            f"{microseconds:,.1f}",
            "" if against is None else f"{against:.1f}x",
            "" if parameters is None else f"{parameters:,}",
        )
    console.print(table)
    growth = record["growth"]
    table = Table("steps", title="forward and backward through one sequence")
    table.add_column("microseconds a step", justify="right")
    for length, microseconds in zip(growth["lengths"], growth["microseconds"], strict=True):
        table.add_row(f"{length:,}", f"{microseconds:.1f}")
    console.print(table)
    console.print(f"one streamed step: {record['stream_ms']:.3f} ms")
    console.print(f"{record['machine']['cpu']}, memory: parallel form, {record['memory']}")
