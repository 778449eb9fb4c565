/** Plants one false claim in a truthful summary and looks whether the audit finds it; counts alarms where nothing was planted. */
import { artifacts, type Message, sentBlocks } from "@strata/core/internal"
import { type Audit, type AuditInput, audit } from "@strata/core/internal/layers/4-compaction/audit/audit"
import { type Source, sourceOf } from "@strata/core/internal/layers/4-compaction/audit/source"
import { type Facts, gatherFacts } from "@strata/core/internal/model/offline/facts"
import type { ReadMessage } from "@strata/core/internal/model/offline/read-message"
import { readTimeline } from "@strata/core/internal/model/offline/timeline"
import { frontier } from "@strata/core/internal/views/record/frontier"
import { LIE_NAMES, type LieName, plantLie } from "@strata/sim"

/** A range that a summary replaces. */
export class Range {
  readonly #source: Source
  readonly #record: AuditInput["record"]
  readonly #replaced: AuditInput["replaced"]
  readonly facts: Facts

  constructor(messages: readonly Message[], beside: readonly string[] = []) {
    this.#source = sourceOf({ messages, beside })
    this.#record = {
      artifacts: messages.reduce((state, message) => artifacts.apply(state, message), artifacts.start()),
      frontier: messages.reduce((state, message) => frontier.apply(state, message), frontier.start()),
    }
    this.#replaced = new Set(messages.map(({ uuid }) => uuid))
    this.facts = gatherFacts(readTimeline(readable(messages)))
  }

  audit(summary: string): Audit {
    return audit({
      summary,
      following: "",
      source: this.#source,
      record: this.#record,
      replaced: this.#replaced,
    })
  }
}

/** Messages as the model without a network reads them. */
export const readable = (messages: readonly Message[]): readonly ReadMessage[] =>
  messages.flatMap((message): ReadMessage[] => {
    if (message.type !== "user" && message.type !== "assistant") return []
    return [{ role: message.type, content: sentBlocks(message) as ReadMessage["content"] }]
  })

export interface Tally {
  readonly planted: Map<LieName, { planted: number; caught: number }>
  /** The first few that were missed, for a person to look at. */
  readonly missed: string[]
}

export const emptyTally = (): Tally => ({ planted: new Map(), missed: [] })

const MOST_MISSED = 20

/** Plants each kind of claim that has a place in the summary, and notes what the audit says. Returns how many were planted. */
export function plantAll(
  range: Range,
  { summary, seed, tally }: { summary: string; seed: number; tally: Tally },
): number {
  const before = findings(range.audit(summary))
  let planted = 0
  for (const name of LIE_NAMES) {
    const lied = plantLie(name, { text: summary, facts: range.facts, seed })
    if (!lied) continue
    planted++
    const row = tally.planted.get(name) ?? { planted: 0, caught: 0 }
    tally.planted.set(name, row)
    row.planted++
    if ([...findings(range.audit(lied.text))].some((finding) => !before.has(finding))) row.caught++
    else if (tally.missed.length < MOST_MISSED) tally.missed.push(`${name}: ${lied.told ?? `without ${lied.truth}`}`)
  }
  return planted
}

/** What is claimed without ground, and what is missing. */
const findings = ({ claims, facts }: Audit): ReadonlySet<string> =>
  new Set([
    ...claims.filter(({ isSupported }) => !isSupported).map((claim) => `${claim.class} ${claim.text}`),
    ...facts.filter(({ isCovered }) => !isCovered).map((fact) => `missing ${fact.class} ${fact.text}`),
  ])
