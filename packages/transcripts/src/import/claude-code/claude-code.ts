/**
 * Imports Claude Code transcripts: one JSON line per message, progress report or bookkeeping record. Strata messages have the same shape,
 * so uuids, parents, times, flags, API ids and usage are preserved. Content stays unchanged, and tool inputs stay byte for byte. One
 * response of the API is often several lines with the same `message.id`.
 */

import type { Block, SystemMessage, Usage, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import type { CompactMetadata } from "@strata/core/messages"
import {
  isBoundary,
  isContinuation,
  isToolResult,
  isToolUse,
  type Message,
  parseExact,
  textOf,
  toBlocks,
  withExactInput,
} from "@strata/core/messages"
import { reportBranches } from "../active-branch.ts"
import { blocksFromApi } from "../external-blocks.ts"
import type { ExternalFile, ImportedAgent, ImportedConversation, Importer } from "../importer.ts"
import {
  definedOnly,
  firstObjects,
  getNumber,
  getObject,
  getString,
  isTrue,
  type JsonObject,
  jsonLines,
} from "../json-access.ts"
import type { LargeFile } from "../large-file.ts"
import { type LinkRepairs, resolveParents } from "../parent-links.ts"
import { Tally } from "../tally.ts"
import { AgentTrail } from "./agents.ts"
import { attachmentFrom, promptFrom } from "./attachments.ts"
import { unrecordedCompactions } from "./compactions.ts"
import { BOOKKEEPING, SYSTEM_SUBTYPES } from "./kinds.ts"
import { InputQueue } from "./queue.ts"
import { questionsIn, userTextsInResults } from "./user-text-in-results.ts"

const FORMAT = "claude-code"
const LINES_TO_RECOGNIZE = 20
const SYNTHETIC_MODEL = "<synthetic>"

/** Notifications of background agents and tasks, and commands to the program, pass through the same queue as user input. */
const MACHINE_INPUT = /^\s*(?:<(?:agent|task)-notification>|\{"task_id":"|\/[A-Za-z][\w:-]*(?:\s|$))/

const SYSTEM_FIELDS_KEPT = "position, subtype, text and compaction facts are imported, other fields are not"

export const claudeCode: Importer = {
  format: FORMAT,
  readsLarge: true,
  recognizes: ({ text }) => firstObjects(text, LINES_TO_RECOGNIZE).some(isTranscriptLine),
  read: (file) => {
    const conversation = new TranscriptReader().read(file)
    const [agent, ...others] = conversation.agents ?? []
    // a file of a single sub-agent is imported as a conversation
    const isAgentFile = conversation.messages.length === 0 && agent !== undefined && others.length === 0
    return [isAgentFile ? new TranscriptReader({ isAgent: true }).read(file) : conversation]
  },
}

/** Identifies copies of a message: a copy has a new uuid but the same time and ids. */
function keyOf(message: Message): string | undefined {
  if (message.type !== "user" && message.type !== "assistant") return undefined
  const [first] = toBlocks(message.message.content)
  const block = first && (isToolUse(first) ? first.id : isToolResult(first) ? first.tool_use_id : "")
  return [message.type, message.timestamp, message.type === "assistant" ? message.message.id : "", block].join(":")
}

function isTranscriptLine(line: JsonObject): boolean {
  const type = getString(line, "type")
  if (type === undefined) return false
  if ("uuid" in line && "parentUuid" in line) return true
  return Object.hasOwn(BOOKKEEPING, type) && ["sessionId", "leafUuid", "messageId"].some((key) => key in line)
}

interface TranscriptOptions {
  /** Set if the lines belong to a sub-agent: then sidechain lines are its conversation. */
  readonly isAgent?: boolean
  /** Counts the lines. Default: a new one. */
  readonly tally?: Tally
}

class TranscriptReader {
  readonly #tally: Tally
  readonly #isAgent: boolean
  readonly #trail = new AgentTrail()
  readonly #messages: Message[] = []
  readonly #seen = new Set<Uuid>()
  /** Ids of calls that ask the user a question. */
  readonly #asked = new Set<string>()
  /** Parents of lines that did not become messages. Their children are linked to these parents. */
  readonly #skipped = new Map<Uuid, Uuid | null>()
  readonly #sessions = new Set<string>()
  /** Uuids of messages by content key: the newest before the newest boundary, the newest since, and the copies written since. */
  readonly #before = new Map<string, Uuid>()
  readonly #since = new Map<string, Uuid>()
  readonly #copies = new Map<Uuid, Uuid>()
  readonly #queue = new InputQueue()
  /** The program version that wrote each boundary, and the summaries that a model wrote. */
  readonly #versions = new Map<Uuid, string>()
  readonly #summaries = new Set<Uuid>()
  #large: LargeFile | undefined
  #response: string | undefined
  #time = new Date(0).toISOString()
  #title: string | undefined
  #cwd: string | undefined
  #model: string | undefined
  #prompt: { readonly system?: string; readonly tools?: unknown } = {}

  constructor({ isAgent = false, tally = new Tally() }: TranscriptOptions = {}) {
    this.#isAgent = isAgent
    this.#tally = tally
  }

  read({ text, large, companions = [] }: ExternalFile): ImportedConversation {
    this.#large = large
    for (const line of jsonLines(large?.lines() ?? text, parseExact)) {
      if (line.object) this.#line(line.object)
      else this.#tally.notJson(line)
    }
    this.#deliverQueued(this.#messages.at(-1)?.uuid ?? null)
    const messages = this.#settled()
    const agents = this.#isAgent ? [] : this.#agents(messages, companions)
    const [session] = this.#sessions
    if (this.#sessions.size > 1)
      this.#tally.remark(`the lines name ${this.#sessions.size} sessions; they are imported as one`)
    reportBranches(messages, this.#tally)
    const compacted = { messages, agents, versions: this.#versions, summaries: this.#summaries }
    const spent = unrecordedCompactions(compacted)
    return definedOnly({
      format: FORMAT,
      id: session !== undefined && isSafeId(session) ? session : uuidFrom(text),
      title: this.#title,
      cwd: this.#cwd,
      model: this.#model,
      system: this.#prompt.system,
      tools: this.#prompt.tools,
      messages,
      agents: agents.length === 0 ? undefined : agents,
      spent: spent.length === 0 ? undefined : spent,
      report: this.#tally.report(),
    })
  }

  #settled(): readonly Message[] {
    const { messages, repairs } = resolveParents({ messages: this.#messages, skipped: this.#skipped })
    if (!this.#isAgent) remarkOnLinks(repairs, this.#tally)
    return messages
  }

  #agents(messages: readonly Message[], companions: readonly ExternalFile[]): readonly ImportedAgent[] {
    this.#trail.companions(companions)
    return this.#trail.agents(messages, {
      file: (file) => new TranscriptReader({ isAgent: true }).read(file),
      sidechain: (lines) => new TranscriptReader({ isAgent: true, tally: this.#tally }).#of(lines),
      progress: (lines) => new TranscriptReader({ isAgent: true }).#of(lines),
    })
  }

  #of(lines: Iterable<JsonObject>): Pick<ImportedConversation, "messages" | "model"> {
    for (const line of lines) this.#line(line)
    return definedOnly({ messages: this.#settled(), model: this.#model })
  }

  #line(fields: JsonObject): void {
    if (!this.#isAgent) {
      if (isTrue(fields, "isSidechain") && "uuid" in fields) {
        this.#trail.sidechain(fields)
        return
      }
      this.#trail.line(fields)
    }
    const type = getString(fields, "type") ?? "no type"
    const session = getString(fields, "sessionId")
    if (session !== undefined) this.#sessions.add(session)
    this.#cwd ??= getString(fields, "cwd")

    const uuid = getString(fields, "uuid")
    if (Object.hasOwn(BOOKKEEPING, type)) this.#bookkeeping(type, fields)
    else if (uuid === undefined) this.#tally.notUnderstood(type)
    else if (this.#seen.has(uuid)) this.#tally.omitted(`${type} again`, "an earlier line has the same uuid")
    else this.#add(uuid, this.#message(type, fields), fields)
  }

  #add(uuid: Uuid, message: Message | undefined, line: JsonObject): void {
    if (message) {
      if (message.type === "user") this.#queue.recorded(textOf(message.message.content))
      this.#push(
        this.#answersQueued(message) ? { ...message, parentUuid: this.#deliverQueued(message.parentUuid) } : message,
      )
    } else {
      this.#skipped.set(uuid, getString(line, "parentUuid") ?? null)
    }
  }

  #push(given: Message): Uuid {
    const message = this.#keptAgain(given)
    this.#seen.add(message.uuid)
    this.#messages.push(this.#large?.spill(message) ?? message)
    return message.uuid
  }

  /**
   * Links copies of messages. A plugin's compaction writes the messages of its tail again after the boundary. If a copy names an original
   * as its parent, it is linked to that original's copy.
   */
  #keptAgain(message: Message): Message {
    if (isBoundary(message)) {
      for (const [key, uuid] of this.#since) this.#before.set(key, uuid)
      this.#since.clear()
      this.#copies.clear()
    }
    const key = keyOf(message)
    const original = key === undefined ? undefined : this.#before.get(key)
    if (key !== undefined) this.#since.set(key, message.uuid)
    if (original === undefined) return message
    this.#copies.set(original, message.uuid)
    const parentUuid = this.#copies.get(message.parentUuid ?? "")
    return parentUuid === undefined ? message : { ...message, parentUuid }
  }

  /** Whether a message starts a new response. Inserted input was sent with the request for it, so it comes before. */
  #answersQueued(message: Message): boolean {
    if (message.type !== "assistant") return false
    const isNew = message.message.id !== this.#response
    this.#response = message.message.id
    return isNew
  }

  #deliverQueued(parent: Uuid | null): Uuid | null {
    return this.#queue.takeInserted().reduce((parentUuid: Uuid | null, input) => {
      const uuid = uuidFrom(`${FORMAT}:queued:${parentUuid}:${input}`)
      const isMeta = MACHINE_INPUT.test(input) && { isMeta: true }
      const message = { role: "user" as const, content: toBlocks(input) }
      return this.#push({ uuid, parentUuid, timestamp: this.#time, type: "user", message, ...isMeta })
    }, parent)
  }

  #bookkeeping(type: string, line: JsonObject): void {
    if (type === "queue-operation") this.#queue.operation(line)
    this.#title = getString(line, "customTitle") ?? getString(line, "aiTitle") ?? this.#title
    this.#tally.omitted(type, BOOKKEEPING[type]!)
  }

  /** Counts the line and returns its message, if it is one. */
  #message(type: string, line: JsonObject): Message | undefined {
    switch (type) {
      case "user":
        return this.#user(line)
      case "assistant":
        return this.#assistant(line)
      case "system":
        return this.#system(line)
      case "attachment":
        return this.#attachment(line)
      case "progress":
        this.#tally.understood(`progress:${getString(getObject(line, "data"), "type") ?? "none"}`)
        return { ...this.#place(line), type: "progress", data: line.data }
      default:
        this.#tally.notUnderstood(type)
        return undefined
    }
  }

  #user(line: JsonObject): Message | undefined {
    const content = blocksFromApi(getObject(line, "message")?.content)
    if (!content) return void this.#tally.notUnderstood("user without content")
    this.#tally.understood("user")
    if ("toolUseResult" in line) this.#tally.remark("structured output of a tool that the model did not see is omitted")
    const last = this.#messages.at(-1)
    // the text of a plugin's compaction is stored as if the user had typed it
    const isPlugins = last !== undefined && isBoundary(last) && isContinuation(textOf(content))
    const isSummary = (isTrue(line, "isCompactSummary") || isPlugins) && { isCompactSummary: true }
    if (isTrue(line, "isCompactSummary")) this.#summaries.add(getString(line, "uuid")!)
    const userTexts = userTextsInResults(line, { blocks: content, asked: this.#asked })
    return {
      ...this.#place(line),
      type: "user",
      message: { role: "user", content },
      ...isSummary,
      ...(userTexts.length > 0 && { saidInResults: userTexts }),
    }
  }

  #assistant(line: JsonObject): Message | undefined {
    const message = getObject(line, "message")
    const content = blocksFromApi(message?.content)?.map((block) => asSent(block, getObject(line, "wireToolInputs")))
    if (!content) return void this.#tally.notUnderstood("assistant without content")
    this.#tally.understood("assistant")
    for (const id of questionsIn(content)) this.#asked.add(id)
    const model = getString(message, "model")
    if (model !== SYNTHETIC_MODEL) this.#model = model ?? this.#model
    return {
      ...this.#place(line),
      type: "assistant",
      message: definedOnly({
        id: getString(message, "id"),
        role: "assistant" as const,
        model,
        content,
        stop_reason: message?.stop_reason === null ? null : getString(message, "stop_reason"),
        usage: usageFrom(getObject(message, "usage")),
      }),
      ...(isTrue(line, "isApiErrorMessage") && { isApiErrorMessage: true }),
      ...definedOnly({ requestId: getString(line, "requestId"), cacheMissReason: cacheMissReasonIn(message) }),
    }
  }

  #system(line: JsonObject): Message {
    const subtype = getString(line, "subtype")
    const kind = `system:${subtype ?? "none"}`
    if (!SYSTEM_SUBTYPES.has(subtype ?? "none")) this.#tally.notUnderstood(kind)
    else if (subtype === undefined || subtype === "compact_boundary") this.#tally.understood(kind)
    else this.#tally.omitted(kind, SYSTEM_FIELDS_KEPT)
    const compactMetadata = compactMetadataFrom(getObject(line, "compactMetadata"))
    const system: SystemMessage = {
      ...this.#place(line),
      type: "system",
      ...definedOnly({ subtype, content: getString(line, "content"), compactMetadata }),
      ...("logicalParentUuid" in line && { logicalParentUuid: getString(line, "logicalParentUuid") ?? null }),
    }
    const version = getString(line, "version")
    if (isBoundary(system) && version !== undefined) this.#versions.set(system.uuid, version)
    const kept = compactMetadata?.preservedMessages?.uuids
    if (Array.isArray(kept) && kept.some((uuid) => !this.#seen.has(uuid))) {
      this.#tally.remark("a boundary keeps messages that are not in this file")
    }
    return system
  }

  #attachment(line: JsonObject): Message {
    const { kind, attachment, understood, typedBlocks } = attachmentFrom(getObject(line, "attachment") ?? {}, line)
    this.#prompt = { ...this.#prompt, ...promptFrom(getObject(line, "attachment")) }
    if (understood) this.#tally.understood(`attachment:${kind}`)
    else this.#tally.notUnderstood(`attachment:${kind}`)
    // text typed while the model was working counts as a user message, however it was delivered
    if (typedBlocks) return { ...this.#place(line), type: "user", message: { role: "user", content: typedBlocks } }
    return { ...this.#place(line), type: "attachment", attachment }
  }

  #place(line: JsonObject) {
    this.#time = getString(line, "timestamp") ?? this.#time
    return {
      uuid: getString(line, "uuid")!,
      parentUuid: getString(line, "parentUuid") ?? null,
      timestamp: this.#time,
      ...definedOnly({ sessionId: getString(line, "sessionId") }),
      ...((isTrue(line, "isMeta") || isFromMachine(line)) && { isMeta: true }),
      ...(isTrue(line, "isVisibleInTranscriptOnly") && { isVisibleInTranscriptOnly: true }),
    }
  }
}

