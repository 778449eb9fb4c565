/** What a new user writes without reading the docs: opening, filling and querying a conversation. */
import { describe, expect, onTestFinished, test } from "vitest"
import { importConversations } from "../../../transcripts/src/import/import-conversations.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { entriesOf, openTestConversation } from "../../test/open.ts"
import { codingTools, mcpServers } from "../agent/tools/toolsets.ts"
import { InvalidContentError } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import { localUser } from "../base/owner.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { textOf, toBlocks } from "../messages/blocks.ts"
import { aiSdkModel, anthropicModel } from "../model/lazy-models.ts"
import { defineTool } from "../tools/define-tool.ts"
import { serialiseRequest } from "../views/context/request.ts"
import { listConversations } from "./list.ts"
import { openConversation } from "./open.ts"

const MODEL = "claude-opus-4-6"
/** Opens a conversation with the library's defaults, except for its storage. */
const openDefault = (options: object = {}) =>
  openTestConversation({ layers: undefined as never, cacheBreakpoints: true, ...options })
const textsOf = (request: { messages: readonly { role: string; content: unknown }[] }) =>
  request.messages.map(({ role, content }) => `${role}: ${textOf(content as string)}`)

describe("options", () => {
  test.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /takes one object with options, not nothing/],
    ["no model", {}, /needs the option "model": a model id such as "claude-opus-5-5"/],
    ["a number as model", { model: 5 }, /option "model" of openConversation\(\) must be a model id .* not 5/],
    ["an empty model", { model: "" }, /option "model" .* not an empty text/],
    [
      "an object that is no client",
      { model: MODEL, client: {} },
      /option "client" .* must be a client of the Anthropic SDK/,
    ],
    ["one message", { model: MODEL, messages: { role: "user" } }, /option "messages" .* must be a list, not an object/],
    [
      "an object that is no store",
      { model: MODEL, store: {} },
      /option "store" .* must be a store, such as memoryStore\(\)/,
    ],
    ["a number as tool", { model: MODEL, tools: [5] }, /^tools\[0\] must be a tool from defineTool\(\), .* not 5\.$/],
    ["a tool without a name", { model: MODEL, tools: [{}] }, /^tools\[0\] must be .* with a name, not an object/],
    [
      "a toolset",
      { model: MODEL, tools: [...codingTools()] },
      /^tools\[0\] is a toolset.*openAgent\(\) opens toolsets/,
    ],
    ["two tools of a name", { model: MODEL, tools: [{ name: "a" }, { name: "a" }] }, /^Two tools are named a: /],
    ["system blocks without text", { model: MODEL, system: [{ type: "image" }] }, /"system" .* a list of text blocks/],
    ["context that is no text", { model: MODEL, context: { a: 5 } }, /"context" .* must be an object of texts/],
    ["a layer that is null", { model: MODEL, layers: [null] }, /"layers" .* must be a list of layers/],
    ["betas that are numbers", { model: MODEL, betas: [5] }, /"betas" .* must be a list of texts/],
    ["a model without a name", { model: { stream() {}, facts: {} } }, /"model" .* not an object/],
    ["a misspelled option", { model: MODEL, tool: [] }, /has no option "tool"\. Did you mean "tools"\?/],
    ["a missing letter", { model: MODEL, sytem: "" }, /has no option "sytem"\. Did you mean "system"\?/],
    ["two swapped letters", { model: MODEL, clcok: 1 }, /has no option "clcok"\. Did you mean "clock"\?/],
    ["an unknown option", { model: MODEL, xyz: 1 }, /has no option "xyz"\. It takes model, client/],
  ])("%s: one sentence names the option", async (_, options, why) => {
    const opening = openConversation(options as never)
    await expect(opening).rejects.toThrow(InvalidOptionError)
    await expect(opening).rejects.toThrow(why)
  })

  test.each<[string, () => unknown, RegExp]>([
    ["listConversations", () => listConversations(5 as never), /^listConversations\(\) takes one object .* not 5\.$/],
    [
      "listConversations, misspelled",
      () => listConversations({ cdw: "a" } as never),
      /has no option "cdw"\. It takes dir, cwd/,
    ],
    [
      "importConversations",
      () => importConversations({} as never),
      /^importConversations\(\) needs the option "file": the path/,
    ],
    [
      "anthropicModel",
      async () => anthropicModel({} as never),
      /^anthropicModel\(\) needs the option "model": a model id/,
    ],
    [
      "anthropicModel, misspelled",
      async () => anthropicModel({ model: MODEL, apikey: "" } as never),
      /Did you mean "apiKey"\?/,
    ],
    [
      "aiSdkModel",
      async () => aiSdkModel({} as never),
      /^aiSdkModel\(\) takes a model of the AI SDK, .* not an object\.$/,
    ],
    [
      "codingTools",
      async () => codingTools({ web: true } as never),
      /option "web" of codingTools\(\) must be an object/,
    ],
    [
      "mcpServers",
      async () => mcpServers({ files: {} } as never),
      /^The MCP server "files" needs a `command` to start, or a `url`/,
    ],
    ["defineTool", async () => defineTool({} as never), /^A tool's `name` must be .* but it is missing\.$/],
    [
      "defineTool, needsApproval",
      async () =>
        defineTool({ name: "a", description: "", inputSchema: {}, execute: () => "", needsApproval: "x" } as never),
      /^The `needsApproval` of the tool a must be true, false or a function, not the text "x"\.$/,
    ],
  ])("%s: one sentence names the option", async (_, call, why) => {
    const calling = (async () => call())()
    await expect(calling).rejects.toThrow(InvalidOptionError)
    await expect(calling).rejects.toThrow(why)
  })

  test("a model may be a model of the AI SDK", async () => {
    const model = {
      specificationVersion: "v4",
      provider: "openai.chat",
      modelId: "gpt-5.5",
      doStream: async () => ({}),
    }
    const chat = await openTestConversation({ model })
    await chat.add("hi")
    expect((await chat.prepare()).model).toBe("gpt-5.5")
  })

  test("options may be an instance of a class", async () => {
    class Options {
      get model() {
        return MODEL
      }
      get store() {
        return memoryStore()
      }
    }
    await using chat = await openConversation(new Options())
    await chat.add("hi")
    expect((await chat.prepare()).model).toBe(MODEL)
  })

  test("a client goes with a model id only", async () => {
    const client = { messages: { create: () => undefined } }
    const model = { name: "mine", provider: "me", facts: {} as never, stream: async function* () {} }
    await expect(openTestConversation({ model: model as never, client })).rejects.toThrow(
      /"client" goes with a model id/,
    )
  })
})

