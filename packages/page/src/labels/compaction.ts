/** Describes the result and the audit of a compaction, for screens and pages. Pure. */

import { formatNumber, formatPercent, pluralize } from "@strata/core/base"
import { COMPACTION_ROUTE_LABELS, type CompactionRoute } from "@strata/core/policy"
import type { AuditFigures } from "@strata/core/store"

export interface CompactionMetrics {
  /** Absent if unknown, as in old journals and transcripts of other programs. */
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
  readonly route?: string | undefined
  /** Why the planner compacted before the window was full. */
  readonly planned?: string | undefined
  /** Absent if the summary was not checked. */
  readonly audit?: AuditFigures | undefined
}

/** `Compacted: 167,000 to 54,000 tokens, from the notes.` */
export function describeCompaction({ tokensBefore, tokensAfter, route, planned, audit }: CompactionMetrics): string {
  if (tokensAfter === undefined) return "Compacted."
  if (tokensBefore === undefined) return `Compacted to ${formatNumber(tokensAfter)} tokens.`
  const how = route === undefined ? "" : `, ${routeLabel(route)}`
  const checked = audit === undefined ? "" : ` Checked: ${describeAudit(audit)}.`
  const why = planned === undefined ? "" : ` ${planned}`
  return `Compacted: ${formatNumber(tokensBefore)} to ${formatNumber(tokensAfter)} tokens${how}.${why}${checked}`
}

/** Example: `98% of the facts kept, 2 of 40 claims struck, 1 could not be checked, 1 fact added` */
export function describeAudit({ coverage, perClass, unchecked = [], added }: AuditFigures): string {
  const claims = Object.values(perClass.fabrication)
  const checked = claims.reduce((sum, { of }) => sum + of, 0)
  const struck = claims.reduce((sum, { found }) => sum + found, 0)
  return [
    `${formatPercent(coverage, 1)} of the facts kept`,
    `${formatNumber(struck)} of ${pluralize(checked, "claim")} struck`,
    ...(unchecked.length === 0 ? [] : [`${formatNumber(unchecked.length)} could not be checked`]),
    ...(added.length === 0 ? [] : [`${pluralize(added.length, "fact")} added`]),
  ].join(", ")
}

/** Removed claims, unchecked claims and added facts, one line each. Empty if the summary was good. */
export const listAuditFindings = ({ struck, unchecked = [], added }: AuditFigures): readonly string[] => [
  ...(struck.length === 0
    ? []
    : ["Removed from the summary because nothing in the conversation supports it:", ...struck.map(bullet)]),
  ...(unchecked.length === 0
    ? []
    : ["Not checked, because only an image, a document or a page could confirm it:", ...unchecked.map(bullet)]),
  ...(added.length === 0 ? [] : ["Added, because the summary omitted it:", ...added.map(bullet)]),
]

const bullet = (text: string) => `- ${text}`

export const routeLabel = (route: string): string => COMPACTION_ROUTE_LABELS[route as CompactionRoute] ?? `by ${route}`
