/**
 * A recording as a sequence of events: the entries, and before every response its request. Recorded decisions of layers 1 and 2 are marked,
 * so that another policy can replace them. Compactions stay in place.
 */

import type { AssistantMessage, DecisionEntry, Entry, Message, Usage } from "@strata/core"
import { isSentToModel, toBlocks, withoutBreakpoint } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import type { ModelOverride } from "@strata/core/tokens"
import { usageTotal } from "@strata/core/tokens"
import { clearedByServer } from "@strata/core/views"

export interface RecordedConversation {
  /** The entries in order, along one branch. */
  readonly entries: readonly Entry[]
  /** For responses that do not name their model. */
  readonly model?: string
}

export interface ReplayOptions {
  /** Facts about models that override or extend the built-in ones. */
  readonly models?: Readonly<Record<string, ModelOverride>>
}

export type RecordedStep =
  | { readonly kind: "entry"; readonly entry: Entry; readonly response?: number }
  /** A recorded decision of layers 1 and 2. */
  | { readonly kind: "old decision"; readonly entry: DecisionEntry }
  | { readonly kind: "request"; readonly request: RecordedRequest }

export interface RecordedRequest {
  /** Counts from 0. */
  readonly number: number
  /** Start of the request: the time of the last entry that it sent. */
  readonly at: Date
  readonly model: string
  /** Token counts of the API. Absent if not recorded. */
  readonly counted?: { readonly input: number; readonly output: number }
  /** The billed usage. Absent if not recorded. */
  readonly usage?: Usage
  /** Tokens of the counted input that the server had cleared from its copy. They were not billed. */
  readonly clearedByServer: number
}

export interface RecordedSteps {
  readonly steps: readonly RecordedStep[]
  readonly requests: readonly RecordedRequest[]
  /** Whether the recording has times. Without them, pauses are unknown and no cache expires. */
  readonly pauses: "recorded" | "unknown"
  /** Names of the tools that were called. */
  readonly tools: readonly string[]
}

const NO_TIME = "1970-01-01" // importers of formats without times begin here
const UNKNOWN_MODEL = "unknown"
export const SYNTHETIC_MODEL = "<synthetic>"
const OF_THE_LAYERS: ReadonlySet<string> = new Set([
  ...["tool-result-persisted", "tool-result-empty", "tool-results-sent", "tool-results-cleared"],
  ...["thinking-dropped", "server-edited", "cache-edits-dropped"],
])

export function recordedSteps({ entries, model = UNKNOWN_MODEL }: RecordedConversation): RecordedSteps {
  const path = entries.filter((entry) => isDecision(entry) || !entry.isSidechain)
  const answers = answersIn(path)
  const steps: RecordedStep[] = []
  const requests: RecordedRequest[] = []
  const numbers = new Map<string, number>()
  const tools = new Set<string>()
  let sentAt: string | undefined
  for (const entry of path) {
    if (isDecision(entry)) {
      steps.push(OF_THE_LAYERS.has(entry.subtype) ? { kind: "old decision", entry } : { kind: "entry", entry })
      continue
    }
    if (!isResponse(entry)) {
      steps.push({ kind: "entry", entry: inBlocks(entry) })
      sentAt = entry.timestamp // not the maximum: resumed conversations have early messages with a late time
      continue
    }
    const id = responseId(entry)
    if (!numbers.has(id)) {
      const request = requestFor(entry, { number: requests.length, sentAt, model, answer: answers.get(id)! })
      numbers.set(id, request.number)
      requests.push(request)
      steps.push({ kind: "request", request })
    }
    for (const block of toBlocks(entry.message.content)) if (block.type === "tool_use") tools.add(block.name)
    steps.push({ kind: "entry", entry: inBlocks(entry), response: numbers.get(id)! })
  }
  return { steps, requests, pauses: hasTimes(path) ? "recorded" : "unknown", tools: [...tools].sort() }
}

interface RecordedAnswer {
  model: string | undefined
  usage: Usage | undefined
  /** Tokens that the server had cleared from its copy, which the usage does not include. */
  clearedByServer: number
}

/** Collects the facts of each response from all its entries. The last entry has the complete usage. */
function answersIn(path: readonly Entry[]): ReadonlyMap<string, RecordedAnswer> {
  const answers = new Map<string, RecordedAnswer>()
  let last: RecordedAnswer | undefined
  for (const entry of path) {
    if (isDecision(entry)) {
      if (entry.subtype === "server-edited" && last) last.clearedByServer = clearedByServer(entry)
    } else if (isResponse(entry)) {
      const id = responseId(entry)
      last = answers.get(id) ?? { model: undefined, usage: undefined, clearedByServer: 0 }
      last.model ??= entry.message.model
      last.usage = entry.message.usage ?? last.usage
      answers.set(id, last)
    }
  }
  return answers
}

interface RequestFacts {
  readonly number: number
  readonly sentAt: string | undefined
  readonly model: string
  readonly answer: RecordedAnswer
}

function requestFor(response: AssistantMessage, { number, sentAt, model, answer }: RequestFacts): RecordedRequest {
  const counted = answer.usage && countedBy(answer.usage, answer.clearedByServer)
  return {
    number,
    at: new Date(sentAt ?? response.timestamp),
    model: answer.model ?? model,
    ...(counted ? { counted } : {}),
    ...(counted && answer.usage ? { usage: answer.usage } : {}),
    clearedByServer: answer.clearedByServer,
  }
}

/** Tokens of a request and its response. Interrupted responses report 0, which is not a size. */
function countedBy(usage: Usage, clearedByServer: number): RecordedRequest["counted"] {
  const { output_tokens: output } = usage.iterations?.findLast(({ type }) => type === "message") ?? usage
  const input = usageTotal(usage) - output
  return input > 0 ? { input: input + clearedByServer, output } : undefined
}

/** Whether the model wrote the message. A message that a program wrote in its name was never requested. */
const isResponse = (message: Message): message is AssistantMessage =>
  message.type === "assistant" && isSentToModel(message) && message.message.model !== SYNTHETIC_MODEL

const responseId = ({ message, uuid }: AssistantMessage) => message.id ?? uuid

/** Converts content to its final blocks once, for all policies, because views compare blocks by identity. */
function inBlocks(message: Message): Message {
  if (message.type !== "user" && message.type !== "assistant") return message
  const content = toBlocks(message.message.content).map(withoutBreakpoint)
  return { ...message, message: { ...message.message, content } } as Message
}

const hasTimes = (path: readonly Entry[]) => path.some(({ timestamp }) => !timestamp.startsWith(NO_TIME))
