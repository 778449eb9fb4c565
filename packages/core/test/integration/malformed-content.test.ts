/**
 * Every malformed block at every entry point of a conversation. Each time there is a typed error and nothing is written, or the block is
 * repaired and the repair is recorded. Afterwards the conversation opens, and the simulator accepts its next request.
 */
import Anthropic from "@anthropic-ai/sdk"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { scriptedResponder } from "../../../sim/src/responders/scripted.ts"
import { type Simulator, startSimulator } from "../../../sim/src/start.ts"
import { KEY } from "../../../sim/test/simulator.ts"
import { importTranscript } from "../../../transcripts/src/import/import-file.ts"
import { writeImported } from "../../../transcripts/src/import/into-journal.ts"
import { manualClock, projectName, uuidFrom } from "../../src/base/clock.ts"
import { InvalidContentError } from "../../src/base/errors.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import type { Entry } from "../../src/journal/entries.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import { executeTool } from "../../src/tools/defaults.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { temporaryRoot } from "../journal-files.ts"
import { MALFORMED_BLOCKS, NOT_JSON } from "../malformed-blocks.ts"
import { entriesOf, openTestConversation } from "../open.ts"
import { everyNth } from "../size.ts"
import { testContext } from "../tool-context.ts"

const NEW_TYPES = ["hologram", "constructor", "__proto__", "zork_tool_result"]
let sim: Simulator
let newerSim: Simulator
const accepted = new Set<string>()

beforeAll(async () => {
  sim = await startSimulator({ responder: scriptedResponder([]), bindThinking: "off" }) // the signatures here are invented
  newerSim = await startSimulator({ responder: scriptedResponder([]), bindThinking: "off", newBlockTypes: NEW_TYPES })
})

afterAll(async () => {
  await sim.close()
  await newerSim.close()
})

const clients = new Map<string, Anthropic>()

function clientOf(baseURL: string): Anthropic {
  // an invalid request is never retried; a socket that was idle for seconds may be closed while it is used
  const options = { baseURL, apiKey: KEY, maxRetries: 2, timeout: 60_000, openTelemetry: false } as const
  const client = clients.get(baseURL) ?? new Anthropic(options)
  clients.set(baseURL, client)
  return client
}

