import { describe, expect, test } from "vitest"
import { makeTurn, requestOf, TEST_TOOLS } from "../../test/responder-tools.ts"
import { client, simulator } from "../../test/simulator.ts"
import type { Answer, ResponderBlock, ResponderMessage, ResponderRequest } from "../responder.ts"
import {
  extractiveResponder,
  FABRICATION_NAMES,
  type FabricationName,
  fabricatingResponder,
  helpfulResponder,
  MALFORMATIONS,
  type MalformationName,
  malformedResponder,
  responderByName,
  scriptedResponder,
} from "./index.ts"

const hello = (index = 0) =>
  makeTurn({ ...requestOf([{ role: "user", content: [{ type: "text", text: "Hello" }] }]), tools: TEST_TOOLS }, index)

describe("BEY-8 scripted", () => {
  test("BEY-8 a script gives its turns in order: answers, texts, functions", async () => {
    const responder = scriptedResponder([
      "one",
      { content: [], stopReason: "refusal" },
      (turn) => `request ${turn.index}`,
    ])
    expect(await responder.answer(hello())).toEqual({ content: [{ type: "text", text: "one" }] })
    expect(await responder.answer(hello())).toEqual({ content: [], stopReason: "refusal" })
    expect(await responder.answer(hello(2))).toEqual({ content: [{ type: "text", text: "request 2" }] })
    expect(await responder.answer(hello())).toEqual({ content: [{ type: "text", text: "The script ends here." }] })
  })

  test("BEY-8 after the last turn a script ends, repeats or fails, as configured", async () => {
    const repeating = scriptedResponder(["again"], { afterLast: "repeat" })
    expect(await repeating.answer(hello())).toEqual(await repeating.answer(hello()))
    const failing = scriptedResponder(["once"], { afterLast: "fail" })
    await failing.answer(hello())
    await expect(async () => failing.answer(hello())).rejects.toThrow(
      "The script has 1 turn and was asked for one more.",
    )
  })
})

describe("BEY-8 a call without an id", () => {
  test.each([
    { type: "tool_use", name: "Read", input: { file_path: "a.ts" }, id: /^toolu_/ },
    { type: "server_tool_use", name: "web_search", input: { query: "stones" }, id: /^srvtoolu_/ },
  ] as const)("BEY-8 $type gets one from the simulator, another for each call", async ({ id, ...block }) => {
    const sim = await simulator({ responder: scriptedResponder([{ content: [block, block] }]) })
    const tools = [
      { name: "Read", input_schema: { type: "object" as const } },
      { type: "web_search_20250305" as const, name: "web_search" as const },
    ]
    const asked = {
      model: "claude-opus-5",
      max_tokens: 99,
      tools,
      messages: [{ role: "user" as const, content: "Hi" }],
    }
    const { content } = await client(sim).messages.stream(asked).finalMessage()
    const ids = content.flatMap((each) => (each.type === block.type ? [each.id] : []))
    expect(ids).toEqual([expect.stringMatching(id), expect.stringMatching(id)])
    expect(new Set(ids).size).toBe(2)
  })
})

describe("BEY-8 malformed", () => {
  test("BEY-8 every malformation occurs, answers repeat with the seed, and one in four ends the turn", async () => {
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, index) => malformedResponder(3).answer(hello(index))),
    )
    const again = await Promise.all(
      Array.from({ length: 400 }, (_, index) => malformedResponder(3).answer(hello(index))),
    )
    expect(again).toEqual(answers)
    const done = answers.filter(({ content }) => JSON.stringify(content).includes('"Done."'))
    expect(done.length).toBeGreaterThan(60)
    expect(
      new Set(
        answers.map(({ content, stopReason }) => JSON.stringify([content, stopReason]).replace(/toolu_\d+_\d+/g, "id")),
      ).size,
    ).toBeGreaterThan(40)
  })

  test.each(Object.keys(MALFORMATIONS) as MalformationName[])("BEY-8 malformed on request: %s", async (name) => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => malformedResponder(1, [name]).answer(hello(index))),
    )
    expect(answers.some(({ content }) => !JSON.stringify(content).includes('"Done."'))).toBe(true)
  })
})

