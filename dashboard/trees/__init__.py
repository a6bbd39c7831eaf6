"""The pages of task trees."""
