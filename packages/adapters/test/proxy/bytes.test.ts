/** Random bodies as texts, through a managing and an observing proxy: everything without a decision arrives as it was sent. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import { Conversations, type ConversationsOptions } from "../../src/proxy/index.ts"
import { ask, proxy, rawUpstream } from "./raw-upstream.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(20, 500))
const MARK = ',"cache_control":{"type":"ephemeral"}'
const ANSWER = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":2}}`

async function running(options: Partial<ConversationsOptions> = {}, says = { status: 200, text: ANSWER }) {
  const upstream = await rawUpstream((response) => {
    response.writeHead(says.status, { "content-type": "application/json" })
    response.end(says.text)
  })
  const dir = mkdtempSync(join(tmpdir(), "strata-bytes-"))
  const plans = new Conversations({ upstream: upstream.url, cwd: "/nowhere", env: {}, dir, ...options })
  const { url } = await proxy({ upstream: upstream.url, plans })
  onTestFinished(async () => {
    await plans.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const sentOn = async (body: string) => {
    const before = upstream.received.length
    const { status, body: answer } = await ask(`${url}/v1/messages`, {
      headers: { "content-type": "application/json" },
      body,
    })
    const got = upstream.received.slice(before).map((each) => each.body.toString("utf8"))
    return { status, got, answer: answer.toString("utf8") }
  }
  const journals = () =>
    readdirSync(dir, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => readFileSync(join(dir, name), "utf8"))
      .join("")
  return { url, plans, sentOn, journals, upstream }
}

const space = fc.constantFrom("", "", "", " ", "\n", "\r\n\t", "  ")
const number = fc.constantFrom(
  "1234567890123456789",
  "1.10",
  "1e2",
  "-0",
  "1E+2",
  "0.10e-7",
  "7",
  "123456789012345678901.50",
)
const letters = fc.constantFrom(
  "a",
  "\\u00e9",
  "é",
  "\\/",
  '\\"',
  "\\n",
  "\\ud83d\\ude42",
  "🙂",
  "x y",
  "{",
  "]",
  ",",
  "\\\\",
)
const text = fc.array(letters, { maxLength: 6 }).map((parts) => `"t${parts.join("")}"`)
const key = fc.constantFrom('"foo"', '"bar"', '"1"', '"f\\u006fo"', '"user_id"', '"amount"', '"__proto__"')

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    number,
    text,
    fc.constantFrom("true", "null"),
    fc.array(fc.tuple(space, tie("value")), { maxLength: 3 }).map(listText),
    fc.array(fc.tuple(space, key, tie("value")), { maxLength: 3 }).map(objectText),
  ),
}))

function listText(items: readonly (readonly [string, string])[]): string {
  return `[${items.map(([gap, item]) => gap + item).join(",")}]`
}

/** An object with gaps between its parts. */
function objectText(members: readonly (readonly [string, string, string])[]): string {
  return `{${members.map(([gap, name, item]) => `${gap}${name}${gap}:${gap}${item}${gap}`).join(",")}}`
}

const unknown = fc.array(fc.tuple(space, key, value), { maxLength: 2 })
const block = (fields: readonly (readonly [string, string])[]) =>
  fc
    .tuple(space, unknown)
    .map(([gap, more]) => objectText([...fields.map((field) => [gap, ...field] as const), ...more]))

const textBlock = text.chain((answers) =>
  block([
    ['"type"', '"text"'],
    ['"text"', answers],
  ]),
)
const exactInput = fc
  .tuple(number, value)
  .map(([amount, other]) => `{"user_id":1234567890123456789,"amount":1.10,"n":${amount},"v":${other}}`)
const call = exactInput.chain((input) =>
  block([
    ['"type"', '"tool_use"'],
    ['"id"', '"toolu_1"'],
    ['"name"', '"Read"'],
    ['"input"', input],
  ]),
)
const result = fc
  .oneof(
    text,
    textBlock.map((inner) => `[ ${inner} ]`),
  )
  .chain((content) =>
    block([
      ['"type"', '"tool_result"'],
      ['"tool_use_id"', '"toolu_1"'],
      ['"content"', content],
    ]),
  )
const message = (role: string, content: fc.Arbitrary<string>) =>
  fc
    .tuple(space, content, unknown)
    .map(([gap, blocks, more]) => objectText([[gap, '"role"', `"${role}"`], [gap, '"content"', blocks], ...more]))
const blocks = (...all: readonly fc.Arbitrary<string>[]) =>
  fc.tuple(space, ...all).map(([gap, ...each]) => `[${gap}${each.join(`${gap},`)}]`)

/** Whether the client sets `cache_control`, or leaves caching to the server. */
const caching = fc.constantFrom("none", "automatic", "marked")

