/** Watches a conversation from outside and measures its input, the layers' actions and their duration. Stores only metrics. */
import type { Agent, CompactionProgress, DecisionEntry, Entry, QueryEvent } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { listAttachedMemories as offeredBy } from "@strata/core/memory"
import type { Clock } from "@strata/sim"
import { inputTokens } from "../../../packages/core/src/base/text.ts"
import { sentBlocks } from "../../../packages/core/src/messages/messages.ts"
import { tokenCounts } from "../../../packages/core/src/tokens/models.ts"

export interface CompactionSeen {
  readonly route: string
  readonly before: number
  readonly after: number
}

/** A duration in real and in simulated milliseconds. */
interface Spent {
  real: number
  simulated: number
}

export class SoakWatch {
  readonly #agent: Agent
  readonly #clock: Clock
  readonly compactions: CompactionSeen[] = []
  readonly problems: string[] = []
  readonly blocked: Spent & { times: number } = { real: 0, simulated: 0, times: 0 }
  /** Milliseconds from one request to the next, and the library's part of them, from the last event to the request. */
  readonly turns: { readonly whole: number; readonly own: number }[] = []
  /** Tokens of messages and results as they arrive, without offloaded content. */
  takenIn = 0
  /** The largest request for any purpose, in tokens counted by the server. */
  peak = 0
  putAside = 0
  cleared = 0
  clearedByServer = 0
  notes = 0
  /** Memories and passages that were in a request. */
  readonly recalled = new Set<string>()
  dreams = 0
  #compactingSince: Spent | undefined
  #lastRequest: number | undefined
  #lastEvent = performance.now()

  constructor(agent: Agent, clock: Clock) {
    this.#agent = agent
    this.#clock = clock
    agent.conversation.on("entry", ({ entry }) => this.#entry(entry))
    agent.conversation.on("compaction", (progress) => this.#progress(progress))
    agent.conversation.on("layerActed", ({ layer }) => {
      if (layer === "dreaming") this.dreams++
    })
    agent.conversation.on("layerFailed", ({ layer, reason }) => this.problems.push(`${layer} failed: ${reason}`))
  }

  event(event: QueryEvent): void {
    const now = performance.now()
    if (event.type === "request") {
      if (this.#lastRequest !== undefined)
        this.turns.push({ whole: now - this.#lastRequest, own: now - this.#lastEvent })
      this.#lastRequest = now
    }
    // neither a pause between tasks nor a compaction is part of a turn
    if (event.type === "done" || event.type === "compacted") this.#lastRequest = undefined
    if (event.type === "retry") this.problems.push(`a request was retried: ${event.reason}`)
    if (event.type === "error") {
      event.take()
      this.problems.push(event.message)
    }
    this.#lastEvent = now
  }

  #entry(entry: Entry): void {
    if (entry.type === "strata") this.#decision(entry)
    for (const { path } of offeredBy(entry)) this.recalled.add(path)
    if (entry.type === "assistant") this.#request(entry.message.usage)
    if (entry.type === "assistant" || (entry.type === "user" && !entry.isCompactSummary)) this.#takeIn(entry)
  }

  #decision(decision: DecisionEntry): void {
    switch (decision.subtype) {
      case "spent":
        this.#request(decision.usage)
        break
      case "tool-result-persisted":
        this.putAside++
        this.takenIn -= decision.effect?.saves ?? 0
        break
      case "tool-results-cleared":
        this.cleared += decision.toolUseIds.length
        break
      case "server-edited":
        this.clearedByServer++
        break
      case "notes-updated":
        this.notes++
        break
      case "compacted":
        this.compactions.push({ route: decision.route, before: decision.tokensBefore, after: decision.tokensAfter })
        break
      case "compaction-failed":
        this.problems.push(decision.message)
        break
    }
  }

  #takeIn(message: Parameters<typeof sentBlocks>[0]): void {
    this.takenIn += internalsOf(this.#agent.conversation).views.estimator.blocks(sentBlocks(message))
  }

  #request(usage: Parameters<typeof tokenCounts>[0] | undefined): void {
    if (usage) this.peak = Math.max(this.peak, inputTokens(tokenCounts(usage)))
  }

  #progress({ phase }: CompactionProgress): void {
    const now: Spent = { real: performance.now(), simulated: this.#clock.now() }
    if (phase === "preparing") this.#compactingSince = now
    if ((phase !== "done" && phase !== "failed") || !this.#compactingSince) return
    if (now.simulated > this.#compactingSince.simulated) this.blocked.times++
    this.blocked.real += now.real - this.#compactingSince.real
    this.blocked.simulated += now.simulated - this.#compactingSince.simulated
    this.#compactingSince = undefined
  }
}