describe("add", () => {
  test("takes text, blocks, one message, or many", async () => {
    const chat = await openTestConversation()
    await chat.add("one")
    await chat.add([{ type: "text", text: "two" }])
    await chat.add({ role: "user", content: "three" })
    await chat.add([
      { role: "assistant", content: "four" },
      { role: "user", content: [{ type: "text", text: "five" }] },
    ])
    expect(textsOf(await chat.prepare())).toEqual(["user: one\ntwo\nthree", "assistant: four", "user: five"])
    expect(chat.userMessages().messages.map(({ text }) => text)).toEqual(["one", "two", "three", "five"])
  })

  test("many messages are written together or not at all, and the bad one is named", async () => {
    const chat = await openTestConversation()
    const adding = chat.add([
      { role: "user", content: "fine" },
      { role: "system", content: "You help." },
    ])
    await expect(adding).rejects.toThrow(InvalidContentError)
    await expect(adding).rejects.toThrow(/messages\[1\] has the role "system"\. Pass it as the option "system"/)
    expect(await entriesOf(chat)).toEqual([])
    await expect(chat.add([])).rejects.toThrow(/the list is empty/)
  })
})

describe("content that no request can carry never reaches the journal", () => {
  const circular: Record<string, unknown> = { type: "text", text: "x" }
  circular.self = circular
  const unusable: readonly [string, unknown, RegExp][] = [
    ["a text block without text", { type: "text" }, /block 0 of its content needs "text"/],
    ["an image without source", { type: "image" }, /needs "source"/],
    ["an unknown block", { type: "zork" }, /has the type "zork", which a message of the user cannot have/],
    ["thinking of the user", { type: "thinking", thinking: "x", signature: "s" }, /has the type "thinking"/],
    ["a call of the user", { type: "tool_use", id: "a", name: "b", input: {} }, /has the type "tool_use"/],
    ["a result without id", { type: "tool_result", content: "x" }, /needs "tool_use_id"/],
    ["a result with a number", { type: "tool_result", tool_use_id: "a", content: 5 }, /neither a text nor a list/],
    [
      "a result with an empty block",
      { type: "tool_result", tool_use_id: "a", content: [{ type: "text" }] },
      /cannot be used: block 0 of its result needs "text"/,
    ],
    ["a block that contains itself", circular, /contains itself/],
  ]

  test.each(unusable)("add: %s", async (_, block, why) => {
    const chat = await openTestConversation()
    const adding = chat.add([block] as never)
    await expect(adding).rejects.toThrow(InvalidContentError)
    await expect(adding).rejects.toThrow(why)
    expect(await entriesOf(chat)).toEqual([])
  })

  test.each<[string, unknown]>([
    ["null", null],
    ["a text", "x"],
    ["no type", {}],
    ["no text", { type: "text" }],
    ["a call without id", { type: "tool_use", name: "b", input: {} }],
  ])("record: %s", async (_, block) => {
    const chat = await openTestConversation()
    await chat.add("hi")
    await expect(chat.record({ content: [block] })).rejects.toThrow(InvalidContentError)
    await chat.record({ content: [{ type: "text", text: "fine" }] })
    expect(textsOf(await chat.prepare())[1]).toBe("assistant: fine")
  })

  test("MSG-14 a block of a newer server is kept, and sent back as it came, also after a resume", async () => {
    const store = memoryStore()
    const chat = await openTestConversation({ store })
    const zork = { type: "zork", depth: [1, { of: "it" }], cache_control: { type: "ephemeral" } }
    const call = { type: "server_tool_use", id: "srv_1", name: "zork_search", input: { q: "x" } }
    const found = { type: "zork_search_tool_result", tool_use_id: "srv_1", content: { hits: 2 } }
    const { cache_control: _, ...sent } = zork
    await chat.add("hi")
    await chat.record({ content: [zork, call, found, { type: "text", text: "ho" }] })
    await chat.add("next")
    const request = await chat.prepare()
    expect(request.messages[1]!.content.slice(0, 3)).toEqual([sent, call, found])
    expect((await entriesOf(chat)).filter((entry) => entry.type === "strata" && entry.subtype === "repaired")).toEqual(
      [],
    )
    await chat.close()
    const again = await openTestConversation({ store })
    expect(JSON.stringify(await again.prepare())).toBe(JSON.stringify(request))
    await expect(again.add([zork] as never)).rejects.toThrow(InvalidContentError)
    await expect(again.add({ role: "assistant", content: [zork] as never })).rejects.toThrow(InvalidContentError)
  })

  test("fields of a response that make no sense count as missing", async () => {
    const chat = await openTestConversation()
    await chat.add("hi")
    await chat.record({
      content: [{ type: "text", text: "ho" }],
      ...({ model: 5, id: 7, stop_reason: 1, context_management: { applied_edits: "x" } } as object),
      usage: { input_tokens: 1e308, output_tokens: 1e308 },
    })
    await chat.add("next")
    expect((await chat.prepare()).messages).toHaveLength(3)
    expect(chat.windowUsage().used).toBeLessThan(1_000)
  })

  test("what the caller changes after the call changes nothing", async () => {
    const chat = await openTestConversation()
    const blocks = [{ type: "text" as const, text: "one" }]
    const adding = chat.add(blocks)
    const response = { content: [{ type: "text", text: "two" }] }
    const recording = chat.record(response)
    blocks[0]!.text = response.content[0]!.text = "changed"
    await Promise.all([adding, recording])
    expect(textsOf(await chat.prepare()).slice(0, 2)).toEqual(["user: one", "assistant: two"])
  })
})

