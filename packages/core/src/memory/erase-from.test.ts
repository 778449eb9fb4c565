import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { namespaceFor } from "../base/owner.ts"
import { openConversation } from "../conversation/open.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { eraseFrom } from "./erase-from.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "strata-erase-"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test("BEY-12 erasing an owner finds what was written in a directory whose path is too long for a name", async () => {
  const cwd = join(root, ...Array.from({ length: 8 }, (_, n) => `a-directory-with-a-long-name-${n}`))
  mkdirSync(cwd, { recursive: true })
  const store = fileStore({ root: join(root, "home") })
  for (const owner of ["jane", "joe"]) {
    const chat = await openConversation({ model: "claude-opus-5-5", store, cwd, env: {}, memory: { owner } })
    await chat.add("Hello")
    await chat.close()
  }
  const { before, after, erased } = await eraseFrom(store, { owner: "jane" })
  expect([before.conversations, after.conversations, erased.length]).toEqual([1, 0, 1])
  expect((await eraseFrom(store, { owner: "joe", dryRun: true })).before.conversations).toBe(1)
})

test("BEY-12 a team is erased when no one works in it any more, and before that it is left and named", async () => {
  const store = fileStore({ root: join(root, "home") })
  const project = namespaceFor("shop", "jane")
  const team = store.mailboxes({ project, team: "t" })
  const membership = await team.join({ name: "anna", conversation: "c" })
  await team.send({ from: "anna", to: ["ben"], content: { text: "hello" } })
  expect(await eraseFrom(store, { owner: "jane", project: "shop" })).toMatchObject({
    erased: [],
    left: [`team ${project}/t: anna is in it. Stop it first.`],
  })
  expect((await team.read(undefined)).messages).toHaveLength(1)
  await membership.leave(undefined)
  expect(await eraseFrom(store, { owner: "jane", project: "shop" })).toMatchObject({ left: [] })
  expect((await team.read(undefined)).messages).toEqual([])
  await team.close()
})
