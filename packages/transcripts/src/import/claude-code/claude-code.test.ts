import { describe, expect, test } from "vitest"
import { renderAttachment } from "../../../../core/src/messages/attachment-texts.ts"
import { flatten } from "../../../../core/src/messages/flatten.ts"
import { isFromUser, userText } from "../../../../core/src/messages/messages.ts"
import { listActiveBranch } from "../active-branch.ts"
import { attachmentFrom } from "./attachments.ts"
import { claudeCode } from "./claude-code.ts"
import { BOOKKEEPING } from "./kinds.ts"

const AT = "2026-01-01T00:00:00.000Z"

function read(...lines: readonly object[]) {
  const text = lines.map((line) => JSON.stringify({ timestamp: AT, sessionId: "s1", cwd: "/repo", ...line })).join("\n")
  const [conversation] = claudeCode.read({ name: "x.jsonl", text })
  return conversation!
}

const user = (uuid: string, parentUuid: string | null, content: unknown) => ({
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
})
const assistantLine = (uuid: string, parentUuid: string | null, id: string, content: unknown) => ({
  type: "assistant",
  uuid,
  parentUuid,
  message: { role: "assistant", id, model: "claude-x", content, usage: { input_tokens: 1, output_tokens: 2 } },
})
const use = (id: string) => [{ type: "tool_use", id, name: "Read", input: {} }]
const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: `result of ${id}` }]

