/**
 * Groups messages into rounds: one response of the API and the replies to it. Messages before the first response are a round of their
 * own. A round never splits a tool call from its result, or one response in two.
 */
import { asServerResult, asServerUse, isToolResult, isToolUse } from "./blocks.ts"
import { contentOf, type Message } from "./messages.ts"

export type Round = readonly Message[]

export function rounds(messages: readonly Message[]): readonly Round[] {
  const starts = roundStarts(messages)
  return starts.map((start, i) => messages.slice(start, starts[i + 1]))
}

function roundStarts(messages: readonly Message[]): number[] {
  const starts: number[] = messages.length > 0 ? [0] : []
  /** For each id whose messages must stay together: the index of the first message with it. */
  const firstWith = new Map<string, number>()
  let currentResponse: string | undefined
  messages.forEach((message, at) => {
    const response = message.type === "assistant" ? (message.message.id ?? message.uuid) : undefined
    if (response !== undefined && response !== currentResponse) {
      currentResponse = response
      if (starts.at(-1) !== at) starts.push(at)
    }
    for (const id of bindingIds(message)) {
      const first = firstWith.get(id)
      if (first === undefined) firstWith.set(id, at)
      // every round that begins after the first message with this id belongs to that message's round
      else while (starts.length > 0 && starts.at(-1)! > first) starts.pop()
    }
  })
  return starts
}

/**
 * Indexes at which a list may be cut without splitting a tool call from its result, or one response in two. `n` messages have `n + 1`
 * such positions; the first and the last are always safe.
 */
export function safeCuts(messages: readonly Message[]): readonly boolean[] {
  const known = knownCuts.get(messages)
  if (known?.length === messages.length + 1) return known
  const found = findCuts(messages)
  knownCuts.set(messages, found)
  return found
}

/** Caches the result for lists that are queried several times. */
const knownCuts = new WeakMap<readonly Message[], readonly boolean[]>()

function findCuts(messages: readonly Message[]): readonly boolean[] {
  const first = new Map<string, number>()
  /** For each message, the index of the last one that must not be split from it. */
  const reach = messages.map((_, at) => at)
  messages.forEach((message, at) => {
    for (const id of bindingIds(message)) {
      const start = first.get(id) ?? at
      first.set(id, start)
      reach[start] = Math.max(reach[start]!, at)
    }
  })
  let tiedUntil = -1
  return [
    ...messages.map((_, at) => {
      const isSafe = at > tiedUntil
      tiedUntil = Math.max(tiedUntil, reach[at]!)
      return isSafe
    }),
    true,
  ]
}

/** Ids that tie a message to others: of its response, and of the tool calls it makes or answers. */
function bindingIds(message: Message): string[] {
  if (message.type === "user") {
    return contentOf(message)
      .filter(isToolResult)
      .map((block) => `tool:${block.tool_use_id}`)
  }
  if (message.type !== "assistant") return []
  const tools = contentOf(message).flatMap((block) => {
    if (isToolUse(block)) return [`tool:${block.id}`]
    const id = asServerUse(block)?.id ?? asServerResult(block)?.tool_use_id
    return id === undefined ? [] : [`tool:${id}`]
  })
  return message.message.id === undefined ? tools : [`response:${message.message.id}`, ...tools]
}
