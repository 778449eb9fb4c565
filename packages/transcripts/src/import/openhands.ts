/**
 * Imports evaluation outputs of OpenHands (`output.jsonl`): each line is one task with its events and becomes one conversation. An action
 * contains the model response that requested it, an observation the result. The report counts the line and its events.
 */

import type { Block, Usage } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { Chain, isoTime, type Origin } from "./chain.ts"
import { textBlock, toolResult, toolUse, usageFromOpenAi } from "./external-blocks.ts"
import type { ImportedConversation, Importer } from "./importer.ts"
import {
  definedOnly,
  getList,
  getNumber,
  getObject,
  getObjects,
  getString,
  type JsonLine,
  type JsonObject,
  jsonLines,
} from "./json-access.ts"
import { type JsonDocument, readDocument } from "./json-document.ts"
import { Tally } from "./tally.ts"

const FORMAT = "openhands"
const LINES_TO_RECOGNIZE = 3

/** Internal events of OpenHands. */
const SILENT_EVENTS = new Set([
  "action:recall",
  "action:null",
  "observation:null",
  "action:change_agent_state",
  "observation:agent_state_changed",
])

export const openHands: Importer = {
  format: FORMAT,
  recognizes: ({ text }) =>
    jsonLines(text)
      .take(LINES_TO_RECOGNIZE)
      .map(salvageLine)
      .some(({ object }) => isTask(object)),
  read: ({ text }) => {
    const tally = new Tally()
    const lines = [...tally.withoutRepeats(jsonLines(text))].map(salvageLine)
    // lines without a task have no conversation, so the first conversation reports them
    for (const line of lines.filter(({ object }) => !isTask(object))) {
      if (line.object) tally.notUnderstood("line without a task")
      else tally.notJson(line)
    }
    return lines
      .filter(({ object }) => isTask(object))
      .map((line, index) => new Task(line, index === 0 ? tally : new Tally()).read())
  },
}

const isTask = (line: JsonObject | undefined) =>
  getString(line, "instance_id") !== undefined && Array.isArray(line?.history)

interface TaskLine extends JsonLine {
  /** Set if the line was damaged and parsed one value at a time. */
  readonly document?: JsonDocument
}

/** Parses a damaged line as far as possible, because a line contains a complete conversation. */
function salvageLine(line: JsonLine): TaskLine {
  const document = line.object ? undefined : readDocument(line.text)
  return document && isTask(document.fields) ? { ...line, object: document.fields, document } : line
}

class Task {
  readonly #task: JsonObject
  readonly #tally: Tally
  readonly #chain: Chain
  readonly #id: string
  /** Ids of tool calls by the id of the action's event. */
  readonly #calls = new Map<number, string>()
  readonly #responses = new Set<string>()
  #system: string | undefined
  #tools: unknown
  #cwd: string | undefined

