/** How a compaction reads on every screen and page: its result and its audit. Pure. */

import { counted, grouped, percent } from "@strata/core/base"
import { COMPACTION_ROUTE_LABELS, type CompactionRoute } from "@strata/core/policy"
import type { AuditFigures } from "@strata/core/store"

export interface CompactionFigures {
  /** Absent where unknown: in old journals and those of other programs. */
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
  readonly route?: string | undefined
  /** Why the planner compacted before the window was full. */
  readonly planned?: string | undefined
  /** Absent where the summary was not checked. */
  readonly audit?: AuditFigures | undefined
}

/** `Compacted: 167,000 to 54,000 tokens, from the notes.` */
export function compactedSentence({ tokensBefore, tokensAfter, route, planned, audit }: CompactionFigures): string {
  if (tokensAfter === undefined) return "Compacted."
  if (tokensBefore === undefined) return `Compacted to ${grouped(tokensAfter)} tokens.`
  const how = route === undefined ? "" : `, ${routeWords(route)}`
  const checked = audit === undefined ? "" : ` Checked: ${auditWords(audit)}.`
  const why = planned === undefined ? "" : ` ${planned}`
  return `Compacted: ${grouped(tokensBefore)} to ${grouped(tokensAfter)} tokens${how}.${why}${checked}`
}

/** `98% of the facts kept, 2 of 40 claims struck, 1 could not be checked, 1 fact added` */
export function auditWords({ coverage, perClass, unchecked = [], added }: AuditFigures): string {
  const claims = Object.values(perClass.fabrication)
  const checked = claims.reduce((sum, { of }) => sum + of, 0)
  const struck = claims.reduce((sum, { found }) => sum + found, 0)
  return [
    `${percent(coverage, 1)} of the facts kept`,
    `${grouped(struck)} of ${counted(checked, "claim")} struck`,
    ...(unchecked.length === 0 ? [] : [`${grouped(unchecked.length)} could not be checked`]),
    ...(added.length === 0 ? [] : [`${counted(added.length, "fact")} added`]),
  ].join(", ")
}

/** What was struck, what could not be checked and what was added, one line each. Empty where the summary was good. */
export const auditLines = ({ struck, unchecked = [], added }: AuditFigures): readonly string[] => [
  ...(struck.length === 0
    ? []
    : ["Struck from the summary, because the conversation does not say it:", ...struck.map(item)]),
  ...(unchecked.length === 0
    ? []
    : ["Not checked, because only an image, a document or a page could confirm it:", ...unchecked.map(item)]),
  ...(added.length === 0 ? [] : ["Added, because the summary left it out:", ...added.map(item)]),
]

const item = (text: string) => `- ${text}`

export const routeWords = (route: string): string => COMPACTION_ROUTE_LABELS[route as CompactionRoute] ?? `by ${route}`
