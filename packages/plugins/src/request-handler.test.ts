import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Message } from "@strata/core/messages"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { sessionMessage } from "./claude-code-messages.ts"
import type { CompactResponse, UndoResponse } from "./compact-endpoint.ts"
import type { LearnResponse, MemoriesResponse } from "./memories.ts"
import type { CompactionLoss } from "./observe.ts"
import { handleRequest, handleSessionStartHook } from "./request-handler.ts"

const SESSION = "0f7f2a0e-52a9-4f0a-9a56-0c6e0d7f1a11"
let home: string
let lines: object[]
let last: string | null
let count: number

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "strata-plugins-"))
  lines = []
  last = null
  count = 0
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Adds a line as Claude Code writes it. */
function line(fields: object, { keepsTime }: { keepsTime?: string } = {}): string {
  const uuid = `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`
  const timestamp =
    keepsTime ?? `2026-11-17T02:00:${String(count % 60).padStart(2, "0")}.${String(count).padStart(3, "0")}Z`
  lines.push({ uuid, parentUuid: last, isSidechain: false, sessionId: SESSION, cwd: "/p", timestamp, ...fields })
  last = uuid
  return uuid
}
const says = (content: unknown) => line({ type: "user", message: { role: "user", content } })
const answers = (...content: unknown[]) =>
  line({ type: "assistant", message: { id: `msg_${count}`, role: "assistant", model: "claude-opus-5-5", content } })
