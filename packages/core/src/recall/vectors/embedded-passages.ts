/**
 * Search by an embedding function of the application, beside our own. A vector is computed once for each text that was said, in the background
 * of the first search, and kept in the index by the text's hash. A search waits two seconds at most, and uses the vectors that are there.
 */
import type { Found } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { FollowedIndex } from "../index/followed-index.ts"
import type { BlockAround } from "../passages/passage.ts"
import { hashOf } from "./text-hash.ts"

/** A vector for each text, all of one length: texts that mean about the same have vectors with about the same direction. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[] | Float32Array)[]>

/** The model of the conversation waits for the result. */
const PATIENCE_MS = 2_000
/** Texts that are embedded at once. */
const BATCH = 64
/** The newest ones: 80 MB with 400 numbers each. */
const MAX_EMBEDDED = 50_000
/** Passages that each search contributes. */
export const CANDIDATES = 50
/** Reciprocal rank fusion: with a small constant, the best of one search alone is among the first of both. */
const RANK_CONSTANT = 1
/** Another model gives this text another vector. */
const PROBE = "Which model is it?"
const SAME_DIRECTION = 0.999

type AskIndex = <T>(question: (index: FollowedIndex) => T | Promise<T>) => Promise<T>

export class EmbeddedPassages {
  readonly #embed: Embed
  readonly #ask: AskIndex
  readonly #patience: number
  #index: FollowedIndex | undefined
  #removals = 0
  #last = 0
  readonly #vectors = new Map<number, Float32Array>()
  #following: Promise<void> | undefined
  #isSameModel: Promise<void> | undefined

  constructor({ embed, ask, patience = PATIENCE_MS }: { embed: Embed; ask: AskIndex; patience?: number }) {
    this.#embed = embed
    this.#ask = ask
    this.#patience = patience
  }

  /** The passages whose vectors are nearest to the question's, with what is so many passages around. Throws if the function fails or is late. */
  async nearest(question: Question, around: number): Promise<readonly (Found & { readonly around?: BlockAround })[]> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => resolve(undefined), this.#patience)
    const asked = this.#vectorsOf([question.text])
    asked.catch(() => undefined) // it may fail when no one waits any more
    try {
      await Promise.race([Promise.all([asked, this.#follow()]), late])
      const vector = (await Promise.race([asked, late]))?.[0]
      if (!vector) throw new Error(`it took longer than ${this.#patience / 1_000} s`)
      const closeness = (id: number) => {
        const other = this.#vectors.get(id)
        return other?.length === vector.length ? product(vector, other) : undefined
      }
      return await this.#ask(async (index) => {
        if (index !== this.#index) return []
        const found = await index.nearest(question, closeness, CANDIDATES)
        const beside = await index.around(found, around)
        return found.map((one, at) => (beside[at] ? { ...one, around: beside[at] } : one))
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Takes in what is new. One at a time. */
  #follow(): Promise<void> {
    this.#following ??= this.#taken().finally(() => {
      this.#following = undefined
    })
    this.#following.catch(() => undefined) // a search that waits for it gets the error
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
      let news = await at.said(this.#last, BATCH)
      if (news.removals !== this.#removals) {
        this.#restart(at) // what is gone must leave this memory too
        news = await at.said(0, BATCH)
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

  #restart(index: FollowedIndex): void {
    this.#index = index
    this.#vectors.clear()
    this.#last = 0
  }

  /** Vectors of another model say nothing beside those of this one. */
  async #checkModel(): Promise<void> {
    const [now] = await this.#vectorsOf([PROBE])
    const key = hashOf(PROBE)
    await this.#ask(async (index) => {
      const before = (await index.vectors([key])).get(key)
      if (before?.length === now!.length && product(before, now!) > SAME_DIRECTION) return
      await index.clearVectors()
      await index.keepVectors(new Map([[key, now!]]))
    })
  }

  /** Each of length 1. */
  async #vectorsOf(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await this.#embed(texts)
    const isWhole = Array.isArray(vectors) && vectors.length === texts.length
    if (!isWhole || vectors.some((vector) => !(vector?.length > 0) || vector.length !== vectors[0]!.length))
      throw new Error(`it must answer with one vector for each of ${texts.length} texts, all of one length`)
    return vectors.map((vector) => {
      const own = Float32Array.from(vector)
      const length = Math.sqrt(product(own, own))
      if (!Number.isFinite(length)) throw new Error("its vectors must be numbers")
      return length === 0 ? own : own.map((value) => value / length)
    })
  }
}

/** Two orders as one: what is among the first of either comes first. */
export function fusedByRank<F extends Pick<Found, "source" | "uuid" | "blocks">>(
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

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}
