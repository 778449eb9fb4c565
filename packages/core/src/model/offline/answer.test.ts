import { describe, expect, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { answerOffline } from "./answer.ts"
import type { AnswerBlock, OfferedTool, ReadMessage } from "./read-message.ts"
import { summarize } from "./summary.ts"

const tool = (name: string, ...fields: string[]): OfferedTool => ({
  name,
  input_schema: {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
    required: fields,
  },
})
const TOOLS = [
  tool("Read", "file_path"),
  tool("Write", "file_path", "content"),
  tool("Edit", "file_path", "old_string", "new_string"),
]

type Answer = readonly AnswerBlock[]

const NINE_SECTIONS = `CRITICAL: answer with text only, call no tools.
Write a summary of the conversation so far. First think inside <analysis> tags:
1. Walk through the conversation in order.
2. Check that nothing is missing.
Then, inside <summary> tags, these sections:
1. Primary Request and Intent: what the user asked for
2. Key Technical Concepts: what was talked about
3. Files and Code Sections: every file, with snippets
4. Errors and Fixes: what failed, what the user corrected
5. Problem Solving: what was solved
6. All User Messages: every one that is not a tool result
7. Pending Tasks: only what was explicitly asked
8. Current Work: what was done just before this
9. Optional Next Step: in line with the latest request
Remember: text only.`

const OTHER_WORDING = `Please summarise this session for a colleague who takes over.

## Goal
What is wanted.
## Messages from the user
Word for word.
## Commands
Which were run, and how they ended.
## Open ends
What remains.`

const NOTES = `# Session Title
_A short title_

# Current State
_What is being done_

# Task specification
_What was asked_

# Errors & Corrections
_What went wrong_
- kept by hand

# Worklog
_Step by step_
`

const USER_MESSAGES = [
  "Please fix the timeout in src/net/retry.ts, it must be 4500 ms.\\nAnd add a test.\n\n1. first this\n2. then that\n# not a heading\n3. done",
  'No, do not touch the "legacy" folder.',
  "Weiter so, und bitte auf Deutsch antworten: größer als 12 ist verboten 🚫",
]

function call(id: string, name: string, input: unknown) {
  return { type: "tool_use", id, name, input }
}

function result(id: string, content: string, is_error = false) {
  return { type: "tool_result", tool_use_id: id, content, is_error }
}

function says(...texts: string[]): ReadMessage {
  return { role: "user", content: texts.map((text) => ({ type: "text", text })) }
}

const CONVERSATION: readonly ReadMessage[] = [
  says("<system-reminder>The date is today.</system-reminder>", USER_MESSAGES[0]!),
  {
    role: "assistant",
    content: [
      { type: "text", text: "I will look at the file." },
      call("t1", "TodoWrite", {
        todos: [
          { content: "Fix the timeout", status: "completed" },
          { content: "Add a test for 4500", status: "in_progress" },
          { content: "Tell the team", status: "pending" },
        ],
      }),
      call("t2", "Read", { file_path: "/repo/src/net/retry.ts" }),
    ],
  },
  { role: "user", content: [result("t1", "ok"), result("t2", "     1→const TIMEOUT = 3000")] },
  {
    role: "assistant",
    content: [
      call("t3", "Edit", { file_path: "/repo/src/net/retry.ts", old_string: "3000", new_string: "4500" }),
      call("t4", "Bash", { command: "npm test -- retry" }),
      call("t5", "Bash", { command: "npm run lint" }),
    ],
  },
  {
    role: "user",
    content: [
      result("t3", "Edited."),
      result("t4", "FAIL retry.test.ts\nError: expected 4500, got 3000", true),
      result("t5", "lint: error in retry.ts", true),
      { type: "text", text: USER_MESSAGES[1]! },
    ],
  },
  { role: "assistant", content: [call("t6", "Bash", { command: "npm run lint" })] },
  { role: "user", content: [result("t6", "clean")] },
  { role: "assistant", content: [{ type: "text", text: "Lint is clean now; the test still fails." }] },
  says(USER_MESSAGES[2]!),
]

const answerTo = (messages: readonly ReadMessage[], tools: readonly OfferedTool[] = []): Answer | undefined => {
  let calls = 0
  return answerOffline({ request: { messages, tools }, nextToolUseId: () => `toolu_${calls++}` })
}

const ask = (prompt: string, messages = CONVERSATION, tools: readonly OfferedTool[] = []): Answer | undefined =>
  answerTo([...messages, says(prompt)], tools)

function textOf(answer: Answer | undefined): string {
  return answer?.map((block) => (block.type === "text" ? block.text : "")).join("") ?? ""
}

/** All strings in the messages. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value
  return typeof value === "object" && value !== null ? Object.values(value).map(wordsOf).join("\n") : ""
}

/** What a summary presents as quoted: quotations, back-quoted text, fenced blocks. */
function quotedIn(summary: string): string[] {
  const fences = [...summary.matchAll(/^(~{3,})\n([\s\S]*?)\n\1$/gm)].map((match) => match[2]!)
  const rest = summary.replace(/^(~{3,})\n[\s\S]*?\n\1$/gm, "")
  return [
    ...fences,
    ...[...rest.matchAll(/`([^`\n]+)`|: "(.*)"$|- "(.*)"$/gm)].map((match) => match[1] ?? match[2] ?? match[3]!),
  ]
}

describe("BEY-6 extractive summaries", () => {
  const summary = textOf(ask(NINE_SECTIONS))

  test("BEY-6 an extractive summary has the sections that the prompt names, inside the tags it names", () => {
    expect(summary).toMatch(/^<analysis>\n[\s\S]*<\/analysis>\n\n<summary>\n[\s\S]*\n<\/summary>$/)
    const titles = [...summary.matchAll(/^(\d)\. (.*):$/gm)].map((match) => `${match[1]} ${match[2]}`)
    expect(titles).toEqual([
      "1 Primary Request and Intent",
      "2 Key Technical Concepts",
      "3 Files and Code Sections",
      "4 Errors and Fixes",
      "5 Problem Solving",
      "6 All User Messages",
      "7 Pending Tasks",
      "8 Current Work",
      "9 Optional Next Step",
    ])
  })

  test("BEY-6 an extractive summary follows a differently worded prompt", () => {
    const other = textOf(ask(OTHER_WORDING))
    expect(other.match(/^\d\. .*:$/gm)).toEqual([
      "1. Goal:",
      "2. Messages from the user:",
      "3. Commands:",
      "4. Open ends:",
    ])
    for (const message of USER_MESSAGES) expect(other).toContain(message)
    expect(other).toContain("`npm test -- retry` failed: `FAIL retry.test.ts`")
    expect(other).toContain("[pending] `Tell the team`")
    expect(other).not.toContain("<summary>")
  })

  test("BEY-6 an extractive summary lists every user message verbatim and nothing else as the user's", () => {
    const section = /6\. All User Messages:\n([\s\S]*?)\n\n7\. /.exec(summary)![1]!
    for (const message of USER_MESSAGES) expect(section).toContain(message)
    expect(section).not.toContain("system-reminder")
    expect(summary).not.toContain("text only")
  })

  test("BEY-6 an extractive summary has files, remaining failures, fixes, corrections and open todos", () => {
    expect(summary).toContain("`/repo/src/net/retry.ts` (read, changed)")
    expect(summary).toContain("`npm test -- retry` failed: `FAIL retry.test.ts`")
    expect(summary).toContain("`npm run lint` failed: `lint: error in retry.ts`, passed later")
    expect(summary).toContain(`the user: "${USER_MESSAGES[1]}"`)
    expect(summary).toMatch(
      /7\. Pending Tasks:\n {3}- \[in_progress\] `Add a test for 4500`\n {3}- \[pending\] `Tell the team`/,
    )
  })

  test("BEY-6 everything an extractive summary quotes occurs in the conversation", () => {
    const words = wordsOf(CONVERSATION)
    const quoted = quotedIn(summary)
    expect(quoted.length).toBeGreaterThan(15)
    for (const piece of quoted) expect(words).toContain(piece)
  })

  test.runIf(isWhole)("BEY-6 a summary of a summary keeps every user message, over twenty generations", () => {
    let messages: readonly ReadMessage[] = CONVERSATION
    const userMessages = [...USER_MESSAGES]
    for (let generation = 0; generation < 20; generation++) {
      const text = `This session continues an earlier conversation.\n\nSummary:\n${textOf(ask(NINE_SECTIONS, messages)).replace(/[\s\S]*<summary>|<\/summary>/g, "")}`
      userMessages.push(`Now step ${generation}:\n- keep "this" exact\n7. and that`)
      messages = [
        says(text, userMessages.at(-1)!),
        { role: "assistant", content: [call(`g${generation}`, "Read", { file_path: `/repo/${generation}.md` })] },
        { role: "user", content: [result(`g${generation}`, "1→x")] },
      ]
    }
    const last = textOf(ask(NINE_SECTIONS, messages))
    const section = /6\. All User Messages:\n([\s\S]*?)\n\n7\. Pending/.exec(last)![1]!
    for (const message of userMessages) expect(section.split(message)).toHaveLength(2)
    expect(last).toContain("`/repo/src/net/retry.ts` (read, changed)")
    expect(last).toContain("`/repo/0.md` (read)")
    expect(last).toContain("[pending] `Tell the team`")
  })

  test("BEY-6 entries of an earlier summary are updated: failures that passed, todos that are done", () => {
    const before = says(`Summary:\n${summarize(CONVERSATION)}`, "No, use `npm` and not `yarn`.")
    const content = [
      call("u1", "Bash", { command: "npm test -- retry" }),
      call("u2", "TodoWrite", { todos: [{ content: "Tell the team", status: "completed" }] }),
    ]
    const after = summarize([
      before,
      { role: "assistant", content },
      { role: "user", content: [result("u1", "ok"), result("u2", "ok")] },
    ])
    expect(after).toContain("`npm test -- retry` failed: `FAIL retry.test.ts`, passed later")
    expect(after).toContain("7. Pending Tasks:\n   Nothing in the conversation.")
    expect(after).toContain('the user: "No, use `npm` and not `yarn`."')
    const untouched = summarize([before, { role: "assistant", content: [call("u3", "Read", { file_path: "a.md" })] }])
    expect(untouched).toContain("[pending] `Tell the team`")
    expect(untouched).not.toContain("FAIL retry.test.ts`, passed")
  })

  test("BEY-6 a compaction of the server gets a summary that counts as one when it comes back", () => {
    const instructions = "Keep what is needed."
    const request = { messages: [...CONVERSATION, says(instructions)] }
    const text = textOf(answerOffline({ request, nextToolUseId: () => "toolu_1", summary: { instructions } }))
    expect(text).toBe(summarize(CONVERSATION))
    const later = summarize([says(text, "And now the rest.")])
    const section = /6\. All User Messages:\n([\s\S]*?)\n\n7\. Pending/.exec(later)![1]!
    for (const message of [...USER_MESSAGES, "And now the rest."]) expect(section.split(message)).toHaveLength(2)
    expect(later.match(/Optional Next Step/g)).toHaveLength(1)
  })

  test("BEY-6 it leaves an ordinary request alone", () => {
    for (const words of [
      "Fix the <summary> element in index.html.",
      "Write release notes.",
      "Does it use much memory?",
      "What is the status?",
    ]) {
      expect(ask(words), words).toBeUndefined()
    }
  })
})

