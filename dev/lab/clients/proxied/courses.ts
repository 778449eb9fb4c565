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
  readonly first: (place: StepContext, words: string) => readonly string[]
  readonly goOn: (place: StepContext, words: string, first: Done) => readonly string[]
  readonly fork?: (place: StepContext, words: string, first: Done) => readonly string[]
  /** Runs a manual compaction. */
  readonly compact?: (place: StepContext, first: Done) => readonly string[]
}

/** Prompts with enough work for a window of this size. */
export function longCourse({ first, goOn, fork }: Starts, window: keyof typeof PROMPTS): readonly Prompt[] {
  const prompt = (at: number): Prompt => ({
    what: `prompt ${at + 1}`,
    calls: CALLS,
    command: (place, [begun]) => (at === 0 ? first(place, FIRST) : goOn(place, `${GO_ON} (${at + 1})`, begun!)),
  })
  const prompts = Array.from({ length: PROMPTS[window] }, (_, at) => prompt(at))
  if (!fork) return prompts
  const copy: Prompt = {
    what: "a fork",
    calls: 2,
    command: (place, [begun]) => fork(place, "Read two more parts.", begun!),
    forks: true,
  }
  return prompts.toSpliced(FORK_AFTER, 0, copy)
}

/** Prompts with a manual compaction in the middle. */
export function compactedCourse(starts: Starts): readonly Prompt[] {
  const [one, two, ...others] = longCourse(starts, "1M").filter(({ forks }) => !forks)
  const compaction: Prompt = {
    what: "a compaction by hand",
    calls: 0,
    command: (place, [begun]) => starts.compact!(place, begun!),
    isSilent: true,
  }
  return [one!, two!, compaction, ...others]
}

const bin = ({ installed }: StepContext, name: string) => join(installed, "node_modules", ".bin", name)
const sessionIn = ({ stdout }: Done): string => /"session_id":"([\w-]+)"/.exec(stdout)?.[1] ?? ""

export function claudeCode(model: string): Starts {
  const spoken = (place: StepContext, words: string, ...more: readonly string[]) => [
    ...[bin(place, "claude"), "-p", words, "--output-format", "json", "--model", model, "--allowedTools", "Bash"],
    ...more,
  ]
  return {
    first: (place, words) => spoken(place, words),
    goOn: (place, words, first) => spoken(place, words, "--resume", sessionIn(first)),
    fork: (place, words, first) => spoken(place, words, "--resume", sessionIn(first), "--fork-session"),
    compact: (place, first) => spoken(place, "/compact Keep the port.", "--resume", sessionIn(first)),
  }
}

const program = (place: StepContext, ...words: readonly string[]) => [
  process.execPath,
  join(place.installed, "program.js"),
  ...words,
]

export const agentSdk: Starts = {
  first: (place, words) => program(place, words),
  goOn: (place, words, first) => program(place, words, sessionIn(first)),
  fork: (place, words, first) => program(place, words, sessionIn(first), "fork"),
}

/** The message list is a file, and a copy of it is a fork. */
export const plainSdk: Starts = {
  first: (place, words) => program(place, words, "list.json"),
  goOn: (place, words) => program(place, words, "list.json"),
  fork: (place, words) => program(place, words, "list.json", "copy.json"),
}

export const pi: Starts = {
  first: (place, words) => piUser(place, words),
  goOn: (place, words) => piUser(place, words, "-c"),
  fork: (place, words) =>
    piUser(place, words, "--fork", globSync(join(place.home, ".pi/agent/sessions/*/*.jsonl"))[0] ?? ""),
}

const piUser = (place: StepContext, words: string, ...more: readonly string[]) => [
  ...[bin(place, "pi"), "-p", "--mode", "json", "--offline", "--provider", "anthropic", "--model", "claude-opus-4-6"],
  ...[...more, words],
]

const opencodeUser = (place: StepContext, words: string, ...more: readonly string[]) => [
  ...[bin(place, "opencode"), "run", "--format", "json", "-m", "anthropic/claude-opus-4-6"],
  ...[...more, words],
]

export const opencode: Starts = {
  first: (place, words) => opencodeUser(place, words),
  goOn: (place, words) => opencodeUser(place, words, "-c"),
}
