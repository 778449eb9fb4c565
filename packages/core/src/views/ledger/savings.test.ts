import { describe, expect, test } from "vitest"
import { bills } from "../../../test/ledger-entries.ts"
import { project } from "../projection.ts"
import { ledger, summarise } from "./ledger.ts"
import { type LayerSaving, totalSaving } from "./savings-report.ts"

// claude-opus-4-6: dollars per million tokens
const INPUT = 5
const WRITE = 6.25
const WRITE_1H = 10
const READ = 0.5
const MILLION = 1_000_000

const savingsOf = ({ entries }: ReturnType<typeof bills>) => summarise(project(ledger(), entries)).savings
const savingOf = (journal: ReturnType<typeof bills>, layer: LayerSaving["layer"]) =>
  savingsOf(journal).find((saving) => saving.layer === layer)!

describe("BEY-13, CACHE-5 what folding saves", () => {
  const folded = (effect: { saves: number; rewrites: number; spares?: "compaction" }) =>
    ({ subtype: "folded", from: "a", to: "b", line: "[Folded]", effect }) as const

  test("read with every later request until the next boundary; rewriting the cache is subtracted", () => {
    const journal = bills()
      .respond({ write: 30_000 })
      .decide(folded({ saves: 8_000, rewrites: 20_000 }))
      .decide({ subtype: "snipped", from: "c", to: "d", why: "", by: "user", effect: { saves: 2_000, rewrites: 0 } })
      .respond({ read: 0, write: 20_000 })
      .respond({ read: 20_000, write: 10 })
    const saving = savingOf(journal, "fold")
    expect(saving).toMatchObject({ decisions: 2, removed: 10_000, standing: 10_000, unsent: 20_000 })
    expect(saving.gained).toBeCloseTo((2 * 10_000 * READ) / MILLION, 12)
    expect(saving.paid).toBeCloseTo((20_000 * (WRITE - READ)) / MILLION, 12)
    journal.compact(20_000, 5_000).respond({ write: 5_000 })
    expect(savingOf(journal, "fold")).toMatchObject({ standing: 0, unsent: 20_000 })
  })

  test("ranges folded together in place of a compaction avoid one, and count neither way in money", () => {
    const instead = folded({ saves: 8_000, rewrites: 20_000, spares: "compaction" })
    const journal = bills().respond({ write: 30_000 }).decide(instead).decide(instead).respond({ write: 14_000 })
    expect(savingOf(journal, "fold")).toMatchObject({ spared: 1, removed: 16_000, standing: 16_000, dollars: 0 })
  })
})

describe("CACHE-5 what putting results aside saves", () => {
  test("written once, then read with every later request", () => {
    const journal = bills()
      .respond({ write: 10_000 })
      .aside(4_000)
      .respond({ read: 10_000, write: 100 })
      .respond({ read: 10_100, write: 100 })
      .respond({ read: 10_200, write: 100 })
    expect(savingOf(journal, "tool-results")).toMatchObject({ decisions: 1, removed: 4_000, unsent: 12_000, paid: 0 })
    expect(savingOf(journal, "tool-results").dollars).toBeCloseTo((4_000 * WRITE + 2 * 4_000 * READ) / MILLION, 12)
  })

  test("written again where the cache was lost", () => {
    const journal = bills()
      .respond({ write: 10_000 })
      .aside(4_000)
      .respond({ read: 10_000, write: 100 })
      .pause(6)
      .respond({ read: 0, write: 10_200 })
    expect(savingOf(journal, "tool-results").dollars).toBeCloseTo((2 * 4_000 * WRITE) / MILLION, 12)
  })

  test("at the price of the hour where that is what is written, and of plain input where nothing is cached", () => {
    const forAnHour = bills().respond({ write1h: 10_000 }).aside(4_000).respond({ read: 10_000, write1h: 100 })
    expect(savingOf(forAnHour, "tool-results").dollars).toBeCloseTo((4_000 * WRITE_1H) / MILLION, 12)
    const uncached = bills().respond({ input: 10_000 }).aside(4_000).respond({ input: 1 }).respond({ input: 1 })
    expect(savingOf(uncached, "tool-results").dollars).toBeCloseTo((2 * 4_000 * INPUT) / MILLION, 12)
  })

  test("CACHE-5 after five minutes the cache counts as lost where only the prompt was written for an hour", () => {
    const paidAfter = (first: { readonly write?: number; readonly write1h: number }) => {
      const journal = bills().respond(first).clear(2_000, 1_000).pause(6).respond({ read: 0, write: 8_000 })
      return savingOf(journal, "microcompact").paid
    }
    expect(paidAfter({ write: 9_000, write1h: 1_000 })).toBe(0)
    expect(paidAfter({ write1h: 10_000 })).toBeGreaterThan(0)
  })

  test("until the next boundary", () => {
    const journal = bills().aside(4_000).respond({ write: 10_000 }).compact(10_000, 5_000).respond({ write: 5_000 })
    expect(savingOf(journal, "tool-results").unsent).toBe(4_000)
  })

  test("a response in pieces counts once, with its last usage", () => {
    const whole = bills().respond({ write: 10_000 }).aside(4_000).respond({ id: "msg", read: 10_000, write: 7 })
    const pieces = bills()
      .respond({ write: 10_000 })
      .aside(4_000)
      .respond({ id: "msg", read: 10_000, write: 7 })
      .respond({ id: "msg", read: 10_000, write: 7, output: 3 })
    expect(savingOf(pieces, "tool-results")).toEqual(savingOf(whole, "tool-results"))
  })

  test("a decision that does not say how much is counted as such", () => {
    const journal = bills().aside().aside(1_000).respond({ write: 1 })
    expect(savingOf(journal, "tool-results")).toMatchObject({ decisions: 2, unmeasured: 1, removed: 1_000 })
  })

  test("what was undone saves nothing from then on", () => {
    const journal = bills().aside(4_000)
    const { uuid } = journal.last
    journal.respond({ write: 9_000 }).undo(uuid).respond({ read: 9_000, write: 4_000 })
    expect(savingOf(journal, "tool-results").unsent).toBe(4_000)
  })

  test("what was cleared in place of a compaction is kept out until it is undone", () => {
    const effect = { saves: 15_000, rewrites: 20_000, spares: "compaction" } as const
    const journal = bills().decide({ subtype: "tool-results-cleared", toolUseIds: ["t"], why: "size", effect })
    const { uuid } = journal.last
    expect(savingOf(journal, "microcompact").standing).toBe(15_000)
    expect(savingOf(journal.undo(uuid), "microcompact").standing).toBe(0)
  })
})

