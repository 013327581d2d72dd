"""What every agent uses: context, steps and trace, frames, retries, and how a run is shown."""
