/** Everything the demo runs on: a simulator on loopback, the official SDK, and an agent with the real tools in a scratch copy. */
import type { Agent, Settings } from "@strata/core/internal"
import { openAgent } from "@strata/core/internal/agent/open-agent"
import { FIGURES } from "@strata/core/internal/base/flag-names"
import { anthropicModel } from "@strata/core/internal/model/anthropic/anthropic"
import { fileTools, openShellTools } from "@strata/core/internal/tools/coding-tools"
import { todoWrite } from "@strata/core/internal/tools/session/todo-write"
import { type Scratch, type Simulator, startSimulator, workerBrain } from "@strata/sim"

export const MODEL = "claude-opus-5-5"
const OVERLOADED_REQUEST = 6 // one request fails, to show the retry
const RESULT_CHARACTERS = 24_000 // fewer in a small window, so that several results fit
const RESULT_SHARE = 0.4 // characters per token of the window
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.12
/** Variables that would change the demo: keys, addresses, settings of Strata and other agents. */
const NOT_FOR_THE_DEMO = /^(?:STRATA|ANTHROPIC|CLAUDE|DISABLE|OPENAI|OTEL)_/

/** Shares of a small window, in place of the default figures. */
const SMALL_WINDOW = { "size-clear-keep": 0.2, "size-clear-least": 0.15, "tool-result-limit": 0.33 } as const

export interface WorkshopOptions {
  readonly scratch: Scratch
  /** Planned turns per task. */
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
      mode: "bypass", // safe in a scratch copy
      settings: { models, figures: figuresFor(window) },
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_THE_DEMO.test(name))),
    })
    return { agent, simulator, close: () => agent.close().finally(close) }
  } catch (error) {
    await close()
    throw error
  }
}

/** The default figures suit a window of 200,000 tokens: in a small one, layers 1 and 2 would never act. */
function figuresFor(window: number): Settings["figures"] {
  return Object.fromEntries(
    Object.entries(SMALL_WINDOW).map(([name, share]) => {
      const usual = FIGURES.find((figure) => figure.name === name)!.value
      return [name, Math.min(usual, Math.floor(window * share))]
    }),
  )
}
