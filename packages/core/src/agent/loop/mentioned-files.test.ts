/** Files that a message mentions as `@path`, with the real loop and the real Read. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { calling, resultsIn, scene, type Turn } from "../../../test/scripted-agent.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { edit } from "../../tools/files/edit.ts"
import { read } from "../../tools/files/read.ts"
import type { SingleAgentOptions } from "../options.ts"
import type { QueryEvent } from "./query-events.ts"

async function asked(
  prompt: string,
  { turns = [] as readonly Turn[], ...options }: Partial<SingleAgentOptions> & { turns?: readonly Turn[] } = {},
) {
  const { cwd, open, requests } = scene()
  mkdirSync(join(cwd, "src"))
  writeFileSync(join(cwd, "src/a b.ts"), "one\ntwo\n")
  writeFileSync(join(cwd, "notes.txt"), "remember\n")
  writeFileSync(join(cwd, "secret.txt"), "the secret\n")
  const agent = await open(turns, {
    tools: [read, edit],
    settings: { permissions: { deny: ["Read(./secret.txt)"] } },
    ...options,
  })
  const events: QueryEvent[] = []
  for await (const event of agent.query(prompt, { mentions: true })) events.push(event)
  const problems = events.flatMap((event) => (event.type === "notice" ? [event.message] : []))
  const attached = events.flatMap((event) => (event.type === "attached" && event.kind === "file" ? [event.about] : []))
  return { events, problems, attached, sent: JSON.stringify(requests[0]!.messages), agent }
}

test("MSG-9 a file that the message names is sent with it, as Read shows it", async () => {
  const { sent, attached, problems } = await asked('Compare @notes.txt, and @"src/a b.ts".')
  expect(attached).toEqual(["notes.txt", "src/a b.ts"])
  expect(sent).toContain("The file notes.txt as it is on disk now")
  expect(sent).toContain("     1\\tone\\n     2\\ttwo")
  expect(problems).toEqual([])
})

test("PERM-1 a denied file and one outside the project are not sent, and the person is informed", async () => {
  const { sent, attached, problems } = await asked("Read @secret.txt and @/etc/hosts please")
  expect(attached).toEqual([])
  expect(sent).not.toContain("the secret")
  expect(sent).not.toContain("localhost")
  expect(problems).toEqual([
    '@secret.txt was not attached: the rule "Read(./secret.txt)" forbids it.',
    "@/etc/hosts was not attached: it reads outside the project.",
  ])
})

/** Creates the signature and header of a PNG. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(25)
  header.writeUInt32BE(13)
  header.write("IHDR", 4)
  header.writeUInt32BE(width, 8)
  header.writeUInt32BE(height, 12)
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), header])
}

test("an image is part of the message, as Read shows it; one that the API would refuse is not", async () => {
  const { cwd, open, requests } = scene()
  writeFileSync(join(cwd, "shot.png"), png(300, 40))
  writeFileSync(join(cwd, "wide.png"), png(9_000, 10))
  const agent = await open(["I see."], { tools: [read] })
  const events: QueryEvent[] = []
  for await (const event of agent.query("Look at @shot.png and @wide.png", { mentions: true })) events.push(event)
  const blocks = requests[0]!.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  expect(blocks.filter(({ type }) => type === "image")).toHaveLength(1)
  expect(events).toContainEqual({ type: "attached", kind: "file", about: "shot.png" })
  const problems = events.flatMap((event) => (event.type === "notice" ? [event.message] : []))
  expect(problems).toEqual([expect.stringMatching(/^@wide\.png was not attached: .*more than 8000 pixels on a side/)])
  expect(engineOf(agent.conversation).views.words.messages.at(-1)).toMatchObject({
    text: "Look at @shot.png and @wide.png",
  })
})

test("with a text, only the files that it names are attached", async () => {
  const { cwd, open, requests } = scene()
  writeFileSync(join(cwd, "notes.txt"), "remember\n")
  writeFileSync(join(cwd, "other.txt"), "something else\n")
  const agent = await open(["Done."], { tools: [read] })
  for await (const _ of agent.query("Use @notes.txt\n\nand @other.txt", { mentions: "Use @notes.txt" }));
  const sent = JSON.stringify(requests[0]!.messages)
  expect([sent.includes("remember"), sent.includes("something else")]).toEqual([true, false])
})

test("a hook before Read counts for a mention too", async () => {
  const hook = {
    event: "PreToolUse",
    name: "guard",
    run: () => ({ block: "not this one" }),
  } as const
  const { attached, problems } = await asked("@notes.txt", { hooks: [hook] })
  expect(attached).toEqual([])
  expect(problems).toEqual(["@notes.txt was not attached: not this one."])
})

test("a word that names no file is only a word", async () => {
  const { attached, problems } = await asked("Ask @bob about @src and me@notes.txt @types/node")
  expect([attached, problems]).toEqual([[], []])
})

test("a mentioned file can be edited at once", async () => {
  const change = calling("Edit", { file_path: "notes.txt", old_string: "remember", new_string: "forget" })
  const { events } = await asked("Change @notes.txt", { turns: [change, "Done."], mode: "accept-edits" })
  expect(resultsIn(events)[0]).not.toContain("Read it first")
})

test("a message typed while the agent works brings its files with it", async () => {
  const { cwd, open, requests } = scene()
  writeFileSync(join(cwd, "notes.txt"), "remember\n")
  const agent = await open([calling("Read", { file_path: "notes.txt" }), "Done."], { tools: [read] })
  for await (const event of agent.query("go"))
    if (event.type === "tool-result") await agent.enqueue("And @../nothing and @notes.txt", { mentions: true })
  const last = JSON.stringify(requests.at(-1)!.messages.at(-1))
  expect(last).toContain("The file notes.txt as it is on disk now")
  expect(last).toContain("And @../nothing")
})
