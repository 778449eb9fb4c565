/**
 * The soak's workplace: the simulator over HTTP with its worker, and an agent with all default layers and real tools in a scratch
 * copy of this repository. Simulated time passes as answers are written, so the soak can measure waiting without waiting.
 */

import { fileURLToPath } from "node:url"
import { type Agent, anthropicModel, fileTools, openAgent, openShellTools, todoWrite } from "@strata/core/internal"
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
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.08
const FIRST_TOKEN_MS = 2_000 // about what a large model takes until its first token
const MS_PER_CHARACTER = 4 // about 60 tokens a second

export interface WorkshopOptions {
  readonly window: number
  readonly seed: number
  /** Characters of a tool result, roughly. */
  readonly resultSize: number
}

export interface SoakWorkshop {
  readonly agent: Agent
  readonly simulator: Simulator
  close(): Promise<void>
}

export async function openSoakWorkshop({ window, seed, resultSize }: WorkshopOptions): Promise<SoakWorkshop> {
  const scratch = makeScratch(REPOSITORY)
  const models = { [MODEL]: { window } }
  const clock = frozenClock()
  const worker = workerBrain({
    seed,
    turns: TURNS_PER_TASK,
    pace: CALLS_AT_ONCE,
    resultSize,
    trouble: SHARE_OF_TROUBLE,
  })
  const simulator = await startSimulator({
    brain: takingTime(worker, clock),
    seed,
    models,
    clock,
    bindThinking: "error",
  })
  const shell = openShellTools()
  const closeRest = async () => {
    await shell.close()
    await simulator.close()
    scratch.remove()
  }
  try {
    const agent = await openAgent({
      model: anthropicModel({ model: MODEL, apiKey: "none-needed", baseURL: simulator.url, models }),
      tools: [...fileTools, ...shell.tools, todoWrite],
      cwd: scratch.project,
      dir: scratch.home,
      title: "soak",
      mode: "bypass", // the copy is deleted afterwards
      settings: { models },
      clock: { now: () => new Date(clock.now()) },
      env: { PATH: process.env.PATH },
    })
    return { agent, simulator, close: () => agent.close().finally(closeRest) }
  } catch (error) {
    await closeRest()
    throw error
  }
}

/** Makes answers take simulated time. Notes are written in the background, so they take none. */
function takingTime(brain: Brain, clock: { advance(ms: number): void }): Brain {
  return {
    name: brain.name,
    async answer(turn) {
      const answer = await brain.answer(turn)
      const asked = turn.request.messages.at(-1)?.content.map(({ text = "" }) => text) ?? []
      const isNotes = asked.some((text) => text.includes("session-memory"))
      if (!isNotes) clock.advance(FIRST_TOKEN_MS + charactersOf(answer) * MS_PER_CHARACTER)
      return answer
    },
  }
}

const charactersOf = ({ content }: Answer): number => JSON.stringify(content).length
