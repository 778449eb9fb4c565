/**
 * Finds what a compaction lost that was needed later: exact names that responses after a boundary use, that occurred before it, and that
 * the first request after it did not contain. Every text is read once, and only in conversations with a boundary.
 * The names are found by the rule of the replays, not by the product's rule for preserving names: a measurement with the product's own rule
 * would miss what that rule misses.
 */

import type { Block } from "@strata/core"
import { isMessage } from "@strata/core"
import { dropSecrets } from "@strata/core/base"
import { isBoundary, isSynthetic, isToolUse, type Message, sentBlocks } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { findModel } from "@strata/core/tokens"
import { Views } from "@strata/core/views"
import { blockText } from "./block-text.ts"
import { findMeasuredNames } from "./measured-names.ts"

/** Counts of names used after a compaction that had occurred before it. */
export interface NeededNames {
  /** Names used between this boundary and the next that had occurred before it. */
  readonly names: number
  /** Number of these names in the first request after the boundary. */
  readonly inView: number
  /** The names that were missing from it, at most twelve: files first, in the order of their use. */
  readonly lost: readonly string[]
}

/** `unrecorded`: the file begins with the compaction, so the messages before it are unknown. */
export type BoundaryNames = NeededNames | "unrecorded"

const MAX_LOST = 12
const MAX = 100 // characters; longer matches are data
const PATH = /(?<![\w/.:@-])(?:[\w@.-]+)?(?:\/[\w@.-]+)+\.[A-Za-z]\w{0,7}\b/g
const IS_NUMBER = /^[\d,.]+$/

interface EntryRange {
  /** Number of entries before the boundary. */
  readonly from: number
  /** Whether any of them is a message. */
  readonly hasPast: boolean
  /** Names in the first request after the boundary. Absent until that request. */
  inView?: ReadonlySet<string>
  readonly used: Set<string>
}

/** Processes a conversation entry by entry. */
export class NamesAfterBoundaries {
  /** Index of the entry in which each name occurred first. */
  readonly #first = new Map<string, number>()
  readonly #stretches: EntryRange[] = []
  readonly #lastBoundary: number
  #at = 0
  #hasMessage = false

  constructor(entries: readonly Entry[]) {
    this.#lastBoundary = entries.findLastIndex((entry) => isMessage(entry) && isBoundary(entry))
  }

  /** Must be called before the views apply the entry. `shown` returns the blocks of the request being answered. */
  take(entry: Entry, shown: () => readonly Block[]): void {
    const at = this.#at++
    if (this.#lastBoundary < 0 || !isMessage(entry) || entry.isSidechain) return
    if (isBoundary(entry)) this.#stretches.push({ from: at, hasPast: this.#hasMessage, used: new Set() })
    else if (isAnswer(entry)) this.#answer(entry, shown)
    this.#hasMessage ||= entry.type === "user" || entry.type === "assistant"
    if (at >= this.#lastBoundary || isBoundary(entry)) return
    for (const block of sentBlocks(entry)) for (const name of exactNamesIn(block)) this.#note(name, at)
  }

  /** Results by boundary. `undefined` where no response followed. */
  found(): readonly (BoundaryNames | undefined)[] {
    return this.#stretches.map(({ hasPast, inView, used }) => {
      if (!hasPast) return "unrecorded"
      if (!inView) return undefined
      const lost = [...used].filter((name) => !inView.has(name))
      const shown = lost.filter((name) => name.length <= MAX).toSorted((a, b) => kindOf(a) - kindOf(b))
      return { names: used.size, inView: used.size - lost.length, lost: shown.slice(0, MAX_LOST) }
    })
  }

  #answer(entry: Message, shown: () => readonly Block[]): void {
    const stretch = this.#stretches.at(-1)
    if (!stretch) return
    stretch.inView ??= new Set(shown().flatMap((block) => [...exactNamesIn(block)]))
    for (const block of sentBlocks(entry))
      for (const name of namesUsedBy(block))
        if ((this.#first.get(name) ?? stretch.from) < stretch.from) stretch.used.add(name)
  }

  #note(name: string, at: number): void {
    if (!this.#first.has(name)) this.#first.set(name, at)
  }
}

/** Finds needed names without a full inspection, by boundary. `undefined` where no response followed. */
export function neededNames(entries: readonly Entry[], model = "unknown"): readonly (BoundaryNames | undefined)[] {
  if (!entries.some((entry) => isMessage(entry) && isBoundary(entry))) return []
  const views = new Views({ family: findModel(model).facts.family })
  const names = new NamesAfterBoundaries(entries)
  const shown = () => views.context.messages().messages.flatMap(({ content }) => content)
  for (const entry of entries) {
    names.take(entry, shown)
    views.apply(entry)
  }
  return names.found()
}

const known = new WeakMap<Block, ReadonlySet<string>>()

/** Every exact name of a block. */
export function exactNamesIn(block: Block): ReadonlySet<string> {
  const names = known.get(block) ?? exactNames(blockText(block))
  known.set(block, names)
  return names
}

/** The exact names that a response uses, without secrets. */
export const namesUsedBy = (block: Block): ReadonlySet<string> =>
  exactNames(dropSecrets(blockText(withoutSettings(block))))

/** Drops parameters whose values come from a tool's schema, such as the state of a todo or a time limit, not from the conversation. */
function withoutSettings(block: Block): Block {
  if (!isToolUse(block) || typeof block.input !== "object" || block.input === null) return block
  const { output_mode: _mode, timeout: _limit, todos, ...input } = block.input as Record<string, unknown>
  const contents = Array.isArray(todos)
    ? todos.map((todo: unknown) => (todo as { content?: unknown } | null)?.content)
    : todos
  return { ...block, input: { ...input, todos: contents ?? "" } }
}

const isAnswer = (message: Message): boolean => message.type === "assistant" && !isSynthetic(message)

const kindOf = (name: string): number => (name.includes("/") ? 0 : IS_NUMBER.test(name) ? 2 : 1)

/** Finds exact names. Files are identified by the last two parts of their paths, which is how users and models name them. */
function exactNames(text: string): ReadonlySet<string> {
  const files = new Set<string>()
  const rest = text.replace(PATH, (path) => {
    files.add(path.split("/").filter(Boolean).slice(-2).join("/"))
    return " "
  })
  return new Set([...files, ...findMeasuredNames(rest)])
}
