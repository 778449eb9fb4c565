/**
 * Imports sessions of the Copilot CLI (`events.jsonl`): one JSON line per event with `type`, `data` and `id`. Messages of the user and the
 * model and the ends of tool calls form the conversation; events with a `parentToolCallId` belong to a sub-agent.
 */

import type { Block, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { contentOf, isToolUse, type Message, type UserTextInResult } from "@strata/core/messages"
import { Chain, type Origin } from "../chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "../external-blocks.ts"
import type { ExternalFile, ImportedAgent, ImportedConversation, ImportedUsage, Importer } from "../importer.ts"
import {
  asObject,
  definedOnly,
  firstObjects,
  getNumber,
  getObject,
  getObjects,
  getString,
  type JsonObject,
  jsonLines,
} from "../json-access.ts"
import { Tally } from "../tally.ts"

// Collects the sub-agents of a Copilot session. An agent is identified by the call that started it, whose id its events carry.

const MAX_CHARACTERS = 200 // characters of a description or a summary

interface Ending {
  readonly message: Uuid
  readonly content: string
  readonly failed: boolean
}

export class CopilotAgents {
  readonly #seed: string
  readonly #chains = new Map<string, Chain>()
  readonly #facts = new Map<string, JsonObject>()
  readonly #endings = new Map<string, Ending>()

  constructor(seed: string) {
    this.#seed = seed
  }

  chainOf(callId: string): Chain {
    const chain = this.#chains.get(callId) ?? new Chain(`${this.#seed}:${callId}`)
    this.#chains.set(callId, chain)
    return chain
  }

  noted(type: string, data: JsonObject): void {
    const id = getString(data, "toolCallId")
    if (id === undefined || type !== "subagent.started") return
    this.#facts.set(id, data)
    this.chainOf(id)
  }

  /** Records the end of a call. Most calls start no agent. */
  ended(callId: string, ending: Ending): void {
    this.#endings.set(callId, ending)
  }

  all(messages: readonly Message[]): readonly ImportedAgent[] {
    return [...this.#chains].map(([callId, chain]): ImportedAgent => {
      const [facts, ending] = [this.#facts.get(callId), this.#endings.get(callId)]
      const start = messages.find((message) => callsIn(message).includes(callId))
      const name = getString(facts, "agentName")
      const model = chain.messages.flatMap((m) => (m.type === "assistant" ? (m.message.model ?? []) : [])).at(-1)
      return {
        id: isSafeId(callId) ? callId : uuidFrom(callId),
        name: name ?? callId,
        kind: "wait",
        description: oneLine(
          getString(facts, "agentDisplayName") ?? getString(facts, "agentDescription") ?? name ?? callId,
        ),
        ...(name === undefined ? {} : { definition: name }),
        model: model ?? "unknown",
        callId,
        ...(start ? { startedIn: start.uuid } : {}),
        ...(ending ? { endedIn: ending.message } : {}),
        status: ending ? (ending.failed ? "failed" : "completed") : "killed",
        summary: ending ? oneLine(ending.content) : "The transcript does not say how it ended.",
        messages: chain.messages,
      }
    })
  }
}

const callsIn = (message: Message): readonly string[] =>
  message.type === "assistant" ? contentOf(message).flatMap((block) => (isToolUse(block) ? block.id : [])) : []

const oneLine = (text: string): string => [...text.replace(/\s+/g, " ").trim()].slice(0, MAX_CHARACTERS).join("")

const FORMAT = "copilot"
const LINES_TO_RECOGNIZE = 5
/** Prefixes of events that describe the course of the session and are not messages. */
const COURSE = "the course of the session, not part of the conversation"
const GROUPS =
  /^(?:session|assistant|tool|hook|permission|user_input|elicitation|command|external_tool|subagent|skill|mcp|exit_plan_mode|pending_messages|sampling|capabilities|commands)\./
/** Prefixes of texts that the program inserts as user messages. */
const FROM_PROGRAM = /^\s*<(?:skill-context|system_|agent_instructions|reminder)/
const ANSWERED = /^User (?:selected|responded|answered)(?: with)?: ([\s\S]*)$/
const ASKING_TOOL = "ask_user"

export const copilot: Importer = {
  format: FORMAT,
  recognizes: ({ text }) =>
    firstObjects(text, LINES_TO_RECOGNIZE).some(
      (line) =>
        GROUPS.test(`${getString(line, "type")}`) &&
        getObject(line, "data") !== undefined &&
        "parentId" in line &&
        "id" in line,
    ),
  read: (file) => [new Session(file).read()],
}

class Session {
  readonly #text: string
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  readonly #agents: CopilotAgents
  /** Ids of the events so far. */
  readonly #ids = new Set<string>()
  /** Names of open calls by id, and the user's pending answers to questions. */
  readonly #calls = new Map<string, string>()
  readonly #answers: string[] = []
  readonly #refusals = new Map<string, string>()
  /** Token totals by the start time of a run. Of a run, the last totals count. */
  readonly #totals = new Map<number, readonly ImportedUsage[]>()
  #cwd: string | undefined
  #model: string | undefined
  #system: string | undefined
  #title: string | undefined

  constructor({ text }: ExternalFile) {
    this.#text = text
    const start = jsonLines(text).find(({ object }) => getString(object, "type") === "session.start")
    const id = getString(getObject(start?.object, "data"), "sessionId") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    this.#agents = new CopilotAgents(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    for (const [index, line] of [...this.#tally.withoutRepeats(jsonLines(this.#text))].entries()) {
      const { object } = line
      const parent = getString(object, "parentId")
      if (parent !== undefined && !this.#ids.has(parent)) this.#tally.parentMissing()
      if (object) this.#event(object, index)
      else this.#tally.notJson(line)
      this.#ids.add(getString(object, "id") ?? "")
    }
    const agents = this.#agents.all(this.#chain.messages)
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: this.#title,
      cwd: this.#cwd,
      model: this.#model,
      system: this.#system,
      messages: this.#chain.messages,
      agents: agents.length === 0 ? undefined : agents,
      spent: this.#totals.size === 0 ? undefined : [...this.#totals.values()].flat(),
      report: this.#tally.report(),
    })
  }

  readonly #events: Readonly<Record<string, (data: JsonObject, origin: Origin) => void>> = {
    "session.start": (data) => this.#session("session.start", data),
    "session.resume": (data) => this.#session("session.resume", data),
    "session.context_changed": (data) => this.#session("session.context_changed", data),
    "session.model_change": (data) => {
      this.#model = getString(data, "newModel") ?? this.#model
      this.#tally.understood("session.model_change")
    },
    "session.title_changed": (data) => {
      this.#title = getString(data, "title") ?? this.#title
      this.#tally.understood("session.title_changed")
    },
    "session.compaction_complete": (data, origin) => this.#compacted(data, origin),
    "session.shutdown": (data) => this.#shutdown(data),
    "system.message": (data) => {
      this.#system = getString(data, "content") ?? this.#system
      this.#tally.understood("system.message")
    },
    "system.notification": (data, origin) => this.#notice(data, origin),
    "user.message": (data, origin) => this.#user(data, origin),
    "user_input.completed": (data) => {
      this.#answers.push(...(getString(data, "answer") ? [getString(data, "answer")!] : []))
      this.#tally.understood("user_input.completed")
    },
    "assistant.message": (data, origin) => this.#assistant(data, origin),
    "tool.execution_complete": (data, origin) => this.#result(data, origin),
    "permission.completed": (data) => this.#permission(data),
  }

  #event(event: JsonObject, index: number): void {
    const type = getString(event, "type") ?? "no type"
    const data = getObject(event, "data")
    const origin = { key: getString(event, "id") ?? `line ${index}`, at: getString(event, "timestamp") }
    if (!data) this.#tally.notUnderstood(type)
    else if (Object.hasOwn(this.#events, type)) this.#events[type]!(data, origin)
    else {
      if (type.startsWith("subagent.")) this.#agents.noted(type, data)
      if (GROUPS.test(type) || type === "abort") this.#tally.omitted(type, COURSE)
      else this.#tally.notUnderstood(type)
    }
  }

  #session(type: string, data: JsonObject): void {
    this.#cwd ??= getString(getObject(data, "context"), "cwd") ?? getString(data, "cwd")
    this.#model ??= getString(data, "selectedModel")
    this.#tally.omitted(type, "the directory and the model are imported, other facts are not")
  }

  #notice(data: JsonObject, origin: Origin): void {
    const content = getString(data, "content")
    if (content === undefined) this.#tally.notUnderstood("system.notification without content")
    else {
      this.#tally.understood("system.notification")
      this.#chain.user(content, origin, { isMeta: true })
    }
  }

  /** Imports the typed text as the message, and additional context that the program sent as an attachment after it. */
  #user(data: JsonObject, origin: Origin): void {
    const content = getString(data, "content")
    if (content === undefined) {
      this.#tally.notUnderstood("user.message without content")
      return
    }
    this.#tally.understood("user.message")
    const media = getObjects(data, "attachments").flatMap((item) => {
      const url = `data:${getString(item, "mimeType")};base64,${getString(item, "data") ?? ""}`
      return getString(item, "data") === undefined ? [] : (mediaBlock(url, getString(item, "mimeType")) ?? [])
    })
    const isMeta = FROM_PROGRAM.test(content) || !["user", undefined].includes(getString(data, "source"))
    this.#chain.user([textBlock(content), ...media], origin, isMeta ? { isMeta } : {})
    const sent = getString(data, "transformedContent")
    const context = sent?.split(content, 2).length === 2 ? sent.replace(content, () => "").trim() : ""
    if (context !== "") {
      const attachment = { type: "foreign" as const, kind: "user.message context", data: { transformedContent: sent } }
      this.#chain.attachment({ ...attachment, text: context }, { key: `${origin.key}:context`, at: origin.at })
    }
  }

  #assistant(data: JsonObject, origin: Origin): void {
    const calls = getObjects(data, "toolRequests").flatMap((call, at): readonly Block[] => {
      const [id, name] = [getString(call, "toolCallId") ?? `${origin.key}_${at}`, getString(call, "name")]
      const input = getString(call, "arguments") ?? asObject(call.arguments) ?? {}
      if (name === undefined) return []
      this.#calls.set(id, name)
      return [toolUse({ id, name, input })]
    })
    const [reasoning, text] = [getString(data, "reasoningText"), getString(data, "content")]
    const blocks = [...(reasoning ? [thinkingBlock(reasoning)] : []), ...(text ? [textBlock(text)] : []), ...calls]
    this.#tally.understood("assistant.message")
    if (blocks.length === 0) {
      this.#chain.failure("The answer was empty.", origin)
      return
    }
    const model = getString(data, "model") ?? this.#model
    const response = { id: getString(data, "messageId") ?? this.#chain.uuid(`${origin.key}:response`), model }
    const parent = getString(data, "parentToolCallId")
    if (parent !== undefined) this.#agents.chainOf(parent).assistant(blocks, origin, response)
    else {
      this.#model = model
      this.#chain.assistant(blocks, origin, response)
    }
  }

  #result(data: JsonObject, origin: Origin): void {
    const id = getString(data, "toolCallId")
    if (id === undefined || !this.#calls.has(id)) {
      this.#tally.omitted("tool.execution_complete", "the model did not ask for some of these calls")
      return
    }
    this.#tally.understood("tool.execution_complete")
    const result = getObject(data, "result")
    const failure = getString(getObject(data, "error"), "message") ?? getString(data, "error")
    const content =
      getString(result, "content") ?? getString(data, "result") ?? failure ?? getString(data, "textResultForLlm") ?? ""
    const userTexts = this.#userTextIn(id, content)
    const blocks = [toolResult(id, content, data.success === false)]
    const parent = getString(data, "parentToolCallId")
    const flags = userTexts.length > 0 ? { saidInResults: userTexts } : {}
    if (parent !== undefined) this.#agents.chainOf(parent).user(blocks, origin, flags)
    else
      this.#agents.ended(id, {
        message: this.#chain.user(blocks, origin, flags),
        content,
        failed: data.success === false,
      })
  }

  #userTextIn(id: string, content: string): readonly UserTextInResult[] {
    const refusal = this.#refusals.get(id)
    if (refusal !== undefined) return [{ at: "refusal", text: refusal }]
    if (this.#calls.get(id) !== ASKING_TOOL) return []
    const answer = this.#answers.shift() ?? ANSWERED.exec(content)?.[1]
    return answer === undefined ? [] : [{ at: "answer", text: answer }]
  }

  #permission(data: JsonObject): void {
    const result = getObject(data, "result")
    const [id, feedback] = [getString(data, "toolCallId"), getString(result, "feedback")]
    if (id !== undefined && feedback !== undefined && /^denied/.test(getString(result, "kind") ?? ""))
      this.#refusals.set(id, feedback)
    this.#tally.omitted("permission.completed", "only the user's text with a refusal is imported")
  }

  #compacted(data: JsonObject, origin: Origin): void {
    const summary = getString(data, "summaryContent")
    if (summary === undefined) this.#tally.omitted("session.compaction_complete", "some have no summary")
    else this.#tally.understood("session.compaction_complete")
    if (summary !== undefined)
      this.#chain.compaction({ summary, preTokens: getNumber(data, "preCompactionTokens") }, origin)
  }

  /** Records the token totals of a run. Responses have no usage in this format. A resumed session has totals for each run. */
  #shutdown(data: JsonObject): void {
    this.#tally.understood("session.shutdown")
    const run = getNumber(data, "sessionStartTime") ?? 0
    const totals = Object.entries(getObject(data, "modelMetrics") ?? {}).map(([model, metrics]): ImportedUsage => {
      const usage = getObject(asObject(metrics), "usage")
      const count = (key: string) => getNumber(usage, key) ?? 0
      const [read, written] = [count("cacheReadTokens"), count("cacheWriteTokens")]
      return {
        purpose: "main",
        model,
        requests: getNumber(getObject(asObject(metrics), "requests"), "count") ?? 0,
        usage: {
          input_tokens: Math.max(0, count("inputTokens") - read - written),
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          output_tokens: count("outputTokens"),
        },
        responseId: this.#chain.uuid(`totals ${run} ${model}`),
        after: this.#chain.newest,
      }
    })
    if (totals.length > 0)
      this.#tally.remark("only the token totals of each model are known, not those of each response")
    this.#totals.set(run, totals)
  }
}
