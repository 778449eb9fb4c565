/**
 * Chats of the Gemini CLI: one JSON document with `messages`, or since 0.40 one JSON line per message after a header. A later line with
 * the id of an earlier message replaces it. One `gemini` message is one whole response, with its tool calls and their results.
 */

import type { Block, Usage } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import type { UserTextInResult } from "@strata/core/messages"
import { Chain, type Origin } from "./chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "./foreign-blocks.ts"
import {
  asFields,
  type Fields,
  fieldsAt,
  firstFields,
  jsonLines,
  numberAt,
  parseFields,
  present,
  recordsAt,
  textAt,
  textsAt,
} from "./foreign-json.ts"
import type { ExternalFile, ImportedConversation, ImportedSpending, Importer } from "./importer.ts"
import { type JsonDocument, readDocument } from "./json-document.ts"
import { Tally } from "./tally.ts"

const FORMAT = "gemini"
const ASKING_TOOL = "ask_user"

/** Messages for the person, and why they are not the conversation's. */
const SHOWN_ONLY = "shown to the person, never sent to the model"
const NOT_SENT: ReadonlySet<string> = new Set(["info", "error", "warning"])

export const gemini: Importer = {
  format: FORMAT,
  recognises: ({ text }) => isHeader(documentOf(text)?.fields ?? firstFields(text, 1)[0]),
  read: (file) => [new Chat(file).read()],
}

const isHeader = (fields: Fields | undefined): boolean =>
  textAt(fields, "sessionId") !== undefined && textAt(fields, "projectHash") !== undefined

/** A document takes many lines or one; a header line alone has no messages. */
function documentOf(text: string): JsonDocument | undefined {
  const document = readDocument(text)
  return document && Array.isArray(document.fields.messages) ? document : undefined
}

class Chat {
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #header: Fields
  readonly #id: string
  readonly #messages: readonly Fields[]
  readonly #spent: ImportedSpending[] = []
  #model: string | undefined

  constructor({ text }: ExternalFile) {
    const document = documentOf(text)
    this.#tally.document(document)
    this.#header = document?.fields ?? firstFields(text, 1)[0] ?? {}
    const id = textAt(this.#header, "sessionId") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    this.#messages = document ? recordsAt(document.fields, "messages") : this.#linesOf(text)
  }

  read(): ImportedConversation {
    for (const [index, message] of this.#messages.entries()) this.#message(message, index)
    return present({
      format: FORMAT,
      id: this.#id,
      title: textAt(this.#header, "summary"),
      cwd: textsAt(this.#header, "directories")[0],
      model: this.#model,
      messages: this.#chain.messages,
      spent: this.#spent.length === 0 ? undefined : this.#spent,
      report: this.#tally.report(),
    })
  }

  /** The newest version of each message, where it first was. */
  #linesOf(text: string): readonly Fields[] {
    let messages = new Map<string, Fields>()
    for (const [index, line] of [...jsonLines(text)].entries()) {
      const { fields } = line
      const id = textAt(fields, "id")
      if (!fields) this.#tally.notJson(line)
      else if (isHeader(fields)) this.#tally.understood("header")
      else if ("$set" in fields) {
        this.#tally.leftOut("$set", "a changed fact of the header, or messages that the next lines repeat")
        const set = fieldsAt(fields, "$set")
        if (Array.isArray(set?.messages))
          messages = new Map(
            recordsAt(set, "messages").map((message, at) => [textAt(message, "id") ?? `${at}`, message]),
          )
      } else if ("$rewindTo" in fields) {
        this.#tally.leftOut("$rewindTo", "the person went back; the messages after it are left out")
        messages = upTo(messages, textAt(fields, "$rewindTo"))
      } else {
        const key = id ?? `line ${index}`
        if (messages.has(key)) this.#tally.leftOut("message again", "the newest version of it counts")
        messages.set(key, fields)
      }
    }
    return [...messages.values()]
  }

  #message(message: Fields, index: number): void {
    const type = textAt(message, "type") ?? "no type"
    const origin = { key: textAt(message, "id") ?? `message ${index}`, at: textAt(message, "timestamp") }
    const blocks = partsOf(message.content)
    if (NOT_SENT.has(type)) this.#tally.leftOut(type, SHOWN_ONLY)
    else if (!blocks) this.#tally.notUnderstood(`${type} without content`)
    else if (type === "user") {
      this.#tally.understood(type)
      if (blocks.length > 0) this.#chain.user(blocks, origin)
    } else if (type === "gemini") {
      this.#tally.understood(type)
      this.#response(message, blocks, origin)
    } else this.#tally.notUnderstood(type)
  }

  #response(message: Fields, said: readonly Block[], origin: Origin): void {
    this.#model = textAt(message, "model") ?? this.#model
    const thoughts = recordsAt(message, "thoughts").map((thought) =>
      [textAt(thought, "subject"), textAt(thought, "description")].filter(Boolean).join("\n"),
    )
    const calls = recordsAt(message, "toolCalls").map((call, at) => ({
      call,
      id: textAt(call, "id") ?? `${origin.key}_${at}`,
    }))
    const blocks = [
      ...thoughts.map((text) => thinkingBlock(text)),
      ...said,
      ...calls.map(({ call, id }) =>
        toolUse({ id, name: textAt(call, "name") ?? "unknown", input: fieldsAt(call, "args") ?? {} }),
      ),
    ]
    const id = this.#chain.uuid(`${origin.key}:response`)
    const usage = usageFrom(fieldsAt(message, "tokens"))
    const hasSize = usage !== undefined && usage.input_tokens + usage.output_tokens > 0
    // a request counts also where its tokens were not; such a usage would make the context look empty
    if (usage && (blocks.length === 0 || !hasSize))
      this.#spent.push({
        ...{ purpose: "main", model: textAt(message, "model") ?? "unknown", usage },
        ...{ responseId: `${id}:spent`, after: this.#chain.newest },
      })
    if (blocks.length === 0) return
    this.#chain.assistant(blocks, origin, {
      id,
      model: textAt(message, "model"),
      usage: hasSize ? usage : undefined,
      stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    })
    const results = calls.map(({ call, id }) => toolResult(id, resultOf(call), isFailed(call)))
    if (results.length === 0) return
    const answers = calls.flatMap(({ call }) => answersIn(call))
    const flags = answers.length > 0 ? { saidInResults: answers } : {}
    this.#chain.user(
      results,
      { key: `${origin.key}:results`, at: textAt(calls.at(-1)?.call, "timestamp") ?? origin.at },
      flags,
    )
  }
}

