/** What the page says about compactions that failed. */
import { systemClock } from "@strata/core/base"
import { expect, test } from "vitest"
import { ask } from "../../../../core/test/integration/agent/agents.ts"
import {
  compactingAgent,
  compactingSimulator,
  MODELS_ONLY,
} from "../../../../core/test/integration/compaction/compacting.ts"
import { MINUTE, rounds } from "../../../../core/test/integration/layers/conversations.ts"
import { LiveConversation } from "../../live/live-conversation.ts"
import { fileSource } from "../../live/live-source.ts"
import { compactionsView } from "./compactions.ts"

test("BEY-10 a failed compaction says what was tried and paid, why it failed, and that everything was kept", async () => {
  const location = { file: await failedThenCompacted() }
  const live = await LiveConversation.open(fileSource(location, systemClock))
  const effects = live.compactionEffects(new Date())
  const page = compactionsView(live, { base: "", conversation: "c", isStrata: false, effects }).toString()
  live.close()
  const headings = [...page.matchAll(/<h2>(.*?) </g)].map(([, heading]) => heading)
  expect(headings).toEqual(["Compaction 1", "Failed compaction", "Failed compaction"])
  const rows = [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, label, words]) => `${label}: ${words}`)
  expect(rows.filter((row) => row.startsWith("tried"))).toEqual(
    [1, 2].map(() => expect.stringMatching(/^tried: A summary by claude-opus-5-5: 4 requests for \$0\.1\d+\.$/)),
  )
  expect(rows).toContain("failed because: There was no summary that could be used.")
  expect(rows.find((row) => row.startsWith("message"))).toContain("the model answered with nothing")
  expect(rows).toContain("kept: Everything: no message left the window, and none was changed.")
  expect(rows.filter((row) => row.startsWith("in a row"))).toEqual([
    expect.stringMatching(/^in a row: 2 failed since the last one that worked\. After 3, none is automatic/),
  ])
  expect(rows.find((row) => row.startsWith("summary"))).toMatch(/from its cache\. It cost \$0\.0\d+\.$/)
})

/** A conversation that could not be compacted twice, because the summaries were empty, and then was. */
async function failedThenCompacted(): Promise<string> {
  let works = false
  const { sim } = await compactingSimulator(rounds(7, 1_000), { summary: () => (works ? undefined : "") })
  const agent = await compactingAgent(sim, { settings: MODELS_ONLY, window: 70_000 })
  const { conversation } = agent
  await ask(agent, "Go.")
  for (const _ of [1, 2]) {
    await expect(conversation.compact()).rejects.toThrow("Nothing was changed")
    sim.clock.advance(MINUTE)
  }
  works = true
  await conversation.compact()
  return conversation.location
}
