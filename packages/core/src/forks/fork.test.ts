import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { scratchDirectory, testContext } from "../../test/tool-context.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { type Block, isToolResult, textOf, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { validateRequest } from "../messages/validate/validator.ts"
import type { Model, ModelResponse, StreamOptions } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"
import { edit } from "../tools/files/edit.ts"
import { read } from "../tools/files/read.ts"
import { FileReads } from "../tools/files/read-state.ts"
import { todoWrite } from "../tools/session/todo-write.ts"
import type { Tool } from "../tools/tool.ts"
import { serialiseRequest } from "../views/context/request.ts"
import { asDirective, FORK_MARKER, type ForkOptions, type ForkParent, forkMessages, isForked, runFork } from "./fork.ts"

const { facts } = findModel("claude-opus-4-6")

/** A model that returns these answers in order and records the requests it received. */
function answering(...answers: readonly (readonly unknown[] | Error)[]) {
  const requests: ModelRequest[] = []
  const streams: StreamOptions[] = []
  const model: Model = {
    name: "claude-opus-4-6",
    provider: "test",
    facts,
    async *stream(request, options = {}) {
      const given = answers[requests.length] ?? [{ type: "text", text: "Done." }]
      requests.push(request)
      streams.push(options)
      if (given instanceof Error) throw given
      const calls = given.some((block) => (block as Block).type === "tool_use")
      for (const block of given as Block[]) if (block.type === "text") yield { type: "text", text: block.text }
      yield { type: "response", response: responseWith(given, calls ? "tool_use" : "end_turn", requests.length) }
    },
  }
  return { model, requests, streams }
}

const responseWith = (content: readonly unknown[], stop_reason: string, index = 0): ModelResponse => ({
  id: `msg_fork_${index}`,
  model: "claude-opus-4-6",
  content,
  stop_reason,
  usage: { input_tokens: 10, output_tokens: 5 },
})

const call = (name: string, input: unknown, id = `toolu_${name}_${JSON.stringify(input).length}`) => ({
  type: "tool_use",
  id,
  name,
  input,
})

const everything: Pick<ForkOptions, "allows" | "maxTurns"> = { allows: () => true, maxTurns: 5 }
const never = new AbortController().signal

function parentFor(model: Model, request: ModelRequest, parts: Partial<ForkParent> = {}): ForkParent {
  return {
    model,
    request,
    tools: [read, edit, todoWrite],
    reads: new FileReads(),
    toolContext: testContext(),
    ...parts,
  }
}

const plain = (): ModelRequest => ({
  model: "claude-opus-4-6",
  max_tokens: 1_000,
  system: "You help.",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
})

/** A conversation that waits for the results of two calls. */
async function waiting(): Promise<{ chat: Conversation; request: ModelRequest; sent: ModelRequest }> {
  const chat = await openTestConversation()
  await chat.add({ role: "user", content: "Look at both." })
  const sent = await chat.prepare()
  await chat.record(
    responseWith(
      [call("Read", { file_path: "a" }, "toolu_a"), call("Read", { file_path: "b" }, "toolu_b")],
      "tool_use",
    ),
  )
  const { messages } = engineOf(chat).views.context.messages()
  return { chat, sent, request: { ...sent, messages: messages as ModelRequest["messages"] } }
}