describe("JRN-6: Claude Code transcripts", () => {
  test("the program's notes are known, and the newest title counts", () => {
    const { title, report } = read(
      { type: "custom-title", customTitle: "first" },
      user("a", null, "hi"),
      { type: "custom-title", customTitle: "second" },
      { type: "mode", mode: "normal" },
      { type: "quantum-state", uuid: "q", parentUuid: "a" },
    )
    expect(title).toBe("second")
    expect(report.understood).toEqual({ "custom-title": 2, user: 1, mode: 1 })
    expect(report.notUnderstood).toEqual({ "quantum-state": 1 })
  })

  test("what follows a line that was not understood follows its parent", () => {
    const { messages } = read(
      user("a", null, "hi"),
      { type: "new", uuid: "n", parentUuid: "a" },
      assistantLine("b", "n", "m1", "hello"),
    )
    expect(messages.at(-1)).toMatchObject({ uuid: "b", parentUuid: "a" })
  })

  test("BEY-16: a plugin's text after a boundary is a summary, and what it kept follows the boundary", () => {
    const at = (line: object, timestamp: string) => ({ ...line, timestamp })
    const boundary = {
      type: "system",
      subtype: "compact_boundary",
      uuid: "z",
      parentUuid: null,
      logicalParentUuid: "c",
    }
    const { messages } = read(
      at(user("a", null, "hi"), "2026-01-01T00:00:01.000Z"),
      at(assistantLine("b", "a", "m1", use("t1")), "2026-01-01T00:00:02.000Z"),
      at(user("c", "b", result("t1")), "2026-01-01T00:00:03.000Z"),
      at(boundary, "2026-01-01T00:00:04.000Z"),
      at(
        user("s", "z", "This conversation continues an earlier one that had become too long."),
        "2026-01-01T00:00:05.000Z",
      ),
      at(assistantLine("b2", "s", "m1", use("t1")), "2026-01-01T00:00:02.000Z"),
      at(user("c2", "b", result("t1")), "2026-01-01T00:00:03.000Z"), // its parent is the line before the boundary
      at(assistantLine("d", "c2", "m2", "done"), "2026-01-01T00:00:06.000Z"),
    )
    expect(messages.find(({ uuid }) => uuid === "s")).toMatchObject({ isCompactSummary: true })
    expect(messages.find(({ uuid }) => uuid === "c2")).toMatchObject({ parentUuid: "b2" })
    expect(listActiveBranch(messages).map(({ uuid }) => uuid)).toEqual(["a", "b", "c", "z", "s", "b2", "c2", "d"])
  })

  test("lines that name each other as parents do not go round for ever", () => {
    const { messages } = read(
      { type: "new", uuid: "n", parentUuid: "o" },
      { type: "new", uuid: "o", parentUuid: "n" },
      user("a", "o", "hi"),
      user("b", "b", "me"),
    )
    expect(messages.map(({ parentUuid }) => parentUuid)).toEqual([null, "a"]) // the order of the file decides
    expect(listActiveBranch(messages).map(({ uuid }) => uuid)).toEqual(["a", "b"])
  })

  test.each([[null], [7], [[null]], [["text"]], [[{ type: "text" }]], [[{ type: "tool_result" }]]])(
    "content %j is no content: counted, not read",
    (content) => {
      const prompt = { type: "queued_command", prompt: content }
      const { report } = read(user("a", null, content), assistantLine("b", "a", "m", content), {
        type: "attachment",
        uuid: "c",
        parentUuid: "b",
        attachment: prompt,
      })
      expect(report.notUnderstood).toEqual({
        "user without content": 1,
        "assistant without content": 1,
        "attachment:queued_command": 1,
      })
    },
  )

  test("a line that is written twice is read once", () => {
    const { messages, report } = read(user("a", null, "hi"), user("a", null, "hi"))
    expect(messages).toHaveLength(1)
    expect(report.understood).toEqual({ user: 1, "user again": 1 })
  })

  test("MSG-5: where the program changed the input of a call, what the model wrote counts", () => {
    const call = [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }]
    const line = { ...assistantLine("b", "a", "m1", call), wireToolInputs: { t1: { command: "cd src && ls" } } }
    expect(read(user("a", null, "hi"), line).messages[1]).toMatchObject({
      message: { content: [{ id: "t1", input: { command: "cd src && ls" } }] },
    })
  })

  test("MSG-2: parallel calls are one turn on the main path, an abandoned branch is not on it", () => {
    const { messages, report } = read(
      user("q", null, "look"),
      assistantLine("a1", "q", "m1", use("t1")),
      assistantLine("a2", "a1", "m1", use("t2")),
      user("r1", "a1", result("t1")),
      user("r2", "a2", result("t2")),
      assistantLine("old", "r2", "m2", "that was wrong"),
      user("again", "r2", "try again"),
    )
    expect(listActiveBranch(messages).map(({ uuid }) => uuid)).toEqual(["q", "a1", "a2", "r1", "r2", "again"])
    expect(report.notes).toContain("messages on abandoned branches: 1")
    const { messages: flat, repairs } = flatten(listActiveBranch(messages))
    expect(flat.map(({ role, content }) => `${role} ${content.length}`)).toEqual(["user 1", "assistant 2", "user 3"])
    expect(repairs).toEqual([])
  })

  test("input that was queued is the user's messages", () => {
    const queued = { type: "queued_command", prompt: "and the tests", commandMode: "prompt", origin: { kind: "human" } }
    const { messages } = read(user("a", null, "hi"), {
      type: "attachment",
      uuid: "b",
      parentUuid: "a",
      attachment: queued,
    })
    expect(messages[1]).toMatchObject({ type: "user", message: { content: [{ type: "text", text: "and the tests" }] } })
  })
})

