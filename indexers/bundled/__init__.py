"""The encoder that comes with the package and understands the Workbench world alone."""
