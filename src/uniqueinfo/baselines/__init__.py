"""What the method is judged against."""
