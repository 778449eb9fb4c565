import { expect, test } from "vitest"
import { runSync } from "../../base/work.ts"
import type { Facts } from "./facts.ts"
import { keepMemories } from "./memories.ts"
import type { OfflineRequest } from "./timeline.ts"

/** Number of steps for extracting memories from this many user messages. */
function stepsFor(messages: number): number {
  const steps = keeping(Array.from({ length: messages }, (_, at) => `What about file-${at}.ts?`))
  let count = 0
  while (!steps.next().done) count++
  return count
}

function keeping(userMessages: readonly string[]) {
  const facts = { userMessages, earlier: [] } as unknown as Facts
  const demand = { prompt: "", calls: [] } as unknown as OfflineRequest
  return keepMemories({ request: { messages: [], tools: [] }, demand, facts })
}

test("BEY-6 memories are looked for message by message, so a turn can come between", () => {
  expect(stepsFor(200)).toBeGreaterThanOrEqual(200)
})

test("L5-4 what a person says for good and where things are; no address in code, and nothing about the moment", () => {
  const userMessages = [
    "I'm vegetarian.",
    "I prefer tables, can you make one?",
    "The runbook is at https://wiki.test/runbook.",
    'I\'m a bit stuck.\n```\nfetch("https://api.test/v2")\n```',
    "r = requests.get('https://api.test/v2')\nI know the address is right, but I get a 403.",
  ]
  expect(runSync(keeping(userMessages))).toEqual({
    kind: "text",
    text: [
      '- user: "I\'m vegetarian."',
      '- feedback: "I prefer tables"',
      '- reference: "The runbook is at https://wiki.test/runbook."',
    ].join("\n"),
  })
})
