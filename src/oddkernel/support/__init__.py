"""Generic helpers, which know nothing about answers: files, texts, Ctrl-C, progress, checks of parameters."""
