import { expect, test } from "vitest"
import { factsAboutTheUser } from "../../../packages/core/src/views/record/about-the-user.ts"
import { lastingRules } from "../../../packages/core/src/views/record/lasting-rules.ts"
import { makeRuleChat } from "./chats.ts"
import { makeTalkChat } from "./talk-chats.ts"

test("L5-14 of the rules in chats of held-out sentences at least 90% are found, and at least 90% of what is found are rules", () => {
  let [stated, found, all] = [0, 0, 0]
  for (let seed = 9_001; seed < 9_021; seed++) {
    const { messages, rules } = makeRuleChat({ seed, part: "held-out" })
    const kept = messages.filter(({ speaker }) => speaker === "user").flatMap(({ text }) => lastingRules(text))
    stated += rules.length
    found += rules.filter((rule) => kept.includes(rule)).length
    all += kept.length
  }
  expect(found / stated).toBeGreaterThanOrEqual(0.9)
  expect(found / all).toBeGreaterThanOrEqual(0.9)
})

test("L5-14 of what people say for good between code and passing remarks 80% is found, and 95% of what is found is that", () => {
  const [stated, kept] = [[] as string[], [] as string[]]
  for (let seed = 9_101; seed < 9_121; seed++) {
    const chat = makeTalkChat({ seed, part: "held-out" })
    const texts = chat.messages.filter(({ speaker }) => speaker === "user").map(({ text }) => text)
    const { rules, preferences, facts } = chat.stated
    stated.push(...[...rules, ...preferences, ...facts].map((words) => `${seed} ${words}`))
    kept.push(
      ...texts.flatMap((text) =>
        [...lastingRules(text), ...factsAboutTheUser(text)].map((words) => `${seed} ${words}`),
      ),
    )
  }
  const isStated = (words: string) => stated.some((one) => words.includes(one))
  expect(stated.filter((words) => kept.includes(words)).length / stated.length).toBeGreaterThanOrEqual(0.8)
  expect(kept.filter(isStated).length / kept.length).toBeGreaterThanOrEqual(0.95)
})
