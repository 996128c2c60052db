"""How the documentation is built: what `mkdocs.yml` cannot say by itself."""