/** Sends a request once, because many malformed blocks lead to the same request. */
async function mustBeAccepted(request: ModelRequest, { url } = sim): Promise<void> {
  const body = serialiseRequest(request)
  if (accepted.has(body)) return
  try {
    await clientOf(url).messages.create(request)
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${body.slice(0, 2_000)}`)
  }
  accepted.add(body)
}

const CALL = { type: "tool_use", id: "toolu_1", name: "Look", input: {} }
const isRepair = (entry: Entry) =>
  entry.type === "strata" && (entry.subtype === "repaired" || entry.subtype === "media-withheld")

interface Entering {
  readonly chat: Conversation
  readonly store: Store
  readonly server: Simulator
  readonly enter: () => Promise<unknown>
}

/** Accepts the block, or refuses it with a typed error and writes nothing. Then the conversation continues, here and after a resume. */
async function acceptOrRefuse({ chat, store, server, enter }: Entering): Promise<void> {
  const before = (await entriesOf(chat)).length
  const outcome = await enter().then(
    () => "taken" as const,
    (error: unknown) => {
      expect(error).toBeInstanceOf(InvalidContentError)
      return "refused" as const
    },
  )
  if (outcome === "refused") expect((await entriesOf(chat)).length).toBe(before)
  await goesOn(chat, store, server)
}

async function goesOn(chat: Conversation, store: Store, server = sim): Promise<void> {
  await chat.add("Go on.")
  const request = await chat.prepare()
  await mustBeAccepted(request, server)
  await chat.close()
  const again = await openTestConversation({ store })
  expect(serialiseRequest(await again.prepare())).toBe(serialiseRequest(request))
  await again.close()
}

/** At the small size, a tenth of the blocks, rotating, is tested at every second or third entry point of a kind. */
const WAYS = 10
const numbered = <T>(ways: Readonly<Record<string, T>>) =>
  Object.entries(ways).map(([name, way], at) => [name, way, at] as const)

describe("MSG-14 a malformed block at an entry point", () => {
  const ways: Readonly<Record<string, (chat: Conversation, block: unknown) => Promise<unknown>>> = {
    "add, as the user": (chat, block) => chat.add([{ type: "text", text: "See:" }, block] as never),
    "add, as the assistant": (chat, block) => chat.add({ role: "assistant", content: [block] as never }),
    "add, in a result": (chat, block) =>
      chat.add([{ type: "tool_result", tool_use_id: "toolu_1", content: [block] }] as never),
    enqueue: (chat, block) => chat.enqueue([block] as never),
    record: (chat, block) => chat.record({ content: [{ type: "text", text: "So." }, block] }),
    attach: (chat, block) => chat.attach(block as never),
  }

  test.each(everyNth(numbered(ways), 2))("%s", async (way, enter, at) => {
    for (const { name, block } of everyNth([...MALFORMED_BLOCKS, ...NOT_JSON], WAYS, at)) {
      const store = memoryStore()
      const chat = await openTestConversation({ store })
      await chat.add("Hello.")
      if (way === "add, in a result") await chat.record({ content: [CALL] })
      try {
        // a response may contain types that only its server knows
        const server = way === "record" ? newerSim : sim
        await acceptOrRefuse({ chat, store, server, enter: () => enter(chat, block) })
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
      }
    }
  })

  test("a tool's output", async () => {
    for (const { name, block } of everyNth([...MALFORMED_BLOCKS, ...NOT_JSON], WAYS)) {
      const store = memoryStore()
      const chat = await openTestConversation({ store })
      await chat.add("Hello.")
      await chat.record({ content: [CALL] })
      const tool = { name: "Look", execute: async () => ({ content: [block] }) } as unknown as Tool
      try {
        const { content, isError } = await executeTool(tool, {}, testContext()).catch((error: Error) => ({
          content: error.message,
          isError: true,
        }))
        await chat.add([
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: content as never,
            ...(isError ? { is_error: true } : {}),
          },
        ])
        await goesOn(chat, store)
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
      }
    }
  })
})

const AT = "2026-01-01T00:00:00.000Z"
const line = (n: number, type: string, fields: object): Entry =>
  ({ uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, type, timestamp: AT, ...fields }) as unknown as Entry
const messageEntry = (n: number, role: "user" | "assistant", content: unknown): Entry =>
  line(n, role, { message: { role, content, ...(role === "assistant" ? { id: `msg_${n}` } : {}) } })

describe("MSG-14 a malformed piece that is already in a journal", () => {
  const HELLO = messageEntry(0, "user", [{ type: "text", text: "Hello." }])
  const planted: Readonly<Record<string, (block: unknown) => readonly Entry[]>> = {
    "a block of the user": (block) => [HELLO, messageEntry(1, "user", [{ type: "text", text: "See:" }, block])],
    "a block of the assistant": (block) => [
      HELLO,
      messageEntry(1, "assistant", [{ type: "text", text: "So." }, block]),
    ],
    "a block of a result": (block) => [
      HELLO,
      messageEntry(1, "assistant", [CALL]),
      messageEntry(2, "user", [{ type: "tool_result", tool_use_id: "toolu_1", content: [block] }]),
    ],
    "the content of a result": (block) => [
      HELLO,
      messageEntry(1, "assistant", [CALL]),
      messageEntry(2, "user", [{ type: "tool_result", tool_use_id: "toolu_1", content: block }]),
    ],
    "the content of a message": (block) => [HELLO, messageEntry(1, "assistant", block), messageEntry(2, "user", block)],
    "the message itself": (block) => [
      HELLO,
      line(1, "assistant", { message: block }),
      line(2, "user", { message: block }),
    ],
    "an attachment": (block) => [HELLO, line(1, "attachment", { attachment: block })],
    "the facts of a response": (block) => [
      HELLO,
      line(1, "assistant", {
        message: { role: "assistant", content: "So.", id: block, model: block, usage: block, stop_reason: block },
        timestamp: block,
        asReceived: block,
      }),
    ],
    "the facts of a boundary": (block) => [
      HELLO,
      line(1, "system", { subtype: "compact_boundary", compactMetadata: { preservedMessages: block } }),
      messageEntry(2, "user", "Next."),
    ],
    "a queued message": (block) => [HELLO, { ...messageEntry(1, "user", [block]), isQueued: true } as Entry],
  }

  test.each(everyNth(numbered(planted), 2))("%s", async (place, entries, at) => {
    const store = memoryStore()
    for (const { name, block } of everyNth(MALFORMED_BLOCKS, WAYS, at)) {
      const id = uuidFrom(name)
      try {
        const journal = await store.open({ project: projectName("/nowhere"), id }, { access: "write", create: true })
        await journal.append(entries(block))
        await journal.close()
        const chat = await openTestConversation({ store, id })
        await chat.add("Go on.")
        const request = await chat.prepare()
        await mustBeAccepted(request)
        // a reference to a tool that is not in the request is sent as text, which needs no decision
        const sentAsItIs = serialiseRequest(request).includes(JSON.stringify(block)) || isNamedAsText(block, request)
        if (place.startsWith("a block") && !sentAsItIs) expect((await entriesOf(chat)).filter(isRepair)).not.toEqual([])
        chat.userMessages()
        chat.artifacts()
        chat.workState()
        chat.ledger()
        chat.accounting()
        await chat.close()
        const again = await openTestConversation({ store, id })
        expect(serialiseRequest(await again.prepare())).toBe(serialiseRequest(request))
        await again.close()
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).stack}`, { cause: error })
      }
    }
  })

  test("all of them in one journal file, with right checksums", async () => {
    const { root, remove } = await temporaryRoot()
    const store = fileStore({ root, flush: "never" })
    const journal = await store.open({ project: projectName("/nowhere"), id: "all" }, { access: "write", create: true })
    const blocks = MALFORMED_BLOCKS.flatMap(({ block }) => [block, block])
    await journal.append([
      HELLO,
      ...blocks.map((block, at) => messageEntry(at + 1, at % 2 === 0 ? "assistant" : "user", [block])),
    ])
    await journal.close()
    const chat = await openTestConversation({ store, id: "all" })
    const heard: string[] = []
    chat.on("repaired", ({ repairs }) => heard.push(...repairs.map(({ rule }) => rule)))
    await chat.add("Go on.")
    const request = await chat.prepare()
    await mustBeAccepted(request)
    expect(heard).toContain("malformed-block")
    const branch = await chat.branch((await entriesOf(chat)).findLast(({ type }) => type === "user")!.uuid)
    await chat.close()
    for (const id of ["all", branch]) {
      const again = await openTestConversation({ store, id })
      expect(serialiseRequest(await again.prepare())).toBe(serialiseRequest(request))
      await again.close()
    }
    await remove()
  })
})