describe("BEY-6 extractive notes, memories, progress", () => {
  const prompt = `Update the session notes in /home/me/notes/abc.md with the Edit tool.\n<current_notes>\n${NOTES}</current_notes>\nKeep headings and descriptions.`

  test("BEY-6 notes are edited section by section, and each old text is exactly what is in the file", () => {
    const answer = ask(prompt, CONVERSATION, TOOLS)
    let notes = NOTES
    for (const block of answer ?? []) {
      if (block.type !== "tool_use" || !("input" in block)) continue
      const input = block.input as Record<string, string>
      expect(block.name).toBe("Edit")
      expect(input.file_path).toBe("/home/me/notes/abc.md")
      expect(notes.split(input.old_string!)).toHaveLength(2)
      notes = notes.replace(input.old_string!, () => input.new_string!)
    }
    expect(notes.match(/^# .*\n_.*_$/gm)).toEqual(NOTES.match(/^# .*\n_.*_$/gm))
    expect(notes).toContain("- kept by hand")
    expect(notes).toContain(USER_MESSAGES[0])
    expect(notes).toContain("- Bash `npm test -- retry`, failed")
    expect(notes).toContain("# Session Title\n_A short title_\n- Please fix the timeout in src/net/retry.ts, it must")
  })

  test("BEY-6 notes: after the edits it says so, after a failed edit it reads the file", () => {
    const first = ask(prompt, CONVERSATION, TOOLS)!
    const calls = first.filter((block) => block.type === "tool_use")
    const after = (failed: boolean) => [
      ...CONVERSATION.slice(0, -1),
      says(USER_MESSAGES[2]!, prompt),
      { role: "assistant" as const, content: first as ReadMessage["content"] },
      {
        role: "user" as const,
        content: calls.map(({ id = "" }) => result(id, failed ? "not read yet" : "Edited.", failed)),
      },
    ]
    const answerAfter = (failed: boolean) => answerTo(after(failed), TOOLS)
    expect(textOf(answerAfter(false))).toBe("The notes are up to date.")
    expect(answerAfter(true)).toMatchObject([{ name: "Read", input: { file_path: "/home/me/notes/abc.md" } }])
  })

  test("BEY-6 notes are the text of the answer if no tool is offered", () => {
    const text = textOf(ask(prompt))
    expect(text).toMatch(/^# Session Title\n_A short title_\n/)
    expect(text).toContain(USER_MESSAGES[1])
  })

  test("BEY-6 notes are the changed sections, between the tags the prompt names, if it asks for text", () => {
    const asText = prompt.replace("with the Edit tool.", "as text: write them between <new_notes> and </new_notes>.")
    const text = textOf(ask(asText, CONVERSATION, TOOLS))
    expect(text).toMatch(/^<new_notes>\n# Session Title\n- Please fix[\s\S]*\n<\/new_notes>$/)
    expect(text).toContain("- kept by hand")
    expect(text).not.toContain("_A short title_")
    const [, written = ""] = /^# Session Title\n([\s\S]*?)\n\n# /m.exec(text) ?? []
    const upToDate = asText.replace("_A short title_\n", () => `_A short title_\n${written}\n`)
    expect(textOf(ask(upToDate, CONVERSATION, TOOLS))).not.toContain("# Session Title")
  })

  test("BEY-6 notes that mention memories are still notes", () => {
    const about = "The notes, for a time of shorter memory, are in /home/me/notes/abc.md:"
    const notes =
      "# Session Title\n_A short title_\n\n# Files\n_Which_\nsrc/memory/MEMORY.md has frontmatter.\n\n# Worklog\n_Steps_"
    const text = textOf(ask(`Update the session notes. ${about}\n\n<notes>\n${notes}\n</notes>`))
    expect(text).toMatch(/^# Session Title\n_A short title_\n/)
  })

  test("BEY-6 memories are the user's standing rules, one file each, with an index that is read first", () => {
    const memoryPrompt =
      "Save what is worth remembering as memory files with frontmatter in /home/me/memory/ (index: MEMORY.md)."
    const rule = "Always run the linter before you commit."
    const before = CONVERSATION.slice(0, -1)
    const first = ask(memoryPrompt, [...before, says(rule)], TOOLS)!
    expect(first).toMatchObject([{ name: "Read", input: { file_path: "/home/me/memory/MEMORY.md" } }])
    const [read] = first
    const messages: ReadMessage[] = [
      ...before,
      says(rule, memoryPrompt),
      { role: "assistant", content: first as ReadMessage["content"] },
      { role: "user", content: [result((read?.type === "tool_use" && read.id) || "", "No such file", true)] },
    ]
    const second = answerTo(messages, TOOLS)!
    const inputs = second.map((block) => ("input" in block ? (block.input as Record<string, string>) : {}))
    expect(inputs.at(-1)!.file_path).toBe("/home/me/memory/MEMORY.md")
    expect(inputs.some(({ content = "" }) => content.includes("type: feedback") && content.includes(rule))).toBe(true)
  })

  test("BEY-6 a progress line names the last action", () => {
    expect(textOf(ask("Describe your progress in one short sentence."))).toBe("Running npm run lint")
  })
})
