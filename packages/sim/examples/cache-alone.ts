import { PromptCache } from "@strata/sim"

const cache = new PromptCache()
const items = [
  { hash: "system", tokens: 2000, breakpoint: "5m" as const },
  { hash: "question", tokens: 10 },
]
const request = { items, scope: "work/claude-opus-5", minimum: 512, now: 0 }
const first = cache.lookUp(request)
console.log(first.read, first.write5m, first.uncached) // 0 2000 10
cache.commit(first) // the response has begun: others can read its entries
console.log(cache.lookUp(request).read) // 2000
