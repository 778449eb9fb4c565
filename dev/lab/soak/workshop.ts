/**
 * The soak's environment: the simulator over HTTP with its worker, and an agent with all default layers and real tools in a scratch copy of
 * this repository. Simulated time passes as answers are written, so the soak can measure waiting times without real waiting.
 */

import { utimes } from "node:fs/promises"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Agent, localUser, type MemoryBank } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import {
  type Answer,
  type Clock,
  frozenClock,
  makeScratch,
  type Responder,
  type Simulator,
  startSimulator,
  workerResponder,
} from "@strata/sim"
import { openAgent } from "../../../packages/core/src/agent/open-agent.ts"
import { fileTools, openShellTools } from "../../../packages/core/src/agent/tools/coding-tools.ts"
import { projectAt } from "../../../packages/core/src/base/project.ts"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import { openBank } from "../../../packages/core/src/memory/bank.ts"
import { anthropicModel } from "../../../packages/core/src/model/anthropic/anthropic.ts"
import { todoWrite } from "../../../packages/core/src/tools/session/todo-write.ts"
import { type LedgerSummary, summarise } from "../../../packages/core/src/views/ledger/ledger.ts"

// Makes summaries take simulated time while the work continues. If a request waits for a summary, nothing else moves the clock, so the
// clock is moved to the end of that summary.

export class SlowSummariser {
  readonly #clock: Clock
  readonly #ms: number
  readonly #pending = new Set<number>()
  #isAwaited = false

  constructor(clock: Clock, seconds: number) {
    this.#clock = clock
    this.#ms = seconds * 1_000
  }

