/**
 * Imports trajectories of SWE-agent (`.traj`): one JSON document. `history` is the conversation; `trajectory` repeats it step by step with
 * measurements. In older versions the model wrote commands in its text, and user messages contained their output. The report counts the
 * entries of the history, the steps and the other fields.
 */

import type { Block } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { type FileChange, type Message, textOf, type UserMessage } from "@strata/core/messages"
import { Chain, type Origin } from "../chain.ts"
import { blocksFromOpenAi, thinkingBlock, toolResult, toolUse } from "../external-blocks.ts"
import type { ExternalFile, ImportedConversation, ImportedUsage, Importer } from "../importer.ts"
import {
  definedOnly,
  getList,
  getNumber,
  getObject,
  getObjects,
  getString,
  getStrings,
  isTrue,
  type JsonObject,
  parseObject,
} from "../json-access.ts"
import { readDocument } from "../json-document.ts"
import { Tally } from "../tally.ts"

// Determines the files that SWE-agent's commands changed. Its edits name no file: they apply to the open file, which each observation names
// at its end. Other changes are taken from the diff that the run submitted.

type Changes = Pick<UserMessage, "filesChanged">

const OPEN_FILE = /\(Open file: (.+)\)\s*\n\(Current directory: (.+)\)/
/** Printed after each applied edit. */
const WINDOW = /^\[File: .+ \(\d+ lines total\)\]\s*$/m
const REFUSED = /^Your proposed edit has introduced|have NOT been applied|^Error:/m
const EDIT = /^(?:create|edit|insert|append|str_replace)\b/
const REMOVAL = /^rm (?:-\w+ )*([^\s-][^\s;&|*?]*)\s*$/
const NO_FILE = "n/a"

export interface Submission {
  readonly diff: string
  /** Working directory at the start. The paths of the diff are relative to it. */
  readonly directory: string | undefined
}

export class ChangedFiles {
  #command = ""
  readonly #changed = new Set<string>()

  asked(command: string): void {
    this.#command = command.trim()
  }

  /** Changes of the last command, according to the observation after it. */
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

  /** The messages, with the remaining changes of the run added to the last observation. */
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

/** Fields other than the history, with the reason why they are not messages. */
const OTHER_FIELDS: Readonly<Record<string, string>> = {
  info: "the outcome of the run is not part of the conversation",
  replay_config: "the model and the name of the task are imported, other settings are not",
  environment: "a setting of the program",
}

export const sweAgent: Importer = {
  format: FORMAT,
  recognizes: ({ text }) => {
    const { fields, isCut = false } = readDocument(text) ?? {}
    return Array.isArray(fields?.trajectory) && (Array.isArray(fields.history) || isCut)
  },
  read: (file) => [new Trajectory(file).read()],
}

class Trajectory {
  readonly #document: JsonObject
  readonly #isCut: boolean
  readonly #files = new ChangedFiles()
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  readonly #config: JsonObject | undefined
  /** Maps the file's call ids to unique ones. */
  readonly #ids = new Map<string, string>()
  #system: string | undefined
  #hasAnswered = false

  constructor({ text }: ExternalFile) {
    const document = readDocument(text)
    this.#tally.document(document)
    this.#document = document?.fields ?? {}
    this.#isCut = document?.isCut ?? false
    this.#id = uuidFrom(text) // several runs of one task share a name
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    const config = this.#document.replay_config
    this.#config = getObject(
      typeof config === "string" ? parseObject(config) : getObject(this.#document, "replay_config"),
      "agent",
    )
  }