describe("L7-1 a fork begins with the parent's bytes", () => {
  test("up to the directive a fork's first request is the parent's, and so is every later one", async () => {
    const { request } = await waiting()
    const { model, requests } = answering([call("Read", { file_path: "nowhere" })])
    await runFork(parentFor(model, request, { openCalls: ["toolu_a", "toolu_b"] }), {
      ...everything,
      directive: "Say what is being done.",
      signal: never,
    })
    expect(requests).toHaveLength(2)
    const through = serialiseRequest({ ...request, messages: request.messages.slice(0, 2) }).slice(0, -2)
    for (const sent of requests) {
      expect(serialiseRequest(sent).startsWith(through)).toBe(true)
      expect(validateRequest({ request: sent, model: facts })).toEqual([])
    }
    expect(serialiseRequest(requests[1]!).startsWith(serialiseRequest(requests[0]!).slice(0, -2))).toBe(true)
  })

  test("MSG-14 a block of a newer server stays as it came", async () => {
    const chat = await openTestConversation()
    const zork = { type: "zork", depth: [1, { of: "it" }] }
    await chat.add("Look.")
    await chat.record(responseWith([zork, { type: "text", text: "So." }], "end_turn"))
    await chat.add("And now?")
    const request = await chat.prepare()
    const { model, requests } = answering([call("Read", { file_path: "nowhere" })])
    await runFork(parentFor(model, request), { ...everything, directive: "Say what is being done.", signal: never })
    expect(requests).toHaveLength(2)
    for (const sent of requests) {
      expect(sent.messages[1]!.content[0]).toEqual(zork)
      expect(validateRequest({ request: sent, model: facts })).toEqual([])
    }
  })

  test("L7-2 five at once: the same placeholder for each call, and only the directive differs", async () => {
    const { request } = await waiting()
    const { model, requests } = answering()
    const parent = parentFor(model, request, { openCalls: ["toolu_a", "toolu_b"] })
    const directives = ["one", "two", "three", "four", "five"]
    await Promise.all(
      directives.map((directive) => runFork(parent, { ...everything, maxTurns: 1, directive, signal: never })),
    )
    const texts = requests.map((sent, index) => {
      const text = serialiseRequest(sent)
      const at = text.indexOf(JSON.stringify(`\n\n${directives[index]}\n`).slice(1, -1))
      expect(at).toBeGreaterThan(0)
      return text.slice(0, at)
    })
    expect(new Set(texts).size).toBe(1)
    const last = requests[0]!.messages.at(-1)!
    const results = toBlocks(last.content).filter(isToolResult)
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(["toolu_a", "toolu_b"])
    expect(new Set(results.map(({ content }) => content)).size).toBe(1)
    expect(toBlocks(last.content).at(-1)).toEqual({ type: "text", text: asDirective("one") })
  })

  test("after a user message the directive is its last block; after an answer it is a message of its own", () => {
    const { messages } = plain()
    const behindUser = forkMessages({ messages, openCalls: [], directive: "x" })
    expect(behindUser.messages).toEqual([
      { role: "user", content: [...toBlocks(messages[0]!.content), { type: "text", text: asDirective("x") }] },
    ])
    const answered = [...messages, { role: "assistant" as const, content: [{ type: "text" as const, text: "Hi" }] }]
    const behindAnswer = forkMessages({ messages: answered, openCalls: [], directive: "x" })
    expect(behindAnswer.messages.slice(0, 2)).toEqual(answered)
    expect(behindAnswer.messages[2]).toEqual({ role: "user", content: [{ type: "text", text: asDirective("x") }] })
    expect([behindUser.shared, behindAnswer.shared]).toEqual([0, 1])
  })

  test("property: whichever calls are open, every call has one result, those known stay, and the directive is last", () => {
    const ids = ["toolu_0", "toolu_1", "toolu_2", "toolu_3"]
    fc.assert(
      fc.property(fc.subarray(ids), fc.subarray(ids), fc.boolean(), (asked, known, hasText) => {
        const results = asked
          .filter((id) => known.includes(id))
          .map((id) => ({ type: "tool_result" as const, tool_use_id: id, content: `real ${id}` }))
        const rest = hasText ? [{ type: "text" as const, text: "and this" }] : []
        const messages: ModelRequest["messages"] = [
          { role: "user", content: [{ type: "text", text: "go" }] },
          {
            role: "assistant",
            content: [{ type: "text", text: "so" }, ...asked.map((id) => call("Read", {}, id) as never)],
          },
          ...(results.length + rest.length > 0 ? [{ role: "user" as const, content: [...results, ...rest] }] : []),
        ]
        const forked = forkMessages({ messages, openCalls: asked.filter((id) => !known.includes(id)), directive: "x" })
        const content = toBlocks(forked.messages.at(-1)!.content)
        expect(
          content
            .filter(isToolResult)
            .map(({ tool_use_id }) => tool_use_id)
            .toSorted(),
        ).toEqual(asked)
        expect(content.filter(isToolResult)).toEqual(expect.arrayContaining(results))
        expect(content.at(-1)).toEqual({ type: "text", text: asDirective("x") })
        const request = { ...plain(), messages: forked.messages }
        expect(validateRequest({ request, model: facts })).toEqual([])
      }),
    )
  })

  test("it writes no cache of its own where it asks once, or where the caller says so", async () => {
    const { model, streams } = answering([call("Read", { file_path: "x" })])
    const { request } = await waiting()
    const parent = parentFor(model, request)
    await runFork(parent, { ...everything, directive: "x", signal: never })
    await runFork(parent, { ...everything, directive: "x", signal: never, maxTurns: 1 })
    await runFork(parent, { ...everything, directive: "x", signal: never, writesCache: false })
    expect(streams.map(({ writesCache, sharedMessages }) => [writesCache, sharedMessages])).toEqual([
      [true, 1],
      [true, 1],
      [false, 1],
      [false, 1],
    ])
  })
})