describe("an existing array of messages", () => {
  const messages = [
    { role: "user", content: "Read a." },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "a" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "alpha" }] },
    { role: "assistant", content: "It says alpha." },
  ] as const

  test("comes along, and the conversation continues from it", async () => {
    const chat = await openTestConversation({ messages })
    await chat.add("And b?")
    const request = await chat.prepare()
    expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"])
    expect(request.messages[2]!.content).toEqual([messages[2].content[0]])
    expect(chat.artifacts().read).toEqual(["/nowhere/a"])
  })

  test("is refused for a conversation that already has messages, which stays as it was", async () => {
    const store = memoryStore()
    const first = await openTestConversation({ store, messages })
    const before = (await entriesOf(first)).length
    await first.close()
    await expect(openTestConversation({ store, messages })).rejects.toThrow(
      /already has messages.*Leave it out to continue/,
    )
    const again = await openTestConversation({ store })
    expect(await entriesOf(again)).toHaveLength(before)
  })
})

test("record takes an answer with nothing but content, and says what it cost where usage is there", async () => {
  const chat = await openTestConversation()
  await chat.add("hi")
  await chat.record({ content: [{ type: "text", text: "ho" }] })
  expect(chat.ledger()).toMatchObject({ requests: 0, dollars: 0 })
  expect(chat.workState()).toMatchObject({ answered: true })
  expect(chat.accounting()).toMatchObject({ percent: { human: 50, assistant: 50 } })
  await chat.add("again")
  await chat.record({ content: [{ type: "text", text: "ha" }], usage: { input_tokens: 100_000, output_tokens: 0 } })
  expect(chat.ledger()).toMatchObject({ requests: 1, dollars: 0.5, byModel: [{ model: MODEL }] })
  expect(textsOf(await chat.prepare()).at(-2)).toBe("assistant: ha")
})

