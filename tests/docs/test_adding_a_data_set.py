"""CONTRIBUTING says how to add a data set: here it is done to the letter, in a copy."""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USED = """
import json, subprocess, sys
from pathlib import Path
from tpr_rnn import Reader, UserError, load_corpus, train
from tpr_rnn.training.final_test import score_test

data, out = Path(sys.argv[1]), Path(sys.argv[2])
short = {"epochs": "2", "ramp_epochs": "1", "decay_epochs": "1", "attempts": "1"}
record = train("all", data=data, out=out / "all", preset="single", settings=short)
tested = score_test(out / "all", "a test")
answers = Reader.load(out / "all").answer(["Ann bought bread."], "Who bought the bread?")
asked = {}
for name in ("swapped-buyers", "swapped-names"):
    command = ["evaluate", str(out / "all"), "--probe", name, "--split", "test", "--json"]
    told = subprocess.run([sys.executable, "-m", "tpr_rnn", *command], capture_output=True)
    asked[name] = [told.returncode, told.stdout.decode(), told.stderr.decode()]
corpus = load_corpus(data, "shopping", ["valid"])
problems = []
for line in (
    "{}",
    '{"story": "Ann bought tea.", "question": "Who?", "answer": "Ann"}',
    '{"story": [1], "question": "Who?", "answer": "Ann"}',
    '{"story": ["Ann bought tea."], "question": ["Who?"], "answer": "Ann"}',
    "no JSON",
):
    (data / "shopping.valid.jsonl").write_text(line)
    try:
        load_corpus(data, "shopping")
    except UserError as error:
        problems.append(str(error))
print(json.dumps({
    "valid": list(record.valid.per_task),
    "test": list(tested.test.per_task),
    "swapped": list(tested.probes["swapped-buyers"].per_part),
    "asked": asked,
    "answers": len(answers),
    "read": Reader.load(out / "all").max_sentences,
    "caps": [corpus.max_sentences(None), corpus.max_sentences(7)],
    "problems": problems,
}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A copy of the package with the data set of CONTRIBUTING in it."""
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "src", source, dirs_exist_ok=True)
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Adding a data set")[1]
    (data_set, *_) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (line,) = re.findall("The line `(.*)` in `registry.py`", text)
    folder = source / "tpr_rnn" / "data"
    (folder / "errands.py").write_text(data_set)
    registry = (folder / "registry.py").read_text()
    imported = "from tpr_rnn.data.errands import ERRANDS\n"
    above = "from tpr_rnn.data.own import"
    registry = registry.replace(above, imported + above).replace(
        "    OWN,", f"    {line}\n    OWN,"
    )
    (folder / "registry.py").write_text(registry)
    return source


@pytest.fixture
def data(tmp_path) -> Path:
    """Shopping with all files, lending without a file for validation."""
    stories = [
        {"story": [f"{a} bought {x}.", f"{b} bought {y}."], "question": q, "answer": who}
        for a, b, x, y in product(("Ann", "Bob"), ("Ann", "Bob"), ("bread", "milk"), ("tea", "jam"))
        for q, who in ((f"Who bought the {x}?", a), (f"Who bought the {y}?", b))
    ]
    lines = [json.dumps(story) + "\n" for story in stories]
    parts = {"train": lines[:20], "valid": lines[20:26], "test": lines[26:]}
    for task in ("shopping", "lending"):
        for split, part in parts.items():
            if (task, split) != ("lending", "valid"):
                (tmp_path / f"{task}.{split}.jsonl").write_text("".join(part))
    return tmp_path


def test_a_data_set_is_a_file_and_a_line_in_the_registry(package, data, tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", USED, str(data), str(tmp_path / "runs")],
        env=os.environ | {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["valid"] == found["test"] == ["shopping", "lending"]
    assert found["swapped"] == ["shopping"]
    status, told, _ = found["asked"]["swapped-buyers"]
    assert (status, list(json.loads(told)["probes"])) == (0, ["swapped-buyers"])
    status, _, problem = found["asked"]["swapped-names"]
    assert status == 2
    assert "no probe swapped-names of such stories (" in problem
    assert "only swapped-buyers, wide" in problem
    assert found["answers"] == 5
    assert found["read"] == 40
    assert found["caps"] == [{"shopping": 20}, {"shopping": 7}]
    assert len(found["problems"]) == 5
    for problem in found["problems"]:
        assert "shopping.valid.jsonl:1: expected an object with story, question" in problem
