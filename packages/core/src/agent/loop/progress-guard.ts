/**
 * Detects queries that make no progress. Each kind of repetition is bounded, so a model that keeps pausing, failing or repeating itself
 * ends the query with a sentence that states the reason.
 */
import { createHash } from "node:crypto"
import { type Block, isToolResult, isToolUse } from "../../messages/blocks.ts"
import type { ModelResponse } from "../../model/model.ts"

const MAX_PAUSES = 20 // consecutive pauses of the server; long searches of a server tool take several
const MAX_FAILED_ROUNDS = 30 // consecutive rounds in which every tool call failed
const MAX_EMPTY_PAUSES = 3 // a pause without content, or with the same content, gives the server no new work
const MAX_REPEATED_FAILURES = 5 // repeated calls with the same errors, which the model ignores
const MAX_REPEATED_ROUNDS = 50 // repeated calls with the same results; polling looks like this for a while
const MAX_CONTINUATIONS = 3 // how often a response cut at the output limit is continued
const MAX_HOOK_REQUESTS = 25 // consecutive ends that a hook turns into more work

/** Reason for ending a query without progress, as a sentence. */
export type NoProgressReason = string | undefined

export class ProgressGuard {
  #pauses = 0
  #emptyPauses = 0
  #lastPause = ""
  #continuations = 0
  #hookRequests = 0
  #failedRounds = 0
  /** Whether a hook has asked for more work in this query. */
  hasHookAsked = false
  /** Consecutive rounds without new results. */
  #repeatedRounds = 0
  readonly #seenRounds = new Set<string>()

  /** Called when the server paused its own work and expects the same conversation again. */
  paused({ content }: Pick<ModelResponse, "content">): NoProgressReason {
    const serialized = JSON.stringify(content)
    const isNew = content.length > 0 && serialized !== this.#lastPause
    this.#lastPause = serialized
    this.#emptyPauses = isNew ? 0 : this.#emptyPauses + 1
    this.#pauses++
    if (this.#emptyPauses >= MAX_EMPTY_PAUSES)
      return `The model paused ${this.#emptyPauses} times in a row without anything new.`
    return this.#pauses > MAX_PAUSES
      ? `The model paused more than ${MAX_PAUSES} times in a row without an answer.`
      : undefined
  }

  /** Whether to continue a response that was cut at the output limit. */
  continues(): boolean {
    return this.#continuations++ < MAX_CONTINUATIONS
  }

  /** Called when a hook requests more work instead of an end. */
  hookAsked(): NoProgressReason {
    this.hasHookAsked = true
    return ++this.#hookRequests >= MAX_HOOK_REQUESTS
      ? `A Stop hook asked for more work ${MAX_HOOK_REQUESTS} times in a row.`
      : undefined
  }

  /** Called after the tool calls of a response ran. */
  worked(calls: readonly Block[], results: readonly Block[]): NoProgressReason {
    this.#pauses = 0
    this.#emptyPauses = 0
    const failed = results.length > 0 && results.every((result) => isToolResult(result) && result.is_error === true)
    this.#failedRounds = failed ? this.#failedRounds + 1 : 0
    if (!failed) this.#hookRequests = 0
    const round = digest([calls.map(withoutId), results.map(withoutId)])
    this.#repeatedRounds = this.#seenRounds.has(round) ? this.#repeatedRounds + 1 : 0
    this.#seenRounds.add(round)
    if (this.#repeatedRounds >= (failed ? MAX_REPEATED_FAILURES : MAX_REPEATED_ROUNDS)) {
      const names = [...new Set(calls.filter(isToolUse).map(({ name }) => name))].join(", ")
      return `The model repeated earlier calls ${this.#repeatedRounds} times in a row (${names}), each time with the same ${failed ? "error" : "result"}.`
    }
    return this.#failedRounds >= MAX_FAILED_ROUNDS
      ? `Every tool call of the last ${MAX_FAILED_ROUNDS} rounds failed.`
      : undefined
  }
}

/** Removes ids, which differ in every round. */
const withoutId = ({ id: _, tool_use_id: __, ...rest }: Block & { id?: unknown; tool_use_id?: unknown }) => rest

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("base64")