test("CACHE-5, L2-10 a clearing in place of a compaction neither saves nor costs: either way the results go and the cache is rewritten", () => {
  const effect = { saves: 15_000, rewrites: 20_000, spares: "compaction" } as const
  const journal = bills()
    .respond({ write: 30_000 })
    .decide({ subtype: "tool-results-cleared", toolUseIds: ["t"], why: "size", effect })
    .respond({ read: 2_000, write: 20_000 })
    .clear(1_000, 500)
    .respond({ read: 20_500, write: 500 })
  const cleared = savingOf(journal, "microcompact")
  expect(cleared).toMatchObject({ decisions: 2, spared: 1, removed: 16_000, standing: 16_000, unsent: 1_000 })
  expect(cleared.gained).toBeCloseTo((1_000 * READ) / MILLION, 12)
  expect(cleared.paid).toBeCloseTo((500 * (WRITE - READ)) / MILLION, 12)
})

test("CACHE-5 the cache that such a clearing gives up was not lost by itself: what is offloaded would have been read", () => {
  const effect = { saves: 15_000, rewrites: 20_000, spares: "compaction" } as const
  const journal = bills()
    .aside(4_000)
    .respond({ write: 30_000 })
    .decide({ subtype: "tool-results-cleared", toolUseIds: ["t"], why: "size", effect })
    .respond({ read: 2_000, write: 20_000 })
  expect(savingOf(journal, "tool-results").gained).toBeCloseTo((4_000 * WRITE + 4_000 * READ) / MILLION, 12)
})

