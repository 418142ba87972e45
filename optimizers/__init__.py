"""What is measured, and what is tuned by it."""
