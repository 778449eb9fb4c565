/**
 * Trajectories of SWE-agent (`.traj`): one JSON document. `history` is the conversation; `trajectory` repeats it step by step
 * with measurements. In older versions the model wrote commands in its text, and user messages answered them. The report
 * counts the entries of the history, the steps and the other fields.
 */

import type { Block } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { type FileChange, type Message, textOf, type UserMessage } from "@strata/core/messages"
import { Chain, type Origin } from "../chain.ts"
import { blocksFromOpenAi, thinkingBlock, toolResult, toolUse } from "../foreign-blocks.ts"
import {
  type Fields,
  fieldsAt,
  isTrue,
  listAt,
  numberAt,
  parseFields,
  present,
  recordsAt,
  textAt,
  textsAt,
} from "../foreign-json.ts"
import type { ExternalFile, ImportedConversation, ImportedSpending, Importer } from "../importer.ts"
import { readDocument } from "../json-document.ts"
import { Tally } from "../tally.ts"

// The files that SWE-agent's commands changed. Its edits name no file: they apply to the one that is open, which each observation names at
// its end. What no edit shows is in the diff that the run submitted.

type Changes = Pick<UserMessage, "filesChanged">

const OPEN_FILE = /\(Open file: (.+)\)\s*\n\(Current directory: (.+)\)/
/** Shown after each edit that was applied. */
const WINDOW = /^\[File: .+ \(\d+ lines total\)\]\s*$/m
const REFUSED = /^Your proposed edit has introduced|have NOT been applied|^Error:/m
const EDIT = /^(?:create|edit|insert|append|str_replace)\b/
const REMOVAL = /^rm (?:-\w+ )*([^\s-][^\s;&|*?]*)\s*$/
const NO_FILE = "n/a"

export interface Submission {
  readonly diff: string
  /** Where the run began. The paths of the diff start there. */
  readonly directory: string | undefined
}

export class ChangedFiles {
  #command = ""
  readonly #changed = new Set<string>()

  asked(command: string): void {
    this.#command = command.trim()
  }

  /** The changes of the last command, shown by what was observed after it. */
  observed(observation: string, callId: string): Changes {
    const [, file = NO_FILE, directory = ""] = OPEN_FILE.exec(observation) ?? []
    const command = this.#command
    this.#command = ""
    const removed = REMOVAL.exec(command)?.[1]
    if (removed !== undefined && !/^rm: /m.test(observation))
      return this.#changes(callId, { path: inside(removed, directory), what: "deleted" })
    if (!EDIT.test(command) || file === NO_FILE || !WINDOW.test(observation) || REFUSED.test(observation)) return {}
    return this.#changes(callId, { path: file, what: command.startsWith("create") ? "created" : "changed" })
  }

  /** The messages, with what else the run changed at the last observation. */
  submitted(messages: readonly Message[], { diff, directory = "" }: Submission): readonly Message[] {
    const files = [...diff.matchAll(/^diff --git a\/(.+) b\/(.+?)\r?$((?:\r?\n(?!diff --git ).*)*)/gm)]
      .map(([, , path, rest]): FileChange => ({ path: inside(path!, directory), what: fateIn(rest!) }))
      .filter(({ path }) => !this.#changed.has(path))
    const last = messages.findLastIndex(({ type }) => type === "user")
    if (files.length === 0 || last < 0) return messages
    const { filesChanged = [], ...message } = messages[last] as UserMessage
    const callId = filesChanged[0]?.callId ?? resultIn(message)
    const all = [...filesChanged.flatMap((changes) => changes.files), ...files]
    return messages.with(last, { ...message, filesChanged: [{ callId, files: all }] })
  }

  #changes(callId: string, change: FileChange): Changes {
    this.#changed.add(change.path)
    return { filesChanged: [{ callId, files: [change] }] }
  }
}

function fateIn(header: string): FileChange["what"] {
  if (/^new file mode/m.test(header)) return "created"
  return /^deleted file mode/m.test(header) ? "deleted" : "changed"
}

