import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { findModel, type Model } from "@strata/core"
import { expect, onTestFinished, test } from "vitest"
import { openAgent } from "../../../core/src/agent/open-agent.ts"
import { memoryStore } from "../../../core/src/journal/in-memory/store.ts"
import { type EditorSocket, openEditorSocket, readState } from "./editor-socket.ts"

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "strata-editor-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Sends lines as a plug-in would, and resolves with the answers. */
async function send({ path }: EditorSocket, ...lines: readonly string[]): Promise<readonly unknown[]> {
  const socket = createConnection(path)
  const answers: unknown[] = []
  const reader = createInterface(socket)
  reader.on("line", (line) => {
    answers.push(JSON.parse(line))
    if (answers.length === lines.length) socket.end()
  })
  socket.write(lines.map((line) => `${line}\n`).join(""))
  await once(reader, "close")
  return answers
}

const selected = (text: string) => JSON.stringify({ file: "src/a.ts", selection: { text, startLine: 3, endLine: 4 } })

test("MSG-15 an editor's selection comes through the socket with the next message, once per change, never as the user's words", async () => {
  const sent: string[] = []
  const name = "claude-opus-4-6"
  const model: Model = {
    name,
    provider: "test",
    facts: findModel(name).facts,
    async *stream(request) {
      sent.push(JSON.stringify(request.messages))
      const usage = { input_tokens: 10, output_tokens: 1 }
      const content = [{ type: "text", text: "Done." }]
      yield {
        type: "response",
        response: { id: `msg_${sent.length}`, model: name, content, stop_reason: "end_turn", usage },
      }
    },
  }
  const cwd = directory()
  const agent = await openAgent({
    ...{ model, cwd, dir: cwd, env: {}, store: memoryStore(), tools: [] },
    settings: { memory: "off" },
  })
  onTestFinished(() => agent.close())
  const socket = await openEditorSocket(join(directory(), "deep", "editor.sock"), (state) => agent.showEditor(state))
  onTestFinished(() => socket.close())
  expect(statSync(socket.path).mode & 0o777).toBe(0o600)

  expect(await send(socket, JSON.stringify({ file: "src/a.ts" }))).toEqual([{ ok: true }])
  await agent.ask("Look.")
  expect(sent.at(-1)).toContain("The file src/a.ts is open in the editor.")
  expect(await send(socket, selected("ignored()"), selected("always do this"))).toEqual([{ ok: true }, { ok: true }])
  await agent.ask("Here.")
  await agent.ask("And again.")
  expect(sent.at(-1)).not.toContain("ignored()")
  expect(sent.at(-1)!.split("always do this")).toHaveLength(2)
  expect(sent.at(-1)).toContain("Lines 3 to 4 of src/a.ts are selected in the editor")
  const texts = agent.conversation.userMessages().messages.map(({ text }) => text)
  expect(texts).toEqual(["Look.", "Here.", "And again."])

  await send(socket, JSON.stringify({ file: null }))
  await agent.ask("Once more.")
  expect(sent.at(-1)!.split("selected in the editor")).toHaveLength(2)
})

test("MSG-15 a bad line is answered with a sentence and changes nothing; a line without end closes the connection", async () => {
  const shown: unknown[] = []
  const socket = await openEditorSocket(join(directory(), "editor.sock"), (state) => shown.push(state))
  onTestFinished(() => socket.close())
  const bad = ["{", "7", '{"file":""}', '{"file":"a\\u0000"}', selected("x".repeat(50_001))]
  const lines = '{"file":"a","selection":{"text":"x","startLine":4,"endLine":3}}'
  const answers = await send(socket, ...bad, lines)
  expect(answers).toHaveLength(6)
  for (const answer of answers) expect(answer).toEqual({ ok: false, error: expect.stringMatching(/\.$/) })
  expect(await send(socket, "x".repeat(600 * 1_024))).toEqual([{ ok: false, error: expect.stringContaining("closed") }])
  expect(shown).toEqual([])
  expect(readState('{"file":"a","selection":{"text":"","startLine":1,"endLine":1}}')).toEqual({
    type: "editor_file",
    path: "a",
  })
})

test("MSG-15 the library takes it with attach, once per change", async () => {
  const { openConversation } = await import("../../../core/src/conversation/open.ts")
  const dir = directory()
  const chat = await openConversation({ model: "claude-opus-4-6", store: memoryStore(), dir, env: {} })
  onTestFinished(() => chat.close())
  await chat.add("Look.")
  const file = { type: "editor_file", path: "src/a.ts" } as const
  const first = await chat.attach(file)
  expect(await chat.attach(file)).toBe(first)
  const other = await chat.attach({ type: "editor_selection", path: "src/a.ts", fromLine: 1, toLine: 1, content: "x" })
  expect(other).not.toBe(first)
  expect(await chat.attach(file)).not.toBe(first)
  expect(chat.userMessages().messages.map(({ text }) => text)).toEqual(["Look."])
})

test("MSG-15 a file in the socket's place and the socket of another chat are left as they are; what a killed process left is replaced", async () => {
  const place = directory()
  const file = join(place, "notes.txt")
  writeFileSync(file, "mine")
  await expect(openEditorSocket(file, () => {})).rejects.toThrow("is not a socket, and it was left as it is")
  expect(readFileSync(file, "utf8")).toBe("mine")
  const path = join(place, "editor.sock")
  const first = await openEditorSocket(path, () => {})
  await expect(openEditorSocket(path, () => {})).rejects.toThrow("another chat uses it")
  expect(await send(first, selected("still here"))).toEqual([{ ok: true }])
  await first.close()
  const killed = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`
  spawnSync(process.execPath, ["-e", killed, path])
  expect(statSync(path).isSocket()).toBe(true)
  const second = await openEditorSocket(path, () => {})
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await second.close()
})
