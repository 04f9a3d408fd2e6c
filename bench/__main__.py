"""`make bench`: every measured figure beside its reference or goal, in one run."""

from bench import cold_import


def main() -> None:
    for title, measure in [("Cold import of the API handler", cold_import.measure)]:
        print(f"\n{title}")
        for line in measure():
            print(f"  {line}")


if __name__ == "__main__":
    main()