  read(): ImportedConversation {
    const steps = getObjects(this.#document, "trajectory")
    for (const [index, entry] of this.#history(steps).entries()) this.#entry(entry, index)
    for (const _ of getList(this.#document, "trajectory")) this.#tally.omitted("step", "repeats the history")
    for (const field of Object.keys(this.#document)) this.#otherField(field)
    this.#tally.remark("this format has no times")
    const spent = this.#totals()
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: getString(this.#config, "name"),
      cwd: directoryAt(steps[0]),
      model: getString(getObject(this.#config, "model"), "name"),
      system: this.#system,
      messages: this.#files.submitted(this.#chain.messages, {
        diff: getString(getObject(this.#document, "info"), "submission") ?? "",
        directory: directoryAt(steps[0]),
      }),
      spent,
      report: this.#tally.report(),
    })
  }

  /**
   * The entries of the history. The steps come first in the file, so if the history is truncated, the last step contains more of the
   * conversation.
   */
  #history(steps: readonly JsonObject[]): readonly JsonObject[] {
    const history = getObjects(this.#document, "history")
    const rebuilt = this.#isCut ? completed(history, steps) : history
    if (rebuilt.length <= history.length) return history
    this.#tally.remark("the history is cut off, so the conversation is read from the steps")
    return rebuilt
  }

  #entry(entry: JsonObject, index: number): void {
    const role = getString(entry, "role") ?? "no role"
    const kind = `history:${role}`
    const origin = { key: `history ${index}`, at: undefined }
    const blocks = blocksFromOpenAi(entry.content ?? "")
    if (!blocks || !ROLES.has(role)) {
      this.#tally.notUnderstood(kind)
      return
    }
    this.#tally.understood(kind)
    if (role === "system" && this.#system === undefined) this.#system = getString(entry, "content")
    else if (role === "assistant") {
      this.#files.asked(getString(entry, "action") ?? "")
      this.#answer([...thinkingOf(entry), ...blocks, ...this.#callsOf(entry)], origin)
    } else if (role === "tool") {
      const [given = origin.key] = [...getStrings(entry, "tool_call_ids"), getString(entry, "tool_call_id")]
      const callId = this.#ids.get(given) ?? given
      const result = toolResult(callId, getString(entry, "content") ?? blocks)
      this.#chain.user([result], origin, this.#files.observed(textOf(blocks), callId))
    } else {
      // only the task comes from the user; user messages after a response are observations
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

  #callsOf(entry: JsonObject): readonly Block[] {
    return getObjects(entry, "tool_calls").flatMap((call) => {
      const [id, asked] = [getString(call, "id"), getObject(call, "function")]
      const [name, input] = [getString(asked, "name"), getString(asked, "arguments") ?? getObject(asked, "arguments")]
      return id && name && input !== undefined ? [toolUse({ id: this.#ownId(id), name, input })] : []
    })
  }

  /** Makes a call id unique. Edited or replayed trajectories repeat call ids, but the API accepts each id only once. */
  #ownId(id: string): string {
    const isRepeated = this.#ids.has(id)
    if (isRepeated) this.#tally.remark("the id of a call was used before, so the call and its result got a new one")
    this.#ids.set(id, isRepeated ? `${id}_${this.#chain.messages.length}` : id)
    return this.#ids.get(id)!
  }

  #otherField(field: string): void {
    if (field === "history" || field === "trajectory") return
    if (Object.hasOwn(OTHER_FIELDS, field)) this.#tally.omitted(field, OTHER_FIELDS[field]!)
    else this.#tally.notUnderstood(field)
  }

  /** Records the token totals. Responses have no usage in this format. */
  #totals(): readonly ImportedUsage[] | undefined {
    const stats = getObject(getObject(this.#document, "info"), "model_stats")
    if (!stats) return undefined
    const [sent = 0, received = 0, requests = 0] = ["tokens_sent", "tokens_received", "api_calls"].map(
      (key) => getNumber(stats, key) ?? 0,
    )
    this.#tally.remark(`only the token totals are known: ${sent} sent and ${received} received in ${requests} calls`)
    const model = getString(getObject(this.#config, "model"), "name") ?? "unknown"
    const usage = { input_tokens: sent, output_tokens: received }
    return [
      { purpose: "main", model, requests, usage, responseId: this.#chain.uuid("totals"), after: this.#chain.newest },
    ]
  }
}

/**
 * Completes a truncated history from the steps. Since version 1, a step contains the messages up to it. Before, each step is a response and
 * its observation.
 */
function completed(history: readonly JsonObject[], steps: readonly JsonObject[]): readonly JsonObject[] {
  const last = getObjects(
    steps.findLast((step) => getList(step, "messages").length > 0),
    "messages",
  )
  if (last.length > 0) return last
  const answers = history.filter(
    (entry) => getString(entry, "role") === "assistant" && !isTrue(entry, "is_demo"),
  ).length
  const isOpen = getString(history.at(-1), "role") === "assistant"
  return [
    ...history,
    ...steps.slice(isOpen ? answers - 1 : answers).flatMap((step, at) => [
      ...(isOpen && at === 0
        ? []
        : [
            {
              role: "assistant",
              content: getString(step, "response") ?? "",
              action: getString(step, "action") ?? "",
            },
          ]),
      { role: "user", content: getString(step, "observation") ?? "" },
    ]),
  ]
}

function thinkingOf(entry: JsonObject): readonly Block[] {
  return getObjects(entry, "thinking_blocks").flatMap((block) => {
    const thinking = getString(block, "thinking")
    return thinking === undefined ? [] : [thinkingBlock(thinking, getString(block, "signature"))]
  })
}

/** The working directory of a step. Before version 1, the state was JSON in a string. */
function directoryAt(step: JsonObject | undefined): string | undefined {
  const state = getObject(step, "state") ?? parseObject(getString(step, "state") ?? "")
  return getString(state, "working_dir")
}
