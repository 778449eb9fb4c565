/**
 * Claude Code transcripts: one JSON line per message, progress report or bookkeeping record. Our messages have the same shape,
 * so they keep uuids, parents, times, flags, API ids and usage. Content stays unchanged, and tool inputs stay byte for byte.
 * One response of the API is often several lines with the same `message.id`.
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
import { blocksFromApi } from "../foreign-blocks.ts"
import { type Fields, fieldsAt, firstFields, isTrue, jsonLines, numberAt, present, textAt } from "../foreign-json.ts"
import type { ExternalFile, ImportedAgent, ImportedConversation, Importer } from "../importer.ts"
import type { LargeFile } from "../large-file.ts"
import { type LinkRepairs, settleLinks } from "../links.ts"
import { remarkOnBranches } from "../main-path.ts"
import { Tally } from "../tally.ts"
import { AgentTrail } from "./agents.ts"
import { attachmentFrom, promptFrom } from "./attachments.ts"
import { unrecordedCompactions } from "./compactions.ts"
import { BOOKKEEPING, SYSTEM_SUBTYPES } from "./kinds.ts"
import { InputQueue } from "./queue.ts"
import { questionsIn, saidInResults } from "./said.ts"

const FORMAT = "claude-code"
const LINES_TO_RECOGNISE = 20
const SYNTHETIC_MODEL = "<synthetic>"

/** Reports of background agents and tasks, and commands to the program, go through the same queue as a person's input. */
const MACHINE_INPUT = /^\s*(?:<(?:agent|task)-notification>|\{"task_id":"|\/[A-Za-z][\w:-]*(?:\s|$))/

const SYSTEM_FIELDS_KEPT = "position, subtype, text and compaction facts are kept, other fields are not"

export const claudeCode: Importer = {
  format: FORMAT,
  readsLarge: true,
  recognises: ({ text }) => firstFields(text, LINES_TO_RECOGNISE).some(isTranscriptLine),
  read: (file) => {
    const conversation = new Transcript().read(file)
    const [agent, ...others] = conversation.agents ?? []
    // the file of a sub-agent alone is a conversation of its own
    const isAgentFile = conversation.messages.length === 0 && agent !== undefined && others.length === 0
    return [isAgentFile ? new Transcript({ isAgent: true }).read(file) : conversation]
  },
}

/** A copy has another uuid, and the same time and ids. */
function keyOf(message: Message): string | undefined {
  if (message.type !== "user" && message.type !== "assistant") return undefined
  const [first] = toBlocks(message.message.content)
  const block = first && (isToolUse(first) ? first.id : isToolResult(first) ? first.tool_use_id : "")
  return [message.type, message.timestamp, message.type === "assistant" ? message.message.id : "", block].join(":")
}

function isTranscriptLine(line: Fields): boolean {
  const type = textAt(line, "type")
  if (type === undefined) return false
  if ("uuid" in line && "parentUuid" in line) return true
  return Object.hasOwn(BOOKKEEPING, type) && ["sessionId", "leafUuid", "messageId"].some((key) => key in line)
}

interface TranscriptOptions {
  /** The lines are a sub-agent's: those marked as a sidechain are its conversation. */
  readonly isAgent?: boolean
  /** Counts the lines. Default: a new one. */
  readonly tally?: Tally
}

class Transcript {
  readonly #tally: Tally
  readonly #isAgent: boolean
  readonly #trail = new AgentTrail()
  readonly #messages: Message[] = []
  readonly #seen = new Set<Uuid>()
  /** Calls that ask the person something. */
  readonly #asked = new Set<string>()
  /** Lines with a uuid that became no message. Their children get their parent. */
  readonly #skipped = new Map<Uuid, Uuid | null>()
  readonly #sessions = new Set<string>()
  /** The newest line of each message before the newest boundary and since, and the lines since that repeat earlier ones. */
  readonly #before = new Map<string, Uuid>()
  readonly #since = new Map<string, Uuid>()
  readonly #copies = new Map<Uuid, Uuid>()
  readonly #queue = new InputQueue()
  /** The version that wrote each boundary, and the summaries that a model wrote. */
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
      if (line.fields) this.#line(line.fields)
      else this.#tally.notJson(line)
    }
    this.#deliverQueued(this.#messages.at(-1)?.uuid ?? null)
    const messages = this.#settled()
    const agents = this.#isAgent ? [] : this.#agents(messages, companions)
    const [session] = this.#sessions
    if (this.#sessions.size > 1)
      this.#tally.remark(`the lines name ${this.#sessions.size} sessions; they are imported as one`)
    remarkOnBranches(messages, this.#tally)
    const compacted = { messages, agents, versions: this.#versions, summaries: this.#summaries }
    const spent = unrecordedCompactions(compacted)
    return present({
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
    const { messages, repairs } = settleLinks({ messages: this.#messages, skipped: this.#skipped })
    if (!this.#isAgent) remarkOnLinks(repairs, this.#tally)
    return messages
  }

  #agents(messages: readonly Message[], companions: readonly ExternalFile[]): readonly ImportedAgent[] {
    this.#trail.companions(companions)
    return this.#trail.agents(messages, {
      file: (file) => new Transcript({ isAgent: true }).read(file),
      sidechain: (lines) => new Transcript({ isAgent: true, tally: this.#tally }).#of(lines),
      progress: (lines) => new Transcript({ isAgent: true }).#of(lines),
    })
  }

  #of(lines: Iterable<Fields>): Pick<ImportedConversation, "messages" | "model"> {
    for (const line of lines) this.#line(line)
    return present({ messages: this.#settled(), model: this.#model })
  }

  #line(fields: Fields): void {
    if (!this.#isAgent) {
      if (isTrue(fields, "isSidechain") && "uuid" in fields) {
        this.#trail.sidechain(fields)
        return
      }
      this.#trail.line(fields)
    }
    const type = textAt(fields, "type") ?? "no type"
    const session = textAt(fields, "sessionId")
    if (session !== undefined) this.#sessions.add(session)
    this.#cwd ??= textAt(fields, "cwd")

    const uuid = textAt(fields, "uuid")
    if (Object.hasOwn(BOOKKEEPING, type)) this.#bookkeeping(type, fields)
    else if (uuid === undefined) this.#tally.notUnderstood(type)
    else if (this.#seen.has(uuid)) this.#tally.leftOut(`${type} again`, "an earlier line has the same uuid")
    else this.#add(uuid, this.#message(type, fields), fields)
  }

  #add(uuid: Uuid, message: Message | undefined, line: Fields): void {
    if (message) {
      if (message.type === "user") this.#queue.recorded(textOf(message.message.content))
      this.#push(
        this.#answersQueued(message) ? { ...message, parentUuid: this.#deliverQueued(message.parentUuid) } : message,
      )
    } else {
      this.#skipped.set(uuid, textAt(line, "parentUuid") ?? null)
    }
  }

  #push(given: Message): Uuid {
    const message = this.#keptAgain(given)
    this.#seen.add(message.uuid)
    this.#messages.push(this.#large?.spill(message) ?? message)
    return message.uuid
  }

  /** A message that a plugin's compaction kept is written again after the boundary. Its parent may still be the line before: then it is that one's copy. */
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

  /** Inserted input was sent with the next request, so it comes before the response to that request. */
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

  #bookkeeping(type: string, line: Fields): void {
    if (type === "queue-operation") this.#queue.operation(line)
    this.#title = textAt(line, "customTitle") ?? textAt(line, "aiTitle") ?? this.#title
    this.#tally.leftOut(type, BOOKKEEPING[type]!)
  }

  /** Counts the line and returns its message, if it is one. */
  #message(type: string, line: Fields): Message | undefined {
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
        this.#tally.understood(`progress:${textAt(fieldsAt(line, "data"), "type") ?? "none"}`)
        return { ...this.#place(line), type: "progress", data: line.data }
      default:
        this.#tally.notUnderstood(type)
        return undefined
    }
  }

  #user(line: Fields): Message | undefined {
    const content = blocksFromApi(fieldsAt(line, "message")?.content)
    if (!content) return void this.#tally.notUnderstood("user without content")
    this.#tally.understood("user")
    if ("toolUseResult" in line)
      this.#tally.remark("structured output of a tool that the model did not see is left out")
    const last = this.#messages.at(-1)
    // a plugin's text after a boundary is stored as if the person had typed it
    const isPlugins = last !== undefined && isBoundary(last) && isContinuation(textOf(content))
    const isSummary = (isTrue(line, "isCompactSummary") || isPlugins) && { isCompactSummary: true }
    if (isTrue(line, "isCompactSummary")) this.#summaries.add(textAt(line, "uuid")!)
    const said = saidInResults(line, { blocks: content, asked: this.#asked })
    return {
      ...this.#place(line),
      type: "user",
      message: { role: "user", content },
      ...isSummary,
      ...(said.length > 0 && { saidInResults: said }),
    }
  }

  #assistant(line: Fields): Message | undefined {
    const message = fieldsAt(line, "message")
    const content = blocksFromApi(message?.content)?.map((block) => asSent(block, fieldsAt(line, "wireToolInputs")))
    if (!content) return void this.#tally.notUnderstood("assistant without content")
    this.#tally.understood("assistant")
    for (const id of questionsIn(content)) this.#asked.add(id)
    const model = textAt(message, "model")
    if (model !== SYNTHETIC_MODEL) this.#model = model ?? this.#model
    return {
      ...this.#place(line),
      type: "assistant",
      message: present({
        id: textAt(message, "id"),
        role: "assistant" as const,
        model,
        content,
        stop_reason: message?.stop_reason === null ? null : textAt(message, "stop_reason"),
        usage: usageFrom(fieldsAt(message, "usage")),
      }),
      ...(isTrue(line, "isApiErrorMessage") && { isApiErrorMessage: true }),
      ...present({ requestId: textAt(line, "requestId"), cacheMissReason: cacheMissReasonIn(message) }),
    }
  }

  #system(line: Fields): Message {
    const subtype = textAt(line, "subtype")
    const kind = `system:${subtype ?? "none"}`
    if (!SYSTEM_SUBTYPES.has(subtype ?? "none")) this.#tally.notUnderstood(kind)
    else if (subtype === undefined || subtype === "compact_boundary") this.#tally.understood(kind)
    else this.#tally.leftOut(kind, SYSTEM_FIELDS_KEPT)
    const compactMetadata = compactMetadataFrom(fieldsAt(line, "compactMetadata"))
    const system: SystemMessage = {
      ...this.#place(line),
      type: "system",
      ...present({ subtype, content: textAt(line, "content"), compactMetadata }),
      ...("logicalParentUuid" in line && { logicalParentUuid: textAt(line, "logicalParentUuid") ?? null }),
    }
    const version = textAt(line, "version")
    if (isBoundary(system) && version !== undefined) this.#versions.set(system.uuid, version)
    const kept = compactMetadata?.preservedMessages?.uuids
    if (Array.isArray(kept) && kept.some((uuid) => !this.#seen.has(uuid))) {
      this.#tally.remark("a boundary keeps messages that are not in this file")
    }
    return system
  }

  #attachment(line: Fields): Message {
    const { kind, attachment, understood, words } = attachmentFrom(fieldsAt(line, "attachment") ?? {}, line)
    this.#prompt = { ...this.#prompt, ...promptFrom(fieldsAt(line, "attachment")) }
    if (understood) this.#tally.understood(`attachment:${kind}`)
    else this.#tally.notUnderstood(`attachment:${kind}`)
    // what a person typed while the model was working counts as theirs, however it was delivered
    if (words) return { ...this.#place(line), type: "user", message: { role: "user", content: words } }
    return { ...this.#place(line), type: "attachment", attachment }
  }

  #place(line: Fields) {
    this.#time = textAt(line, "timestamp") ?? this.#time
    return {
      uuid: textAt(line, "uuid")!,
      parentUuid: textAt(line, "parentUuid") ?? null,
      timestamp: this.#time,
      ...present({ sessionId: textAt(line, "sessionId") }),
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

/** Newer versions change the input of a call before they run it, and keep beside it what the model wrote. */
function asSent(block: Block, sent: Fields | undefined): Block {
  const input = isToolUse(block) ? fieldsAt(sent, block.id) : undefined
  return input && isToolUse(block) ? withExactInput(block, JSON.stringify(input)) : block
}

/** Newer versions record the origin of a user message: the person or a background task. */
function isFromMachine(line: Fields): boolean {
  const speaker = textAt(fieldsAt(line, "origin"), "kind")
  return speaker !== undefined && speaker !== "human"
}

/** Versions from 2.1.205 on have it. Other kinds of text are no reason of the API. */
function cacheMissReasonIn(message: Fields | undefined): string | undefined {
  const reason = textAt(fieldsAt(fieldsAt(message, "diagnostics"), "cache_miss_reason"), "type")
  return reason !== undefined && /^[a-z][a-z_]{0,39}$/.test(reason) ? reason : undefined
}

function usageFrom(usage: Fields | undefined): Usage | undefined {
  const isUsage = numberAt(usage, "input_tokens") !== undefined && numberAt(usage, "output_tokens") !== undefined
  return isUsage ? (usage as unknown as Usage) : undefined
}

function compactMetadataFrom(metadata: Fields | undefined): CompactMetadata | undefined {
  const trigger = textAt(metadata, "trigger")
  const isMetadata = (trigger === "auto" || trigger === "manual") && numberAt(metadata, "preTokens") !== undefined
  return isMetadata ? (metadata as CompactMetadata) : undefined
}
