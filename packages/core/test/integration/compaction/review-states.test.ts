/** Compaction combined with typed messages, readers, rewinds, crashes and open calls: requests match the journal. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { installation } from "../../../src/layers/4-compaction/install.ts"
import type { Layer } from "../../../src/layers/layer.ts"
import { type Block, textOf, toBlocks } from "../../../src/messages/blocks.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { type CompactingOptions, openCompacting } from "../../compacting.ts"
import { fixedNotes } from "../../fixed-notes.ts"
import { SUMMARISER, summariser } from "../../summariser.ts"

const root = mkdtempSync(join(tmpdir(), "strata-states-"))
afterAll(() => rmSync(root, { recursive: true }))

const WINDOW = 200_000
const USAGE = { input_tokens: 30_000, output_tokens: 10 }
const LONG = "many words ".repeat(2_000)

const open = (options: Partial<CompactingOptions> = {}) =>
  openCompacting({ window: WINDOW, store: memoryStore(), summariser: summariser({ window: WINDOW }), ...options })

let answers = 0
const record = (chat: Conversation, content: readonly unknown[], stop_reason = "end_turn") =>
  chat.record({ id: `msg_${answers++}`, model: SUMMARISER, content, stop_reason, usage: USAGE })
const answer = (chat: Conversation, text: string) => record(chat, [{ type: "text", text }])
const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: { file_path: "/a" } })
const result = (id: string, content: string): Block => ({ type: "tool_result", tool_use_id: id, content })

async function textsSent(chat: Conversation): Promise<readonly string[]> {
  const { messages } = await chat.prepare()
  return messages.flatMap(({ content }) => toBlocks(content)).map((block) => textOf([block]) || JSON.stringify(block))
}

/** Opens the conversation again, as after a crash: the views know only the journal and its checkpoint. */
async function resumed(chat: Conversation, options: Partial<CompactingOptions>): Promise<string> {
  await chat.close()
  const again = await open(options)
  return serialiseRequest(await again.prepare())
}

describe("messages typed while the system is busy", () => {
  test("LOOP-7, JRN-2 delivered and kept across a boundary, they appear in their place once, also after a resume", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    await chat.add({ role: "user", content: `First. ${LONG}` })
    await answer(chat, "Looking.")
    await chat.enqueue("typed meanwhile")
    await chat.prepare() // delivers the queued message
    await chat.compact()
    const sent = await textsSent(chat)
    expect(sent.filter((text) => text === "typed meanwhile")).toHaveLength(1)
    const live = serialiseRequest(await chat.prepare())
    expect(await resumed(chat, { store })).toBe(live)
  })

  test("LOOP-7, L4-29 still waiting when a boundary is written, they are delivered after it and not listed as earlier messages", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    await chat.add({ role: "user", content: `First. ${LONG}` })
    await answer(chat, "Looking.")
    chat.on("compaction", ({ phase }) => {
      if (phase === "preparing") void chat.enqueue("typed meanwhile")
    })
    await chat.compact()
    const sent = await textsSent(chat)
    expect(sent.filter((text) => text.includes("typed meanwhile"))).toEqual(["typed meanwhile"])
    const live = serialiseRequest(await chat.prepare())
    expect(await resumed(chat, { store })).toBe(live)
  })
})

describe("reading while a boundary is written", () => {
  test("JRN-2, L4-17 a reader between boundary and summary changes nothing: messages in the tail follow the summary", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    await chat.add({ role: "user", content: `First. ${LONG}` })
    await answer(chat, "One.")
    const second = await chat.add({ role: "user", content: "Second." })
    await answer(chat, "Two.")
    const sizes: number[] = []
    chat.on("entry", () => sizes.push(chat.windowUsage().used))
    await chat.compact({ range: { kind: "up-to", uuid: second } })
    const live = serialiseRequest(await chat.prepare())
    expect(live.indexOf("Second.")).toBeGreaterThan(live.indexOf("The work went on"))
    expect(await resumed(chat, { store })).toBe(live)
    expect(sizes.length).toBeGreaterThan(0)
  })
})

describe("calls without a result", () => {
  test("L4-7 a call that is still open during a compaction stays, and its result reaches the model", async () => {
    const chat = await open()
    await chat.add({ role: "user", content: `First. ${LONG}` })
    await answer(chat, "One.")
    await chat.add({ role: "user", content: "Second." })
    await record(chat, [call("toolu_a"), call("toolu_b")], "tool_use")
    await chat.compact()
    await chat.add({ role: "user", content: [result("toolu_a", "what was read"), result("toolu_b", "and this")] })
    const sent = await textsSent(chat)
    expect(sent.filter((text) => /what was read|and this/.test(text))).toHaveLength(2)
    expect(sent.filter((text) => text.includes(LONG))).toHaveLength(0)
  })

  test("L4-7, L4-16 from a message on: a call that is still open is not summarised either", async () => {
    const chat = await open()
    const first = await chat.add({ role: "user", content: "First." })
    await answer(chat, `One. ${LONG}`)
    await chat.add({ role: "user", content: "Second." })
    await record(chat, [call("toolu_a")], "tool_use")
    await expect(chat.compact({ range: { kind: "from", uuid: first } })).rejects.toThrow(/Nothing was changed/)
    await chat.add({ role: "user", content: [result("toolu_a", "what was read")] })
    expect((await textsSent(chat)).filter((text) => text.includes("what was read"))).toHaveLength(1)
  })
})

