import { describe, expect, test } from "vitest"
import { isFromUser, userText } from "../../../../core/src/messages/messages.ts"
import { project } from "../../../../core/src/views/projection.ts"
import { artifacts, fileFate } from "../../../../core/src/views/record/artifacts.ts"
import { importTranscript } from "../import-file.ts"

const state = (open: string) => `\n(Open file: ${open})\n(Current directory: /repo)\nbash-$`
const window = (file: string) => `[File: ${file} (3 lines total)]\n1:x${state(file)}`
const REFUSED = `Your proposed edit has introduced new syntax error(s).\n[File: /repo/b.py (3 lines total)]${state("/repo/b.py")}`

/** Commands and the observations after each. */
const COMMANDS: readonly (readonly [string, string])[] = [
  ["create new.py", window("/repo/new.py")],
  ["edit 1:1\nx\nend_of_edit", window("/repo/new.py")],
  ["create gone.py", window("/repo/gone.py")],
  ["rm gone.py", `Your command ran successfully.${state("/repo/new.py")}`],
  ["open b.py", window("/repo/b.py")],
  ["edit 2:2\n(\nend_of_edit", REFUSED],
  ["open a.py", window("/repo/a.py")],
  ["insert 'x'", window("/repo/a.py")],
]
const TASK = { role: "user", content: `Fix it.${state("n/a")}` }
const SYSTEM = { role: "system", content: "You work in a shell." }
const SUBMISSION = ["a.py", "c/made.py"]
  .map((path) => `diff --git a/${path} b/${path}\n${path.startsWith("c") ? "new file mode 100644\n" : ""}@@ -1 +1 @@\n`)
  .join("")
const info = { submission: SUBMISSION, model_stats: { tokens_sent: 900, tokens_received: 70, api_calls: 9 } }

/** Before version 1: commands are in the text, and user messages contain their output. */
const inText = {
  trajectory: COMMANDS.map(([action, observation]) => ({
    ...{ action, observation, response: `So.\n\`\`\`\n${action}\n\`\`\`` },
    state: '{"open_file": "n/a", "working_dir": "/repo"}',
  })),
  history: [
    SYSTEM,
    TASK,
    ...COMMANDS.flatMap(([action, content]) => [
      { role: "assistant", content: `So.\n\`\`\`\n${action}\n\`\`\``, action },
      { role: "user", content },
    ]),
  ],
  info,
}

const calls = COMMANDS.flatMap(([action, content], at) => [
  {
    ...{ role: "assistant", content: "So.", action },
    tool_calls: [{ id: `c${at}`, function: { name: action.split(" ")[0], arguments: "{}" } }],
  },
  { role: "tool", content, tool_call_ids: [`c${at}`] },
])
/** Since version 1: commands are calls, and each step contains the messages up to it. */
const asCalls = {
  trajectory: COMMANDS.map((_, at) => ({
    messages: [SYSTEM, TASK, ...calls.slice(0, 2 * at + 2)],
    state: { working_dir: "/repo" },
  })),
  history: [SYSTEM, TASK, ...calls],
  info,
}

const read = (text: string) => importTranscript({ name: "run.traj", text })[0]!
const asText = (document: object) => JSON.stringify(document, null, 2)

describe("JRN-6: trajectories of SWE-agent", () => {
  test.each([
    ["commands in the text", inText],
    ["commands as calls", asCalls],
  ])("%s: the files that edits changed, and what was submitted", (_, document) => {
    const { messages } = read(asText(document))
    const { files } = project(artifacts, messages)
    expect([...files].map(([path, facts]) => [path, fileFate(facts)]).toSorted()).toEqual([
      ["/repo/a.py", "changed"],
      ["/repo/c/made.py", "created"],
      ["/repo/gone.py", "deleted"],
      ["/repo/new.py", "created"],
    ])
    expect(messages.filter(isFromUser).map(userText)).toEqual([TASK.content])
  })

  test("totals are billed", () => {
    expect(read(asText(asCalls)).spent).toMatchObject([
      { purpose: "main", requests: 9, usage: { input_tokens: 900, output_tokens: 70 } },
    ])
  })

  test("a file cut off in its history continues with the steps", () => {
    const text = asText(inText)
    const whole = read(text).messages
    const { messages, report } = read(text.slice(0, text.indexOf('"action": "open b.py"', text.indexOf('"history"'))))
    expect(messages.map(({ type }) => type)).toEqual(whole.map(({ type }) => type))
    expect(messages.filter(isFromUser).map(userText)).toEqual([TASK.content])
    expect(report.notes.join("\n")).toMatch(/the file ends early[\s\S]*read from the steps/)
  })

  test("a file cut off before its history is read from the steps", () => {
    const text = asText(asCalls)
    const { messages, report } = read(text.slice(0, text.lastIndexOf('"messages"')))
    expect(messages).toHaveLength(read(text).messages.length - 2)
    expect(messages.filter(isFromUser).map(userText)).toEqual([TASK.content])
    expect(report.notes.join("\n")).toContain("read from the steps")
  })
})

describe("JRN-6: outputs of OpenHands", () => {
  const task = (id: string) => ({
    instance_id: id,
    history: ["One.", "Two.", "Three."].map((content, at) => ({
      ...{ id: at, source: "user", action: "message", args: { content } },
    })),
  })
  const text = [task("a"), task("b")].map((line) => `${JSON.stringify(line)}\n`).join("")
  const textAfter = (given: string) =>
    importTranscript({ name: "output.jsonl", text: given }).map(({ messages }) => messages.filter(isFromUser).length)

  test("a task that is cut off is read as far as it goes, and one written twice counts once", () => {
    expect(textAfter(text)).toEqual([3, 3])
    expect(textAfter(text.slice(0, text.lastIndexOf("Three")))).toEqual([3, 2])
    expect(textAfter(text + text)).toEqual([3, 3])
  })
})
