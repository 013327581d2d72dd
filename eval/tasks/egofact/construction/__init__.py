"""The construction of EgoFact (appendix C): from event lists and passages to checked queries."""
