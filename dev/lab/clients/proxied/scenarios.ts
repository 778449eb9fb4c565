/** The prompts of each client: the same work, each prompt in a separate process, with one fork. */
import { globSync } from "node:fs"
import { join } from "node:path"
import type { Done, StepContext } from "../step.ts"
import type { Prompt } from "./case.ts"
import { PORT } from "./reading-responder.ts"

const FIRST = `Read the parts of this project one by one. ${PORT}`
const GO_ON = "Go on with the next parts."
const CALLS = 8 // tool calls for each prompt
/** 50 calls fill part of a window of 1M tokens, and two windows of 200K. */
const PROMPTS = { "1M": 6, "200K": 12 } as const
const FORK_AFTER = 4

/** Command lines of a client: for the first prompt, to continue, and to continue in a fork. */
export interface Starts {
  readonly first: (context: StepContext, words: string) => readonly string[]
  readonly goOn: (context: StepContext, words: string, first: Done) => readonly string[]
  readonly fork?: (context: StepContext, words: string, first: Done) => readonly string[]
  /** Runs a manual compaction. */
  readonly compact?: (context: StepContext, first: Done) => readonly string[]
}

/** Prompts with enough work for a window of this size. */
export function longScenario({ first, goOn, fork }: Starts, window: keyof typeof PROMPTS): readonly Prompt[] {
  const prompt = (at: number): Prompt => ({
    what: `prompt ${at + 1}`,
    calls: CALLS,
    command: (context, [begun]) => (at === 0 ? first(context, FIRST) : goOn(context, `${GO_ON} (${at + 1})`, begun!)),
  })
  const prompts = Array.from({ length: PROMPTS[window] }, (_, at) => prompt(at))
  if (!fork) return prompts
  const copy: Prompt = {
    what: "a fork",
    calls: 2,
    command: (context, [begun]) => fork(context, "Read two more parts.", begun!),
    forks: true,
  }
  return prompts.toSpliced(FORK_AFTER, 0, copy)
}

/** Prompts with a manual compaction in the middle. */
export function compactedScenario(starts: Starts): readonly Prompt[] {
  const [one, two, ...others] = longScenario(starts, "1M").filter(({ forks }) => !forks)
  const compaction: Prompt = {
    what: "a compaction by hand",
    calls: 0,
    command: (context, [begun]) => starts.compact!(context, begun!),
    isSilent: true,
  }
  return [one!, two!, compaction, ...others]
}

const bin = ({ installed }: StepContext, name: string) => join(installed, "node_modules", ".bin", name)
const sessionIn = ({ stdout }: Done): string => /"session_id":"([\w-]+)"/.exec(stdout)?.[1] ?? ""

export function claudeCode(model: string): Starts {
  const spoken = (context: StepContext, words: string, ...more: readonly string[]) => [
    ...[bin(context, "claude"), "-p", words, "--output-format", "json", "--model", model, "--allowedTools", "Bash"],
    ...more,
  ]
  return {
    first: (context, words) => spoken(context, words),
    goOn: (context, words, first) => spoken(context, words, "--resume", sessionIn(first)),
    fork: (context, words, first) => spoken(context, words, "--resume", sessionIn(first), "--fork-session"),
    compact: (context, first) => spoken(context, "/compact Keep the port.", "--resume", sessionIn(first)),
  }
}

const program = (context: StepContext, ...words: readonly string[]) => [
  process.execPath,
  join(context.installed, "program.js"),
  ...words,
]

export const agentSdk: Starts = {
  first: (context, words) => program(context, words),
  goOn: (context, words, first) => program(context, words, sessionIn(first)),
  fork: (context, words, first) => program(context, words, sessionIn(first), "fork"),
}

/** The message list is a file, and a copy of it is a fork. */
export const plainSdk: Starts = {
  first: (context, words) => program(context, words, "list.json"),
  goOn: (context, words) => program(context, words, "list.json"),
  fork: (context, words) => program(context, words, "list.json", "copy.json"),
}

export const pi: Starts = {
  first: (context, words) => piUser(context, words),
  goOn: (context, words) => piUser(context, words, "-c"),
  fork: (context, words) =>
    piUser(context, words, "--fork", globSync(join(context.home, ".pi/agent/sessions/*/*.jsonl"))[0] ?? ""),
}

const piUser = (context: StepContext, words: string, ...more: readonly string[]) => [
  ...[bin(context, "pi"), "-p", "--mode", "json", "--offline", "--provider", "anthropic", "--model", "claude-opus-4-6"],
  ...[...more, words],
]

const opencodeUser = (context: StepContext, words: string, ...more: readonly string[]) => [
  ...[bin(context, "opencode"), "run", "--format", "json", "-m", "anthropic/claude-opus-4-6"],
  ...[...more, words],
]

export const opencode: Starts = {
  first: (context, words) => opencodeUser(context, words),
  goOn: (context, words) => opencodeUser(context, words, "-c"),
}
