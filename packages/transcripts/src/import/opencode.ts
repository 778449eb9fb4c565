/**
 * Imports exports of opencode (`opencode export`): one JSON document with the session and its messages, which consist of parts. An
 * assistant message can have several steps; each is one response of the model with the tools it called. The report counts the session, the
 * messages, the parts and the todo list.
 */

import type { Block, Usage, Uuid } from "@strata/core"
import { isSafeId, uuidFrom } from "@strata/core/base"
import { Chain, isoTime, type Origin } from "./chain.ts"
import { mediaBlock, textBlock, thinkingBlock, toolResult, toolUse } from "./external-blocks.ts"
import type { ExternalFile, ImportedConversation, Importer } from "./importer.ts"
import { definedOnly, getNumber, getObject, getObjects, getString, isTrue, type JsonObject } from "./json-access.ts"
import { readDocument } from "./json-document.ts"
import { Tally } from "./tally.ts"

const FORMAT = "opencode"

/** Parts that are not sent to the model, with the reason for the report. */
const SILENT_PARTS: Readonly<Record<string, string>> = {
  "step-start": "marks where a response begins",
  "step-finish": "its token counts are imported",
  snapshot: "a snapshot of the files is not part of the conversation",
  patch: "a list of changed files is not part of the conversation",
  agent: "names the agent that was addressed; the text says so too",
  subtask: "a sub-agent's task; its call is in the answer",
  retry: "a failed attempt of the program",
  compaction: "the summary after it is imported",
}

export const openCode: Importer = {
  format: FORMAT,
  recognizes: ({ text }) => {
    const session = readDocument(text)?.fields
    const isExport = getObject(session, "info") !== undefined && Array.isArray(session?.messages)
    const messages = getObjects(session, "messages")
    return (
      isExport &&
      (messages.length === 0 || messages.some((message) => getObject(message, "info") && "parts" in message))
    )
  },
  read: (file) => [new Export(file).read()],
}

/** One response of the model and the results of its tools. */
interface Step {
  readonly blocks: Block[]
  readonly results: Block[]
  usage: Usage | undefined
}

class Export {
  readonly #session: JsonObject
  readonly #tally = new Tally()
  readonly #chain: Chain
  readonly #id: string
  /** The first imported message for each message id of opencode. */
  readonly #places = new Map<string, Uuid>()
  #compaction: JsonObject | undefined
  #cwd: string | undefined
  #model: string | undefined
  #contextTokens = 0

  constructor({ text }: ExternalFile) {
    const document = readDocument(text)
    this.#tally.document(document)
    this.#session = document?.fields ?? {}
    const id = getString(getObject(this.#session, "info"), "id") ?? ""
    this.#id = isSafeId(id) ? id : uuidFrom(text)
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    const info = getObject(this.#session, "info")
    this.#tally.understood("session")
    if (getObject(info, "revert")) this.#tally.remark("the user had undone the last messages; they are imported anyway")
    for (const [index, message] of getObjects(this.#session, "messages").entries()) this.#message(message, index)
    if ("todos" in this.#session) this.#tally.omitted("todos", "the todo list is in the calls that wrote it")
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: getString(info, "title"),
      cwd: getString(info, "directory") ?? this.#cwd,
      model: this.#model,
      messages: this.#chain.messages,
      report: this.#tally.report(),
    })
  }

  #message(message: JsonObject, index: number): void {
    const info = getObject(message, "info") ?? {}
    const parts = getObjects(message, "parts")
    const origin = { key: `message ${index}`, at: isoTime(getObject(info, "time")?.created) }
    const before = this.#chain.messages.length
    const role = getString(info, "role") ?? "no role"
    if (role === "user") this.#user(parts, origin)
    else if (role === "assistant") this.#assistant(info, parts, origin)
    else {
      this.#tally.notUnderstood(`message:${role}`)
      for (const part of parts) this.#tally.notUnderstood(`part:${kindOf(part)}`)
    }
    const first = this.#chain.messages[before]
    if (first) this.#places.set(getString(info, "id") ?? origin.key, first.uuid)
  }

  #user(parts: readonly JsonObject[], origin: Origin): void {
    this.#tally.understood("message:user")
    this.#compaction = parts.find((part) => kindOf(part) === "compaction")
    const blocks = parts.flatMap((part) => this.#userPart(part))
    const isMeta = parts.filter((part) => kindOf(part) === "text").every((part) => isTrue(part, "synthetic"))
    if (blocks.length > 0) this.#chain.user(blocks, origin, isMeta ? { isMeta } : {})
  }

  #userPart(part: JsonObject): readonly Block[] {
    const kind = kindOf(part)
    const text = getString(part, "text")
    if (kind === "text" && text !== undefined) {
      if (isTrue(part, "ignored")) this.#tally.omitted("part:text", "texts marked as ignored were never sent")
      else this.#tally.understood("part:text")
      return isTrue(part, "ignored") ? [] : [textBlock(text)]
    }
    if (kind === "file") {
      const media = mediaBlock(getString(part, "url") ?? "", getString(part, "mime"))
      if (media) this.#tally.understood("part:file")
      else
        this.#tally.omitted(
          "part:file",
          "the content of a text file is in a text next to it; other files are not recorded",
        )
      return media ? [media] : []
    }
    this.#silent(kind)
    return []
  }

  #silent(kind: string): void {
    if (Object.hasOwn(SILENT_PARTS, kind)) this.#tally.omitted(`part:${kind}`, SILENT_PARTS[kind]!)
    else this.#tally.notUnderstood(`part:${kind}`)
  }

