/** Descriptions of `strata proxy`, `strata wrap` and `strata doctor`. Data only. */
import type { CommandDescription } from "../command.ts"

const UPSTREAM = {
  kind: "text",
  value: "URL",
  about: "the server to send to (default: STRATA_UPSTREAM, then the public API)",
} as const

const NO_RECALL = { kind: "flag", about: "do not give the model the recall tool" } as const

export const PROXY = {
  name: "proxy",
  about: "manage the context of any client, by its base URL",
  more: [
    "Listens on this machine until Ctrl-C, and prints the base URL to set. The base URL contains a secret: do not share it.",
    "Requests keep the client's own key, prompt and tools. Strata replaces only the messages, if that costs less.",
  ],
  options: {
    port: { kind: "number", value: "N", about: "the port (default: any free port)", min: 0, max: 65_535 },
    upstream: UPSTREAM,
    "no-recall": NO_RECALL,
    observe: { kind: "flag", about: "change nothing; only record the journal and the cost" },
    status: { kind: "flag", about: "show the status of running proxies, and exit" },
    verbose: { kind: "flag", about: "print a line for each request" },
    json: { kind: "flag", about: "with --status: print as JSON" },
  },
  examples: [
    ["strata proxy", "then set the base URL that it prints"],
    ["strata proxy --observe --verbose", "observe first: requests pass unchanged"],
    ["strata proxy --status", "size, decisions, cache and money of each conversation"],
  ],
} as const satisfies CommandDescription

export const WRAP = {
  name: "wrap",
  about: "run claude, pi, opencode or any command through the proxy",
  more: [
    "Starts the proxy and the command, and exits with it. Only the environment of this command is changed.",
    "At the end it reports the cost of the session, and the estimated cost without Strata, on standard error. The exit code is the command's.",
    "Strata only observes a project until you use --manage there. The last choice of --manage or --observe is remembered per project.",
    "Options come before the command. What follows its name belongs to it.",
  ],
  operands: { value: "claude|pi|opencode|-- COMMAND…", min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    ask: {
      kind: "flag",
      about: "ask before a request that a pause made expensive, if the command does not use the terminal",
    },
    manage: { kind: "flag", about: "let Strata manage the context in this project" },
    "no-recall": NO_RECALL,
    observe: { kind: "flag", about: "change nothing; report what Strata would have saved" },
    upstream: {
      ...UPSTREAM,
      about: "the server to send to (default: STRATA_UPSTREAM, then the command's own base URL)",
    },
    verbose: { kind: "flag", about: "print a line for each request" },
  },
  examples: [
    ["strata wrap claude", "the first time in a project it only observes"],
    ["strata wrap --manage claude --continue", "from now on Strata manages this project's context"],
    ["strata wrap -- python agent.py", "any program that reads ANTHROPIC_BASE_URL"],
  ],
} as const satisfies CommandDescription

export const DOCTOR = {
  name: "doctor",
  about: "check client, server, cache and disk for strata wrap",
  more: [
    "One line for each check. The exit code is 1 if something is wrong.",
    "The cache is tested with two small requests, for about a cent, if you agree or with --yes. They need a key in the environment.",
  ],
  operands: { value: "[claude|pi|opencode]", min: 0, max: 1 },
  options: {
    upstream: UPSTREAM,
    port: {
      kind: "number",
      value: "N",
      about: "also check that this port is free (default: any)",
      min: 0,
      max: 65_535,
    },
    yes: { kind: "flag", about: "send the two requests without a question" },
    json: { kind: "flag", about: "print as JSON" },
  },
  examples: [
    ["strata doctor claude", "would strata wrap claude work here?"],
    ["strata doctor --yes --json", "everything, for a script"],
  ],
} as const satisfies CommandDescription
