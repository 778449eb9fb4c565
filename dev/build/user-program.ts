/**
 * A program that a user might write: the README's loop in a small window, then Strata's agent with its tools, both against the simulator.
 * Runs in a directory where only the built packages are installed. Prints the outcome as one line of JSON.
 */
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Conversation } from "@strata/core"
import { startSimulator, workerResponder } from "@strata/sim"
import { workOn } from "../../examples/agent.ts"
import { ask } from "../../examples/own-loop.ts"
import { readOnlyRunner, readOnlyTools } from "../../examples/read-only-tools.ts"

export interface ProgramResult {
  readonly answered: boolean
  readonly compactions: number
  readonly agentEnd: string | undefined
  readonly refused: number
  readonly requests: number
}

const QUESTIONS = 12 // enough to fill the small window
const SMALL_WINDOW = 40_000

async function main(): Promise<ProgramResult> {
  const cwd = process.cwd()
  const dir = join(cwd, "home")
  const simulator = await startSimulator({ responder: workerResponder({ seed: 2, turns: 5, trouble: 0 }) })
  const model = "claude-opus-5-5"
  const agent = {
    client: new Anthropic({ apiKey: "none", baseURL: simulator.url }),
    model,
    system: `You look around. Working directory: ${cwd}`,
    tools: readOnlyTools,
    run: readOnlyRunner(cwd),
  }
  const settings = { models: { [model]: { window: SMALL_WINDOW } } }
  let answered = true
  let compactions = 0
  for (let question = 1; question <= QUESTIONS; question++) {
    const watch = (chat: Conversation) => {
      chat.on("compaction", ({ phase }) => {
        if (phase === "done") compactions += 1
      })
    }
    const chat = await ask(agent, `Question ${question}: what is here?`, { dir, id: "small-window", settings, watch })
    answered &&= chat.workState().answered
    await chat.close()
  }
  const task = { text: "Look around.", cwd, apiKey: "none", baseURL: simulator.url, dir, render: () => {} }
  const end = await workOn(task)
  await simulator.close()
  const refused = simulator.log.filter(({ status }) => status !== 200).length
  return { answered, compactions, agentEnd: end?.reason, refused, requests: simulator.log.length }
}

main().then((outcome) => console.log(JSON.stringify(outcome)))
