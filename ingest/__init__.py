"""Documents in: readers, sentences, windows, and the pipeline that stores them."""
