"""What every agent uses: trace, retries, frame sources and frame budgets."""
