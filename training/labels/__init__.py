"""Where the pictures of the words in the visible label come from."""
