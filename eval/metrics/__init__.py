"""Measures, one small file each: definition, parameters and source stand in its docstring."""