describe("L7-1 what a fork changes stays its own", () => {
  test("reads, todos, directory, view and journal of the parent are the same before and after", async () => {
    const at = scratchDirectory()
    const file = join(at, "a.txt")
    writeFileSync(file, "one\n")
    const { chat, request } = await waiting()
    const reads = new FileReads()
    const toolContext = testContext({ at })
    const state = async () => ({
      reads: JSON.stringify([...reads.entries()]),
      todos: toolContext.todos.get(),
      directory: toolContext.directory.get(),
      view: JSON.stringify(engineOf(chat).views.context.messages()),
      journal: JSON.stringify(await entriesOf(chat)),
    })
    const before = await state()
    const { model, requests } = answering(
      [call("Read", { file_path: file })],
      [
        call("Edit", { file_path: file, old_string: "one", new_string: "two" }),
        call("TodoWrite", { todos: [{ content: "x", status: "pending" }] }),
      ],
    )
    const outcome = await runFork(parentFor(model, request, { reads, toolContext }), {
      ...everything,
      directive: "Edit it.",
      signal: never,
    })
    expect(outcome).toMatchObject({ ended: "answer", text: "Done.", turns: 3 })
    expect(readFileSync(file, "utf8")).toBe("two\n") // it knew from its own read what it edited
    expect(requests).toHaveLength(3)
    expect(await state()).toEqual(before)
  })
})

describe("a fork's calls", () => {
  const resultsOf = ({ messages }: ModelRequest) => toBlocks(messages.at(-1)!.content).filter(isToolResult)

  test("L7-1 each is judged by the caller of the fork: what is refused, unknown, malformed or fails is an error result", async () => {
    const { model, requests } = answering([
      call("Read", { file_path: "missing.txt" }, "toolu_1"),
      call("Edit", { file_path: "a", old_string: "a", new_string: "b" }, "toolu_2"),
      call("Nothing", {}, "toolu_3"),
      call("Read", { file_path: 7 }, "toolu_4"),
    ])
    const asked: string[] = []
    await runFork(parentFor(model, plain()), {
      directive: "x",
      maxTurns: 2,
      signal: never,
      allows: ({ name }, _tool, { kind }) => {
        asked.push(`${name} ${kind}`)
        return name === "Edit" ? "notes only" : true
      },
    })
    expect(asked).toEqual(["Read read", "Edit write"])
    const results = resultsOf(requests[1]!)
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true, true])
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining("does not exist"),
      "Not allowed: notes only",
      "There is no tool named Nothing. The tools are: Read, Edit, TodoWrite.",
      expect.stringContaining("does not fit the tool Read"),
    ])
  })

  test("calls that change nothing run side by side, others one after the other", async () => {
    const log: string[] = []
    const tool = (name: string, readOnly: boolean): Tool => ({
      ...todoWrite,
      name,
      inputSchema: read.inputSchema,
      readOnly,
      question: () => ({ kind: "other", summary: "" }),
      async execute() {
        log.push(`${name} starts`)
        await Promise.resolve()
        log.push(`${name} ends`)
        return { content: "ok" }
      },
    })
    const tools = [tool("Look", true), tool("Change", false)]
    const calls = ["Look", "Look", "Change"].map((name, i) => call(name, { file_path: "x" }, `toolu_${i}`))
    const { model } = answering(calls)
    await runFork(parentFor(model, plain(), { tools }), { ...everything, directive: "x", signal: never })
    expect(log).toEqual(["Look starts", "Look starts", "Look ends", "Look ends", "Change starts", "Change ends"])
  })
})

