/** The beginning of the report: its sentence, its four numbers, the next step, and `+` at costs. */
import { afterEach, beforeEach, expect, test } from "vitest"
import { createOverview, openUsage, sharePicture, shareText, type Usage, type UsageReport } from "../src/index.ts"
import { usageView } from "../src/render/views/usage.ts"
import { usageConversationsView, usageProjectsView } from "../src/render/views/usage-conversations.ts"
import { usageAgentsView, usageCachesView, usageCompactionsView } from "../src/render/views/usage-details.ts"
import { conversationTitle } from "../src/render/views/usage-format.ts"
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

async function look(): Promise<Usage> {
  const found = openUsage({ env: {}, home: home.path })
  opened.push(found)
  await found.update()
  return found
}

const overviewOf = (opened: Usage, changes: Partial<UsageReport> = {}, strata?: string) =>
  createOverview({
    strata,
    report: { ...opened.report(), ...changes },
    mostExpensive: opened.list({ sort: "cost", limit: 1 }).rows[0],
    mostLost: opened.list({ sort: "lost", limit: 1 }).rows[0],
  })

test("BEY-15 the sentence has at most 20 words, and a number that is only a part has a footnote with the reason", async () => {
  home.session({ id: "one", turns: 6, lostAt: 4 })
  home.session({ id: "two", turns: 6, lostAt: 4, model: "a-model-without-a-price" })
  const { sentence, numbers } = overviewOf(await look())
  expect(sentence).toMatch(/^You spent \$[\d.]+\* on 2 conversations; 2 lost caches cost \$[\d.]+† of it \(\d+%\)\.$/)
  expect(sentence.split(" ").length).toBeLessThanOrEqual(20)
  expect(numbers.map(({ footnote }) => footnote)).toEqual([
    { symbol: "*", text: "At least: no price is known for a-model-without-a-price." },
    { symbol: "†", text: "At least: 1 of 2 lost caches had a model without a known price." },
    undefined,
    undefined,
  ])
})

test("BEY-15 a cost that is only a part has a mark everywhere, and the reason is on the same page", async () => {
  home.session({ id: "one", turns: 6, lostAt: 4, answers: "many words were written ".repeat(900) })
  home.session({ id: "two", turns: 6, lostAt: 4, model: "a-model-without-a-price" })
  const opened = await look()
  const [report, { rows }] = [opened.report(), opened.list()]
  const search = new URLSearchParams()
  const reason = "+ at least: a part has no known price, and some transcripts record too few output tokens."
  const texts = [
    usageConversationsView({ base: "", report, search, list: (request) => opened.list(request), now: new Date() }),
    usageProjectsView({ base: "", report, search }),
    usageCachesView({ base: "", report, rows }),
    usageAgentsView({ base: "", report }),
    shareText(report),
    sharePicture(report),
  ].map(String)
  for (const text of texts) {
    expect(text).toMatch(/\$[\d.]+\+/)
    expect(text).toContain(reason)
    expect(text).not.toContain("more than $")
  }
  expect(report.sentence).toMatch(/^You spent \$[\d.]+\+ on 2 conversations; \$[\d.]+\+ of it/)
})

test("BEY-15 the price of compactions without a known price is unknown", async () => {
  home.session({ id: "one", turns: 6, compactedAt: 3, model: "a-model-without-a-price" })
  const report = (await look()).report()
  expect(report.compactions).toMatchObject({ count: 1, dollars: 0 })
  expect(usageCompactionsView({ base: "", report }).toString()).toContain("<dt>cost</dt><dd><strong>unknown</strong>")
})

test("BEY-15 a time that is no time puts a conversation on no day, and the pages are drawn", async () => {
  for (const day of ["2026-13-45", "9999-99-99"])
    home.write(`.claude/projects/-w/${day}.jsonl`, session({ id: day }).replaceAll("2026-01-05", day))
  const opened = await look()
  const [report, { rows }] = [opened.report(), opened.list()]
  expect(report.byDay.map(({ day }) => day)).toEqual(["unknown"])
  expect(rows.map(({ to }) => to)).toEqual([undefined, undefined])
  const overview = createOverview({ report, mostExpensive: rows[0], mostLost: rows[0] })
  expect(usageView({ base: "", report, overview, rows, now: new Date() }).toString()).toContain(
    "No transcript here has times.",
  )
})

