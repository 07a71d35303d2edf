"""Several processes train one model: as one does, whatever happens to them."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from experiments.tiny import write_data
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.errors import UserError
from tpr_rnn.models import TPRRNNConfig
from tpr_rnn.team import Team
from tpr_rnn.training.presets import preset
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.run import help_to_train
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory
from tpr_rnn.training.trainer import Trainer
from training.test_random_names import DATA, VOCABULARY, WORDS

EPOCHS = 40
"""A third of a second on free cores; with more, rounding grows."""
DEADLINE = 240
"""Seconds: torch is imported by every process, and the machine may be busy."""


class Alone(Team):
    """A process of a team that hears nothing of the others; what it would say is noted."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size, self.said = rank, size, []

    def add_up(self, *tensors: torch.Tensor) -> None:
        self.said += [tensor.clone() for tensor in tensors]


def make_trainer(**settings) -> Trainer:
    config = TPRRNNConfig(
        vocabulary_size=len(VOCABULARY),
        max_words=WORDS,
        bounded_keys=True,
        embedding_scale=0.1,
        sentence_dropout=0.3,
        hidden_dropout=0.3,
    )
    recipe = Recipe(batch_size=10, epochs=4, warmup_steps=0, clip_norm=None, **settings)
    return Trainer(config, recipe, train=DATA, valid=DATA, seed=3)


@pytest.fixture
def exact():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("sum_loss", [False, True])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_the_parts_of_a_batch_have_its_gradient(exact, size, sum_loss) -> None:
    """With dropout, with names drawn anew, and where a part has no story at all."""
    settings = {"random_name_share": 1.0, "sum_loss": sum_loss}
    for step in range(3):
        alone = make_trainer(**settings)
        parts = [make_trainer(**settings) for _ in range(size)]
        for rank, trainer in enumerate(parts):
            trainer.team = Alone(rank, size)
        for trainer in (alone, *parts):
            trainer.progress.step = step
            trainer.optimizer.step = lambda rate: None  # the gradient stays to be seen
        questions = len(alone._batch().answer)
        for trainer in (alone, *parts):
            trainer._step()
        gradients, sums = (sum(trainer.team.said[place] for trainer in parts) for place in range(2))
        loss, counted, asked = sums.tolist()
        assert 0 < counted <= asked == questions
        whole = gradients * (asked if sum_loss else 1) / counted
        kept = alone.optimizer.gradient != 0  # the vectors of names stay as they are
        torch.testing.assert_close(whole[kept], alone.optimizer.gradient[kept])
        assert loss / counted == pytest.approx(alone.progress.loss_sum, rel=1e-9)


class Told(Alone):
    """A process that is not the first: it is told what to train."""

    def tell(self, message=None):
        return self.message

    def copy(self, tensors):
        """It begins with weights of its own: what they are does not matter here."""


def test_who_has_other_stories_than_the_first_takes_no_share() -> None:
    team = Told(1, 2)
    config = RunConfig(task="1", seed=0, preset="single", settings=preset("single"))
    team.message = config, "of other stories", Progress()
    with pytest.raises(UserError, match="the generated stories: not the same stories for all"):
        help_to_train(team)
    team.message = None
    assert help_to_train(team), "nothing to train is an end"


def test_who_helps_has_no_clock_of_its_own(data) -> None:
    settings = preset("single").with_settings({"minutes": "9", "batch_size": "8"})
    config = RunConfig(task="1", seed=0, preset="single", settings=settings, data=str(data))
    sha256 = load_corpus(data, "1").sha256
    team = Told(1, 2)
    team.message = config, sha256, Progress()
    stops = iter([False, True])  # two steps: there is no evaluation yet
    assert not help_to_train(team, lambda: next(stops)), "it was told to stop before the end"
    assert next(stops, None) is None


def train_command(data, out, *more: str) -> list[str]:
    once = ["attempts=1", "decay_epochs=0", "start_decay_below=none", f"epochs={EPOCHS}"]
    settings = [f"--set={setting}" for setting in (*once, "stop_after_zero_error=none", *more)]
    return ["train", "--task", "1", "--data", str(data), "--out", str(out), "--resume", *settings]


