import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation, sketch } from "../../../test/builders.ts"
import { entriesOf, openTestConversation } from "../../../test/open.ts"
import { seededIds } from "../../base/clock.ts"
import type { Decision, DecisionEntry, Entry, EntryDraft } from "../../journal/entries.ts"
import type { Block } from "../../messages/blocks.ts"
import { handleOf } from "../../messages/media.ts"
import { contentOf, sinceLastBoundary, type UserMessage, type Uuid } from "../../messages/messages.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { ContextView } from "./context.ts"
import { CLEARED_MARKER } from "./render-decisions.ts"

const ids = seededIds("context-test")
const decide = (decision: Decision, parentUuid: Uuid | null = null): DecisionEntry =>
  ({
    type: "strata",
    uuid: ids.uuid(),
    parentUuid,
    timestamp: "2026-01-01T00:00:00.000Z",
    ...decision,
  }) as DecisionEntry

function viewOf(...entries: readonly (Entry | ConversationBuilder)[]): ContextView {
  const view = new ContextView(createEstimator("unknown"))
  for (const given of entries) for (const entry of "messages" in given ? given.messages : [given]) view.apply(entry)
  return view
}
const shown = (view: ContextView) => sketch(view.messages().messages)

const cleared = (...toolUseIds: string[]): Decision => ({ subtype: "tool-results-cleared", toolUseIds, why: "size" })
const persisted = (more: { head?: number; tail?: number } = {}): Decision => ({
  subtype: "tool-result-persisted",
  toolUseId: "toolu_0",
  path: "tool-results/c/toolu_0.txt",
  bytes: 60_000,
  head: 4,
  tail: 3,
  ...more,
})

/** A round with a tool call, and one more so that the first is settled. */
const twoRounds = () =>
  conversation().user("go").call("Read").result("first text").call("Bash").result("second").say("done")

test("stored messages stay the same objects until a decision is about them", () => {
  const view = viewOf(twoRounds(), decide(cleared("toolu_0")))
  const before = view.storedMessages()
  view.apply(decide(cleared("toolu_1")))
  const now = view.storedMessages()
  const firstResult = (messages: typeof now) => contentOf(messages[2] as UserMessage)[0]
  expect(firstResult(now)).toBe(firstResult(before))
  expect(now.map((message, at) => message === before[at])).toEqual([true, true, false, true, false, true])
  expect(view.storedMessages().every((message, at) => message === now[at])).toBe(true)
})

