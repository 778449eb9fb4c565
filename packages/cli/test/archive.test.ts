/** `strata archive`: copying, listing, restoring and erasing sessions, and the hook of Claude Code. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, type Place, runProcess, strata } from "./strata-process.ts"

const ID = "1f1f1f1f-2222-4333-8444-555555555555"
const OTHER = "2e2e2e2e-2222-4333-8444-555555555555"
let place: Place
beforeEach(() => {
  place = emptyPlace()
})
afterEach(() => place.remove())

const here = (...args: string[]) => strataHere(args, place)
const fileOf = (id: string) => join(place.cwd, ".claude", "projects", "-home-ann-shop", `${id}.jsonl`)

function session(id: string, { text = "Fix the parser", cwd = "/home/ann/shop" } = {}): string {
  const path = fileOf(id)
  mkdirSync(dirname(path), { recursive: true })
  const envelope = {
    type: "user",
    uuid: `u-${id}`,
    parentUuid: null,
    sessionId: id,
    cwd,
    timestamp: "2026-01-02T03:04:05Z",
  }
  writeFileSync(path, `${JSON.stringify({ ...envelope, message: { role: "user", content: text } })}\n`)
  return path
}

const keptFiles = () =>
  readdirSync(join(place.env.STRATA_HOME!, "kept"), { recursive: true, withFileTypes: true }).filter((e) => e.isFile())

describe("BEY-17 strata archive", () => {
  test("copies, says what it would copy, and restores what its program has deleted", async () => {
    const path = session(ID)
    const before = readFileSync(path)
    expect((await here("archive", "--dry-run")).stdout).toMatch(
      /^Would archive: 1 new, 0 grown, 0 unchanged; .*Nothing was written/,
    )
    expect(existsSync(place.env.STRATA_HOME!)).toBe(false)
    const kept = await here("archive")
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining("Kept: 1 new") })
    expect(kept.stdout).toContain("They stay on this machine, and only you can read them.")
    appendFileSync(path, "{}\n")
    expect((await here("archive")).stdout).toContain("0 new, 1 grown")
    expect((await here("archive", "list")).stdout).toContain("there")
    expect((await here("archive", "restore", ID)).stderr).toContain("already exists. Nothing was restored")
    rmSync(path)
    const list = (await here("archive", "list")).stdout
    expect(list).toMatch(/1f1f1f1f +\/home\/ann\/shop +Fix the parser .* gone/)
    expect(await here("archive", "restore", "1f1f", "back")).toMatchObject({ code: 0 })
    const to = join(place.cwd, "back", `${ID}.jsonl`)
    expect(readFileSync(to, "utf8")).toBe(`${before}{}\n`)
    expect(await here("archive", "restore", "1f1f")).toMatchObject({ code: 0 })
    expect(readFileSync(path, "utf8")).toBe(`${before}{}\n`)
  })

  test("a kept session that is gone is inspected and exported by its id", async () => {
    session(ID, { text: "Port the parser" })
    await here("archive")
    rmSync(fileOf(ID))
    expect((await here("export", "1f1f", "--to", "markdown")).stdout).toContain("Port the parser")
    const [{ path }] = JSON.parse((await here("archive", "list", "--json")).stdout).sessions
    expect((await here("inspect", path)).stdout).toContain("claude-code")
  })

  test("erases by project and age, only after it has shown what goes", async () => {
    session(ID, { cwd: "/home/ann/shop/api" })
    session(OTHER, { cwd: "/home/ann/shop-two" })
    const old = new Date(Date.now() - 100 * 24 * 3600 * 1000)
    utimesSync(fileOf(ID), old, old)
    utimesSync(fileOf(OTHER), old, old)
    await here("archive")
    rmSync(fileOf(OTHER))
    expect(await here("archive", "erase")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Say what to erase"),
    })
    const erase = ["archive", "erase", "--project", "/home/ann/shop", "--older-than"]
    expect((await here(...erase, "200d")).stdout).toContain("No archived session matches")
    expect(await here(...erase, "soon")).toMatchObject({ code: 2 })
    const shown = await here(...erase, "90d", "--dry-run")
    expect(shown.stdout).toMatch(
      /1f1f1f1f[\s\S]*1 session, \d+ bytes on disk\. For 0 of them this is the only copy\.\nNothing was erased/,
    )
    expect(shown.stdout).not.toContain("2e2e")
    expect(await here(...erase, "90d")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
    expect((await here("archive", "list")).stdout).toContain("2 sessions archived")
    expect(await here(...erase, "90d", "--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining("Erased.") })
    expect((await here("archive")).stdout).toContain("1 session skipped, because you erased it")
    expect(await here("archive", "erase", "2e2e", "--yes")).toMatchObject({ code: 0 })
    expect(keptFiles().filter(({ parentPath }) => /pieces|sessions/.test(parentPath))).toEqual([])
  })

  test("a hostile title and path are shown as what they are", async () => {
    session(ID, { text: "\u001b]0;owned\u0007 \u202Etxt.exe", cwd: "/tmp/\u001b[2Jx" })
    await here("archive")
    const { stdout } = await here("archive", "list")
    for (const hidden of ["\u001b", "\u202e", "\u0007"]) expect(stdout).not.toContain(hidden)
  })

  test("a piece that was damaged is mended from the file that is still there", async () => {
    session(ID)
    await here("archive")
    for (const { parentPath, name } of keptFiles())
      if (parentPath.includes("pieces")) writeFileSync(join(parentPath, name), "")
    expect(await here("archive", "check")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Damaged, and repaired"),
    })
  })

  test("wrong words are answered with a sentence", async () => {
    expect((await here("archive", "lst")).stderr).toContain('Did you mean "strata archive list"?')
    expect((await here("archive", "restore", "nothing")).stderr).toContain("No archived session starts with nothing")
    expect((await here("archive", "list", "--project", "x")).stderr).toContain("belong to: strata archive erase")
  })
})

describe("BEY-17 the hook of Claude Code", () => {
  const settings = () => join(place.cwd, ".claude", "settings.json")

  test.runIf(isWhole)(
    "is installed after a look, keeps in the background without a word, and goes without a trace",
    async () => {
      session(ID)
      const before = '{"model":"opus"}'
      writeFileSync(settings(), before)
      const installed = await strata(["archive", "--install", "claude-code", "--yes"], place)
      expect(installed).toMatchObject({ code: 0, stdout: expect.stringContaining("archive --hook") })
      const [{ hooks }] = JSON.parse(readFileSync(settings(), "utf8")).hooks.SessionEnd
      const ran = await runProcess(["/bin/sh", "-c", hooks[0].command], { cwd: place.cwd, env: place.env })
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" })
      while (!(await here("archive", "list")).stdout.includes("1 session archived")) await wait(20)
      while (existsSync(join(place.env.STRATA_HOME!, "kept", "lock"))) await wait(20)
      expect(await strata(["archive", "--uninstall", "claude-code", "--yes"], place)).toMatchObject({ code: 0 })
      expect(readFileSync(settings(), "utf8")).toBe(before)
    },
  )

  test("strata uninstall takes it out too, with or without the rest of Strata", async () => {
    mkdirSync(dirname(settings()), { recursive: true })
    writeFileSync(settings(), "{}")
    await here("archive", "--install", "claude-code", "--yes")
    expect(await here("uninstall", "claude-code", "--yes")).toMatchObject({ code: 0 })
    expect(readFileSync(settings(), "utf8")).toBe("{}")
    await here("install", "claude-code", "--yes")
    await here("archive", "--install", "claude-code", "--yes")
    expect(await here("uninstall", "claude-code", "--yes")).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(settings(), "utf8"))).toEqual({})
    expect(await here("uninstall", "claude-code", "--yes")).toMatchObject({ code: 1 })
  })
})
