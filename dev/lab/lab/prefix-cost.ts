/** Cost of a range of a long conversation with each policy: generated work, from one total size to another. */
import { ALL_POLICIES, generatedWork, type ReplayReport, replay } from "@strata/transcripts/replay"
import { ECONOMY } from "./variants.ts"

const MODEL = "claude-opus-4-6"
const WINDOW = 1_000_000 // so large that no policy has to compact
const ESTIMATED = 1.35 // estimated tokens per token of the server's count, in this work

export interface Stretch {
  /** Tokens of the complete conversation at the first and at the last request of the range. */
  readonly from: number
  readonly to: number
}

export interface StretchCost {
  readonly policy: string
  /** Cost divided by the cost of sending everything. */
  readonly cost: number
  /** Share in view of the names that answers used again. */
  readonly inView: number
}

export async function stretchCosts({ from, to }: Stretch): Promise<{ calls: number; costs: readonly StretchCost[] }> {
  const { entries } = generatedWork({ model: MODEL, tokens: Math.round(to * ESTIMATED) })
  const policies = [...ALL_POLICIES, ECONOMY]
  const { reports } = await replay({ entries, model: MODEL }, { window: WINDOW, policies })
  const everything = reports.find(({ policy }) => policy === "none")!
  const within = everything.requests.filter(({ context }) => context >= from && context <= to)
  const turns = new Set(within.map(({ turn }) => turn))
  const costOf = ({ requests }: ReplayReport) =>
    requests.filter(({ turn }) => turns.has(turn)).reduce((sum, { dollars = 0 }) => sum + dollars, 0)
  const costs = reports
    .filter(({ policy }) => policy !== "optimum")
    .map((report) => ({
      policy: report.policy,
      cost: costOf(report) / costOf(everything),
      inView: report.usedAgain.inView / Math.max(1, report.usedAgain.names),
    }))
  return { calls: turns.size, costs }
}
