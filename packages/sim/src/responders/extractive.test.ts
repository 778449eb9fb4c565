/** The simulator's answers to questions about the conversation: in the requested form, short, and not perfect. */
import { describe, expect, test } from "vitest"
import { makeTurn, requestOf, TEST_TOOLS } from "../../test/responder-tools.ts"
import type { Answer, ResponderMessage } from "../responder.ts"
import { extractiveAnswer, extractiveResponder } from "./extractive.ts"

const call = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input })
const result = (id: string, content: string, is_error = false) => ({
  ...{ type: "tool_result", tool_use_id: id, content, is_error },
})
const says = (...texts: string[]): ResponderMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
})
const answers = (...content: object[]): ResponderMessage => ({ role: "assistant", content: content as never })
const results = (...content: object[]): ResponderMessage => ({ role: "user", content: content as never })

const CONVERSATION: readonly ResponderMessage[] = [
  says("Fix the timeout in src/net/retry.ts.", "Always run the linter before you commit."),
  answers(
    call("t1", "TodoWrite", { todos: [{ content: "Tell the team", status: "pending" }] }),
    call("t2", "Edit", { file_path: "/repo/src/net/retry.ts", old_string: "3000", new_string: "4500" }),
    call("t3", "Bash", { command: "npm test -- retry" }),
  ),
  results(result("t1", "ok"), result("t2", "Edited."), result("t3", "Error: expected 4500, got 3000", true)),
  answers({ type: "text", text: "The test still fails." }),
  says("No, do not touch the legacy folder."),
]

const ask = (prompt: string, messages = CONVERSATION, fields: object = {}): Answer | undefined =>
  extractiveAnswer(makeTurn({ ...requestOf([...messages, says(prompt)]), ...fields }))
const textOf = (answer: Answer | undefined): string =>
  answer?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? ""
const inputsOf = (answer: Answer | undefined): readonly Record<string, string>[] =>
  answer?.content.map((block) => ("input" in block ? (block.input as Record<string, string>) : {})) ?? []

const SECTIONS = `Write a summary of the conversation so far, after an <analysis>, inside <summary> tags, in these sections:
1. Primary Request and Intent: what was asked
2. Files and Code Sections: every file
3. Errors and Fixes: what failed
4. All User Messages: every one
5. Pending Tasks: what is open`

describe("BEY-8 summaries", () => {
  const summary = textOf(ask(SECTIONS))

  test("BEY-8 a summary has the sections that the prompt names, inside the tags it names", () => {
    expect(summary).toMatch(/^<analysis>\n[\s\S]*<\/analysis>\n\n<summary>\n[\s\S]*\n<\/summary>$/)
    expect(summary.match(/^\d\. .*:$/gm)).toEqual([
      ...["1. Primary Request and Intent:", "2. Files and Code Sections:", "3. Errors and Fixes:"],
      ...["4. All User Messages:", "5. Pending Tasks:"],
    ])
    for (const line of [
      'The user asked: "Fix the timeout in src/net/retry.ts."',
      "- `/repo/src/net/retry.ts` was changed.",
      '- `npm test -- retry` failed: "Error: expected 4500, got 3000"',
      '- The user corrected: "No, do not touch the legacy folder."',
      '- "Always run the linter before you commit."',
      "- [pending] Tell the team",
    ])
      expect(summary).toContain(line)
    expect(ask(SECTIONS)).toEqual(ask(SECTIONS))
  })

  test("BEY-8 a summary is short, and a summary of a summary keeps its content", () => {
    const long = Array.from({ length: 200 }, (_, index) => says(`Step ${index}: ${"words ".repeat(200)}`))
    expect(textOf(ask(SECTIONS, long)).length).toBeLessThan(12_000)
    const continued = says(`This session continues an earlier conversation.\n\nSummary:\n${summary}`, "Now the rest.")
    const second = textOf(ask(SECTIONS, [continued]))
    for (const kept of ["/repo/src/net/retry.ts", '- "Fix the timeout', "[pending] Tell the team", '- "Now the rest."'])
      expect(second).toContain(kept)
  })

  test("BEY-8 summaries of parts become one that has the messages and files of each", () => {
    const part = (index: number) =>
      says(
        `Summary of part ${index} of 2:\n\n1. Files and Code Sections:\n   - \`/repo/${index}.ts\` was read.\n\n` +
          `2. All User Messages:\n   - "Message ${index}."\n\n3. Pending Tasks:\n   - task ${index}`,
      )
    const merged = textOf(ask(SECTIONS, [part(1), part(2)]))
    for (const kept of ["/repo/1.ts", "/repo/2.ts", '- "Message 1."', '- "Message 2."', "- task 2"])
      expect(merged).toContain(kept)
  })

  test("BEY-8 it leaves an ordinary request alone", () => {
    for (const words of [
      ...["Fix the <summary> element in index.html.", "Write release notes.", "What is the status?"],
      ...["Use read_file on docs/memory.md", "Does docs/memory.md have frontmatter?", "Update docs/notes.md, please."],
      ...["Show me /memory", "Run `git status` and answer in one short sentence."],
    ])
      expect(ask(words), words).toBeUndefined()
    const answer = extractiveResponder().answer(makeTurn(requestOf([says("Hello")])))
    expect(answer).toEqual({ content: [{ type: "text", text: "You said: Hello" }] })
  })
})