describe("BEY-1 a cleared result", () => {
  test("reads exactly as other programs expect, followed by its recall handle; the call stays", () => {
    const built = twoRounds()
    const address = handleOf(built.messages[2]!.uuid, 0)
    expect(CLEARED_MARKER).toBe("[Old tool result content cleared]")
    expect(shown(viewOf(built, decide(cleared("toolu_0"))))).toEqual([
      'user: "go"',
      "assistant: call toolu_0 Read",
      `user: result toolu_0 "[Old tool result content cleared] Recall: ${address}"`,
      "assistant: call toolu_1 Bash",
      'user: result toolu_1 "second"',
      'assistant: "done"',
    ])
  })

  test("keeps what else was stated about it: that it failed", () => {
    const built = conversation().user("go").call("Read").result("no such file", true).say("hm")
    expect(shown(viewOf(built, decide(cleared("toolu_0"))))[2]).toMatch(/^user: result toolu_0 failed "\[Old tool/)
  })

  test("is cleared also where the decision came while the result was the newest, and stays so", () => {
    const built = conversation().user("go").call("Read").result("text")
    const view = viewOf(built, decide(cleared("toolu_0")))
    const before = shown(view)[2]
    for (const message of built.say("and").user("on").messages.slice(3)) view.apply(message)
    expect(shown(view)[2]).toBe(before)
    expect(before).toContain(CLEARED_MARKER)
  })

  test("a decision about something that is not there changes nothing", () => {
    expect(shown(viewOf(twoRounds(), decide(cleared("toolu_none"))))).toEqual(shown(viewOf(twoRounds())))
  })

  test("makes the context smaller by what it held", () => {
    const built = conversation().user("go").call("Read").result("x".repeat(30_000)).say("done")
    const before = viewOf(built).size().tokens
    const after = viewOf(built, decide(cleared("toolu_0"))).size().tokens
    expect(before - after).toBeGreaterThan(9_900)
    expect(after).toBeGreaterThan(0)
  })
})

describe("L1-2 a result that was offloaded", () => {
  const built = () => conversation().user("go").call("Bash").result("headXXXXtail").say("done")
  const shownResult = (view: ContextView) => {
    const result = view.messages().messages[2]!.content[0]!
    return result.type === "tool_result" ? result.content : undefined
  }

  test("shows its beginning and its end, where all of it is, and its recall handle", () => {
    const builder = built()
    expect(shownResult(viewOf(builder, decide(persisted())))).toBe(
      [
        "<persisted-output>",
        `The result is large: 60000 bytes. All of it is in tool-results/c/toolu_0.txt; read it there, or in parts. Recall: ${handleOf(builder.messages[2]!.uuid, 0)}`,
        "Its beginning:",
        "head",
        "Its end:",
        "ail",
        "</persisted-output>",
      ].join("\n"),
    )
  })

  test("without a preview it only says where it is", () => {
    expect(shownResult(viewOf(built(), decide(persisted({ head: 0, tail: 0 }))))).not.toMatch(/beginning|end:/)
  })

  test("says which pictures it held", () => {
    const picture: Block = { type: "image", source: { type: "url", url: "https://example.com/a.png" } }
    const builder = conversation()
      .user("go")
      .call("Bash")
      .result([{ type: "text", text: "headtail" }, picture, picture])
      .say("done")
    expect(shownResult(viewOf(builder, decide(persisted())))).toContain("60000 bytes, with image. All of it")
  })

  test("may be cleared later: then it is cleared", () => {
    const view = viewOf(built(), decide(persisted()), decide(cleared("toolu_0")))
    expect(shownResult(view)).toContain(CLEARED_MARKER)
  })
})

describe("CACHE-6 thinking that was dropped", () => {
  const thought = (text: string): Block => ({ type: "thinking", thinking: text, signature: "s" })
  const built = () =>
    conversation()
      .user("go")
      .respond([thought("hm"), { type: "text", text: "one" }])
      .user("on")

  test("is gone from all messages up to the decision, and stays in those after it", () => {
    const builder = built()
    const view = viewOf(builder, decide({ subtype: "thinking-dropped", why: "test" }, builder.messages.at(-1)!.uuid))
    expect(shown(view)).toEqual(['user: "go"', 'assistant: "one"', 'user: "on"'])
    builder.respond([thought("again"), { type: "text", text: "two" }]).user("end")
    for (const message of builder.messages.slice(3)) view.apply(message)
    expect(shown(view).slice(3)).toEqual(['assistant: thinking "again" | "two"', 'user: "end"'])
  })

  test("without a decision it is sent as it came", () => {
    expect(shown(viewOf(built()))[1]).toBe('assistant: thinking "hm" | "one"')
  })
})

describe("BEY-3 a decision that was undone", () => {
  test.each<[string, Decision]>([
    ["clearing", cleared("toolu_0")],
    ["putting aside", persisted()],
    ["dropping thinking", { subtype: "thinking-dropped", why: "test" }],
  ])("%s: the messages are as they were, byte for byte, and so is the size", (_name, decision) => {
    const built = conversation()
      .user("go")
      .respond([
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "tool_use", id: "toolu_0", name: "Read", input: {} },
      ])
      .user([{ type: "tool_result", tool_use_id: "toolu_0", content: "text".repeat(1_000) }])
      .say("done")
    const untouched = viewOf(built)
    const made = decide(decision, built.messages.at(-1)!.uuid)
    const decided = viewOf(built, made)
    expect(JSON.stringify(decided.messages().messages)).not.toBe(JSON.stringify(untouched.messages().messages))
    decided.apply(decide({ subtype: "undone", decision: made.uuid }))
    expect(JSON.stringify(decided.messages().messages)).toBe(JSON.stringify(untouched.messages().messages))
    expect(decided.size()).toEqual(untouched.size())
  })

  test("only that one is", () => {
    const first = decide(cleared("toolu_0"))
    const view = viewOf(
      twoRounds(),
      first,
      decide(cleared("toolu_1")),
      decide({ subtype: "undone", decision: first.uuid }),
    )
    expect(shown(view)[2]).toBe('user: result toolu_0 "first text"')
    expect(shown(view)[4]).toContain(CLEARED_MARKER)
  })
})

