/** The cost of requests through a proxy, compared with a direct connection. */
import type { ConversationStatus } from "@strata/adapters/proxy"
import { formatDollarsOrUnknown, pluralize } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { statusTable } from "./status.ts"

const MAX_WIDTH = 140

export interface ProxyTotals {
  readonly requests: number
  /** `undefined` if a price is unknown. */
  readonly cost: number | undefined
  readonly direct: number | undefined
  readonly passed: { readonly requests: number; readonly cost: number | undefined }
  readonly isObserved: boolean
}

export function sumTotals(rows: readonly ConversationStatus[]): ProxyTotals {
  const passed = rows.flatMap(({ passedThrough }) => passedThrough ?? [])
  return {
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    cost: sum(rows.map(({ cost }) => cost)),
    direct: sum(rows.map(({ directCost }) => directCost)),
    passed: { requests: passed.reduce((all, { requests }) => all + requests, 0), cost: sum(passed.map((p) => p.cost)) },
    isObserved: rows.every(({ isObserved }) => isObserved),
  }
}

const sum = (parts: readonly (number | undefined)[]): number | undefined =>
  parts.includes(undefined) ? undefined : parts.reduce<number>((all, part) => all + part!, 0)

export function costLines(
  rows: readonly ConversationStatus[],
  { style, columns }: Pick<Terminal, "style" | "columns">,
): readonly string[] {
  if (rows.length === 0) return ["Strata: no request passed through the proxy."]
  const { requests, cost, direct, passed, isObserved } = sumTotals(rows)
  const asked = pluralize(requests, "request")
  const first = isObserved
    ? `Strata observed ${asked} and changed nothing. They cost ${formatDollarsOrUnknown(cost)}, the same as direct.`
    : `Strata: ${asked} cost ${formatDollarsOrUnknown(cost)}, Strata's own included. Direct: about ${formatDollarsOrUnknown(direct)} (an estimate).${compareWithDirect(cost, direct)}`
  return [
    style.bold(first),
    ...(passed.requests === 0
      ? []
      : [
          `${pluralize(passed.requests, "request")} (${formatDollarsOrUnknown(passed.cost)}) passed unmanaged after a failure of Strata. --verbose says why.`,
        ]),
    ...(rows.length === 1 ? [] : statusTable(rows, { style, width: Math.min(columns, MAX_WIDTH) })),
  ]
}

function compareWithDirect(cost: number | undefined, direct: number | undefined): string {
  if (cost === undefined || direct === undefined || direct === 0) return ""
  const share = Math.round((1 - cost / direct) * 100)
  return share === 0 ? "" : ` ${Math.abs(share)}% ${share > 0 ? "less" : "more"}.`
}
