import itertools

import pytest

from tpr_rnn.data.babi import substitutes
from tpr_rnn.data.babi.directory import find_files
from tpr_rnn.data.babi.format import format_story, read_stories
from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.data.dataset import SPLITS
from tpr_rnn.data.describe import describe
from tpr_rnn.data.registry import find_data_set
from tpr_rnn.data.splits import read_splits
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError


def story(number: int) -> Story:
    places = ("kitchen", "garden", "office", "hallway")
    place = places[number % 4]
    question = Question("Where is Mary?", place, 1, (0,))
    return Story((f"Mary went to the {place}.",), (question,))


def write(path, count: int, first: int = 0) -> None:
    path.write_text("".join(format_story(story(first + i)) for i in range(count)))


@pytest.fixture
def valid_layout(tmp_path):
    for task in (1, 2):
        for split, count in (("train", 9), ("valid", 3), ("test", 4)):
            write(tmp_path / f"qa{task}_{split}.txt", count)
    return tmp_path


@pytest.fixture
def plain_layout(tmp_path):
    for name in (
        "qa1_single-supporting-fact",
        "qa11_basic-coreference",
        "qa2_two-supporting-facts",
    ):
        write(tmp_path / f"{name}_train.txt", 20)
        write(tmp_path / f"{name}_test.txt", 5)
    return tmp_path


def test_both_kinds_of_file_names_are_found(valid_layout, plain_layout) -> None:
    # Both fixtures share a directory: the doubled tasks must be refused.
    with pytest.raises(UserError, match=r"qa1_\S+ and qa1_\S+ are both the test file of task 1"):
        find_files(plain_layout)


def test_the_layout_with_valid_files(valid_layout) -> None:
    files = find_files(valid_layout)
    assert list(files) == ["1", "2"]
    stories = read_splits(files["1"], SPLITS, read_stories)
    assert {split: len(each) for split, each in stories.items()} == {
        "train": 9,
        "valid": 3,
        "test": 4,
    }


def test_without_a_valid_file_the_last_tenth_of_train_serves(plain_layout) -> None:
    files = find_files(plain_layout)
    assert list(files) == ["1", "2", "11"]
    stories = read_splits(files["11"], SPLITS, read_stories)
    assert stories["train"] == [story(i) for i in range(18)]
    assert stories["valid"] == [story(18), story(19)]
    assert len(stories["test"]) == 5
    assert read_splits(files["11"], ["valid"], read_stories) == {"valid": stories["valid"]}


def test_other_files_are_passed_over(valid_layout) -> None:
    (valid_layout / "LICENSE.txt").write_text("free")
    (valid_layout / "qa1_train.txt.bak").write_text("old")
    assert list(find_files(valid_layout)) == ["1", "2"]


def test_a_root_of_layouts_names_its_folders(tmp_path) -> None:
    for layout in ("en", "hn-10k"):
        (tmp_path / layout).mkdir()
        write(tmp_path / layout / "qa1_single-supporting-fact_train.txt", 2)
    with pytest.raises(UserError, match="choose one of its folders: en, hn-10k"):
        find_data_set(tmp_path)


