/** Conversations of one process share resources: one index per owner, closed with the last of them. */
import { readdirSync, readlinkSync } from "node:fs"
import { expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/public-functions.ts"
import { needs } from "../../needs.ts"
import { scratchDirectory } from "../../tool-context.ts"

const MANY = 6
const MODEL = "claude-opus-4-6"

/** How often each index under a directory is open in this process. */
function openIndexes(directory: string): readonly number[] {
  const links = readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return [] // closed since
    }
  })
  const indexes = links.filter((file) => file.startsWith(directory) && file.endsWith("search.sqlite"))
  return [...Map.groupBy(indexes, (file) => file).values()].map(({ length }) => length)
}

test(
  "BEY-5 many conversations of two owners: each index is open once, each finds its owner's messages, and all close with the last",
  needs("linux"),
  async () => {
    const dir = scratchDirectory()
    const open = (owner: string, nth: number) =>
      openConversation({ dir, cwd: "/project", id: `${owner}-${nth}`, memory: { owner }, model: MODEL, env: {} })
    const chats = []
    for (const owner of ["anna", "bert"]) for (let nth = 0; nth < MANY; nth++) chats.push(await open(owner, nth))
    for (const chat of chats) {
      const [owner] = chat.id.split("-")
      await chat.add(`The heron of ${owner} nests at pier ${chat.id}, near the old lighthouse.`)
      await chat.prepare()
      await chat.record({ content: [{ type: "text", text: "Noted." }], stop_reason: "end_turn" })
    }
    for (const chat of chats) await chat.whenIdle()
    expect(openIndexes(dir)).not.toEqual([])
    expect(openIndexes(dir).every((times) => times === 1)).toBe(true)
    await engineOf(chats[0]!).past.search({ text: "heron", in: "project", limit: 1 }) // waits for the index; a message does not
    await chats[0]!.add("Where does the heron nest, near the old lighthouse?")
    const asked = JSON.stringify((await chats[0]!.prepare()).messages)
    expect(asked).toMatch(/pier anna-[1-9]/) // a different one
    expect(asked).not.toContain("pier bert-")
    for (const chat of chats) await chat.close()
    await new Promise(setImmediate)
    expect(openIndexes(dir)).toEqual([])
  },
)
