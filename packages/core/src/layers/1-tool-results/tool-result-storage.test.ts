import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { InMemoryProvider, OpenFeature } from "@openfeature/server-sdk"
import { describe, expect, test } from "vitest"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { seededIds } from "../../base/clock.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import type { ConversationOptions } from "../../conversation/options.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Store } from "../../journal/store.ts"
import type { Block, ToolResult } from "../../messages/blocks.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { toolResultStorage } from "./tool-result-storage.ts"

const LARGE = Array.from({ length: 10_000 }, (_, i) => `line ${i}`).join("\n")
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }

const open = (options: Partial<ConversationOptions> = {}) =>
  openTestConversation({ layers: [toolResultStorage({ limitsItself: ["Read"] })], ...options })

let count = 0
/** Adds a round in which the tools return these outputs. Resolves with the ids of the calls. */
async function round(
  chat: Conversation,
  ...results: (readonly [tool: string, content: unknown, id?: string | undefined, input?: unknown])[]
) {
  const ids = results.map(([, , id]) => id ?? `toolu_${count++}`)
  await chat.add({ role: "user", content: "go on" })
  await chat.record({
    id: `msg_${count++}`,
    model: "claude-opus-4-6",
    content: results.map(([name, , , input = {}], i) => ({ type: "tool_use", id: ids[i], name, input })),
    stop_reason: "tool_use",
    usage: { input_tokens: 10, output_tokens: 5 },
  })
  const content = results.map(([, given], i) => ({ type: "tool_result", tool_use_id: ids[i], content: given }))
  await chat.add({ role: "user", content: content as Block[] })
  return ids
}

/** Content that the next request sends for the newest round. */
async function sentResults(chat: Conversation): Promise<unknown[]> {
  const { messages } = await chat.prepare()
  return (messages.at(-1)!.content as ToolResult[]).map(({ content }) => content)
}

function failures(chat: Conversation): string[] {
  const collected: string[] = []
  chat.on("layerFailed", ({ reason }) => collected.push(reason))
  return collected
}