describe("L2-2, L2-3 deletions inside the server's cache", () => {
  const edited = (...toolUseIds: string[]): Decision => ({
    subtype: "tool-results-cleared",
    toolUseIds,
    why: "cache-edit",
  })
  const thinking: Block = { type: "thinking", thinking: "hm", signature: "s" }
  const goesOn = () => conversation().user("and then?").say("this").user("so")

  test("nothing else changes; the block follows the message that was the newest, in every later request", () => {
    const view = viewOf(twoRounds(), conversation().user("next"))
    const before = shown(view)
    view.apply(decide(edited("toolu_0")))
    expect(shown(view)).toEqual([...before.slice(0, -1), 'user: "next" | cache_edits'])
    for (const message of conversation().say("on").user("more").messages) view.apply(message)
    const asked = shown(view)
    expect(asked).toEqual([...before.slice(0, -1), 'user: "next" | cache_edits', 'assistant: "on"', 'user: "more"'])
    view.apply(decide({ subtype: "prompt-rendered", why: "changed", system: "", tools: [], context: "<new>" }))
    expect(shown(view).slice(1)).toEqual(asked.slice(1))
    expect(view.isCleared("toolu_0")).toBe(true)
    expect(JSON.stringify(view.storedMessages())).not.toContain("first text")
  })

  test("where the assistant spoke last it waits for the user's side, also when the view is built again", () => {
    const view = viewOf(twoRounds(), decide(edited("toolu_0")))
    expect(shown(view).at(-1)).toBe('assistant: "done"')
    expect(view.awaitsUser()).toBe(true)
    for (const message of goesOn().messages) view.apply(message)
    const asked = shown(view)
    expect(asked.slice(-3)).toEqual(['user: "and then?" | cache_edits', 'assistant: "this"', 'user: "so"'])
    view.apply(decide({ subtype: "thinking-dropped", why: "test" }))
    expect(shown(view)).toEqual(asked)
  })

  test("two decided at the same place are each asked for once, live and when the view is rebuilt", () => {
    const [first, second] = [decide(edited("toolu_0")), decide(edited("toolu_1"))]
    const view = viewOf(twoRounds(), first, second, conversation().user("next"))
    expect(shown(view).at(-1)).toBe('user: "next" | cache_edits | cache_edits')
    const asked = shown(view)
    view.apply(decide({ subtype: "thinking-dropped", why: "test" }))
    expect(shown(view)).toEqual(asked)
  })

  test("dropped: the results are there again unless they are cleared here; undone: as it was", () => {
    const built = twoRounds()
    const made = decide(edited("toolu_0"), built.messages.at(-1)!.uuid)
    const untouched = viewOf(built, goesOn())
    const dropped = viewOf(built, made, goesOn(), decide({ subtype: "cache-edits-dropped", why: "test" }))
    const undone = viewOf(built, made, goesOn(), decide({ subtype: "undone", decision: made.uuid }))
    for (const view of [dropped, undone]) {
      expect(shown(view)).toEqual(shown(untouched))
      expect(view.size()).toEqual(untouched.size())
      expect(view.cacheEdits.toolUseIds).toEqual([])
    }
  })

  test("after a boundary they are cleared here, and thinking among the kept messages goes", () => {
    const builder = conversation()
      .user("go")
      .respond([thinking, { type: "tool_use", id: "toolu_0", name: "Read", input: {} }])
    builder
      .user([{ type: "tool_result", tool_use_id: "toolu_0", content: "text" }])
      .say("done")
      .user("next")
    const kept = builder.messages.slice(1, 3).map(({ uuid }) => uuid)
    const view = viewOf(builder, decide(edited("toolu_0")))
    const later = conversation()
      .boundary({ preservedMessages: { uuids: kept } })
      .user("Summary.", { isCompactSummary: true })
    for (const message of later.messages) view.apply(message)
    expect(shown(view)).toEqual([
      'user: "Summary."',
      "assistant: call toolu_0 Read",
      `user: result toolu_0 "${CLEARED_MARKER} Recall: ${handleOf(kept[1]!, 0)}"`,
    ])
  })

  test("a model that does not edit caches gets everything", () => {
    const view = new ContextView(createEstimator("unknown"), undefined, { editsCaches: false })
    for (const entry of [...twoRounds().messages, decide(edited("toolu_0")), ...goesOn().messages]) view.apply(entry)
    expect(shown(view)).toEqual(shown(viewOf(twoRounds(), goesOn())))
    expect([view.isCleared("toolu_0"), view.cacheEdits.toolUseIds]).toEqual([false, ["toolu_0"]])
  })
})

