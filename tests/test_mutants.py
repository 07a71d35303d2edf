"""The faults that `make mutants` tries."""

import ast

import pytest
from benchmarks.mutants import known_equivalents, knows_of, mutants_of


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("x = a < b", ["a < b -> (a <= b)"]),
        ("x = a <= b < c", ["a <= b < c -> (a < b < c)", "a <= b < c -> (a <= b <= c)"]),
        ("x = a + b", ["a + b -> (a - b)"]),
        ("x = a and b", ["a and b -> ((a) or (b))"]),
        ("x = -a", ["-a -> (a)"]),
        ("x = 1", ["1 -> (1 + 1)"]),
        ("x = True", ["True -> False"]),
        ("x = 'be,br->b'", ["'be,br->b' -> 'be,br->b?'"]),
        ("if a:\n    pass", ["a -> (not (a))"]),
        ("if a is None:\n    pass", ["a is None -> (a is not None)"]),
        ("x = [a for a in b if a]", ["a -> (not (a))"]),
        ("def f():\n    return a", ["a -> None"]),
        ("f(a)", ["f(a) -> pass"]),
        ("a += b", ["a += b -> pass"]),
        ("a[b] = c", ["a[b] = c -> pass"]),
        ("raise Wrong('what', 1)", ["raise Wrong('what', 1) -> pass"]),
        ("def f(a: 'b' = None) -> 'c':\n    'Say more.'", []),
        ("assert a == b", []),
        ("Kind = A | B", []),
        ("é = 'é' + a", ["'é' + a -> ('é' - a)", "'é' -> 'é?'"]),
    ],
)
def test_every_kind_of_fault(code, changes) -> None:
    mutants = list(mutants_of("a.py", code))
    assert [mutant.change for mutant in mutants] == changes
    for mutant in mutants:
        changed = mutant.apply(code)
        assert changed != code
        ast.parse(changed)


def test_every_equivalent_mutant_is_still_there() -> None:
    from benchmarks.mutants import PACKAGE

    for file, source, change in known_equivalents():
        text = (PACKAGE / file).read_text("utf-8")
        there = {(mutant.source, mutant.change) for mutant in mutants_of(file, text)}
        assert (source, change) in there, f"{file}: {change}"


def test_the_tests_that_know_of_a_file_are_named_after_it_or_import_it(tmp_path) -> None:
    test = tmp_path / "test_forms.py"
    test.write_text("from tpr_rnn.memory.plain import solve\nfrom tpr_rnn.memory.native import x\n")
    files = ("forms", "plain", "native/__init__", "native/build", "keys", "plain_text")
    known = [file for file in files if knows_of(test, f"memory/{file}.py")]
    assert known == ["forms", "plain", "native/__init__", "native/build"]
