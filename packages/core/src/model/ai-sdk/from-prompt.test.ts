/** Any prompt of the AI SDK survives the conversion in both directions. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../../test/size.ts"
import { fromPrompt, joinMessages, type PromptMessage } from "./from-prompt.ts"
import { inVersion } from "./interface.ts"
import { toCallOptions } from "./prompt.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(30, 150))

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const PDF = Buffer.from("%PDF-1.4 nothing").toString("base64")

const word = fc.string({ maxLength: 12 })
const json = fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)))
const field = fc.constantFrom("itemId", "thoughtSignature", "citations", "other")
const mark = fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" })
const options = fc
  .tuple(
    fc.option(fc.dictionary(field, json, { maxKeys: 2 }), { nil: undefined }),
    fc.option(fc.dictionary(field, json, { maxKeys: 2 }), { nil: undefined }),
    fc.option(mark, { nil: undefined, freq: 4 }),
  )
  .map(([openai, anthropic, cacheControl]) => ({
    ...(openai ? { openai } : {}),
    ...(anthropic || cacheControl ? { anthropic: { ...anthropic, ...(cacheControl ? { cacheControl } : {}) } } : {}),
  }))
const withOptions = <T extends object>(part: fc.Arbitrary<T>) =>
  fc
    .tuple(part, fc.option(options, { nil: undefined }))
    .map(([given, providerOptions]) => (providerOptions ? { ...given, providerOptions } : given))

const signed = fc
  .record({
    type: fc.constant("reasoning"),
    text: word,
    notes: fc.constantFrom<object | undefined>(
      undefined,
      {},
      { anthropic: { signature: "c2ln" } },
      { anthropic: { redactedData: "cmVk" } },
      { anthropic: { signature: "c2ln", extra: 1 } },
      { openai: { itemId: "rs_1", reasoningEncryptedContent: "e" } },
      { anthropic: { signature: "c2ln" }, google: { thoughtSignature: "t" } },
    ),
  })
  .map(({ notes, ...part }) => (notes ? { ...part, providerOptions: notes } : part))

const name = fc.constantFrom("read", "functions.read", "a tool")
const id = fc.constantFrom("call_1", "call_2", "functions.read:0", "toolu_3")
const denied = withOptions(fc.constantFrom({ type: "execution-denied" }, { type: "execution-denied", reason: "No." }))

const filename = fc.constantFrom({}, { filename: "a.txt" })
const media = fc.constantFrom(
  ["image/png", PNG],
  ["image", PNG],
  ["image/*", PNG],
  ["image/svg+xml", "PHN2Zz4="],
  ["application/pdf", PDF],
  ["text/plain", "aGVsbG8="],
  ["text/plain", "/w=="],
  ["audio/mp3", "AAAA"],
) as fc.Arbitrary<[string, string]>
const url = fc.constantFrom("https://example.com/a.png", "https://example.com/b.pdf")
const urlType = fc.constantFrom("image/png", "image", "application/pdf", "text/plain", "video/mp4")

const files = {
  v4: fc.oneof(
    fc.tuple(media, filename).map(([[mediaType, data], more]) => ({
      ...{ type: "file", mediaType, data: { type: "data", data } },
      ...more,
    })),
    fc.tuple(urlType, url, filename).map(([mediaType, at, more]) => ({
      ...{ type: "file", mediaType, data: { type: "url", url: new URL(at) } },
      ...more,
    })),
    fc.tuple(word, filename).map(([text, more]) => ({
      ...{ type: "file", mediaType: "text/plain", data: { type: "text", text } },
      ...more,
    })),
    fc.constant({ type: "file", mediaType: "image/png", data: { type: "reference", reference: { openai: "file_1" } } }),
  ),
  v3: fc.oneof(
    fc.tuple(media, filename).map(([[mediaType, data], more]) => ({ ...{ type: "file", mediaType, data }, ...more })),
    fc.tuple(urlType, url).map(([mediaType, at]) => ({ type: "file", mediaType, data: new URL(at) })),
  ),
}
const items = {
  v4: files.v4,
  v3: fc.oneof(
    fc.tuple(media, filename).map(([[mediaType, data], more]) => ({ type: "file-data", mediaType, data, ...more })),
    media.map(([mediaType, data]) => ({ type: "image-data", mediaType, data })),
    fc.tuple(urlType, url).map(([mediaType, at]) => ({ type: "file-url", mediaType, url: at })),
    url.map((at) => ({ type: "file-url", url: at })),
    url.map((at) => ({ type: "image-url", url: at })),
    fc.constant({ type: "file-id", fileId: "file_1" }),
    fc.constant({ type: "image-file-id", fileId: { openai: "file_1" } }),
  ),
}

const text = withOptions(fc.record({ type: fc.constant("text"), text: word }))
const custom = withOptions(fc.constant({ type: "custom", kind: "openai.compaction" }))

function messages(version: "v3" | "v4"): fc.Arbitrary<PromptMessage> {
  const file = withOptions<object>(files[version])
  const item = fc.oneof(text, withOptions<object>(items[version]), withOptions(fc.constant({ type: "custom" })))
  const output = fc.oneof<fc.Arbitrary<object>[]>(
    withOptions(fc.record({ type: fc.constantFrom("text", "error-text"), value: word })),
    withOptions(fc.record({ type: fc.constantFrom("json", "error-json"), value: json })),
    denied,
    fc.record({ type: fc.constant("content"), value: fc.array(item, { maxLength: 3 }) }),
  )
  const result = withOptions(fc.record({ type: fc.constant("tool-result"), toolCallId: id, toolName: name, output }))
  const call = withOptions(
    fc.record(
      { type: fc.constant("tool-call"), toolCallId: id, toolName: name, input: json, providerExecuted: fc.boolean() },
      { requiredKeys: ["type", "toolCallId", "toolName", "input"] },
    ),
  )
  const approval = withOptions(
    fc.record(
      { type: fc.constant("tool-approval-response"), approvalId: word, approved: fc.boolean(), reason: word },
      { requiredKeys: ["type", "approvalId", "approved"] },
    ),
  )
  const reasoningFile = fc.constant({
    type: "reasoning-file",
    mediaType: "image/png",
    data: { type: "data", data: PNG },
  })
  const list = (...parts: fc.Arbitrary<object>[]) => fc.array(fc.oneof(...parts), { minLength: 1, maxLength: 5 })
  const of = (role: string, content: fc.Arbitrary<unknown>) => fc.record({ role: fc.constant(role), content })
  const assistant =
    version === "v4"
      ? list(text, file, signed, call, result, custom, reasoningFile)
      : list(text, file, signed, call, result)
  return withOptions(
    fc.oneof(
      of("system", word),
      of("user", list(text, file)),
      of("assistant", assistant),
      of("tool", list(result, approval)),
    ),
  ) as fc.Arbitrary<PromptMessage>
}

/** Converts URLs to text for comparison. */
const comparable = (value: unknown) => JSON.parse(JSON.stringify(value))

