/** Recall in a project whose Strata conversations are in a store without files. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { localUser, memoryStore, openConversation } from "@strata/core"
import { expect, onTestFinished, test } from "vitest"
import { handleOf } from "../../../core/src/messages/media.ts"
import { ProjectRecall } from "./project-recall.ts"

test("BEY-1 BEY-12 conversations in a store without files are searched and found by handle, and nothing is written to the disk", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "strata-past-")))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const store = memoryStore()
  const env = { HOME: home, STRATA_HOME: join(home, ".strata") }
  const options = { model: "claude-opus-5-5", memory: { owner: localUser }, store, cwd: home, env } as const
  const chat = await openConversation({ ...options, id: "3f09c1a2-0000-4000-8000-000000000001" })
  const uuid = await chat.add("The nightly importer crashed on the umlaut.")
  await chat.close()
  const past = new ProjectRecall({ cwd: home, env, store })
  onTestFinished(() => past.close())
  const source = past.sourceFor({ client: "claude-code" })
  const { found } = await source.search({ text: "nightly importer", in: "project", limit: 5 })
  expect(found.map(({ handle, text }) => [handle, text])).toEqual([
    [`3f09c1a2/${handleOf(uuid, 0)}`, "The nightly importer crashed on the umlaut."],
  ])
  expect(await source.findByHandle(`3f09c1a2/${handleOf(uuid)}`)).toHaveLength(1)
  expect((await past.storedConversations()).map(({ id }) => id)).toEqual(["3f09c1a2-0000-4000-8000-000000000001"])
  expect(readdirSync(home)).toEqual([])
})
