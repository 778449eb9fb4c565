/** Scenes shared by the probes: an agent in memory with a model in the same process, and conversations filled without requests. */
import { join } from "node:path"
import type { Agent } from "../../../src/agent/agent.ts"
import type { QueryEvent } from "../../../src/agent/loop/query-events.ts"
import { openAgent } from "../../../src/agent/open-agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { manualClock, seededIds } from "../../../src/base/clock.ts"
import { localUser } from "../../../src/base/owner.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { FORK_MARKER } from "../../../src/forks/fork.ts"
import type { DecisionEntry } from "../../../src/journal/entries.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Block } from "../../../src/messages/blocks.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import type { Model, ModelResponse, StreamOptions } from "../../../src/model/model.ts"
import type { SettingsInput } from "../../../src/settings/settings.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { scratchDirectory } from "../../tool-context.ts"

/** A model whose server clears nothing and edits no caches, so that each mechanism of layer 2 can be observed alone. */
export const PLAIN = "claude-opus-4-6"
export const MINUTE = 60_000

type Subject = "work" | "summary" | "notes" | "memory" | "dream"
type Answer = string | readonly object[] | Partial<ModelResponse> | Error
export type Responder = Partial<Record<Subject, (request: ModelRequest, nth: number) => Answer>>

export interface SceneOptions extends Partial<SingleAgentOptions> {
  readonly name?: string
  readonly responder?: Responder
  /** Whether to store notes and memories in files. */
  readonly onDisk?: boolean
  /** Settings that the scene needs for every row. */
  readonly base?: SettingsInput
}

export interface SentRequest {
  readonly about: Subject
  readonly request: ModelRequest
  readonly model: string
  readonly limits: StreamOptions["limits"]
}

export interface OpenScene {
  readonly agent: Agent
  readonly chat: Conversation
  readonly clock: ReturnType<typeof manualClock>
  readonly cwd: string
  readonly requests: SentRequest[]
  /** Messages of layers and compactions. */
  readonly messages: string[]
  of(about: Subject): readonly ModelRequest[]
}

/** Turns off background requests, and features that act before the tested row, unless a probe is about them. */
export const QUIET: SettingsInput = { memory: "off", planner: "off", switches: { notes: false } }

export function mergeSettings(...layers: readonly SettingsInput[]): SettingsInput {
  const result: Record<string, unknown> = {}
  for (const layer of layers)
    for (const [key, value] of Object.entries(layer)) {
      const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
      result[key] = isRecord ? { ...(result[key] as object), ...value } : value
    }
  return result
}

const opened: { close(): Promise<void> }[] = []
export function toClose<T extends { close(): Promise<void> }>(agent: T): T {
  opened.push(agent)
  return agent
}

/** Closes everything that the probes opened. */
export const closeAll = async () => {
  for (const agent of opened.splice(0)) await agent.close()
}

export async function scene(turned: SettingsInput, options: SceneOptions = {}): Promise<OpenScene> {
  const { name = PLAIN, responder = {}, base = {}, onDisk = false, ...rest } = options
  const settings = mergeSettings(QUIET, base, turned)
  const requests: OpenScene["requests"] = []
  const clock = manualClock()
  const cwd = rest.cwd ?? scratchDirectory()
  const model = modelNamed(name, { settings, responder, requests })
  const agent = await openAgent({
    ...{ model, cwd, dir: join(cwd, "home"), id: "scene", env: {}, clock, tools: [] },
    ...(onDisk ? {} : { store: memoryStore() }),
    ...{ mode: "bypass", memory: { owner: localUser }, ids: seededIds("scene"), ...rest, settings },
  })
  toClose(agent)
  const { conversation: chat } = agent
  const messages: string[] = []
  chat.on("layerActed", ({ message }) => message !== undefined && messages.push(message))
  chat.on("compaction", (step) => "message" in step && messages.push(step.message))
  chat.on("notice", ({ message }) => messages.push(message))
  const of = (about: Subject) => requests.filter((each) => each.about === about).map(({ request }) => request)
  return { agent, chat, clock, cwd, requests, messages, of }
}

interface ModelOptions {
  readonly settings: SettingsInput
  readonly responder: Responder
  readonly requests: OpenScene["requests"]
}

