/**
 * What a client's own requests would have cost without us. Its list is measured by what the server counted for ours; its cache is followed
 * as the server would keep it: what the list has in common with the one before, as long as it lives. A list that no longer fits is
 * compacted, as every client does. An estimate: the report says so.
 */
import { addCounts, NO_TOKENS, type TokenCounts } from "../base/token-counts.ts"
import { digestOf } from "../messages/caller-key.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOf } from "../tokens/price.ts"
import { marksIn } from "./body.ts"
import type { Body } from "./plan.ts"

export const LIVES = { "5m": 5 * 60_000, "1h": 60 * 60_000 } as const
const CLIENT_COMPACTS = 0.92 // of the window
const AFTER_COMPACTION = 0.12 // of the list that is left then
const SUMMARY_TOKENS = 4_000
const USUAL_BYTES = 3.6 // for a token, until the server has counted

interface Sent {
  readonly prompt: string
  /** A digest and the bytes of each message. */
  readonly messages: readonly (readonly [string, number])[]
  readonly at: number
}

interface Answered {
  readonly at: number
  /** Tokens of the answer. */
  readonly output: number
  /** Of the input that we sent, what the server read from its cache: 0 to 1. */
  readonly readShare: number
}

export class DirectBill {
  readonly #facts: ModelFacts
  #total: TokenCounts = NO_TOKENS
  #dollars = 0
  #last: Sent | undefined
  #perToken = USUAL_BYTES
  /** Bytes of the list that the client's own compactions would have taken away. */
  #gone = 0
  #tokens = 0
  #isFirst = true

  constructor(facts: ModelFacts) {
    this.#facts = facts
  }

  /** Tokens of the newest list. */
  get tokens(): number {
    return this.#tokens
  }

  get counts(): TokenCounts {
    return this.#total
  }

  /** `undefined` where the price is unknown. */
  get dollars(): number | undefined {
    return this.#facts.price ? this.#dollars : undefined
  }

  /** What the server counted for a body of ours. */
  learn(body: Body, tokens: number): void {
    const bytes = sizeOf(body)
    if (tokens > 0 && bytes > tokens) this.#perToken = bytes / tokens
  }

  /** The request as the client would have sent it at this time. */
  add(body: Body, { at, output, readShare }: Answered): void {
    const marks = marksIn(body)
    const isMarked = marks.isAutomatic || marks.inPrompt + marks.inMessages > 0
    const prompt = JSON.stringify([unmarked(body.system), unmarked(body.tools)])
    const listed = Array.isArray(body.messages) ? body.messages : []
    const messages = listed.map(measured)
    const tokensOf = (bytes: number) => Math.max(0, Math.round(bytes / this.#perToken))
    const lengthOf = (parts: Sent["messages"]) => parts.reduce((sum, [, length]) => sum + length, 0)
    const promptLength = Buffer.byteLength(prompt)
    const whole = Math.max(promptLength, promptLength + lengthOf(messages) - this.#gone)
    const lives = this.#last && at - this.#last.at <= LIVES[marks.lifetime]
    const known = this.#last && lives && isMarked ? this.#common(this.#last, { prompt, messages, at }) : 0
    // what the server had before this process, it would have had for the client too
    const before = this.#isFirst && isMarked ? whole * readShare : 0
    this.#isFirst = false
    const read = Math.max(before, Math.min(known - this.#gone, whole))
    const fresh = tokensOf(whole - read)
    this.#count({
      ...NO_TOKENS,
      cacheRead: tokensOf(read),
      ...(isMarked ? { [marks.lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m"]: fresh } : { input: fresh }),
      output,
    })
    this.#tokens = tokensOf(whole)
    this.#last = { prompt, messages, at }
    if (this.#tokens > this.#facts.window * CLIENT_COMPACTS) {
      this.#count({
        ...NO_TOKENS,
        cacheRead: isMarked ? this.#tokens : 0,
        input: isMarked ? 0 : this.#tokens,
        output: SUMMARY_TOKENS,
      })
      this.#gone += Math.round((whole - promptLength) * (1 - AFTER_COMPACTION))
      this.#last = undefined
    }
  }

  #count(counts: TokenCounts): void {
    this.#total = addCounts(this.#total, counts)
    const cost = costOf(this.#facts, counts)
    if (cost.known) this.#dollars += cost.dollars
  }

  #common(last: Sent, now: Sent): number {
    if (last.prompt !== now.prompt) return 0
    let length = Buffer.byteLength(now.prompt)
    for (const [at, [digest, size]] of now.messages.entries()) {
      if (last.messages[at]?.[0] !== digest) break
      length += size
    }
    return length
  }
}

/** Bytes of a body, marks aside. */
export function sizeOf(body: Body): number {
  const prompt = Buffer.byteLength(JSON.stringify([unmarked(body.system), unmarked(body.tools)]))
  const listed = Array.isArray(body.messages) ? body.messages : []
  return listed.reduce((sum: number, message: object) => sum + measured(message)[1], prompt)
}

/** Of each message once: a caller's messages never change. */
const measures = new WeakMap<object, readonly [string, number]>()

function measured(message: object): readonly [string, number] {
  const known = measures.get(message)
  if (known) return known
  const text = JSON.stringify(unmarked(message))
  const measure = [digestOf(text), Buffer.byteLength(text)] as const
  measures.set(message, measure)
  return measure
}

/** The block that a client puts in front of its prompt and that the server does not count as part of it. */
const BILLING = /^x-anthropic-billing-header:/

/** Without marks, and a text in its form as a block: both change from request to request. */
export function unmarked(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !BILLING.test(String((item as { text?: unknown } | null)?.text ?? ""))).map(unmarked)
  if (typeof value !== "object" || value === null) return value
  const { cache_control: _, ...rest } = value as Record<string, unknown>
  const content =
    "content" in rest && "role" in rest && typeof rest.content === "string"
      ? [{ type: "text", text: rest.content }]
      : rest.content
  return "content" in rest ? { ...rest, content: Array.isArray(content) ? content.map(unmarked) : content } : rest
}
