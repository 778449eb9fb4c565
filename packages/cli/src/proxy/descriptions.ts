/** Descriptions of `strata proxy`, `strata wrap` and `strata doctor`. Data only. */
import type { CommandDescription } from "../command.ts"

const UPSTREAM = {
  kind: "text",
  value: "URL",
  about: "the server to send to (default: STRATA_UPSTREAM, then the public API)",
} as const

const NO_RECALL = { kind: "flag", about: "give the model no tool to look up what left its context" } as const

export const PROXY = {
  name: "proxy",
  about: "manage the context of any client, by its base URL",
  more: [
    "Listens on this machine until Ctrl-C, and prints the base URL to set. The base URL has a secret in it: keep it to yourself.",
    "A client's requests pass with its own key, prompt and tools. Strata replaces only the messages, where that costs less.",
  ],
  options: {
    port: { kind: "number", value: "N", about: "the port (default: any that is free)", min: 0, max: 65_535 },
    upstream: UPSTREAM,
    "no-recall": NO_RECALL,
    observe: { kind: "flag", about: "change nothing; keep the journal and the bill" },
    status: { kind: "flag", about: "show what the proxies of this machine are doing, and end" },
    verbose: { kind: "flag", about: "print a line for each request" },
    json: { kind: "flag", about: "with --status: print as JSON" },
  },
  examples: [
    ["strata proxy", "then set the base URL that it prints"],
    ["strata proxy --observe --verbose", "watch first: every request passes untouched"],
    ["strata proxy --status", "size, decisions, cache and money of each conversation"],
  ],
} as const satisfies CommandDescription

export const WRAP = {
  name: "wrap",
  about: "run claude, pi, opencode or any command through the proxy",
  more: [
    "Starts the proxy and the command, and ends with it. Only the environment of this one command is changed.",
    "At the end it says what the session cost and what it would have cost without Strata, on standard error. The exit code is the command's.",
    "Strata only observes in a project until you say --manage there. The last of --manage and --observe is remembered for the project.",
    "Options come before the command. What follows its name belongs to it.",
  ],
  operands: { value: "claude|pi|opencode|-- COMMAND…", min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    ask: {
      kind: "flag",
      about: "ask before a request that a pause made expensive, where the command leaves the terminal free",
    },
    manage: { kind: "flag", about: "let Strata manage the context in this project" },
    "no-recall": NO_RECALL,
    observe: { kind: "flag", about: "change nothing; say what Strata would have saved" },
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
  about: "check what strata wrap needs: client, server, cache, disk",
  more: [
    "One line for each check. The exit code is 1 if something is wrong.",
    "Whether the cache works is tried with two small requests, for about a cent: after your yes, or with --yes. They need a key in the environment.",
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
