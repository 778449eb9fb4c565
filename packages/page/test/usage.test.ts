import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  isPictureReady,
  type ListOrder,
  openUsage,
  sharePicture,
  shareText,
  type Usage,
  type UsageOptions,
} from "../src/index.ts"
import { RecordedHome, session } from "./recorded-home.ts"

let home: RecordedHome
let opened: Usage[] = []

beforeEach(() => {
  home = new RecordedHome()
})

afterEach(async () => {
  for (const look of opened) await look.close()
  opened = []
  home.remove()
})

async function look(options: Partial<UsageOptions> = {}): Promise<Usage> {
  const found = openUsage({ env: {}, home: home.path, ...options })
  opened.push(found)
  await found.update()
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
  const { figure } = after.saved
  if (figure.kind !== "exact") throw new Error(`the figure is ${figure.kind}`)
  expect(figure.recorded).toBeGreaterThan(0)
  expect(figure.share).toBeCloseTo((figure.recorded - figure.strata) / figure.recorded, 9)
  expect(after.sentence).toMatch(
    /Strata would have (saved|cost) \$[\d.]+ \(<?\d+%\)( more)? on 1 conversation, all of this money\.$/,
  )
  expect(await opened.replay({ signal: new AbortController().signal, isInBackground: true })).toBe(0)
})

const replayAll = (opened: Usage, stop = new AbortController(), onReplayed = () => {}) =>
  opened.replay({ signal: stop.signal, isInBackground: false, onReplayed })

test("BEY-15 no percentage is shown and no picture offered before a fair sample is replayed; then the interval is shown with it", async () => {
  for (let at = 0; at < 12; at++) home.session({ id: `s${at}`, turns: 3 + (at % 4), day: `2026-01-${10 + at}` })
  const opened = await look()
  const heard: string[] = []
  let replayed = 0
  await replayAll(opened, undefined, () => {
    const report = opened.report()
    heard.push(report.sentence.replace(/^.*; /, ""))
    expect(isPictureReady(report)).toBe(++replayed >= 4)
  })
  expect(heard.length).toBe(12)
  for (const words of heard.slice(0, 3))
    expect(words).toMatch(/^what Strata would have saved is not known yet: \d of 12 conversations replayed\.$/)
  for (const words of heard.slice(3, -1))
    expect(words).toMatch(
      /^Strata would have (saved|cost) <?\d+%( more)? \(-?<?\d+% to -?<?\d+%\) on all of this money, as a sample of \d+ of 12 conversations says\.$/,
    )
  expect(heard.at(-1)).toMatch(/ on 12 conversations, all of this money\.$/)
  const shared = shareText(opened.report())
  expect(shared).toMatch(/^with Strata .* modelled on 12 conversations, all of this money$/m)
})

test("BEY-15 the order of the replays is drawn once: it is the same in another place, and a new session does not change it", async () => {
  for (let at = 0; at < 6; at++) home.session({ id: `s${at}`, turns: 3 + at })
  const order = async (opened: Usage) => {
    const done: string[] = []
    const isDone = new Set<string>()
    await replayAll(opened, undefined, () => {
      for (const { id, replayed } of opened.list().rows)
        if (replayed && !isDone.has(id)) {
          isDone.add(id)
          done.push(id)
        }
    })
    return done
  }
  const first = await order(await look())
  home.session({ id: "new", turns: 5 })
  const again = await order(await look({ root: join(home.path, "elsewhere") }))
  expect(first.length).toBe(6)
  expect(again.filter((id) => id !== "new")).toEqual(first)
})

test("BEY-15 a session that goes on keeps its replay until there is a new one, so that the figure does not disappear", async () => {
  for (let at = 0; at < 3; at++) home.session({ id: `s${at}` })
  const opened = await look()
  await replayAll(opened)
  const before = opened.savings()
  home.session({ id: "s1", turns: 6 })
  await opened.update()
  expect(opened.savings()).toMatchObject({ replayed: 3, of: 3, figure: { kind: before.figure.kind } })
  expect(await replayAll(opened)).toBe(1)
})

test("BEY-15 what cannot be replayed is left out of the money that the figure stands for", async () => {
  home.session({ id: "one" })
  home.session({ id: "two", responsesOf: "one", ownFrom: 3, turns: 8, day: "2026-01-06" })
  const opened = await look()
  await replayAll(opened)
  const { saved, sentence } = opened.report()
  expect(saved).toMatchObject({ replayed: 1, of: 1, figure: { kind: "exact" } })
  expect(saved.covers).toBeGreaterThan(0)
  expect(saved.covers).toBeLessThan(0.9)
  expect(sentence).toMatch(/ on 1 conversation, \d+% of this money\.$/)
})

