/** A power failure loses unflushed data: a journal then ends at the last flush. Indexes may be newer than the journal. */
import { cpSync, statSync, truncateSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test, vi } from "vitest"
import { localUser } from "../../src/base/owner.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { openConversation } from "../../src/public-functions.ts"
import { defineTool } from "../../src/tools/define-tool.ts"
import { calling, scene } from "../scripted-agent.ts"
import { scratchDirectory } from "../tool-context.ts"

const MODEL = "claude-opus-4-6"

/** Tracks which bytes of each file are flushed, with a delay. `cut` copies a directory in its state after a power failure. */
async function disk() {
  const flushed = new Map<number, number>()
  const any = await open(join(scratchDirectory(), "any"), "w")
  const handles = Object.getPrototypeOf(any) as FileHandle
  const flush = handles.datasync
  const spy = vi.spyOn(handles, "datasync").mockImplementation(async function (this: FileHandle) {
    const { ino, size } = await this.stat()
    for (let turn = 0; turn < 20; turn++) await setImmediate() // unawaited work gets far
    await flush.call(this)
    flushed.set(ino, Math.max(size, flushed.get(ino) ?? 0))
  })
  onTestFinished(async () => {
    spy.mockRestore()
    await any.close()
  })
  return {
    cut(directory: string, journal: string): string {
      const copy = scratchDirectory()
      const kept = flushed.get(statSync(join(directory, journal)).ino) ?? 0
      cpSync(directory, copy, { recursive: true, filter: (path) => !/\.lock|\.sock/.test(path) })
      truncateSync(join(copy, journal), kept)
      return copy
    },
  }
}

const journalOf = (chat: Conversation) => join("projects", engineOf(chat).namespace, `${chat.id}.jsonl`)
const openIn = (dir: string) => openConversation({ dir, cwd: "/project", id: "c", model: MODEL, env: {} })

test("JRN-3 a power cut after record() loses neither the answer nor what was added before it; one during the request loses only what was added", async () => {
  const { cut } = await disk()
  const dir = scratchDirectory()
  const chat = await openIn(dir)
  onTestFinished(() => chat.close())
  const questions: string[] = []
  for (let turn = 1; turn <= 4; turn++) {
    await chat.add(`question ${turn}`)
    await chat.prepare()
    const before = await openIn(cut(dir, journalOf(chat)))
    expect(before.userMessages().messages.map(({ text }) => text)).toEqual(questions)
    await before.close()
    await chat.record({ content: [{ type: "text", text: `answer ${turn}` }], stop_reason: "end_turn" })
    questions.push(`question ${turn}`)
    const after = await openIn(cut(dir, journalOf(chat)))
    expect(after.userMessages().messages.map(({ text }) => text)).toEqual(questions)
    expect(JSON.stringify((await after.prepare()).messages)).toContain(`answer ${turn}`)
    await after.close()
  }
})

test("JRN-3 with `durable`, what the request says is on disk before prepare() resolves", async () => {
  const { cut } = await disk()
  const dir = scratchDirectory()
  const chat = await openIn(dir)
  onTestFinished(() => chat.close())
  await chat.add("question")
  await chat.prepare({ durable: true })
  const after = await openIn(cut(dir, journalOf(chat)))
  expect(after.userMessages().messages.map(({ text }) => text)).toEqual(["question"])
  await after.close()
})

test("JRN-3 no tool with effects runs before its call is on disk", async () => {
  const { cut } = await disk()
  const { open: openAgent, dir, cwd } = scene()
  const found: string[] = []
  const memory = { owner: localUser } as const
  const tool = defineTool({
    name: "Deploy",
    description: "Deploys.",
    inputSchema: { type: "object", properties: {} },
    async execute() {
      const copy = cut(dir, journalOf(agent.conversation))
      const after = await openConversation({
        dir: copy,
        cwd,
        id: "scene",
        memory,
        model: MODEL,
        env: {},
        mustExist: true,
      })
      for await (const entry of after.entries()) if (entry.type === "assistant") found.push(JSON.stringify(entry))
      await after.close()
      return "deployed"
    },
  })
  const store = fileStore({ root: dir, flush: "turn" })
  const agent = await openAgent([calling("Deploy"), "Done."], { tools: [tool], mode: "bypass", store })
  for await (const _ of agent.query("Deploy it.")) {
    // the tool checks the conversation
  }
  expect(found).toHaveLength(1)
  expect(found[0]).toContain('"name":"Deploy"')
})