describe("how a fork ends", () => {
  const directive = "x"

  test("at its turn limit, with the calls of the last answer carried out", async () => {
    const at = scratchDirectory()
    const { model, requests } = answering(
      [call("Edit", { file_path: "new.txt", old_string: "", new_string: "made" })],
      [{ type: "text", text: "never asked" }],
    )
    const parent = parentFor(model, plain(), { toolContext: testContext({ at }) })
    const outcome = await runFork(parent, { ...everything, maxTurns: 1, directive, signal: never })
    expect(outcome).toMatchObject({ ended: "turn-limit", turns: 1 })
    expect(requests).toHaveLength(1)
    expect(readFileSync(join(at, "new.txt"), "utf8")).toBe("made")
  })

  test("with the failure, and everything that was paid for", async () => {
    const boom = new Error("boom")
    const { model } = answering([call("Read", { file_path: "x" })], boom)
    const outcome = await runFork(parentFor(model, plain()), { ...everything, directive, signal: never })
    expect(outcome).toMatchObject({ ended: "failed", error: boom, turns: 1 })
    expect(outcome.responses).toHaveLength(1)
  })

  test("L7-1 when the parent is aborted: before it begins, and between two turns", async () => {
    const stop = new AbortController()
    const { model, requests } = answering([call("Read", { file_path: "x" })])
    const parent = parentFor(model, plain())
    const allows = () => {
      stop.abort()
      return true as const
    }
    expect(await runFork(parent, { directive, allows, maxTurns: 5, signal: stop.signal })).toMatchObject({
      ended: "aborted",
      turns: 1,
    })
    expect(await runFork(parent, { directive, allows, maxTurns: 5, signal: stop.signal })).toMatchObject({
      ended: "aborted",
      turns: 0,
    })
    expect(requests).toHaveLength(1)
  })

  test("what it says can be read while it is written", async () => {
    const { model } = answering([{ type: "text", text: "A summary." }])
    const heard: string[] = []
    const onText = (text: string) => heard.push(text)
    const outcome = await runFork(parentFor(model, plain()), { ...everything, directive, signal: never, onText })
    expect(heard).toEqual([outcome.text])
  })
})

describe("L7-3 no recursion", () => {
  test("a fork of a fork fails with a sentence, and asks no model", async () => {
    const { model, requests } = answering()
    const parent = parentFor(model, plain())
    await runFork(parent, { ...everything, directive: "x", signal: never })
    const inside = parentFor(model, requests[0]!)
    const attempt = runFork(inside, { ...everything, directive: "y", signal: never })
    await expect(attempt).rejects.toMatchObject({ code: "forked-fork" })
    await expect(attempt).rejects.toThrow(/cannot start another fork.*do the work yourself/)
    expect(requests).toHaveLength(1)
  })

  test("only the mark itself counts: not a word about it, not a result that shows it", () => {
    const saying = (text: string) => [{ role: "user" as const, content: [{ type: "text" as const, text }] }]
    expect(isForked(saying(asDirective("x")))).toBe(true)
    expect(isForked(saying(`What does <${FORK_MARKER}> mean?`))).toBe(false)
    expect(isForked(saying(`<${FORK_MARKER}> is a tag`))).toBe(false)
    const shown = { type: "tool_result" as const, tool_use_id: "toolu_1", content: asDirective("x") }
    expect(isForked([{ role: "user", content: [shown] }])).toBe(false)
    expect(textOf([{ type: "text", text: asDirective("$& and $1") }])).toContain("\n\n$& and $1\n")
  })
})
