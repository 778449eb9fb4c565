import { describe, expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { DecisionEntry } from "../journal/entries.ts"
import type { Block } from "./blocks.ts"
import {
  handleOf,
  listMedia,
  MEDIA_LIMITS,
  type MediaItem,
  type MediaLimits,
  planWithholding,
  withheldStub,
} from "./media.ts"
import type { Message } from "./messages.ts"

/** The first bytes of a PNG: enough to read its size. `padding` adds as many bytes as needed. */
function png(width: number, height: number, padding = 0): string {
  const header = Buffer.alloc(33)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(header)
  header.writeUInt32BE(13, 8)
  header.write("IHDR", 12, "latin1")
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return Buffer.concat([header, Buffer.alloc(padding)]).toString("base64")
}

function pdf(pages: number): string {
  const objects = Array.from({ length: pages }, (_, i) => `${i + 3} 0 obj << /Type /Page /Parent 2 0 R >> endobj\n`)
  const text = `%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n2 0 obj << /Type /Pages >> endobj\n${objects.join("")}%%EOF`
  return Buffer.from(text, "latin1").toString("base64")
}

const image = (data: string, mediaType = "image/png"): Block =>
  ({ type: "image", source: { type: "base64", media_type: mediaType, data } }) as Block
const document = (data: string): Block => ({
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data },
})

const userMessage = (...content: Block[]): Message => ({
  type: "user",
  uuid: "u1",
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content },
})

describe("MSG-11 what a message carries", () => {
  test("images and documents, also inside tool results, with address and size", () => {
    const large = png(300, 40)
    const message = userMessage({ type: "text", text: "look" }, image(large), {
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "text", text: "x" }, document(pdf(3)) as never],
    })
    expect(listMedia(message)).toEqual([
      {
        address: "u1.1",
        kind: "image",
        mediaType: "image/png",
        bytes: large.length, // as sent, in base64
        pixels: { width: 300, height: 40 },
      },
      { address: "u1.2.1", kind: "document", mediaType: "application/pdf", bytes: pdf(3).length, pages: 3 },
    ])
  })

  test("what is sent by reference has no bytes, and what cannot be read has no size", () => {
    const message = userMessage(
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      image(Buffer.from("not a picture").toString("base64")),
    )
    expect(listMedia(message)).toEqual([
      { address: "u1.0", kind: "image", mediaType: "url", bytes: 0 },
      { address: "u1.1", kind: "image", mediaType: "image/png", bytes: 20, isUnreadable: true },
    ])
  })
})

