import { test } from "vitest"
import { workload } from "../../test/workloads.ts"
import { NOTHING, STRATA } from "./policies.ts"
import { replay } from "./replay.ts"
const PRICE = { input: 4, output: 20, cacheWrite5m: 5, cacheWrite1h: 8, cacheRead: 0.4 }
const MODELS = { helped: { window: 1_000_000, price: PRICE, accepts: { contextManagement: true, overflowingOutput: true } } }
test("scratch", async () => {
  for (const [a, b] of [[30_000, 10_000], [10_000, 30_000], [20_000, 20_000]]) {
    const rounds = Array.from({ length: 120 }, (_, i) => ({ tool: i % 2 ? "Bash" : "mcp__x", result: i % 2 ? a! : b! }))
    const entries = workload(rounds, { model: "helped" })
    const { reports } = await replay({ entries, model: "helped" }, { policies: [NOTHING, STRATA], models: MODELS })
    for (const r of reports) {
      console.log(a, b, r.policy, r.totals.dollars, r.totals.peak, r.totals.hitRatio, r.actions.length)
    }
    console.log(reports[1]!.actions.map((x) => `${x.turn}:${x.tokens}`).join(" "))
    console.log(reports[1]!.requests.filter((_, i) => i % 10 === 0).map((r) => r.context).join(" "))
  }
})
