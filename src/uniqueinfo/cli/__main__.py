"""`python -m uniqueinfo.cli` is `uniqueinfo`."""

from uniqueinfo.cli import main

main()
