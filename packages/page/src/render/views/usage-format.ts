/** Formats of costs in the tables of the usage pages. A cost with `+` is at least this much, and an unknown one is never $0. */
import { formatDollars } from "@strata/core/base"
import type { UsageCost, UsageReport, UsageRow } from "../../usage/report-data.ts"
import { atLeastNote, formatAtLeast, reasonsForParts } from "../../usage/sentences.ts"
import { html, type Markup, shorten } from "../markup.ts"

export function formatCost({ dollars: paid, unpriced, requests }: PricedRequests): string {
  if (requests === 0) return "-"
  return unpriced === requests ? "unknown" : formatAtLeast(paid, unpriced > 0)
}

export type PricedRequests = Pick<UsageCost, "requests" | "unpriced" | "dollars">

export interface MissCost {
  readonly count: number
  readonly unpriced: number
  readonly dollars: number
}

export function formatMissCost({ count, unpriced, dollars: paid }: MissCost): string {
  if (count > 0 && unpriced === count) return "unknown"
  return formatAtLeast(paid, unpriced > 0)
}

export function formatRowCost({ dollars: paid, cost }: UsageRow): string {
  if (cost === "none") return "-"
  if (cost === "unknown" || cost === "simulated") return cost
  return formatAtLeast(paid, cost !== "known")
}

export function formatRowMisses({ lost, cost }: UsageRow): string {
  if (lost.count === 0) return "-"
  return cost === "unknown" || lost.dollars === 0 ? "unknown" : formatDollars(lost.dollars)
}

const MAX_TITLE = 90

export const conversationTitle = ({ title, id }: UsageRow): string => shorten(title ?? id, MAX_TITLE) || id

export const conversationLink = (row: UsageRow, base: string, view = ""): Markup =>
  html`<a href="${base}/c/${row.key}${view}">${conversationTitle(row)}</a>`

/** The last directory of a path, which names a project in little space. */
export const projectName = (path: string): string => path.split(/[\\/]/).findLast(Boolean) ?? path

/** A bar for a share from 0 to 1. */
export const shareBar = (share: number): Markup =>
  html`<svg class="bar" width="100%" height="4" aria-hidden="true"><rect width="${Math.min(100, 100 * share).toFixed(1)}%" height="4" rx="2"/></svg>`

/** Explains `+`, if some cost of the report has it. */
export function plusNote(report: UsageReport, others: readonly string[] = []): Markup | undefined {
  const note = atLeastNote([...reasonsForParts(report), ...others])
  return note === undefined ? undefined : html`<p class="soft">${note}</p>`
}
