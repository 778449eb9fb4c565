import { PromptCache } from "@strata/sim"

const cache = new PromptCache()
const items = [
  { hash: "system", tokens: 2000, breakpoint: "5m" as const },
  { hash: "question", tokens: 10 },
]
const outcome = cache.lookUp({ items, scope: "work/claude-opus-5", minimum: 512, now: 0 })
cache.commit(outcome) // the response has begun: { read: 0, write5m: 2000, write1h: 0, uncached: 10 }
