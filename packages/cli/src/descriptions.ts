/** What each command is for and how it is called. Help texts and argument parsing are made from these. Data only. */
import type { CommandDescription, Options } from "./command.ts"

const describe = <const O extends Options>(description: CommandDescription<O>): CommandDescription<O> => description

export const DEMO = describe({
  name: "demo",
  about: "watch an agent work on and on in a small window; no key, no network",
  more: `A simulated model works on a scratch copy of a repository (this one, where strata runs from its checkout, else the current
directory) through the real loop, the real tools and the official SDK. Large results are put aside, old ones cleared, notes kept, and the window is
compacted whenever it is full. Nothing outside the copy is touched, and it is removed.`,
  options: {
    turns: { kind: "number", value: "N", about: "turns to work, about (80)", least: 1, most: 10_000 },
    seed: { kind: "number", value: "N", about: "another seed, another course of work (2)", least: 0 },
    window: {
      kind: "number",
      value: "N",
      about: "the model's window in tokens (60000)",
      least: 20_000,
      most: 2_000_000,
    },
    task: { kind: "text", value: "TEXT", about: "what the agent is asked to do" },
    fast: { kind: "flag", about: "as fast as it goes, with no time to look" },
    keep: { kind: "flag", about: "keep the scratch copy and the conversation's journal" },
  },
  examples: [
    ["strata demo", "about forty seconds"],
    ["strata demo --window 40000", "a smaller window: it fills more often"],
    ["strata demo --turns 120 --seed 3 --keep", "longer, another course, and the journal stays to be inspected"],
  ],
})

export const CHAT = describe({
  name: "chat",
  about: "talk with a model that works in this directory",
  options: {},
  examples: [["strata chat --continue", "go on where you left off"]],
})

export const RUN = describe({
  name: "run",
  about: "give a task, get the answer: for scripts",
  operands: { value: '"TASK"', least: 0, most: 1 },
  options: {},
  examples: [['strata run "What does this project do?"', "the answer alone goes to standard output"]],
})

export const INSPECT = describe({
  name: "inspect",
  about: "where the context and the money of a recorded conversation went",
  more: `Reads transcripts of Claude Code, Codex, pi, opencode, OpenHands and SWE-agent, and journals of our own. Nothing is written.`,
  operands: { value: "FILE…", least: 1, most: Number.POSITIVE_INFINITY },
  options: {
    layers: { kind: "flag", about: "what layers 1 and 2 would have done with it, and saved" },
    json: { kind: "flag", about: "everything it found, as JSON" },
  },
  examples: [
    ["strata inspect ~/.claude/projects/*/*.jsonl", "each conversation, and a table of all"],
    ["strata inspect --layers session.jsonl", "replayed through four policies"],
    ["strata inspect --json session.jsonl | jq .conversations[0].cache", "for a program"],
  ],
})

export const CONFIG = describe({
  name: "config",
  about: "every setting that is in force, and where it came from",
  options: { json: { kind: "flag", about: "as JSON" } },
  examples: [["STRATA_CONTEXT_WINDOW=64000 strata config", "where a value comes from is said beside it"]],
})

export const SIM = describe({
  name: "sim",
  about: "a local server that speaks the Messages API, to test against",
  options: {},
  examples: [["strata sim --port 4010 --log", "then point any client at it"]],
})
