import fc from "fast-check"
import { expect, test } from "vitest"
import { fuzz } from "../../../test/runs.ts"
import { PassageColumns } from "../passages/passage-columns.ts"
import { type ParsedQuery, queryCoverage, requiredWords } from "./parsed-query.ts"
import { rankPassages, WEIGHTS } from "./ranking.ts"

const MAX = 40 // number of passages, fewer than are always compared
const ids = fc
  .uniqueArray(fc.integer({ min: 1, max: MAX }), { maxLength: 12 })
  .map((some) => some.sort((a, b) => a - b))
const list = fc.record({ ids, often: fc.boolean(), weight: fc.double({ min: 0.01, max: 9, noNaN: true }) })

test("BEY-5 what must cover a part of the question is ranked as among all passages, and sessions without a needed word are skipped", () => {
  fc.assert(
    fc.property(
      fc.array(list, { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: MAX, maxLength: MAX }),
      fc.double({ min: 0.05, max: 1, noNaN: true }),
      (words, sources, minShare) => {
        const columns = new PassageColumns()
        for (const [at, source] of sources.entries())
          columns.add(at + 1, {
            ...{
              source,
              turn: at + 1,
              kind: at % 2 ? "assistant" : "user",
              isDialogue: at % 7 > 0,
              isQuestion: at % 3 === 0,
            },
            ...{ length: 5, blockLength: 50, time: Number.NaN },
          })
        const lists = words.map(({ ids: having, often, weight }, word) => ({
          ...{ weight, word, isName: false, ids: having, twice: often ? having : [], often: [] },
        }))
        const weights = words.map(({ weight }) => weight)
        const whole = weights.reduce((sum, weight) => sum + weight, 0)
        const terms = lists.filter(({ ids: having }) => having.length > 0)
        const asked = { terms, weights, whole } as unknown as ParsedQuery
        const ranking = {
          ...{ columns, lists, minShare, weights: WEIGHTS, time: undefined, isForAnswer: false },
          ...{ fits: () => true, prior: () => 1, share: (mask: number) => queryCoverage(mask, asked) },
        }
        const needed = requiredWords(minShare, asked)
        expect(rankPassages({ ...ranking, needed })).toEqual(rankPassages(ranking))
      },
    ),
    fuzz,
  )
})
