"""Prints the hash of each of so many random workflows; it runs in a process of its own."""

import sys

from tests.support.generated.strategies import compile_seed


def main() -> None:
    for seed in range(int(sys.argv[1])):
        print(compile_seed(seed).hash)


if __name__ == "__main__":
    main()