describe("CACHE-5 what clearing saves", () => {
  test("after a pause the whole would have been written again; then it would have been read", () => {
    const journal = bills()
      .respond({ write: 50_000 })
      .pause(61)
      .clear(30_000, 0, "idle")
      .respond({ write: 21_000 })
      .respond({ read: 21_000, write: 100 })
    expect(savingOf(journal, "microcompact")).toMatchObject({ removed: 30_000, unsent: 60_000, paid: 0 })
    expect(savingOf(journal, "microcompact").dollars).toBeCloseTo((30_000 * (WRITE + READ)) / MILLION, 12)
  })

  test("in a warm cache everything after it is rewritten, which is subtracted: at first it costs more than it saves", () => {
    const cleared = () =>
      bills().respond({ write: 50_000 }).clear(30_000, 18_000).respond({ read: 2_000, write: 18_100 })
    const rewriting = (18_000 * (WRITE - READ)) / MILLION
    const once = savingOf(cleared(), "microcompact")
    expect(once.paid).toBeCloseTo(rewriting, 12)
    expect(once.gained).toBeCloseTo((30_000 * READ) / MILLION, 12) // not at the price of writing: Strata itself caused the loss
    expect(once.dollars).toBeLessThan(0)
    const journal = cleared()
    for (let turn = 0; turn < 10; turn++) journal.respond({ read: 20_100, write: 0 })
    expect(savingOf(journal, "microcompact").dollars).toBeCloseTo((11 * 30_000 * READ) / MILLION - rewriting, 12)
  })

  test("until the next boundary", () => {
    const journal = bills()
      .respond({ write: 50_000 })
      .clear(30_000, 0)
      .respond({ read: 20_000 })
      .compact(20_000, 5_000)
      .respond({ write: 5_000 })
    expect(savingOf(journal, "microcompact").unsent).toBe(30_000)
  })

  test("by the server: as each response reports it for its own request", () => {
    const journal = bills()
      .respond({ write: 50_000 })
      .respond({ read: 10_000, write: 11_000 })
      .serverCleared(30_000)
      .respond({ read: 21_000, write: 500 })
      .serverCleared(30_000)
    const { decisions, removed, unsent, gained, paid } = savingOf(journal, "server")
    expect({ decisions, removed, unsent }).toEqual({ decisions: 1, removed: 30_000, unsent: 60_000 })
    expect(gained).toBeCloseTo((60_000 * READ) / MILLION, 12)
    expect(paid).toBeCloseTo((10_000 * (WRITE - READ)) / MILLION, 12) // 50,000 were cached, minus 30,000, minus 10,000 read
  })

  test("an edit that says nothing of tokens, or nonsense, counts for nothing", () => {
    const journal = bills()
      .respond({ write: 5 })
      .decide({
        subtype: "server-edited",
        edits: [null, { cleared_input_tokens: "many" }, { cleared_input_tokens: -7 }],
      })
    expect(savingsOf(journal)).toEqual([])
  })
})

describe("CACHE-5 what compaction saves", () => {
  test("as if the window had no end, minus its calls and what is rewritten", () => {
    const journal = bills()
      .respond({ write: 100_000 })
      .spend("compaction", { read: 100_000, output: 2_000 })
      .compact(100_000, 20_000)
      .respond({ read: 3_000, write: 17_500 })
      .respond({ read: 20_500, write: 100 })
    const call = (100_000 * READ + 2_000 * 25) / MILLION
    const rewriting = (17_500 * (WRITE - READ)) / MILLION
    const { removed, unsent, gained, paid, dollars } = savingOf(journal, "compaction")
    expect({ removed, unsent }).toEqual({ removed: 80_000, unsent: 160_000 })
    expect(gained).toBeCloseTo((160_000 * READ) / MILLION, 12)
    expect(paid).toBeCloseTo(call + rewriting, 12)
    expect(dollars).toBeCloseTo(gained! - paid!, 12)
    expect(dollars).toBeLessThan(0)
  })

  test("a second compaction adds to the first", () => {
    const journal = bills().compact(100, 20).respond({ write: 20 }).compact(60, 30).respond({ write: 30 })
    expect(savingOf(journal, "compaction")).toMatchObject({ decisions: 2, removed: 110, unsent: 80 + 110 })
  })

  test("an attempt that failed has cost what it cost", () => {
    const failed = savingOf(bills().spend("compaction", { input: MILLION }), "compaction")
    expect(failed).toMatchObject({ decisions: 0, gained: 0, paid: 5, dollars: -5 })
  })
})

describe("CACHE-5 the savings in a report", () => {
  test("notes cost what their calls cost, and each figure says what it is compared with", () => {
    const journal = bills()
      .spend("notes", { input: MILLION })
      .aside(1)
      .clear(1, 0)
      .compact(9, 1)
      .respond({ write: 1 })
      .serverCleared(5)
    const savings = savingsOf(journal)
    expect(savings.map(({ layer }) => layer)).toEqual(["tool-results", "microcompact", "server", "compaction", "notes"])
    expect(savings.at(-1)).toMatchObject({ decisions: 1, paid: 5, dollars: -5 })
    expect(new Set(savings.map(({ counterfactual }) => counterfactual)).size).toBe(5)
    for (const { counterfactual } of savings) expect(counterfactual).toMatch(/^Compared with .*\.$/)
  })

  test("TOK-7 where a price is unknown, the money is unknown, not nothing; tokens are known all the same", () => {
    const journal = bills().aside(4_000).respond({ write: 1, model: "someone-else" })
    const savings = savingsOf(journal)
    expect(savings[0]).toMatchObject({ unsent: 4_000, gained: undefined, dollars: undefined })
    expect(totalSaving(savings)).toEqual({ removed: 4_000, unsent: 4_000, dollars: undefined })
    expect(totalSaving([])).toEqual({ removed: 0, unsent: 0, dollars: 0 })
  })

  test("a sub-agent's requests carry nothing of the conversation: they save nothing", () => {
    const journal = bills().aside(4_000).respond({ write: 1, isSidechain: true })
    expect(savingOf(journal, "tool-results").unsent).toBe(0)
  })
})
