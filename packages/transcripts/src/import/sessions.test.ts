/** Sessions of other programs to continue, on a machine with thousands of files. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { listExternalSessions } from "./sessions.ts"

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "strata-sessions-")))
})
afterEach(() => rmSync(home, { recursive: true }))

const CWD = "/work/my.app"
const FOLDER = "-work-my-app"

function put(path: string, text: string, second: number): void {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text.replaceAll(NO_TIME_YET, new Date(second * 1_000).toISOString()))
  utimesSync(file, second, second)
}
const NO_TIME_YET = "2026-01-01T00:00:00.000Z" // `put` writes the time of the file instead
const claude = (id: string, text: string) =>
  `${JSON.stringify({ type: "user", uuid: "u", parentUuid: null, timestamp: NO_TIME_YET, sessionId: id, message: { role: "user", content: text } })}\n`
const codex = (id: string, cwd: string, text: string) =>
  [
    {
      timestamp: NO_TIME_YET,
      type: "session_meta",
      payload: { id, cwd, timestamp: NO_TIME_YET },
    },
    {
      timestamp: NO_TIME_YET,
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    },
  ]
    .map((one) => `${JSON.stringify(one)}\n`)
    .join("")
const list = () => listExternalSessions({ cwd: CWD, home, env: { HOME: home } })

describe("JRN-6 sessions of other programs", () => {
  test("of this directory come first, newest first, with their titles", async () => {
    put(`.claude/projects/${FOLDER}/one.jsonl`, claude("one", "The first question\nand more"), 100)
    put(`.claude/projects/${FOLDER}/two.jsonl`, claude("two", "The second question"), 300)
    put(".claude/projects/-work-other/three.jsonl", claude("three", "Elsewhere"), 900)
    put(".codex/sessions/2026/01/01/rollout-x.jsonl", codex("four", CWD, "Asked of Codex"), 200)
    put(".codex/sessions/2026/01/01/rollout-y.jsonl", codex("five", "/work", "Codex elsewhere"), 800)
    const rows = (await list()).map(({ program, title, isHere }) => [program, title, isHere])
    expect(rows).toEqual([
      ["claude-code", "The second question", true],
      ["codex", "Asked of Codex", true],
      ["claude-code", "The first question", true],
      ["claude-code", "Elsewhere", false],
      ["codex", "Codex elsewhere", false],
    ])
  })

  test("have the time of their last message, also where the file was touched later", async () => {
    const line = (at: string, text: string) =>
      claude("old", text).replace(NO_TIME_YET, at).replace('"uuid":"u"', `"uuid":"${at}"`)
    const tail = `${JSON.stringify({ type: "last-prompt", sessionId: "old", note: 'said "timestamp":"2026-05-05T00:00:00Z"' })}\n`
    const lines = line("2026-02-01T08:00:00.000Z", "First") + line("2026-02-01T09:30:00.000Z", `x`.repeat(60_000))
    put(`.claude/projects/${FOLDER}/old.jsonl`, lines + tail, Date.parse("2026-06-01T00:00:00Z") / 1_000)
    put(`.claude/projects/${FOLDER}/new.jsonl`, claude("new", "Newer"), Date.parse("2026-03-01T00:00:00Z") / 1_000)
    expect((await list()).map(({ id, lastMessageMs }) => [id, new Date(lastMessageMs).toISOString()])).toEqual([
      ["new", "2026-03-01T00:00:00.000Z"],
      ["old", "2026-02-01T09:30:00.000Z"],
    ])
  })

  test("a line that only announces the next one is shown with it", async () => {
    const asked = "\nImplement the following plan:\n\n# Plan: JSON by default\n\nMore."
    put(`.claude/projects/${FOLDER}/plan.jsonl`, claude("plan", asked), 100)
    put(`.claude/projects/${FOLDER}/end.jsonl`, claude("end", "Do this:"), 90)
    expect((await list()).map(({ title }) => title)).toEqual([
      "Implement the following plan: Plan: JSON by default",
      "Do this:",
    ])
  })

  test("that cannot be read are listed without a title; links are not followed", async () => {
    put(`.claude/projects/${FOLDER}/torn.jsonl`, '{"type":"user","mess', 100)
    put(`.claude/projects/${FOLDER}/empty.jsonl`, "", 90)
    put("secret.jsonl", claude("x", "secret"), 200)
    symlinkSync(join(home, "secret.jsonl"), join(home, `.claude/projects/${FOLDER}/link.jsonl`))
    expect((await list()).map(({ title }) => title)).toEqual([undefined, undefined])
  })

  test("of a long file only the beginning is read, and no more than 50 are listed", async () => {
    const long = claude("long", "The question") + claude("long", "x".repeat(2_000_000))
    put(`.claude/projects/${FOLDER}/long.jsonl`, long, 5_000)
    for (let nth = 0; nth < 200; nth++)
      put(`.claude/projects/${FOLDER}/${nth}.jsonl`, claude(`${nth}`, `Nr ${nth}`), nth)
    const rows = await list()
    expect(rows).toHaveLength(50)
    expect(rows.slice(0, 2).map(({ title }) => title)).toEqual(["The question", "Nr 199"])
  })
})
