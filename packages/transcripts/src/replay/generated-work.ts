/**
 * Generates a recording for replays: a user gives an agent a series of tasks in one project. The agent reads, searches, edits and tests.
 * Later tasks return to files and names of earlier ones. The same options give the same recording.
 */
import type { Block, Message } from "@strata/core"
import { createEstimator } from "@strata/core/tokens"
import type { RecordedConversation } from "./recorded-steps.ts"

export interface WorkOptions {
  readonly model: string
  /** Approximate total tokens of the messages. */
  readonly tokens: number
  readonly seed?: number
}

const SECONDS_PER_STEP = 12
const PAUSES_MINUTES = [1, 2, 3, 8, 4, 2, 25, 1, 95, 2] // between tasks, in this order
const AREAS = ["billing", "search", "users", "reports", "gateway", "storage"]
const VERBS = ["load", "parse", "merge", "check", "render", "store", "count", "split"]
const NOUNS = ["Invoice", "Index", "Session", "Table", "Route", "Chunk", "Account", "Filter"]
const RULES = [
  "Always run the tests before you say that something is done.",
  "Never change files under vendor/.",
  "Use port 4873 for the local server, not 3000.",
]
const LINES_PER_FILE = 60
const STEPS_PER_TASK = 14

export function generatedWork({ model, tokens, seed = 1 }: WorkOptions): RecordedConversation {
  const work = new WorkGenerator(model, seed)
  for (let task = 0; work.tokens < tokens; task++) work.task(task)
  return { model, entries: work.messages }
}

class WorkGenerator {
  readonly messages: Message[] = []
  tokens = 0
  readonly #model: string
  readonly #random: () => number
  readonly #estimator = createEstimator("claude-5")
  /** Files used so far, so that later tasks can return to them. */
  readonly #seen: string[] = []
  #at = Date.UTC(2026, 0, 5, 9)
  #calls = 0

  constructor(model: string, seed: number) {
    this.#model = model
    this.#random = randomFrom(seed)
  }

  task(number: number): void {
    const pause = number === 0 ? 0 : PAUSES_MINUTES[number % PAUSES_MINUTES.length]!
    this.#at += pause * 60_000
    const path = this.#path()
    const rule = number < RULES.length ? ` ${RULES[number]}` : ""
    this.#add("user", [text(`Task ${number + 1}: ${nameIn(path, number)} in ${path} returns the wrong total.${rule}`)])
    this.#round("Grep", { pattern: nameIn(path, number) }, this.#matches(path))
    for (let step = 0; step < STEPS_PER_TASK; step++) this.#step(path, number * STEPS_PER_TASK + step)
    this.#add("assistant", [text(`${nameIn(path, number)} is right now, and the tests pass. I changed ${path}.`)])
  }

  #step(path: string, step: number): void {
    const kind = step % 4
    if (kind === 0) this.#round("Read", { file_path: path }, fileText(path))
    else if (kind === 1) {
      const other = this.#seen.length > 4 && this.#random() < 0.4 ? this.#chosen(this.#seen) : this.#path()
      this.#round("Read", { file_path: other }, fileText(other))
    } else if (kind === 2) {
      const line = codeLine(path, step % LINES_PER_FILE)
      const change = { file_path: path, old_string: line, new_string: `${line} // step ${step}` }
      this.#round("Edit", change, `The file ${path} has been updated.`)
    } else this.#round("Bash", { command: `npm test -- ${path}` }, testOutput(path, step))
  }

  #round(name: string, input: Record<string, string>, result: string): void {
    const id = `call-${this.#calls++}`
    const thought = `I want to know more about ${Object.values(input)[0]} before I go on. `.repeat(3)
    const thinking: Block = { type: "thinking", thinking: thought, signature: "generated" }
    this.#add("assistant", [thinking, { type: "tool_use", id, name, input }])
    this.#add("user", [{ type: "tool_result", tool_use_id: id, content: result }])
  }

  #matches(path: string): string {
    const paths = [path, ...Array.from({ length: 12 }, () => this.#path())]
    return paths.map((each, i) => `${each}:${100 + 7 * i}:${codeLine(each, i)}`).join("\n")
  }

  #path(): string {
    const path = `src/${this.#chosen(AREAS)}/${this.#chosen(VERBS)}-${this.#chosen(NOUNS).toLowerCase()}.ts`
    this.#seen.push(path)
    return path
  }

  #chosen(values: readonly string[]): string {
    return values[Math.floor(this.#random() * values.length)]!
  }

  #add(role: "user" | "assistant", content: readonly Block[]): void {
    this.#at += SECONDS_PER_STEP * 1_000
    this.tokens += this.#estimator.blocks(content)
    const place = {
      uuid: `m${this.messages.length}`,
      parentUuid: this.messages.at(-1)?.uuid ?? null,
      timestamp: new Date(this.#at).toISOString(),
    }
    this.messages.push(
      role === "user"
        ? { ...place, type: "user", message: { role, content } }
        : {
            ...place,
            type: "assistant",
            message: { id: `r${this.messages.length}`, role, model: this.#model, content },
          },
    )
  }
}

const text = (words: string): Block => ({ type: "text", text: words })

/** Name of a function of the file, which does not depend on the task. */
function nameIn(path: string, number: number): string {
  const area = path.split("/")[1]!
  return `${VERBS[number % VERBS.length]}${area[0]!.toUpperCase()}${area.slice(1)}${NOUNS[(number + path.length) % NOUNS.length]}`
}

const codeLine = (path: string, line: number) =>
  `export const ${nameIn(path, line)}${line} = (rows: Row[]) => rows.filter((row) => row.total > ${1_000 + 13 * line + path.length})`

const fileText = (path: string) =>
  Array.from({ length: LINES_PER_FILE }, (_, line) => `${line + 1}\t${codeLine(path, line)}`).join("\n")

const testOutput = (path: string, step: number) =>
  [
    ...Array.from({ length: 30 }, (_, i) => `  ok ${i + 1} ${nameIn(path, i)} gives ${2_000 + step + i} rows`),
    `  30 passed, 0 failed in ${4_000 + step} ms`,
  ].join("\n")

/** A small generator of numbers from 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
