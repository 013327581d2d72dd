"""Measures, one small file each: with definition, parameters and source."""