describe("MSG-11 which of them cannot be sent", () => {
  const picture = (address: string, more: Partial<MediaItem> = {}): MediaItem => ({
    address,
    kind: "image",
    mediaType: "image/png",
    bytes: 100,
    pixels: { width: 100, height: 100 },
    ...more,
  })
  const pictures = (count: number, more: Partial<MediaItem> = {}) =>
    Array.from({ length: count }, (_, i) => picture(`p${i}`, more))
  const paper = (address: string, more: Partial<MediaItem> = {}): MediaItem => ({
    address,
    kind: "document",
    mediaType: "application/pdf",
    bytes: 100,
    pages: 1,
    ...more,
  })
  const plan = (items: readonly MediaItem[], change: Partial<MediaLimits> = {}, withheld: readonly string[] = []) =>
    planWithholding(items, new Set(withheld), { ...MEDIA_LIMITS, ...change })
  const addresses = (planned: ReturnType<typeof plan>) => planned.map(({ address }) => address)

  test("at the limits everything is sent", () => {
    const items = [
      picture("a", { bytes: 5 * 1024 * 1024, pixels: { width: 8_000, height: 8_000 } }),
      paper("b", { bytes: 10 * 1024 * 1024, pages: 100 }),
    ]
    expect(plan(items)).toEqual([])
  })

  test.each([
    ["an image of too many bytes", picture("a", { bytes: 5 * 1024 * 1024 + 1 }), "more than 5242880 bytes"],
    ["an image too wide", picture("a", { pixels: { width: 8_001, height: 1 } }), "more than 8000 pixels on a side"],
    ["an image too high", picture("a", { pixels: { width: 1, height: 8_001 } }), "more than 8000 pixels on a side"],
    ["a document of too many bytes", paper("a", { bytes: 32 * 1024 * 1024 + 1 }), "more than 33554432 bytes"],
    ["a document of too many pages", paper("a", { pages: 101 }), "more than 100 pages"],
  ])("%s, and it alone", (_name, item, why) => {
    expect(plan([picture("before"), item, paper("after")])).toEqual([{ address: "a", why }])
  })

  test("with more than 20 images a side of 2,000 pixels is the most", () => {
    const items = [picture("large", { pixels: { width: 2_001, height: 10 } }), ...pictures(19)]
    expect(plan(items)).toEqual([])
    expect(plan([...items, picture("one more")])).toEqual([
      { address: "large", why: "more than 2000 pixels on a side" },
    ])
  })

  test("an image that is withheld anyway does not count towards the 20", () => {
    const items = [
      picture("huge", { pixels: { width: 9_000, height: 10 } }),
      picture("large", { pixels: { width: 2_001, height: 10 } }),
      ...pictures(19),
    ]
    expect(addresses(plan(items))).toEqual(["huge"])
  })

  test("of more than 100 images the newest 100 are sent", () => {
    expect(addresses(plan(pictures(103)))).toEqual(["p0", "p1", "p2"])
    expect(plan(pictures(103))[0]!.why).toBe("a request takes at most 100 images")
  })

  test("an image that breaks several limits is withheld once", () => {
    const planned = addresses(plan(pictures(103, { pixels: { width: 3_000, height: 1 } })))
    expect(new Set(planned).size).toBe(planned.length)
    expect(planned).toHaveLength(103)
  })

  test("all together must fit a request: the oldest go, as few as will do", () => {
    const items = [picture("a", { bytes: 40 }), paper("b", { bytes: 40 }), picture("c", { bytes: 40 })]
    expect(addresses(plan(items, { bytesPerRequest: 120 }))).toEqual([])
    expect(plan(items, { bytesPerRequest: 100 })).toEqual([
      { address: "a", why: "images and documents together are more than 100 bytes" },
    ])
    expect(addresses(plan(items, { bytesPerRequest: 50 }))).toEqual(["a", "b"])
  })

  test("what is sent by reference takes no bytes, so leaving it out would help nothing", () => {
    const items = [picture("url", { bytes: 0 }), picture("a", { bytes: 40 }), picture("b", { bytes: 40 })]
    expect(addresses(plan(items, { bytesPerRequest: 50 }))).toEqual(["a"])
  })

  test("what was withheld before is not looked at again, and does not count", () => {
    const items = [
      picture("gone", { bytes: 6 * 1024 * 1024 }),
      ...pictures(20, { pixels: { width: 3_000, height: 1 } }),
    ]
    expect(plan(items, {}, ["gone"])).toEqual([])
  })

  test.each([
    [
      picture("u1.0"),
      "too big",
      `[image withheld: image/png, 100×100 pixels, 100 bytes: too big. Recall: ${handleOf("u1", 0)}]`,
    ],
    [
      paper("u1.2.1", { pages: 9 }),
      "no",
      `[document withheld: application/pdf, 9 pages, 100 bytes: no. Recall: ${handleOf("u1", 2, 1)}]`,
    ],
  ])("the stub says what it was, why it is not there and how to get it", (item, why, text) => {
    expect(withheldStub(item, why)).toEqual({ type: "text", text })
  })
})