test("prepare with a signal that is aborted already writes nothing", async () => {
  const chat = await openTestConversation()
  await chat.add("hi")
  await chat.enqueue("and this")
  const before = await entriesOf(chat)
  await expect(chat.prepare({ signal: AbortSignal.abort() })).rejects.toThrow(/aborted/)
  expect(await entriesOf(chat)).toEqual(before)
})

describe("by default", () => {
  test("CACHE-3 a request carries breakpoints: tools, system, the end of the last request, the newest message", async () => {
    const tools = [{ name: "Read", description: "Reads.", input_schema: { type: "object" as const } }]
    const chat = await openDefault({ tools })
    await chat.add("one")
    await chat.record({ content: [{ type: "text", text: "two" }] })
    await chat.add("three")
    const request = await chat.prepare()
    const marked = (items: readonly object[]) => items.map((item) => "cache_control" in item)
    expect(marked(request.tools!)).toEqual([true])
    expect(marked(toBlocks(request.system as string))).toEqual([true])
    expect(request.messages.flatMap(({ content }) => marked(content as object[]))).toEqual([true, false, true])
  })

  test("CACHE-3 breakpoints that came with the content are taken off, also inside results: never more than four", async () => {
    const cache_control = { type: "ephemeral" as const }
    const chat = await openDefault()
    await chat.add([{ type: "text", text: "a", cache_control }])
    await chat.record({ content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: {} }] })
    await chat.add([
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: [{ type: "text", text: "b", cache_control }],
        cache_control,
      },
    ])
    await chat.add("c")
    const text = serialiseRequest(await chat.prepare())
    expect(text.match(/cache_control/g)).toHaveLength(3)
  })

  test("L1-1 a large result is put aside", async () => {
    const chat = await openDefault()
    await chat.add("go")
    await chat.record({ content: [{ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "x" } }] })
    await chat.add([{ type: "tool_result", tool_use_id: "toolu_1", content: "line\n".repeat(60_000) }])
    expect(serialiseRequest(await chat.prepare()).length).toBeLessThan(10_000)
    expect(chat.ledger().saved.layers).toMatchObject([{ layer: "tool-results", actions: 1 }])
  })

  test("FLG-3 with everything off nothing is added to the request", async () => {
    const chat = await openDefault({ settings: { off: true } })
    await chat.add("one")
    expect(serialiseRequest(await chat.prepare())).not.toContain("cache_control")
  })
})

