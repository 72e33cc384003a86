"""Networks from boards to action values: the multilayer perceptron and the table."""