describe("MSG-11 in a conversation", () => {
  const HUGE = image(png(9_000, 10))

  async function follow(chat: Conversation): Promise<DecisionEntry[]> {
    const decisions: DecisionEntry[] = []
    chat.on("entry", ({ entry }) => {
      if (entry.type === "strata" && entry.subtype === "media-withheld") decisions.push(entry)
    })
    return decisions
  }
  const shownIn = (request: { messages: readonly { content: unknown }[] }): Block[] =>
    request.messages.flatMap(({ content }) => content as Block[])
  const isImage = (block: Block) => block.type === "image"

  test("an image that is too large is withheld alone, recorded once, and can be recalled byte for byte", async () => {
    const chat = await openTestConversation()
    const decisions = await follow(chat)
    const uuid = await chat.add({ role: "user", content: [{ type: "text", text: "see" }, HUGE, image(png(10, 10))] })

    const stub = {
      type: "text",
      text: `[image withheld: image/png, 9000×10 pixels, 44 bytes: more than 8000 pixels on a side. Recall: ${handleOf(uuid, 1)}]`,
    }
    const first = await chat.prepare()
    expect(shownIn(first)).toEqual([{ type: "text", text: "see" }, stub, image(png(10, 10))])
    expect(decisions).toMatchObject([
      { subtype: "media-withheld", blocks: [{ address: `${uuid}.1`, why: "more than 8000 pixels on a side" }] },
    ])

    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: "I see one" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 5, output_tokens: 5 },
    })
    await chat.add({ role: "user", content: "and now?" })
    const second = await chat.prepare()
    expect(shownIn(second).slice(0, 3)).toEqual(shownIn(first))
    expect(decisions).toHaveLength(1)
    expect(await chat.recall(`${uuid}.1`)).toEqual(HUGE)
  })

  test("an image inside a tool result is withheld in its place", async () => {
    const chat = await openTestConversation()
    await chat.add({ role: "user", content: "take a picture" })
    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "tool_use", id: "toolu_1", name: "Screenshot", input: {} }],
      stop_reason: "tool_use",
      usage: { input_tokens: 5, output_tokens: 5 },
    })
    const content = [{ type: "text", text: "here" }, HUGE, image(png(5, 5))] as never
    const uuid = await chat.add({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content }],
    })
    const [result] = shownIn(await chat.prepare()).filter(({ type }) => type === "tool_result")
    expect(result).toMatchObject({
      content: [
        { text: "here" },
        { text: expect.stringContaining(`Recall: ${handleOf(uuid, 0, 1)}]`) },
        image(png(5, 5)),
      ],
    })
    expect(await chat.recall(`${uuid}.0.1`)).toEqual(HUGE)
  })

  test("crossing the many-images limit later withholds older large images, by a recorded decision", async () => {
    const chat = await openTestConversation()
    const decisions = await follow(chat)
    const large = await chat.add({ role: "user", content: [image(png(2_500, 10))] })
    await chat.add({ role: "user", content: Array.from({ length: 19 }, () => image(png(10, 10))) })
    expect(shownIn(await chat.prepare()).filter(isImage)).toHaveLength(20)
    expect(decisions).toEqual([])

    await chat.add({ role: "user", content: [image(png(11, 11))] })
    const blocks = shownIn(await chat.prepare())
    expect(blocks.filter(isImage)).toHaveLength(20)
    expect(blocks[0]).toMatchObject({ type: "text", text: expect.stringContaining("more than 2000 pixels") })
    expect(decisions).toMatchObject([{ blocks: [{ address: `${large}.0` }] }])

    await chat.prepare()
    expect(decisions).toHaveLength(1)
    expect(await chat.recall(`${large}.0`)).toEqual(image(png(2_500, 10)))
  })

  test("images in a result that was cleared are not sent, so they do not count towards the limit", async () => {
    const clearOnce = {
      name: "clearing",
      beforeRequest: async () =>
        cleared++ === 0
          ? {
              drafts: [
                { type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" } as const,
              ],
            }
          : undefined,
    }
    let cleared = 0
    const chat = await openTestConversation({ layers: [clearOnce] })
    const decisions = await follow(chat)
    await chat.add({ role: "user", content: "take pictures" })
    await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "tool_use", id: "toolu_1", name: "Screenshot", input: {} }],
      stop_reason: "tool_use",
      usage: { input_tokens: 5, output_tokens: 5 },
    })
    const content = Array.from({ length: 20 }, () => image(png(10, 10))) as never
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] })
    await chat.add({ role: "user", content: [image(png(2_500, 10))] })
    expect(shownIn(await chat.prepare()).filter(isImage)).toEqual([image(png(2_500, 10))])
    expect(decisions).toEqual([])
  })

  test("FLG-3 with everything off nothing is withheld", async () => {
    const chat = await openTestConversation({ env: { STRATA_OFF: "1" } })
    await chat.add({ role: "user", content: [HUGE] })
    expect(shownIn(await chat.prepare())).toEqual([HUGE])
  })
})