describe("JRN-6: input that was queued in Claude Code", () => {
  const queue = (operation: string, content?: string) => ({ type: "queue-operation", operation, content })
  const begin = [
    user("q", null, "look"),
    assistantLine("a1", "q", "m1", use("t1")),
    queue("enqueue", "and mind the tests"),
  ]
  const wordsIn = (...lines: readonly object[]) =>
    listActiveBranch(read(...begin, ...lines).messages).filter(isFromUser)

  test("what was slipped into a turn comes before the answer to it, on the main path", () => {
    const { messages } = read(
      ...begin,
      user("r1", "a1", result("t1")),
      queue("remove"),
      assistantLine("a2", "r1", "m2", "I do"),
      user("z", "a2", "fine"),
    )
    const path = listActiveBranch(messages)
    expect(path.map(({ uuid }) => uuid)).toEqual(["q", "a1", "r1", messages[3]?.uuid, "a2", "z"])
    expect(messages[3]).toMatchObject({ type: "user", message: { content: [{ text: "and mind the tests" }] } })
    expect(flatten(path).repairs).toEqual([])
  })

  test("what was given back, or has a message of its own, is not imported twice", () => {
    const own = user("own", "a1", "and mind the tests")
    const queued = { type: "queued_command", prompt: "and mind the tests" }
    const attached = { type: "attachment", uuid: "att", parentUuid: "a1", attachment: queued }
    expect(wordsIn(queue("popAll"), assistantLine("a2", "a1", "m2", "hm"))).toHaveLength(1)
    expect(wordsIn(queue("dequeue"), own)).toHaveLength(2)
    expect(wordsIn(queue("remove"), attached, assistantLine("a2", "att", "m2", "hm"))).toHaveLength(2)
    expect(wordsIn(attached, queue("remove"), assistantLine("a2", "att", "m2", "hm"))).toHaveLength(2)
  })

  test("a command to the program and a notice of a task in JSON are not the user's", () => {
    const queued = (input: string) => [queue("enqueue", input), queue("remove"), assistantLine("a2", "q", "m2", "hm")]
    for (const input of ["/exit", "/config theme dark", '{"task_id":"b1","tool_use_id":"t","task_type":"local_bash"}'])
      expect(read(user("q", null, "look"), ...queued(input)).messages.filter(isFromUser)).toHaveLength(1)
    expect(read(user("q", null, "look"), ...queued("/usr/bin is full")).messages.filter(isFromUser)).toHaveLength(2)
  })

  test("newer versions say which input was taken from the queue", () => {
    const words = wordsIn(queue("enqueue", "second"), queue("remove", "second"), assistantLine("a2", "a1", "m2", "hm"))
    expect(words.map(userText)).toEqual(["look", "second"])
  })

  test("a report of a background task is not the user's", () => {
    const task = [queue("enqueue", "<task-notification>done"), queue("remove"), assistantLine("a2", "q", "m2", "hm")]
    expect(read(user("q", null, "look"), ...task).messages.filter(isFromUser)).toHaveLength(1)
    const report = { ...user("q", null, "done"), origin: { kind: "task-notification" } }
    expect(read(report).messages.filter(isFromUser)).toHaveLength(0)
  })
})

