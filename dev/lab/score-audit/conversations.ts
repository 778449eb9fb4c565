/**
 * Generated conversations for the audit, each with a truthful summary. The seed decides everything, and each conversation has new names and
 * numbers.
 */
import type { Message } from "@strata/core"

export interface Sample {
  readonly messages: readonly Message[]
  readonly summary: string
}

const SYLLABLES = [
  "bar",
  "tem",
  "lo",
  "kin",
  "sor",
  "vel",
  "mun",
  "dra",
  "pix",
  "zen",
  "fol",
  "ric",
  "hap",
  "wen",
  "jub",
]
const AREAS = ["gateway", "billing", "search", "login", "export", "mailer", "planner", "upload"]
const VERBS = ["loads", "calls", "wraps", "replaces", "checks", "extends"]
const RULES = [
  (name: string) => `Never push to the ${name} branch.`,
  (name: string) => `Don't change the schema of the ${name} table.`,
  (name: string) => `Do not call the ${name} service from tests.`,
]
const UNITS = ["ms", "MB", "seconds"]

export function sample(seed: number): Sample {
  const random = randomNumbers(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!
  const word = () => Array.from({ length: 3 }, () => pick(SYLLABLES)).join("")
  const camel = () => `${word()}${capital(word())}`
  const area = pick(AREAS)
  const port = 1_000 + below(60_000)
  const limit = 100 + below(9_000)
  const unit = pick(UNITS)
  const [file, second] = [`src/${area}/${word()}.ts`, `src/${word()}/${word()}.ts`]
  const [one, other] = [camel(), camel()]
  const rule = pick(RULES)(word())
  const request = `Please move the ${area} to port ${port} in ${file} and keep the limit at ${limit} ${unit}.`
  const relation = `In ${file} ${one} ${pick(VERBS)} ${other} before the ${area} starts.`
  const proposal = `Shall I also rename the options in ${second}?`
  const todo = `Write the ${area} migration guide`
  const failed = random() < 0.5
  const command = `npm test -- ${word()}`
  const made = new Made()
  made.user(`${request}\n${rule}`)
  made.call("Read", { file_path: file }, `1\texport function ${one}() { return ${other}(${port}) }`)
  made.call("Edit", { file_path: file, old_string: `${port - 1}`, new_string: `${port}` }, "The file was changed.")
  made.say(`${relation} ${proposal}`)
  made.user("yes, go ahead")
  made.call("Edit", { file_path: second, old_string: "a", new_string: "b" }, "The file was changed.")
  made.call("TodoWrite", { todos: [{ content: todo, status: "pending" }] }, "ok")
  made.call("Bash", { command }, failed ? "Exit code 1\n3 failed" : "44 passed", failed)
  made.user(`Then write the guide for ${other}.`)
  made.say("I will.")
  return {
    messages: made.messages,
    summary: [
      "1. Primary Request and Intent:",
      `   - The user wants the ${area} on port ${port}, with the limit at ${limit} ${unit}.`,
      `   - ${rule}`,
      "3. Files and Code Sections:",
      `   - ${file}: changed. ${relation}`,
      `   - ${second}: changed; the user agreed to rename the options.`,
      "4. Errors and Fixes:",
      `   - \`${command}\` ${failed ? "failed" : "passed"}`,
      "6. All User Messages:",
      `   - "${request} ${rule}"`,
      '   - "yes, go ahead"',
      `   - "Then write the guide for ${other}."`,
      "7. Pending Tasks:",
      `   - [pending] ${todo}`,
    ].join("\n"),
  }
}

class Made {
  readonly messages: Message[] = []
  #calls = 0

  user(text: string): void {
    this.#add({ type: "user", message: { role: "user", content: text } })
  }
  say(text: string): void {
    this.#add({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] } })
  }
  call(name: string, input: object, output: string, failed = false): void {
    const id = `toolu_${this.#calls++}`
    this.#add({ type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id, name, input }] } })
    const result = { type: "tool_result", tool_use_id: id, content: output, ...(failed ? { is_error: true } : {}) }
    this.#add({ type: "user", message: { role: "user", content: [result] } })
  }
  #add(part: object): void {
    const place = { uuid: `m${this.messages.length}`, parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" }
    this.messages.push({ ...place, ...part } as Message)
  }
}

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)

/** The mulberry32 generator, which yields the same numbers in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
