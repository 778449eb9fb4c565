/**
 * Imports Codex rollouts: one JSON line per item of OpenAI's Responses API, per event displayed to the user, and per turn for its settings.
 * The items are the conversation; most events repeat them.
 * A rollout does not name responses, but a `token_count` event ends each one. Everything the model produced since the last such event is
 * one response. Its parts share one API message id, so that parallel calls stay together.
 */

import type { Block, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { isFromUser, isText, textOf } from "@strata/core/messages"
import { Chain, type Origin } from "../chain.ts"
import { textBlock, usageFromOpenAi } from "../external-blocks.ts"
import type { ExternalFile, ImportedConversation, ImportedUsage, Importer } from "../importer.ts"
import {
  definedOnly,
  firstObjects,
  getNumber,
  getObject,
  getObjects,
  getString,
  type JsonLine,
  type JsonObject,
  jsonLines,
} from "../json-access.ts"
import { Tally } from "../tally.ts"
import { type Item, itemFrom } from "./items.ts"

const FORMAT = "codex"
const LINES_TO_RECOGNIZE = 5
const LINE_TYPES = new Set(["session_meta", "turn_context", "response_item", "event_msg", "compacted"])

/** Prefixes of user items that the program wrote. */
const FROM_PROGRAM = /^\s*(?:<[a-z_]+|# AGENTS\.md instructions|Warning: )/i

/** Events that are not messages, with the reason for the report. */
const EVENTS: Readonly<Record<string, string>> = {
  user_message: "repeats an item; shows which user items were typed",
  agent_message: "repeats an item",
  agent_reasoning: "repeats an item",
  task_started: "the course of a turn",
  task_complete: "the course of a turn",
  turn_aborted: "the course of a turn",
  context_compacted: "repeats the compacted line before it",
  patch_apply_end: "the model was sent the call's output instead",
  exec_command_end: "the model was sent the call's output instead",
  mcp_tool_call_end: "the model was sent the call's output instead",
  web_search_end: "repeats an item",
}

export const codex: Importer = {
  format: FORMAT,
  recognizes: ({ text }) =>
    firstObjects(text, LINES_TO_RECOGNIZE).some(
      (line) => LINE_TYPES.has(getString(line, "type") ?? "") && getObject(line, "payload") !== undefined,
    ),
  read: (file) => [new Rollout(file).read()],
}

class Rollout {
  readonly #lines: readonly JsonLine[]
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  /** Texts that the user typed, according to the events. Without such events, every user item counts as typed. */
  readonly #typed: ReadonlySet<string>
  #cwd: string | undefined
  #model: string | undefined
  #system: string | undefined
  #response: { id: string; pieces: Uuid[]; answered: boolean } | undefined
  /** The token total over all responses so far. An event with the same total reports nothing new. */
  #total = NOTHING_COUNTED
  readonly #spent: ImportedUsage[] = []
  /** Whether the last usage was of a response without readable items, with nothing after it. */
  #endsUnread = false
  #contextTokens = 0

  constructor({ text }: ExternalFile) {
    this.#lines = [...this.#tally.withoutRepeats(jsonLines(text))]
    const lines = this.#lines.map(({ object }) => object)
    const session = getString(getObject(lines.find(isType("session_meta")), "payload"), "id")
    this.#id = session !== undefined && isSafeId(session) ? session : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    const events = lines.filter(isType("event_msg")).map((line) => getObject(line, "payload"))
    this.#typed = new Set(events.filter(isType("user_message")).flatMap((event) => getString(event, "message") ?? []))
  }

  read(): ImportedConversation {
    for (const [index, line] of this.#lines.entries()) {
      if (line.object) this.#line(line.object, index)
      else this.#tally.notJson(line)
    }
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      cwd: this.#cwd,
      model: this.#model,
      system: this.#system,
      messages: this.#chain.messages,
      spent: this.#spent.length === 0 ? undefined : this.#spent,
      report: this.#tally.report(),
    })
  }

  #line(line: JsonObject, index: number): void {
    const type = getString(line, "type") ?? "no type"
    const payload = getObject(line, "payload")
    const origin = { key: `line ${index}`, at: getString(line, "timestamp") }
    if (!payload) this.#tally.notUnderstood(type)
    else if (type === "session_meta") this.#session(payload)
    else if (type === "turn_context") this.#turn(payload)
    else if (type === "response_item") this.#item(payload, origin, index)
    else if (type === "event_msg") this.#event(payload)
    else if (type === "compacted") this.#compacted(payload, origin)
    else this.#tally.notUnderstood(type)
  }

  #session(payload: JsonObject): void {
    this.#cwd ??= getString(payload, "cwd")
    this.#system ??= getString(getObject(payload, "base_instructions"), "text") ?? getString(payload, "instructions")
    this.#tally.omitted("session_meta", "the directory and the system prompt are imported, other facts are not")
  }

  #turn(payload: JsonObject): void {
    this.#cwd ??= getString(payload, "cwd")
    this.#model = getString(payload, "model") ?? this.#model
    this.#tally.omitted("turn_context", "the model is imported, other settings are not")
  }

  #item(payload: JsonObject, origin: Origin, index: number): void {
    const kind = `response_item:${getString(payload, "type") ?? "no type"}`
    const item = itemFrom(payload, origin.key)
    if (item.part === "unknown") this.#tally.notUnderstood(kind)
    else if (item.part === "nothing") this.#tally.omitted(kind, item.why)
    else {
      this.#tally.understood(kind)
      this.#endsUnread = false
      this.#add(item, origin, index)
    }
  }

  #add(item: Exclude<Item, { part: "unknown" | "nothing" }>, origin: Origin, index: number): void {
    switch (item.part) {
      case "response":
        this.#addPiece(item.blocks, origin)
        break
      case "result":
        this.#addResult(item.blocks, origin)
        break
      case "attachment":
        this.#chain.attachment(item.attachment, origin)
        break
      case "message":
        this.#response = undefined
        this.#chain.user(item.blocks, origin, this.#isTyped(item, index) ? {} : { isMeta: true })
    }
  }

  #isTyped({ role, blocks }: { role: string; blocks: readonly Block[] }, index: number): boolean {
    if (role !== "user") return false
    const text = textOf(blocks)
    return (
      this.#typed.size === 0 || this.#typed.has(text.trim()) || this.#typed.has(text) || this.#lacksEvent(text, index)
    )
  }

  /** Whether the event that repeats a typed item is lost: the next line is broken, or the item opens a turn. */
  #lacksEvent(text: string, index: number): boolean {
    if (FROM_PROGRAM.test(text)) return false
    const [before, after] = [this.#lines[index - 1], this.#lines[index + 1]]
    return (after !== undefined && !after.object) || isType("turn_context")(before?.object)
  }

  #addPiece(blocks: readonly Block[], origin: Origin): void {
    // without a token count in between, a result shows that the previous response had ended
    if (!this.#response || this.#response.answered) {
      this.#response = { id: this.#chain.uuid(`response at ${origin.key}`), pieces: [], answered: false }
    }
    this.#response.pieces.push(this.#chain.assistant(blocks, origin, { id: this.#response.id, model: this.#model }))
  }

  #addResult(blocks: readonly Block[], origin: Origin): void {
    if (this.#response) this.#response.answered = true
    this.#chain.user(blocks, origin)
  }

  #event(payload: JsonObject): void {
    const type = getString(payload, "type") ?? "no type"
    const kind = `event_msg:${type}`
    if (type === "token_count") this.#tokenCount(payload)
    else if (!Object.hasOwn(EVENTS, type)) this.#tally.notUnderstood(kind)
    else {
      if (type === "task_started") this.#response = undefined
      this.#tally.omitted(kind, EVENTS[type]!)
    }
  }

  #tokenCount(payload: JsonObject): void {
    const info = getObject(payload, "info")
    const last = getObject(info, "last_token_usage")
    const total = readTotals(getObject(info, "total_token_usage"))
    this.#tally.understood("event_msg:token_count")
    if (!last || total.all <= this.#total.all) return // only rate limits, or the estimate after a compaction
    const own = readTotals(last)
    this.#addUnreported(less(less(total, this.#total), own))
    this.#total = total
    this.#contextTokens = own.all || this.#contextTokens
    if (this.#response) this.#chain.setUsage(this.#response.pieces, usageFromOpenAi(own))
    else {
      this.#spend(own)
      this.#endsUnread = true
    }
    this.#response = undefined
  }

  /** Records tokens that the total contains but no response reported, as for an interrupted response. */
  #addUnreported(rest: TokenTotals): void {
    if (rest.all <= 0 || rest.input < 0 || rest.cached < 0 || rest.written < 0 || rest.output < 0) return
    this.#tally.remark("the tokens of a response that is not recorded are known from the totals")
    this.#spend(rest)
  }

  #spend(counted: TokenTotals): void {
    this.#spent.push({
      ...{ purpose: "main", model: this.#model ?? "unknown", usage: usageFromOpenAi(counted) },
      ...{ responseId: this.#chain.uuid(`spent ${this.#spent.length}`), after: this.#chain.newest },
    })
  }

  /** Handles a replaced context: by the history in the line or, in older rollouts, by the user's messages and a summary. */
  #compacted(payload: JsonObject, origin: Origin): void {
    this.#tally.understood("compacted")
    this.#response = undefined
    const unread = this.#endsUnread ? this.#spent.pop() : undefined
    if (unread) this.#spent.push({ ...unread, purpose: "compaction" })
    this.#endsUnread = false
    const items = getObjects(payload, "replacement_history").map((item) => itemFrom(item, origin.key))
    const history = items.filter(isPlainText).flatMap((item) => item.blocks)
    const summary = getString(payload, "message") ?? ""
    if (summary === "" || !items.every(isPlainText)) {
      this.#tally.remark("the summary of a compaction cannot be read; the messages of its tail are imported")
    }
    const isRepeated = summary === "" || history.filter(isText).some(({ text }) => text.includes(summary))
    this.#chain.compaction(
      {
        summary: isRepeated ? history : [...history, textBlock(summary)],
        preTokens: this.#contextTokens,
        kept: history.length > 0 ? [] : this.#chain.messages.filter(isFromUser).map(({ uuid }) => uuid),
      },
      origin,
    )
  }
}