const body = fc
  .record({
    opening: message("user", fc.oneof(blocks(textBlock), blocks(textBlock, textBlock))),
    plain: message("user", text),
    answer: message("assistant", blocks(textBlock, call)),
    reply: message("user", blocks(result, textBlock)),
    gap: space,
    front: unknown,
    back: unknown,
    temperature: number,
    tool: block([
      ['"name"', '"Read"'],
      ['"input_schema"', '{"type":"object","minimum":1.10}'],
    ]),
    system: blocks(textBlock),
    caching,
    seed: fc.uuid(),
  })
  .map(({ opening, plain, answer, reply, gap, front, back, temperature, tool, system, caching, seed }) => {
    const marked =
      caching === "marked"
        ? `{"role":"user","content":[{"type":"text","text":"on",  "cache_control" :{"type":"ephemeral"}}]}`
        : undefined
    // a plain text cannot carry a cache breakpoint, so it would become a block
    const answers = caching === "none" ? [] : [`{"role":"assistant","content":"yes\\u0021"}`, plain]
    const listed = [
      `{"role":"user","content":[{"type":"text","text":"${seed}"}]}`,
      `{"role":"assistant","content":[{"type":"text","text":"1.0"}]}`,
      opening,
      answer,
      reply,
      ...answers,
      ...(marked ? [`{"role":"assistant","content":"so"}`, marked] : []),
    ]
    const members: [string, string, string][] = [
      ...front,
      [gap, '"model"', '"claude-opus-5-5"'],
      [gap, '"max_tokens"', "1e2"],
      [gap, '"system"', system],
      ...(caching === "automatic"
        ? [[gap, '"cache_control"', '{"type":"ephemeral"}'] as [string, string, string]]
        : []),
      [gap, '"messages"', `[${gap}${listed.join(`${gap},${gap}`)}${gap}]`],
      [gap, '"temperature"', temperature],
      [gap, '"tools"', `[${tool}]`],
      ...back,
    ]
    return { text: objectText(members), caching }
  })

describe("PERM-10 the bytes of a request", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
  const unreadable = [
    '"content":7',
    '"content":{"a":1.10}',
    '"content":null',
    '"content":[7]',
    '"content":[{"text":"no type"}]',
    '"x":1',
    `"content":[{"type":"text","text":"a","x":${deep}}]`,
  ]
  test.each([
    ...unreadable.map((fields) => `[{"role":"user",${fields}}]`),
    '[{"role":7,"content":"a"}]',
    '[{"content":"a"}]',
    "[7]",
    "[null]",
    '{"role":"user"}',
    "7",
    "null",
    '"a"',
    '[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]',
  ])("messages that no one can read pass, and so does the refusal: %#", async (messages) => {
    const refusal = '{"type":"error","error":{"type":"invalid_request_error","message":"messages: no"}}'
    const { sentOn, journals } = await running({}, { status: 400, text: refusal })
    const sent = `{"model":"claude-opus-5-5","max_tokens":1e2, "messages":${messages},"tools":[{"name":"Read"}]}`
    const { status, got, answer } = await sentOn(sent)
    expect([status, answer]).toEqual([400, refusal])
    expect(got).toEqual([sent])
    expect(journals()).toBe("")
  })

  test("a last message of which nothing can be sent passes with the whole list, so that the answer before it is no beginning", async () => {
    const { sentOn } = await running()
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_none","content":"x"}]}'
    const list = `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},${result}]`
    const { got } = await sentOn(
      `{"model":"claude-opus-5-5","max_tokens":50,"messages":${list},"tools":[{"name":"Read","input_schema":{"type":"object"}}]}`,
    )
    expect((JSON.parse(got[0]!) as { messages: unknown[] }).messages).toHaveLength(3)
    expect(got[0]!.replaceAll(MARK, "")).toContain(result)
  })

  test("a text that gets a mark is a block with the text as it was written, and stays one", async () => {
    const { sentOn } = await running()
    const request = (...more: readonly string[]) =>
      `{"system":"\\u0053o 1.0","messages":[${['{"role":"user","content":"caf\\u00e9"}', ...more].join(",")}],"model":"claude-opus-5-5","max_tokens":50,"tools":[{"name":"Read","input_schema":{"type":"object"}}]}`
    const bare = (text = "") => text.replaceAll(MARK, "")
    const system = '{"system":[{"type":"text","text":"\\u0053o 1.0"}],"messages":['
    const first = '{"role":"user","content":[{"type":"text","text":"caf\\u00e9"}]}'
    const { got } = await sentOn(request())
    expect(bare(got[0]).startsWith(system + first)).toBe(true)
    const second = await sentOn(
      request('{"role":"assistant","content":"Done."}', '{"role":"user","content":"\\u0041"}'),
    )
    const answered = `${first},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"\\u0041"}]}]`
    expect(bare(second.got[0]).startsWith(system + answered)).toBe(true)
  })

  test.each([
    { name: "manage", options: {} },
    { name: "observe", options: { observe: true } },
  ])("random bodies arrive as they were sent: $name", async ({ options, name }) => {
    const { sentOn, journals } = await running(options)
    let count = 0
    await fc.assert(
      fc.asyncProperty(body, async ({ text: sent, caching }) => {
        JSON.parse(sent)
        const { status, got } = await sentOn(sent)
        expect(status).toBe(200)
        expect(got).toHaveLength(1)
        // a client without cache breakpoints gets Strata's
        const unmarked = caching === "none" && name === "manage" ? got[0]!.replaceAll(MARK, "") : got[0]!
        expect(unmarked).toBe(sent)
        count++
      }),
      { numRuns: RUNS },
    )
    const exact = journals().split('"input":{"user_id":1234567890123456789,"amount":1.10,').length - 1
    expect(exact).toBe(count)
  })
})