describe("BEY-8 notes", () => {
  const NOTES =
    "# Current State\n_What is being done_\n\n# Task specification\n_What was asked_\n- kept by hand\n\n# Errors & Corrections\n_What went wrong_"
  const prompt = `Update the session notes in /home/me/notes/abc.md with the Edit tool.\n<notes>\n${NOTES}\n</notes>`

  test("BEY-8 notes are edited section by section, and what was written manually stays", () => {
    let notes = NOTES
    for (const { file_path, old_string = "", new_string = "" } of inputsOf(
      ask(prompt, CONVERSATION, { tools: TEST_TOOLS }),
    )) {
      expect(file_path).toBe("/home/me/notes/abc.md")
      expect(notes.split(old_string)).toHaveLength(2)
      notes = notes.replace(old_string, () => new_string)
    }
    expect(notes.match(/^# .*\n_.*_$/gm)).toEqual(NOTES.match(/^# .*\n_.*_$/gm))
    expect(notes).toContain('_What was asked_\n- kept by hand\nThe user asked: "Fix the timeout')
  })

  test("BEY-8 notes: after the edits it says so, after a failed edit it reads the file", () => {
    const first = ask(prompt, CONVERSATION, { tools: TEST_TOOLS })!
    const after = (failed: boolean) => {
      const done = first.content.map((block) => result(("id" in block && block.id) || "", "x", failed))
      const messages = [
        ...CONVERSATION.slice(0, -1),
        says("Go on.", prompt),
        answers(...first.content),
        results(...done),
      ]
      return extractiveAnswer(makeTurn({ ...requestOf(messages), tools: TEST_TOOLS }))
    }
    expect(textOf(after(false))).toBe("The notes are up to date.")
    expect(after(true)?.content).toMatchObject([{ name: "Read", input: { file_path: "/home/me/notes/abc.md" } }])
  })

  test("BEY-8 notes are the changed sections between the tags the prompt names, or the whole text", () => {
    const asText = prompt.replace("with the Edit tool.", "as text, between <new_notes> and </new_notes>.")
    const text = textOf(ask(asText, CONVERSATION, { tools: TEST_TOOLS }))
    expect(text).toMatch(/^<new_notes>\n# Current State\nThe last step was Bash[\s\S]*\n<\/new_notes>$/)
    expect(text).not.toContain("_What is being done_")
    expect(textOf(ask(prompt))).toMatch(/^# Current State\n_What is being done_\n/)
  })
})

describe("BEY-8 memories, dreams, progress", () => {
  test("BEY-8 a rule becomes a memory, as text or as a file, unless it is there already", () => {
    const form = '<memory file="name.md">\n---\nname: Name\n---\n</memory>'
    const about = "Write memories with frontmatter. They are in the memory directory /home/me/memory."
    const text = textOf(ask(`${about}\n${form}`))
    expect(text).toMatch(
      /^<memory file="feedback-always-run-the-linter-\w+\.md">\n---\n[\s\S]*type: feedback[\s\S]*<\/memory>$/m,
    )
    const [written] = inputsOf(ask(about, CONVERSATION, { tools: TEST_TOOLS }))
    expect(written?.file_path).toMatch(/^\/home\/me\/memory\/feedback-.*\.md$/)
    expect(written?.content).toContain("\n\nAlways run the linter before you commit.")
    const line = "- feedback-linter.md: Always run the linter before you commit."
    const known = `${about}\n${form}\n<existing_memories>\n${line}\n</existing_memories>`
    expect(textOf(ask(known))).not.toContain("always-run-the-linter")
    expect(textOf(ask(`${about}\n${form}\n${line}`))).toContain("always-run-the-linter") // not a memory
  })

  test("BEY-8 a dream reads what is listed, and the newest of two equal memories supersedes the other", () => {
    const list = "- new.md (today)\n- old.md (long ago)"
    const start = [says(`Consolidate the memory directory /m. It is a copy.\n<memories>\n${list}\n</memories>`)]
    const next = (messages: readonly ResponderMessage[]) => {
      const answer = extractiveAnswer(makeTurn({ ...requestOf(messages), tools: TEST_TOOLS }, messages.length))!
      const file = "---\nname: Tests\n---\n\nTests run on Node 24."
      const done = answer.content.map((block) => result(("id" in block && block.id) || "", file))
      return { answer, messages: [...messages, answers(...answer.content), results(...done)] }
    }
    const read = next(start)
    expect(inputsOf(read.answer)).toEqual([{ file_path: "/m/new.md" }, { file_path: "/m/old.md" }])
    const written = next(read.messages)
    expect(inputsOf(written.answer)).toEqual([
      { file_path: "/m/new.md", content: "---\nname: Tests\nsupersedes: [old.md]\n---\n\nTests run on Node 24." },
    ])
    expect(textOf(next(written.messages).answer)).toBe("Done.")
  })

  test("BEY-8 a progress line names the last action", () => {
    expect(textOf(ask("Describe your progress in one short sentence."))).toBe("Using Bash npm test -- retry")
  })
})
