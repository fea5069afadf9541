//! Serves agents over HTTP: runs, joins, limits.
