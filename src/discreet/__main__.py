"""`python -m discreet` is the command line."""

from discreet.cli import main

if __name__ == "__main__":
    main()
