/**
 * The stub of a cleared result: a few dozen tokens of its exact content. The text is stored with the decision, so the same bytes are sent
 * every time, even by a later version that would choose other names.
 */
import { memoize } from "../../base/work.ts"
import { isText, isToolResult, isToolUse, type ToolResult } from "../../messages/blocks.ts"
import { exactNamesIn } from "../../messages/exact-names.ts"
import type { Message } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/messages.ts"
import type { Estimator } from "../../tokens/estimate.ts"
import { previewText } from "../../views/context/render-decisions.ts"
import { extractHighlights } from "../../views/record/user-messages.ts"

/** Maximum tokens of names and error lines in a stub. With 60, most errors keep their line and their names. */
const STUB_LIMIT = 60
const LARGEST_SHARE = 1 / 4 // of the result: a stub must be much shorter than what it replaces
const MORE_PER_TOKEN = 1 / 200 // of a long result: 10,000 tokens get 50 more, up to twice the usual
const READ = 40_000 // characters of one text in which names are looked for: more is pasted, and would slow every clearing

/** Maximum number of tokens of the stub of a result of this size. */
export const stubRoom = (tokens: number): number =>
  Math.floor(Math.min(STUB_LIMIT + tokens * MORE_PER_TOKEN, 2 * STUB_LIMIT, tokens * LARGEST_SHARE))

interface StubsInput {
  /** The messages as the model sees them. */
  readonly messages: readonly Message[]
  readonly estimator: Estimator
  /** Returns the original result if the view shows a shortened form. */
  readonly original?: (toolUseId: string) => ToolResult | undefined
  readonly toolUseIds: readonly string[]
}

/** The stubs of results that are about to be cleared, by call id. */
export function stubsOf(input: StubsInput): Readonly<Record<string, string>> {
  const { messages, estimator, toolUseIds } = input
  if (toolUseIds.length === 0) return {}
  const { lastUse, results } = usesIn(messages)
  const { original = (id) => results.get(id)?.block } = input
  const stubs: Record<string, string> = {}
  for (const id of toolUseIds) {
    const result = original(id)
    if (!result || !results.has(id)) continue
    const { place, block } = results.get(id)!
    const stub = extractHighlights({
      text: previewText(result),
      room: stubRoom(estimator.block(block)),
      estimate: (text) => estimator.text(text),
      isUsedLater: (name) => (lastUse.get(name) ?? -1) > place,
    })
    if (stub !== "") stubs[id] = stub
  }
  return stubs
}

interface NameUses {
  /** By name: index of the newest message in which someone wrote it or passed it to a tool. */
  readonly lastUse: ReadonlyMap<string, number>
  /** Each result as the model sees it, with the index of its message. */
  readonly results: ReadonlyMap<string, { readonly place: number; readonly block: ToolResult }>
}

const namesUsed = memoize((text) => exactNamesIn(text))

function usesIn(messages: readonly Message[]): NameUses {
  const lastUse = new Map<string, number>()
  const results = new Map<string, { place: number; block: ToolResult }>()
  for (const [at, message] of messages.entries()) {
    for (const block of sentBlocks(message)) {
      if (isToolResult(block) && !results.has(block.tool_use_id)) results.set(block.tool_use_id, { place: at, block })
      const text = isText(block) ? block.text : isToolUse(block) ? JSON.stringify(block.input) : ""
      if (text !== "") for (const { name } of namesUsed(text.slice(0, READ))) lastUse.set(name, at)
    }
  }
  return { lastUse, results }
}