test("await using closes the conversation, and it is listed with its model and title", async () => {
  const { root: dir, remove } = await temporaryRoot()
  onTestFinished(remove)
  {
    await using chat = await openConversation({
      model: MODEL,
      dir,
      cwd: "/nowhere",
      env: {},
      id: "one",
      title: "First",
    })
    await chat.add("hi")
    await chat.prepare()
  }
  expect(await listConversations({ dir, cwd: "/nowhere" })).toEqual([
    {
      ...{ id: "one", title: "First", model: MODEL, directory: "/nowhere", updated: expect.stringMatching(/^\d{4}-/) },
      ...{ address: { project: "-nowhere_unowned", id: "one" }, isOwned: false },
    },
  ])
  await using again = await openConversation({
    model: MODEL,
    dir,
    cwd: "/nowhere",
    env: {},
    id: "one",
    mustExist: true,
  })
  expect(again.openResult.resumed).toBe(true)
})

test("a message that your program wrote is not the person's", async () => {
  const chat = await openTestConversation()
  await chat.add("mine")
  await chat.add({ role: "user", content: "the program's", isMeta: true })
  expect(chat.userMessages().messages.map(({ text }) => text)).toEqual(["mine"])
})

test("a resume with another model records it, so that the list shows the model asked last", async () => {
  const store = memoryStore()
  for (const model of [MODEL, "claude-opus-5-5"]) {
    const chat = await openTestConversation({ store, model })
    await chat.add("hi")
    await chat.prepare()
    await chat.close()
  }
  const listed = await listConversations({ store, cwd: "/nowhere", owner: localUser })
  expect(listed).toMatchObject([{ model: "claude-opus-5-5" }])
})

describe("layers", () => {
  test("an answer with calls and no stop reason is not final; closing aborts what runs in the background", async () => {
    const ran: string[] = []
    const layer = {
      name: "mine",
      afterQuery: async () => void ran.push("query") as undefined,
      afterResponse: ({ signal }: { signal: AbortSignal }) =>
        new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    }
    const chat = await openTestConversation({ layers: [layer] })
    await chat.add("go")
    await chat.record({ content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: {} }] })
    await chat.close()
    expect(ran).toEqual([])
  })

  test("of messages brought along, only results after the newest answer are decided about", async () => {
    const given: string[] = []
    const layer = {
      name: "mine",
      onToolResults: async (_: unknown, results: readonly { tool_use_id: string }[]) =>
        void given.push(...results.map(({ tool_use_id }) => tool_use_id)) as undefined,
    }
    const round = (id: string) =>
      [
        { role: "assistant", content: [{ type: "tool_use", id, name: "Read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "x" }] },
      ] as const
    const messages = [{ role: "user", content: "go" } as const, ...round("toolu_1"), ...round("toolu_2")]
    await openTestConversation({ layers: [layer], messages })
    expect(given).toEqual(["toolu_2"])
  })
})
