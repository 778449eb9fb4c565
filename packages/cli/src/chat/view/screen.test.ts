/** The whole screen as text: 80 columns, no colours. */

import { createRequire } from "node:module"
import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import fc from "fast-check"
import { render, renderToString } from "ink"
import { expect, onTestFinished, test } from "vitest"
import { size } from "../../../../core/test/size.ts"
import { widthOf } from "../../display/text.ts"
import { editorWith } from "../editor.ts"
import { historyOf } from "../input-history.ts"
import { type ChatState, initialState } from "../state.ts"
import { Screen, statusText, workText } from "./app.ts"
import { h } from "./element.ts"
import { ThemeContext, themeFor } from "./theme.ts"

const STATE = initialState(
  {
    model: "claude-opus-5-5",
    mode: "ask",
    percentLeft: 75,
    fill: "fine",
    dollars: 0.0123,
    isPriceIncomplete: false,
    turns: 3,
  },
  historyOf([]),
)
/** Without colours, even if FORCE_COLOR is set, because the cursor would otherwise be a space of another colour. */
const screen = (change: Partial<ChatState>) =>
  stripVTControlCharacters(renderToString(h(Screen, { state: { ...STATE, ...change } }), { columns: 80 }))
    .replaceAll(/ +$/gm, "")
    .trimEnd()

test("an answer, tools folded to a line, the input line, the status line", () => {
  const outcome = { state: "failed", text: "File not found", fullText: "File not found", ms: 12 } as const
  expect(
    screen({
      items: [
        { kind: "user", text: "Look at it" },
        { kind: "thinking", text: "three small words" },
        { kind: "answer", text: "# So\n\nIt is **here**." },
        {
          kind: "tool",
          id: "1",
          name: "Read",
          summary: "read a.ts",
          outcome: { state: "ok", text: "", fullText: "", ms: 4 },
        },
        { kind: "tool", id: "2", name: "Read", summary: "read b.ts", outcome },
        { kind: "tool", id: "3", name: "Bash", summary: "npm test", progress: "12 passed" },
      ],
      editor: editorWith("first\nsecond"),
      queued: [{ uuid: "q", text: "and then this" }],
    }),
  ).toBe(`> Look at it

∴ Thought, 3 words (Ctrl-O)

So

It is here.

● Read a.ts ok, 4 ms
● Read b.ts failed, 12 ms
  └ File not found
○ Bash npm test …
  └ 12 passed
 queued: and then this

${"─".repeat(80)}
> first
  second
 claude-opus-5-5 · ask · ██████░░ 75% left · $0.0123 · 3 turns · 1 queued`)
})

test("a finished call with a long command stays one line, with its outcome", () => {
  const outcome = { state: "interrupted", text: "Interrupted.", fullText: "Interrupted.", ms: 3700 } as const
  const shown = screen({
    items: [{ kind: "tool", id: "1", name: "Bash", summary: `echo ${"word ".repeat(30)}`, outcome }],
  })
  expect(shown.split("\n")[0]).toMatch(/^● Bash echo .*… interrupted, 3\.7 s$/)
  expect(shown.split("\n").filter((row) => widthOf(row) > 80)).toEqual([])
})

test("on a narrow screen the status line leaves out its bar before it is cut", () => {
  const { status } = STATE
  expect(statusText(status, { queued: 0, columns: 79 })).toContain("██░░ 75% left")
  expect(statusText(status, { queued: 0, columns: 59 })).toBe("claude-opus-5-5 · ask · 75% left · $0.0123 · 3 turns")
})

test("a permission question with its diff and choices", () => {
  const shown = screen({
    ready: "1",
    dialogs: [
      {
        id: "1",
        from: "agent",
        title: "Edit a.ts",
        why: "Edit needs permission",
        body: { form: "diff", text: "@@ -1,1 +1,1 @@\n-old\n+new" },
        options: [
          { label: "Yes", letter: "y" },
          { label: "No, and say why", letter: "n", asksReply: "optional" },
        ],
        selected: 1,
        reply: editorWith("because"),
      },
    ],
  })
  expect(shown.split("\n").map((line) => line.trimEnd())).toEqual([
    "",
    "│ Edit a.ts",
    "│ Edit needs permission",
    "│",
    "│ @@ -1,1 +1,1 @@",
    "│ -old",
    "│ +new",
    "│",
    "│   y Yes",
    "│ > n No, and say why",
    "│ > because",
    "│ Enter sends, Esc goes back",
    " claude-opus-5-5 · ask · ██████░░ 75% left · $0.0123 · 3 turns",
  ])
})