def test_no_directory_and_no_files_are_named(tmp_path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        find_data_set(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"no files such as qa1_train.txt or NAME_train.txt in it$"):
        find_data_set(tmp_path)
    (tmp_path / "walks.txt").write_text("1 Mary went home.")
    with pytest.raises(UserError, match=r"walks.txt would be found as walks_train.txt"):
        find_data_set(tmp_path)


def test_a_corpus_of_all_tasks_says_what_it_lacks(valid_layout) -> None:
    (valid_layout / "qa2_valid.txt").unlink()
    (valid_layout / "qa2_train.txt").unlink()
    corpus = load_corpus(valid_layout, "all", ["valid"])
    assert list(corpus.stories) == ["1"]
    assert corpus.missing_files["2"] == "no valid file"
    assert corpus.missing_files["3"] == "no valid file"


def test_a_task_without_its_training_file_is_refused_in_one_task_and_in_all(valid_layout) -> None:
    (valid_layout / "qa2_valid.txt").unlink()
    (valid_layout / "qa2_train.txt").unlink()
    for task in ("2", "all"):
        message = r"task 2 has no train and no valid file there \(such as qa2_train.txt\)"
        with pytest.raises(UserError, match=message):
            load_corpus(valid_layout, task)
    assert len(load_corpus(valid_layout, "2", ["test"]).stories["2"]["test"]) == 4
    with pytest.raises(UserError, match=r"no file of task '3'; there are 1, 2 \(and all\)"):
        load_corpus(valid_layout, "3")


def test_a_task_without_a_test_file_can_be_trained_alone_and_with_others(valid_layout) -> None:
    (valid_layout / "qa2_test.txt").unlink()
    for task in ("2", "all"):
        corpus = load_corpus(valid_layout, task, needed=TRAINING)
        assert list(corpus.stories["2"]) == ["train", "valid"]
        assert "2" not in corpus.split("test")
        with pytest.raises(UserError, match=r"task 2 has no test file there \(such as"):
            load_corpus(valid_layout, task)


def test_the_checksum_follows_the_content(valid_layout) -> None:
    before = load_corpus(valid_layout, "1").sha256
    assert before == load_corpus(valid_layout, "1").sha256
    write(valid_layout / "qa1_test.txt", 4, first=1)
    assert before != load_corpus(valid_layout, "1").sha256


def test_a_file_without_questions_is_an_error(valid_layout) -> None:
    (valid_layout / "qa1_valid.txt").write_text("1 Mary went home.\n")
    with pytest.raises(UserError, match=r"qa1_valid.txt: too short; .* valid split"):
        load_corpus(valid_layout, "1")


def test_description(valid_layout) -> None:
    (valid_layout / "qa2_train.txt").unlink()
    (one, two), missing_tasks = describe(valid_layout)
    assert missing_tasks == [str(number) for number in range(3, 21)]
    assert one.questions == {"train": 9, "valid": 3, "test": 4}
    assert two.questions == {"valid": 3, "test": 4}
    # <pad> mary went to the . where is ? and four places
    assert one.vocabulary == 13
    assert (one.words, one.mean_sentences, one.most_sentences) == (6, 1.0, 1)
    assert (one.different_sentences, one.different_questions) == (4, 1)


GENERATED = [
    Story((f"{name} went home.",), (Question(f"Where is {name}?", "home", 1, (0,)),))
    for name in ("Mary", "John", "Daniel")
]


@pytest.fixture
def gap(tmp_path, monkeypatch):
    """Task 1 without its training file; beside it a 1k set, some of it in valid or test."""

    def generate(task: str, *, questions: int, seed: int) -> dict[str, list[Story]]:
        assert (task, questions, seed) == ("1", 10_000, 0)
        return {"train": GENERATED, "valid": [], "test": []}

    monkeypatch.setattr(substitutes, "generate", generate)
    held_out = {"valid": [story(0), GENERATED[1]], "test": [story(1)]}
    directory = tmp_path / "en-valid-10k"
    beside = tmp_path / "en"
    for place in (directory, beside):
        place.mkdir()
    for split, stories in held_out.items():
        (directory / f"qa1_{split}.txt").write_text("".join(map(format_story, stories)))
    official = [story(0), story(1), story(2), story(3)]
    path = beside / "qa1_single-supporting-fact_train.txt"
    path.write_text("".join(map(format_story, official)))
    return directory


def test_a_missing_training_file_is_filled(gap) -> None:
    corpus = load_corpus(gap, "1")
    told = corpus.stories["1"]["train"]
    assert told == [GENERATED[0], GENERATED[2], story(2), story(3)]
    assert list(corpus.stories["1"]) == ["train", "valid", "test"]
    assert corpus.substituted == {
        "1": "in place of the missing training file: 2 generated stories (simulator, seed 0) "
        "with 2 questions (1 more are in valid or test) and 2 stories of the official 1k "
        "training file with 2 questions (2 more are in valid or test)"
    }
    assert load_corpus(gap, "1", ["train"]).stories["1"] == {"train": told}
    together = load_corpus(gap, "all")
    assert together.substituted == corpus.substituted
    assert "1" not in together.missing_files


def test_the_checksum_covers_what_fills_a_gap(gap) -> None:
    with_official = load_corpus(gap, "1")
    (gap.parent / "en" / "qa1_single-supporting-fact_train.txt").unlink()
    without = load_corpus(gap, "1")
    assert with_official.sha256 != without.sha256
    assert "official" not in without.substituted["1"]


def test_only_the_training_file_of_a_known_task_is_filled(gap) -> None:
    (gap / "qa1_valid.txt").unlink()
    with pytest.raises(UserError, match=r"no train and no valid file there"):
        load_corpus(gap, "1")
    for split in ("valid", "test"):
        write(gap / f"qa21_{split}.txt", 2)
    with pytest.raises(UserError, match=r"task 21 has no train file"):
        load_corpus(gap, "21")


def test_task_3_is_read_further_back_than_the_others(tmp_path) -> None:
    for task, split in itertools.product((1, 3, 20), SPLITS):
        write(tmp_path / f"qa{task}_{split}.txt", 4)
    corpus = load_corpus(tmp_path, "all")
    assert corpus.max_sentences(None) == {"1": 70, "3": 130, "20": 70}
    assert corpus.max_sentences(50) == {"1": 50, "3": 50, "20": 50}


def test_a_file_without_questions_can_be_described(tmp_path) -> None:
    (tmp_path / "qa1_train.txt").write_text("1 Mary went to the garden.\n2 Mary left.\n")
    ((described,), _) = describe(tmp_path)
    assert (described.questions, described.different_sentences) == ({"train": 0}, 2)
    assert (described.mean_sentences, described.most_sentences) == (0, 0)
