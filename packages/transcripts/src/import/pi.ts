/**
 * Sessions of pi: a header line, then one JSON line per entry. Since version 2, entries form a tree by `id` and `parentId`;
 * in version 1 each entry follows the one before it. One message is one whole response.
 */

import type { Block, Usage, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { toBlocks } from "@strata/core/messages"
import { Chain, isoTime, type Origin } from "./chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "./foreign-blocks.ts"
import {
  asFields,
  type Fields,
  fieldsAt,
  firstFields,
  isTrue,
  jsonLines,
  numberAt,
  present,
  textAt,
} from "./foreign-json.ts"
import type { ExternalFile, ImportedConversation, Importer } from "./importer.ts"
import { remarkOnBranches } from "./main-path.ts"
import { Tally } from "./tally.ts"

const FORMAT = "pi"

const STOP_REASONS: Readonly<Record<string, string>> = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" }

/** Entries that are not messages, and why. */
const SETTINGS: Readonly<Record<string, string>> = {
  model_change: "each answer names its model",
  thinking_level_change: "a setting of the program",
  session_info: "the newest name is the title",
  label: "a bookmark of the person",
  custom: "an extension's own data, never sent to the model",
}

export const pi: Importer = {
  format: FORMAT,
  recognises: ({ text }) => {
    const [header] = firstFields(text, 1)
    return (
      textAt(header, "type") === "session" && textAt(header, "id") !== undefined && textAt(header, "cwd") !== undefined
    )
  },
  read: (file) => [new Session(file).read()],
}

/** The place of an entry in the tree, and the newest message at or above it. */
interface Place {
  readonly id: string
  readonly parentId: string | null
  readonly own: Uuid | undefined
  readonly newest: Uuid | null
}

class Session {
  readonly #text: string
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  readonly #places = new Map<string, Place>()
  #previousId: string | null = null
  #cwd: string | undefined
  #model: string | undefined
  #title: string | undefined

  constructor({ text }: ExternalFile) {
    this.#text = text
    const id = textAt(firstFields(text, 1)[0], "id") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    let index = 0
    for (const line of this.#tally.once(jsonLines(this.#text))) {
      if (!line.fields) this.#tally.notJson(line)
      else if (textAt(line.fields, "type") === "session") this.#header(line.fields)
      else this.#entry(line.fields, `${index}`)
      if (line.fields) index++ // pi counts every line that it can read, including the header
    }
    const messages = this.#chain.messages
    remarkOnBranches(messages, this.#tally)
    return present({
      format: FORMAT,
      id: this.#id,
      title: this.#title,
      cwd: this.#cwd,
      model: this.#model,
      messages,
      report: this.#tally.report(),
    })
  }

  /** In version 1, `place` identifies an entry. */
  #entry(entry: Fields, place: string): void {
    const type = textAt(entry, "type") ?? "no type"
    const id = textAt(entry, "id") ?? place
    if (this.#places.has(id)) this.#tally.leftOut(`${type} again`, "an earlier entry has the same id")
    else {
      const parentId = this.#parentOf(entry)
      if (parentId !== (textAt(entry, "parentId") ?? parentId)) this.#tally.parentMissing()
      const above = this.#places.get(parentId ?? "")?.newest ?? null
      const own = this.#message(type, entry, { key: id, at: isoTime(entry.timestamp), parent: above })
      this.#places.set(id, { id, parentId, own, newest: own ?? above })
      this.#previousId = id
    }
  }

  /** An entry without a known parent follows the entry before it. */
  #parentOf(entry: Fields): string | null {
    if (entry.parentId === null) return null
    const parentId = textAt(entry, "parentId")
    return parentId !== undefined && this.#places.has(parentId) ? parentId : this.#previousId
  }

  #header(header: Fields): void {
    this.#cwd ??= textAt(header, "cwd")
    this.#model ??= textAt(header, "modelId")
    if ("branchedFrom" in header || "parentSession" in header)
      this.#tally.remark("the session was branched from another one")
    this.#tally.understood("session")
  }

  /** Counts the entry and returns its message, if it has one. */
  #message(type: string, entry: Fields, origin: Origin): Uuid | undefined {
    if (type === "message") return this.#spoken(fieldsAt(entry, "message") ?? {}, origin)
    if (type === "compaction") return this.#compaction(entry, origin)
    if (type === "custom_message") return this.#spoken({ ...entry, role: "custom" }, origin)
    if (type === "branch_summary") return this.#spoken({ role: "custom", content: entry.summary }, origin)
    if (!Object.hasOwn(SETTINGS, type)) return void this.#tally.notUnderstood(type)
    this.#title = (type === "session_info" ? textAt(entry, "name") : undefined) ?? this.#title
    this.#tally.leftOut(type, SETTINGS[type]!)
    return undefined
  }

  #spoken(message: Fields, origin: Origin): Uuid | undefined {
    const role = textAt(message, "role") ?? "no role"
    const kind = `message:${role}`
    if (role === "bashExecution") return this.#bashExecution(message, origin)
    const blocks = blocksFrom(message.content)
    if (!blocks) return void this.#tally.notUnderstood(kind)
    switch (role) {
      case "user":
        this.#tally.understood(kind)
        return this.#chain.user(blocks, origin)
      case "custom":
      case "hookMessage":
      case "system": // since 0.87, among the messages
        this.#tally.understood(kind)
        return this.#chain.user(blocks, origin, { isMeta: true })
      case "assistant":
        this.#tally.understood(kind)
        return this.#assistant(message, blocks, origin)
      case "toolResult": {
        this.#tally.understood(kind)
        if ("details" in message) this.#tally.remark("details of a tool that the model did not see are left out")
        const callId = textAt(message, "toolCallId") ?? origin.key
        return this.#chain.user([toolResult(callId, blocks, isTrue(message, "isError"))], origin)
      }
      default:
        return void this.#tally.notUnderstood(kind)
    }
  }

  #assistant(message: Fields, blocks: readonly Block[], origin: Origin): Uuid {
    const model = textAt(message, "model")
    const stopReason = textAt(message, "stopReason") ?? ""
    if (blocks.length === 0)
      return this.#chain.failure(textAt(message, "errorMessage") ?? `No answer: ${stopReason}`, origin)
    this.#model = model ?? this.#model
    return this.#chain.assistant(blocks, origin, {
      id: textAt(message, "responseId") ?? this.#chain.uuid(`${origin.key}:response`),
      model,
      usage: usageFrom(fieldsAt(message, "usage")),
      stopReason: STOP_REASONS[stopReason] ?? stopReason,
    })
  }

  /** A command that the person ran. The model saw it unless it was marked as private. */
  #bashExecution(message: Fields, origin: Origin): Uuid {
    this.#tally.understood("message:bashExecution")
    const [command, output] = [textAt(message, "command") ?? "", textAt(message, "output") ?? ""]
    const text = `The user ran a command:\n${command}\nIts output:\n${output}\nExit code: ${numberAt(message, "exitCode") ?? "none"}`
    const isPrivate = isTrue(message, "excludeFromContext")
    const attachment = { type: "foreign" as const, kind: "bash_execution", data: message, ...(!isPrivate && { text }) }
    return this.#chain.attachment(attachment, origin)
  }

  #compaction(entry: Fields, origin: Origin): Uuid | undefined {
    const summary = textAt(entry, "summary")
    if (summary === undefined) return void this.#tally.notUnderstood("compaction without summary")
    this.#tally.understood("compaction")
    const firstKept = textAt(entry, "firstKeptEntryId") ?? `${numberAt(entry, "firstKeptEntryIndex") ?? ""}`
    const kept = this.#from(firstKept, this.#parentOf(entry))
    return this.#chain.compaction({ summary, preTokens: numberAt(entry, "tokensBefore"), kept }, origin)
  }

  /** The messages from one entry down to another. Empty if they are not on one branch. */
  #from(first: string, last: string | null): readonly Uuid[] {
    const uuids: Uuid[] = []
    for (let place = this.#places.get(last ?? ""); place; place = this.#places.get(place.parentId ?? "")) {
      if (place.own !== undefined) uuids.unshift(place.own)
      if (place.id === first) return uuids
    }
    return []
  }
}