function remarkOnLinks({ unlinked, boundaries, afterKept, startsLater }: LinkRepairs, tally: Tally): void {
  if (startsLater) tally.remark("the file begins in the middle of a conversation")
  if (unlinked > 0)
    tally.remark(`messages whose parent is not in this file, placed after the line before them: ${unlinked}`)
  if (boundaries > 0)
    tally.remark(`boundaries that name no message of this file, placed after the line before them: ${boundaries}`)
  if (afterKept > 0)
    tally.remark(`messages linked to one that a boundary keeps, placed after the summary: ${afterKept}`)
}

/**
 * Restores the input that the model wrote. Newer versions modify the input of a call before running it and store the original separately.
 */
function asSent(block: Block, sent: JsonObject | undefined): Block {
  const input = isToolUse(block) ? getObject(sent, block.id) : undefined
  return input && isToolUse(block) ? withExactInput(block, JSON.stringify(input)) : block
}

/** Whether a task and not the user wrote a message. Newer versions record the origin. */
function isFromMachine(line: JsonObject): boolean {
  const speaker = getString(getObject(line, "origin"), "kind")
  return speaker !== undefined && speaker !== "human"
}

/** Reads the API's cache miss reason, which versions from 2.1.205 on record. Values of other forms are not API reasons. */
function cacheMissReasonIn(message: JsonObject | undefined): string | undefined {
  const reason = getString(getObject(getObject(message, "diagnostics"), "cache_miss_reason"), "type")
  return reason !== undefined && /^[a-z][a-z_]{0,39}$/.test(reason) ? reason : undefined
}

function usageFrom(usage: JsonObject | undefined): Usage | undefined {
  const isUsage = getNumber(usage, "input_tokens") !== undefined && getNumber(usage, "output_tokens") !== undefined
  return isUsage ? (usage as unknown as Usage) : undefined
}

function compactMetadataFrom(metadata: JsonObject | undefined): CompactMetadata | undefined {
  const trigger = getString(metadata, "trigger")
  const isMetadata = (trigger === "auto" || trigger === "manual") && getNumber(metadata, "preTokens") !== undefined
  return isMetadata ? (metadata as CompactMetadata) : undefined
}
