import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Look, type LookOptions, openLook, sharePicture, shareText } from "../src/index.ts"
import { RecordedHome, session } from "./recorded-home.ts"

let home: RecordedHome
let opened: Look[] = []

beforeEach(() => {
  home = new RecordedHome()
})

afterEach(async () => {
  for (const look of opened) await look.close()
  opened = []
  home.remove()
})

async function look(options: Partial<LookOptions> = {}): Promise<Look> {
  const found = openLook({ env: {}, home: home.path, ...options })
  opened.push(found)
  await found.follow()
  return found
}

const indexFile = () => join(home.path, ".strata", "look", "index.sqlite")
const sum = (rows: readonly { readonly dollars: number }[]) => rows.reduce((all, { dollars }) => all + dollars, 0)

test("BEY-15 every division of the money adds up to the total", async () => {
  home.session({ id: "one", turns: 5 })
  home.session({ id: "two", cwd: "/work/site", day: "2026-02-01", model: "claude-sonnet-4-5", lostAt: 3 })
  const report = (await look()).report()
  expect(report.conversations).toBe(2)
  expect(report.total.dollars).toBeGreaterThan(0)
  for (const rows of [report.byDay, report.byModel, report.byPurpose, report.byProgram, report.byProject])
    expect(sum(rows)).toBeCloseTo(report.total.dollars, 9)
  expect(report.byDay.map(({ day }) => day)).toEqual(["2026-01-05", "2026-02-01"])
  expect(report.byProject.map(({ name }) => name).toSorted()).toEqual(["/work/app", "/work/site"])
  expect(report.byProgram).toMatchObject([{ name: "claude-code", conversations: 2 }])
})

test("BEY-15 the first sentence says what was spent, what was lost and after what, and what Strata would have saved", async () => {
  home.session({ id: "one", turns: 6, lostAt: 4 })
  const opened = await look()
  const { sentence, cache, saved } = opened.report()
  expect(cache.byCause).toMatchObject([{ cause: "five-minutes-over", count: 1 }])
  expect(sentence).toMatch(
    /^You spent \$[\d.]+ on 1 conversation; \$[\d.]+ of it \(\d+%\) went to 1 lost cache, after more than 5 minutes idle; what Strata would have saved is not computed yet for any of 1 conversation\.$/,
  )
  expect(saved).toMatchObject({ replayed: 0, of: 1 })
  expect(await opened.replay({ signal: new AbortController().signal, isInBackground: true })).toBe(1)
  const after = opened.report()
  expect(after.saved).toMatchObject({ replayed: 1, of: 1 })
  expect(after.saved.recorded).toBeGreaterThan(0)
  expect(after.saved.dollars).toBeCloseTo(after.saved.recorded - after.saved.strata, 9)
  expect(after.sentence).toMatch(/Strata would have (saved|cost) \$[\d.]+ \(\d+%\)( more)? on 1 conversation\.$/)
  expect(await opened.replay({ signal: new AbortController().signal, isInBackground: true })).toBe(0)
})

test("BEY-15 a cause is most of the loss only if it has more than half of it, and a loss without a price makes it more", async () => {
  home.session({ id: "one", turns: 6, lostAt: 4 })
  home.session({ id: "two", turns: 6, compactedAt: 3, lostAt: 3 })
  const first = (await look()).report()
  expect(first.cache.byCause.length).toBe(2)
  const [most, other] = first.cache.byCause
  expect(most!.dollars).toBeGreaterThan(other!.dollars)
  expect(first.sentence).toMatch(/ went to 2 lost caches, most after /)
  home.session({ id: "three", turns: 6, lostAt: 4, model: "model-without-a-price" })
  const second = (await look()).report()
  expect(second.cache.lost.unpriced).toBe(1)
  expect(second.sentence).toMatch(/; more than \$[\d.]+ of it \(\d+%\) went to 3 lost caches, /)
  expect(shareText(second)).toMatch(/^lost caches +more than \$/m)
  expect(second.sentences[0]).toMatch(/^More than \$[\d.]+ \(\d+% of the bill\) went to 3 lost caches: /)
})

