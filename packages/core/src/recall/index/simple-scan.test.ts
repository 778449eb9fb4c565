/** Compares the index with the simplest possible search, which reads every passage for every question and caches nothing. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { fuzz, RUNS } from "../../../test/runs.ts"
import { isWhole } from "../../../test/size.ts"
import { choosePassages } from "../answer/choose.ts"
import { extractQueryTerms, parseQuery, queryCoverage } from "../answer/parsed-query.ts"
import { type Question, rankPassages, type TermList, WEIGHTS } from "../answer/ranking.ts"
import type { Passage } from "../passages/passage.ts"
import { PassageColumns } from "../passages/passage-columns.ts"
import { countTerms } from "../passages/passage-terms.ts"
import { PassageIndex } from "./passage-index.ts"

const NOW = new Date("2026-03-10T12:00:00Z")
const START = Date.UTC(2025, 10, 1)
const DAY = 86_400_000
const WORDS = "heron port server walrus invoice I my we the did week May 2025 yesterday heron heron server?".split(" ")
const TIMES = ["last week", "yesterday", "in May 2025", "on 2026-02-03", "in 2025", "three months ago", "last month"]

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 9 }).map((words) => words.join(" "))
const batch = fc.record({ source: fc.nat(2), texts: fc.array(text, { minLength: 1, maxLength: 8 }) })
const asked = fc
  .tuple(text, fc.constantFrom("", ...TIMES), fc.boolean())
  .map(([words, time, isInContext]) => ({ text: `${words} ${time}`, context: isInContext ? ["the walrus port"] : [] }))

interface Placed extends Passage {
  readonly source: string
}

/** Passages are numbered by position, starting at 1, and sources in order of appearance. */
function scanned(passages: readonly Placed[], question: Question) {
  const columns = new PassageColumns()
  const sources = [...new Set(passages.map(({ source }) => source))]
  const turns = new Map<string, number>()
  for (const [at, { source, kind, isDialogue, text: each, time, length }] of passages.entries()) {
    const turn = (turns.get(source) ?? 0) + Number(isDialogue)
    turns.set(source, turn)
    const facts = { source: sources.indexOf(source) + 1, turn, kind, isDialogue, isQuestion: /[?]/.test(each) }
    const terms = countTerms(each).length
    columns.add(at + 1, { ...facts, length: terms, blockLength: length, time: Date.parse(time) })
  }
  const counts = passages.map(({ text: each }) => countTerms(each).counts)
  const having = (all: readonly ReadonlyMap<string, number>[], term: string, min: number) =>
    all.flatMap((each, at) => ((each.get(term) ?? 0) >= min ? [at + 1] : []))
  const documentsWith = (term: string) => having(counts, term, 1).length
  const vocabulary = { count: passages.length, documentsWith, similarTo: () => [] }
  const looked = parseQuery({ ...extractQueryTerms(question), text: question.text, vocabulary, weights: WEIGHTS })
  const lists = looked.terms.map(({ term, weight, isName, word }): TermList => {
    const ids = having(counts, term, 1)
    if (word === undefined) return { weight, isName, word, ids, twice: [], often: [] }
    return { weight, isName, word, ids, twice: having(counts, term, 2), often: having(counts, term, 4) }
  })
  const ranked = rankPassages({
    ...{ columns, lists, weights: WEIGHTS, time: looked.time, isForAnswer: looked.isForAnswer, minShare: 0 },
    ...{ fits: () => true, prior: () => 1, share: (mask: number) => queryCoverage(mask, looked) },
  })
  const texts = ranked
    .slice(0, 100)
    .map((one) => ({ ...passages[one.id - 1]!, ...one, passage: () => passages[one.id - 1]! }))
  return { isWordless: looked.words.length === 0, answer: choosePassages(texts, question, looked) }
}

test.runIf(isWhole)(
  "BEY-5 an index that grows between questions, many with a named time, answers as a scan of every passage does",
  () => {
    let [compared, found] = [0, 0]
    fc.assert(
      fc.property(fc.array(fc.tuple(batch, asked), { minLength: 1, maxLength: 8 }), (steps) => {
        const index = new PassageIndex(":memory:")
        const [passages, positions]: [Placed[], Map<string, string>] = [[], new Map()]
        for (const [nth, [{ source: at, texts }]] of steps.entries()) {
          const source = `s${at}`
          const added = texts.map((each, place): Placed => {
            const number = passages.length + place
            const kind = number % 4 === 0 ? "assistant" : number % 7 === 0 ? "result" : "user"
            const time = new Date(START + number * 3 * DAY).toISOString()
            const whole = { start: 0, length: each.length, text: each }
            return {
              ...{ uuid: `u${number}`, blocks: "0", kind, isDialogue: kind !== "result", source, time },
              ...whole,
            }
          })
          const own = added.map(({ source: _, ...passage }) => passage)
          expect(index.extend({ source, passages: own, from: positions.get(source), to: `${nth}` })).toBe(true)
          positions.set(source, `${nth}`)
          passages.push(...added)
          for (const [, { text: words, context }] of steps) {
            const question = { text: words, context, now: NOW, limit: 30 }
            const { isWordless, answer } = scanned(passages, question)
            if (isWordless) continue // covered by literal-search.test.ts
            compared++
            found += answer.found.length
            expect(index.search(question)).toEqual(answer)
          }
        }
        index.close()
      }),
      { ...fuzz, numRuns: 2 * RUNS },
    )
    expect(Math.min(compared, found)).toBeGreaterThan(RUNS)
  },
)
