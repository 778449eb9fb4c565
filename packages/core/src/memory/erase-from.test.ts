import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { namespaceFor } from "../base/owner.ts"
import { internalsOf } from "../conversation/internals.ts"
import { openConversation } from "../conversation/open.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { PassageIndex } from "../recall/index/passage-index.ts"
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

test("BEY-12 nothing of an erased owner stays: no index, no socket of a killed process, no directory; what is open stays and is named", async () => {
  const home = join(root, "home")
  const store = fileStore({ root: home })
  const cwd = join(root, "shop")
  mkdirSync(cwd)
  const namespaces: string[] = []
  for (const owner of ["jane", "joe"]) {
    const chat = await openConversation({ model: "claude-opus-5-5", id: owner, store, cwd, env: {}, memory: { owner } })
    await chat.add("Hello")
    namespaces.push(basename(dirname(internalsOf(chat).journalFile!)))
    await chat.close()
  }
  const [jane, joe] = namespaces.map((project) => join(home, "projects", project)) as [string, string]
  await killedWithSocket(join(jane, "memory"))
  await killedWithSocket(jane)
  expect((await eraseFrom(store, { owner: "jane" })).left).toEqual([])
  expect([existsSync(jane), existsSync(joe)]).toEqual([false, true])

  mkdirSync(jane)
  const index = new PassageIndex(join(jane, "search.sqlite"))
  const open = await eraseFrom(store, { owner: "jane" })
  expect(open.left).toEqual([`search index ${namespaces[0]}: a process has it open. It contains nothing.`])
  expect(existsSync(join(jane, "search.sqlite"))).toBe(true)
  index.close()
  expect(await eraseFrom(store, { owner: "jane" })).toMatchObject({
    ...{ erased: [`search index ${namespaces[0]}`], left: [] },
  })
  expect(readdirSync(join(home, "projects"))).toEqual([namespaces[1]])
})

test("BEY-12 a directory in which a process holds a lock stays", async () => {
  const store = fileStore({ root: join(root, "home") })
  const project = namespaceFor("shop", "jane")
  const permit = await store.permit({ project, name: "agents" }).take({ id: "a", max: 1 })
  await eraseFrom(store, { owner: "jane", project: "shop" })
  expect(readdirSync(join(root, "home", "projects"))).toEqual([project])
  if (permit.state === "acquired") await permit.permit.release()
  await eraseFrom(store, { owner: "jane", project: "shop" })
  expect(readdirSync(join(root, "home", "projects"))).toEqual([])
})

/** Leaves a liveness socket that no process listens on. */
async function killedWithSocket(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const listen = `require("node:net").createServer().listen(".alive-0123abcd.sock", () => console.log("up"))`
  const child = spawn(process.execPath, ["-e", listen], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] })
  await once(child.stdout, "data")
  child.kill("SIGKILL")
  await once(child, "exit")
}
