/**
 * What each recorded answer needs of what came before it: the names it uses again, and the text it edits. A policy that has taken one of
 * them out of the view pays for getting it back. What the recorded request did not show either was not needed: the answer came without
 * it. Computed once for a recording, for all policies.
 */
import type { Block, Message } from "@strata/core"
import { isSentToModel, isToolUse, sentBlocks } from "@strata/core/messages"
import { namesIn, wordsOf } from "../inspect/block-words.ts"
import { InView } from "./in-view.ts"
import { type MeasuredRecording, recordedContexts } from "./measured-recording.ts"
import type { Step } from "./recorded-steps.ts"
import { withoutCompactions } from "./without-compactions.ts"

export interface Needs {
  /** For each name, the newest block that has it. */
  readonly names: ReadonlyMap<string, Block>
  /** Blocks with text that an edit changes, and a line of that text. */
  readonly edited: readonly { readonly block: Block; readonly line: string }[]
}

const AS_RECORDED: Needs = { names: new Map(), edited: [] }
const SHORTEST_LINE = 12 // characters: a shorter line is anywhere

const computed = new WeakMap<MeasuredRecording, readonly Needs[]>()

/** By the number of the request. */
export function needsOf(recording: MeasuredRecording): readonly Needs[] {
  const known = computed.get(recording)
  if (known) return known
  const needs: Needs[] = recording.requests.map(() => AS_RECORDED)
  const newest = new Map<string, Block>()
  const shown: Block[] = []
  /** What came since the last request. Parts of an answer do not need each other. */
  let unsent: Block[] = []
  const send = () => {
    for (const block of unsent) for (const name of namesIn(block)) newest.set(name, block)
    shown.push(...unsent)
    unsent = []
  }
  for (const step of withoutCompactions(recording.steps)) {
    if (step.kind === "request") send()
    if (step.kind !== "entry" || !isShown(step.entry)) continue
    const blocks = sentBlocks(step.entry)
    if (step.response !== undefined)
      needs[step.response] = merged(needs[step.response]!, needsIn(blocks, newest, shown))
    unsent.push(...blocks)
  }
  const shownThen = asRecorded(recording, needs)
  computed.set(recording, shownThen)
  return shownThen
}

/** Without what the recorded view had lost by then, to a compaction or a clearing. */
function asRecorded(recording: MeasuredRecording, needs: readonly Needs[]): readonly Needs[] {
  if (!recording.steps.some(removesSomething)) return needs
  const view = new InView()
  const left: Needs[] = []
  for (const { messages } of recordedContexts(recording, recording)) {
    const blocks = messages.flatMap(({ content }) => content)
    view.update(blocks)
    const { names, edited } = needs[left.length]!
    left.push({
      names: new Map([...names].filter(([name]) => view.hasName(name))),
      edited: edited.filter(
        ({ block, line }) => view.hasBlock(block) || blocks.some((each) => wordsOf(each).includes(line)),
      ),
    })
  }
  return left
}

const removesSomething = (step: Step): boolean =>
  step.kind === "old decision" ||
  (step.kind === "entry" && step.entry.type === "system" && step.entry.subtype === "compact_boundary")

/** An answer may come in several entries. */
const merged = (a: Needs, b: Needs): Needs => ({
  names: new Map([...a.names, ...b.names]),
  edited: [...a.edited, ...b.edited],
})

function needsIn(answer: readonly Block[], newest: ReadonlyMap<string, Block>, shown: readonly Block[]): Needs {
  const names = new Map<string, Block>()
  for (const block of answer)
    for (const name of namesIn(block)) {
      const source = newest.get(name)
      if (source) names.set(name, source)
    }
  const edited = answer.flatMap((block) => {
    const line = editedLine(block)
    const source = line === undefined ? undefined : shown.findLast((each) => wordsOf(each).includes(line))
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
