import { describe, expect, test } from "vitest"
import { openCompacting } from "../../../../test/compacting.ts"
import { SUMMARISER, summariser } from "../../../../test/summariser.ts"
import { memoryStore } from "../../../journal/in-memory/store.ts"
import { toBlocks } from "../../../messages/blocks.ts"
import type { ModelRequest } from "../../../messages/request.ts"

const WINDOW = 60_000
const LONG = "many words ".repeat(3_000)

async function talking() {
  const asked: ModelRequest[] = []
  const model = summariser({ window: WINDOW, onAsked: (request) => asked.push(request) })
  const chat = await openCompacting({ window: WINDOW, store: memoryStore(), summariser: model })
  let answers = 0
  const record = (content: readonly unknown[], stop_reason = "end_turn") =>
    chat.record({
      ...{ id: `msg_${answers++}`, model: SUMMARISER, content, stop_reason },
      usage: { input_tokens: 10_000, output_tokens: 10 },
    })
  const first = await chat.add({ role: "user", content: "Read it." })
  await record([{ type: "tool_use", id: "toolu_a", name: "Read", input: { file_path: "/the/file" } }], "tool_use")
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_a", content: LONG }] })
  await record([{ type: "text", text: "Done." }])
  return { chat, asked, first }
}

const promptOf = (request: ModelRequest) => JSON.stringify(toBlocks(request.messages.at(-1)!.content).at(-1))

describe("a summary by a fork", () => {
  test("L4-16 from a message on: the prompt says where its part begins, also where that is a call without words", async () => {
    const { chat, asked, first } = await talking()
    await chat.compact({ range: { kind: "from", uuid: first } })
    expect(promptOf(asked[0]!)).toContain("begin with the one that starts like this")
    expect(promptOf(asked[0]!)).toContain("/the/file")
  })

  test("L4-13 it is skipped where the prompt does not fit, with all that hooks and people want in it", async () => {
    const { chat, asked } = await talking()
    await chat.compact({ instructions: "Keep this in mind. ".repeat(15_000) })
    expect(asked).toHaveLength(1)
    expect(JSON.stringify(asked[0]!.messages)).not.toContain("strata-fork")
  })
})
