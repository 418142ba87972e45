"""Small causal models in this process: one base, and an adapter for each thing that they were taught."""
