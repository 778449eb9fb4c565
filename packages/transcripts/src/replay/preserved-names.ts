/**
 * Measures how many names a policy preserves that responses used after the recorded compactions. Names and measure are the same for every
 * policy: the names are those of the recording, and a name counts as preserved if every request had it in view, from the first after the
 * compaction up to the one whose response used it first. For the recorded policy, these are the names in the first request after the
 * compaction.
 */
import type { Block } from "@strata/core"
import { isBoundary, isSentToModel, sentBlocks } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import { exactNamesIn, namesUsedBy } from "../inspect/needed-names.ts"
import type { PromptItem } from "./cache-model.ts"
import { InView } from "./in-view.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { NamesPreserved } from "./report.ts"
import type { SentMessage } from "./server-context.ts"

interface RecordedCompaction {
  /** Number of the first request after the compaction. */
  first: number | undefined
  /** Names from before the compaction, by the number of the request whose response used them first. */
  readonly uses: Map<number, string[]>
  readonly names: Set<string>
}

export class PreservedNames {
  readonly #compactions: readonly RecordedCompaction[]
  readonly #view = new InView(exactNamesIn)
  #next = 0
  #current: RecordedCompaction | undefined
  /** Names that every request since the current compaction had in view and no response has used yet. */
  #pending = new Set<string>()
  #kept = 0

  constructor(recording: MeasuredRecording) {
    this.#compactions = compactionsIn(recording)
  }

  get found(): NamesPreserved {
    return {
      compactions: this.#compactions.length,
      names: this.#compactions.reduce((sum, { names }) => sum + names.size, 0),
      inView: this.#kept,
    }
  }

  /** Processes the view of a request. */
  sent(request: number, messages: readonly SentMessage[]): void {
    const next = this.#compactions[this.#next]
    if (next?.first === request) {
      this.#next++
      this.#current = next
      this.#pending = new Set(next.names)
    }
    if (!this.#current || this.#pending.size === 0) return
    this.#view.update(messages.flatMap(({ items }) => items.flatMap(inView)))
    for (const name of this.#pending) if (!this.#view.hasName(name)) this.#pending.delete(name)
    for (const name of this.#current.uses.get(request) ?? []) if (this.#pending.delete(name)) this.#kept++
  }
}

const inView = ({ block, isCleared }: PromptItem): readonly Block[] => (block && !isCleared ? [block] : [])

const computed = new WeakMap<MeasuredRecording, readonly RecordedCompaction[]>()

/** The compactions that a response followed, except one at the start of the file, whose earlier messages are unknown. */
function compactionsIn(recording: MeasuredRecording): readonly RecordedCompaction[] {
  const known = computed.get(recording)
  if (known) return known
  const found: RecordedCompaction[] = []
  const before = new Set<string>()
  let since: string[] = []
  let current: RecordedCompaction | undefined
  for (const step of recording.steps) {
    if (step.kind === "request" && current) current.first ??= step.request.number
    if (step.kind !== "entry" || isDecision(step.entry)) continue
    const { entry, response } = step
    if (isBoundary(entry)) {
      for (const name of since) before.add(name)
      since = []
      current = before.size === 0 ? undefined : { first: undefined, uses: new Map(), names: new Set() }
      if (current) found.push(current)
      continue
    }
    if (!isSentToModel(entry)) continue
    const blocks = sentBlocks(entry)
    if (current && response !== undefined)
      for (const name of blocks.flatMap((block) => [...namesUsedBy(block)])) {
        if (!before.has(name) || current.names.has(name)) continue
        current.names.add(name)
        current.uses.set(response, [...(current.uses.get(response) ?? []), name])
      }
    for (const block of blocks) since.push(...exactNamesIn(block))
  }
  const answered = found.filter(({ first }) => first !== undefined)
  computed.set(recording, answered)
  return answered
}