  /** Resolves when a summary requested now is written. */
  async write(): Promise<void> {
    if (this.#isAwaited) return this.#clock.advance(this.#ms)
    const end = this.#clock.now() + this.#ms
    this.#pending.add(end)
    await this.#clock.sleep(this.#ms)
    this.#pending.delete(end)
  }

  /** Sets whether a request waits for a summary. */
  await(isAwaited: boolean): void {
    this.#isAwaited = isAwaited
    if (isAwaited) this.finish()
  }

  /** Advances time until the pending summaries are written. */
  finish(): void {
    const last = Math.max(0, ...this.#pending)
    if (last > this.#clock.now()) this.#clock.advance(last - this.#clock.now())
  }
}

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url))
export const MODEL = "claude-opus-5-5"
const TURNS_PER_TASK = 24
/** Size of other conversations, so small that they end before their first notes are due. */
const SHORT_TASK = { turns: 3, resultSize: 1_000 }
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.08
const FIRST_TOKEN_MS = 2_000 // typical time of a large model until its first token
const MS_PER_CHARACTER = 4 // about 60 tokens a second
const USUAL_SUMMARY_SECONDS = 30 // recorded summaries took 10 to 88
const MINUTE = 60_000
const CACHE_MINUTES = 5
const NEAR_EXPIRY = 0.87 // share of the cache's lifetime after which a summary may start in a pause

export interface WorkshopOptions {
  /** Switches that differ from the defaults. */
  readonly switches?: Readonly<Record<string, boolean>>
  readonly window: number
  readonly seed: number
  /** Approximate number of characters of a tool result. */
  readonly resultSize: number
  /** Approximate number of answers to one task. */
  readonly turns?: number
  /** Simulated seconds that a summary takes. Default: 30. */
  readonly summarySeconds?: number
  /** Directory to copy. Default: this repository. */
  readonly project?: string
}

export interface SoakWorkshop {
  readonly agent: Agent
  readonly simulator: Simulator
  /** The project's memory, for inspection. */
  readonly bank: MemoryBank
  /** Simulates the user's absence. Background work continues meanwhile and ends. */
  pause(minutes: number): Promise<void>
  /** Runs another conversation in the same project with one short task. Returns its cost. */
  converse(message: string): Promise<LedgerSummary>
  close(): Promise<void>
}

export async function openSoakWorkshop(options: WorkshopOptions): Promise<SoakWorkshop> {
  const { window, seed, switches = {}, resultSize, turns = TURNS_PER_TASK, project = REPOSITORY } = options
  const { summarySeconds = USUAL_SUMMARY_SECONDS } = options
  const scratch = makeScratch(project)
  const models = { [MODEL]: { window } }
  const clock = frozenClock()
  const summariser = new SlowSummariser(clock, summarySeconds)
  const settings = { seed, pace: CALLS_AT_ONCE, resultSize, trouble: SHARE_OF_TROUBLE }
  const worker = workerResponder({ ...settings, turns })
  const shortWorker = workerResponder({ ...settings, ...SHORT_TASK })
  let isShort = false
  const responder: Responder = { name: worker.name, answer: (turn) => (isShort ? shortWorker : worker).answer(turn) }
  const simulator = await startSimulator({
    responder: takingTime(responder, { clock, summariser }),
    seed,
    models,
    clock,
    bindThinking: "error",
  })
  const { name } = await projectAt({ cwd: scratch.project, env: process.env })
  const bank = openBank({ files: fileStore({ root: scratch.home }).memories({ project: name }), readOnly: true })
  const shell = openShellTools()
  const closeRest = async () => {
    await shell.close()
    await simulator.close()
    scratch.remove()
  }
  const open = async (title: string, { dreams }: { readonly dreams: boolean }) => {
    const agent = await openAgent({
      model: anthropicModel({ model: MODEL, apiKey: "none-needed", baseURL: simulator.url, models }),
      tools: [...fileTools, ...shell.tools, todoWrite],
      cwd: scratch.project,
      dir: scratch.home,
      title,
      memory: { owner: localUser },
      mode: "bypass", // safe, because the copy is deleted afterwards
      settings: { models, switches: { dreaming: dreams, ...switches } },
      clock: { now: () => new Date(clock.now()), after: (ms, call) => callAfter(clock, ms, call) },
      env: { PATH: process.env.PATH },
    })
    agent.conversation.on("compaction", ({ phase }) => {
      if (phase === "preparing" || phase === "done" || phase === "failed") summariser.await(phase === "preparing")
    })
    return agent
  }
  /** Waits until background work ends, and advances time for the summary that is being written. */
  async function settle({ conversation }: Agent): Promise<void> {
    let isSettled = false
    const settled = conversation.whenIdle().finally(() => {
      isSettled = true
    })
    while (!isSettled) {
      summariser.finish()
      await Promise.race([settled, setTimeout(1)])
    }
  }
  async function converse(message: string): Promise<LedgerSummary> {
    const other = await open("another conversation", { dreams: false })
    isShort = true
    try {
      for await (const event of other.query(message)) if (event.type === "error") throw event.take()
      await settle(other)
      return summarise(internalsOf(other.conversation).views.ledger)
    } finally {
      isShort = false
      await other.close()
      const now = new Date(clock.now())
      await utimes(other.conversation.location, now, now) // dreams compare the file time with the simulated time
    }
  }
  try {
    const agent = await open("soak", { dreams: true })
    const pause = async (minutes: number) => {
      await settle(agent)
      if (minutes > CACHE_MINUTES) {
        clock.advance(NEAR_EXPIRY * CACHE_MINUTES * MINUTE)
        await setTimeout(1) // lets due timers start their work
        await settle(agent)
      }
      clock.advance(minutes * MINUTE)
    }
    return { agent, simulator, bank, converse, pause, close: () => agent.close().finally(closeRest) }
  } catch (error) {
    await closeRest()
    throw error
  }
}

/** A timer on the simulated clock. */
function callAfter(clock: Clock, ms: number, call: () => void): () => void {
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(() => stop.signal.aborted || call())
  return () => stop.abort()
}

interface SimulatedTime {
  readonly clock: Clock
  readonly summariser: SlowSummariser
}

/** Makes answers take simulated time. Notes and memories take none, because they are written in the background. */
function takingTime(responder: Responder, { clock, summariser }: SimulatedTime): Responder {
  return {
    name: responder.name,
    async answer(turn) {
      const answer = await responder.answer(turn)
      const texts = turn.request.messages.flatMap(({ content }) => content.map(({ text = "" }) => text))
      const directive = texts.findLast((text) => DIRECTIVE.test(text)) ?? ""
      if (SUMMARY.test(directive)) await summariser.write()
      else if (!BACKGROUND.test(directive)) clock.advance(FIRST_TOKEN_MS + charactersOf(answer) * MS_PER_CHARACTER)
      return answer
    },
  }
}

/** Matches the instruction of a fork or a dream. */
const DIRECTIVE = /^<strata-fork>|^Consolidate the memory directory /
const SUMMARY = /<summary>/
const BACKGROUND = /session-memory|Write memories, and nothing else|^Consolidate /

const charactersOf = ({ content }: Answer): number => JSON.stringify(content).length
