import fc from "fast-check"
import { expect, test } from "vitest"
import { decidingLayer } from "../../../test/deciding-layer.ts"
import { type BilledTokens, bills, usageOf } from "../../../test/ledger-entries.ts"
import { openTestConversation } from "../../../test/open.ts"
import { isWhole, size } from "../../../test/size.ts"
import { decidedConversations, newPlayer, play } from "../../../test/steps.ts"
import { addCounts, NO_TOKENS } from "../../base/text.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { tokenCounts } from "../../tokens/models.ts"
import { project } from "../projection.ts"
import { fromJson, toJson } from "../views.ts"
import { type Ledger, ledger, summarise } from "./ledger.ts"

const tokens = fc.nat(50_000)
const billing: fc.Arbitrary<BilledTokens> = fc.record({
  read: tokens,
  write: tokens,
  write1h: fc.constantFrom(0, 0, 900),
  input: tokens,
  output: tokens,
  model: fc.constantFrom("claude-opus-4-6", "claude-haiku-5-5", "someone-else"),
})

type Journal = ReturnType<typeof bills>
type Act = { readonly bills?: BilledTokens; readonly on: (journal: Journal) => unknown }

const act: fc.Arbitrary<Act> = fc.oneof(
  billing.map((each): Act => ({ bills: each, on: (journal) => journal.respond(each) })),
  billing.map((each): Act => ({ bills: each, on: (journal) => journal.respond({ ...each, isSidechain: true }) })),
  fc
    .tuple(billing, fc.constantFrom("notes" as const, "compaction" as const, "memory" as const, "agent" as const))
    .map(([each, purpose]): Act => ({ bills: each, on: (journal) => journal.spend(purpose, each) })),
  tokens.map((saves): Act => ({ on: (journal) => journal.aside(saves) })),
  fc.tuple(tokens, tokens).map(([saves, rewrites]): Act => ({ on: (journal) => journal.clear(saves, rewrites) })),
  tokens.map((cleared): Act => ({ on: (journal) => journal.serverCleared(cleared) })),
  fc.tuple(tokens, tokens).map(([before, after]): Act => ({ on: (journal) => journal.compact(before, after) })),
  fc.nat(30).map(
    (which): Act => ({
      on: (journal) =>
        journal.entries.length > 0 && journal.undo(journal.entries[which % journal.entries.length]!.uuid),
    }),
  ),
  fc.nat(90).map((minutes): Act => ({ on: (journal) => journal.pause(minutes) })),
)
const acts = fc.array(act, { maxLength: 40 })

function journalOf(given: readonly Act[]): Journal {
  const journal = bills()
  for (const { on } of given) on(journal)
  return journal
}

test("CACHE-5 property: the ledger after a resume from a checkpoint equals the one that went on", () => {
  fc.assert(
    fc.property(acts, fc.nat(), (given, cut) => {
      const { entries } = journalOf(given)
      const at = cut % (entries.length + 1)
      const projection = ledger()
      const saved = JSON.stringify(toJson(project(projection, entries.slice(0, at))))
      let resumed = fromJson(JSON.parse(saved)) as Ledger
      for (const entry of entries.slice(at)) resumed = projection.apply(resumed, entry)
      expect(summarise(resumed)).toEqual(summarise(project(projection, entries)))
    }),
  )
})

test("CACHE-5 property: counts add up, by model and by purpose", () => {
  fc.assert(
    fc.property(acts, (given) => {
      const state = project(ledger(), journalOf(given).entries)
      const { counts, byPurpose, requests, dollars, unpriced } = summarise(state)
      const paid = given.flatMap(({ bills: each }) => (each ? [tokenCounts(usageOf(each))] : []))
      expect(counts).toEqual(paid.reduce(addCounts, NO_TOKENS))
      expect(byPurpose.map((total) => total.counts).reduce(addCounts, NO_TOKENS)).toEqual(counts)
      expect(requests).toBe(paid.length)
      expect(byPurpose.reduce((sum, total) => sum + total.requests, 0)).toBe(paid.length)
      const known = byPurpose.reduce((sum, total) => sum + (total.dollars ?? 0), 0)
      if (unpriced.length === 0) expect(known).toBeCloseTo(dollars, 9)
      else expect(byPurpose.some((total) => total.dollars === undefined)).toBe(true)
    }),
  )
})

test("CACHE-5 property: what a layer saved is what it gained less what it paid, and nothing is removed below nothing", () => {
  fc.assert(
    fc.property(acts, (given) => {
      for (const saving of summarise(project(ledger(), journalOf(given).entries)).savings) {
        expect(saving.removed).toBeGreaterThanOrEqual(0)
        expect(saving.unsent).toBeGreaterThanOrEqual(0)
        if (saving.gained === undefined || saving.paid === undefined) expect(saving.dollars).toBeUndefined()
        else {
          expect(saving.gained).toBeGreaterThanOrEqual(0)
          expect(saving.paid).toBeGreaterThanOrEqual(0)
          expect(saving.dollars).toBeCloseTo(saving.gained - saving.paid, 9)
        }
      }
    }),
  )
})

test.runIf(isWhole)(
  "CACHE-5 property: a conversation that is opened again has the ledger it had, with boundaries and branches",
  async () => {
    await fc.assert(
      fc.asyncProperty(decidedConversations, async (steps) => {
        const store = memoryStore()
        const layer = decidingLayer()
        const chat = await openTestConversation({ store, layers: [layer] })
        const player = newPlayer(layer)
        for (const step of [...steps, { kind: "prepare" } as const]) await play(chat, step, player)
        const before = summarise(engineOf(chat).views.ledger)
        await chat.close()
        const again = await openTestConversation({ store })
        expect(summarise(engineOf(again).views.ledger)).toEqual(before)
        await again.close()
      }),
      { numRuns: size(25, 100) },
    )
  },
)
