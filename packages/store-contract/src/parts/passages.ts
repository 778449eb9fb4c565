/** Requirements of a store that contains the search index. A store without one passes. */
import assert from "node:assert/strict"
import type { NewPassage, PassageCursor, PassageStore, PassageStoreAddress, StoredPassage } from "@strata/core/store"
import { FACTS } from "@strata/core/store"
import { type ContractClaim, type ContractFixture, PROJECT, upTo } from "../fixture.ts"

const PLACE: PassageStoreAddress = { project: PROJECT, tokens: 1 }
const NOTHING_KNOWN: PassageCursor = {
  ...{ passage: 0, source: 0, removals: 0, maxRows: 100 },
  ...{ tokens: [], queryTokens: [], maxMissed: 0, maxSimilar: 0 },
}

/** The words of a text serve as its tokens. */
const tokensIn = (text: string): readonly string[] => [...new Set(text.match(/[a-z0-9_]+/g))]

const passage = (text: string, given: Partial<NewPassage> = {}): NewPassage => ({
  ...{ uuid: `message of ${text}`, blocks: "0", kind: "user", isDialogue: true, facts: 3, time: 1_700_000_000_000 },
  ...{ start: 5, length: text.length, terms: tokensIn(text).length, tokens: tokensIn(text), text },
  ...given,
})

const step = (source: string, texts: readonly string[], mark: { from?: string; to: string }) => ({
  ...{ source, passages: texts.map((text) => passage(text)), from: mark.from, to: mark.to },
})

const textsOf = (rows: readonly StoredPassage[]) => rows.toSorted((a, b) => a.id - b.id).map(({ text }) => text)

/** Texts of the passages that have a token. Lists may contain removed passages. */
async function having(index: PassageStore, token: string): Promise<readonly string[]> {
  const [ids = new Uint32Array()] = await index.postings([token])
  return textsOf(await index.rows([...ids]))
}

function claim(
  name: string,
  prove: (openPassages: (at?: PassageStoreAddress) => PassageStore, fixture: ContractFixture) => Promise<void>,
) {
  const where = `BEY-12 where a store keeps the search index, ${name}`
  return [
    where,
    async (fixture: ContractFixture) => {
      if (fixture.handle().passages) await prove((at = PLACE) => fixture.handle().passages!(at), fixture)
    },
  ] as const satisfies ContractClaim
}