test("PERM-5 a command that waits for permission is shown once: in the dialog, not in the conversation too", () => {
  const line = `npm test ${"word ".repeat(60)}> out`
  const shown = screen({
    items: [{ kind: "tool", id: "call", name: "Bash", summary: line.slice(0, 20) }],
    dialogs: [
      {
        id: "1",
        from: "agent",
        title: "Run this command?",
        call: "call",
        body: { form: "text", text: line, highlights: [{ kind: "redirection", start: 309, end: 314 }] },
        options: [{ label: "Yes", letter: "y" }],
        selected: 0,
      },
    ],
  })
  expect(shown.split("npm test")).toHaveLength(2)
  expect(shown.split("word")).toHaveLength(61)
  expect(shown).toContain("^^^^^ redirection")
})

test.each([
  ["fine", "2"],
  ["warning", "33"],
  ["error", "31"],
] as const)("WIN-4 the status line of a window whose fill is %s", async (fill, colour) => {
  const { default: chalk } = await import(createRequire(import.meta.resolve("ink")).resolve("chalk"))
  const { level } = chalk
  onTestFinished(() => {
    chalk.level = level
  })
  chalk.level = 1
  const state = { ...STATE, status: { ...STATE.status, fill } }
  const themed = h(ThemeContext.Provider, { value: themeFor(true) }, h(Screen, { state }))
  const line = renderToString(themed, { columns: 80 })
    .split("\n")
    .find((each) => each.includes("% left"))
  expect(line).toContain(`\u001b[${colour}m claude-opus-5-5`)
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: the screen's own sequences
const COLOURS = /\u001b\[\d+m/g

test("PERM-5 property: whatever the texts hold, the screen's own sequences are the only ones", () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\u001b", "[", "]", "2J", "\u009b", "\r", "\n", "\u0007", "\u202e"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
    maxLength: 40,
  })
  fc.assert(
    fc.property(hostile, (text) => {
      const state: ChatState = {
        ...STATE,
        status: { ...STATE.status, model: text },
        items: [
          ...(["heading", "user", "answer", "thinking"] as const).map((kind) => ({ kind, text })),
          { kind: "notice", tone: "error", text },
          { kind: "panel", title: text, lines: [text] },
          { kind: "compaction", summary: text, restored: [text], outcome: { route: text, tokensAfter: 1 } },
          { kind: "tool", id: "1", name: text, summary: text, progress: text },
          { kind: "shell", id: "2", command: text, output: text },
        ],
        editor: editorWith(text),
        queued: [{ uuid: "q", text }],
        work: { type: "retrying", since: 0, until: 0, attempt: 1, reason: text },
      }
      const body = { form: "text", text } as const
      const dialog = {
        id: "1",
        from: "agent",
        title: text,
        why: text,
        notes: [{ text, tone: "plain" }],
        body,
        selected: 0,
      } as const
      const options = [{ label: text, hint: text, about: text, letter: "y" }]
      for (const dialogs of [[], [{ ...dialog, options, reply: editorWith(text) }]])
        expect(renderToString(h(Screen, { state: { ...state, dialogs } })).replaceAll(COLOURS, "")).not.toMatch(
          /(?!\n)[\p{Cc}\p{Bidi_Control}]/u,
        )
    }),
    { numRuns: size(2, 10) },
  )
})

