//! What stands below the help of each command.

pub(super) const ALL: &str = "\
Examples:
  antiphon demo                            try it: agents and a page, no key needed
  antiphon init my-agents                  write a small project
  antiphon serve my-agents/antiphon.yaml   serve its agents
  antiphon chat                            talk with the agent that is served here

Exit codes: 0 ended well, 1 failed, 2 wrong usage or file, 3 waits for a person,
4 server not reachable, 130 stopped by Ctrl-C.";

pub(super) const SERVE: &str = "\
Examples:
  antiphon serve
  antiphon serve agents/antiphon.yaml --listen 127.0.0.1:0
  antiphon serve --store memory --log json";

pub(super) const DEMO: &str = "\
Examples:
  antiphon demo
  antiphon demo --store memory --listen 127.0.0.1:0
  OPENAI_API_KEY=... antiphon demo --model openai/gpt-5-mini";

pub(super) const CHAT: &str = "\
Examples:
  antiphon chat
  antiphon chat http://127.0.0.1:8888 --agent recipe
  antiphon chat https://example.com/agui --thread t1
  echo hi | antiphon chat --json

At the prompt, :help shows the commands. A message from a pipe is taken whole, its answer
goes to standard output; the exit code is 3 where the run ended waiting for a person.";

pub(super) const INIT: &str = "\
Examples:
  antiphon init my-agents
  cd my-agents && antiphon serve

It never overwrites a file.";

pub(super) const CHECK: &str = "\
Examples:
  antiphon check http://127.0.0.1:8888 --agent recipe
  antiphon check https://example.com/agui --format junit > report.xml

It starts some fifty runs. The exit code is 1 if a rule is broken that must be kept.";

pub(super) const DOCTOR: &str = "\
Examples:
  antiphon doctor
  antiphon doctor agents/antiphon.yaml --listen 0.0.0.0:8080";

pub(super) const SCHEMA: &str = "\
Examples:
  antiphon schema > antiphon.schema.json
  then, as the first line of an agent file:
  # yaml-language-server: $schema=./antiphon.schema.json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  antiphon completions bash > ~/.local/share/bash-completion/completions/antiphon
  antiphon completions zsh > ~/.zfunc/_antiphon
  antiphon completions fish > ~/.config/fish/completions/antiphon.fish";
