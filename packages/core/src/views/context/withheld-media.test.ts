import { expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import type { Block } from "../../messages/blocks.ts"
import { MEDIA_LIMITS } from "../../messages/media.ts"

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }
const images = (count: number) => Array<Block>(count).fill(image)

/** Two messages with this many images, and a response with thinking between them. Returns what was withheld and dropped. */
async function decisions(model: string, [first, second]: readonly [number, number]) {
  const chat = await openTestConversation({ model })
  await chat.add({ role: "user", content: images(first) })
  await chat.prepare()
  await chat.record({
    id: "msg_1",
    model,
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "seen" },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 5 },
  })
  await chat.add({ role: "user", content: images(second) })
  const request = JSON.stringify(await chat.prepare())
  const made = (await entriesOf(chat)).flatMap((entry) =>
    entry.type === "strata" && /withheld|dropped/.test(entry.subtype) ? entry.subtype : [],
  )
  return { made, thinks: request.includes("signature") }
}

test("CACHE-6 an image that is no longer sent takes the bound thinking after it with it; one that was never sent does not", async () => {
  const max = MEDIA_LIMITS.imagesPerRequest
  expect(await decisions("claude-opus-5-5", [2, max])).toEqual({
    made: ["media-withheld", "thinking-dropped"],
    thinks: false,
  })
  expect(await decisions("claude-opus-4-6", [2, max])).toEqual({ made: ["media-withheld"], thinks: true })
  expect(await decisions("claude-opus-5-5", [1, max - 1])).toEqual({ made: [], thinks: true })
})
