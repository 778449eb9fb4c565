/**
 * Evaluation outputs of OpenHands (`output.jsonl`): each line is one task with its events and becomes one conversation. An
 * action has the model's response that asked for it; an observation has the result. The report counts the line and its events.
 */

import type { Block, Usage } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { Chain, isoTime, type Origin } from "./chain.ts"
import { textBlock, toolResult, toolUse, usageFromOpenAi } from "./foreign-blocks.ts"
import {
  type Fields,
  fieldsAt,
  type JsonLine,
  jsonLines,
  listAt,
  numberAt,
  present,
  recordsAt,
  textAt,
} from "./foreign-json.ts"
import type { ImportedConversation, Importer } from "./importer.ts"
import { type JsonDocument, readDocument } from "./json-document.ts"
import { Tally } from "./tally.ts"

const FORMAT = "openhands"
const LINES_TO_RECOGNISE = 3

/** Internal events of the program. */
const SILENT_EVENTS = new Set([
  "action:recall",
  "action:null",
  "observation:null",
  "action:change_agent_state",
  "observation:agent_state_changed",
])

export const openHands: Importer = {
  format: FORMAT,
  recognises: ({ text }) =>
    jsonLines(text)
      .take(LINES_TO_RECOGNISE)
      .map(salvaged)
      .some(({ fields }) => isTask(fields)),
  read: ({ text }) => {
    const tally = new Tally()
    const lines = [...tally.once(jsonLines(text))].map(salvaged)
    // lines without a task have no conversation, so the first conversation reports them
    for (const line of lines.filter(({ fields }) => !isTask(fields))) {
      if (line.fields) tally.notUnderstood("line without a task")
      else tally.notJson(line)
    }
    return lines
      .filter(({ fields }) => isTask(fields))
      .map((line, index) => new Task(line, index === 0 ? tally : new Tally()).read())
  },
}

const isTask = (line: Fields | undefined) => textAt(line, "instance_id") !== undefined && Array.isArray(line?.history)

interface TaskLine extends JsonLine {
  /** Set if the line was read piece by piece. */
  readonly document?: JsonDocument
}

/** A line holds a whole conversation, so a damaged one is read as far as it goes. */
function salvaged(line: JsonLine): TaskLine {
  const document = line.fields ? undefined : readDocument(line.text)
  return document && isTask(document.fields) ? { ...line, fields: document.fields, document } : line
}

class Task {
  readonly #task: Fields
  readonly #tally: Tally
  readonly #chain: Chain
  readonly #id: string
  /** The call that each action became, by the id of its event. */
  readonly #calls = new Map<number, string>()
  readonly #responses = new Set<string>()
  #system: string | undefined
  #tools: unknown
  #cwd: string | undefined

  constructor({ fields, text, document }: TaskLine, tally: Tally) {
    this.#tally = tally
    tally.document(document)
    this.#task = fields ?? {}
    this.#id = uuidFrom(text) // several runs of one task have the same name
    this.#chain = new Chain(`${FORMAT}:${this.#id}`)
  }