test.each([
  ["a menu", { editor: editorWith("/") }],
  ["files and a long message", { editor: editorWith(`${"many words ".repeat(60)}@`) }],
  ["files in the middle of a message", { editor: { text: "many words @ and ".repeat(60), cursor: 12 + 17 * 30 } }],
  ["a search", { search: { query: "x".repeat(80), isFailing: true, before: editorWith("draft") } }],
])("on a low and narrow screen %s leaves room for the rest", async (_, change) => {
  const stdout = Object.assign(new PassThrough(), { columns: 60, rows: 15 }) as unknown as NodeJS.WriteStream
  const completion = {
    commands: Array.from({ length: 30 }, (_, i) => ({ name: `c${i}`, usage: `/c${i}`, about: "about ".repeat(20) })),
    files: Array.from({ length: 300 }, (_, i) => `${"deep/".repeat(20)}${i}.ts`),
    selected: 7,
  }
  const items = [{ kind: "answer", text: "line\n\n".repeat(40), isArriving: true }] as const
  const work = { type: "working", since: 0 } as const
  const state = { ...STATE, items, work, completion, ...change }
  const frames: string[] = []
  stdout.on("data", (data: Buffer) => frames.push(data.toString()))
  const app = render(h(Screen, { state }), { stdout, debug: true, patchConsole: false })
  await app.waitUntilRenderFlush()
  app.unmount()
  const rows = stripVTControlCharacters(frames.find((frame) => frame.includes("claude"))!)
    .trimEnd()
    .split("\n")
  expect(rows.length).toBeLessThan(15)
  for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(60)
  expect(rows.at(-1)).toContain("claude-opus-5-5")
})

test("a retry counts down and says why", () => {
  const retrying = { type: "retrying", since: 0, until: 5_000, attempt: 2, reason: "overloaded (529)" } as const
  expect(workText(retrying, 1_500)).toBe("Attempt 2 failed, retrying in 4 s (Esc interrupts): overloaded (529)")
  const work = { ...retrying, until: 0, reason: "connection lost: ECONNREFUSED, and more that does not fit" }
  expect(screen({ work })).toContain("| Attempt 2 failed, retrying now (Esc interrupts): connection lost: ECONN")
  expect(workText({ type: "working", since: 0 }, 65_000)).toBe("Working, 1:05 (Esc interrupts)")
})

test("L4-14 a compaction at work, and the one line that is left of it", () => {
  const compacting = {
    type: "compacting",
    since: 0,
    step: "writing a summary, 2,300 characters",
  } as const
  expect(workText(compacting, 12_000)).toBe("Compacting: writing a summary, 2,300 characters, 0:12 (Esc cancels)")
  const item = { kind: "compaction", tokensBefore: 167_000, summary: "Summary:\nAll is well.", restored: [] } as const
  const done = { ...item, outcome: { tokensAfter: 54_000, route: "notes" } }
  expect(screen({ items: [{ kind: "user", text: "Go on" }, done] })).toContain(
    "> Go on\n\n≡ Compacted: 167,000 to 54,000 tokens, from the notes. (Ctrl-O)\n",
  )
})

test("Ctrl-C says what the next one does", () => {
  expect(screen({ pressed: "ctrl-c" })).toContain("Press Ctrl-C again to exit. The conversation is kept.")
  expect(screen({ pressed: "esc" })).toContain("Press Esc again to go back to an earlier message.")
  expect(screen({ pressed: "esc", editor: editorWith("a") })).toContain("Press Esc again to clear the line.")
})

test("a line much longer than the window is wide takes no more rows than many short ones", () => {
  const rows = screen({ editor: editorWith("字x".repeat(2000)) }).split("\n")
  expect(rows.length).toBeLessThan(20)
  expect(rows.find((row) => row.includes("lines above"))).toContain("… 67 lines above")
  expect(rows.at(-2)).toMatch(/^ {2}字x/)
})

test("however many items there are, the window is listened to a few times only", async () => {
  const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 24 }) as unknown as NodeJS.WriteStream
  let max = 0
  stdout.on("newListener", () => {
    max = Math.max(max, stdout.listenerCount("resize") + 1)
  })
  const items = Array.from({ length: 50 }, (_, i) => ({ kind: "answer", text: `answer ${i}` }) as const)
  const app = render(h(Screen, { state: { ...STATE, items } }), { stdout, patchConsole: false })
  await app.waitUntilRenderFlush()
  app.unmount()
  expect(max).toBeLessThan(5) // with more than ten listeners, Node prints a warning on the screen
})
