"""Functions under construction: values, traces, and what operands and numbers become."""