  read(): ImportedConversation {
    this.#tally.leftOut("task", "the description and the outcome of the run are not part of the conversation")
    // before version 0.10 an action and its observation were a pair in a list
    const events = listAt(this.#task, "history").flat()
    for (const [index, event] of recordsAt({ events }, "events").entries()) this.#event(event, index)
    const error = textAt(this.#task, "error")
    if (error !== undefined) this.#tally.remark(`the run ended with an error: ${error}`)
    return present({
      format: FORMAT,
      id: this.#id,
      title: textAt(this.#task, "instance_id"),
      cwd: this.#cwd,
      model: textAt(fieldsAt(fieldsAt(this.#task, "metadata"), "llm_config"), "model"),
      system: this.#system,
      tools: this.#tools,
      messages: this.#chain.messages,
      report: this.#tally.report(),
    })
  }

  #event(event: Fields, index: number): void {
    const [action, observation] = [textAt(event, "action"), textAt(event, "observation")]
    const kind = action !== undefined ? `action:${action}` : `observation:${observation ?? "none"}`
    const origin = { key: `event ${index}`, at: isoTime(event.timestamp) }
    if (SILENT_EVENTS.has(kind)) this.#tally.leftOut(kind, "an internal event of the program")
    else if (kind === "action:condensation")
      this.#tally.notUnderstood(kind) // what it would shorten is imported whole
    else {
      this.#tally.understood(kind)
      if (kind === "action:system") this.#setup(event)
      else if (kind === "observation:recall") this.#recall(event, origin)
      else if (kind === "action:message") this.#message(event, origin)
      else if (action !== undefined) this.#action(action, event, origin)
      else this.#observation(event, origin)
    }
  }

  #setup(event: Fields): void {
    const args = fieldsAt(event, "args")
    this.#system = textAt(args, "content")
    this.#tools = args?.tools
  }

  #message(event: Fields, origin: Origin): void {
    const text = textAt(fieldsAt(event, "args"), "content") ?? textAt(event, "message") ?? ""
    if (textAt(event, "source") === "user") this.#chain.user(text, origin)
    else this.#chain.assistant([textBlock(text)], origin, this.#responseOf(event, origin))
  }

  #action(action: string, event: Fields, origin: Origin): void {
    const metadata = fieldsAt(event, "tool_call_metadata")
    const reply = replyOf(metadata)
    const callId = textAt(metadata, "tool_call_id") ?? `${origin.key}:call`
    const call = recordsAt(reply, "tool_calls").find((candidate) => textAt(candidate, "id") === callId)
    const asked = fieldsAt(call, "function")
    const args = fieldsAt(event, "args") ?? {}
    const use = toolUse({
      id: callId,
      name: textAt(asked, "name") ?? textAt(metadata, "function_name") ?? action,
      input: textAt(asked, "arguments") ?? args,
    })
    const eventId = numberAt(event, "id")
    if (eventId !== undefined) this.#calls.set(eventId, callId)

    const response = this.#responseOf(event, origin)
    const text = textAt(reply, "content") ?? (reply ? "" : (textAt(args, "thought") ?? ""))
    const words = text === "" || this.#responses.has(response.id) ? [] : [textBlock(text)]
    this.#responses.add(response.id)
    this.#chain.assistant([...words, use], origin, response)
  }

  #responseOf(event: Fields, origin: Origin) {
    const response = fieldsAt(fieldsAt(event, "tool_call_metadata"), "model_response")
    return {
      id: textAt(response, "id") ?? this.#chain.uuid(`${origin.key}:response`),
      model: textAt(response, "model"),
      usage: usageFrom(fieldsAt(response, "usage")),
    }
  }

  #observation(event: Fields, origin: Origin): void {
    const metadata = fieldsAt(fieldsAt(event, "extras"), "metadata")
    this.#cwd ??= textAt(metadata, "working_dir") || undefined
    const content = textAt(event, "content") ?? ""
    // the text before and after the output of a command is recorded separately
    const [before, after] = [textAt(metadata, "prefix"), textAt(metadata, "suffix")]
    const blocks: readonly Block[] = [before, content, after].flatMap((text) => (text ? [textBlock(text)] : []))
    const callId = this.#calls.get(numberAt(event, "cause") ?? -1)
    if (callId === undefined) this.#chain.user(content, origin, { isMeta: true })
    else this.#chain.user([toolResult(callId, blocks)], origin)
  }

  /** What the program looked up for the model: instructions of the repository and stored knowledge. */
  #recall(event: Fields, origin: Origin): void {
    const extras = fieldsAt(event, "extras")
    const instructions = ["repo_instructions", "additional_agent_instructions"].map((key) => textAt(extras, key) ?? "")
    const knowledge = recordsAt(extras, "microagent_knowledge").map((piece) => textAt(piece, "content") ?? "")
    const text = [...instructions, ...knowledge].filter((part) => part !== "").join("\n\n")
    this.#chain.attachment({ type: "foreign", kind: "recall", data: extras ?? {}, text }, origin)
  }
}

function replyOf(metadata: Fields | undefined): Fields | undefined {
  const [choice] = recordsAt(fieldsAt(metadata, "model_response"), "choices")
  return fieldsAt(choice, "message")
}

function usageFrom(usage: Fields | undefined): Usage | undefined {
  const [input, output] = [numberAt(usage, "prompt_tokens"), numberAt(usage, "completion_tokens")]
  if (input === undefined || output === undefined) return undefined
  const cached = numberAt(fieldsAt(usage, "prompt_tokens_details"), "cached_tokens") ?? 0
  return usageFromOpenAi({ input, cached, output })
}
