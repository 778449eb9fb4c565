/**
 * What a compaction lost that was needed later: exact names that answers after a boundary use, that had occurred before it, and that the
 * first request after it no longer showed. Every text is read once, and only in conversations with a boundary.
 *
 * The names are found as replays find them, not as the product does when it carries names over a boundary: its own rule would find
 * whatever that rule keeps.
 */

import type { Block } from "@strata/core"
import { isMessage } from "@strata/core"
import { dropSecrets } from "@strata/core/base"
import { isBoundary, isSynthetic, isToolUse, type Message, sentBlocks } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { findModel } from "@strata/core/tokens"
import { Views } from "@strata/core/views"
import { wordsOf } from "./block-words.ts"
import { needlesIn } from "./needles.ts"

/** Of the names that a compaction could have lost and that were used after it. */
export interface NeededNames {
  /** Names used between this boundary and the next that had occurred before it. */
  readonly names: number
  /** Those of them that the first request after the boundary showed. */
  readonly inView: number
  /** The others, at most twelve: files first, in the order of their use. */
  readonly lost: readonly string[]
}

/** `unrecorded`: the file begins with the compaction, so what came before it is not known. */
export type BoundaryNames = NeededNames | "unrecorded"

const MAX_LOST = 12
const MAX = 100 // characters; longer ones are data
const PATH = /(?<![\w/.:@-])(?:[\w@.-]+)?(?:\/[\w@.-]+)+\.[A-Za-z]\w{0,7}\b/g
const IS_NUMBER = /^[\d,.]+$/

interface Stretch {
  /** How many entries came before the boundary. */
  readonly from: number
  /** Whether one of them is a message. */
  readonly hasPast: boolean
  /** What the first request after it showed. Absent until that. */
  inView?: ReadonlySet<string>
  readonly used: Set<string>
}

/** Follows a conversation, entry by entry. */
export class NamesAfterBoundaries {
  /** Where each name occurred first. */
  readonly #first = new Map<string, number>()
  readonly #stretches: Stretch[] = []
  readonly #lastBoundary: number
  #at = 0
  #hasMessage = false

  constructor(entries: readonly Entry[]) {
    this.#lastBoundary = entries.findLastIndex((entry) => isMessage(entry) && isBoundary(entry))
  }

  /** Before the views take the entry. `shown`: the blocks of the request that is answered now. */
  take(entry: Entry, shown: () => readonly Block[]): void {
    const at = this.#at++
    if (this.#lastBoundary < 0 || !isMessage(entry) || entry.isSidechain) return
    if (isBoundary(entry)) this.#stretches.push({ from: at, hasPast: this.#hasMessage, used: new Set() })
    else if (isAnswer(entry)) this.#answer(entry, shown)
    this.#hasMessage ||= entry.type === "user" || entry.type === "assistant"
    if (at >= this.#lastBoundary || isBoundary(entry)) return
    for (const block of sentBlocks(entry)) for (const name of exactNamesIn(block)) this.#note(name, at)
  }

  /** By boundary. `undefined` where no answer followed. */
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
      for (const name of namesUsedIn(block))
        if ((this.#first.get(name) ?? stretch.from) < stretch.from) stretch.used.add(name)
  }

  #note(name: string, at: number): void {
    if (!this.#first.has(name)) this.#first.set(name, at)
  }
}

/** By boundary, without the rest of an inspection. `undefined` where no answer followed. */
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
  const names = known.get(block) ?? exactNames(wordsOf(block))
  known.set(block, names)
  return names
}

/** The exact names that an answer uses, without secrets. */
export const namesUsedIn = (block: Block): ReadonlySet<string> =>
  exactNames(dropSecrets(wordsOf(withoutSettings(block))))

/** The state of a todo, the mode of a search and a time limit are words of a tool's schema, not of the conversation. */
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

/** Files are known by the last two parts of their paths: that is how people and models name them. */
function exactNames(text: string): ReadonlySet<string> {
  const files = new Set<string>()
  const rest = text.replace(PATH, (path) => {
    files.add(path.split("/").filter(Boolean).slice(-2).join("/"))
    return " "
  })
  return new Set([...files, ...needlesIn(rest)])
}
