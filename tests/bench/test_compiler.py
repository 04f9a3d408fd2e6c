"""The bench measures what it says."""

from bench import compiler


def test_the_lines() -> None:
    lines = compiler.measure(seconds=0, sizes=(100, 200))
    assert [line.split()[0] for line in lines] == ["compile", "compile", "growth", "simulator"]
    assert "at most 4" in lines[0]
    assert lines[3].startswith("simulator 5 steps")


def test_a_patch_has_the_size_that_it_says() -> None:
    assert [len(compiler.make_patch(size).slots["approval"].nodes) for size in (10, 1_000)] == [10, 1_000]