test("BEY-15 names are compared for the same compactions under both policies, and nowhere else", async () => {
  home.session({
    id: "one",
    turns: 8,
    compactedAt: 5,
    result: "parseTokens is in src/lexer.ts",
    answers: "parseTokens.",
  })
  const opened = await look()
  expect(opened.report().sentences[1]).toMatch(/^1 compaction lost \d+ of \d+ names/)
  await replayAll(opened)
  const { saved, compactions, sentences } = opened.report()
  expect(saved.names.names).toBe(compactions.names.needed)
  expect(saved.names.recorded).toBe(compactions.names.inView)
  expect(saved.names.strata).toBeLessThanOrEqual(saved.names.names)
  expect(sentences[1]).toMatch(
    /^After 1 replayed compaction, answers used \d+ names? from before: \d+% of them were still in view, and \d+% would have been with Strata\. /,
  )
  expect(shareText(opened.report())).not.toMatch(/needed later/)
})

test("BEY-15 a compaction at the beginning of a file lost an unknown number of names", async () => {
  const whole = session({ id: "one", turns: 6, compactedAt: 3 }).trimEnd().split("\n")
  const boundary = whole.findIndex((line) => line.includes("compact_boundary"))
  home.write(".claude/projects/-work-app/one.jsonl", `${whole.slice(boundary).join("\n")}\n`)
  const { compactions, sentences } = (await look()).report()
  expect(compactions).toMatchObject({ count: 1, unrecorded: 1, names: { needed: 0 } })
  expect(sentences[1]).toMatch(/^What 1 compaction lost is unknown/)
})

test("BEY-15 a sub-agent without a recorded turn cost an unknown amount", async () => {
  const launched = session({ id: "one", turns: 2 })
    .replaceAll('"name":"Read"', '"name":"Task"')
    .replace('"message":{"role":"user","content":[{', '"toolUseResult":{"agentId":"a1","status":"completed"},$&')
  home.write(".claude/projects/-work-app/one.jsonl", launched)
  const { agents } = (await look()).report()
  expect(agents).toMatchObject({ count: 1, unknown: 1, dollars: 0 })
  expect(shareText((await look()).report())).toMatch(/^sub-agents +1, unknown$/m)
})

test("BEY-15 what the simulator answered was not spent", async () => {
  home.session({ id: "real" })
  const before = (await look()).report()
  home.session({ id: "trial", responsesOf: "01SIMx" })
  const opened = await look()
  const { total, conversations, simulated, saved } = opened.report()
  expect({ total, conversations, simulated, of: saved.of }).toEqual({
    ...{ total: before.total, conversations: 2, simulated: 1, of: 1 },
  })
  expect(opened.list().rows.find(({ id }) => id === "trial")).toMatchObject({ dollars: 0, cost: "simulated" })
})

test("BEY-15 a Codex and a Gemini session have their price, with cached tokens counted once", async () => {
  const at = "2026-01-05T09:00:00.000Z"
  const usage = { input_tokens: 100_000, cached_input_tokens: 80_000, output_tokens: 1_000, total_tokens: 101_000 }
  const codex = [
    { type: "session_meta", payload: { id: "c1", cwd: "/work/app" } },
    { type: "turn_context", payload: { model: "gpt-5.5", cwd: "/work/app" } },
    {
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
    },
    {
      type: "response_item",
      payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
    },
    {
      type: "event_msg",
      payload: { type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } },
    },
  ]
  home.write(
    ".codex/sessions/2026/01/05/rollout-c1.jsonl",
    codex.map((line) => JSON.stringify({ timestamp: at, ...line })).join("\n"),
  )
  const tokens = { input: 300_000, cached: 200_000, output: 1_000, thoughts: 1_000 }
  home.write(
    ".gemini/tmp/x/chats/session-1.json",
    JSON.stringify({
      ...{ sessionId: "g1", projectHash: "x" },
      messages: [
        { id: "1", type: "user", content: "go", timestamp: at },
        { id: "2", type: "gemini", content: "ok", timestamp: at, model: "gemini-2.5-pro", tokens },
      ],
    }),
  )
  const { byProgram, total } = (await look()).report()
  expect(total.unpriced).toBe(0)
  expect(byProgram).toMatchObject([
    // more than 200,000 tokens of input: 2.50, 0.25 and 15
    { name: "gemini", dollars: expect.closeTo(0.1 * 2.5 + 0.2 * 0.25 + 0.002 * 15, 6) },
    { name: "codex", dollars: expect.closeTo(0.02 * 5 + 0.08 * 0.5 + 0.001 * 30, 6) },
  ])
})

test("BEY-15 a cause is most of the loss only if it has more than half of it, and a loss without a price makes it more", async () => {
  home.session({ id: "one", turns: 6, lostAt: 4 })
  home.session({ id: "two", turns: 6, compactedAt: 3, lostAt: 3 })
  const first = (await look()).report()
  expect(first.cache.byCause.length).toBe(2)
  const [max, other] = first.cache.byCause
  expect(max!.dollars).toBeGreaterThan(other!.dollars)
  expect(first.sentence).toMatch(/ went to 2 lost caches, most after /)
  home.session({ id: "three", turns: 6, lostAt: 4, model: "model-without-a-price" })
  const second = (await look()).report()
  expect(second.cache.lost.unpriced).toBe(1)
  expect(second.sentence).toMatch(/; \$[\d.]+\+ of it \(\d+%\) went to 3 lost caches, /)
  expect(shareText(second)).toMatch(/^lost caches +\$[\d.]+\+ /m)
  expect(shareText(second)).toMatch(/^\+ at least: a part has no known price\.$/m)
  expect(second.sentences[0]).toMatch(/^\$[\d.]+\+ \(\d+% of the bill\) went to 3 lost caches: /)
})

