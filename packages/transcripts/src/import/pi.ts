/**
 * Imports sessions of pi: a header line, then one JSON line per entry. Since version 2, entries form a tree by `id` and `parentId`; in
 * version 1 each entry follows the one before it. One message is one complete response.
 */

import type { Block, Usage, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { toBlocks } from "@strata/core/messages"
import { reportBranches } from "./active-branch.ts"
import { Chain, isoTime, type Origin } from "./chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "./external-blocks.ts"
import type { ExternalFile, ImportedConversation, Importer } from "./importer.ts"
import {
  asObject,
  definedOnly,
  firstObjects,
  getNumber,
  getObject,
  getString,
  isTrue,
  type JsonObject,
  jsonLines,
} from "./json-access.ts"
import { Tally } from "./tally.ts"

const FORMAT = "pi"

const STOP_REASONS: Readonly<Record<string, string>> = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" }

/** Entries that are not messages, with the reason for the report. */
const SETTINGS: Readonly<Record<string, string>> = {
  model_change: "each answer names its model",
  thinking_level_change: "a setting of the program",
  session_info: "the newest name is the title",
  label: "a bookmark of the user",
  custom: "an extension's own data, never sent to the model",
}

export const pi: Importer = {
  format: FORMAT,
  recognizes: ({ text }) => {
    const [header] = firstObjects(text, 1)
    return (
      getString(header, "type") === "session" &&
      getString(header, "id") !== undefined &&
      getString(header, "cwd") !== undefined
    )
  },
  read: (file) => [new Session(file).read()],
}

/** The position of an entry in the tree, with its own message and the newest message at or above it. */
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
    const id = getString(firstObjects(text, 1)[0], "id") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    let index = 0
    for (const line of this.#tally.withoutRepeats(jsonLines(this.#text))) {
      if (!line.object) this.#tally.notJson(line)
      else if (getString(line.object, "type") === "session") this.#header(line.object)
      else this.#entry(line.object, `${index}`)
      if (line.object) index++ // pi counts every valid line, including the header
    }
    const messages = this.#chain.messages
    reportBranches(messages, this.#tally)
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: this.#title,
      cwd: this.#cwd,
      model: this.#model,
      messages,
      report: this.#tally.report(),
    })
  }

  /** `place` identifies entries without an id, as in version 1. */
  #entry(entry: JsonObject, place: string): void {
    const type = getString(entry, "type") ?? "no type"
    const id = getString(entry, "id") ?? place
    if (this.#places.has(id)) this.#tally.omitted(`${type} again`, "an earlier entry has the same id")
    else {
      const parentId = this.#parentOf(entry)
      if (parentId !== (getString(entry, "parentId") ?? parentId)) this.#tally.parentMissing()
      const above = this.#places.get(parentId ?? "")?.newest ?? null
      const own = this.#message(type, entry, { key: id, at: isoTime(entry.timestamp), parent: above })
      this.#places.set(id, { id, parentId, own, newest: own ?? above })
      this.#previousId = id
    }
  }

  /** The id of an entry's parent. An entry without a known parent follows the previous entry. */
  #parentOf(entry: JsonObject): string | null {
    if (entry.parentId === null) return null
    const parentId = getString(entry, "parentId")
    return parentId !== undefined && this.#places.has(parentId) ? parentId : this.#previousId
  }

  #header(header: JsonObject): void {
    this.#cwd ??= getString(header, "cwd")
    this.#model ??= getString(header, "modelId")
    if ("branchedFrom" in header || "parentSession" in header)
      this.#tally.remark("the session was branched from another one")
    this.#tally.understood("session")
  }

  /** Counts the entry and adds its message, if it has one. */
  #message(type: string, entry: JsonObject, origin: Origin): Uuid | undefined {
    if (type === "message") return this.#spoken(getObject(entry, "message") ?? {}, origin)
    if (type === "compaction") return this.#compaction(entry, origin)
    if (type === "custom_message") return this.#spoken({ ...entry, role: "custom" }, origin)
    if (type === "branch_summary") return this.#spoken({ role: "custom", content: entry.summary }, origin)
    if (!Object.hasOwn(SETTINGS, type)) return void this.#tally.notUnderstood(type)
    this.#title = (type === "session_info" ? getString(entry, "name") : undefined) ?? this.#title
    this.#tally.omitted(type, SETTINGS[type]!)
    return undefined
  }

  #spoken(message: JsonObject, origin: Origin): Uuid | undefined {
    const role = getString(message, "role") ?? "no role"
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
      case "system": // since 0.87, part of the messages
        this.#tally.understood(kind)
        return this.#chain.user(blocks, origin, { isMeta: true })
      case "assistant":
        this.#tally.understood(kind)
        return this.#assistant(message, blocks, origin)
      case "toolResult": {
        this.#tally.understood(kind)
        if ("details" in message) this.#tally.remark("details of a tool that the model did not see are omitted")
        const callId = getString(message, "toolCallId") ?? origin.key
        return this.#chain.user([toolResult(callId, blocks, isTrue(message, "isError"))], origin)
      }
      default:
        return void this.#tally.notUnderstood(kind)
    }
  }

  #assistant(message: JsonObject, blocks: readonly Block[], origin: Origin): Uuid {
    const model = getString(message, "model")
    const stopReason = getString(message, "stopReason") ?? ""
    if (blocks.length === 0)
      return this.#chain.failure(getString(message, "errorMessage") ?? `No answer: ${stopReason}`, origin)
    this.#model = model ?? this.#model
    return this.#chain.assistant(blocks, origin, {
      id: getString(message, "responseId") ?? this.#chain.uuid(`${origin.key}:response`),
      model,
      usage: usageFrom(getObject(message, "usage")),
      stopReason: STOP_REASONS[stopReason] ?? stopReason,
    })
  }

  /** Adds a command that the user ran. The model saw it unless it is marked as private. */
  #bashExecution(message: JsonObject, origin: Origin): Uuid {
    this.#tally.understood("message:bashExecution")
    const [command, output] = [getString(message, "command") ?? "", getString(message, "output") ?? ""]
    const text = `The user ran a command:\n${command}\nIts output:\n${output}\nExit code: ${getNumber(message, "exitCode") ?? "none"}`
    const isPrivate = isTrue(message, "excludeFromContext")
    const attachment = { type: "foreign" as const, kind: "bash_execution", data: message, ...(!isPrivate && { text }) }
    return this.#chain.attachment(attachment, origin)
  }

  #compaction(entry: JsonObject, origin: Origin): Uuid | undefined {
    const summary = getString(entry, "summary")
    if (summary === undefined) return void this.#tally.notUnderstood("compaction without summary")
    this.#tally.understood("compaction")
    const firstKept = getString(entry, "firstKeptEntryId") ?? `${getNumber(entry, "firstKeptEntryIndex") ?? ""}`
    const kept = this.#from(firstKept, this.#parentOf(entry))
    return this.#chain.compaction({ summary, preTokens: getNumber(entry, "tokensBefore"), kept }, origin)
  }

  /** The messages from entry `first` to entry `last`. Empty if they are not on one branch. */
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
  const blocks = content.map((part: unknown) => blockFrom(asObject(part)))
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function blockFrom(part: JsonObject | undefined): Block | undefined {
  const [text, thinking, mime] = [getString(part, "text"), getString(part, "thinking"), getString(part, "mimeType")]
  switch (getString(part, "type")) {
    case "text":
      return text === undefined ? undefined : textBlock(text)
    case "thinking":
      return thinking === undefined ? undefined : thinkingBlock(thinking, getString(part, "thinkingSignature"))
    case "image":
      return mediaBlock(`data:${mime};base64,${getString(part, "data") ?? ""}`, mime)
    case "toolCall": {
      const [id, name, input] = [getString(part, "id"), getString(part, "name"), getObject(part, "arguments")]
      return id && name && input ? toolUse({ id, name, input }) : undefined
    }
    default:
      return undefined
  }
}

/** Converts usage to the counts of the Messages API. An aborted request has only zeros, which do not describe the context. */
function usageFrom(usage: JsonObject | undefined): Usage | undefined {
  const [input, output] = [getNumber(usage, "input") ?? 0, getNumber(usage, "output") ?? 0]
  const [read, written] = [getNumber(usage, "cacheRead") ?? 0, getNumber(usage, "cacheWrite") ?? 0]
  if (input + output + read + written === 0) return undefined
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  }
}