export const passages: readonly ContractClaim[] = [
  claim("every handle reads what one has added, as it was", async (openPassages) => {
    const odd = passage("the heron\0 said 日本語 🚀", { label: "Bash\0", time: Number.NaN, uuid: "u\0" })
    const plain = passage("a heron and a walrus_2", { isDialogue: false, facts: 0 })
    const taken = await openPassages().extend([{ source: "one", passages: [odd, plain], from: undefined, to: "10" }])
    assert.deepEqual(taken, [true])

    const index = openPassages()
    assert.deepEqual([...(await index.positions())], [["one", "10"]])
    const lists = await index.postings(["heron", "walrus_2", "absent"])
    assert.deepEqual(
      lists.map((ids) => [...ids]),
      [[1, 2], [2], []],
      "passages are numbered from 1 in their order",
    )
    const rows = (await index.rows([2, 1, 99])).toSorted((a, b) => a.id - b.id)
    const expected = [odd, plain].map(({ uuid, blocks, facts, label, time, start, length, text }, at) => ({
      ...{ id: at + 1, source: rows[0]?.source, uuid, blocks, facts, time, start, length, text },
      ...(label === undefined ? {} : { label }),
    }))
    assert.deepEqual(rows, expected)
    const words = (await index.vocabulary()).split("\n")
    assert.deepEqual(
      words,
      [...new Set([...odd.tokens, ...plain.tokens])]
        .filter((one) => !one.includes("_"))
        .sort()
        .concat(""),
    )
    const written = (text: string, max = 9) => index.containing({ ids: Uint32Array.of(1, 2), text, max })
    assert.deepEqual(await written("heron"), [2, 1], "the newest first")
    assert.deepEqual(await written("heron", 1), [2])
    assert.deepEqual(await written("heron\0 said"), [1])
  }),

  claim("news are what came since, with how many passages have a token", async (openPassages) => {
    const index = openPassages()
    await index.extend([step("one", ["heron one", "heron two"], { to: "1" }), step("two", ["walrus"], { to: "1" })])
    const all = await index.changes({ ...NOTHING_KNOWN, tokens: ["heron", "absent", "walrus"] })
    assert.deepEqual(all.documents, [2, 0, 1])
    assert.deepEqual(textsOf(await index.rows([1, 2, 3])), ["heron one", "heron two", "walrus"])
    assert.deepEqual([...all.sources.values()].sort(), ["one", "two"])
    const facts = all.facts.flatMap((part) => Array.from(part))
    assert.deepEqual(
      [0, 1, 2].map((at) => facts[at * FACTS]),
      [1, 2, 3],
      "facts begin with the number of a passage",
    )

    const known = { passage: 3, source: Math.max(...all.sources.keys()), removals: all.removals }
    await openPassages().extend([step("one", ["herons"], { from: "1", to: "2" })])
    const asked = { queryTokens: ["hero", "heron"], maxMissed: 4, maxSimilar: 1 }
    const news = await index.changes({ ...NOTHING_KNOWN, ...known, ...asked })
    assert.deepEqual(textsOf(news.rows ?? []), ["herons"])
    assert.deepEqual(
      [...news.byPrefix],
      [["hero", [{ token: "herons", documents: 1 }]]],
      "in the fewest passages first",
    )
    const few = await index.changes({ ...NOTHING_KNOWN, maxRows: 3 })
    assert.equal(few.rows, undefined, "more are new than were wanted as rows")
  }),

  claim("a step is taken only from where its source is, and by one of many", async (openPassages, fixture) => {
    assert.deepEqual(await openPassages().extend([step("one", ["first"], { to: "1" })]), [true])
    const taken = await openPassages().extend([
      step("one", ["again"], { to: "2" }),
      step("two", ["other"], { to: "1" }),
      step("three", ["late"], { from: "1", to: "2" }),
    ])
    assert.deepEqual(taken, [false, true, false])
    const raced = await Promise.all(
      fixture.handles.map((store, at) =>
        store.passages!(PLACE).extend([step("one", [`raced ${at}`], { from: "1", to: `${at} is last` })]),
      ),
    )
    const winners = upTo(fixture.writers).filter((at) => raced[at]![0])
    assert.equal(winners.length, 1, "one step from a mark is taken")
    assert.equal((await openPassages().positions()).get("one"), `${winners[0]} is last`)
    assert.deepEqual(await having(openPassages(), "raced"), [`raced ${winners[0]}`])
    const repeated = step("one", [`raced ${winners[0]}`], { from: "1", to: `${winners[0]} is last` })
    assert.deepEqual(await openPassages().extend([repeated]), [true], "its answer may have been lost")
    assert.deepEqual(await having(openPassages(), "raced"), [`raced ${winners[0]}`])
    assert.deepEqual(await having(openPassages(), "again"), [])
  }),

  claim("no passage of many that add at once is lost", async (openPassages, fixture) => {
    const rounds = 2 * fixture.runs
    await Promise.all(
      fixture.handles.map(async (store, at) => {
        const index = store.passages!(PLACE)
        for (const round of upTo(rounds)) {
          const mark = { ...(round === 0 ? {} : { from: `${round}` }), to: `${round + 1}` }
          assert.deepEqual(await index.extend([step(`source ${at}`, [`common w${at} r${round}`], mark)]), [true])
        }
      }),
    )
    assert.equal((await having(openPassages(), "common")).length, rounds * fixture.writers)
    const { documents } = await openPassages().changes({ ...NOTHING_KNOWN, tokens: ["common", "w0", "r0"] })
    assert.deepEqual(documents, [rounds * fixture.writers, rounds, fixture.writers])
    const texts = upTo(rounds).map((round) => `common w0 r${round}`)
    const [id = 0] = (await openPassages().postings(["w0"]))[0] ?? []
    assert.deepEqual(await having(openPassages(), "w0"), texts, "in their order")
    const [near = []] = await openPassages().neighbors([id], rounds * fixture.writers)
    assert.deepEqual(textsOf(near), texts, "only passages of the same source are around one")
  }),

  claim("a source is removed only at the mark that was seen, and others stay", async (openPassages) => {
    const index = openPassages()
    await index.extend([
      step("one", ["heron one", "heron two"], { to: "1" }),
      step("two", ["heron three"], { to: "1" }),
    ])
    const { removals } = await index.changes(NOTHING_KNOWN)
    const remove = (mark: string) => openPassages().remove(new Map([["one", mark]]), ({ text }) => tokensIn(text))
    await remove("0")
    assert.deepEqual([...(await index.positions()).keys()].sort(), ["one", "two"])
    await remove("1")
    assert.deepEqual([...(await index.positions())], [["two", "1"]])
    assert.deepEqual(await having(index, "heron"), ["heron three"])
    const after = await index.changes({ ...NOTHING_KNOWN, passage: 3, source: 9, removals, tokens: ["heron", "one"] })
    assert.notEqual(after.removals, removals, "what others know is no longer so")
    assert.deepEqual([...after.sources.values()], ["two"], "so everything is given again")
    assert.deepEqual(after.documents, [1, 0])
    assert.deepEqual(await index.extend([step("one", ["heron four"], { to: "1" })]), [true])
    assert.deepEqual(await having(index, "heron"), ["heron three", "heron four"])
    await openPassages().clear()
    assert.equal((await index.positions()).size, 0)
    assert.deepEqual(await having(index, "heron"), [])
  }),

  claim("shelves of other places share nothing", async (openPassages) => {
    const places: readonly PassageStoreAddress[] = [
      ...[PLACE, { ...PLACE, tokens: 2 }, { ...PLACE, only: "conversation" }, { ...PLACE, under: "conversation" }],
      { ...PLACE, project: `${PROJECT}-2` },
    ]
    for (const [at, place] of places.entries())
      await openPassages(place).extend([step("one", [`heron ${at}`], { to: `${at}` })])
    await openPassages(places[1]).clear()
    for (const [at, place] of places.entries()) {
      assert.equal((await openPassages(place).positions()).get("one"), at === 1 ? undefined : `${at}`)
      assert.deepEqual(await having(openPassages(place), "heron"), at === 1 ? [] : [`heron ${at}`])
    }
  }),
]