describe("what an earlier compaction restored", () => {
  test("L4-17, L4-29 it is never kept next to its replacement, wherever the messages in the tail are", async () => {
    let notes = 0
    const through: Layer = {
      name: "notes",
      async beforeRequest({ views }) {
        const message = views.context.storedMessages().at(-1)
        if (!message || message.uuid === views.notes.throughUuid) return undefined
        const taken = { throughUuid: message.uuid, path: "notes.md", tokens: 10, contextTokens: 10 }
        return { drafts: [{ type: "strata", subtype: "notes-updated", ...taken }] }
      },
    }
    const chat = await open({
      earlier: [through],
      compaction: {
        notes: fixedNotes(() => `# State\nNotes ${notes++} about the questions and answers.`),
      },
      settings: { models: { [SUMMARISER]: { window: WINDOW } }, figures: { "keep-messages": 3 } },
    })
    for (let round = 0; round < 4; round++) {
      await chat.add({ role: "user", content: `Question ${round}. ${LONG}` })
      await answer(chat, `Answer ${round}. ${LONG}`)
    }
    await chat.prepare()
    await chat.compact({ routes: ["notes"] })
    for (let round = 4; round < 6; round++) {
      await chat.add({ role: "user", content: `Question ${round}. ${round === 4 ? LONG : ""}` })
      await answer(chat, `Answer ${round}.`)
    }
    await chat.prepare()
    await chat.compact({ routes: ["notes"] })
    const sent = await textsSent(chat)
    expect(sent.filter((text) => text.includes("A record of what was said and done before this point"))).toHaveLength(1)
    expect(sent.filter((text) => text.includes("Summary:"))).toHaveLength(1)
    expect(sent.some((text) => text.startsWith("Answer 4."))).toBe(true)
  })
})

describe("going back", () => {
  test("CACHE-6 to the summary itself: preserved thinking stays dropped, since what it was bound to is gone", async () => {
    const drafts = installation({
      context: {
        newUuid: (
          () => () =>
            `uuid_${answers++}`
        )(),
        facts: { accepts: { boundThinking: true } },
      } as never,
      cut: {
        kind: "all",
        summarised: [],
        preserved: [
          {
            type: "assistant",
            uuid: "kept",
            parentUuid: null,
            timestamp: "",
            message: { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
          },
        ],
      },
      text: "Summary:",
      attachments: [{ type: "carried_facts", content: "facts" }],
      facts: { trigger: "auto", route: "notes", tokensBefore: 10, tokensAfter: 5, threshold: 8 },
    })
    const kinds = drafts.map((draft) => ("subtype" in draft ? draft.subtype : draft.type))
    expect(kinds.indexOf("thinking-dropped")).toBeLessThan(kinds.indexOf("attachment"))
  })

  test("JRN-5, LOOP-7 a message typed during a rewind does not bring back the abandoned branch", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    const first = await chat.add({ role: "user", content: "First." })
    await answer(chat, "One.")
    await chat.add({ role: "user", content: "Left behind." })
    await answer(chat, "Two.")
    let typed: Promise<unknown> | undefined
    const stop = chat.on("entry", ({ entry }) => {
      if (entry.type === "strata" && entry.subtype === "rewound") typed = chat.enqueue("typed meanwhile")
    })
    await chat.rewind(first)
    stop()
    await typed
    const sent = await textsSent(chat)
    expect(sent).not.toContain("Left behind.")
    expect(sent.filter((text) => text === "typed meanwhile")).toHaveLength(1)
    const live = serialiseRequest(await chat.prepare())
    expect(await resumed(chat, { store })).toBe(live)
  })
})

describe("a process that dies while it writes", () => {
  test("L4-14, JRN-3 a compaction that reached the disk only in part has not happened", async () => {
    const id = "torn"
    const store = fileStore({ root, flush: "never" })
    const chat = await open({ store, id })
    await chat.add({ role: "user", content: `Never use tabs. ${LONG}` })
    await answer(chat, "One.")
    await chat.add({ role: "user", content: "Second." })
    const before = serialiseRequest(await chat.prepare())
    const whole = readFileSync(chat.location).length
    await chat.compact()
    const after = serialiseRequest(await chat.prepare())
    await chat.close()
    const bytes = readFileSync(chat.location)
    const ends = [...bytes.entries()].filter(([at, byte]) => at > whole && byte === 0x0a).map(([at]) => at + 1)
    const seen = new Set<string>()
    for (const end of ends) {
      writeFileSync(chat.location, bytes.subarray(0, end))
      const again = await open({ store, id })
      seen.add(serialiseRequest(await again.prepare()))
      await again.close()
    }
    expect([...seen]).toEqual([before, after])
  })
})

describe("closing", () => {
  test("L4-14 closing a conversation aborts a compaction, even one with its own abort signal", async () => {
    const asked = Promise.withResolvers<void>()
    const model = summariser({ window: WINDOW })
    const chat = await open({
      summariser: {
        ...model,
        async *stream(request, options) {
          asked.resolve()
          await new Promise<void>((resolve) => {
            if (options?.signal?.aborted) resolve()
            options?.signal?.addEventListener("abort", () => resolve())
          })
          options?.signal?.throwIfAborted()
          yield* model.stream(request, options)
        },
      },
    })
    await chat.add({ role: "user", content: `First. ${LONG}` })
    await answer(chat, "One.")
    const compacting = chat.compact({}, { signal: new AbortController().signal })
    compacting.catch(() => undefined)
    await asked.promise
    await chat.close()
    await expect(compacting).rejects.toThrow()
    expect(engineOf(chat).views.compactions.count).toBe(0)
  })
})