test("BEY-15 a title is cut after a whole character, with a sign that there is more", async () => {
  home.session({ id: "long", title: `${"x".repeat(89)}😀 and more` })
  const [row] = (await look()).list().rows
  expect(conversationTitle(row!)).toBe(`${"x".repeat(89)}…`)
})

test("BEY-15 a search for signs only finds nothing, because nothing is indexed by them", async () => {
  home.session({ id: "one" })
  const opened = await look()
  expect(opened.list({ query: '(.*)+"' })).toEqual({ rows: [], total: 0 })
  expect(opened.list({ query: " " }).total).toBe(1)
})

test("BEY-15 a home without conversations names the programs that are looked for, and no others", async () => {
  const report = (await look()).report()
  const overview = createOverview({ report, mostExpensive: undefined, mostLost: undefined })
  const page = usageView({ base: "", report, overview, rows: [], now: new Date() }).toString()
  expect(page).toContain("usual places of Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI and Strata.")
})

test("BEY-15 while the first conversations are read, the page does not say that it found no conversation", async () => {
  const report = (await look()).report()
  const shown = {
    base: "",
    report,
    overview: createOverview({ report, mostExpensive: undefined, mostLost: undefined }),
  }
  const progress = "Reading conversations: 2 of 15."
  const page = usageView({ ...shown, rows: [], now: new Date(), progress }).toString()
  expect(page).toContain("<h1>Reading conversations: 2 of 15.</h1>")
  expect(page).not.toMatch(/No conversations|--dir/)
})

test("BEY-15 what nothing was asked of has no cost, which is not $0", async () => {
  home.session({ id: "one" })
  const report = (await look()).report()
  const nothing = { ...report.byProgram[0]!, name: "simulated", requests: 0, dollars: 0, unpriced: 0 }
  const page = usageAgentsView({ base: "", report: { ...report, byProgram: [nothing] } }).toString()
  expect(page).not.toContain("$0.0000")
})

test("BEY-15 what costs nothing or is unknown has the same place", async () => {
  expect(overviewOf(await look())).toMatchObject({
    sentence: "No conversations were found.",
    numbers: [],
    next: { command: "strata usage --dir DIRECTORY" },
  })
  home.session({ id: "one", lostAt: 3, model: "a-model-without-a-price" })
  const { sentence, numbers } = overviewOf(await look())
  expect(sentence).toBe("The price of 1 conversation is unknown; the price of 1 lost cache is unknown.")
  expect(numbers.map(({ value }) => value)).toEqual(["unknown", "unknown", "none", "unknown"])
})

test("BEY-15 the next step is a command if Strata would save a part, else the conversation that lost or cost the most", async () => {
  home.session({ id: "dear", turns: 12 })
  const opened = await look()
  expect(overviewOf(opened).next).toMatchObject({ row: { id: "dear" }, view: "money" })
  home.session({ id: "lost", lostAt: 3 })
  await opened.update()
  expect(overviewOf(opened).next).toMatchObject({ row: { id: "lost" }, view: "cache" })
  const figure = { kind: "exact", share: 0.2, recorded: 10, strata: 8 } as const
  const { next, numbers } = overviewOf(opened, { saved: { ...opened.savings(), figure } })
  expect(next).toMatchObject({ command: "strata wrap claude" })
  const inCheckout = overviewOf(opened, { saved: { ...opened.savings(), figure } }, "npx --no-install strata")
  expect(inCheckout.next).toMatchObject({ command: "npx --no-install strata wrap claude" })
  expect(numbers[3]).toMatchObject({
    value: "20% less",
    footnote: { text: expect.stringContaining("$8.00 instead of $10.00") },
  })
})

test("BEY-15 the page shows the names of damaged files whole", async () => {
  const folder = "x".repeat(200)
  for (let at = 0; at < 3; at++)
    home.write(`.claude/projects/${folder}/${at}.jsonl`, session({ id: `s${at}` }).slice(0, -90))
  const opened = await look()
  const [report, { rows }] = [opened.report(), opened.list()]
  const overview = createOverview({ report, mostExpensive: rows[0], mostLost: rows[0] })
  const page = usageView({ base: "", report, overview, rows, now: new Date() }).toString()
  for (let at = 0; at < 3; at++) expect(page).toContain(`${folder}/${at}.jsonl`)
})
