/**
 * Sessions of the Copilot CLI (`events.jsonl`): one JSON line per event with `type`, `data` and `id`. The messages of the person and of the
 * model and the ends of tool calls are the conversation; events with a `parentToolCallId` belong to a sub-agent.
 */

import type { Block, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { contentOf, isToolUse, type Message, type UserTextInResult } from "@strata/core/messages"
import { Chain, type Origin } from "../chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "../foreign-blocks.ts"
import {
  asFields,
  type Fields,
  fieldsAt,
  firstFields,
  jsonLines,
  numberAt,
  present,
  recordsAt,
  textAt,
} from "../foreign-json.ts"
import type { ExternalFile, ImportedAgent, ImportedConversation, ImportedSpending, Importer } from "../importer.ts"
import { Tally } from "../tally.ts"

// The sub-agents of a Copilot session. The call that started one names it; its events carry the id of that call.

const MAX_CHARACTERS = 200 // of a description or a summary

interface Ending {
  readonly message: Uuid
  readonly content: string
  readonly failed: boolean
}

export class CopilotAgents {
  readonly #seed: string
  readonly #chains = new Map<string, Chain>()
  readonly #facts = new Map<string, Fields>()
  readonly #endings = new Map<string, Ending>()

  constructor(seed: string) {
    this.#seed = seed
  }

  chainOf(callId: string): Chain {
    const chain = this.#chains.get(callId) ?? new Chain(`${this.#seed}:${callId}`)
    this.#chains.set(callId, chain)
    return chain
  }

  noted(type: string, data: Fields): void {
    const id = textAt(data, "toolCallId")
    if (id === undefined || type !== "subagent.started") return
    this.#facts.set(id, data)
    this.chainOf(id)
  }

  /** A call ended. Most calls start no agent. */
  ended(callId: string, ending: Ending): void {
    this.#endings.set(callId, ending)
  }

  all(messages: readonly Message[]): readonly ImportedAgent[] {
    return [...this.#chains].map(([callId, chain]): ImportedAgent => {
      const [facts, ending] = [this.#facts.get(callId), this.#endings.get(callId)]
      const start = messages.find((message) => callsIn(message).includes(callId))
      const name = textAt(facts, "agentName")
      const model = chain.messages.flatMap((m) => (m.type === "assistant" ? (m.message.model ?? []) : [])).at(-1)
      return {
        id: isSafeId(callId) ? callId : uuidFrom(callId),
        name: name ?? callId,
        kind: "wait",
        description: oneLine(textAt(facts, "agentDisplayName") ?? textAt(facts, "agentDescription") ?? name ?? callId),
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
const LINES_TO_RECOGNISE = 5
/** Events of these groups are not messages. */
const COURSE = "the course of the session, not part of the conversation"
const GROUPS =
  /^(?:session|assistant|tool|hook|permission|user_input|elicitation|command|external_tool|subagent|skill|mcp|exit_plan_mode|pending_messages|sampling|capabilities|commands)\./
/** Texts that the program puts in place of what a person typed. */
const FROM_PROGRAM = /^\s*<(?:skill-context|system_|agent_instructions|reminder)/
const ANSWERED = /^User (?:selected|responded|answered)(?: with)?: ([\s\S]*)$/
const ASKING_TOOL = "ask_user"

export const copilot: Importer = {
  format: FORMAT,
  recognises: ({ text }) =>
    firstFields(text, LINES_TO_RECOGNISE).some(
      (line) =>
        GROUPS.test(`${textAt(line, "type")}`) &&
        fieldsAt(line, "data") !== undefined &&
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
  /** Of the events so far. */
  readonly #ids = new Set<string>()
  /** The names of open calls, and the answers to those that ask. */
  readonly #calls = new Map<string, string>()
  readonly #answers: string[] = []
  readonly #refusals = new Map<string, string>()
  /** By the time at which the run started: its last totals count. */
  readonly #totals = new Map<number, readonly ImportedSpending[]>()
  #cwd: string | undefined
  #model: string | undefined
  #system: string | undefined
  #title: string | undefined

  constructor({ text }: ExternalFile) {
    this.#text = text
    const start = jsonLines(text).find(({ fields }) => textAt(fields, "type") === "session.start")
    const id = textAt(fieldsAt(start?.fields, "data"), "sessionId") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    this.#agents = new CopilotAgents(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    for (const [index, line] of [...this.#tally.once(jsonLines(this.#text))].entries()) {
      const { fields } = line
      const parent = textAt(fields, "parentId")
      if (parent !== undefined && !this.#ids.has(parent)) this.#tally.parentMissing()
      if (fields) this.#event(fields, index)
      else this.#tally.notJson(line)
      this.#ids.add(textAt(fields, "id") ?? "")
    }
    const agents = this.#agents.all(this.#chain.messages)
    return present({
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

  readonly #events: Readonly<Record<string, (data: Fields, origin: Origin) => void>> = {
    "session.start": (data) => this.#session("session.start", data),
    "session.resume": (data) => this.#session("session.resume", data),
    "session.context_changed": (data) => this.#session("session.context_changed", data),
    "session.model_change": (data) => {
      this.#model = textAt(data, "newModel") ?? this.#model
      this.#tally.understood("session.model_change")
    },
    "session.title_changed": (data) => {
      this.#title = textAt(data, "title") ?? this.#title
      this.#tally.understood("session.title_changed")
    },
    "session.compaction_complete": (data, origin) => this.#compacted(data, origin),
    "session.shutdown": (data) => this.#shutdown(data),
    "system.message": (data) => {
      this.#system = textAt(data, "content") ?? this.#system
      this.#tally.understood("system.message")
    },
    "system.notification": (data, origin) => this.#notice(data, origin),
    "user.message": (data, origin) => this.#user(data, origin),
    "user_input.completed": (data) => {
      this.#answers.push(...(textAt(data, "answer") ? [textAt(data, "answer")!] : []))
      this.#tally.understood("user_input.completed")
    },
    "assistant.message": (data, origin) => this.#assistant(data, origin),
    "tool.execution_complete": (data, origin) => this.#result(data, origin),
    "permission.completed": (data) => this.#permission(data),
  }

  #event(event: Fields, index: number): void {
    const type = textAt(event, "type") ?? "no type"
    const data = fieldsAt(event, "data")
    const origin = { key: textAt(event, "id") ?? `line ${index}`, at: textAt(event, "timestamp") }
    if (!data) this.#tally.notUnderstood(type)
    else if (Object.hasOwn(this.#events, type)) this.#events[type]!(data, origin)
    else {
      if (type.startsWith("subagent.")) this.#agents.noted(type, data)
      if (GROUPS.test(type) || type === "abort") this.#tally.leftOut(type, COURSE)
      else this.#tally.notUnderstood(type)
    }
  }

  #session(type: string, data: Fields): void {
    this.#cwd ??= textAt(fieldsAt(data, "context"), "cwd") ?? textAt(data, "cwd")
    this.#model ??= textAt(data, "selectedModel")
    this.#tally.leftOut(type, "the directory and the model are kept, other facts are not")
  }

  #notice(data: Fields, origin: Origin): void {
    const content = textAt(data, "content")
    if (content === undefined) this.#tally.notUnderstood("system.notification without content")
    else {
      this.#tally.understood("system.notification")
      this.#chain.user(content, origin, { isMeta: true })
    }
  }

  /** The typed text is the message. What the program sent beside it follows as an attachment. */
  #user(data: Fields, origin: Origin): void {
    const content = textAt(data, "content")
    if (content === undefined) {
      this.#tally.notUnderstood("user.message without content")
      return
    }
    this.#tally.understood("user.message")
    const media = recordsAt(data, "attachments").flatMap((item) => {
      const url = `data:${textAt(item, "mimeType")};base64,${textAt(item, "data") ?? ""}`
      return textAt(item, "data") === undefined ? [] : (mediaBlock(url, textAt(item, "mimeType")) ?? [])
    })
    const isMeta = FROM_PROGRAM.test(content) || !["user", undefined].includes(textAt(data, "source"))
    this.#chain.user([textBlock(content), ...media], origin, isMeta ? { isMeta } : {})
    const sent = textAt(data, "transformedContent")
    const beside = sent?.split(content, 2).length === 2 ? sent.replace(content, () => "").trim() : ""
    if (beside !== "") {
      const attachment = { type: "foreign" as const, kind: "user.message context", data: { transformedContent: sent } }
      this.#chain.attachment({ ...attachment, text: beside }, { key: `${origin.key}:context`, at: origin.at })
    }
  }

  #assistant(data: Fields, origin: Origin): void {
    const calls = recordsAt(data, "toolRequests").flatMap((call, at): readonly Block[] => {
      const [id, name] = [textAt(call, "toolCallId") ?? `${origin.key}_${at}`, textAt(call, "name")]
      const input = textAt(call, "arguments") ?? asFields(call.arguments) ?? {}
      if (name === undefined) return []
      this.#calls.set(id, name)
      return [toolUse({ id, name, input })]
    })
    const [reasoning, text] = [textAt(data, "reasoningText"), textAt(data, "content")]
    const blocks = [...(reasoning ? [thinkingBlock(reasoning)] : []), ...(text ? [textBlock(text)] : []), ...calls]
    this.#tally.understood("assistant.message")
    if (blocks.length === 0) {
      this.#chain.failure("The answer was empty.", origin)
      return
    }
    const model = textAt(data, "model") ?? this.#model
    const response = { id: textAt(data, "messageId") ?? this.#chain.uuid(`${origin.key}:response`), model }
    const parent = textAt(data, "parentToolCallId")
    if (parent !== undefined) this.#agents.chainOf(parent).assistant(blocks, origin, response)
    else {
      this.#model = model
      this.#chain.assistant(blocks, origin, response)
    }
  }

  #result(data: Fields, origin: Origin): void {
    const id = textAt(data, "toolCallId")
    if (id === undefined || !this.#calls.has(id)) {
      this.#tally.leftOut("tool.execution_complete", "the model did not ask for some of these calls")
      return
    }
    this.#tally.understood("tool.execution_complete")
    const result = fieldsAt(data, "result")
    const failure = textAt(fieldsAt(data, "error"), "message") ?? textAt(data, "error")
    const content =
      textAt(result, "content") ?? textAt(data, "result") ?? failure ?? textAt(data, "textResultForLlm") ?? ""
    const said = this.#saidIn(id, content)
    const blocks = [toolResult(id, content, data.success === false)]
    const parent = textAt(data, "parentToolCallId")
    const flags = said.length > 0 ? { saidInResults: said } : {}
    if (parent !== undefined) this.#agents.chainOf(parent).user(blocks, origin, flags)
    else
      this.#agents.ended(id, {
        message: this.#chain.user(blocks, origin, flags),
        content,
        failed: data.success === false,
      })
  }

  #saidIn(id: string, content: string): readonly UserTextInResult[] {
    const refusal = this.#refusals.get(id)
    if (refusal !== undefined) return [{ at: "refusal", text: refusal }]
    if (this.#calls.get(id) !== ASKING_TOOL) return []
    const answer = this.#answers.shift() ?? ANSWERED.exec(content)?.[1]
    return answer === undefined ? [] : [{ at: "answer", text: answer }]
  }

  #permission(data: Fields): void {
    const result = fieldsAt(data, "result")
    const [id, feedback] = [textAt(data, "toolCallId"), textAt(result, "feedback")]
    if (id !== undefined && feedback !== undefined && /^denied/.test(textAt(result, "kind") ?? ""))
      this.#refusals.set(id, feedback)
    this.#tally.leftOut("permission.completed", "only what the person said at a refusal is kept")
  }

  #compacted(data: Fields, origin: Origin): void {
    const summary = textAt(data, "summaryContent")
    if (summary === undefined) this.#tally.leftOut("session.compaction_complete", "some have no summary")
    else this.#tally.understood("session.compaction_complete")
    if (summary !== undefined)
      this.#chain.compaction({ summary, preTokens: numberAt(data, "preCompactionTokens") }, origin)
  }

  /** Only totals are recorded, so no response has a usage. A session that is resumed has totals of each run. */
  #shutdown(data: Fields): void {
    this.#tally.understood("session.shutdown")
    const run = numberAt(data, "sessionStartTime") ?? 0
    const totals = Object.entries(fieldsAt(data, "modelMetrics") ?? {}).map(([model, metrics]): ImportedSpending => {
      const usage = fieldsAt(asFields(metrics), "usage")
      const count = (key: string) => numberAt(usage, key) ?? 0
      const [read, written] = [count("cacheReadTokens"), count("cacheWriteTokens")]
      return {
        purpose: "main",
        model,
        requests: numberAt(fieldsAt(asFields(metrics), "requests"), "count") ?? 0,
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
