import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { everyNth, isWhole } from "../../../core/test/size.ts"
import {
  converse,
  makeProject,
  makeTurn,
  requestOf,
  TEST_TOOLS,
  type TestConversation,
} from "../../test/responder-tools.ts"
import type { Answer, Responder, ResponderMessage } from "../responder.ts"
import { extractiveAnswer } from "./extractive.ts"
import { workerResponder } from "./worker.ts"

const TASKS = [
  "Explain how the parser and the lexer fit together and improve the remarks in both.",
  "Find every place where sizes are computed and check them.",
  "Tidy up the printer.",
]

function callsIn(answers: readonly Answer[]) {
  return answers.flatMap(({ content }) => content).filter((block) => block.type === "tool_use")
}

function textsIn(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ content }) => content).flatMap((block) => (block.type === "text" ? [block.text] : []))
}

function inputsIn(answers: readonly Answer[]): Record<string, string>[] {
  return callsIn(answers).map((call) => ("input" in call ? (call.input as Record<string, string>) : {}))
}

async function workThrough(settings: Parameters<typeof workerResponder>[0], tasks: readonly string[]) {
  using project = makeProject()
  const conversation = converse({ responder: workerResponder(settings), root: project.root })
  for (const task of tasks) await conversation.say(task)
  return JSON.stringify(conversation.messages).replaceAll(project.root, "ROOT")
}