describe("BEY-8 a prompt as messages of the Messages API, and back", () => {
  test("text and calls of an answer that come as messages of their own are one message", () => {
    const text = { type: "text", text: "I look." }
    const call = { type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }
    const asked = { role: "user", content: [{ type: "text", text: "Look." }] }
    const apart = [asked, { role: "assistant", content: [text] }, { role: "assistant", content: [call] }]
    expect(fromPrompt(apart)).toEqual(fromPrompt([asked, { role: "assistant", content: [text, call] }]))
  })

  test("results that come as messages of their own are one message, with the options of each", () => {
    const mark = { anthropic: { cacheControl: { type: "ephemeral" } } }
    const result = (id: string, more = {}) => {
      const output = { type: "text", value: `Seen ${id}.` }
      return { type: "tool-result", toolCallId: id, toolName: "look", output, ...more }
    }
    const ids = ["c1", "c2", "c3"]
    const calls = ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} }))
    const asked = [
      { role: "user", content: [{ type: "text", text: "Look." }] },
      { role: "assistant", content: calls },
    ]
    const apart = ids.map((id, at) => ({
      ...{ role: "tool", content: [result(id)] },
      ...(at > 0 ? { providerOptions: mark } : {}),
    }))
    const content = [result("c1"), result("c2", { providerOptions: mark }), result("c3")]
    const together = { role: "tool", content, providerOptions: mark }
    expect(fromPrompt([...asked, ...apart])).toEqual(fromPrompt([...asked, together]))
    expect(fromPrompt([...asked, ...apart]).messages).toHaveLength(3)
  })

  test.each(["v3", "v4"] as const)("any prompt of version %s comes back as it was sent", (version) => {
    fc.assert(
      fc.property(fc.array(messages(version), { maxLength: 6 }), (prompt) => {
        const body = comparable(fromPrompt(prompt))
        expect(comparable(fromPrompt(prompt))).toEqual(body)
        const back = toCallOptions({ model: "m", max_tokens: 1, ...body }, "anthropic.messages").prompt
        expect(comparable(inVersion(back, version))).toEqual(comparable(joinMessages(prompt)))
      }),
      { numRuns: RUNS },
    )
  })
})
