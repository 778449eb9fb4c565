/**
 * Trajectories of SWE-agent (`.traj`): one JSON document. `history` is the conversation; `trajectory` repeats it step by step
 * with measurements. In older versions the model wrote commands in its text, and user messages answered them. The report
 * counts the entries of the history, the steps and the other fields.
 */
import { uuidFrom } from "../base/ids.ts"
import type { Block } from "../messages/blocks.ts"
import { Chain, type Origin } from "./chain.ts"
import { blocksFromOpenAi, thinkingBlock, toolResult, toolUse } from "./foreign-blocks.ts"
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
  withoutByteOrderMark,
} from "./foreign-json.ts"
import type { ForeignFile, ImportedConversation, Importer } from "./importer.ts"
import { Tally } from "./tally.ts"

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
    const document = parseFields(withoutByteOrderMark(text))
    return Array.isArray(document?.history) && Array.isArray(document.trajectory)
  },
  read: (file) => [new Trajectory(file).read()],
}

class Trajectory {
  readonly #document: Fields
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  readonly #config: Fields | undefined
  /** Their ids, mapped to the ids currently used for them. */
  readonly #ids = new Map<string, string>()
  #system: string | undefined
  #hasAnswered = false

  constructor({ text }: ForeignFile) {
    this.#document = parseFields(withoutByteOrderMark(text)) ?? {}
    this.#id = uuidFrom(text) // several runs of one task have the same name
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
    const config = this.#document.replay_config
    this.#config = fieldsAt(
      typeof config === "string" ? parseFields(config) : fieldsAt(this.#document, "replay_config"),
      "agent",
    )
  }

  read(): ImportedConversation {
    for (const [index, entry] of recordsAt(this.#document, "history").entries()) this.#entry(entry, index)
    const steps = recordsAt(this.#document, "trajectory")
    for (const _ of listAt(this.#document, "trajectory")) this.#tally.leftOut("step", "repeats the history")
    for (const field of Object.keys(this.#document)) this.#otherField(field)
    this.#tally.remark("this format has no times")
    this.#remarkOnTokens()
    return present({
      format: FORMAT,
      id: this.#id,
      title: textAt(this.#config, "name"),
      cwd: directoryAt(steps[0]),
      model: textAt(fieldsAt(this.#config, "model"), "name"),
      system: this.#system,
      messages: this.#chain.messages,
      report: this.#tally.report(),
    })
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
    else if (role === "assistant") this.#answer([...thinkingOf(entry), ...blocks, ...this.#callsOf(entry)], origin)
    else if (role === "tool") {
      const [callId = origin.key] = [...textsAt(entry, "tool_call_ids"), textAt(entry, "tool_call_id")]
      this.#chain.user([toolResult(this.#ids.get(callId) ?? callId, textAt(entry, "content") ?? blocks)], origin)
    } else {
      // only the task comes from a person; user messages after an answer are observations
      const isMeta = role === "system" || this.#hasAnswered || isTrue(entry, "is_demo")
      this.#chain.user(blocks, origin, isMeta ? { isMeta } : {})
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

  #remarkOnTokens(): void {
    const stats = fieldsAt(fieldsAt(this.#document, "info"), "model_stats")
    if (!stats) return
    const [sent, received, calls] = ["tokens_sent", "tokens_received", "api_calls"].map(
      (key) => numberAt(stats, key) ?? 0,
    )
    this.#tally.remark(`only the token totals are known: ${sent} sent and ${received} received in ${calls} calls`)
  }
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