test("BEY-15 reading can be stopped, and the next time reads the rest", async () => {
  for (const id of ["one", "two", "three"]) home.session({ id })
  const found = openLook({ env: {}, home: home.path })
  opened.push(found)
  const stop = new AbortController()
  expect(await found.follow(() => stop.abort(), stop.signal)).toEqual({ found: 3, read: 0, removed: 0 })
  expect(await found.follow()).toEqual({ found: 3, read: 3, removed: 0 })
})

test("BEY-15 only new and changed files are read again, and removed ones go", async () => {
  const first = home.session({ id: "one" })
  const second = home.session({ id: "two" })
  const opened = await look()
  expect(await opened.follow()).toEqual({ found: 2, read: 0, removed: 0 })
  const before = opened.report().total.dollars
  writeFileSync(first, session({ id: "one", turns: 8 }))
  home.session({ id: "three" })
  expect(await opened.follow()).toEqual({ found: 3, read: 2, removed: 0 })
  expect(opened.report().total.dollars).toBeGreaterThan(before)
  rmSync(second)
  expect(await opened.follow()).toEqual({ found: 2, read: 0, removed: 1 })
  expect(
    opened
      .list()
      .rows.map(({ id }) => id)
      .toSorted(),
  ).toEqual(["one", "three"])
})

test("BEY-15 a file with the same size and another time is read again", async () => {
  const file = home.session({ id: "one", answers: "The lexer is fixed." })
  const opened = await look()
  writeFileSync(file, session({ id: "one", answers: "The timer is fixed." }))
  utimesSync(file, new Date(), new Date(Date.now() + 5_000))
  await opened.follow()
  expect(opened.list({ query: "lexer" }).total).toBe(0)
  expect(opened.list({ query: "timer" }).total).toBe(1)
})

test("BEY-15 torn, empty and foreign files end nothing and are counted with their reason", async () => {
  const whole = session({ id: "torn", turns: 4 })
  home.write(".claude/projects/-work-app/torn.jsonl", whole.slice(0, -120))
  home.write(".claude/projects/-work-app/empty.jsonl", "")
  home.write(".claude/projects/-work-app/binary.jsonl", Buffer.from([0, 1, 2, 3, 0]))
  home.write(".claude/projects/-work-app/packed.jsonl", Buffer.from([0x1f, 0x8b, 8, 0, 0]))
  const report = (await look()).report()
  expect(report.conversations).toBe(1)
  expect(report.files.empty).toBe(1)
  expect(report.files.unread).toEqual([{ reason: "compressed", files: 1 }])
})

test("BEY-15 a response that a fork repeats is counted once, in the parent, and in the fork once the parent is gone", async () => {
  const parent = home.session({ id: "parent", turns: 6, lostAt: 3, compactedAt: 5 })
  const alone = openLook({ env: {}, home: home.path })
  await alone.follow()
  const before = alone.report()
  await alone.close()
  home.session({
    id: "fork",
    turns: 8,
    responsesOf: "parent",
    ownFrom: 7,
    lostAt: 3,
    compactedAt: 5,
    day: "2026-01-06",
  })
  const opened = await look()
  const both = opened.report()
  expect(both.total.repeated.responses).toBeGreaterThanOrEqual(6)
  expect(both.total.requests).toBe(before.total.requests + 2)
  expect(both.cache.lost.count).toBe(before.cache.lost.count)
  expect(both.compactions.count).toBe(before.compactions.count)
  const rows = opened.list({ sort: "cost" }).rows
  expect(rows[0]).toMatchObject({ id: "parent" })
  rmSync(parent)
  await opened.follow()
  const forkAlone = opened.report()
  expect(forkAlone.total.repeated.responses).toBe(0)
  expect(forkAlone.total.requests).toBe(both.total.requests)
})

test("BEY-15 words that people and models said are found; tool results and operators are not", async () => {
  home.session({ id: "one", asks: "Why is the login flaky?", result: "kumquat", title: "Login" })
  home.session({ id: "two", answers: "The timeout was too short." })
  const opened = await look()
  const ids = (query: string) => opened.list({ query }).rows.map(({ id }) => id)
  expect(ids("flaky login")).toEqual(["one"])
  expect(ids("timeout sho")).toEqual(["two"])
  expect(ids("kumquat")).toEqual([])
  expect(ids('login" OR "timeout')).toEqual([])
  expect(ids("NEAR(")).toEqual([])
  expect(opened.list({ query: "flaky" }).rows[0]!.hit).toEqual({
    at: "2026-01-05T09:00:00.000Z",
    snippet: "Why is the login flaky?",
  })
})

