/**
 * The environment of the demo: a simulator on loopback, the official SDK, and agents with the real tools in a scratch copy. All of them
 * work in the same project, so they share its memory.
 */
import {
  type Agent,
  anthropicModel,
  localUser,
  type MemoryBank,
  openAgent,
  openMemoryBank,
  type Settings,
} from "@strata/core"
import { fileTools, openShellTools, todoWrite } from "@strata/core/agent"
import { FIGURES } from "@strata/core/settings"
import { createClock, type Scratch, startSimulator, workerResponder } from "@strata/sim"

export const MODEL = "claude-opus-5-5"
const OVERLOADED_REQUEST = 6 // one request fails, to show the retry
const SMALL_WINDOW = 60_000 // tokens; in a larger window the model thinks results through
const MAX_RESULT_CHARACTERS = 45_000 // longer results would be offloaded in every window
const RESULT_SHARE = 0.4 // characters per token of the window
const CALLS_AT_ONCE = { min: 4, max: 20, tokensPerCall: 25_000 }
const THOUGHT_SHARE = 0.2 // characters per token beyond the small window; unlike results, thinking cannot be cleared
const MAX_THOUGHT_CHARACTERS = 40_000
/** Limits per minute. With the default limits, a fast run would exhaust its quota, and the last memories would wait for the next minute. */
const UNLIMITED_RATES = { requests: 1_000_000, inputTokens: 1_000_000_000, outputTokens: 1_000_000_000 }
const FAILURE_SHARE = 0.12
const TURNS_OF_A_SHORT_TASK = 4
const DAY_MS = 86_400_000
/** Background work may take a larger share of the cost, because notes cost the same in a small window while compaction is cheap. */
const BACKGROUND_SHARE = 20 // percent
/**
 * Environment variables that would change the demo: keys, addresses, settings of Strata and other agents. The user's choice of store is
 * preserved.
 */
const EXCLUDED_VARIABLES = /^(?:STRATA_(?!STORE$)|(?:ANTHROPIC|CLAUDE|DISABLE|OPENAI|OTEL)_)/

/** Limits as shares of a small window, in place of the defaults. */
const SMALL_WINDOW_SHARES = { "size-clear-keep": 0.2, "size-clear-min": 0.15, "tool-result-limit": 0.33 } as const

export interface DemoEnvironmentOptions {
  readonly scratch: Scratch
  /** Planned turns per task. */
  readonly turns: number
  readonly seed: number
  readonly window: number
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface DemoEnvironment {
  /** Opens a new conversation. Close the previous one first. */
  open(title: string): Promise<Agent>
  readonly project: string
  /** Memory of the project, for reading. */
  readonly bank: MemoryBank
  now(): Date
  /** From now on, the simulated model takes only a few turns for a task. */
  shortenTasks(): void
  nextDay(): void
  close(): Promise<void>
}

export async function openDemoEnvironment({
  scratch,
  turns,
  seed,
  window,
  env,
}: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const models: Settings["models"] = { [MODEL]: { window } }
  const settings = { ...workFor(window), seed, trouble: FAILURE_SHARE }
  let worker = workerResponder({ ...settings, turns })
  const clock = createClock()
  const now = () => new Date(clock.now())
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !EXCLUDED_VARIABLES.test(name)))
  const where = { cwd: scratch.project, dir: scratch.home, env: own }
  const simulator = await startSimulator({
    responder: { name: worker.name, answer: (turn) => worker.answer(turn) },
    clock,
    seed,
    models,
    rateLimits: UNLIMITED_RATES,
    faults: [{ fault: { kind: "overloaded" }, nth: OVERLOADED_REQUEST }],
  })
  const shell = openShellTools()
  let newest: Agent | undefined
  return {
    project: scratch.project,
    bank: await openMemoryBank({ ...where, owner: localUser, readOnly: true }),
    now,
    async open(title) {
      newest = await openAgent({
        model: anthropicModel({ model: MODEL, apiKey: "none-needed", baseURL: simulator.url, models }),
        tools: [...fileTools, ...shell.tools, todoWrite],
        ...where,
        title,
        memory: { owner: localUser },
        mode: "bypass", // safe in a scratch copy
        settings: { models, figures: flagsFor(window) },
        clock: { now },
      })
      return newest
    },
    shortenTasks() {
      worker = workerResponder({ ...settings, turns: TURNS_OF_A_SHORT_TASK, trouble: 0 })
    },
    nextDay: () => clock.advance(DAY_MS),
    async close() {
      try {
        await newest?.close()
      } finally {
        await shell.close()
        await simulator.close()
      }
    },
  }
}

/** The work of one request grows with the window. Otherwise, clearing alone would keep a large window from filling up. */
function workFor(window: number) {
  const { min, max, tokensPerCall } = CALLS_AT_ONCE
  return {
    pace: Math.min(max, Math.max(min, Math.round(window / tokensPerCall))),
    resultSize: Math.min(MAX_RESULT_CHARACTERS, Math.floor(window * RESULT_SHARE)),
    thoughtSize: Math.min(MAX_THOUGHT_CHARACTERS, Math.floor(Math.max(0, window - SMALL_WINDOW) * THOUGHT_SHARE)),
  }
}

/** The defaults suit a window of 200,000 tokens: in a small one, layers 1 and 2 would never act. */
function flagsFor(window: number): Settings["figures"] {
  const sizes = Object.entries(SMALL_WINDOW_SHARES).map(([name, share]) => {
    const usual = FIGURES.find((figure) => figure.name === name)!.value
    return [name, Math.min(usual, Math.floor(window * share))]
  })
  return { ...Object.fromEntries(sizes), "background-share": BACKGROUND_SHARE }
}