def start(arguments, *torchrun: str, **options) -> subprocess.Popen[str]:
    launch = ["-m", "torch.distributed.run", *torchrun] if torchrun else []
    return subprocess.Popen(
        [sys.executable, "-u", *launch, "-m", "tpr_rnn", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **options,
    )


def end(process: subprocess.Popen[str], status: int = 0) -> str:
    told, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == status, told
    return told


def together(number: int) -> tuple[str, ...]:
    return ("--nproc-per-node", str(number), "--master-port", str(free_port()))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(true) -> None:
    deadline = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ranks_of(agent: subprocess.Popen[str]) -> list[int]:
    """The processes that a torchrun has started."""
    text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(agent.pid)], capture_output=True)
    return sorted(map(int, text.stdout.split()))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("stories"), 1)


@pytest.fixture(scope="module")
def by_one(data, tmp_path_factory):
    """What one process comes to."""
    out = tmp_path_factory.mktemp("by-one") / "run"
    end(start(train_command(data, out)))
    return out


def assert_same(run, other) -> None:
    """The same weights but for rounding, and the same steps."""
    one, two = (load_file(RunDirectory(each).model) for each in (run, other))
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, two[name], rtol=1e-3, atol=1e-4)
    mine, others = (RunDirectory(each).record() for each in (run, other))
    assert (mine.steps, mine.best_step) == (others.steps, others.best_step)
    assert mine.valid.loss == pytest.approx(others.valid.loss, abs=1e-4)


@pytest.mark.slow
def test_several_processes_come_to_the_same_as_one(data, by_one, tmp_path) -> None:
    for number in (2, 3):
        out = tmp_path / str(number)
        told = end(start(train_command(data, out), *together(number)))
        assert told.count("run        ") == 1, told  # only the first has a word
        assert f"cpu, 1 thread(s), {number} processes" in told
        assert RunDirectory(out).record().processes == number
        assert_same(out, by_one)
    told = end(start(train_command(data, out), *together(2)))
    assert told.count("finished already, nothing to resume") == 1
    told = end(start(train_command(data, out, "epochs=3"), *together(2)), status=1)
    assert told.count("tpr-rnn: ") == 1
    assert "is set twice" in told


@pytest.mark.slow
def test_a_team_is_killed_and_others_go_on(data, by_one, tmp_path) -> None:
    """A rank of two is killed, and torchrun starts both again; then three, then one go on."""
    out, curve = tmp_path / "run", tmp_path / "run" / "metrics.jsonl"
    first = start(train_command(data, out), "--max-restarts", "1", *together(2))
    wait_until(lambda: lines(curve) > 5)
    killed = ranks_of(first)
    os.kill(killed[-1], signal.SIGKILL)
    wait_until(lambda: len(ranks_of(first)) == 2 and not {*killed} & {*ranks_of(first)})
    before = curve.read_bytes()
    wait_until(lambda: lines(curve) > 8 and curve.read_bytes() != before)
    first.send_signal(signal.SIGTERM)  # as a scheduler does it
    told, _ = first.communicate(timeout=DEADLINE)
    assert "everything is saved. To resume:" in told
    assert RunDirectory(out).checkpoint.exists()
    second = start(train_command(data, out), *together(3))
    wait_until(lambda: lines(curve) > 15)
    second.send_signal(signal.SIGTERM)
    second.communicate(timeout=DEADLINE)
    before = lines(curve)
    assert before < EPOCHS
    told = end(start(train_command(data, out)))
    assert "resuming   from step" in told
    assert_same(out, by_one)
    assert lines(curve) == EPOCHS


def lines(path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0


@pytest.mark.slow
def test_two_nodes_train_together_and_the_first_writes(data, by_one, tmp_path) -> None:
    port = free_port()
    nodes = []
    for node in (0, 1):
        place = tmp_path / str(node)
        place.mkdir()
        where = ("--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(node))
        where += ("--master-addr", "127.0.0.1", "--master-port", str(port))
        nodes.append(start(train_command(data, "run"), *where, cwd=place))
    for node in nodes:
        end(node)
    assert_same(tmp_path / "0" / "run", by_one)
    assert not list((tmp_path / "1").iterdir())