const lines = (...all: readonly object[]) => all.map((one) => JSON.stringify(one)).join("\n")

describe("MSG-14 a malformed piece in another program's transcript", () => {
  const claude = (type: string, n: number, content: unknown) => ({
    type,
    uuid: `u${n}`,
    parentUuid: n === 0 ? null : `u${n - 1}`,
    timestamp: AT,
    sessionId: "s1",
    cwd: "/repo",
    message: { role: type, id: `msg_${n}`, model: "claude-x", content },
  })
  const codex = (type: string, payload: object) => ({ timestamp: AT, type, payload })
  const files: Readonly<Record<string, (block: unknown) => string>> = {
    "claude-code": (block) =>
      lines(
        claude("user", 0, "Hello."),
        claude("assistant", 1, [CALL, block]),
        claude("user", 2, [{ type: "tool_result", tool_use_id: "toolu_1", content: [block] }, block]),
        claude("user", 3, block),
      ),
    codex: (block) =>
      lines(
        codex("session_meta", { id: "s1", cwd: "/repo" }),
        codex("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "Hello." }] }),
        codex("response_item", { type: "message", role: "user", content: [block] }),
        codex("response_item", { type: "function_call", call_id: "a", name: "exec", arguments: JSON.stringify(block) }),
        codex("response_item", { type: "function_call_output", call_id: "a", output: block }),
        codex("response_item", { type: "message", role: "assistant", content: [block] }),
        codex("response_item", block as object),
      ),
    pi: (block) =>
      lines(
        { type: "session", version: 3, id: "s1", cwd: "/repo", timestamp: AT },
        { type: "message", id: "a", parentId: null, timestamp: AT, message: { role: "user", content: "Hello." } },
        { type: "message", id: "b", parentId: "a", timestamp: AT, message: { role: "assistant", content: [block] } },
        { type: "message", id: "c", parentId: "b", timestamp: AT, message: { role: "user", content: [block] } },
        {
          type: "message",
          id: "d",
          parentId: "c",
          timestamp: AT,
          message: { role: "toolResult", toolCallId: "x", content: [block] },
        },
      ),
    opencode: (block) =>
      JSON.stringify({
        info: { id: "ses_1", title: "t", directory: "/repo", time: { created: 0 } },
        messages: [
          { info: { id: "u1", role: "user", time: { created: 0 } }, parts: [{ type: "text", text: "Hello." }, block] },
          {
            info: { id: "a1", role: "assistant", modelID: "m", time: { created: 1 } },
            parts: [{ type: "step-start" }, block],
          },
        ],
      }),
    openhands: (block) =>
      lines({
        instance_id: "t",
        history: [
          { action: "message", source: "user", timestamp: AT, args: { content: "Hello." } },
          { action: "message", source: "user", timestamp: AT, args: { content: block } },
          { action: "run", id: 1, timestamp: AT, args: block, tool_call_metadata: block },
          { observation: "run", cause: 1, timestamp: AT, content: block, extras: block },
          block,
        ],
      }),
    "swe-agent": (block) =>
      JSON.stringify({
        history: [
          { role: "user", content: "Hello." },
          { role: "assistant", content: [block], tool_calls: [block], thinking_blocks: [block] },
          { role: "tool", content: [block], tool_call_ids: [block] },
          block,
        ],
        trajectory: [block],
      }),
  }

  test.each(everyNth(numbered(files), 3))("%s", async (format, fileOf, at) => {
    for (const { name, block } of everyNth(MALFORMED_BLOCKS, WAYS, at)) {
      try {
        const store = memoryStore()
        const [imported] = importTranscript({ name: "file", text: fileOf(block) })
        expect(imported!.format).toBe(format)
        await writeImported(imported!, {
          store,
          project: projectName("/nowhere"),
          clock: manualClock(),
          source: "file",
          id: uuidFrom(name),
        })
        const chat = await openTestConversation({ store, id: uuidFrom(name) })
        await chat.add("Go on.")
        await mustBeAccepted(await chat.prepare())
        await chat.close()
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).stack}`, { cause: error })
      }
    }
  })

  test("the report counts what requests leave out or repair", () => {
    const [imported] = importTranscript({ name: "file", text: files["claude-code"]!({ type: "image" }) })
    expect(imported!.report.setAside).toEqual({ "malformed-block": 3 })
    expect(imported!.report.notes.at(-1)).toMatch(/malformed-block 3/)
  })
})

function isNamedAsText(block: unknown, request: Parameters<typeof serialiseRequest>[0]): boolean {
  const { type, tool_name } = (block ?? {}) as { readonly type?: unknown; readonly tool_name?: unknown }
  return type === "tool_reference" && JSON.stringify(request.messages).includes(String(tool_name))
}