describe("BEY-8 a long run of the worker", () => {
  let project: ReturnType<typeof makeProject>
  let conversation: TestConversation

  beforeAll(async () => {
    project = makeProject()
    const responder = workerResponder({ seed: 7, turns: 60, trouble: 0.25 })
    conversation = converse({ responder, root: project.root })
    for (let round = 0; round < 4; round++) await conversation.say(`${TASKS[round % TASKS.length]} Round ${round}.`)
  })
  afterAll(() => project[Symbol.dispose]())

  test("BEY-8 the worker takes many steps and ends each of its turns with an answer", () => {
    expect(conversation.answers.length).toBeGreaterThan(150)
    const final = conversation.answers.filter((answer) => callsIn([answer]).length === 0)
    expect(final).toHaveLength(4)
    expect(textsIn(final).every((text) => text.startsWith("Done: "))).toBe(true)
  })

  test("BEY-8 the worker's inputs are valid and it calls only offered tools", () => {
    expect(conversation.problems).toEqual([])
  })

  test("BEY-8 the worker uses every tool, several read-only ones at once, thinks and speaks", () => {
    const used = new Set(callsIn(conversation.answers).map(({ name }) => name))
    expect([...used].sort()).toEqual(TEST_TOOLS.map(({ name }) => name).sort())
    expect(
      conversation.answers.some((answer) => callsIn([answer]).filter(({ name }) => name === "Read").length > 1),
    ).toBe(true)
    expect(conversation.answers.some(({ content }) => content[0]?.type === "thinking")).toBe(true)
    expect(textsIn(conversation.answers).length).toBeGreaterThan(40)
  })

  test("BEY-8 the worker's edits change files and most of them apply", () => {
    const source = readFileSync(join(project.root, "src/parser.ts"), "utf8")
    const results = new Map(
      conversation.messages
        .flatMap(({ content }) => content)
        .map((block) => [block.tool_use_id, block.is_error === true]),
    )
    const edits = callsIn(conversation.answers).filter(({ name }) => name === "Edit")
    const failed = edits.filter(({ id }) => results.get(id))
    expect(source).toMatch(/\/\/ note \d+: /)
    expect(edits.length).toBeGreaterThan(20)
    expect(failed.length).toBeGreaterThan(0)
    expect(failed.length).toBeLessThan(edits.length / 3)
  })

  test("BEY-8 the worker reacts to missing files, failing commands and stale edits", () => {
    const text = textsIn(conversation.answers).join("\n")
    expect(text).toMatch(/is not there \(/)
    expect(text).toMatch(/` failed/)
    expect(text).toMatch(/The edit did not apply \(old_string not found/)
    expect(text).toMatch(/Now with the text as it is/)
  })

  test("BEY-8 the worker ticks off its todos", () => {
    const lists = inputsIn(conversation.answers).flatMap(({ todos }) =>
      todos === undefined ? [] : [JSON.stringify(todos)],
    )
    expect(new Set(lists).size).toBeGreaterThan(8)
    expect(lists.at(-1)).toContain('"completed"')
  })

  test("BEY-8 the worker seldom repeats a call", () => {
    const inputs = inputsIn(conversation.answers).map((input) => JSON.stringify(input))
    expect(new Set(inputs).size).toBeGreaterThan(inputs.length * 0.7)
  })

  test("BEY-8 the worker's remarks do not pile up in a file", () => {
    const remarks = readFileSync(join(project.root, "src/lexer.ts"), "utf8").match(/note \d+: /g) ?? []
    expect(remarks.length).toBeLessThan(12)
  })
})

describe("BEY-8 the worker's choices", () => {
  test.runIf(isWhole)("BEY-8 the same seed gives the same bytes, another seed others", async () => {
    const settings = { seed: 3, turns: 15 }
    const first = await workThrough(settings, TASKS.slice(0, 2))
    expect(await workThrough(settings, TASKS.slice(0, 2))).toBe(first)
    expect(await workThrough({ ...settings, seed: 4 }, TASKS.slice(0, 2))).not.toBe(first)
  })

  test.runIf(isWhole)("BEY-8 a larger result size and pace ask for more", async () => {
    const small = await workThrough({ seed: 5, turns: 40, pace: 1, resultSize: 800 }, [TASKS[0]!])
    const large = await workThrough({ seed: 5, turns: 40, pace: 5, resultSize: 20_000 }, [TASKS[0]!])
    expect(large.length).toBeGreaterThan(small.length * 1.5)
  })

  test("BEY-8 the worker's thinking repeats as much of the last results as it is asked to", async () => {
    using project = makeProject()
    const responder = workerResponder({ seed: 5, turns: 12, thoughtSize: 300 })
    const conversation = converse({ responder, root: project.root })
    await conversation.say(TASKS[0]!)
    const seen = conversation.answers
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === "thinking" ? block.thinking.split("What I have just seen:\n").slice(1) : []))
    expect(Math.max(...seen.map((text) => text.length))).toBeGreaterThan(250)
    expect(Math.max(...seen.map((text) => text.length))).toBeLessThanOrEqual(300)
    const results = JSON.stringify(conversation.messages.filter(({ role }) => role === "user"))
    for (const text of seen) expect(results).toContain(JSON.stringify(text.split("\n")[0]).slice(1, -1))
  })

  test("BEY-8 without tools the worker answers, with unknown ones it tries them", async () => {
    const nothing = makeTurn(requestOf([{ role: "user", content: [{ type: "text", text: "Do it." }] }]))
    expect((await workerResponder().answer(nothing)).content).toEqual([
      { type: "text", text: "Done: Do it. No file was changed." },
    ])
    const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    const weather = makeTurn({ ...nothing.request, tools: [{ name: "get_weather", input_schema }] })
    expect(callsIn([await workerResponder().answer(weather)])).toMatchObject([
      { name: "get_weather", input: { city: "Do it." } },
    ])
  })

  test.each([
    ["Tidy up. Never delete a file.", "Done: Tidy up. I will never delete a file. No file was changed."],
    ["Please don't touch docs/.", "I will not touch docs/. No file was changed."],
    ["From now on, always run the tests.", "I will always run the tests. No file was changed."],
  ])("BEY-8 the worker's last words tell a rule from a task: %s", async (text, words) => {
    const turn = makeTurn(requestOf([{ role: "user", content: [{ type: "text", text }] }]))
    expect((await workerResponder().answer(turn)).content).toEqual([{ type: "text", text: words }])
  })

  test("BEY-8 the worker only uses the tools that are offered", async () => {
    using project = makeProject()
    const tools = TEST_TOOLS.filter(({ name }) => name === "Read" || name === "Glob")
    const conversation = converse({
      responder: workerResponder({ turns: 25, trouble: 0.3 }),
      root: project.root,
      tools,
    })
    await conversation.say(TASKS[0]!)
    expect(conversation.problems).toEqual([])
    expect(conversation.answers.length).toBeGreaterThan(15)
  })
})

describe("BEY-8 the worker and its user", () => {
  const correct = async (words: string, later?: string) => {
    using project = makeProject()
    const conversation = converse({ responder: workerResponder({ seed: 11, turns: 40 }), root: project.root })
    await conversation.say(TASKS[0]!, 8)
    const before = conversation.answers.length
    await conversation.say(words, 60)
    if (later !== undefined) await conversation.say(later, 30)
    return conversation.answers.slice(before)
  }

  test.runIf(isWhole)("BEY-8 the worker leaves forbidden paths alone, and says so", async () => {
    const words = "No, leave docs/ alone from now on."
    const after = await correct(words, TASKS[1])
    expect(textsIn(after)[0]).toContain(words)
    const touched = callsIn(after).filter(({ name }) => ["Read", "Edit", "Write", "Bash"].includes(name))
    expect(touched.length).toBeGreaterThan(15)
    const targets = inputsIn(after).map(({ file_path, command }) => file_path ?? command ?? "")
    expect(targets.join("\n")).not.toMatch(/\bdocs\//)
  })

  test("BEY-8 the worker avoids a tool the user forbids", async () => {
    const after = await correct("Please do not use Bash, use Grep instead.")
    expect(callsIn(after).length).toBeGreaterThan(15)
    expect(callsIn(after).some(({ name }) => name === "Bash")).toBe(false)
  })

  test.runIf(isWhole)("BEY-8 the worker edits only where the user allows it", async () => {
    const after = await correct("Only edit files in src/.")
    const changes = inputsIn(after).filter(({ new_string, content }) => (new_string ?? content) !== undefined)
    expect(changes.length).toBeGreaterThan(0)
    expect(changes.every(({ file_path = "" }) => file_path.includes("/src/"))).toBe(true)
  })

  test.runIf(isWhole)(
    "L5-7 the worker writes findings where the user wants them, and also in a later conversation that remembers it",
    async () => {
      using project = makeProject()
      const wish = "From now on, always write findings to docs/FINDINGS.md."
      const file = join(project.root, "docs/FINDINGS.md")
      const responder = workerResponder({ seed: 3, turns: 8, trouble: 0 })
      const earlier = converse({ responder, root: project.root })
      await earlier.say(TASKS[0]!)
      await earlier.say(`No, keep it in one place, please. ${wish}`)
      expect(readFileSync(file, "utf8")).toContain(`For: ${TASKS[0]}`)

      const memory = `<system-reminder>\nThe user's rules and preferences, from earlier conversations:\n14 Nov: ${wish}\n</system-reminder>`
      const messages: ResponderMessage[] = [{ role: "user", content: [{ type: "text", text: memory }] }]
      const later = converse({ responder, root: project.root, messages })
      await later.say(TASKS[1]!)
      expect(textsIn(later.answers).join("\n")).toContain(`You asked: "${wish}"`)
      const [first, second] = TASKS.map((task) => readFileSync(file, "utf8").indexOf(`For: ${task}`))
      expect(first).toBeGreaterThan(0)
      expect(second).toBeGreaterThan(first!)
      expect([...earlier.problems, ...later.problems]).toEqual([])
    },
  )

  test.runIf(isWhole)("BEY-8 the worker stops when the user says stop", async () => {
    const after = await correct("Stop!")
    expect(after).toEqual([{ content: [{ type: "text", text: "Stopped. Nothing further was changed." }] }])
  })
})

describe("BEY-8 the worker after a compaction", () => {
  const summaryMessage = (messages: readonly ResponderMessage[], sections = ""): ResponderMessage => {
    const prompt = {
      role: "user" as const,
      content: [{ type: "text", text: `Summarise this conversation.\n${sections}` }],
    }
    const [summary] = extractiveAnswer(makeTurn(requestOf([...messages, prompt])))?.content ?? []
    const written = summary?.type === "text" ? summary.text : ""
    const text = `This conversation continues an earlier one.\n\nSummary:\n${written}`
    return { role: "user", content: [{ type: "text", text }] }
  }

  const kinds = [
    ["a summary", ""],
    ["notes", "# Current State\n# Task specification\n# Files and Functions\n# Errors & Corrections\n# Worklog"],
  ] as const
  test.each(everyNth(kinds, 2))("BEY-8 the worker continues from %s: task, files and rules", async (_, sections) => {
    using project = makeProject()
    const responder: Responder = workerResponder({ seed: 13, turns: 40 })
    const before = converse({ responder, root: project.root })
    await before.say(TASKS[0]!, 8)
    await before.say("Leave docs/ alone, that is for others.", 8)
    const after = converse({ responder, root: project.root, messages: [summaryMessage(before.messages, sections)] })
    await after.goOn(12)
    expect(after.problems).toEqual([])
    expect(after.answers.length).toBe(12)
    expect(JSON.stringify(inputsIn(after.answers)[0])).toContain("Find where this belongs: Explain how the parser and")
    expect(inputsIn(after.answers).some(({ file_path = "" }) => file_path.includes("/src/"))).toBe(true)
    expect(inputsIn(after.answers).some(({ file_path = "" }) => file_path.includes("/docs/"))).toBe(false)
  })

  test("BEY-8 the worker does not take a rule that a summary quotes last for its task", async () => {
    const summary =
      'This session continues a conversation.\n\n1. Files:\n   - a.ts\n\n2. All User Messages:\n   - "Tidy up the printer."\n   - "Never delete a file."\n\n3. Pending:\n   - none'
    const turn = makeTurn(requestOf([{ role: "user", content: [{ type: "text", text: summary }] }]))
    expect(textsIn([await workerResponder().answer(turn)])).toEqual(["Done: Tidy up the printer. No file was changed."])
  })

  test("BEY-8 the worker ends a task whose start is always out of view", async () => {
    using project = makeProject()
    const responder = workerResponder({ seed: 17, turns: 12 })
    const conversation = converse({ responder, root: project.root })
    await conversation.say(TASKS[2]!, 4)
    let { messages } = conversation
    let rounds = 0
    while (messages.at(-1)!.role === "user" && rounds++ < 60) {
      const next = converse({ responder, root: project.root, messages: [summaryMessage(messages)] })
      await next.goOn(4)
      expect(next.problems).toEqual([])
      messages = next.messages
    }
    expect(messages.at(-1)!.role).toBe("assistant")
  })

  test("BEY-8 the worker does not edit from a result that was cleared or offloaded", async () => {
    using project = makeProject()
    const file_path = join(project.root, "src/parser.ts")
    writeFileSync(file_path, "[cleared]\n")
    const content = [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path } }]
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: "[Old tool result content cleared]" }
    const messages: ResponderMessage[] = [
      { role: "user", content: [{ type: "text", text: TASKS[0]! }] },
      { role: "assistant", content },
      { role: "user", content: [result] },
    ]
    const conversation = converse({
      responder: workerResponder({ trouble: 0 }),
      root: project.root,
      messages,
      tools: TEST_TOOLS.filter(({ name }) => name === "Edit"),
    })
    await conversation.goOn(3)
    expect(callsIn(conversation.answers)).toEqual([])
  })
})