/** The messages before the one that the person went back to. They write it again. */
function upTo(messages: Map<string, Fields>, id: string | undefined): Map<string, Fields> {
  const all = [...messages]
  const at = all.findIndex(([key]) => key === id)
  return at < 0 ? messages : new Map(all.slice(0, at))
}

function partsOf(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  if (content === undefined) return []
  const parts = Array.isArray(content) ? content : [content]
  const blocks = parts.map((part: unknown) => (typeof part === "string" ? textBlock(part) : partFrom(asFields(part))))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function partFrom(part: Fields | undefined): Block | undefined {
  const text = textAt(part, "text")
  if (text !== undefined) return textBlock(text)
  const inline = fieldsAt(part, "inlineData")
  const mime = textAt(inline, "mimeType")
  return inline ? mediaBlock(`data:${mime};base64,${textAt(inline, "data") ?? ""}`, mime) : undefined
}

/** What the model was sent: the text of the response, or all of it as JSON. */
function resultOf(call: Fields): string {
  const texts = recordsAt(call, "result").flatMap((part) => {
    const response = fieldsAt(fieldsAt(part, "functionResponse"), "response")
    return (
      textAt(response, "output") ??
      textAt(response, "error") ??
      textAt(part, "text") ??
      (response ? JSON.stringify(response) : [])
    )
  })
  return texts.length > 0 ? texts.join("\n") : (textAt(call, "result") ?? textAt(call, "resultDisplay") ?? "")
}

const isFailed = (call: Fields): boolean => ["error", "cancelled"].includes(textAt(call, "status") ?? "")

/** The answers to the questions of a call that asks the person. */
function answersIn(call: Fields): readonly UserTextInResult[] {
  if (textAt(call, "name") !== ASKING_TOOL || isFailed(call)) return []
  const answers = fieldsAt(parseFields(resultOf(call)), "answers") ?? {}
  return Object.values(answers).flatMap((text) =>
    typeof text === "string" && text !== "" ? [{ at: "answer", text }] : [],
  )
}

/** Gemini counts cached tokens in the input, and thoughts beside the output. */
function usageFrom(tokens: Fields | undefined): Usage | undefined {
  if (!tokens) return undefined
  const count = (key: string) => numberAt(tokens, key) ?? 0
  return {
    input_tokens: Math.max(0, count("input") + count("tool") - count("cached")),
    cache_read_input_tokens: count("cached"),
    output_tokens: count("output") + count("thoughts"),
  }
}
