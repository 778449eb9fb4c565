/**
 * The soak's workplace: the simulator over HTTP with its worker, and an agent with all default layers and real tools in a scratch
 * copy of this repository. Simulated time passes as answers are written, so the soak can measure waiting without waiting.
 */

import { utimes } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import {
  type Agent,
  anthropicModel,
  fileStore,
  fileTools,
  type LedgerSummary,
  localPerson,
  type MemoryBank,
  openAgent,
  openBank,
  openShellTools,
  projectIdentity,
  summarise,
  todoWrite,
} from "@strata/core/internal"
import {
  type Answer,
  type Brain,
  frozenClock,
  makeScratch,
  type Simulator,
  startSimulator,
  workerBrain,
} from "@strata/sim"

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url))
export const MODEL = "claude-opus-5-5"
const TURNS_PER_TASK = 24
/** Other conversations end before their first notes are due. */
const SHORT_TASK = { turns: 3, resultSize: 1_000 }
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.08
const FIRST_TOKEN_MS = 2_000 // about what a large model takes until its first token
const MS_PER_CHARACTER = 4 // about 60 tokens a second

export interface WorkshopOptions {
  /** Summaries are written in the background. Default true. A replay makes each compaction with the request that needs it. */
  readonly ahead?: boolean
  readonly window: number
  readonly seed: number
  /** Characters of a tool result, roughly. */
  readonly resultSize: number
  /** Answers to one task, roughly. */
  readonly turns?: number
  /** The directory to copy. Default: this repository. */
  readonly project?: string
}

export interface SoakWorkshop {
  readonly agent: Agent
  readonly simulator: Simulator
  /** The memory of the project, to look at. */
  readonly bank: MemoryBank
  /** Another conversation in the same project, of one short task. Returns what it cost. */
  converse(message: string): Promise<LedgerSummary>
  close(): Promise<void>
}

export async function openSoakWorkshop(options: WorkshopOptions): Promise<SoakWorkshop> {
  const { window, seed, ahead = true, resultSize, turns = TURNS_PER_TASK, project = REPOSITORY } = options
  const scratch = makeScratch(project)
  const models = { [MODEL]: { window } }
  const clock = frozenClock()
  const settings = { seed, pace: CALLS_AT_ONCE, resultSize, trouble: SHARE_OF_TROUBLE }
  const worker = workerBrain({ ...settings, turns })
  const shortWorker = workerBrain({ ...settings, ...SHORT_TASK })
  let isShort = false
  const brain: Brain = { name: worker.name, answer: (turn) => (isShort ? shortWorker : worker).answer(turn) }
  const simulator = await startSimulator({
    brain: takingTime(brain, clock),
    seed,
    models,
    clock,
    bindThinking: "error",
  })
  const { name } = await projectIdentity(scratch.project)
  const bank = openBank({ files: fileStore({ root: scratch.home }).memories!({ project: name }), readOnly: true })
  const shell = openShellTools()
  const closeRest = async () => {
    await shell.close()
    await simulator.close()
    scratch.remove()
  }
  const open = (title: string, { dreams }: { readonly dreams: boolean }) =>
    openAgent({
      model: anthropicModel({ model: MODEL, apiKey: "none-needed", baseURL: simulator.url, models }),
      tools: [...fileTools, ...shell.tools, todoWrite],
      cwd: scratch.project,
      dir: scratch.home,
      title,
      memory: { owner: localPerson },
      mode: "bypass", // the copy is deleted afterwards
      settings: { models, switches: { dreaming: dreams, "compact-ahead": ahead } },
      clock: { now: () => new Date(clock.now()) },
      env: { PATH: process.env.PATH },
    })
  async function converse(message: string): Promise<LedgerSummary> {
    const other = await open("another conversation", { dreams: false })
    isShort = true
    try {
      for await (const event of other.query(message)) if (event.type === "error") throw event.take()
      await other.conversation.settled()
      return summarise(other.conversation.views.ledger)
    } finally {
      isShort = false
      await other.close()
      const now = new Date(clock.now())
      await utimes(other.conversation.location, now, now) // dreams compare it with the simulated time
    }
  }
  try {
    const agent = await open("soak", { dreams: true })
    return { agent, simulator, bank, converse, close: () => agent.close().finally(closeRest) }
  } catch (error) {
    await closeRest()
    throw error
  }
}

/** Makes answers take simulated time. Notes and memories are written in the background, so they take none. */
function takingTime(brain: Brain, clock: { advance(ms: number): void }): Brain {
  return {
    name: brain.name,
    async answer(turn) {
      const answer = await brain.answer(turn)
      const said = turn.request.messages.flatMap(({ content }) => content.map(({ text = "" }) => text))
      const isBackground = BACKGROUND.test(said.findLast((text) => DIRECTIVE.test(text)) ?? "")
      if (!isBackground) clock.advance(FIRST_TOKEN_MS + charactersOf(answer) * MS_PER_CHARACTER)
      return answer
    },
  }
}

/** What a fork or a dream is asked to do. */
const DIRECTIVE = /^<strata-fork>|^Consolidate the memory directory /
const BACKGROUND = /session-memory|Write memories, and nothing else|^Consolidate /

const charactersOf = ({ content }: Answer): number => JSON.stringify(content).length
