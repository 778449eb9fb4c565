/**
 * Reads the sub-agents of a Claude Code transcript. Their messages are in separate files, in lines marked as a sidechain, or in progress
 * reports; the first of these that exists counts. The conversation shows which call started each agent and how it ended.
 */

import type { Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { contentOf, isToolResult, type Message, textOf } from "@strata/core/messages"
import type { AgentEnding, AgentKind } from "@strata/core/store"
import type { ExternalFile, ImportedAgent, ImportReport } from "../importer.ts"
import {
  asObject,
  getList,
  getObject,
  getObjects,
  getString,
  isTrue,
  type JsonObject,
  parseObject,
} from "../json-access.ts"

/** The former and the current name of the tool. */
const AGENT_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent"])
const COMPANION = /^agent-([A-Za-z0-9_-]+)\.(jsonl|meta\.json)$/
const NOTIFICATION = /<task-notification>[\s\S]*?<\/task-notification>/g
const UNKNOWN_CALL = "unknown"
const COMPACTING = "acompact" // the program's own forks for summaries begin with it
const MAX_CHARACTERS = 200 // characters of a description or a summary

interface AgentCall {
  readonly id: string
  readonly input: JsonObject
  /** The message with the call. */
  readonly message: Uuid
}

interface AgentSource {
  readonly id: string
  callId?: string | undefined
  meta?: JsonObject
  /** The structured output of the tool, next to its text. */
  returned?: JsonObject
  file?: ExternalFile
  readonly sidechain: JsonObject[]
  readonly progress: JsonObject[]
}

interface ReadAgent {
  readonly messages: readonly Message[]
  readonly model?: string
  readonly report?: ImportReport
}

/** Read the messages of an agent from each of the sources where they can be. */
export interface AgentReaders {
  readonly file: (file: ExternalFile) => ReadAgent
  readonly sidechain: (lines: Iterable<JsonObject>) => ReadAgent
  readonly progress: (lines: Iterable<JsonObject>) => ReadAgent
}

export class AgentTrail {
  readonly #calls = new Map<string, AgentCall>()
  readonly #agents = new Map<string, AgentSource>()
  /** The agent of each sidechain line, by the line's uuid. Lines of old versions do not name the agent. */
  readonly #sides = new Map<Uuid, AgentSource>()

  /** Processes a line of the conversation itself. */
  line(line: JsonObject): void {
    const type = getString(line, "type")
    if (type === "assistant") this.#noteCalls(line)
    else if (type === "user") this.#noteResult(line)
    else if (type === "progress") this.#noteProgress(line)
  }

  sidechain(line: JsonObject): void {
    const uuid = getString(line, "uuid")
    const parent = getString(line, "parentUuid")
    const named = getString(line, "agentId")
    const agent =
      named !== undefined && isSafeId(named)
        ? this.#agent(named)
        : ((parent === undefined ? undefined : this.#sides.get(parent)) ??
          this.#agent(`side-${uuidFrom(uuid ?? JSON.stringify(line)).slice(0, 8)}`))
    agent.sidechain.push(line)
    if (uuid !== undefined) this.#sides.set(uuid, agent)
  }

  /** Adds the files next to the transcript. Files that do not belong to a sub-agent are ignored. */
  companions(files: readonly ExternalFile[]): void {
    for (const file of files) {
      const [, id, kind] = COMPANION.exec(file.name) ?? []
      if (id === undefined || !isSafeId(id)) continue
      const agent = this.#agent(id)
      if (kind === "jsonl") agent.file = file
      else agent.meta = parseObject(file.text) ?? {}
    }
  }

  /** Returns the agents in the order of their calls, then those whose call is unknown. */
  agents(messages: readonly Message[], readers: AgentReaders): readonly ImportedAgent[] {
    const found = [...this.#agents.values()].map((agent) => ({ agent, own: ownMessages(agent, readers) }))
    for (const { agent, own } of found)
      agent.callId ??= getString(agent.meta, "toolUseId") ?? this.#callFor(own.messages)
    const endings = readEndings(messages, new Set(found.map(({ agent }) => agent.callId)))
    const order = [...this.#calls.keys()]
    const place = ({ agent }: { agent: AgentSource }) => {
      const at = order.indexOf(agent.callId ?? "")
      return at < 0 ? order.length : at
    }
    return found
      .sort((a, b) => place(a) - place(b))
      .map(({ agent, own }) => importedAgent({ agent, own, call: this.#calls.get(agent.callId ?? ""), endings }))
  }

  #agent(id: string): AgentSource {
    const agent = this.#agents.get(id) ?? { id, sidechain: [], progress: [] }
    this.#agents.set(id, agent)
    return agent
  }

  #noteCalls(line: JsonObject): void {
    for (const item of getList(getObject(line, "message"), "content")) {
      const block = asObject(item)
      const id = getString(block, "id")
      const message = getString(line, "uuid")
      if (id === undefined || message === undefined || !AGENT_TOOLS.has(getString(block, "name") ?? "")) continue
      this.#calls.set(id, { id, input: getObject(block, "input") ?? {}, message })
    }
  }

  #noteResult(line: JsonObject): void {
    const returned = getObject(line, "toolUseResult")
    const id = getString(returned, "agentId")
    if (id === undefined || !isSafeId(id)) return
    const results = getList(getObject(line, "message"), "content").map(asObject)
    const callId = results.map((block) => getString(block, "tool_use_id")).find((call) => this.#calls.has(call ?? ""))
    if (callId === undefined) return
    const agent = this.#agent(id)
    agent.callId ??= callId // later results answer messages to the agent
    agent.returned ??= returned!
  }

  #noteProgress(line: JsonObject): void {
    const data = getObject(line, "data")
    const id = getString(data, "agentId")
    const message = getObject(data, "message")
    if (getString(data, "type") !== "agent_progress" || id === undefined || !isSafeId(id) || !message) return
    const agent = this.#agent(id)
    const callId = getString(line, "parentToolUseID")
    if (callId !== undefined) agent.callId ??= callId
    agent.progress.push(message)
  }

  /** Finds the unclaimed call whose prompt equals the agent's first message. */
  #callFor(messages: readonly Message[]): string | undefined {
    const prompt = promptIn(messages)?.trim()
    if (prompt === undefined) return undefined
    const taken = new Set([...this.#agents.values()].map(({ callId }) => callId))
    return [...this.#calls.values()].find(
      ({ id, input }) => !taken.has(id) && getString(input, "prompt")?.trim() === prompt,
    )?.id
  }
}

/** Reads an agent's messages. All sidechain lines are counted, even if a file has the same messages. */
function ownMessages(agent: AgentSource, readers: AgentReaders): ReadAgent {
  const aside = agent.sidechain.length === 0 ? undefined : readers.sidechain(agent.sidechain)
  return agent.file ? readers.file(agent.file) : (aside ?? readers.progress(chainedProgress(agent.progress)))
}

/** Links progress reports, which name no parents, in their order. */
function* chainedProgress(messages: readonly JsonObject[]): Generator<JsonObject> {
  let parentUuid: string | null = null
  for (const message of messages) {
    yield { ...message, parentUuid }
    parentUuid = getString(message, "uuid") ?? parentUuid
  }
}

interface AgentEndFacts {
  readonly status: AgentEnding
  /** The complete text. */
  readonly text: string
  readonly message: Uuid
}

/** Reads how agents ended: by call id for those that their lead waited for, by agent id for those in the background. */
/** Reads the results of these calls only: all other results may be larger than memory. */
function readEndings(
  messages: readonly Message[],
  calls: ReadonlySet<string | undefined>,
): ReadonlyMap<string, AgentEndFacts> {
  const endings = new Map<string, AgentEndFacts>()
  for (const message of messages) {
    if (message.type !== "user") continue
    const blocks = contentOf(message)
    for (const block of blocks.filter(isToolResult)) {
      if (!calls.has(block.tool_use_id)) continue
      const text = resultText(block)
      const status = block.is_error ? "failed" : "completed"
      endings.set(block.tool_use_id, { status, text, message: message.uuid })
    }
    for (const [notice] of textOf(blocks).matchAll(NOTIFICATION)) {
      const id = /<task-id>([^<]*)<\/task-id>/.exec(notice)?.[1]
      const text = /<summary>([\s\S]*?)<\/summary>/.exec(notice)?.[1] ?? ""
      if (id === undefined) continue
      endings.set(id, {
        status: endingOf(/<status>([^<]*)<\/status>/.exec(notice)?.[1]),
        text,
        message: message.uuid,
      })
    }
  }
  return endings
}

/** Reads the text of a result from another program's file, whose content may have any shape. */
function resultText(result: object): string {
  const fields = asObject(result)
  const texts = getObjects(fields, "content").map((block) =>
    block.type === "text" ? getString(block, "text") : undefined,
  )
  return getString(fields, "content") ?? texts.filter((text) => text !== undefined).join("\n")
}

function endingOf(status: string | undefined): AgentEnding {
  if (status === "completed") return "completed"
  return status === "killed" || status === "stopped" ? "killed" : "failed"
}

interface AgentFacts {
  readonly agent: AgentSource
  readonly own: ReadAgent
  readonly call: AgentCall | undefined
  readonly endings: ReadonlyMap<string, AgentEndFacts>
}

function importedAgent({ agent, own, call, endings }: AgentFacts): ImportedAgent {
  const { id, meta, returned, callId = UNKNOWN_CALL } = agent
  const input = call?.input
  const kind = kindOf(agent, input)
  const ending = kind === "wait" ? (endings.get(callId) ?? endings.get(id)) : endings.get(id)
  const definition =
    getString(input, "subagent_type") ?? getString(meta, "agentType") ?? getString(returned, "agentType")
  const described = getString(input, "description") ?? getString(meta, "description") ?? promptIn(own.messages) ?? id
  return {
    id,
    name: getString(input, "name") || getString(meta, "name") || id,
    kind,
    description: oneLine(described),
    ...(definition === undefined ? {} : { definition }),
    model: own.model ?? getString(returned, "resolvedModel") ?? getString(meta, "model") ?? "unknown",
    callId,
    ...(call ? { startedIn: call.message } : {}),
    ...(ending ? { endedIn: ending.message } : {}),
    status: ending?.status ?? "killed",
    summary: ending ? oneLine(ending.text) : "The transcript does not say how it ended.",
    ...(id.startsWith(COMPACTING) ? { purpose: "compaction" as const } : {}),
    messages: own.messages.map(asTask),
    ...(own.report ? { report: own.report } : {}),
  }
}

function kindOf({ meta, returned }: AgentSource, input: JsonObject | undefined): AgentKind {
  if ([getString(input, "subagent_type"), getString(meta, "agentType")].includes("fork")) return "fork"
  if (getString(input, "team_name") !== undefined) return "teammate"
  const isBackground =
    isTrue(input, "run_in_background") ||
    isTrue(returned, "isAsync") ||
    getString(returned, "status") === "async_launched"
  return isBackground ? "background" : "wait"
}

function promptIn(messages: readonly Message[]): string | undefined {
  const first = messages.find((message) => message.type === "user")
  return first && textOf(contentOf(first))
}

/** Sets `isMeta` on a task, because another agent wrote it, not the user. */
const asTask = (message: Message): Message =>
  message.type === "user" && !contentOf(message).some(isToolResult) ? { ...message, isMeta: true } : message

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  const characters = [...line]
  return characters.length <= MAX_CHARACTERS ? line : `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…`
}