test("BEY-15 reading can be stopped, and the next time reads the rest", async () => {
  for (const id of ["one", "two", "three"]) home.session({ id })
  const found = openUsage({ env: {}, home: home.path })
  opened.push(found)
  const stop = new AbortController()
  expect(await found.update(() => stop.abort(), stop.signal)).toEqual({ found: 3, read: 0, removed: 0 })
  expect(await found.update()).toEqual({ found: 3, read: 3, removed: 0 })
})

test("BEY-15 only new and changed files are read again, and removed ones go", async () => {
  const first = home.session({ id: "one" })
  const second = home.session({ id: "two" })
  const opened = await look()
  expect(await opened.update()).toEqual({ found: 2, read: 0, removed: 0 })
  const before = opened.report().total.dollars
  writeFileSync(first, session({ id: "one", turns: 8 }))
  home.session({ id: "three" })
  expect(await opened.update()).toEqual({ found: 3, read: 2, removed: 0 })
  expect(opened.report().total.dollars).toBeGreaterThan(before)
  rmSync(second)
  expect(await opened.update()).toEqual({ found: 2, read: 0, removed: 1 })
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
  await opened.update()
  expect(opened.list({ query: "lexer" }).total).toBe(0)
  expect(opened.list({ query: "timer" }).total).toBe(1)
})

test("BEY-15 torn, empty and foreign files end nothing and are counted with their reason", async () => {
  const whole = session({ id: "torn", turns: 4 })
  home.write(".claude/projects/-work-app/torn.jsonl", whole.slice(0, -120))
  home.write(".claude/projects/-work-app/empty.jsonl", "")
  home.write(".claude/projects/-work-app/binary.jsonl", Buffer.from([0, 1, 2, 3, 0]))
  home.write(".claude/projects/-work-app/packed.jsonl", Buffer.from([0x1f, 0x8b, 8, 0, 0]))
  home.write("runs/poem.jsonl", "not a transcript")
  const report = (await look({ dirs: [join(home.path, "runs")] })).report()
  const at = (name: string) => join(home.path, ".claude/projects/-work-app", name)
  expect(report.conversations).toBe(1)
  expect(report.files.empty).toBe(1)
  expect(report.files.unread).toEqual([
    { reason: "not a transcript", files: 1, examples: [at("binary.jsonl")] },
    { reason: "compressed", files: 1, examples: [at("packed.jsonl")] },
  ])
  expect(report.files.damaged).toEqual({ files: 1, lines: 1, examples: [at("torn.jsonl")] })
})

test("BEY-15 a response that a fork repeats is counted once, in the parent, and in the fork once the parent is gone", async () => {
  const parent = home.session({ id: "parent", turns: 6, lostAt: 3, compactedAt: 5 })
  const alone = openUsage({ env: {}, home: home.path })
  await alone.update()
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
  await opened.update()
  const forkAlone = opened.report()
  expect(forkAlone.total.repeated.responses).toBe(0)
  expect(forkAlone.total.requests).toBe(both.total.requests)
})

test("BEY-15 words of users and models are found; tool results and operators are not", async () => {
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
  const first = openUsage({ env: {}, home: home.path })
  await first.update()
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
    {
      reason: "too large for the memory",
      files: 1,
      examples: [join(home.path, ".claude/projects/-work-app/one.jsonl")],
    },
  ])
})

test("BEY-15 it is known how many sessions Claude Code has deleted", async () => {
  home.session({ id: "here" })
  home.write(".claude/settings.json", JSON.stringify({ cleanupPeriodDays: 14 }))
  const named = ["here", "gone-1", "gone-2", "gone-1"].map((sessionId) => JSON.stringify({ display: "x", sessionId }))
  home.write(".claude/history.jsonl", named.join("\n"))
  expect(await (await look()).findDeletedSessions()).toEqual({ days: 14, named: 3, gone: 2 })
})

test("BEY-15 the list is sorted by every column in both directions", async () => {
  for (let at = 1; at <= 3; at++)
    home.session({ id: `s${at}`, turns: at + 2, title: `${"cab"[at - 1]}`, day: `2026-01-0${at}` })
  const opened = await look()
  const ids = (sort: ListOrder, direction: "ascending" | "descending") =>
    opened.list({ sort, direction }).rows.map(({ id }) => id)
  expect(ids("title", "ascending")).toEqual(["s2", "s3", "s1"])
  for (const sort of ["newest", "turns", "peak", "cost"] as const) {
    expect({ sort, ids: ids(sort, "ascending") }).toEqual({ sort, ids: ["s1", "s2", "s3"] })
    expect({ sort, ids: ids(sort, "descending") }).toEqual({ sort, ids: ["s3", "s2", "s1"] })
  }
})
