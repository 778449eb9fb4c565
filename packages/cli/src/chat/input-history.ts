/** Earlier inputs, for the up key. One file per project, one JSON string per line. */
import { appendFile, mkdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { projectDirectory } from "@strata/core/store"

const MAX_REMEMBERED = 500 // inputs
const OWNER_ONLY = { mode: 0o600 }

export interface InputHistory {
  /** Oldest first. */
  readonly inputs: readonly string[]
  /** Index of the input that the up key shows, or `inputs.length` before its first use. */
  readonly at: number
  /** The text typed before the first use of the up key. */
  readonly draft: string
}

export function historyOf(inputs: readonly string[]): InputHistory {
  return { inputs, at: inputs.length, draft: "" }
}

export function remember({ inputs }: InputHistory, input: string): InputHistory {
  const kept = inputs.at(-1) === input ? inputs : [...inputs, input]
  return historyOf(kept.slice(-MAX_REMEMBERED))
}

export interface HistoryStep {
  readonly direction: "up" | "down"
  /** The current input line. */
  readonly text: string
}

/** The previous or next input; `undefined` at either end. */
export function step(
  history: InputHistory,
  { direction, text }: HistoryStep,
): { history: InputHistory; text: string } | undefined {
  const { inputs, at } = history
  const next = at + (direction === "up" ? -1 : 1)
  if (next < 0 || next > inputs.length) return undefined
  const draft = at === inputs.length ? text : history.draft
  return { history: { inputs, at: next, draft }, text: inputs[next] ?? draft }
}

export interface HistoryFile {
  read(): Promise<readonly string[]>
  add(input: string): Promise<void>
}

/** Reads the histories under all names of the project, earlier names first. Only the last name is written. */
export function historyFile(root: string, names: readonly string[]): HistoryFile {
  const paths = names.map((name) => join(projectDirectory(root, name), "input-history"))
  const path = paths.at(-1)!
  return {
    async read() {
      const texts = await Promise.all(paths.map((one) => readFile(one, "utf8").catch(() => ""))) // no file yet
      return texts
        .flatMap((text) => text.split("\n"))
        .flatMap(inputIn)
        .slice(-MAX_REMEMBERED)
    },
    async add(input) {
      await mkdir(dirname(path), { recursive: true })
      await appendFile(path, `${JSON.stringify(input)}\n`, OWNER_ONLY)
    },
  }
}

/** Skips lines that are not a JSON string, such as one that was cut off. */
function inputIn(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "string" ? [value] : []
  } catch {
    return []
  }
}