  #assistant(info: JsonObject, parts: readonly JsonObject[], origin: Origin): void {
    this.#tally.understood("message:assistant")
    this.#model = getString(info, "modelID") ?? this.#model
    this.#cwd ??= getString(getObject(info, "path"), "cwd")
    const steps = this.#steps(parts)
    const [only, another] = steps
    if (only && !another) only.usage ??= usageFrom(getObject(info, "tokens"))
    if (isTrue(info, "summary")) this.#summary(steps, origin)
    else
      for (const [index, step] of steps.entries()) this.#step(step, { ...origin, key: `${origin.key} step ${index}` })

    const error = getObject(info, "error")
    const why = getString(getObject(error, "data"), "message") ?? getString(error, "name")
    if (why !== undefined) this.#chain.failure(why, { ...origin, key: `${origin.key} error` })
  }

  #steps(parts: readonly JsonObject[]): readonly Step[] {
    const steps: Step[] = []
    let open: Step | undefined
    const step = () => {
      if (open) return open
      open = { blocks: [], results: [], usage: undefined }
      steps.push(open)
      return open
    }
    for (const part of parts) {
      const kind = kindOf(part)
      if (kind === "step-start") open = undefined
      if (kind === "step-finish") step().usage = usageFrom(getObject(part, "tokens"))
      if (!this.#spokenPart(part, step)) this.#silent(kind)
      if (kind === "step-finish") open = undefined
    }
    return steps
  }

  #spokenPart(part: JsonObject, step: () => Step): boolean {
    const [kind, text] = [kindOf(part), getString(part, "text")]
    const call = kind === "tool" ? callFrom(part) : undefined
    if (kind === "text" && text !== undefined) step().blocks.push(textBlock(text))
    else if (kind === "reasoning" && text !== undefined) step().blocks.push(thinkingBlock(text, signatureOf(part)))
    else if (call) {
      step().blocks.push(call.use)
      step().results.push(...call.result)
      if (call.wasCleared) this.#tally.remark("a tool result that opencode no longer sent is imported in full")
    } else return false
    this.#tally.understood(`part:${kind}`)
    return true
  }

  #step({ blocks, results, usage }: Step, origin: Origin): void {
    if (blocks.length === 0) return
    if (usage) this.#contextTokens = usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + usage.output_tokens
    this.#chain.assistant(blocks, origin, { id: this.#chain.uuid(`${origin.key}:response`), model: this.#model, usage })
    if (results.length > 0) this.#chain.user(results, { ...origin, key: `${origin.key} results` })
  }

  #summary(steps: readonly Step[], origin: Origin): void {
    const trigger = this.#compaction && !isTrue(this.#compaction, "auto") ? "manual" : "auto"
    const summary = steps.flatMap((step) => step.blocks).filter((block) => block.type === "text")
    const tail = this.#places.get(getString(this.#compaction, "tail_start_id") ?? "")
    const from = this.#chain.messages.findIndex(({ uuid }) => uuid === tail)
    const kept = from < 0 ? [] : this.#chain.messages.slice(from).map(({ uuid }) => uuid)
    this.#chain.compaction({ summary, trigger, preTokens: this.#contextTokens, kept }, origin)
  }
}

const kindOf = (part: JsonObject) => getString(part, "type") ?? "no type"

function callFrom(part: JsonObject): { use: Block; result: readonly Block[]; wasCleared: boolean } | undefined {
  const [id, name, state] = [getString(part, "callID"), getString(part, "tool"), getObject(part, "state")]
  const input = getObject(state, "input")
  if (!id || !name || !input) return undefined
  const wasCleared = getNumber(getObject(state, "time"), "compacted") !== undefined
  return { use: toolUse({ id, name, input }), result: resultFrom(id, state), wasCleared }
}

/** Empty for a call that was still pending or running. */
function resultFrom(id: string, state: JsonObject | undefined): readonly Block[] {
  const [output, error] = [getString(state, "output"), getString(state, "error")]
  if (getString(state, "status") === "error") return [toolResult(id, error ?? "", true)]
  if (getString(state, "status") !== "completed" || output === undefined) return []
  const media = getObjects(state, "attachments").flatMap(
    (file) => mediaBlock(getString(file, "url") ?? "", getString(file, "mime")) ?? [],
  )
  return [toolResult(id, media.length > 0 ? [textBlock(output), ...media] : output)]
}

const signatureOf = (part: JsonObject) => getString(getObject(getObject(part, "metadata"), "anthropic"), "signature")

/** opencode counts reasoning separately from output, and cached input separately from other input. */
function usageFrom(tokens: JsonObject | undefined): Usage | undefined {
  const [input, output] = [
    getNumber(tokens, "input") ?? 0,
    (getNumber(tokens, "output") ?? 0) + (getNumber(tokens, "reasoning") ?? 0),
  ]
  const cache = getObject(tokens, "cache")
  const [read, written] = [getNumber(cache, "read") ?? 0, getNumber(cache, "write") ?? 0]
  if (input + output + read + written === 0) return undefined
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  }
}
