/**
 * Runs the soak offline: a custom loop that only names a model, without a key, a client or a server. Answers and tool results come from a
 * generator in this process. Every connection attempt is refused and counted as a problem.
 */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Conversation,
  contentOf,
  type Entry,
  findModel,
  isFromUser,
  isToolUse,
  localUser,
  type ModelRequest,
  textOf,
} from "@strata/core"
import { toBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { validateRequest } from "../../../packages/core/src/messages/validate/validator.ts"
import { openConversation } from "../../../packages/core/src/public-functions.ts"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import { MAX_RESULT_CHARACTERS, RESULT_SHARE, type SoakOptions } from "./run.ts"
import { RULES, taskAt } from "./tasks.ts"
import { endsOf, growthProblems, type TurnTimes } from "./turn-times.ts"
import type { CompactionSeen } from "./watch.ts"

const MODEL = "claude-opus-4-5"
const CALLS_PER_TASK = 6
const TOOLS = [{ name: "Bash", description: "Runs a command.", input_schema: { type: "object" as const } }]

export interface OfflineSoakReport {
  readonly options: Omit<SoakOptions, "onProgress">
  readonly takenIn: number
  readonly tasks: number
  readonly turns: number
  readonly compactions: readonly CompactionSeen[]
  /** Duration of the longest compaction in milliseconds. */
  readonly longest: number
  readonly notes: number
  readonly memories: number
  readonly peak: number
  readonly turn: TurnTimes
  readonly seconds: number
  /** Memory of the process at the end, in bytes. */
  readonly memory: { readonly heap: number; readonly resident: number }
  readonly problems: readonly string[]
}

export async function offlineSoak({ onProgress, ...options }: SoakOptions): Promise<OfflineSoakReport> {
  const network = refuseConnections()
  const root = mkdtempSync(join(tmpdir(), "strata-offline-"))
  mkdirSync(join(root, "project"))
  const started = performance.now()
  try {
    const chat = await openConversation({
      ...{ model: MODEL, env: {}, cwd: join(root, "project"), dir: join(root, "home") },
      ...{ memory: { owner: localUser }, title: "offline soak", system: "You help.", tools: TOOLS },
      settings: { models: { [MODEL]: { window: options.window } } },
    })
    const loop = new OfflineLoop(chat, options)
    let tasks = 0
    while (loop.problems.length === 0 && loop.takenIn < options.tokens) {
      await loop.task(tasks++)
      onProgress?.(loop.takenIn)
    }
    await chat.whenIdle()
    const problems = [...loop.problems, ...(await loop.losses(tasks)), ...network.problems()]
    await chat.close()
    return { ...loop.figures(), options, tasks, problems, seconds: (performance.now() - started) / 1_000 }
  } finally {
    network.restore()
    rmSync(root, { recursive: true, force: true })
  }
}

function refuseConnections() {
  const { connect } = Socket.prototype
  let tried = 0
  Socket.prototype.connect = () => {
    tried++
    throw new Error("The network is off.")
  }
  return {
    problems: () => (tried === 0 ? [] : [`${tried} connections were tried, although no one may use the network`]),
    restore() {
      Socket.prototype.connect = connect
    },
  }
}

/** A loop with one user, a generator in place of a model, and measurements from outside. */
class OfflineLoop {
  readonly problems: string[] = []
  takenIn = 0
  readonly #chat: Conversation
  readonly #window: number
  readonly #results: () => string
  readonly #estimator = createEstimator("claude-4")
  readonly #added = createHash("sha256")
  readonly #compactions: CompactionSeen[] = []
  readonly #turns: number[] = []
  #longest = 0
  #compactingSince = 0
  #notes = 0
  #memories = 0
  #peak = 0
  #calls = 0
  #answers = 0

  constructor(chat: Conversation, { window, seed }: Pick<SoakOptions, "window" | "seed">) {
    this.#chat = chat
    this.#window = window
    this.#results = resultsFrom(seed, Math.min(MAX_RESULT_CHARACTERS, Math.round(window * RESULT_SHARE)))
    chat.on("entry", ({ entry }) => this.#entry(entry))
    chat.on("layerFailed", ({ layer, reason }) => this.problems.push(`${layer} failed: ${reason}`))
    chat.on("compaction", ({ phase }) => {
      if (phase === "preparing") this.#compactingSince = performance.now()
      if (phase === "done") this.#longest = Math.max(this.#longest, performance.now() - this.#compactingSince)
    })
  }

  async task(index: number): Promise<void> {
    const { text } = taskAt(index)
    await this.#add(text)
    for (let call = 0; call < CALLS_PER_TASK && this.problems.length === 0; call++) {
      const id = `toolu_${this.#calls++}`
      const name = `step-${this.#calls}`
      await this.#answer([
        { type: "text", text: `I decided to run ${name} because the one before it left module-${call}.ts open.` },
        { type: "tool_use", id, name: "Bash", input: { command: `${name} --round ${index}` } },
      ])
      const content = this.#results()
      this.takenIn += this.#estimator.text(content)
      await this.#chat.add([{ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] }])
    }
    await this.#answer([
      { type: "text", text: `Round ${index + 1} is done. The cause was found in module-${index}.ts.` },
    ])
    await this.#chat.whenIdle()
  }

  /** Compares the journal with the messages that were added, and the rules with the next request. */
  async losses(tasks: number): Promise<readonly string[]> {
    const stored = createHash("sha256")
    for await (const entry of this.#chat.entries()) {
      if (entry.type === "user" && isFromUser(entry)) stored.update(textOf(contentOf(entry)))
      if (entry.type === "assistant") stored.update(JSON.stringify(contentOf(entry)))
    }
    const sent = JSON.stringify(await this.#chat.prepare())
    const tasksText = Array.from({ length: tasks }, (_, index) => taskAt(index).text).join("\n")
    const lost = RULES.filter((rule) => tasksText.includes(rule) && !sent.includes(rule))
    return [
      ...(stored.digest("hex") === this.#added.digest("hex") ? [] : ["the journal has other messages than were added"]),
      ...lost.map((rule) => `the request no longer contains a rule of the user: ${rule}`),
      ...(this.#compactions.length === 0 ? ["nothing was compacted, so the soak shows nothing"] : []),
      ...growthProblems(this.#turns.length, endsOf(this.#turns)),
    ]
  }

  figures() {
    const { heapUsed, rss } = process.memoryUsage()
    return {
      ...{ takenIn: Math.round(this.takenIn), turns: this.#turns.length, compactions: this.#compactions },
      ...{ longest: this.#longest, notes: this.#notes, memories: this.#memories, peak: Math.round(this.#peak) },
      turn: endsOf(this.#turns),
      memory: { heap: heapUsed, resident: rss },
    }
  }

  async #add(text: string): Promise<void> {
    this.takenIn += this.#estimator.text(text)
    this.#added.update(text)
    await this.#chat.add(text)
  }

  async #answer(content: NonNullable<Parameters<Conversation["record"]>[0]["content"]>): Promise<void> {
    const before = performance.now()
    const compactions = this.#compactions.length
    const request = await this.#chat.prepare()
    // a compaction is not part of a turn
    if (compactions === this.#compactions.length) this.#turns.push(performance.now() - before)
    const input = this.#sizeOf(request)
    this.#check(request, input)
    const blocks = content as readonly Parameters<typeof isToolUse>[0][]
    this.takenIn += this.#estimator.blocks(blocks)
    this.#added.update(JSON.stringify(content))
    const stop_reason = blocks.some(isToolUse) ? "tool_use" : "end_turn"
    const usage = { input_tokens: Math.ceil(input), output_tokens: 100 }
    await this.#chat.record({ id: `msg_${this.#answers++}`, model: MODEL, content, stop_reason, usage })
  }

  #check(request: ModelRequest, tokens: number): void {
    this.#peak = Math.max(this.#peak, tokens)
    if (tokens > this.#window) this.problems.push(`a request had ${Math.round(tokens)} tokens, more than the window`)
    const violations = validateRequest({ request, model: findModel(MODEL).facts })
    for (const { rule, path } of violations) this.problems.push(`an invalid request: ${rule} at ${path}`)
  }

  #sizeOf({ messages, system, tools }: ModelRequest): number {
    const rest = this.#estimator.text(JSON.stringify([system, tools]))
    return messages.reduce((sum, { content }) => sum + this.#estimator.blocks(toBlocks(content)), rest)
  }

  #entry(entry: Entry): void {
    if (entry.type !== "strata") return
    if (entry.subtype === "notes-updated") this.#notes++
    if (entry.subtype === "memory-extracted") this.#memories += entry.written.length
    if (entry.subtype === "compaction-failed") this.problems.push(entry.message)
    if (entry.subtype !== "compacted") return
    this.#compactions.push({ route: entry.route, before: entry.tokensBefore, after: entry.tokensAfter })
  }
}

/** Generates outputs of commands: lines with names and numbers, some of them errors. They are identical for the same seed. */
function resultsFrom(seed: number, characters: number): () => string {
  let state = seed >>> 0
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0 // a common linear congruential generator; 32 bits are enough here
    return (state >>> 8) % below
  }
  return () => {
    const lines: string[] = []
    const max = (characters * (1 + next(3))) / 2
    for (let length = 0; length < max; ) {
      const line =
        next(40) === 0
          ? `Error: E${1000 + next(9000)} in src/part-${next(300)}.ts:${next(2000)}`
          : `src/part-${next(300)}.ts:${next(2000)} value_${next(100_000)} = ${next(1_000_000)} ms`
      lines.push(line)
      length += line.length + 1
    }
    return lines.join("\n")
  }
}
