//! Agents, tools, shared state and the run loop.