describe("layer 1", () => {
  test("L1-1, L1-2 a large result is in a file, and the context has a preview that says where", async () => {
    const { root, remove } = await temporaryRoot()
    const chat = await open({ store: fileStore({ root }), dir: root })
    await round(chat, ["Bash", LARGE, "toolu_big"])
    const [text] = (await sentResults(chat)) as string[]
    const path = /All of it is in (\S+);/.exec(text!)?.[1]
    expect(path).toBe(join(root, "projects", "-nowhere", "tool-results", "test", "toolu_big.txt"))
    expect(text).toContain(`<persisted-output>\nThe result is large: ${LARGE.length} bytes.`)
    expect(text).toContain("Its beginning:\nline 0\nline 1\n")
    expect(text!.length).toBeLessThan(3_500)
    expect(readFileSync(path!, "utf8")).toBe(LARGE)
    await chat.close()
    await remove()
  })

  test.each([1_900, 2_001, 2_400, 2_700, 3_300])(
    "L1-1 a result of %s characters over a small limit is put aside only where that makes it smaller",
    async (characters) => {
      const chat = await open({ settings: { toolResultLimits: { Bash: 100 } } })
      const results = [
        JSON.stringify({ items: Array.from({ length: 99 }, (_, id) => ({ id, of: "a" })) }),
        "z".repeat(9_999),
      ]
      const given = results.map((text) => text.slice(0, characters))
      await round(chat, ...given.map((text) => ["Bash", text] as const))
      for (const [i, shown] of ((await sentResults(chat)) as string[]).entries())
        expect(shown.length).toBeLessThanOrEqual(given[i]!.length)
    },
  )

  test("L1-1 a tool that limits itself is left alone, settings change the limit of one tool, the switch ends it all", async () => {
    const settings = { toolResultLimits: { mcp__docs__find: 3_000 } }
    const chat = await open({ settings })
    await round(chat, ["Read", LARGE], ["mcp__docs__find", "y".repeat(4_000)], ["Bash", "z".repeat(4_000)])
    const [read, found, bash] = (await sentResults(chat)) as string[]
    expect(read).toBe(LARGE)
    expect(found).toMatch(/^<persisted-output>.*4000 bytes/s)
    expect(found).toContain("cut inside a long line")
    expect(bash).toBe("z".repeat(4_000))

    const off = await open({ id: "off", settings: { switches: { "tool-result-storage": false } } })
    await round(off, ["Bash", LARGE])
    expect(await sentResults(off)).toEqual([LARGE])
  })

  test("L1-1 a limit that is set for a tool holds also where it limits itself", async () => {
    const chat = await open({ settings: { toolResultLimits: { Read: 20_000 } } })
    await round(chat, ["Read", "x".repeat(20_000)], ["Read", "x".repeat(20_001)])
    const [at, over] = (await sentResults(chat)) as string[]
    expect(at).toHaveLength(20_000)
    expect(over).toContain("<persisted-output>")
  })

  test("L1-1 a tool that is named like something every object has is a tool like any other", async () => {
    const chat = await open()
    await round(chat, ["constructor", LARGE])
    expect(await sentResults(chat)).toEqual([expect.stringContaining("<persisted-output>")])
  })

  test("L1-2 what a call reads from such a file stays in view, with any tool and a small limit", async () => {
    const { root, remove } = await temporaryRoot()
    const settings = { figures: { "tool-result-limit": 8_000 } }
    const chat = await open({ store: fileStore({ root }), dir: root, settings })
    const text = LARGE.slice(0, 30_000)
    await round(chat, ["Bash", text, "toolu_big"])
    const [shown] = (await sentResults(chat)) as string[]
    const path = /All of it is in (\S+);/.exec(shown!)![1]!
    const reads = [
      ["Bash", { command: `cd / && cat ${path} | head -400` }],
      ["shell", { command: ["bash", "-lc", `cd '${dirname(path)}'; sed -n 1,90p "${basename(path)}"`] }],
      ["Bash", { command: `cd ${dirname(path)}\nwc -l \\\n${basename(path)}; x=$(<${basename(path)}); echo "$x"` }],
      ["exec", { script: `cat <<E\n${basename(path)}\nE` }],
      ["read", { at: { path: `C:\\tool-results\\${basename(path)}` } }],
      ["view", { path, view_range: [1, 400] }],
    ] as const
    await round(chat, ...reads.map(([tool, input]) => [tool, text, undefined, input] as const))
    expect(await sentResults(chat)).toEqual(reads.map(() => text))
    await round(chat, ["Bash", text, undefined, { command: "cat toolu_other.txt" }])
    expect(await sentResults(chat)).toEqual([expect.stringContaining("<persisted-output>")])
    await round(chat, ["Bash", LARGE, undefined, { command: `cat ${path} ${path} ${path}` }])
    expect(await sentResults(chat)).toEqual([expect.stringContaining("<persisted-output>")])
    await chat.close()
    await remove()
  })

  test("L1-2 a document of text, or blocks that are no text, have a preview, too", async () => {
    const source = { type: "text", media_type: "text/plain", data: LARGE }
    const found = { type: "search_result", source: "here", title: "Found", content: [{ type: "text", text: LARGE }] }
    const chat = await open()
    await round(chat, ["Fetch", [{ type: "document", source }]], ["Search", [image, found]])
    const [document, search] = (await sentResults(chat)) as string[]
    expect(document).toContain("Its beginning:\nline 0\nline 1\n")
    expect(search).toContain('{"type":"search_result","source":"here","title":"Found"')
  })

  test("L1-3 the results of a round fit their budget", async () => {
    const put: string[] = []
    const chat = await open({ layers: [toolResultStorage({ onOffload: (ids) => put.push(...ids) })] })
    const ids = await round(chat, ...[40, 45, 49, 48, 46].map((k) => ["Bash", "x".repeat(k * 1_000)] as const))
    const sizes = ((await sentResults(chat)) as string[]).map(({ length }) => length)
    expect(sizes.map((size) => size < 4_000)).toEqual([false, false, true, false, false])
    expect(put).toEqual([ids[2]])
  })

  test("L1-3 results of a round that come one by one share its budget, and those that came first stay as they are", async () => {
    const chat = await open({ settings: { figures: { "message-results-limit": 60_000 } } })
    await chat.add({ role: "user", content: "go on" })
    await chat.record({
      id: "msg_one_by_one",
      model: "claude-opus-4-6",
      content: ["toolu_a", "toolu_b"].map((id) => ({ type: "tool_use", id, name: "Bash", input: {} })),
      stop_reason: "tool_use",
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    for (const id of ["toolu_a", "toolu_b"])
      await chat.add({
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: "x".repeat(40_000) }],
      })
    const sizes = ((await sentResults(chat)) as string[]).map(({ length }) => length)
    expect(sizes).toEqual([40_000, expect.toSatisfy((size: number) => size < 4_000)])
  })

  test("L1-4 decisions are made once: other figures after a resume change nothing, and a branch sees the same", async () => {
    const store = memoryStore()
    const chat = await open({ store })
    await round(chat, ["Bash", LARGE], ["Bash", "kept ".repeat(2_000)])
    const before = serialiseRequest(await chat.prepare())
    const branch = await chat.branch(engineOf(chat).views.context.newest!.uuid, "branch")
    await chat.close()
    for (const id of ["test", branch]) {
      const again = await open({ store, id, settings: { figures: { "tool-result-limit": 1_000 } } })
      expect(serialiseRequest(await again.prepare())).toBe(before)
      await again.close()
    }
  })

  test.each([
    ["other figures", {}, { figures: { "tool-result-limit": 1_000 } }],
    [
      "the switch turned on",
      { switches: { "tool-result-storage": false } },
      { figures: { "tool-result-limit": 5_000 } },
    ],
  ])("L1-4 what a request carried whole stays so where no answer came, after a resume with %s", async (_, was, is) => {
    const store = memoryStore()
    const chat = await open({ store, settings: was })
    await round(chat, ["Bash", "kept ".repeat(2_000)])
    const before = serialiseRequest(await chat.prepare())
    await chat.close()
    for (const _again of [1, 2]) {
      const again = await open({ store, settings: is })
      expect(serialiseRequest(await again.prepare())).toBe(before)
      expect((await entriesOf(again)).filter((entry) => "toolUseIds" in entry)).toHaveLength(1)
      await again.close()
    }
  })

  test("L1-4 after a crash between a result and its decision, the next process decides, and the request is the same", async () => {
    const [whole, cut] = [memoryStore(), memoryStore()]
    const chat = await open({ store: whole, ids: seededIds("crash") })
    await round(chat, ["Bash", LARGE, "toolu_large"], ["Bash", "", "toolu_empty"], ["Bash", "small", "toolu_small"])
    const expected = serialiseRequest(await chat.prepare())
    const decided = (await entriesOf(chat)).findIndex((entry) => entry.type === "strata" && "toolUseId" in entry)
    const journal = await cut.open({ project: "-nowhere", id: "test" }, { access: "write", create: true })
    await journal.append((await entriesOf(chat)).slice(0, decided))
    await journal.close()
    const again = await open({ store: cut })
    expect(serialiseRequest(await again.prepare())).toBe(expected)
    const made = (await entriesOf(again)).filter((entry) => entry.type === "strata" && "toolUseId" in entry)
    expect(made).toHaveLength(2)
    await again.prepare()
    expect((await entriesOf(again)).filter((entry) => entry.type === "strata" && "toolUseId" in entry)).toEqual(made)
  })

  test("L1-4 what one message brought is decided in one write; what was in its round before counts, what came after does not", async () => {
    const store = memoryStore()
    const appended: number[] = []
    const counting: Store = {
      ...store,
      async open(address, options) {
        const journal = await store.open(address, options)
        const append: typeof journal.append = (entries) => {
          appended.push(entries.filter((entry) => entry.type === "strata" && "toolUseId" in entry).length)
          return journal.append(entries)
        }
        return { ...journal, append }
      },
    }
    const chat = await open({ store: counting, settings: { figures: { "message-results-limit": 60_000 } } })
    const [, second] = await round(chat, ["Bash", LARGE], ["Bash", LARGE], ["Bash", "x".repeat(40_000), "toolu_first"])
    expect(appended.filter((count) => count > 0)).toEqual([2])
    await chat.close()
    const again = await open({ store, settings: { figures: { "message-results-limit": 60_000 } } })
    const [, , kept] = (await sentResults(again)) as string[]
    expect(kept).toHaveLength(40_000)
    expect(second).toBeDefined()
  })

  test("reports the effect: what is no longer sent, and that nothing is written again", async () => {
    const chat = await open()
    await round(chat, ["Bash", LARGE])
    const [decision] = (await entriesOf(chat)).filter((entry) => "effect" in entry)
    const whole = engineOf(chat).views.estimator.text(LARGE)
    expect(decision).toMatchObject({ effect: { saves: expect.any(Number), rewrites: 0 } })
    const { effect } = decision as unknown as { effect: { saves: number } }
    expect(effect.saves).toBeGreaterThan(whole - 2_000)
    expect(effect.saves).toBeLessThan(whole)
  })

  test("L1-4 a second result for the same call is refused and changes nothing", async () => {
    const chat = await open()
    const [id] = await round(chat, ["Bash", "small"])
    const before = await sentResults(chat)
    const again = chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id!, content: LARGE }] })
    await expect(again).rejects.toThrow(`no open call has the id "${id}"`)
    expect(await sentResults(chat)).toEqual(before)
  })

  test("L1-5 a full disk: the result stays whole, and the user gets a message", async () => {
    const chat = await open({ store: fullDisk() })
    const reported = failures(chat)
    await round(chat, ["Bash", LARGE, "toolu_full"])
    expect(await sentResults(chat)).toEqual([LARGE])
    expect(reported).toEqual([
      expect.stringMatching(/"toolu_full" could not be offloaded: .*no space left.*stays in the context/),
    ])
  })

  test("L1-5 a directory that is a link: nothing is written through it", async () => {
    const { root, remove } = await temporaryRoot()
    const elsewhere = join(root, "elsewhere")
    mkdirSync(elsewhere)
    mkdirSync(join(root, "projects", "-nowhere", "tool-results"), { recursive: true })
    symlinkSync(elsewhere, join(root, "projects", "-nowhere", "tool-results", "test"))
    const chat = await open({ store: fileStore({ root }), dir: root })
    const reported = failures(chat)
    await round(chat, ["Bash", LARGE])
    expect(await sentResults(chat)).toEqual([LARGE])
    expect(reported).toEqual([expect.stringContaining("symbolic link")])
    await chat.close()
    await remove()
  })

  test.each(["../../etc/passwd", "a/b", "..", "x".repeat(300)])("L1-5 the id %s names no file", async (id) => {
    const chat = await open()
    const reported = failures(chat)
    await round(chat, ["Bash", LARGE, id])
    expect(reported).toEqual([expect.stringContaining("cannot be the name of a file")])
    expect((await entriesOf(chat)).some((entry) => "path" in entry)).toBe(false)
  })

  test.each([[""], ["  \n"], [[]]])(
    "L1-6 an empty result %j is a marker that names its tool, from the first request on",
    async (content) => {
      const store = memoryStore()
      const chat = await open({ store })
      await round(chat, ["mcp__git__status", content])
      expect(await sentResults(chat)).toEqual(["[mcp__git__status finished without output]"])
      const before = serialiseRequest(await chat.prepare())
      await chat.close()
      expect(serialiseRequest(await (await open({ store })).prepare())).toBe(before)
    },
  )

  test("L1-7 an image stays; in a result that is put aside it is stored as what it is", async () => {
    const { root, remove } = await temporaryRoot()
    const chat = await open({ store: fileStore({ root }), dir: root })
    await round(chat, ["Shot", [image]])
    expect(await sentResults(chat)).toEqual([[image]])
    await round(chat, ["Shot", [{ type: "text", text: LARGE }, image], "toolu_shot"])
    const [text] = (await sentResults(chat)) as string[]
    const bytes = Buffer.from(PIXEL, "base64")
    expect(text).toMatch(/toolu_shot\.json;/)
    const path = new RegExp(`image/png, ${bytes.length} bytes: (\\S+toolu_shot-1\\.png)`).exec(text!)?.[1]
    expect(readFileSync(path!)).toEqual(bytes)
    await chat.close()
    await remove()
  })
})

/** A store whose disk is full. */
function fullDisk(): Store {
  const store = memoryStore()
  return {
    ...store,
    async open(address, options) {
      const journal = await store.open(address, options)
      return { ...journal, writeBlob: () => Promise.reject(new Error("no space left on device")) }
    },
  }
}

test("FLG-2 a flag limits the results of one tool, also of one that the prompt does not name", async () => {
  const limit = { variants: { it: 100 }, defaultVariant: "it", disabled: false }
  await OpenFeature.setProviderAndWait("tool-limits", new InMemoryProvider({ "tool-result-limit.Fetch": limit }))
  const chat = await open({
    flags: OpenFeature.getClient("tool-limits"),
    settings: { figures: { "tool-result-preview": 10 } },
  })
  await round(chat, ["Fetch", LARGE.slice(0, 3_000)], ["Other", LARGE.slice(0, 3_000)])
  const [fetched, other] = await sentResults(chat)
  expect(fetched).toContain("<persisted-output>")
  expect(other).toBe(LARGE.slice(0, 3_000))
  await OpenFeature.close()
})
