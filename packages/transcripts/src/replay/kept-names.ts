/**
 * What a policy kept of the names that answers used after the recorded compactions. One population and one measure for every policy: the
 * names are those of the recording, and a name was kept if every request had it in view, from the first one after the compaction up to
 * the one whose answer used it first. For the recorded policy that is what the first request after the compaction showed.
 */
import type { Block } from "@strata/core"
import { isBoundary, isSentToModel, sentBlocks } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import { exactNamesIn, namesUsedIn } from "../inspect/needed-names.ts"
import type { PromptItem } from "./cache-model.ts"
import { InView } from "./in-view.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { NamesKept } from "./report.ts"
import type { SentMessage } from "./server-copy.ts"

interface Compaction {
  /** The number of the first request after it. */
  first: number | undefined
  /** The names from before it, by the number of the request whose answer used them first. */
  readonly uses: Map<number, string[]>
  readonly names: Set<string>
}

export class KeptNames {
  readonly #compactions: readonly Compaction[]
  readonly #view = new InView(exactNamesIn)
  #next = 0
  #current: Compaction | undefined
  /** Names in view at every request since the current compaction, and not used yet. */
  #pending = new Set<string>()
  #kept = 0

  constructor(recording: MeasuredRecording) {
    this.#compactions = compactionsIn(recording)
  }

  get found(): NamesKept {
    return {
      compactions: this.#compactions.length,
      names: this.#compactions.reduce((sum, { names }) => sum + names.size, 0),
      inView: this.#kept,
    }
  }

  /** What a request has in view. */
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

const computed = new WeakMap<MeasuredRecording, readonly Compaction[]>()

/** Those that an answer followed, without one at the beginning of the file: what came before that is not known. */
function compactionsIn(recording: MeasuredRecording): readonly Compaction[] {
  const known = computed.get(recording)
  if (known) return known
  const found: Compaction[] = []
  const before = new Set<string>()
  let since: string[] = []
  let current: Compaction | undefined
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
      for (const name of blocks.flatMap((block) => [...namesUsedIn(block)])) {
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