function resultIn({ message: { content } }: UserMessage): string {
  const result = typeof content === "string" ? undefined : content.find((block) => block.type === "tool_result")
  return result && "tool_use_id" in result ? String(result.tool_use_id) : ""
}

const inside = (path: string, directory: string): string =>
  path.startsWith("/") || directory === "" ? path : `${directory}/${path}`

const FORMAT = "swe-agent"
const ROLES = new Set(["system", "user", "assistant", "tool"])

/** Fields besides the history, and why they are not messages. */
const OTHER_FIELDS: Readonly<Record<string, string>> = {
  info: "the outcome of the run is not part of the conversation",
  replay_config: "the model and the name of the task are kept, other settings are not",
  environment: "a setting of the program",
}

export const sweAgent: Importer = {
  format: FORMAT,
  recognises: ({ text }) => {
    const { fields, isCut = false } = readDocument(text) ?? {}
    return Array.isArray(fields?.trajectory) && (Array.isArray(fields.history) || isCut)
  },
  read: (file) => [new Trajectory(file).read()],
}

class Trajectory {
  readonly #document: Fields
  readonly #isCut: boolean
  readonly #files = new ChangedFiles()
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  readonly #config: Fields | undefined
  /** Their ids, mapped to the ids currently used for them. */
  readonly #ids = new Map<string, string>()
  #system: string | undefined
  #hasAnswered = false

  constructor({ text }: ExternalFile) {
    const document = readDocument(text)
    this.#tally.document(document)
    this.#document = document?.fields ?? {}
    this.#isCut = document?.isCut ?? false
    this.#id = uuidFrom(text) // several runs of one task have the same name
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    const config = this.#document.replay_config
    this.#config = fieldsAt(
      typeof config === "string" ? parseFields(config) : fieldsAt(this.#document, "replay_config"),
      "agent",
    )
  }

