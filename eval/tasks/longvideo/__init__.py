"""Questions with options about films of half an hour to an hour, and the systems that are tried on them."""
