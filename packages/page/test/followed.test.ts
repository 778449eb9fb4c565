/** What a page hears of a file that another one replaces, and of a conversation while others are looked at. Real files and HTTP. */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { FollowedConversation } from "../src/live/followed-conversation.ts"
import { makeConversation } from "./made-conversation.ts"
import { sourceOf, startTrial } from "./trial-pages.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-followed-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const made = (rounds: number, text: string) => makeConversation({ dir, cwd: dir, rounds, texts: [text] })

describe("BEY-10 a journal that another one replaces, larger than it was", () => {
  it.each([
    ["as another file", renameSync],
    ["in the same file", copyFileSync],
  ])("is read from its beginning: %s", async (_, replace) => {
    const { file } = await made(2, "first")
    const { file: other } = await made(1, "second".repeat(5_000))
    const long = readFileSync(other)
    writeFileSync(other, long.subarray(0, long.indexOf("\n") + 1)) // one line, longer than all of the first journal
    const followed = await FollowedConversation.open(file)
    replace(other, file)
    await followed.update()
    expect(JSON.stringify(followed.rows)).not.toContain("first")
    expect(JSON.stringify(followed.rows)).toContain("second")
  })

  it("and what is only added to it is taken as it comes", async () => {
    const { file } = await made(3, "first")
    const whole = readFileSync(file)
    const cut = whole.subarray(0, whole.length / 2).lastIndexOf("\n") + 1
    writeFileSync(file, whole.subarray(0, cut))
    const followed = await FollowedConversation.open(file)
    const { fold } = followed
    appendFileSync(file, whole.subarray(cut))
    await followed.update()
    expect(followed.rows).toEqual((await FollowedConversation.open(file)).rows)
    expect(followed.fold).toBe(fold)
  })
})

it("BEY-10 a page that listens goes on hearing from its conversation when many others are opened", async () => {
  const files = await Promise.all(Array.from({ length: 8 }, (_, n) => made(1, `number ${n}`)))
  const { page, base } = await startTrial(
    sourceOf(Object.fromEntries(files.map(({ file }, n) => [`c${n}`, { title: `${n}`, file }]))),
  )
  try {
    const entered = await fetch(page.address, { redirect: "manual" })
    const headers = { cookie: entered.headers.get("set-cookie")!.split(";")[0]! }
    const events = (await fetch(`${base}/c/c0/events`, { headers })).body!.pipeThrough(new TextDecoderStream())
    const heard = events.getReader()
    expect((await heard.read()).value).toContain('"rows":')
    for (let n = 1; n < files.length; n++) await fetch(`${base}/c/c${n}/rows`, { headers })
    copyFileSync(files[1]!.file, files[0]!.file)
    expect((await heard.read()).value).toContain('"rows":')
  } finally {
    await page.close()
  }
})
