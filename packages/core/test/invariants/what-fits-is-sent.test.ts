/** Invariant 16: if any action of Strata makes a request fit, `prepare()` takes it. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { CompactionFailedError, ContextFullError, InvalidContentError } from "../../src/base/errors.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import { toolResultStorage } from "../../src/layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../../src/layers/2-microcompact/microcompaction.ts"
import { offline } from "../../src/layers/4-compaction/summarise/route.ts"
import { openCompacting } from "../compacting.ts"
import { largeConversations, playLarge } from "../large-steps.ts"
import { fuzz, isFuzzing } from "../runs.ts"
import { size } from "../size.ts"
import { newPlayer, type Step } from "../steps.ts"
import { SUMMARY_FAULTS, summariser } from "../summariser.ts"

/** Summaries without content, or texts that are not summaries: each the same every time, so that a repeated request changes nothing. */
const summaries = fc.oneof(
  fc.constantFrom("", "The user wants things done. ", "It all went well, and nothing is left to do. ").map((text) => ({
    text,
    fault: undefined,
  })),
  fc.constantFrom(...SUMMARY_FAULTS).map((fault) => ({ text: "", fault })),
)

const conversations = fc.record({
  large: largeConversations,
  window: fc.constantFrom(6_000, 8_000, 10_000, 14_000, 20_000, 32_000),
  /** Percentage of the window. */
  system: fc.constantFrom(0, 5, 15, 30, 45),
  summary: summaries,
  repeated: fc.constantFrom(1, 20, 200),
  isAhead: fc.boolean(),
  /** How many steps after a compaction it is undone. */
  undoes: fc.constantFrom(undefined, 1, 3),
  compacts: fc.constantFrom(true, true, false),
})

type Case = typeof conversations extends fc.Arbitrary<infer T> ? T : never

type Block = Extract<Step, { kind: "respond" }>["pieces"][number]["blocks"][number]
const TEXT: Block = { block: "text", text: "fix the test" }
const READ: Block = { block: "tool", name: "Read", input: '{"value":null}', reuseId: true }
const empty: Step = { kind: "results", which: [{ call: 0, content: "", failed: false, unknownId: true }] }
const user = (content: string): Step => ({ kind: "user", content })
const respond = (...blocks: Block[]): Step => ({
  ...{ kind: "respond", pieces: [{ blocks, answersFirst: false }], stop: "end_turn", usage: 0 },
})
const result = (unknownId: boolean): Step => ({
  ...{ kind: "results", which: [{ call: 0, content: "fix the test", failed: false, unknownId }] },
})
const large = { window: 0, faults: [], notes: undefined }
const REFUSES = { text: "", fault: "refusal" } as const

/** Cases found by fuzzing. */
const FOUND: readonly Case[] = [
  // "Continue from where you left off." is added after the layers have acted, and fills the window
  {
    large: {
      ...{ ...large, shares: [0, 1, 2, 0, 25], truth: 1.108387901321195 },
      steps: [user("fix the test"), user("fix the test"), user("fix the test"), respond(TEXT), empty],
    },
    ...{ window: 6_000, system: 15, summary: REFUSES, repeated: 1, isAhead: true, undoes: undefined, compacts: true },
  },
  // a compaction leaves little space; later it is not enough without clearing
  {
    large: {
      ...{ ...large, shares: [8, 0, 8], truth: 0.9 },
      steps: [
        ...[user("fix the test"), respond(), result(true), user("!"), user("!"), respond(), user("fix the test")],
        ...[{ kind: "attach", text: "fix the test", isMemory: false } as const, respond(READ), result(false)],
      ],
    },
    ...{ window: 32_000, system: 45, summary: { text: "", fault: undefined }, repeated: 1 },
    ...{ isAhead: false, undoes: 1, compacts: true },
  },
]

/** `npm test` tries only the found cases. */
const RUNS = {
  ...fuzz,
  numRuns: isFuzzing ? fuzz.numRuns! : size(FOUND.length, fuzz.numRuns!),
  examples: FOUND.map((found): [Case] => [found]),
}

/** Actions, each of which may be refused. */
const ACTIONS: Readonly<Record<string, (chat: Conversation) => Promise<unknown>>> = {
  "compact()": (chat) => chat.compact(),
  "clearResults()": (chat) => chat.clearResults({ downTo: 0 }),
  "clearResults({ images })": (chat) => chat.clearResults({ images: true }),
}

test("invariant 16: a conversation is never blocked where compacting or clearing would make room", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async ({ large, window, system, summary, repeated, isAhead, undoes, compacts }) => {
      const conversation = { ...large, window }
      const model = summariser({
        window,
        faults: Array(500).fill(summary.fault),
        summary: () => summary.text.repeat(repeated),
      })
      const chat = await openCompacting({
        ...{ window, summariser: model, system: "many words ".repeat((window * system) / 100 / 2) },
        compaction: { offline: offline() },
        earlier: [toolResultStorage(), microcompaction()],
        settings: { autoCompactEnabled: compacts, switches: { "compact-ahead": isAhead } },
      })
      const player = newPlayer()
      for (const [at, step] of [...conversation.steps, { kind: "prepare" } as const].entries()) {
        const prepared = await playLarge(chat, step, { player, conversation, at }).catch(ifNotAdded)
        const isBlocked = prepared instanceof ContextFullError
        for (const [name, act] of Object.entries(isBlocked ? ACTIONS : {}))
          if (compacts || name !== "compact()") expect(await unblocks(chat, act), name).toBe(false)
        if (undoes !== undefined && at % (undoes + 3) === undoes) await chat.undo().catch(() => undefined)
      }
    }),
    RUNS,
  )
})

/** Ignores the error of a message that alone is too large. */
function ifNotAdded(error: unknown): undefined {
  if (!(error instanceof InvalidContentError)) throw error
}

async function unblocks(chat: Conversation, act: (chat: Conversation) => Promise<unknown>): Promise<boolean> {
  try {
    await act(chat)
    await chat.prepare()
    return true
  } catch (error) {
    if (error instanceof ContextFullError || error instanceof CompactionFailedError) return false
    throw error
  }
}