  read(): ImportedConversation {
    const steps = recordsAt(this.#document, "trajectory")
    for (const [index, entry] of this.#history(steps).entries()) this.#entry(entry, index)
    for (const _ of listAt(this.#document, "trajectory")) this.#tally.leftOut("step", "repeats the history")
    for (const field of Object.keys(this.#document)) this.#otherField(field)
    this.#tally.remark("this format has no times")
    const spent = this.#totals()
    return present({
      format: FORMAT,
      id: this.#id,
      title: textAt(this.#config, "name"),
      cwd: directoryAt(steps[0]),
      model: textAt(fieldsAt(this.#config, "model"), "name"),
      system: this.#system,
      messages: this.#files.submitted(this.#chain.messages, {
        diff: textAt(fieldsAt(this.#document, "info"), "submission") ?? "",
        directory: directoryAt(steps[0]),
      }),
      spent,
      report: this.#tally.report(),
    })
  }

  /** The steps come first in the file. Where the history is cut off, the last step knows more of the conversation. */
  #history(steps: readonly Fields[]): readonly Fields[] {
    const history = recordsAt(this.#document, "history")
    const rebuilt = this.#isCut ? completed(history, steps) : history
    if (rebuilt.length <= history.length) return history
    this.#tally.remark("the history is cut off, so the conversation is read from the steps")
    return rebuilt
  }

  #entry(entry: Fields, index: number): void {
    const role = textAt(entry, "role") ?? "no role"
    const kind = `history:${role}`
    const origin = { key: `history ${index}`, at: undefined }
    const blocks = blocksFromOpenAi(entry.content ?? "")
    if (!blocks || !ROLES.has(role)) {
      this.#tally.notUnderstood(kind)
      return
    }
    this.#tally.understood(kind)
    if (role === "system" && this.#system === undefined) this.#system = textAt(entry, "content")
    else if (role === "assistant") {
      this.#files.asked(textAt(entry, "action") ?? "")
      this.#answer([...thinkingOf(entry), ...blocks, ...this.#callsOf(entry)], origin)
    } else if (role === "tool") {
      const [given = origin.key] = [...textsAt(entry, "tool_call_ids"), textAt(entry, "tool_call_id")]
      const callId = this.#ids.get(given) ?? given
      const result = toolResult(callId, textAt(entry, "content") ?? blocks)
      this.#chain.user([result], origin, this.#files.observed(textOf(blocks), callId))
    } else {
      // only the task comes from a person; user messages after an answer are observations
      const isMeta = role === "system" || this.#hasAnswered || isTrue(entry, "is_demo")
      const isObservation = role === "user" && this.#hasAnswered
      const changes = isObservation ? this.#files.observed(textOf(blocks), origin.key) : {}
      this.#chain.user(blocks, origin, { ...(isMeta ? { isMeta } : {}), ...changes })
    }
  }

  #answer(blocks: readonly Block[], origin: Origin): void {
    this.#hasAnswered = true
    this.#chain.assistant(blocks, origin, { id: this.#chain.uuid(`${origin.key}:response`) })
  }

  #callsOf(entry: Fields): readonly Block[] {
    return recordsAt(entry, "tool_calls").flatMap((call) => {
      const [id, asked] = [textAt(call, "id"), fieldsAt(call, "function")]
      const [name, input] = [textAt(asked, "name"), textAt(asked, "arguments") ?? fieldsAt(asked, "arguments")]
      return id && name && input !== undefined ? [toolUse({ id: this.#ownId(id), name, input })] : []
    })
  }

  /** Edited or replayed trajectories repeat call ids, but the API accepts each id only once. */
  #ownId(id: string): string {
    const isRepeated = this.#ids.has(id)
    if (isRepeated) this.#tally.remark("the id of a call was used before, so the call and its result got a new one")
    this.#ids.set(id, isRepeated ? `${id}_${this.#chain.messages.length}` : id)
    return this.#ids.get(id)!
  }

  #otherField(field: string): void {
    if (field === "history" || field === "trajectory") return
    if (Object.hasOwn(OTHER_FIELDS, field)) this.#tally.leftOut(field, OTHER_FIELDS[field]!)
    else this.#tally.notUnderstood(field)
  }

  /** Only totals are recorded, so no response has a usage. */
  #totals(): readonly ImportedSpending[] | undefined {
    const stats = fieldsAt(fieldsAt(this.#document, "info"), "model_stats")
    if (!stats) return undefined
    const [sent = 0, received = 0, requests = 0] = ["tokens_sent", "tokens_received", "api_calls"].map(
      (key) => numberAt(stats, key) ?? 0,
    )
    this.#tally.remark(`only the token totals are known: ${sent} sent and ${received} received in ${requests} calls`)
    const model = textAt(fieldsAt(this.#config, "model"), "name") ?? "unknown"
    const usage = { input_tokens: sent, output_tokens: received }
    return [
      { purpose: "main", model, requests, usage, responseId: this.#chain.uuid("totals"), after: this.#chain.newest },
    ]
  }
}

/** Since version 1 a step has the messages up to it. Before, each step is an answer and what was observed after it. */
function completed(history: readonly Fields[], steps: readonly Fields[]): readonly Fields[] {
  const last = recordsAt(
    steps.findLast((step) => listAt(step, "messages").length > 0),
    "messages",
  )
  if (last.length > 0) return last
  const answers = history.filter((entry) => textAt(entry, "role") === "assistant" && !isTrue(entry, "is_demo")).length
  const isOpen = textAt(history.at(-1), "role") === "assistant"
  return [
    ...history,
    ...steps
      .slice(isOpen ? answers - 1 : answers)
      .flatMap((step, at) => [
        ...(isOpen && at === 0
          ? []
          : [{ role: "assistant", content: textAt(step, "response") ?? "", action: textAt(step, "action") ?? "" }]),
        { role: "user", content: textAt(step, "observation") ?? "" },
      ]),
  ]
}

function thinkingOf(entry: Fields): readonly Block[] {
  return recordsAt(entry, "thinking_blocks").flatMap((block) => {
    const thinking = textAt(block, "thinking")
    return thinking === undefined ? [] : [thinkingBlock(thinking, textAt(block, "signature"))]
  })
}

/** Before version 1 the state was JSON in a string. */
function directoryAt(step: Fields | undefined): string | undefined {
  const state = fieldsAt(step, "state") ?? parseFields(textAt(step, "state") ?? "")
  return textAt(state, "working_dir")
}
