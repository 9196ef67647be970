"""From texts to vectors and term weights: model adapters, composition of windows, and `Encoders` around them."""
