import { expect, test } from "vitest"
import { lastingRules } from "../../../core/src/views/record/lasting-rules.ts"
import { makeRuleChat } from "./chats.ts"

test("L5-14 of the rules in chats of held-out sentences at least 90% are found, and at least 90% of what is found are rules", () => {
  let [told, found, all] = [0, 0, 0]
  for (let seed = 9_001; seed < 9_021; seed++) {
    const { messages, rules } = makeRuleChat({ seed, part: "held-out" })
    const kept = messages.filter(({ speaker }) => speaker === "user").flatMap(({ text }) => lastingRules(text))
    told += rules.length
    found += rules.filter((rule) => kept.includes(rule)).length
    all += kept.length
  }
  expect(found / told).toBeGreaterThanOrEqual(0.9)
  expect(found / all).toBeGreaterThanOrEqual(0.9)
})
