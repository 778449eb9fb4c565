/**
 * Determines what each recorded response needs from earlier messages: names it uses again and text it edits. A policy that removed one of
 * them from the view pays for fetching it. Content that the recorded request lacked too was not needed, because the response came without
 * it. Computed once per recording, for all policies.
 */
import type { Block, Message } from "@strata/core"
import { isSentToModel, isToolUse, sentBlocks } from "@strata/core/messages"
import { blockText, measuredNamesIn } from "../inspect/block-text.ts"
import { InView } from "./in-view.ts"
import { type MeasuredRecording, recordedContexts } from "./measured-recording.ts"
import type { RecordedStep } from "./recorded-steps.ts"
import { withoutCompactions } from "./without-compactions.ts"

export interface RequiredContext {
  /** For each name, the newest block that contains it. */
  readonly names: ReadonlyMap<string, Block>
  /** Blocks with text that an edit replaces, and a line of that text. */
  readonly edited: readonly { readonly block: Block; readonly line: string }[]
}

const AS_RECORDED: RequiredContext = { names: new Map(), edited: [] }
const SHORTEST_LINE = 12 // characters; shorter lines occur anywhere

const computed = new WeakMap<MeasuredRecording, readonly RequiredContext[]>()

/** Entries are indexed by request number. */
export function requiredContexts(recording: MeasuredRecording): readonly RequiredContext[] {
  const known = computed.get(recording)
  if (known) return known
  const needs: RequiredContext[] = recording.requests.map(() => AS_RECORDED)
  const newest = new Map<string, Block>()
  const shown: Block[] = []
  /** Blocks since the last request. Parts of one response do not need each other. */
  let unsent: Block[] = []
  const send = () => {
    for (const block of unsent) for (const name of measuredNamesIn(block)) newest.set(name, block)
    shown.push(...unsent)
    unsent = []
  }
  for (const step of withoutCompactions(recording.steps)) {
    if (step.kind === "request") send()
    if (step.kind !== "entry" || !isShown(step.entry)) continue
    const blocks = sentBlocks(step.entry)
    if (step.response !== undefined)
      needs[step.response] = merged(needs[step.response]!, requiredBy(blocks, newest, shown))
    unsent.push(...blocks)
  }
  const shownThen = asRecorded(recording, needs)
  computed.set(recording, shownThen)
  return shownThen
}

/** Drops needs that the recorded view had lost by then, to a compaction or a clearing. */
function asRecorded(recording: MeasuredRecording, needs: readonly RequiredContext[]): readonly RequiredContext[] {
  if (!recording.steps.some(removesSomething)) return needs
  const view = new InView()
  const left: RequiredContext[] = []
  for (const { messages } of recordedContexts(recording, recording)) {
    const blocks = messages.flatMap(({ content }) => content)
    view.update(blocks)
    const { names, edited } = needs[left.length]!
    left.push({
      names: new Map([...names].filter(([name]) => view.hasName(name))),
      edited: edited.filter(
        ({ block, line }) => view.hasBlock(block) || blocks.some((each) => blockText(each).includes(line)),
      ),
    })
  }
  return left
}

const removesSomething = (step: RecordedStep): boolean =>
  step.kind === "old decision" ||
  (step.kind === "entry" && step.entry.type === "system" && step.entry.subtype === "compact_boundary")

/** Merges needs, because a response may consist of several entries. */
const merged = (a: RequiredContext, b: RequiredContext): RequiredContext => ({
  names: new Map([...a.names, ...b.names]),
  edited: [...a.edited, ...b.edited],
})

function requiredBy(
  answer: readonly Block[],
  newest: ReadonlyMap<string, Block>,
  shown: readonly Block[],
): RequiredContext {
  const names = new Map<string, Block>()
  for (const block of answer)
    for (const name of measuredNamesIn(block)) {
      const source = newest.get(name)
      if (source) names.set(name, source)
    }
  const edited = answer.flatMap((block) => {
    const line = editedLine(block)
    const source = line === undefined ? undefined : shown.findLast((each) => blockText(each).includes(line))
    return source ? [{ block: source, line: line! }] : []
  })
  return { names, edited }
}

/** The longest line of the text that an edit replaces. */
function editedLine(block: Block): string | undefined {
  if (!isToolUse(block)) return undefined
  const { old_string: old } = block.input as { readonly old_string?: unknown }
  if (typeof old !== "string") return undefined
  const line = old
    .split("\n")
    .map((each) => each.trim())
    .reduce((longest, each) => (each.length > longest.length ? each : longest), "")
  return line.length < SHORTEST_LINE ? undefined : line
}

const isShown = (entry: { readonly type: string }): entry is Message =>
  entry.type !== "strata" && entry.type !== "system" && isSentToModel(entry as Message)
