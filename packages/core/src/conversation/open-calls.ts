/** Matches tool results with open calls. */
import { InvalidContentError } from "../base/errors.ts"
import type { MessageDraft } from "../journal/entries.ts"
import { isToolResult, isToolUse, toBlocks } from "../messages/blocks.ts"
import type { Message } from "../messages/messages.ts"

export interface UnmatchedResults {
  /** Ids of results that match no open call. */
  readonly unasked: readonly string[]
  /** Ids of the open calls. */
  readonly open: readonly string[]
}

/** Finds results without an open call. `before`: the messages in view. */
export function findUnmatchedResults(before: readonly Message[], drafts: readonly MessageDraft[]): UnmatchedResults {
  if (drafts.every((draft) => resultsIn(draft).length === 0)) return { unasked: [], open: [] }
  const open = openCalls(before)
  const unasked = drafts.flatMap((draft) => {
    const other = resultsIn(draft).filter((id) => !take(open, id))
    open.push(...callsIn(draft))
    return other
  })
  return { unasked, open }
}

/**
 * Throws for a result without an open call, which would never be sent: the model would read that its call was interrupted. A repeated
 * result is accepted, because after a failed `add` the caller cannot know that it was written.
 */
export function mustAnswerCalls(before: readonly Message[], drafts: readonly MessageDraft[]): void {
  const { unasked: all, open } = findUnmatchedResults(before, drafts)
  const unasked = all.filter((id) => !isRepeated(id, { before, drafts }))
  if (unasked.length === 0) return
  const waiting = open.length === 0 ? "no call is open" : `these calls are open: ${listed(open)}`
  throw new InvalidContentError(
    `no open call has the id ${listed(unasked)}, and ${waiting}. Give each result the "tool_use_id" of its call, and add it before the next message of the user`,
  )
}

function isRepeated(
  id: string,
  { before, drafts }: { readonly before: readonly Message[]; readonly drafts: readonly MessageDraft[] },
): boolean {
  const known = textsFor(id, before)
  return textsFor(id, drafts).every((text) => known.includes(text))
}

const textsFor = (id: string, messages: readonly (Message | MessageDraft)[]): readonly string[] =>
  messages.flatMap((message) =>
    message.type === "user"
      ? toBlocks(message.message.content)
          .filter(isToolResult)
          .flatMap(({ tool_use_id, content }) => (tool_use_id === id ? JSON.stringify(content ?? "") : []))
      : [],
  )

const listed = (ids: readonly string[]): string => ids.map((id) => JSON.stringify(id)).join(", ")

/** Calls of the newest response without a result. There may be results between the parts of one response. */
function openCalls(messages: readonly Message[]): string[] {
  const answered: string[] = []
  const calls: string[] = []
  const parts = new Set<string | undefined>()
  let between: string[] | undefined // results before the found parts
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type === "user" && parts.size > 0) between = [...(between ?? []), ...resultsIn(message)]
    else answered.push(...resultsIn(message))
    if (message.type !== "assistant") continue
    const { id } = message.message
    if (between && (id === undefined || !parts.has(id))) break
    answered.push(...(between ?? []))
    between = undefined
    parts.add(id)
    calls.unshift(...callsIn(message))
  }
  for (const id of answered) take(calls, id)
  return calls
}

/** Removes one occurrence, because models sometimes give two calls the same id. */
function take(ids: string[], id: string): boolean {
  const at = ids.indexOf(id)
  if (at >= 0) ids.splice(at, 1)
  return at >= 0
}

const resultsIn = (message: Message | MessageDraft): readonly string[] =>
  message.type === "user"
    ? toBlocks(message.message.content)
        .filter(isToolResult)
        .map(({ tool_use_id }) => tool_use_id)
    : []

const callsIn = (message: Message | MessageDraft): readonly string[] =>
  message.type === "assistant"
    ? toBlocks(message.message.content)
        .filter(isToolUse)
        .map(({ id }) => id)
    : []
