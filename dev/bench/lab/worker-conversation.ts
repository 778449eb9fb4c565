/**
 * Generates a long conversation for measurements: the simulator's worker uses real tools in a scratch copy of this repository's code,
 * without a server. Tasks follow each other with pauses, as from a user.
 */
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Block, Message } from "@strata/core"
import { workerResponder } from "@strata/sim"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import { converse } from "../../../packages/sim/test/responder-tools.ts"

export interface WorkerOptions {
  readonly model: string
  /** Approximate number of tokens that enter the context. */
  readonly tokens: number
  /** The pause between two tasks. Within a task, answers follow each other at once. */
  readonly pauseMinutes: number
}

const SOURCES = fileURLToPath(new URL("../../../packages/core/src", import.meta.url))
const TURNS = 40 // for one task
const RESULT_CHARACTERS = 6_000
const SECONDS_PER_STEP = 15
const TASKS = [
  "Explain how the journal and the views fit together and improve the remarks in both.",
  "Find every place where sizes are estimated and check the figures.",
  "Tidy up the importers.",
  "Look for functions with too many arguments and write down which.",
]

export async function workerConversation({ model, tokens, pauseMinutes }: WorkerOptions): Promise<readonly Message[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "strata-worker-")))
  try {
    cpSync(SOURCES, root, { recursive: true })
    const responder = workerResponder({ seed: 5, turns: TURNS, resultSize: RESULT_CHARACTERS, pace: 3 })
    const conversation = converse({ responder, root })
    const { blocks } = createEstimator("claude-5")
    let [size, counted] = [0, 0]
    for (let task = 0; size < tokens; task++) {
      await conversation.say(`${TASKS[task % TASKS.length]} Round ${task + 1}.`)
      for (const { content } of conversation.messages.slice(counted)) size += blocks(content as unknown as Block[])
      counted = conversation.messages.length
    }
    return placed(conversation.messages as unknown as readonly WorkerMessage[], { model, pauseMinutes })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

interface WorkerMessage {
  readonly role: "user" | "assistant"
  readonly content: readonly Block[]
}

function placed(messages: readonly WorkerMessage[], { model, pauseMinutes }: Omit<WorkerOptions, "tokens">): Message[] {
  let at = Date.UTC(2026, 0, 1)
  return messages.map(({ role, content }, i) => {
    const isTask = role === "user" && !content.some(({ type }) => type === "tool_result")
    at += isTask && i > 0 ? pauseMinutes * 60_000 : SECONDS_PER_STEP * 1_000
    const place = { uuid: `m${i}`, parentUuid: i === 0 ? null : `m${i - 1}`, timestamp: new Date(at).toISOString() }
    return role === "user"
      ? { ...place, type: "user", message: { role, content } }
      : { ...place, type: "assistant", message: { id: `r${i}`, role, model, content: content.map(signed) } }
  })
}

/** The API rejects thinking without a signature. */
const signed = (block: Block): Block => (block.type === "thinking" ? { ...block, signature: "signed" } : block)
