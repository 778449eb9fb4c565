import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { fileStore } from "../journal/file/file-store.ts"
import type { JournalAddress } from "../journal/store.ts"
import { handleOf } from "../messages/media.ts"
import { ConversationRecall } from "./conversation-recall.ts"

test("BEY-1 an agent that works for another one recalls only its own conversation", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root, flush: "never" })
  const written = async (address: JournalAddress, text: string) => {
    const journal = await store.open(address, { access: "write", create: true })
    onTestFinished(() => journal.close())
    const { messages } = conversation().user(text)
    await journal.append(messages)
    const past = new ConversationRecall({
      ...{ store, journal, isShared: true, namespaces: async () => ["p"] },
      estimate: (each) => each.length / 4,
    })
    onTestFinished(() => past.close())
    return { past, handle: handleOf(messages[0]!.uuid) }
  }
  const lead = await written({ project: "p", id: "lead" }, "the watchword of the lead")
  const other = await written({ project: "p", under: "lead", id: "agent-2" }, "the watchword of a sibling")
  const { past, handle } = await written({ project: "p", under: "lead", id: "agent-1" }, "the watchword is mine")
  const all = await past.search({ text: "watchword", in: "project", limit: 10 })
  expect(all.found.map(({ text }) => text)).toEqual(["the watchword is mine"])
  expect(all.gap).toBe("Only your own conversation was searched. Ask your lead for more.")
  expect(await past.findByHandle(`lead/${lead.handle}`)).toEqual([])
  expect(await past.findByHandle(`agent-2/${other.handle}`)).toEqual([])
  expect(await past.findByHandle(handle)).toHaveLength(1)
  expect(await lead.past.findByHandle(`agent-2/${other.handle}`)).toHaveLength(1)
})
