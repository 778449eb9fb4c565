/** What is said where a summary that was written in the background could not be used. */
import { expect, test } from "vitest"
import { offline } from "../../../src/layers/4-compaction/summarise/offline.ts"
import { openCompacting } from "../../compacting.ts"
import { playLarge } from "../../large-steps.ts"
import { newPlayer, type Step } from "../../steps.ts"
import { summariser } from "../../summariser.ts"

test("BEY-6, L4-28 summaries that the model wrote in the background and the audit refused are not said to be missing", async () => {
  const window = 32_000
  const model = summariser({ window, summary: () => "Nothing to say." })
  const chat = await openCompacting({
    ...{ window, summariser: model, compaction: { offline: offline() } },
    settings: { switches: { "compact-ahead": true } },
  })
  const said: string[] = []
  chat.on("compaction", (progress) => {
    if (progress.phase === "message") said.push(progress.message)
  })
  const conversation = { window, steps: [], shares: [6], truth: 1, faults: [], notes: undefined }
  const player = newPlayer()
  const answer: Step = {
    ...{ kind: "respond", stop: "end_turn", usage: 0 },
    pieces: [{ blocks: [{ block: "text", text: "done" }], answersFirst: false }],
  }
  for (let at = 1; chat.views.compactions.count === 0 && at < 30; at++) {
    await playLarge(
      chat,
      { kind: "user", content: `Fix the test number ${at} of the parser.` },
      { player, conversation, at },
    )
    await playLarge(chat, answer, { player, conversation, at })
    await chat.settled()
  }
  expect(chat.views.compactions.count).toBe(1)
  expect(said.filter((message) => message.includes("is prepared"))).toHaveLength(1)
  expect(model.asked()).toBeGreaterThan(0)
  const quoted = said.filter((message) => message.includes("quoted from the conversation"))
  expect(quoted).toEqual([expect.stringMatching(/^No summary that a model wrote could be used, so it is quoted/)])
})
