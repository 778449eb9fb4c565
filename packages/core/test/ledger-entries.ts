/** Journals of usage and decisions for the ledger's tests: `bills().respond({ write: 9 }).aside(1_000).respond({ read: 9 }).entries`. */

import { manualClock, seededIds } from "../src/base/clock.ts"
import type { RequestSource } from "../src/base/enums.ts"
import type { Decision, Entry } from "../src/journal/entries.ts"
import type { Usage } from "../src/messages/messages.ts"

export interface BilledTokens {
  readonly read?: number
  readonly write?: number
  readonly write1h?: number
  readonly input?: number
  readonly output?: number
  readonly model?: string
  /** The id of the response. Repeating an id adds a later part of it. */
  readonly id?: string
  readonly isSidechain?: boolean
  /** The sub-agent that sent the request. */
  readonly agent?: string
}

export const usageOf = ({ read = 0, write = 0, write1h = 0, input = 0, output = 0 }: BilledTokens): Usage => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: write + write1h,
  cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: write1h },
})

class Bills {
  readonly entries: Entry[] = []
  readonly #ids = seededIds("bills")
  readonly #clock = manualClock()

  respond(billing: BilledTokens): this {
    const uuid = this.#ids.uuid()
    const { id = `msg_${uuid}`, model = "claude-opus-4-6", isSidechain } = billing
    const message = { id, role: "assistant", model, content: [{ type: "text", text: "…" }], usage: usageOf(billing) }
    return this.#push({ type: "assistant", uuid, message, ...(isSidechain ? { isSidechain } : {}) })
  }

  decide(decision: Decision): this {
    return this.#push({ type: "strata", ...decision })
  }

  /** Adds an offloaded result. */
  aside(saves?: number): this {
    const effect = saves === undefined ? {} : { effect: { saves, rewrites: 0 } }
    const facts = { toolUseId: "t", path: "p", bytes: 9, head: 1, tail: 1 }
    return this.decide({ subtype: "tool-result-persisted", ...facts, ...effect })
  }

  /** Adds cleared results. */
  clear(saves: number, rewrites: number, why: "idle" | "size" = "size"): this {
    return this.decide({ subtype: "tool-results-cleared", toolUseIds: ["t"], why, effect: { saves, rewrites } })
  }

  serverCleared(tokens: number): this {
    const edit = { type: "clear_tool_uses_20250919", cleared_tool_uses: 1, cleared_input_tokens: tokens }
    return this.decide({ subtype: "server-edited", edits: [edit] })
  }

  spend(purpose: Exclude<RequestSource, "main">, billing: BilledTokens): this {
    const { model = "claude-opus-4-6", id = this.#ids.uuid(), agent } = billing
    const who = agent === undefined ? {} : { agent }
    return this.decide({ subtype: "spent", purpose, model, responseId: id, usage: usageOf(billing), ...who })
  }

  compact(tokensBefore: number, tokensAfter: number): this {
    this.#push({ type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } })
    const boundary = this.entries.at(-1)!.uuid
    const facts = { trigger: "auto" as const, route: "direct", tokensBefore, tokensAfter, threshold: 1 }
    return this.decide({ subtype: "compacted", boundary, kept: [], ...facts })
  }

  undo(uuid: string): this {
    return this.decide({ subtype: "undone", decision: uuid })
  }

  pause(minutes: number): this {
    this.#clock.advance(minutes * 60_000)
    return this
  }

  get last(): Entry {
    return this.entries.at(-1)!
  }

  #push(entry: object): this {
    const timestamp = this.#clock.now().toISOString()
    this.entries.push({ uuid: this.#ids.uuid(), parentUuid: null, timestamp, ...entry } as Entry)
    return this
  }
}

export const bills = () => new Bills()
