/** What a stretch of a long conversation costs with each policy: generated work, from one size of the whole to another. */
import { ALL_POLICIES, generatedWork, type ReplayReport, replay } from "@strata/transcripts/replay"
import { ECONOMY } from "./variants.ts"

const MODEL = "claude-opus-4-6"
const WINDOW = 1_000_000 // no policy needs to act for the window's sake
const ESTIMATED = 1.35 // tokens by the estimate for one by the server's count, in this work

export interface Stretch {
  /** Tokens of the whole conversation at its first and its last request. */
  readonly from: number
  readonly to: number
}

export interface StretchCost {
  readonly policy: string
  /** Divided by what sending everything costs. */
  readonly cost: number
  /** Of the names that answers used again, the share in view. */
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
