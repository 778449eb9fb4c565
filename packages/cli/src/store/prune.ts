/** `strata store prune`: removes data that exceeds the limits of age or size, and reports it. */
import { type PruneReport, pruneStore } from "@strata/core/memory"
import { storeFrom } from "@strata/core/store"
import { parseAge } from "../archive/erase.ts"
import { formatBytes } from "../archive/page.ts"
import { type CommandCall, UsageError } from "../command.ts"
import { formatNumber, pluralize } from "../display/numbers.ts"
import { withProgress } from "../display/progress.ts"
import { escapeForTerminal, jsonForTerminal } from "../display/visible.ts"

const DONE = 0
const DAY_MS = 24 * 60 * 60 * 1000
const MAX_NAMED = 20
const UNITS: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

export interface PruneOptions {
  readonly olderThan: string | undefined
  readonly largerThan: string | undefined
  readonly dryRun: boolean
  readonly json: boolean
}

export async function prune({ env, terminal }: CommandCall, given: PruneOptions): Promise<number> {
  const { olderThan, largerThan, dryRun, json } = given
  if (olderThan === undefined && largerThan === undefined)
    throw new UsageError("Say what may go: --older-than 90d, --larger-than 10GB, or both.")
  const before = olderThan === undefined ? undefined : new Date(Date.now() - parseAge(olderThan) * DAY_MS)
  const maxBytes = largerThan === undefined ? undefined : parseSize(largerThan)
  const store = storeFrom({ env })
  const report = await withProgress(terminal, "Looking for what is old", () =>
    pruneStore(store, { dryRun, ...(before ? { before } : {}), ...(maxBytes === undefined ? {} : { maxBytes }) }),
  )
  terminal.print(
    json
      ? `${jsonForTerminal({ dryRun, ...report }, 2)}\n`
      : `${prunePage(report, { dryRun, where: store.description }).map(escapeForTerminal).join("\n")}\n`,
  )
  return DONE
}

function parseSize(text: string): number {
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)\s*([KMGT]B)$/i.exec(text.trim()) ?? []
  if (count === undefined) throw new UsageError(`--larger-than must be a size such as 500MB or 10GB, not "${text}".`)
  return Number(count) * UNITS[unit.toUpperCase()]!
}

interface PrunePageInput {
  readonly dryRun: boolean
  /** Description of the store with its tenant, so that the output of a cron job identifies it. */
  readonly where: string
}

function prunePage(report: PruneReport, { dryRun, where }: PrunePageInput): readonly string[] {
  const { conversations, subAgents, bytes: size, messages, sums, removed, open } = report
  const went = dryRun ? "would go" : "went"
  const rest = removed.length > MAX_NAMED ? [`  and ${formatNumber(removed.length - MAX_NAMED)} more`] : []
  return [
    `In ${where}:`,
    `${pluralize(conversations, "conversation")} and ${pluralize(subAgents, "sub-agent")} ${went}, ${formatBytes(size)}.`,
    ...removed.slice(0, MAX_NAMED).map((name) => `  ${name}`),
    ...rest,
    `${pluralize(messages, "message")} that everyone had read, and the sums of ${pluralize(sums, "day")} ${went}.`,
    ...(open.length === 0 ? [] : [`Left because it is open: ${open.join(", ")}.`]),
    ...(dryRun ? ["Nothing was changed."] : []),
  ]
}
