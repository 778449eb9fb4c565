/**
 * Imports chats of the Gemini CLI: one JSON document with `messages`, or since 0.40 one JSON line per message after a header. A later line
 * with the id of an earlier message replaces it. One `gemini` message is one complete response, with its tool calls and their results.
 */

import type { Block, Usage } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import type { UserTextInResult } from "@strata/core/messages"
import { Chain, type Origin } from "./chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "./external-blocks.ts"
import type { ExternalFile, ImportedConversation, ImportedUsage, Importer } from "./importer.ts"
import {
  asObject,
  definedOnly,
  firstObjects,
  getNumber,
  getObject,
  getObjects,
  getString,
  getStrings,
  type JsonObject,
  jsonLines,
  parseObject,
} from "./json-access.ts"
import { type JsonDocument, readDocument } from "./json-document.ts"
import { Tally } from "./tally.ts"

const FORMAT = "gemini"
const ASKING_TOOL = "ask_user"

/** Messages that Gemini displayed to the user but did not send to the model. */
const DISPLAYED_ONLY = "displayed to the user, never sent to the model"
const NOT_SENT: ReadonlySet<string> = new Set(["info", "error", "warning"])

export const gemini: Importer = {
  format: FORMAT,
  recognizes: ({ text }) => isHeader(documentOf(text)?.fields ?? firstObjects(text, 1)[0]),
  read: (file) => [new Chat(file).read()],
}

const isHeader = (fields: JsonObject | undefined): boolean =>
  getString(fields, "sessionId") !== undefined && getString(fields, "projectHash") !== undefined

/** A document takes one line or many. A header line alone has no messages and is not one. */
function documentOf(text: string): JsonDocument | undefined {
  const document = readDocument(text)
  return document && Array.isArray(document.fields.messages) ? document : undefined
}

class Chat {
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #header: JsonObject
  readonly #id: string
  readonly #messages: readonly JsonObject[]
  readonly #spent: ImportedUsage[] = []
  #model: string | undefined

  constructor({ text }: ExternalFile) {
    const document = documentOf(text)
    this.#tally.document(document)
    this.#header = document?.fields ?? firstObjects(text, 1)[0] ?? {}
    const id = getString(this.#header, "sessionId") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    this.#messages = document ? getObjects(document.fields, "messages") : this.#linesOf(text)
  }

  read(): ImportedConversation {
    for (const [index, message] of this.#messages.entries()) this.#message(message, index)
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: getString(this.#header, "summary"),
      cwd: getStrings(this.#header, "directories")[0],
      model: this.#model,
      messages: this.#chain.messages,
      spent: this.#spent.length === 0 ? undefined : this.#spent,
      report: this.#tally.report(),
    })
  }

  /** Returns the newest version of each message, at the position of the first. */
  #linesOf(text: string): readonly JsonObject[] {
    let messages = new Map<string, JsonObject>()
    for (const [index, line] of [...jsonLines(text)].entries()) {
      const { object } = line
      const id = getString(object, "id")
      if (!object) this.#tally.notJson(line)
      else if (isHeader(object)) this.#tally.understood("header")
      else if ("$set" in object) {
        this.#tally.omitted("$set", "a changed fact of the header, or messages that the next lines repeat")
        const set = getObject(object, "$set")
        if (Array.isArray(set?.messages))
          messages = new Map(
            getObjects(set, "messages").map((message, at) => [getString(message, "id") ?? `${at}`, message]),
          )
      } else if ("$rewindTo" in object) {
        this.#tally.omitted("$rewindTo", "the user rewound; the messages after it are omitted")
        messages = upTo(messages, getString(object, "$rewindTo"))
      } else {
        const key = id ?? `line ${index}`
        if (messages.has(key)) this.#tally.omitted("message again", "the newest version is imported")
        messages.set(key, object)
      }
    }
    return [...messages.values()]
  }

  #message(message: JsonObject, index: number): void {
    const type = getString(message, "type") ?? "no type"
    const origin = { key: getString(message, "id") ?? `message ${index}`, at: getString(message, "timestamp") }
    const blocks = partsOf(message.content)
    if (NOT_SENT.has(type)) this.#tally.omitted(type, DISPLAYED_ONLY)
    else if (!blocks) this.#tally.notUnderstood(`${type} without content`)
    else if (type === "user") {
      this.#tally.understood(type)
      if (blocks.length > 0) this.#chain.user(blocks, origin)
    } else if (type === "gemini") {
      this.#tally.understood(type)
      this.#response(message, blocks, origin)
    } else this.#tally.notUnderstood(type)
  }

