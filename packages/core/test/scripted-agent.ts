/** An agent with a model in the same process, which plays the given answers and records its requests. Real files, real tools. */
import { realpathSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { Agent } from "../src/agent/agent.ts"
import type { QueryEvent } from "../src/agent/loop/query-events.ts"
import { openAgent } from "../src/agent/open-agent.ts"
import type { SingleAgentOptions } from "../src/agent/options.ts"
import { localUser } from "../src/base/owner.ts"
import { memoryStore } from "../src/journal/in-memory/store.ts"
import type { Store } from "../src/journal/store.ts"
import type { Block } from "../src/messages/blocks.ts"
import type { ModelRequest } from "../src/messages/request.ts"
import type { Model, ModelResponse } from "../src/model/model.ts"
import { findModel } from "../src/tokens/models.ts"
import { scratchDirectory } from "./tool-context.ts"

const MODEL = "claude-opus-4-6"

/** Content of a response, or a complete one. */
export type Turn = string | readonly object[] | Partial<ModelResponse>

let count = 0

export const calling = (name: string, input: object = {}): readonly object[] => [
  { type: "tool_use", id: `toolu_${++count}`, name, input },
]

export interface Scene {
  readonly cwd: string
  readonly dir: string
  readonly store: Store
  readonly requests: ModelRequest[]
  /** Opens the scene's conversation. A second call resumes it, after the first agent was closed. */
  open(turns: readonly Turn[], options?: Partial<SingleAgentOptions>): Promise<Agent>
}

export function scene(): Scene {
  const root = realpathSync(scratchDirectory())
  const [store, requests] = [memoryStore(), [] as ModelRequest[]]
  const where = { cwd: root, dir: join(root, "home") }
  return {
    ...where,
    store,
    requests,
    async open(turns, options = {}) {
      const model = playing(turns, requests)
      const agent = await openAgent({
        model,
        ...where,
        id: "scene",
        env: {},
        memory: { owner: localUser },
        store,
        ...options,
      })
      onTestFinished(() => agent.close())
      return agent
    },
  }
}

function playing(turns: readonly Turn[], requests: ModelRequest[]): Model {
  const left = [...turns]
  return {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    async *stream(request) {
      requests.push(JSON.parse(JSON.stringify(request)) as ModelRequest)
      yield { type: "response", response: responseOf(left.shift() ?? "Done.") }
    },
  }
}

function responseOf(turn: Turn): ModelResponse {
  const whole = typeof turn === "object" && !Array.isArray(turn) ? (turn as Partial<ModelResponse>) : undefined
  const content =
    whole?.content ?? (typeof turn === "string" ? [{ type: "text", text: turn }] : (turn as readonly object[]))
  const isCall = (content as readonly Block[]).some(({ type }) => type === "tool_use")
  return {
    id: `msg_${++count}`,
    model: MODEL,
    stop_reason: isCall ? "tool_use" : "end_turn",
    usage: { input_tokens: 1_000, output_tokens: 10 },
    ...whole,
    content,
  } as ModelResponse
}

export async function ask(agent: Agent, prompt?: string): Promise<readonly QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of agent.query(prompt, { maxTurns: 10 })) events.push(event)
  return events
}

/** The texts of the tool results, in order. */
export const resultsIn = (events: readonly QueryEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "tool-result" ? [String(event.result.content)] : []))
