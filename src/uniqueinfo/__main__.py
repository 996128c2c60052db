"""``python -m uniqueinfo`` is the command ``uniqueinfo``."""

from uniqueinfo.cli import main

if __name__ == "__main__":
    main()