  constructor({ object, text, document }: TaskLine, tally: Tally) {
    this.#tally = tally
    tally.document(document)
    this.#task = object ?? {}
    this.#id = uuidFrom(text) // several runs of one task share a name
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    this.#tally.omitted("task", "the description and the outcome of the run are not part of the conversation")
    // before version 0.10, an action and its observation were stored as a pair
    const events = getList(this.#task, "history").flat()
    for (const [index, event] of getObjects({ events }, "events").entries()) this.#event(event, index)
    const error = getString(this.#task, "error")
    if (error !== undefined) this.#tally.remark(`the run ended with an error: ${error}`)
    return definedOnly({
      format: FORMAT,
      id: this.#id,
      title: getString(this.#task, "instance_id"),
      cwd: this.#cwd,
      model: getString(getObject(getObject(this.#task, "metadata"), "llm_config"), "model"),
      system: this.#system,
      tools: this.#tools,
      messages: this.#chain.messages,
      report: this.#tally.report(),
    })
  }

  #event(event: JsonObject, index: number): void {
    const [action, observation] = [getString(event, "action"), getString(event, "observation")]
    const kind = action !== undefined ? `action:${action}` : `observation:${observation ?? "none"}`
    const origin = { key: `event ${index}`, at: isoTime(event.timestamp) }
    if (SILENT_EVENTS.has(kind)) this.#tally.omitted(kind, "an internal event of the program")
    else if (kind === "action:condensation")
      this.#tally.notUnderstood(kind) // the events that it would condense are imported in full
    else {
      this.#tally.understood(kind)
      if (kind === "action:system") this.#setup(event)
      else if (kind === "observation:recall") this.#recall(event, origin)
      else if (kind === "action:message") this.#message(event, origin)
      else if (action !== undefined) this.#action(action, event, origin)
      else this.#observation(event, origin)
    }
  }

  #setup(event: JsonObject): void {
    const args = getObject(event, "args")
    this.#system = getString(args, "content")
    this.#tools = args?.tools
  }

  #message(event: JsonObject, origin: Origin): void {
    const text = getString(getObject(event, "args"), "content") ?? getString(event, "message") ?? ""
    if (getString(event, "source") === "user") this.#chain.user(text, origin)
    else this.#chain.assistant([textBlock(text)], origin, this.#responseOf(event, origin))
  }

  #action(action: string, event: JsonObject, origin: Origin): void {
    const metadata = getObject(event, "tool_call_metadata")
    const reply = replyOf(metadata)
    const callId = getString(metadata, "tool_call_id") ?? `${origin.key}:call`
    const call = getObjects(reply, "tool_calls").find((candidate) => getString(candidate, "id") === callId)
    const asked = getObject(call, "function")
    const args = getObject(event, "args") ?? {}
    const use = toolUse({
      id: callId,
      name: getString(asked, "name") ?? getString(metadata, "function_name") ?? action,
      input: getString(asked, "arguments") ?? args,
    })
    const eventId = getNumber(event, "id")
    if (eventId !== undefined) this.#calls.set(eventId, callId)

    const response = this.#responseOf(event, origin)
    const text = getString(reply, "content") ?? (reply ? "" : (getString(args, "thought") ?? ""))
    const words = text === "" || this.#responses.has(response.id) ? [] : [textBlock(text)]
    this.#responses.add(response.id)
    this.#chain.assistant([...words, use], origin, response)
  }

  #responseOf(event: JsonObject, origin: Origin) {
    const response = getObject(getObject(event, "tool_call_metadata"), "model_response")
    return {
      id: getString(response, "id") ?? this.#chain.uuid(`${origin.key}:response`),
      model: getString(response, "model"),
      usage: usageFrom(getObject(response, "usage")),
    }
  }

  #observation(event: JsonObject, origin: Origin): void {
    const metadata = getObject(getObject(event, "extras"), "metadata")
    this.#cwd ??= getString(metadata, "working_dir") || undefined
    const content = getString(event, "content") ?? ""
    // the text before and after the output of a command is recorded separately
    const [before, after] = [getString(metadata, "prefix"), getString(metadata, "suffix")]
    const blocks: readonly Block[] = [before, content, after].flatMap((text) => (text ? [textBlock(text)] : []))
    const callId = this.#calls.get(getNumber(event, "cause") ?? -1)
    if (callId === undefined) this.#chain.user(content, origin, { isMeta: true })
    else this.#chain.user([toolResult(callId, blocks)], origin)
  }

  /** Adds context that OpenHands retrieved for the model: instructions of the repository and stored knowledge. */
  #recall(event: JsonObject, origin: Origin): void {
    const extras = getObject(event, "extras")
    const instructions = ["repo_instructions", "additional_agent_instructions"].map(
      (key) => getString(extras, key) ?? "",
    )
    const knowledge = getObjects(extras, "microagent_knowledge").map((piece) => getString(piece, "content") ?? "")
    const text = [...instructions, ...knowledge].filter((part) => part !== "").join("\n\n")
    this.#chain.attachment({ type: "foreign", kind: "recall", data: extras ?? {}, text }, origin)
  }
}

function replyOf(metadata: JsonObject | undefined): JsonObject | undefined {
  const [choice] = getObjects(getObject(metadata, "model_response"), "choices")
  return getObject(choice, "message")
}

function usageFrom(usage: JsonObject | undefined): Usage | undefined {
  const [input, output] = [getNumber(usage, "prompt_tokens"), getNumber(usage, "completion_tokens")]
  if (input === undefined || output === undefined) return undefined
  const cached = getNumber(getObject(usage, "prompt_tokens_details"), "cached_tokens") ?? 0
  return usageFromOpenAi({ input, cached, output })
}
