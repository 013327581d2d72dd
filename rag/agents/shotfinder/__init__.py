"""ShotFinder: find one shot under constraints."""
