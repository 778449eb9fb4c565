/** The chat at several sizes of the window, and resized while it works. The captures are in `captures/`. */
import { findModel, resolveThresholds } from "@strata/core/internal"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { contextLines } from "../src/chat/context-panel.ts"
import { helpLines } from "../src/chat/panels.ts"
import { permissionDialog } from "../src/chat/permission-dialog.ts"
import { SLASH_COMMANDS } from "../src/chat/slash-commands.ts"
import type { ChatState, Item } from "../src/chat/state.ts"
import { expectFits, expectKept, expectWholeOrMarked, SIZES, sizeName } from "./captures.ts"
import { drawChat } from "./drawn-chat.ts"
import { SAVINGS } from "./ledger-figures.ts"

const NOW = new Date("2026-11-16T09:01:05Z")
beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ["Date"] })
})
afterEach(() => {
  vi.useRealTimers()
})

const TASK =
  "Find out why the nightly build fails on the second machine, and tell me what you would change first. Never touch the release branch."
const ANSWER =
  "I will look at the **log** first:\n\n1. the part around the first error, because the rest usually follows from it\n2. what differs between the two machines\n\n```\nnpm run build -- --verbose --reporter=json --output /var/log/nightly/build-of-the-second-machine-2026-11-16.json\n```"
const COMMAND =
  "npm run build -- --verbose --reporter=json --output /var/log/nightly/build.json && tail -n 200 /var/log/nightly/build.json"
const OUTPUT =
  "error TS2307: cannot find module './shown-messages.ts' or its type declarations, in packages/core/src/views"

const BEFORE: readonly Item[] = [
  { kind: "heading", text: "Strata in /home/ada/projects/nightly-builds. Type a task, or /help." },
  { kind: "user", text: TASK },
  { kind: "thinking", text: "The log is the place to begin with." },
  { kind: "answer", text: ANSWER },
  {
    kind: "tool",
    id: "1",
    name: "Read",
    summary: "read scripts/nightly/build-on-the-second-machine.ts",
    outcome: { state: "ok", text: "", whole: "x", ms: 4 },
  },
  {
    kind: "tool",
    id: "2",
    name: "Bash",
    summary: COMMAND,
    outcome: { state: "failed", text: OUTPUT, whole: `${OUTPUT}\n`.repeat(400), ms: 61_300 },
  },
]
const AT_WORK: Partial<ChatState> = {
  items: [...BEFORE, { kind: "tool", id: "3", name: "Bash", summary: `diff ${COMMAND}`, progress: OUTPUT }],
  work: { type: "working", since: NOW.getTime() - 65_000 },
  queued: [{ uuid: "q", text: "And look at the disk of the second machine too, it was full last week I think" }],
}

const panel = (title: string, lines: readonly string[]): Partial<ChatState> => ({
  items: [...BEFORE.slice(0, 2), { kind: "panel", title, lines }],
})

const CONTEXT = contextLines({
  accounting: {
    total: 60_000,
    human: 5_000,
    assistant: 15_000,
    thinking: 0,
    commandOutput: 0,
    toolRequests: { Read: 10_000 },
    toolResults: { Read: 22_000, Bash: 8_000 },
    attachments: {},
    other: 0,
    duplicateReads: [
      { path: "packages/core/src/views/context/shown-messages.ts", reads: 3, tokens: 9_000, wasted: 6_000 },
    ],
  },
  promptTokens: 20_000,
  used: 80_000,
  percentLeft: 52,
  thresholds: resolveThresholds({
    window: 200_000,
    facts: findModel("claude-opus-5-5").facts,
    maxOutput: 32_000,
    autoCompact: true,
  }),
  savings: SAVINGS,
  compactions: { count: 1, failures: 0, mostFailures: 3, at: 167_000, mayByHand: true },
  notes: { kind: "none", first: 10_000 },
})

const QUESTION = permissionDialog({
  request: {
    id: "3",
    tool: "Bash",
    why: "Bash needs permission",
    question: {
      kind: "execute",
      summary: COMMAND,
      subject: COMMAND,
      preview: `Builds it once more\n\n${COMMAND}`,
    },
  },
  rules: ["Bash(npm run build:*)", "Bash(tail:*)"],
  project: "/home/ada/projects/nightly-builds",
})
const ASKING: Partial<ChatState> = {
  items: [...BEFORE, { kind: "tool", id: "3", name: "Bash", summary: COMMAND }],
  dialogs: [{ id: "d", from: "agent", selected: 0, ...QUESTION }],
  ready: "d",
}

/** The sign that turns while it works. */
const still = (rows: readonly string[]): readonly string[] =>
  rows.map((row) => row.replace(/^[|/\\-] Working/, "| Working"))

const STATUS = /^ claude-opus-5-5 · ask/
const RULE = "─".repeat(40)

test.each([
  ["chat-at-work", AT_WORK, [TASK, OUTPUT, `diff ${COMMAND}`, "Working, 1:05 (Esc interrupts)"]],
  ["chat-context", panel("Context", CONTEXT), CONTEXT],
  ["chat-help", panel("Commands and keys", helpLines(SLASH_COMMANDS)), SLASH_COMMANDS.map(({ about }) => about)],
  ["chat-permission", ASKING, [COMMAND, "Yes, and don't ask again in this conversation", "Enter or a key chooses"]],
] as const)("%s: nothing is wider than the window, cut without a mark, or drawn twice", async (name, state, texts) => {
  const captures = []
  for (const size of SIZES) {
    using chat = await drawChat(size)
    await chat.show(state)
    const all = still(chat.screen.everything())
    expectFits(all, size, false)
    expect(chat.screen.tooWide).toEqual([])
    expectWholeOrMarked(all, texts)
    expect(all.filter((row) => STATUS.test(row))).toHaveLength(1)
    expect(chat.screen.rows().findLast((row) => row !== "")).toMatch(STATUS)
    captures.push([sizeName(size), all, size] as const)
  }
  if (name !== "chat-help") await expectKept(name, captures) // that one grows with every command
})

test("resized while it works: nothing is left over, and nothing is lost", async () => {
  const [small, usual, large] = SIZES as [(typeof SIZES)[0], (typeof SIZES)[0], (typeof SIZES)[0]]
  using chat = await drawChat(large)
  await chat.show(AT_WORK)
  const captures = []
  for (const size of [small, usual, large, small]) {
    await chat.resize(size)
    const all = still(chat.screen.everything())
    expect(chat.screen.tooWide).toEqual([])
    for (const once of [RULE, "Working, 1:05", "queued: And look", "○ Bash", "● Read", "> Find out"])
      expect(
        all.filter((row) => row.includes(once)),
        `${once} at ${sizeName(size)}`,
      ).toHaveLength(1)
    captures.push([`then ${sizeName(size)}`, all, size] as const)
  }
  await chat.show({ items: [...BEFORE, { kind: "answer", text: "It was the disk." }] })
  const all = chat.screen.everything()
  expect(all.filter((row) => row.includes("It was the disk."))).toHaveLength(1)
  expect(all.some((row) => row.includes("Working") || row.includes("queued"))).toBe(false)
  await expectKept("chat-resized", [...captures, ["at the end", all, small]])
})
