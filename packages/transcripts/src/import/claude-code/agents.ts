/**
 * The sub-agents in a Claude Code transcript. Their messages are in files of their own, in lines marked as a sidechain, or in progress
 * reports; the first of these that is there counts. The conversation says which call started each and how it ended.
 */

import type { Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { contentOf, isToolResult, type Message, textOf } from "@strata/core/messages"
import type { AgentEnding, AgentKind } from "@strata/core/store"
import { asFields, type Fields, fieldsAt, isTrue, listAt, parseFields, recordsAt, textAt } from "../foreign-json.ts"
import type { ExternalFile, ImportedAgent, ImportReport } from "../importer.ts"

/** The tool's earlier and present name. */
const AGENT_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent"])
const COMPANION = /^agent-([A-Za-z0-9_-]+)\.(jsonl|meta\.json)$/
const NOTIFICATION = /<task-notification>[\s\S]*?<\/task-notification>/g
const UNKNOWN_CALL = "unknown"
const COMPACTING = "acompact" // the program's own forks for summaries begin with it
const MAX_CHARACTERS = 200 // of a description or a summary

interface Call {
  readonly id: string
  readonly input: Fields
  /** The message with the call. */
  readonly message: Uuid
}

interface Found {
  readonly id: string
  callId?: string | undefined
  meta?: Fields
  /** What the tool returned beside its text. */
  returned?: Fields
  file?: ExternalFile
  readonly sidechain: Fields[]
  readonly progress: Fields[]
}

interface ReadAgent {
  readonly messages: readonly Message[]
  readonly model?: string
  readonly report?: ImportReport
}

/** Reads what an agent said, from each of the places where it can be. */
export interface AgentReaders {
  readonly file: (file: ExternalFile) => ReadAgent
  readonly sidechain: (lines: Iterable<Fields>) => ReadAgent
  readonly progress: (lines: Iterable<Fields>) => ReadAgent
}

export class AgentTrail {
  readonly #calls = new Map<string, Call>()
  readonly #agents = new Map<string, Found>()
  /** The agent of each sidechain line, by the line's uuid. Old versions name no agent. */
  readonly #sides = new Map<Uuid, Found>()

  /** A line of the conversation itself. */
  line(line: Fields): void {
    const type = textAt(line, "type")
    if (type === "assistant") this.#noteCalls(line)
    else if (type === "user") this.#noteResult(line)
    else if (type === "progress") this.#noteProgress(line)
  }

  sidechain(line: Fields): void {
    const uuid = textAt(line, "uuid")
    const parent = textAt(line, "parentUuid")
    const named = textAt(line, "agentId")
    const agent =
      named !== undefined && isSafeId(named)
        ? this.#agent(named)
        : ((parent === undefined ? undefined : this.#sides.get(parent)) ??
          this.#agent(`side-${uuidFrom(uuid ?? JSON.stringify(line)).slice(0, 8)}`))
    agent.sidechain.push(line)
    if (uuid !== undefined) this.#sides.set(uuid, agent)
  }

  /** The files next to the transcript. What is not a sub-agent's is left alone. */
  companions(files: readonly ExternalFile[]): void {
    for (const file of files) {
      const [, id, kind] = COMPANION.exec(file.name) ?? []
      if (id === undefined || !isSafeId(id)) continue
      const agent = this.#agent(id)
      if (kind === "jsonl") agent.file = file
      else agent.meta = parseFields(file.text) ?? {}
    }
  }

  /** The agents in the order of their calls, then those whose call is not known. */
  agents(messages: readonly Message[], readers: AgentReaders): readonly ImportedAgent[] {
    const found = [...this.#agents.values()].map((agent) => ({ agent, own: ownMessages(agent, readers) }))
    for (const { agent, own } of found) agent.callId ??= textAt(agent.meta, "toolUseId") ?? this.#callFor(own.messages)
    const endings = endingsIn(messages, new Set(found.map(({ agent }) => agent.callId)))
    const order = [...this.#calls.keys()]
    const place = ({ agent }: { agent: Found }) => {
      const at = order.indexOf(agent.callId ?? "")
      return at < 0 ? order.length : at
    }
    return found
      .sort((a, b) => place(a) - place(b))
      .map(({ agent, own }) => importedAgent({ agent, own, call: this.#calls.get(agent.callId ?? ""), endings }))
  }

  #agent(id: string): Found {
    const agent = this.#agents.get(id) ?? { id, sidechain: [], progress: [] }
    this.#agents.set(id, agent)
    return agent
  }

  #noteCalls(line: Fields): void {
    for (const item of listAt(fieldsAt(line, "message"), "content")) {
      const block = asFields(item)
      const id = textAt(block, "id")
      const message = textAt(line, "uuid")
      if (id === undefined || message === undefined || !AGENT_TOOLS.has(textAt(block, "name") ?? "")) continue
      this.#calls.set(id, { id, input: fieldsAt(block, "input") ?? {}, message })
    }
  }

  #noteResult(line: Fields): void {
    const returned = fieldsAt(line, "toolUseResult")
    const id = textAt(returned, "agentId")
    if (id === undefined || !isSafeId(id)) return
    const results = listAt(fieldsAt(line, "message"), "content").map(asFields)
    const callId = results.map((block) => textAt(block, "tool_use_id")).find((call) => this.#calls.has(call ?? ""))
    if (callId === undefined) return
    const agent = this.#agent(id)
    agent.callId ??= callId // a later result is of a message to it
    agent.returned ??= returned!
  }

  #noteProgress(line: Fields): void {
    const data = fieldsAt(line, "data")
    const id = textAt(data, "agentId")
    const message = fieldsAt(data, "message")
    if (textAt(data, "type") !== "agent_progress" || id === undefined || !isSafeId(id) || !message) return
    const agent = this.#agent(id)
    const callId = textAt(line, "parentToolUseID")
    if (callId !== undefined) agent.callId ??= callId
    agent.progress.push(message)
  }

  /** The call whose prompt is the agent's first message, if no other agent has it. */
  #callFor(messages: readonly Message[]): string | undefined {
    const prompt = promptIn(messages)?.trim()
    if (prompt === undefined) return undefined
    const taken = new Set([...this.#agents.values()].map(({ callId }) => callId))
    return [...this.#calls.values()].find(
      ({ id, input }) => !taken.has(id) && textAt(input, "prompt")?.trim() === prompt,
    )?.id
  }
}

/** All lines of a sidechain are counted, also if a file has the same messages. */
function ownMessages(agent: Found, readers: AgentReaders): ReadAgent {
  const aside = agent.sidechain.length === 0 ? undefined : readers.sidechain(agent.sidechain)
  return agent.file ? readers.file(agent.file) : (aside ?? readers.progress(chainedProgress(agent.progress)))
}

/** Progress reports have no parents: each follows the one before it. */
function* chainedProgress(messages: readonly Fields[]): Generator<Fields> {
  let parentUuid: string | null = null
  for (const message of messages) {
    yield { ...message, parentUuid }
    parentUuid = textAt(message, "uuid") ?? parentUuid
  }
}

interface Ending {
  readonly status: AgentEnding
  /** Whole: only those of agents are read. */
  readonly text: string
  readonly message: Uuid
}

/** How agents ended, by the call (for those that were waited for) or by the agent's id (for those in the background). */
/** Of these calls only: the results of all others may be larger than memory. */
function endingsIn(messages: readonly Message[], calls: ReadonlySet<string | undefined>): ReadonlyMap<string, Ending> {
  const endings = new Map<string, Ending>()
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

/** The content may be anything, in another program's file. */
function resultText(result: object): string {
  const fields = asFields(result)
  const texts = recordsAt(fields, "content").map((block) => (block.type === "text" ? textAt(block, "text") : undefined))
  return textAt(fields, "content") ?? texts.filter((text) => text !== undefined).join("\n")
}

function endingOf(status: string | undefined): AgentEnding {
  if (status === "completed") return "completed"
  return status === "killed" || status === "stopped" ? "killed" : "failed"
}

interface Known {
  readonly agent: Found
  readonly own: ReadAgent
  readonly call: Call | undefined
  readonly endings: ReadonlyMap<string, Ending>
}

function importedAgent({ agent, own, call, endings }: Known): ImportedAgent {
  const { id, meta, returned, callId = UNKNOWN_CALL } = agent
  const input = call?.input
  const kind = kindOf(agent, input)
  const ending = kind === "wait" ? (endings.get(callId) ?? endings.get(id)) : endings.get(id)
  const definition = textAt(input, "subagent_type") ?? textAt(meta, "agentType") ?? textAt(returned, "agentType")
  const described = textAt(input, "description") ?? textAt(meta, "description") ?? promptIn(own.messages) ?? id
  return {
    id,
    name: textAt(input, "name") || textAt(meta, "name") || id,
    kind,
    description: oneLine(described),
    ...(definition === undefined ? {} : { definition }),
    model: own.model ?? textAt(returned, "resolvedModel") ?? textAt(meta, "model") ?? "unknown",
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

function kindOf({ meta, returned }: Found, input: Fields | undefined): AgentKind {
  if ([textAt(input, "subagent_type"), textAt(meta, "agentType")].includes("fork")) return "fork"
  if (textAt(input, "team_name") !== undefined) return "teammate"
  const isBackground =
    isTrue(input, "run_in_background") || isTrue(returned, "isAsync") || textAt(returned, "status") === "async_launched"
  return isBackground ? "background" : "wait"
}

function promptIn(messages: readonly Message[]): string | undefined {
  const first = messages.find((message) => message.type === "user")
  return first && textOf(contentOf(first))
}

/** What another agent asks for is not what the person said. */
const asTask = (message: Message): Message =>
  message.type === "user" && !contentOf(message).some(isToolResult) ? { ...message, isMeta: true } : message

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  const characters = [...line]
  return characters.length <= MAX_CHARACTERS ? line : `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…`
}
