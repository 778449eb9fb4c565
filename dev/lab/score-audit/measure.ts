/** Plants one false claim in a summary and checks whether the audit finds it. Counts alarms where nothing was planted. */
import type { Message } from "@strata/core"
import {
  addFabrication,
  DISTORTION_NAMES,
  type DistortionName,
  FABRICATION_NAMES,
  type FabricationName,
  findDistortions,
} from "@strata/sim"
import {
  type AuditInput,
  type AuditReport,
  auditSummary,
} from "../../../packages/core/src/layers/4-compaction/check/audit.ts"
import { type AuditSource, buildSource } from "../../../packages/core/src/layers/4-compaction/check/source.ts"
import { sentBlocks } from "../../../packages/core/src/messages/messages.ts"
import { type Facts, gatherFacts } from "../../../packages/core/src/model/offline/facts.ts"
import type { ReadMessage } from "../../../packages/core/src/model/offline/read-message.ts"
import { readTimeline } from "../../../packages/core/src/model/offline/timeline.ts"
import { project } from "../../../packages/core/src/views/projection.ts"
import { artifacts } from "../../../packages/core/src/views/record/artifacts.ts"
import { workState } from "../../../packages/core/src/views/record/open-work.ts"
import { statements } from "../../../packages/core/src/views/record/statements.ts"
import { INVENTION_KINDS, type InventionKind, invent } from "./inventions.ts"

/** A range that a summary replaces. */
export class SeedRange {
  readonly #source: AuditSource
  readonly #record: AuditInput["record"]
  readonly #replaced: AuditInput["replaced"]
  readonly facts: Facts

  constructor(messages: readonly Message[], extraTexts: readonly string[] = []) {
    this.#source = buildSource({ messages, otherTexts: extraTexts })
    this.#record = {
      artifacts: messages.reduce((state, message) => artifacts.apply(state, message), artifacts.start()),
      frontier: messages.reduce((state, message) => workState.apply(state, message), workState.start()),
      statements: project(statements, messages),
    }
    this.#replaced = new Set(messages.map(({ uuid }) => uuid))
    this.facts = gatherFacts(readTimeline(readable(messages)))
  }

  audit(summary: string): AuditReport {
    return auditSummary({
      summary,
      following: "",
      source: this.#source,
      record: this.#record,
      replaced: this.#replaced,
    })
  }
}

/** The messages as the offline model reads them. */
export const readable = (messages: readonly Message[]): readonly ReadMessage[] =>
  messages.flatMap((message): ReadMessage[] => {
    if (message.type !== "user" && message.type !== "assistant") return []
    return [{ role: message.type, content: sentBlocks(message) as ReadMessage["content"] }]
  })

export interface AuditTally {
  readonly planted: Map<FabricationName | DistortionName | InventionKind, { planted: number; caught: number }>
  /** The first few missed claims, for a reader to judge. */
  readonly missed: string[]
}

export const emptyTally = (): AuditTally => ({ planted: new Map(), missed: [] })

const MAX_MISSED = 20

/** Plants each kind of claim that fits in the summary and records the audit's findings. Returns the number of planted claims. */
export function plantAll(
  range: SeedRange,
  { summary, seed, tally }: { summary: string; seed: number; tally: AuditTally },
): number {
  const before = findings(range.audit(summary))
  let planted = 0
  for (const name of FABRICATION_NAMES) {
    const lied = addFabrication(name, { text: summary, facts: range.facts, seed })
    if (!lied) continue
    planted++
    const row = tally.planted.get(name) ?? { planted: 0, caught: 0 }
    tally.planted.set(name, row)
    row.planted++
    if ([...findings(range.audit(lied.text))].some((finding) => !before.has(finding))) row.caught++
    else if (tally.missed.length < MAX_MISSED) tally.missed.push(`${name}: ${lied.claim ?? `without ${lied.truth}`}`)
  }
  return planted
}

const MAX_OF_A_KIND = 8 // positions in one summary, spread over it

/** Distorts a model's own summary at some of the positions that allow it, one at a time. */
export function distortAll(range: SeedRange, summary: string, { planted, missed }: AuditTally): void {
  const before = findings(range.audit(summary))
  const all = findDistortions(summary)
  for (const name of DISTORTION_NAMES) {
    const own = all.filter((each) => each.name === name)
    const row = planted.get(name) ?? { planted: 0, caught: 0 }
    planted.set(name, row)
    for (let at = 0; at < own.length; at += Math.max(1, own.length / MAX_OF_A_KIND)) {
      const { text, distorted } = own[Math.floor(at)]!
      row.planted++
      if ([...findings(range.audit(text))].some((finding) => !before.has(finding))) row.caught++
      else if (missed.length < MAX_MISSED) missed.push(`${name}: ${distorted.trim()}`)
    }
  }
}

/**
 * Puts invented facts into a summary, one at a time, beginning with the kind at `from`. A fact that is only marked as unchecked counts as
 * missed.
 */
export function inventAll(
  range: SeedRange,
  { summary, from, count, tally }: { summary: string; from: number; count: number; tally: AuditTally },
): void {
  const before = findings(range.audit(summary))
  for (let seed = from; seed < from + count; seed++) {
    const kind = INVENTION_KINDS[seed % INVENTION_KINDS.length]!
    const { text, invented } = invent(summary, { kind, seed })
    const row = tally.planted.get(kind) ?? { planted: 0, caught: 0 }
    tally.planted.set(kind, row)
    row.planted++
    const found = range.audit(text)
    if ([...findings(found)].some((finding) => !before.has(finding))) row.caught++
    else {
      const isMarked = found.unchecked.some((claim) => claim.text.includes(invented))
      tally.missed.push(`${kind}${isMarked ? ", marked as unchecked" : ""}: ${invented}`)
    }
  }
}

/** Claims without support in the conversation, and missing facts. */
const findings = ({ claims, facts }: AuditReport): ReadonlySet<string> =>
  new Set([
    ...claims.filter(({ isSupported }) => !isSupported).map((claim) => `${claim.class} ${claim.text}`),
    ...facts.filter(({ isCovered }) => !isCovered).map((fact) => `missing ${fact.class} ${fact.text}`),
  ])