let responses = 0
export function modelNamed(name: string, { settings, responder, requests }: ModelOptions): Model {
  return {
    name,
    provider: "test",
    facts: findModel(name, settings.models ?? {}).facts,
    sibling: (other) => modelNamed(other, { settings, responder, requests }),
    async *stream(request, { limits } = {}) {
      const about = subjectOf(request)
      const nth = requests.filter((each) => each.about === about).length
      requests.push({ about, request: JSON.parse(JSON.stringify(request)) as ModelRequest, model: name, limits })
      const answer = responder[about]?.(request, nth) ?? (about === "summary" ? SUMMARY : "Done.")
      if (answer instanceof Error) throw answer
      yield { type: "response", response: responseOf(answer, { model: name, request }) }
    },
  }
}

export const SUMMARY = "<summary>\n1. Primary Request and Intent:\nThe parser was repaired.\n</summary>"

interface Asked {
  readonly model: string
  readonly request: ModelRequest
}

function responseOf(answer: Exclude<Answer, Error>, { model, request }: Asked): ModelResponse {
  const whole = typeof answer === "object" && !Array.isArray(answer) ? (answer as Partial<ModelResponse>) : {}
  const content = whole.content ?? (typeof answer === "string" ? [{ type: "text", text: answer }] : answer)
  const calls = (content as readonly Block[]).some(({ type }) => type === "tool_use")
  const usage = { input_tokens: Math.ceil(JSON.stringify(request).length / 4), output_tokens: 10 }
  const stop_reason = calls ? "tool_use" : "end_turn"
  return { id: `msg_${++responses}`, model, stop_reason, usage, ...whole, content } as never
}

function subjectOf({ messages }: ModelRequest): Subject {
  const texts = messages.flatMap(({ content }) =>
    typeof content === "string" ? content : (content as Block[]).map((block) => ("text" in block ? block.text : "")),
  ) as readonly string[]
  const directive = texts.find((text) => text?.includes(`<${FORK_MARKER}`)) ?? texts.at(-1) ?? ""
  if (/<summary>/.test(directive)) return "summary"
  if (/session-memory/.test(directive)) return "notes"
  if (/^Consolidate the memory directory/m.test(directive)) return "dream"
  return directive.includes(`<${FORK_MARKER}`) ? "memory" : "work"
}

export async function ask({ agent }: OpenScene, prompt: string): Promise<readonly QueryEvent[]> {
  const events: QueryEvent[] = []
  for await (const event of agent.query(prompt, { maxTurns: 40 })) {
    events.push(event)
    if (event.type === "error") event.take()
  }
  return events
}

let calls = 0
/** One call of each tool in one round, answered with these texts. */
export async function round(chat: Conversation, tool: string, texts: readonly string[], usage: object = {}) {
  const ids = texts.map(() => `toolu_${++calls}`)
  await chat.record({
    ...{ id: `msg_r${calls}`, model: PLAIN, stop_reason: "tool_use" },
    content: [
      { type: "text", text: `Part ${calls} comes next.` },
      ...ids.map((id) => ({ type: "tool_use", id, name: tool, input: { command: `make part-${calls}` } })),
    ],
    usage: { input_tokens: Math.max(10, engineOf(chat).views.context.size().tokens), output_tokens: 5, ...usage },
  })
  const content = ids.map((id, at) => ({ type: "tool_result" as const, tool_use_id: id, content: texts[at]! }))
  await chat.add({ role: "user", content })
}

/** Plain words with about this many tokens. */
export const words = (tokens: number): string => "several words ".repeat(Math.ceil(tokens / 2))

/** A task and rounds of a tool. */
export async function work(chat: Conversation, { rounds = 8, tokens = 500, tool = "Bash", usage = {} } = {}) {
  await chat.add("Repair the parser.")
  for (let at = 0; at < rounds; at++) await round(chat, tool, [`part ${at}\n${words(tokens)}`], usage)
}

export const calling = (name: string, input: object = {}): readonly object[] => [
  { type: "tool_use", id: `toolu_${++calls}`, name, input },
]

/** Matches a text that contains this one. */
export const says = (text: string | RegExp) => ({
  asymmetricMatch: (value: unknown) => String(value).search(text) >= 0,
})

export const textOf = (request: ModelRequest): string => JSON.stringify(request.messages)

export const clearedIn = (request: ModelRequest): number =>
  textOf(request).split("[Old tool result content cleared]").length - 1

export async function decisions<S extends DecisionEntry["subtype"]>(chat: Conversation, subtype: S) {
  const found: Extract<DecisionEntry, { subtype: S }>[] = []
  for await (const entry of chat.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry as never)
  return found
}