describe("JRN-6: attachments of Claude Code", () => {
  test.each([
    [
      { type: "file", filename: "a.ts", content: { type: "text", file: { filePath: "/a.ts", content: "x" } } },
      { type: "file", path: "/a.ts", content: "x" },
    ],
    [
      { type: "compact_file_reference", filename: "/a.ts" },
      { type: "compact_file_reference", path: "/a.ts" },
    ],
    [
      { type: "nested_memory", path: "/C.md", content: { content: "rule" } },
      { type: "nested_memory", path: "/C.md", content: "rule" },
    ],
    [
      { type: "task_reminder", content: [{ subject: "do", status: "pending" }] },
      { type: "todo_list", todos: [{ content: "do", status: "pending" }] },
    ],
    [
      { type: "skill_listing", content: "- a: one\n  more\n- b: two", names: ["a", "b"] },
      {
        type: "skill_listing",
        skills: [
          { name: "a", description: "one\n  more" },
          { name: "b", description: "two" },
        ],
      },
    ],
    [
      { type: "agent_listing_delta", addedTypes: ["a"], addedLines: ["- a: one"], removedTypes: [] },
      { type: "agent_listing", agents: [{ name: "a", description: "one" }] },
    ],
    [
      { type: "deferred_tools_delta", addedNames: ["T"], addedLines: ["T"], removedNames: ["U"] },
      { type: "tool_delta", added: [{ name: "T" }], removed: ["U"] },
    ],
    [
      { type: "mcp_instructions_delta", addedNames: ["s"], addedBlocks: ["## s"], removedNames: [] },
      { type: "mcp_instructions", server: "s", instructions: "## s" },
    ],
    [
      { type: "hook_additional_context", hookName: "h", content: ["a", "b"] },
      { type: "hook_output", hook: "h", content: "a\nb", audience: "model" },
    ],
    [
      { type: "hook_system_message", hookName: "h", content: "a" },
      { type: "hook_output", hook: "h", content: "a", audience: "person" },
    ],
    [
      {
        type: "hook_blocking_error",
        hookName: "h",
        hookEvent: "Stop",
        blockingError: { blockingError: "no", command: "c" },
      },
      { type: "hook_output", hook: "h", content: "no", audience: "model" },
    ],
    [
      { type: "plan_mode", reminderType: "full", planFilePath: "/plan.md", planExists: false },
      { type: "plan_mode", active: true, path: "/plan.md" },
    ],
    [
      { type: "plan_mode_exit", planFilePath: "/plan.md", planExists: true },
      { type: "plan_mode", active: false, path: "/plan.md" },
    ],
    [
      { type: "directory", path: "/src", displayPath: "src", content: "a.ts\nb.ts" },
      { type: "foreign", text: "The directory /src has:\na.ts\nb.ts" },
    ],
    [
      { type: "read_truncation_notice", content: "Only 2000 lines were read." },
      { type: "foreign", text: "Only 2000 lines were read." },
    ],
    [
      { type: "total_tokens_reminder", tokens: 14_984_855 },
      { type: "foreign", kind: "total_tokens_reminder" },
    ],
  ])("$type becomes one of ours", (data, expected) => {
    expect(attachmentFrom(data)).toMatchObject({ understood: true, attachment: expected })
  })

  test("a kind without a counterpart keeps its data and says what the model was sent", () => {
    const { attachment } = attachmentFrom({ type: "edited_text_file", filename: "/a.ts", snippet: "1\tx" })
    expect(attachment).toMatchObject({ type: "foreign", kind: "edited_text_file" })
    expect(renderAttachment(attachment)[0]?.text).toContain("/a.ts was changed by someone else")
  })

  test("since 2.1.280 the line has the text that the model was sent", () => {
    const line = { rendered: [{ content: "first" }, { content: [{ type: "text", text: "second" }] }] }
    const read = attachmentFrom({ type: "silent_turn_reminder" }, { ...line, renderedRole: "system" })
    expect(read).toMatchObject({ understood: true, attachment: { type: "foreign", text: "first\nsecond" } })
    const listed = attachmentFrom({ type: "compact_file_reference", filename: "/a.ts" }, line)
    expect(listed.attachment).toEqual({ type: "compact_file_reference", path: "/a.ts" })
  })

  test("the recorded system prompt and tools are the conversation's, the newest of each", () => {
    const snapshot = (uuid: string, more: object) => ({
      type: "attachment",
      uuid,
      parentUuid: null,
      attachment: { type: "prompt_snapshot", ...more },
      rendered: [{ content: "never sent" }],
    })
    const schema = { name: "Bash", input_schema: { type: "object" } }
    const { system, tools, messages, report } = read(
      snapshot("p", { systemPrompt: ["You are an agent.", "Be brief."], tools: [{ name: "Bash", schema }] }),
      snapshot("q", { systemPrompt: "Be very brief." }),
    )
    expect([system, tools]).toEqual(["Be very brief.", [schema]])
    expect(messages.flatMap((m) => (m.type === "attachment" ? renderAttachment(m.attachment) : []))).toEqual([])
    expect(report.notUnderstood).toEqual({})
  })

  test.each(Object.keys(BOOKKEEPING))("%s is a line of the program, not a message", (type) => {
    const { messages, report } = read(user("a", null, "hi"), { type })
    expect(messages).toHaveLength(1)
    expect(report).toMatchObject({ understood: { user: 1, [type]: 1 }, notUnderstood: {} })
  })

  test("an unknown kind or shape is imported unchanged and not understood", () => {
    const hologram = { type: "hologram", light: 1 }
    expect(attachmentFrom(hologram)).toEqual({
      kind: "hologram",
      understood: false,
      attachment: { type: "foreign", kind: "hologram", data: hologram },
    })
    expect(attachmentFrom({ type: "file", content: "?" }).understood).toBe(false)
    const newer = { type: "next_reminder", content: ["The build", "is red."], level: 2 }
    expect(attachmentFrom(newer)).toEqual({
      kind: "next_reminder",
      understood: false,
      attachment: { type: "foreign", kind: "next_reminder", data: newer, text: "The build\nis red." },
    })
  })
})
