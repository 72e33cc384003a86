"""From boards to action values: multilayer perceptron, convolution, integers, table."""
