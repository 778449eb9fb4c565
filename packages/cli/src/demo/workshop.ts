/** Everything the demo runs on: a simulator on loopback, a model on the official SDK, an agent with the real tools in a scratch copy. */
import type { Settings } from "@strata/core"
import { type Agent, anthropicModel, openAgent } from "@strata/core/agent"
import { FileReads, fileTools, openShellTools, type Tool, todoWrite } from "@strata/core/tools"
import { type Simulator, startSimulator, workerBrain } from "@strata/sim"
import type { Scratch } from "./scratch.ts"

export const MODEL = "claude-opus-5-5"
const OVERLOADED_REQUEST = 6 // one request fails, so that the retry can be seen
const RESULT_CHARACTERS = 16_000
const CALLS_AT_ONCE = 4
const SHARE_OF_TROUBLE = 0.12
/** Variables that would make the demo something else: keys, addresses, settings of ours and of other agents. */
const NOT_FOR_THE_DEMO = /^(?:STRATA|ANTHROPIC|CLAUDE|DISABLE|OPENAI|OTEL)_/

export interface WorkshopOptions {
  readonly scratch: Scratch
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
    brain: workerBrain({ seed, turns, pace: CALLS_AT_ONCE, resultSize: RESULT_CHARACTERS, trouble: SHARE_OF_TROUBLE }),
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
      tools: [...fileTools, ...shell.tools, todoWrite as unknown as Tool],
      cwd: scratch.project,
      dir: scratch.home,
      title: "strata demo",
      mode: "bypass", // in a copy that is thrown away
      reads: new FileReads(),
      settings: { models },
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_THE_DEMO.test(name))),
    })
    return { agent, simulator, close: () => agent.close().finally(close) }
  } catch (error) {
    await close()
    throw error
  }
}