describe("L2-7 a memory that was cleared", () => {
  test("is a short marker with its file, wherever it belongs to, and its tokens are gone", () => {
    const built = conversation().user("go")
    const belongsTo = built.messages[0]!.uuid
    const content = "prefers tabs ".repeat(50)
    built
      .attach({ type: "memory", path: "memory/style.md", content, belongsTo })
      .call("Read")
      .result("text")
      .say("done")
    const view = viewOf(built)
    const before = view.size().tokens
    const [, memory] = built.messages
    view.apply(decide({ ...cleared("toolu_0"), attachments: [memory!.uuid] } as Decision))
    const [first] = shown(view)
    expect(first).toMatch(/^user: "go" \| "<system-reminder>.*memory\/style\.md.*\[Old memory cleared\]/)
    expect(before - view.size().tokens).toBeGreaterThan(100)
    expect(JSON.stringify(view.storedMessages())).not.toContain("prefers tabs")
    expect(view.isClearedMemory(memory!.uuid)).toBe(true)
  })
})

describe("what is known about settled messages can be kept", () => {
  test("until one of them changes: not when messages come, or when the newest results are offloaded", () => {
    const built = twoRounds().user("next").call("Read").result("new text")
    const view = viewOf(built)
    const { count, revision } = view.settled
    expect(count).toBe(built.messages.length - 1)
    view.apply(decide({ ...persisted(), toolUseId: "toolu_2" } as Decision))
    expect(view.settled).toEqual({ count, revision })
    for (const message of conversation().say("on").user("more").messages) view.apply(message)
    expect(view.settled).toEqual({ count: count + 2, revision })
    view.apply(decide(cleared("toolu_0")))
    expect(view.settled.revision).not.toBe(revision)
  })
})

describe("MSG-6 a boundary", () => {
  const summarised = (builder: ConversationBuilder, kept: readonly Uuid[] = []) =>
    builder.boundary({ preservedMessages: { uuids: kept } }).user("Summary.", { isCompactSummary: true, isMeta: true })

  test("starts the context with the summary", () => {
    expect(shown(viewOf(summarised(twoRounds()).user("next")))).toEqual(['user: "Summary." | "next"'])
  })

  test("messages that are kept follow the summary, in their order, and what comes follows them", () => {
    const builder = twoRounds()
    const kept = builder.messages.slice(3).map(({ uuid }) => uuid)
    expect(shown(viewOf(summarised(builder, kept).user("next")))).toEqual([
      'user: "Summary."',
      "assistant: call toolu_1 Bash",
      'user: result toolu_1 "second"',
      'assistant: "done"',
      'user: "next"',
    ])
  })

  test("kept messages are there also where no summary follows the boundary", () => {
    const builder = twoRounds()
    const kept = [builder.messages[0]!.uuid]
    expect(shown(viewOf(builder.boundary({ preservedMessages: { uuids: kept } })))).toEqual(['user: "go"'])
    expect(shown(viewOf(builder.say("on")))).toEqual(['user: "go"', 'assistant: "on"'])
  })

  test("a summary goes before the kept messages, with any reads or decisions in between", () => {
    const builder = twoRounds()
    const kept = builder.messages.slice(1, 3).map(({ uuid }) => uuid)
    const view = viewOf(builder.boundary({ preservedMessages: { uuids: kept } }))
    expect(shown(view)).toHaveLength(3)
    view.apply(decide(cleared("toolu_0")))
    view.apply(builder.user("Summary.", { isCompactSummary: true }).messages.at(-1)!)
    expect(shown(view)).toEqual([
      'user: "Summary."',
      "assistant: call toolu_0 Read",
      `user: result toolu_0 "${CLEARED_MARKER} Recall: ${handleOf(kept[1]!, 0)}"`,
    ])
    expect(view.size()).toEqual(viewOf(builder, decide(cleared("toolu_0"))).size())
  })

  test("what was decided about a kept message still holds, across several boundaries", () => {
    const builder = twoRounds()
    const kept = builder.messages.slice(1, 3).map(({ uuid }) => uuid)
    const view = viewOf(builder, decide(cleared("toolu_0")))
    const seen = builder.messages.length
    summarised(summarised(builder, kept).user("between"), kept).user("next")
    for (const message of builder.messages.slice(seen)) view.apply(message)
    expect(shown(view)).toEqual([
      'user: "Summary."',
      "assistant: call toolu_0 Read",
      `user: result toolu_0 "${CLEARED_MARKER} Recall: ${handleOf(kept[1]!, 0)}" | "next"`,
    ])
  })

  test("sinceLastBoundary knows the journal's order only: kept messages are before the boundary there", () => {
    const builder = twoRounds()
    const kept = [builder.messages[0]!.uuid]
    summarised(builder, kept)
    expect(sinceLastBoundary(builder.messages).map(({ uuid }) => uuid)).not.toContain(kept[0])
    expect(
      viewOf(builder)
        .storedMessages()
        .map(({ uuid }) => uuid),
    ).toEqual([builder.messages.at(-1)!.uuid, kept[0]])
  })
})

describe("JRN-7 title, mode, model and directory are repeated after each boundary", () => {
  test("right after it, unchanged", async () => {
    const drafts: EntryDraft[] = []
    const layer = { name: "compacting", beforeRequest: async () => ({ drafts: drafts.splice(0) }) }
    const chat = await openTestConversation({ layers: [layer], title: "The title", cwd: "/somewhere" })
    await chat.add({ role: "user", content: "go" })
    for (let time = 0; time < 2; time++) {
      drafts.push(
        { type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } },
        { type: "user", isCompactSummary: true, message: { role: "user", content: `Summary ${time}.` } },
      )
      await chat.prepare()
      if (time === 0) await chat.setTitle("Another title")
    }
    const entries = await entriesOf(chat)
    const boundaries = entries.flatMap((entry, at) =>
      entry.type === "system" && entry.subtype === "compact_boundary" ? [at] : [],
    )
    expect(boundaries).toHaveLength(2)
    const facts = { type: "strata", subtype: "session", model: "claude-opus-4-6", cwd: "/somewhere" }
    expect(boundaries.map((at) => entries[at + 1])).toMatchObject([
      { ...facts, title: "The title" },
      { ...facts, title: "Another title" },
    ])
  })
})

describe("MSG-8 the preamble", () => {
  test("comes before everything, also after a boundary, and another one replaces it", () => {
    const prompt = (context: string): Decision => ({
      subtype: "prompt-rendered",
      why: "start",
      system: "",
      tools: [],
      context,
    })
    const builder = conversation().user("go")
    const view = viewOf(decide(prompt("<one>")), builder)
    expect(shown(view)).toEqual(['user: "<one>" | "go"'])
    for (const message of conversation().boundary().user("Summary.", { isCompactSummary: true }).messages)
      view.apply(message)
    expect(shown(view)).toEqual(['user: "<one>" | "Summary."'])
    view.apply(decide(prompt("<two>")))
    expect(shown(view)).toEqual(['user: "<two>" | "Summary."'])
    view.apply(decide(prompt("")))
    expect(shown(view)).toEqual(['user: "Summary."'])
  })
})