test("BEY-15 each conversation that is found shows its own passage", async () => {
  home.session({ id: "one", asks: "Why is the login flaky?" })
  home.session({ id: "two", asks: "Is the login flaky on Windows too?", day: "2026-01-06" })
  const rows = (await look()).list({ query: "login flaky", sort: "newest" }).rows
  expect(rows.map(({ id, hit }) => [id, hit])).toEqual([
    ["two", { at: "2026-01-06T09:00:00.000Z", snippet: "Is the login flaky on Windows too?" }],
    ["one", { at: "2026-01-05T09:00:00.000Z", snippet: "Why is the login flaky?" }],
  ])
})

test("BEY-15 a list is sorted, cut and filtered by project", async () => {
  for (let at = 1; at <= 5; at++) home.session({ id: `s${at}`, turns: at + 1, cwd: at < 3 ? "/work/a" : "/work/b" })
  const opened = await look()
  const page = opened.list({ sort: "turns", offset: 1, limit: 2 })
  expect(page.total).toBe(5)
  expect(page.rows.map(({ id }) => id)).toEqual(["s4", "s3"])
  expect(opened.list({ project: "/work/a" }).total).toBe(2)
  expect(opened.report({ project: "/work/a" }).conversations).toBe(2)
  expect(opened.report({ from: "2026-01-06" }).conversations).toBe(0)
})

test("BEY-15 a conversation without a title is called by what was asked first", async () => {
  home.session({ id: "one", asks: "Why is the login flaky?\nIt fails at night." })
  home.session({ id: "two", asks: "Why?", title: "Login", day: "2026-01-06" })
  expect((await look()).list().rows.map(({ title }) => title)).toEqual(["Login", "Why is the login flaky?"])
})

test("BEY-15 what a title hides is visible, and nothing of it is in what people share", async () => {
  const title = "\u001b[31mred\u202egnp.exe</text><script>alert(1)</script>"
  home.session({ id: "one", title, cwd: "/work/secret-place", lostAt: 3 })
  const opened = await look()
  const [row] = opened.list().rows
  expect(row!.title).toBe("red<U+202E>gnp.exe</text><script>alert(1)</script>")
  const shared = [shareText(opened.report()), sharePicture(opened.report())].join("\n")
  for (const word of ["gnp", "script", "secret-place", "parser", home.path]) expect(shared).not.toContain(word)
  expect(sharePicture(opened.report())).toMatch(/^<\?xml .*<\/svg>\n$/s)
})

test("BEY-15 only the owner can read the index, and a damaged one is made again", async () => {
  home.session({ id: "one" })
  const first = openLook({ env: {}, home: home.path })
  await first.follow()
  await first.close()
  expect(statSync(indexFile()).mode & 0o777).toBe(0o600)
  const bytes = readFileSync(indexFile())
  bytes.fill(0x55, 0, 60)
  writeFileSync(indexFile(), bytes)
  expect((await look()).report().conversations).toBe(1)
})

test("BEY-15 a directory that was looked at once is no part of the next report", async () => {
  home.session({ id: "mine" })
  home.write("runs/a/theirs.jsonl", session({ id: "theirs" }))
  const dirs = [join(home.path, "runs")]
  expect((await look({ dirs })).report().conversations).toBe(2)
  expect((await look()).report().conversations).toBe(1)
  expect((await look({ dirs, onlyDirs: true })).list().rows.map(({ id }) => id)).toEqual(["theirs"])
})

test("BEY-15 a worker that dies takes only its file with it", async () => {
  home.session({ id: "one" })
  const startWorker = () => new Worker("process.exit(1)", { eval: true })
  expect((await look({ startWorker })).report().files.unread).toEqual([
    { reason: "too large for the memory", files: 1 },
  ])
})

test("BEY-15 it is known how many sessions Claude Code has deleted", async () => {
  home.session({ id: "here" })
  home.write(".claude/settings.json", JSON.stringify({ cleanupPeriodDays: 14 }))
  const named = ["here", "gone-1", "gone-2", "gone-1"].map((sessionId) => JSON.stringify({ display: "x", sessionId }))
  home.write(".claude/history.jsonl", named.join("\n"))
  expect(await (await look()).gone()).toEqual({ days: 14, named: 3, gone: 2 })
})