function blocksFrom(content: unknown): readonly Block[] | undefined {
  if (typeof content === "string") return toBlocks(content)
  if (!Array.isArray(content)) return undefined
  const blocks = content.map((part: unknown) => blockFrom(asFields(part)))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function blockFrom(part: Fields | undefined): Block | undefined {
  const [text, thinking, mime] = [textAt(part, "text"), textAt(part, "thinking"), textAt(part, "mimeType")]
  switch (textAt(part, "type")) {
    case "text":
      return text === undefined ? undefined : textBlock(text)
    case "thinking":
      return thinking === undefined ? undefined : thinkingBlock(thinking, textAt(part, "thinkingSignature"))
    case "image":
      return mediaBlock(`data:${mime};base64,${textAt(part, "data") ?? ""}`, mime)
    case "toolCall": {
      const [id, name, input] = [textAt(part, "id"), textAt(part, "name"), fieldsAt(part, "arguments")]
      return id && name && input ? toolUse({ id, name, input }) : undefined
    }
    default:
      return undefined
  }
}

/** Counts as the Messages API does. An aborted request has only zeros, which say nothing about the context. */
function usageFrom(usage: Fields | undefined): Usage | undefined {
  const [input, output] = [numberAt(usage, "input") ?? 0, numberAt(usage, "output") ?? 0]
  const [read, written] = [numberAt(usage, "cacheRead") ?? 0, numberAt(usage, "cacheWrite") ?? 0]
  if (input + output + read + written === 0) return undefined
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  }
}
