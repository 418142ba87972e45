"""The command line and the views: thin, no method lives here."""
