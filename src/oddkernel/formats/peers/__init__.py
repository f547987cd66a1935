"""The forms in which others keep answers, one module for each family; `oddkernel.formats` knows them by name.

A reader turns bytes into `Rows`, which say what became of the file; a writer turns `Comparisons` into bytes and warns
of what its form has no place for.
"""
