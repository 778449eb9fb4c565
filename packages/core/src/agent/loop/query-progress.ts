/**
 * Whether a query still makes progress. Each kind of repetition has a bound, so a model that pauses, fails or repeats itself for ever
 * ends the query with a sentence that says so.
 */
import { createHash } from "node:crypto"
import { type Block, isToolResult, isToolUse } from "../../messages/blocks.ts"
import type { ModelResponse } from "../../model/model.ts"

const MAX_PAUSES = 20 // pauses of the server in a row: long searches of a server tool take several
const MAX_FAILED_ROUNDS = 30 // rounds in a row in which every tool call failed
const MAX_EMPTY_PAUSES = 3 // a pause that brings nothing, or the same again, gives the server no new work
const MAX_REPEATED_FAILURES = 5 // earlier calls again with the same errors: the model does not read them
const MAX_REPEATED_ROUNDS = 50 // earlier calls again with the same results: waiting for something looks like this for a while
const MAX_CONTINUATIONS = 3 // answers cut at the output limit that are asked to continue
const MAX_HOOK_REQUESTS = 25 // ends that a hook turns into more work, one after the other

/** Why a query that makes no progress ends, as a sentence. */
export type Stuck = string | undefined

export class QueryProgress {
  #pauses = 0
  #emptyPauses = 0
  #lastPause = ""
  #continuations = 0
  #hookRequests = 0
  #failedRounds = 0
  /** Whether a hook has asked for more work in this query. */
  hasHookAsked = false
  /** Rounds in a row that brought nothing new. */
  #repeatedRounds = 0
  readonly #seenRounds = new Set<string>()

  /** The server paused its own work and wants the same conversation again. */
  paused({ content }: Pick<ModelResponse, "content">): Stuck {
    const said = JSON.stringify(content)
    const isNew = content.length > 0 && said !== this.#lastPause
    this.#lastPause = said
    this.#emptyPauses = isNew ? 0 : this.#emptyPauses + 1
    this.#pauses++
    if (this.#emptyPauses >= MAX_EMPTY_PAUSES)
      return `The model paused ${this.#emptyPauses} times in a row without anything new.`
    return this.#pauses > MAX_PAUSES
      ? `The model paused more than ${MAX_PAUSES} times in a row without an answer.`
      : undefined
  }

  /** Whether an answer that was cut at the output limit is continued. */
  continues(): boolean {
    return this.#continuations++ < MAX_CONTINUATIONS
  }

  /** A hook asks for more work in place of an end. */
  hookAsked(): Stuck {
    this.hasHookAsked = true
    return ++this.#hookRequests >= MAX_HOOK_REQUESTS
      ? `A Stop hook asked for more work ${MAX_HOOK_REQUESTS} times in a row.`
      : undefined
  }

  /** The calls of a response ran. */
  worked(calls: readonly Block[], results: readonly Block[]): Stuck {
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

/** Ids differ in every round. */
const withoutId = ({ id: _, tool_use_id: __, ...rest }: Block & { id?: unknown; tool_use_id?: unknown }) => rest

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("base64")