  #response(message: JsonObject, textBlocks: readonly Block[], origin: Origin): void {
    this.#model = getString(message, "model") ?? this.#model
    const thoughts = getObjects(message, "thoughts").map((thought) =>
      [getString(thought, "subject"), getString(thought, "description")].filter(Boolean).join("\n"),
    )
    const calls = getObjects(message, "toolCalls").map((call, at) => ({
      call,
      id: getString(call, "id") ?? `${origin.key}_${at}`,
    }))
    const blocks = [
      ...thoughts.map((text) => thinkingBlock(text)),
      ...textBlocks,
      ...calls.map(({ call, id }) =>
        toolUse({ id, name: getString(call, "name") ?? "unknown", input: getObject(call, "args") ?? {} }),
      ),
    ]
    const id = this.#chain.uuid(`${origin.key}:response`)
    const usage = usageFrom(getObject(message, "tokens"))
    const hasSize = usage !== undefined && usage.input_tokens + usage.output_tokens > 0
    // requests without content or token counts are still billed; a usage of zero would make the context look empty
    if (usage && (blocks.length === 0 || !hasSize))
      this.#spent.push({
        ...{ purpose: "main", model: getString(message, "model") ?? "unknown", usage },
        ...{ responseId: `${id}:spent`, after: this.#chain.newest },
      })
    if (blocks.length === 0) return
    this.#chain.assistant(blocks, origin, {
      id,
      model: getString(message, "model"),
      usage: hasSize ? usage : undefined,
      stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    })
    const results = calls.map(({ call, id }) => toolResult(id, resultOf(call), isFailed(call)))
    if (results.length === 0) return
    const answers = calls.flatMap(({ call }) => answersIn(call))
    const flags = answers.length > 0 ? { saidInResults: answers } : {}
    this.#chain.user(
      results,
      { key: `${origin.key}:results`, at: getString(calls.at(-1)?.call, "timestamp") ?? origin.at },
      flags,
    )
  }
}

/** The messages before the one that the user rewound to, which the user rewrites. */
function upTo(messages: Map<string, JsonObject>, id: string | undefined): Map<string, JsonObject> {
  const all = [...messages]
  const at = all.findIndex(([key]) => key === id)
  return at < 0 ? messages : new Map(all.slice(0, at))
}

function partsOf(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  if (content === undefined) return []
  const parts = Array.isArray(content) ? content : [content]
  const blocks = parts.map((part: unknown) => (typeof part === "string" ? textBlock(part) : partFrom(asObject(part))))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function partFrom(part: JsonObject | undefined): Block | undefined {
  const text = getString(part, "text")
  if (text !== undefined) return textBlock(text)
  const inline = getObject(part, "inlineData")
  const mime = getString(inline, "mimeType")
  return inline ? mediaBlock(`data:${mime};base64,${getString(inline, "data") ?? ""}`, mime) : undefined
}

/** The text that the model received: the output of the response, or all of it as JSON. */
function resultOf(call: JsonObject): string {
  const texts = getObjects(call, "result").flatMap((part) => {
    const response = getObject(getObject(part, "functionResponse"), "response")
    return (
      getString(response, "output") ??
      getString(response, "error") ??
      getString(part, "text") ??
      (response ? JSON.stringify(response) : [])
    )
  })
  return texts.length > 0 ? texts.join("\n") : (getString(call, "result") ?? getString(call, "resultDisplay") ?? "")
}

const isFailed = (call: JsonObject): boolean => ["error", "cancelled"].includes(getString(call, "status") ?? "")

/** The user's answers in the result of the `ask_user` tool. */
function answersIn(call: JsonObject): readonly UserTextInResult[] {
  if (getString(call, "name") !== ASKING_TOOL || isFailed(call)) return []
  const answers = getObject(parseObject(resultOf(call)), "answers") ?? {}
  return Object.values(answers).flatMap((text) =>
    typeof text === "string" && text !== "" ? [{ at: "answer", text }] : [],
  )
}

/** Gemini includes cached tokens in the input count, but excludes thoughts from the output count. */
function usageFrom(tokens: JsonObject | undefined): Usage | undefined {
  if (!tokens) return undefined
  const count = (key: string) => getNumber(tokens, key) ?? 0
  return {
    input_tokens: Math.max(0, count("input") + count("tool") - count("cached")),
    cache_read_input_tokens: count("cached"),
    output_tokens: count("output") + count("thoughts"),
  }
}
