"""The page where people answer, and the server behind it; needs the extra ``oddkernel[judge]``."""
