"""`tpr-rnn ask`: a question with its story, the prompt, and explanations."""

import json
import re

import pytest

from cli.command import run


def test_ask(trained, story) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question)
    assert done.returncode == 0
    assert re.search(r"kitchen +\d+\.\d\d%", done.stdout)
    done = run("ask", str(trained), *question, "--json")
    answer = json.loads(done.stdout)
    assert answer["answer"] == "kitchen"
    assert answer["answers"][0]["word"] == "kitchen"
    assert 0.5 < answer["answers"][0]["probability"] <= 1


def test_an_answer_without_a_story_is_called_a_guess(trained) -> None:
    done = run("ask", str(trained), "--question", "Where is Mary?")
    assert done.returncode == 0
    assert "There is no story (--story FILE), so this is a guess." in done.stdout


@pytest.mark.parametrize(
    ("story", "message"),
    [
        (
            "Mary went to the kitchen.\nMary went to the \x1b[31mzoo.\n",
            "sentence 2: the model has never seen the word",
        ),
        (
            "Mary went to the kitchen. Where is Mary?\n",
            "a question stands in the story, 'Where is Mary?'",
        ),
    ],
)
def test_a_story_that_can_not_be_told_is_named(trained, tmp_path, story, message) -> None:
    path = tmp_path / "story.txt"
    path.write_text(story)
    done = run("ask", str(trained), "--story", str(path), "--question", "Where is Mary?")
    assert done.returncode == 2
    assert f"{path}: {message}" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_story_in_the_place_of_a_run_is_told_from_one(tmp_path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Mary went to the kitchen.\n")
    done = run("ask", str(path), "--question", "Where is Mary?")
    assert done.returncode == 2
    assert f"{path}: not a file of a run; expected a run directory" in done.stderr


def test_a_terminal_without_the_bars_gets_an_answer_all_the_same(trained, story) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question, encoding="ascii")
    assert done.returncode == 0
    assert re.search(r"kitchen +\d+\.\d\d%", done.stdout)


def test_the_prompt(trained, story) -> None:
    lines = "Sandra went to the office\nWhere is Sandra?\nWhere is Bob?\nundo\nstory\nwords\nquit\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    assert done.returncode == 0, done.stderr
    assert re.search(r"office +\d+\.\d\d%", done.stdout)
    assert "never seen the word 'bob'" in done.stdout
    assert "hallway" in done.stdout
    done = run("ask", str(trained), input="Mary went to the office. Where is Mary?\n")
    assert re.search(r"office +\d+\.\d\d%", done.stdout)
    assert run("ask", str(trained), input="Mary went home\n").returncode == 0


def test_ask_explains(trained, story, tmp_path) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question, "--explain")
    assert done.returncode == 0, done.stderr
    assert 'Why "kitchen"?\n  Mary went to the kitchen (1): "kitchen".\n' in done.stdout
    assert "told by 1" not in done.stdout
    done = run("ask", str(trained), *question, "--explain", "full")
    assert "told by 1: Mary went to the kitchen." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    picture = tmp_path / "memory.svg"
    done = run("ask", str(trained), *question, "--explain", "--json", "--graph", str(picture))
    trace = json.loads(done.stdout)["trace"]
    assert [sentence["text"] for sentence in trace["sentences"]] == story.read_text().splitlines()
    assert trace["question"]["answers"][0]["word"] == "kitchen"
    assert 'Why "kitchen"?' in done.stderr
    assert "<svg" in picture.read_text()


def test_the_prompt_explains(trained, story) -> None:
    done = run("ask", str(trained), "--story", str(story), "--explain", input="Where is John?\n")
    assert "  John moved to the garden (2): " in done.stdout


def test_an_explanation_that_cannot_be_given_is_refused_before_the_answer(
    data, tmp_path, capsys
) -> None:
    made = ("--task", "1", "--data", str(data), "--preset", "lstm", "--set", "epochs=1")
    assert run("train", *made, "--out", str(tmp_path / "lstm")).returncode == 0
    question = ("--question", "Where is Mary?")
    for wish in (("--explain",), ("--graph", str(tmp_path / "memory.svg"))):
        done = run("ask", str(tmp_path / "lstm"), *question, *wish)
        assert done.returncode == 2
        assert "only a TPR-RNN has a memory to look into" in done.stderr
        assert done.stdout == ""


def test_why_is_about_the_story_that_was_answered(trained, story) -> None:
    lines = "Where is John?\nJohn went to the office.\nwhy\nundo\nundo\nundo\nundo\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    assert "John moved to the garden (2)" in done.stdout
    assert "John went to the office (3)" not in done.stdout
    assert "There is no sentence to remove." in done.stdout


def test_a_question_may_end_as_it_was_trained(trained, story) -> None:
    told = ("--story", str(story))
    done = run("ask", str(trained), *told, "--question", "Where is John ?.")
    assert done.returncode == 0, done.stderr
    done = run("ask", str(trained), *told, input="Where is John?.\n")
    assert re.search(r"% ", done.stdout)


def test_the_prompt_has_commands(trained, story) -> None:
    lines = "why\nhelp\nWhere is John?\nwhy\nwhy full\nundo\nnew\nwhy\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    shown = done.stdout
    assert shown.count("Nothing was asked yet.") == 2  # new forgets the question too
    assert "> Where is John?\n" in shown  # what is piped is echoed
    assert "The arrow keys bring back earlier lines." in shown
    assert shown.count("  John moved to the garden (2): ") == 2
    assert "told by 2: John moved to the garden." in shown
    assert "Removed: " in shown
    assert " 0.00%" not in shown