describe("BEY-8 fabricating", () => {
  const PROMPT = "Write a summary of this conversation inside <summary> tags."
  const call = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input })
  const todos = [
    { content: "Raise the limit", status: "pending" },
    { content: "Tell the others", status: "pending" },
  ]
  const messages: ResponderMessage[] = [
    { role: "user", content: [{ type: "text", text: "Raise the limit to 250 in src/limits.ts." }] },
    {
      role: "assistant",
      content: [
        call("t1", "TodoWrite", { todos }),
        call("t2", "Read", { file_path: "src/limits.ts" }),
        call("t3", "Bash", { command: "npm test" }),
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: "ok" },
        { type: "tool_result", tool_use_id: "t2", content: "1→export const LIMIT = 100" },
        { type: "tool_result", tool_use_id: "t3", content: "1 test failed", is_error: true },
        { type: "text", text: "Keep an eye on the tests as well." },
        { type: "text", text: "Never push to main." },
        { type: "text", text: "Note that readLimits calls parseLimits first." },
        { type: "text", text: PROMPT },
      ],
    },
  ]
  const summaryBy = async (kinds: readonly FabricationName[]) => {
    const responder = fabricatingResponder(extractiveResponder(), kinds)
    const answer: Answer = await responder.answer(makeTurn(requestOf(messages), 5))
    const [block] = answer.content
    return { text: block?.type === "text" ? block.text : "", fabrications: responder.fabrications }
  }

  test.each(FABRICATION_NAMES)("BEY-8 the fabricating responder makes this claim and lists it: %s", async (kind) => {
    const honest = await summaryBy([])
    const { text, fabrications } = await summaryBy([kind])
    expect(honest.fabrications).toEqual([])
    expect(text).not.toBe(honest.text)
    expect(fabrications).toHaveLength(1)
    expect(fabrications[0]).toMatchObject({ kind, request: 5 })
    const [{ truth, claim } = {}] = fabrications
    if (kind.startsWith("drops")) expect(text).not.toContain(truth)
    if (kind.startsWith("invents")) expect(text).toContain(claim)
    if (kind === "changes a number") expect(text).toMatch(/limit to 251 in/)
    if (kind === "renames a file") expect(text).toContain("`src/limits-renamed.ts`")
    if (kind === "claims a failing command passed") expect(text).toContain("`npm test` passed")
    if (kind === "claims done what is open") expect(text).toContain(`[completed] ${truth}`)
  })

  test("BEY-8 the fabricating responder is honest about everything else", async () => {
    const responder = fabricatingResponder(scriptedResponder(["Raise the limit to 250."]))
    expect(await responder.answer(hello())).toEqual({ content: [{ type: "text", text: "Raise the limit to 250." }] })
    expect(responder.fabrications).toEqual([])
  })
})

describe("BEY-8 helpful", () => {
  const ask = (text: string, tools: ResponderRequest["tools"] = TEST_TOOLS) =>
    helpfulResponder().answer(
      makeTurn({ ...requestOf([{ role: "user", content: [{ type: "text", text }] }]), tools }, 0),
    )

  test("BEY-8 it calls the tool a question names, with arguments from the question", async () => {
    expect((await ask("Read src/add.ts and say what is wrong.")).content).toMatchObject([
      { type: "tool_use", name: "Read", input: { file_path: "src/add.ts" } },
    ])
    expect((await ask("Use Bash to run `ls -a`.")).content).toMatchObject([
      { name: "Bash", input: { command: "ls -a" } },
    ])
    const add = { name: "mcp__math__add", input_schema: { properties: { by: { type: "integer" } }, required: ["by"] } }
    expect((await ask("Add 17 to it.", [add])).content).toMatchObject([{ name: add.name, input: { by: 17 } }])
  })

  test.each(["docs/memory.md", "memory.md", "MEMORY.md", "docs/notes.md", "status.md"])(
    "BEY-8 a question about the file %s is not taken for a request for memories, notes or progress",
    async (file_path) => {
      const question = `Use Read on ${file_path}, then write down what it says of memory in a few words.`
      expect((await ask(question)).content).toMatchObject([{ type: "tool_use", name: "Read", input: { file_path } }])
      expect((await ask(`Use Read on ${file_path}`)).content).toMatchObject([{ name: "Read", input: { file_path } }])
    },
  )

  test("BEY-8 a question may name arguments, and what they say names no tool", async () => {
    const properties = { prompt: { type: "string" }, fork: { type: "boolean" }, name: { type: "string" } }
    const agent = { name: "Agent", input_schema: { properties, required: ["prompt"] } }
    const { content } = await ask("Use Agent (prompt: Read a.ts; fork: true; colour: red).", [...TEST_TOOLS!, agent])
    expect(content).toMatchObject([{ type: "tool_use", name: "Agent" }])
    expect(content[0]).toHaveProperty("input", { prompt: "Read a.ts", fork: true })
    const reading = await ask("Use Read (file_path: a.ts; limit: 900).")
    expect(reading.content[0]).toHaveProperty("input", { file_path: "a.ts", limit: 900 })
  })

  test("BEY-8 a part of a word names no tool, and any other question is repeated", async () => {
    expect(await ask("I already know.")).toEqual({ content: [{ type: "text", text: "You said: I already know." }] })
  })

  test("BEY-8 it repeats the result of a tool, unless a question follows the result", async () => {
    const result: ResponderBlock = { type: "tool_result", tool_use_id: "a", content: "42" }
    const answerTo = (content: ResponderMessage["content"]) =>
      helpfulResponder().answer(makeTurn({ ...requestOf([{ role: "user", content }]), tools: TEST_TOOLS }, 0))
    expect(await answerTo([result])).toEqual({ content: [{ type: "text", text: "The tool says: 42" }] })
    expect(await answerTo([result, { type: "text", text: "Hello" }])).toEqual({
      content: [{ type: "text", text: "You said: Hello" }],
    })
  })
})

describe("BEY-8 responders by name", () => {
  test("BEY-8 a responder is found by name; an unknown name or a missing option gets a clear error", () => {
    expect(responderByName("worker", { seed: 4 }).name).toBe("worker")
    expect(responderByName("fabricating").name).toBe("fabricating worker")
    expect(() => responderByName("einstein")).toThrow(
      'There is no responder named "einstein". The responders are: worker, helpful, extractive, fabricating, malformed, scripted, playback.',
    )
    expect(() => responderByName("playback")).toThrow('This responder needs the option "conversation".')
  })
})
