/** Everything the demo runs on: a simulator on loopback, a model on the official SDK, an agent with the real tools in a scratch copy. */
import type { Settings } from "@strata/core"
import { type Agent, anthropicModel, openAgent } from "@strata/core/agent"
import { FIGURES } from "@strata/core/parts"
import { FileReads, fileTools, openShellTools, todoWrite } from "@strata/core/tools"
import { type Simulator, startSimulator, workerBrain } from "@strata/sim"
import type { Scratch } from "./scratch.ts"

export const MODEL = "claude-opus-5-5"
const OVERLOADED_REQUEST = 6 // one request fails, so that the retry can be seen
const RESULT_CHARACTERS = 24_000 // in a small window fewer, so that several fit
const RESULT_SHARE = 0.4 // characters for each token of the window
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.12
/** Variables that would make the demo something else: keys, addresses, settings of ours and of other agents. */
const NOT_FOR_THE_DEMO = /^(?:STRATA|ANTHROPIC|CLAUDE|DISABLE|OPENAI|OTEL)_/

/** Shares of the window, where that is smaller than the one the figures are meant for. */
const SMALL_WINDOW = { "size-clear-keep": 0.2, "size-clear-least": 0.15, "tool-result-limit": 0.33 } as const

export interface WorkshopOptions {
  readonly scratch: Scratch
  /** Turns for one task, about. */
  readonly turns: number
  readonly seed: number
  readonly window: number
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Workshop {
  readonly agent: Agent
  readonly simulator: Simulator
  close(): Promise<void>
}

export async function openWorkshop({ scratch, turns, seed, window, env }: WorkshopOptions): Promise<Workshop> {
  const models: Settings["models"] = { [MODEL]: { window } }
  const simulator = await startSimulator({
    brain: workerBrain({
      seed,
      turns,
      pace: CALLS_AT_ONCE,
      resultSize: Math.min(RESULT_CHARACTERS, Math.floor(window * RESULT_SHARE)),
      trouble: SHARE_OF_TROUBLE,
    }),
    seed,
    models,
    faults: [{ fault: { kind: "overloaded" }, nth: OVERLOADED_REQUEST }],
  })
  const shell = openShellTools()
  const close = async () => {
    await shell.close()
    await simulator.close()
  }
  try {
    const agent = await openAgent({
      model: anthropicModel({ model: MODEL, apiKey: "none-needed", baseURL: simulator.url, models }),
      tools: [...fileTools, ...shell.tools, todoWrite],
      cwd: scratch.project,
      dir: scratch.home,
      title: "strata demo",
      mode: "bypass", // in a copy that is thrown away
      reads: new FileReads(),
      settings: { models, figures: figuresFor(window) },
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_THE_DEMO.test(name))),
    })
    return { agent, simulator, close: () => agent.close().finally(close) }
  } catch (error) {
    await close()
    throw error
  }
}

/** The layers' figures are meant for a window of 200,000 tokens: in a small one the cheap layers would never have anything to do. */
function figuresFor(window: number): Settings["figures"] {
  return Object.fromEntries(
    Object.entries(SMALL_WINDOW).map(([name, share]) => {
      const usual = FIGURES.find((figure) => figure.name === name)!.value
      return [name, Math.min(usual, Math.floor(window * share))]
    }),
  )
}
