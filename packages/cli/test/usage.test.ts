import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { session } from "../../page/test/recorded-home.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, MAIN, type Place, strata } from "./strata-process.ts"

let place: Place

beforeEach(() => {
  place = emptyPlace()
})

afterEach(() => place.remove())

function write(name: string, text: string, { cwd } = place): string {
  const path = join(cwd, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const claude = (options: Parameters<typeof session>[0], at = place) =>
  write(`.claude/projects/-work-app/${options.id}.jsonl`, session(options), at)

const lookAt = (at: Place, ...args: readonly string[]) => strataHere(["usage", "--replay", "0", ...args], at)
const look = (...args: readonly string[]) => lookAt(place, ...args)

test("BEY-15 --summary gives the reason for a mark, and the tables have no other word for it", async () => {
  claude({ id: "one", turns: 6, lostAt: 4 })
  claude({ id: "two", turns: 6, lostAt: 4, model: "a-model-without-a-price" })
  const { stdout } = await look("--summary")
  expect(stdout).toMatch(/^You spent \$[\d.]+\+ on 2 conversations;/)
  expect(stdout).toMatch(/^\+ at least: a part has no known price\.$/m)
  const report = (await look("--text")).stdout
  expect(report).toMatch(/^Money {2}\$[\d.]+\+; no price is known for a-model-without-a-price$/m)
  expect(report).not.toContain("more than $")
})

/** All tests share one home: its files are read once, by workers that take half a second to start. */
describe("BEY-15 strata usage", () => {
  let machine: Place
  let flaky: string
  const look = (...args: readonly string[]) => lookAt(machine, ...args)
  beforeAll(() => {
    machine = emptyPlace()
    for (let at = 0; at < 12; at++)
      claude({ id: `s${at}`, title: `Task ${at}`, lostAt: 3, compactedAt: 4, turns: 5 + at }, machine)
    flaky = claude({ id: "flaky", asks: "Why is the login flaky?" }, machine)
    claude({ id: "hidden", title: "Secret plan", cwd: "/work/secret" }, machine)
    write(".claude/history.jsonl", `${JSON.stringify({ sessionId: "gone" })}\n`, machine)
  })
  afterAll(() => machine.remove())

  test("prints one sentence, four numbers, the most expensive conversations, the next step, and then tables that fit the screen; what Claude Code deletes is reported once", async () => {
    const { code, stdout, stderr } = await look()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const lines = stdout.split("\n")
    expect(lines[0]).toMatch(/^You spent \$/)
    expect(lines.length).toBeLessThanOrEqual(65) // three of them report deleted sessions
    const commands = lines.filter((line) => /^ {2}\S.* strata inspect /.test(line)) // not wrapped, to be copied
    expect(commands.length).toBe(1)
    expect(
      Math.max(...lines.filter((line) => !commands.includes(line)).map((line) => line.length)),
    ).toBeLessThanOrEqual(80)
    const titles = [
      "  spent ",
      "  lost to caches ",
      "  names lost ",
      "  with Strata ",
      "Most expensive conversations ",
      "Next  ",
    ]
    const places = titles.map((title) => lines.findIndex((line) => line.startsWith(title)))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places.at(-1)).toBeLessThan(24)
    expect(stdout).toContain("Nothing leaves this machine.")
    expect(stdout.replace(/\s+/g, " ")).toContain(
      'Claude Code deletes transcripts after 30 days, without asking. Of 1 session in its history, 1 is gone. "strata archive" copies them before that.',
    )
    expect((await look()).stdout).not.toContain("deletes transcripts")
  })

  test("--summary prints the sentence alone, --json the whole report", async () => {
    const { stdout } = await look("--summary")
    const report = JSON.parse((await look("--json")).stdout)
    expect(stdout.replace(/\s+/g, " ").trim()).toBe(report.sentence)
    expect(report).toMatchObject({ conversations: 14, byProgram: [{ name: "claude-code" }] })
  })

  test("--search finds a conversation by its messages, and ends with 1 where there is no match", async () => {
    const found = await look("--search", "flaky login")
    expect(found.code).toBe(0)
    expect(found.stdout).toContain("Why is the login flaky?")
    expect(found.stdout).toContain(flaky.slice(-30))
    expect(await look("--search", "kumquat")).toMatchObject({
      code: 1,
      stdout: 'No conversation has the words "kumquat".\n',
    })
  })

  test("--share says no percentage and makes no picture before a sample is replayed", async () => {
    const { stdout, stderr, code } = await look("--share")
    expect(code).toBe(1)
    expect(stdout).toMatch(/^with Strata +not known yet$/m)
    expect(stdout).not.toMatch(/secret/i)
    expect(stderr).toContain("No picture was made: what Strata would have saved is not known yet.")
    expect(existsSync(join(machine.cwd, "strata-usage.svg"))).toBe(false)
  })
})

test("BEY-15 --share writes figures and a picture, and replaces only a picture of its own", async () => {
  claude({ id: "hidden", title: "Secret plan", cwd: "/work/secret" })
  const share = () => strataHere(["usage", "--share", "--replay", "60"], place)
  const { stdout, code } = await share()
  expect(code).toBe(0)
  const picture = readFileSync(join(place.cwd, "strata-usage.svg"), "utf8")
  for (const text of [stdout, picture]) expect(text).not.toMatch(/secret/i)
  expect((await share()).code).toBe(0)
  write("strata-usage.svg", "<svg>mine</svg>")
  const refused = await share()
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain("exists and is not a picture of strata usage")
  expect(readFileSync(join(place.cwd, "strata-usage.svg"), "utf8")).toBe("<svg>mine</svg>")
})

test.runIf(isWhole)("BEY-15 strata inspect takes a directory, or nothing", async () => {
  claude({ id: "one" })
  write("runs/two.jsonl", session({ id: "two", turns: 6 }))
  const all = JSON.parse((await strataHere(["inspect", "--json"], place)).stdout)
  expect(all.conversations).toBe(1)
  const inside = await strataHere(["inspect", "runs"], place)
  expect(inside.stdout).toMatch(/^You spent \$[\d.]+ on 1 conversation;/)
  expect((await strataHere(["inspect", "runs", "--layers"], place)).code).toBe(2)
})

test("BEY-15 a wrong day is an error", async () => {
  expect(await look("--since", "yesterday")).toMatchObject({ code: 2 })
  expect(existsSync(join(place.cwd, "strata-home", "look"))).toBe(false)
})

test.runIf(isWhole)("BEY-15 two processes at once read the same files into one index", async () => {
  for (let at = 0; at < 60; at++) claude({ id: `s${at}`, turns: 3 })
  const args = ["usage", "--json", "--replay", "0"]
  const both = await Promise.all([strata(args, place), strata(args, place)])
  const reports = both.map(({ code, stdout, stderr }) => ({ code, stderr, report: JSON.parse(stdout) }))
  for (const { code, stderr, report } of reports) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(report.files.unread).toEqual([])
  }
  const after = JSON.parse((await look("--json")).stdout)
  expect(after.conversations).toBe(60)
  expect(after.total.repeated.responses).toBe(0)
})

test.runIf(isWhole)("BEY-15 the replay runs in a worker of the program and is kept", async () => {
  claude({ id: "one", turns: 6, lostAt: 4 })
  const { stdout } = await strata(["usage", "--json", "--replay", "120"], place)
  expect(JSON.parse(stdout).saved).toMatchObject({ replayed: 1, of: 1 })
  expect(JSON.parse((await look("--json")).stdout).saved).toMatchObject({ replayed: 1, of: 1 })
})

test.runIf(isWhole)("BEY-15 the pages end at once with Ctrl-C while conversations are read or replayed", async () => {
  for (let at = 0; at < 40; at++) claude({ id: `session-${at}`, turns: 30 })
  const child = spawn(process.execPath, [MAIN, "usage", "--no-open"], { cwd: place.cwd, env: place.env })
  let printed = ""
  for await (const piece of child.stdout) {
    printed += piece
    if (/key=[\w-]+\n/.test(printed)) break
  }
  child.kill("SIGINT")
  expect(await once(child, "exit")).toEqual([0, null])
})