/** Whether an item is text to or from the model, as opposed to calls, results and encrypted items. */
function isPlainText(item: Item): item is Extract<Item, { part: "message" | "response" }> {
  return item.part === "message" || (item.part === "response" && item.blocks.every(isText))
}

const isType = (type: string) => (fields: JsonObject | undefined) => getString(fields, "type") === type

interface TokenTotals {
  readonly input: number
  readonly cached: number
  /** Tokens written to the cache, reported from gpt-5.6 on. */
  readonly written: number
  readonly output: number
  /** Sum of input and output. */
  readonly all: number
}

const NOTHING_COUNTED: TokenTotals = { input: 0, cached: 0, written: 0, output: 0, all: 0 }

function readTotals(usage: JsonObject | undefined): TokenTotals {
  const count = (key: string) => getNumber(usage, key) ?? 0
  return {
    input: count("input_tokens"),
    cached: count("cached_input_tokens"),
    written: count("cache_write_input_tokens"),
    output: count("output_tokens"),
    all: count("total_tokens"),
  }
}

const less = (from: TokenTotals, by: TokenTotals): TokenTotals => ({
  input: from.input - by.input,
  cached: from.cached - by.cached,
  written: from.written - by.written,
  output: from.output - by.output,
  all: from.all - by.all,
})