function calls(name: string, input: object, output: string): void {
  const id = `toolu_${count}`
  answers({ type: "tool_use", id, name, input })
  says([{ type: "tool_result", tool_use_id: id, content: output }])
}
function compacts(text: string, flags: object = { isCompactSummary: true }): string {
  const logicalParentUuid = last
  last = null
  line({ type: "system", subtype: "compact_boundary", content: "Conversation compacted", logicalParentUuid })
  return line({ type: "user", message: { role: "user", content: text }, ...flags })
}
function save(): void {
  const folder = join(home, ".claude", "projects", "-p")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${SESSION}.jsonl`), lines.map((each) => `${JSON.stringify(each)}\n`).join(""))
}
const transcript = () => join(home, ".claude", "projects", "-p", `${SESSION}.jsonl`)
const asked = async <T>(request: object): Promise<T> =>
  (await handleRequest(JSON.stringify({ client: "claude-code", session: SESSION, ...request }), { HOME: home })) as T

function work(): void {
  says("Never touch port 48731. Fix the gateway.")
  calls("Edit", { file_path: "/p/src/gateway.ts", old_string: "a", new_string: "b" }, "The file was updated.")
  for (let at = 0; at < 30; at++)
    calls("Read", { file_path: `/p/src/part-${at}.ts` }, `export const part${at} = ${at}\n`.repeat(50))
  answers({ type: "text", text: "Fixed in commit 9f3e21c." })
}

/** The messages in the form in which Claude Code passes them to a plugin: no thinking, results cut. */
const withContent = () =>
  (lines as Message[])
    .filter(({ type }) => type === "user" || type === "assistant")
    .map((each) => ({ ...sessionMessage(each), handle: each.uuid }))
const inView = () =>
  (lines as { uuid: string; type: string; message: { content: unknown } }[])
    .filter(({ type }) => type === "user" || type === "assistant")
    .map(({ uuid, type }) => ({ role: type, text: "", toolUses: [], handle: uuid }))

describe("what plugins ask", () => {
  it("reads the whole transcript where the client's messages leave things out (BEY-16)", async () => {
    work()
    says("Now the tests.")
    save()
    const messages = inView()
    const { text, kept, tokens, transcript } = await asked<CompactResponse>({ messages, recall: "mcp__strata__recall" })
    expect(text).toContain("Never touch port 48731.")
    expect(text).toContain("/p/src/gateway.ts")
    expect(text).toContain(transcript)
    expect(kept.at(-1)).toBe(messages.length - 1)
    expect(tokens.after).toBeLessThan(tokens.before / 2)
  })

  it("L4-38 prunes results of the transcript, and names them by their call (BEY-16)", async () => {
    says("Never touch port 48731. Fix the gateway.")
    const part = "export const part = 1\n".repeat(50)
    calls("Read", { file_path: "/p/src/gateway.ts" }, part)
    calls("Edit", { file_path: "/p/src/gateway.ts", old_string: "a", new_string: "b" }, "The file was updated.")
    for (let at = 0; at < 4; at++) calls("Bash", { command: `echo ${at}` }, `${at}`)
    says("Go on.")
    save()
    const messages = inView()
    const request = { messages, mode: "prune", keep: 0, recall: "mcp__strata__recall" }
    const { text, pruned, kept, tokens } = await asked<CompactResponse>(request)
    expect(text).toBe("")
    expect(pruned).toEqual([
      { toolUseId: "toolu_1", text: expect.stringMatching(/the file was changed after this\. mcp__strata__recall: /) },
    ])
    expect(kept).toHaveLength(messages.length - 1)
    expect(tokens.after).toBeLessThan(tokens.before)
  })

  it("records what earlier compactions took out of view, and a kept message once (BEY-16)", async () => {
    work()
    const time = "2026-11-17T02:01:40.000Z"
    const kept = { type: "user", message: { role: "user", content: "Keep an eye on ticket QX-7001." } }
    line(kept, { keepsTime: time })
    const summary = compacts("This session is being continued from a previous conversation. They fixed something.")
    line(kept, { keepsTime: time })
    for (let at = 0; at < 30; at++) calls("Read", { file_path: `/p/src/new-${at}.ts` }, "const x = 1\n".repeat(100))
    save()
    const messages = inView().slice(inView().findIndex(({ handle }) => handle === summary))
    const { record } = await asked<Required<CompactResponse>>({ messages, data: true })
    expect(record.rules.map(({ text }) => text)).toContain("Never touch port 48731.")
    expect(record.words.filter(({ text }) => text.includes("QX-7001"))).toHaveLength(1)
    expect(record.words.map(({ text }) => text).join()).not.toContain("being continued")
  })

  it("records ahead of a compaction, and gives the same text as without (BEY-16)", async () => {
    work()
    save()
    expect(await asked<object>({ ask: "ahead" })).toEqual({ lines: lines.length })
    says("Now the tests, of ticket QX-7002.")
    answers({ type: "text", text: "They pass." })
    save()
    const ahead = await asked<Required<CompactResponse>>({ messages: withContent(), data: true })
    rmSync(join(home, ".strata"), { recursive: true })
    expect(await asked<CompactResponse>({ messages: withContent(), data: true })).toEqual(ahead)
    expect(ahead.record.words.map(({ text }) => text)).toContain("Now the tests, of ticket QX-7002.")
  })

  it("reads only the end of a transcript that is recorded (BEY-16)", async () => {
    work()
    save()
    await asked<object>({ messages: withContent() })
    const summary = compacts("This session is being continued from a previous conversation.")
    answers({ type: "text", text: "Fixed in commit 9f3e21c." }) // in the tail, which is written again
    says("Now the tests.")
    answers({ type: "text", text: "I look at them." })
    save()
    await asked<object>({ ask: "ahead" })
    const recorded = readFileSync(transcript()).lastIndexOf("\n", readFileSync(transcript()).length - 2) + 1
    for (let at = 0; at < 30; at++) calls("Read", { file_path: `/p/src/new-${at}.ts` }, "const x = 1\n".repeat(100))
    save()
    const end = readFileSync(transcript()).subarray(recorded)
    writeFileSync(transcript(), Buffer.concat([Buffer.alloc(recorded, "#"), end]))
    const messages = withContent().slice(withContent().findIndex(({ handle }) => handle === summary))
    const { record, text } = await asked<Required<CompactResponse>>({ messages, data: true })
    expect(record.rules.map((rule) => rule.text)).toEqual(["Never touch port 48731."])
    expect(record.words.map((word) => word.text)).toEqual([
      "Never touch port 48731. Fix the gateway.",
      "Now the tests.",
    ])
    expect(record.files.read).toContain("/p/src/new-29.ts")
    expect(text).toContain("9f3e21c")
  })

  it("forgets what the user went back from (BEY-16)", async () => {
    work()
    const there = last
    says("Always deploy on Fridays.")
    answers({ type: "text", text: "Understood." })
    save()
    await asked<object>({ ask: "ahead" })
    last = there
    says("Always deploy on Mondays.")
    answers({ type: "text", text: "Understood." })
    save()
    const { record } = await asked<Required<CompactResponse>>({ data: true })
    expect(record.rules.map(({ text }) => text)).toEqual(["Never touch port 48731.", "Always deploy on Mondays."])
  })

  it("computes a record again that was kept and cannot be read (BEY-16)", async () => {
    work()
    save()
    const carried = await asked<CompactResponse>({ messages: inView() })
    const kept = join(home, ".strata", "plugins", "sessions", `${SESSION}.json`)
    const other = { ...JSON.parse(readFileSync(kept, "utf8")), version: "0.0.1", state: {} }
    for (const damaged of ["{", JSON.stringify(other)]) {
      writeFileSync(kept, damaged)
      expect(await asked<CompactResponse>({ messages: inView() })).toEqual(carried)
    }
  })

  it("does not take its own text in a transcript for the user's words (BEY-16)", async () => {
    work()
    compacts("This conversation continues an earlier one that had become too long. Always deploy on Fridays.", {})
    for (let at = 0; at < 20; at++) calls("Read", { file_path: `/p/src/new-${at}.ts` }, "const x = 1\n".repeat(100))
    save()
    const { record } = await asked<Required<CompactResponse>>({ data: true })
    expect(record.rules.map(({ text }) => text)).toEqual(["Never touch port 48731."])
  })

  it("continues with the given messages where there is no transcript, or a damaged one (BEY-16)", async () => {
    work()
    says("Go on.")
    const messages = (lines as { type: string; uuid: string; message: { content: unknown } }[]).map((each) => ({
      role: each.type,
      content: each.message.content,
    }))
    const asks = (session?: string) =>
      handleRequest(JSON.stringify({ messages, ...(session ? { session } : {}) }), { HOME: home })
    expect(((await asks()) as CompactResponse).text).toContain("48731")
    expect(((await asks("../../etc/passwd")) as CompactResponse).text).toContain("48731")
    save()
    const file = join(home, ".claude", "projects", "-p", `${SESSION}.jsonl`)
    writeFileSync(file, `${readFileSync(file, "utf8").slice(0, 900)}\u0000{{{`)
    expect((await asked<CompactResponse>({ messages: inView() })).tokens.before).toBeGreaterThanOrEqual(0)
  })

  it("gives back what was in view before a compaction, and what came since (BEY-16)", async () => {
    work()
    compacts("This conversation continues an earlier one that had become too long for the context.", {})
    answers({ type: "text", text: "Fixed in commit 9f3e21c." }) // in the tail, which is written again
    says("One more thing: use tabs.")
    answers({ type: "text", text: "Done." })
    line({ type: "user", isMeta: true, message: { role: "user", content: "<local-command-caveat>…" } })
    save()
    const { messages } = await asked<UndoResponse>({ ask: "undo" })
    expect(messages[0]).toMatchObject({ role: "user", text: "Never touch port 48731. Fix the gateway." })
    expect(messages.slice(-3).map(({ text }) => text)).toEqual([
      ...["Fixed in commit 9f3e21c.", "One more thing: use tabs.", "Done."],
    ])
    expect(messages.filter(({ text }) => text.includes("9f3e21c"))).toHaveLength(1)
    expect(messages.map(({ text }) => text).join()).not.toContain("continues an earlier one")
    const used = messages.flatMap(({ toolUses }) => toolUses.map(({ tool_use_id }) => tool_use_id))
    const results = messages.flatMap(({ toolResults = [] }) => toolResults.map(({ tool_use_id }) => tool_use_id))
    expect(results).toEqual(used)
    expect(used).toHaveLength(31)
  })

  it("says that nothing is compacted (BEY-16)", async () => {
    work()
    save()
    expect(await asked<UndoResponse>({ ask: "undo" })).toEqual({ messages: [] })
    expect(await asked<CompactionLoss>({ ask: "observe" })).toMatchObject({ compactions: 0, usedAgain: 0 })
  })

  it("names what another compaction lost, once it is used again (BEY-16)", async () => {
    work()
    compacts("This session is being continued from a previous conversation. They worked on /p/src/gateway.ts.")
    calls("Bash", { command: "nc -l 48731 && git show 9f3e21c -- /p/src/gateway.ts" }, "ok")
    save()
    const { usedAgain, lost, lostWithStrata } = await asked<CompactionLoss>({ ask: "observe" })
    expect(lost).toEqual(expect.arrayContaining(["48731", "9f3e21c"]))
    expect(usedAgain).toBeGreaterThan(lost.length)
    expect(lostWithStrata).toBe(0)
  })

  it("recalls what the user typed in another session, and keeps a rule without a model (BEY-11)", async () => {
    const typed = (text: string, session = SESSION) =>
      asked<MemoriesResponse>({ ask: "memories", session, cwd: home, text, isFirst: true })
    expect((await typed("Hello there, how are you?")).hasMemories).toBe(false)
    const { learned } = await typed("From now on, always write commit messages in the imperative.")
    expect(learned).toHaveLength(1)
    const { context } = await typed("Write a commit message.", "another-session")
    expect(context.join("\n")).toContain("always write commit messages in the imperative")
  })

  it("keeps what a model finds in what was typed, with a source of its own (BEY-11)", async () => {
    const typed = ["I am new to Rust, and Maria reviews the importer."]
    const learn = (answered: object) => asked<LearnResponse>({ ask: "learn", cwd: home, typed, ...answered })
    const { prompt } = await learn({})
    expect(prompt).toContain(JSON.stringify(typed[0]))
    const file = (name: string, body: string) =>
      `<memory file="${name}.md">\n---\nname: ${name}\ndescription: who\ntype: user\nbasis: said\n---\n\n${body}\n</memory>`
    const { learned } = await learn({ answer: file("person", "I am new to Rust, and Maria reviews the importer.") })
    expect(learned).toEqual([expect.stringContaining("I am new to Rust")])
    expect((await learn({ answer: "no memory, and no end" })).learned).toEqual([])
    const { context } = await asked<MemoriesResponse>({ ask: "memories", cwd: home, text: "", isFirst: true })
    expect(context.join("\n")).toContain("new to Rust")
  })

  it("gives versions without mods the record after their own summary (BEY-16)", async () => {
    work()
    compacts("This session is being continued from a previous conversation.")
    save()
    const hook = (source: string) =>
      handleSessionStartHook(JSON.stringify({ session_id: SESSION, source }), { HOME: home })
    const { hookSpecificOutput } = (await hook("compact")) as { hookSpecificOutput: { additionalContext: string } }
    expect(hookSpecificOutput.additionalContext).toContain("Never touch port 48731.")
    expect(await hook("startup")).toEqual({})
  })

  it("says what is wrong with a request (BEY-16)", async () => {
    const refused = (text: string) => expect(handleRequest(text, { HOME: home })).rejects
    await refused("{").toThrow("The request is invalid")
    await refused("{}").toThrow('needs a list "messages"')
    await refused('{"ask":"dance"}').toThrow(
      '"ask" must be one of carry, ahead, compacted, undo, learn, memories, observe',
    )
    await refused('{"messages":[],"client":"vim"}').toThrow('"client" must be one of')
    await refused('{"messages":[],"budgget":1}').toThrow("budgget")
  })
})
