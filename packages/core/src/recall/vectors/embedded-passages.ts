/**
 * Search with an embedding function of the application, in addition to full-text search. A vector is computed once for each message
 * text, in the background of the first search, and stored in the index by the text's hash. A search waits at most two seconds, and uses
 * the vectors that exist.
 */
import type { PassageMatch } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { IncrementalIndex } from "../index/incremental-index.ts"
import type { BlockAround } from "../passages/passage.ts"
import { hashOf } from "./text-hash.ts"

/** Returns a vector for each text, all of the same length: texts with similar meaning have vectors with similar directions. */
export type EmbedFunction = (texts: readonly string[]) => Promise<readonly (readonly number[] | Float32Array)[]>

/** Short, because the model waits for the result. */
const MAX_WAIT_MS = 2_000
/** Texts to embed in one call. */
const BATCH = 64
/** Limit for embedded texts, newest first: 80 MB with 400 numbers each. */
const MAX_EMBEDDED = 50_000
/** Passages that each of the two searches contributes. */
export const CANDIDATES = 50
/** Constant of reciprocal rank fusion: if small, the best match of one search alone is among the first of both. */
const RANK_CONSTANT = 1
/** A text whose vector reveals a change of the model. */
const PROBE = "Which model is it?"
const SAME_DIRECTION = 0.999

type AskIndex = <T>(question: (index: IncrementalIndex) => T | Promise<T>) => Promise<T>

export class EmbeddedPassages {
  readonly #embed: EmbedFunction
  readonly #ask: AskIndex
  readonly #patience: number
  #index: IncrementalIndex | undefined
  #removals = 0
  #last = 0
  readonly #vectors = new Map<number, Float32Array>()
  #following: Promise<void> | undefined
  #isSameModel: Promise<void> | undefined

  constructor({ embed, ask, patience = MAX_WAIT_MS }: { embed: EmbedFunction; ask: AskIndex; patience?: number }) {
    this.#embed = embed
    this.#ask = ask
    this.#patience = patience
  }

  /**
   * The passages whose vectors are nearest to the question's, with `around` passages on both sides. Throws if the function fails or is
   * late.
   */
  async nearest(
    question: Question,
    around: number,
  ): Promise<readonly (PassageMatch & { readonly around?: BlockAround })[]> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => resolve(undefined), this.#patience)
    const vectors = this.#vectorsOf([question.text])
    vectors.catch(() => undefined) // it may fail when nobody waits any more
    try {
      await Promise.race([Promise.all([vectors, this.#follow()]), late])
      const vector = (await Promise.race([vectors, late]))?.[0]
      if (!vector) throw new Error(`it took longer than ${this.#patience / 1_000} s`)
      const closeness = (id: number) => {
        const other = this.#vectors.get(id)
        return other?.length === vector.length ? dotProduct(vector, other) : undefined
      }
      return await this.#ask(async (index) => {
        if (index !== this.#index) return []
        const found = await index.nearest(question, closeness, CANDIDATES)
        const surroundings = await index.around(found, around)
        return found.map((one, at) => (surroundings[at] ? { ...one, around: surroundings[at] } : one))
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Reads new passages. Runs one at a time. */
  #follow(): Promise<void> {
    this.#following ??= this.#taken().finally(() => {
      this.#following = undefined
    })
    this.#following.catch(() => undefined) // a search that waits for it receives the error
    return this.#following
  }

  async #taken(): Promise<void> {
    this.#isSameModel ??= this.#checkModel()
    try {
      await this.#isSameModel
    } catch (error) {
      this.#isSameModel = undefined // the next search tries again
      throw error
    }
    for (let isMore = true; isMore; ) isMore = await this.#takenBatch()
  }

  async #takenBatch(): Promise<boolean> {
    const { index, removals, passages, kept } = await this.#ask(async (at) => {
      if (at !== this.#index) this.#restart(at)
      let news = await at.dialogue(this.#last, BATCH)
      if (news.removals !== this.#removals) {
        this.#restart(at) // removed texts must also be removed from this memory
        news = await at.dialogue(0, BATCH)
      }
      const hashes = news.passages.map(({ text }) => hashOf(text))
      return { index: at, ...news, kept: await at.vectors(hashes) }
    })
    this.#removals = removals
    const missing = [...new Set(passages.map(({ text }) => text).filter((text) => !kept.has(hashOf(text))))]
    const made = missing.length === 0 ? [] : await this.#vectorsOf(missing)
    const added = new Map(missing.map((text, at) => [hashOf(text), made[at]!]))
    if (added.size > 0) await this.#ask((at) => (at === index ? at.keepVectors(added) : undefined))
    if (index !== this.#index) return true
    for (const { id, text } of passages) this.#vectors.set(id, kept.get(hashOf(text)) ?? added.get(hashOf(text))!)
    for (const oldest of this.#vectors.keys()) {
      if (this.#vectors.size <= MAX_EMBEDDED) break
      this.#vectors.delete(oldest)
    }
    this.#last = passages.at(-1)?.id ?? this.#last
    return passages.length === BATCH
  }

  #restart(index: IncrementalIndex): void {
    this.#index = index
    this.#vectors.clear()
    this.#last = 0
  }

  /** Discards vectors of another model, which cannot be compared with those of this one. */
  async #checkModel(): Promise<void> {
    const [now] = await this.#vectorsOf([PROBE])
    const key = hashOf(PROBE)
    await this.#ask(async (index) => {
      const before = (await index.vectors([key])).get(key)
      if (before?.length === now!.length && dotProduct(before, now!) > SAME_DIRECTION) return
      await index.clearVectors()
      await index.keepVectors(new Map([[key, now!]]))
    })
  }

  /** Unit vectors of the texts. */
  async #vectorsOf(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await this.#embed(texts)
    const isWhole = Array.isArray(vectors) && vectors.length === texts.length
    if (!isWhole || vectors.some((vector) => !(vector?.length > 0) || vector.length !== vectors[0]!.length))
      throw new Error(`it must answer with one vector for each of ${texts.length} texts, all of one length`)
    return vectors.map((vector) => {
      const own = Float32Array.from(vector)
      const length = Math.sqrt(dotProduct(own, own))
      if (!Number.isFinite(length)) throw new Error("its vectors must be numbers")
      return length === 0 ? own : own.map((value) => value / length)
    })
  }
}

/** Merges two ranked lists: matches that are first in either list come first. */
export function fuseByRank<F extends Pick<PassageMatch, "source" | "uuid" | "blocks">>(
  lists: readonly (readonly F[])[],
): readonly (F & { readonly score: number })[] {
  const fused = new Map<string, { readonly one: F; score: number }>()
  for (const list of lists)
    for (const [rank, one] of list.entries()) {
      const key = `${one.source} ${one.uuid} ${one.blocks}`
      const entry = fused.get(key) ?? { one, score: 0 }
      entry.score += 1 / (RANK_CONSTANT + rank + 1)
      fused.set(key, entry)
    }
  return [...fused.values()].map(({ one, score }) => ({ ...one, score })).sort((a, b) => b.score - a.score)
}

function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}
