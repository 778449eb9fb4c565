/** Search without an index, for stores without files: reads journals from their ends, as far as a limit allows, and compares. */
import type { Journal } from "../journal/store.ts"
import { chooseFrom, NOTHING_FOUND } from "./answer/choose.ts"
import { coverageOf, type LookedFor, lookedFor } from "./answer/looked-for.ts"
import { type Question, type RankedPassage, rankPassages, type TermList, WEIGHTS } from "./answer/ranking.ts"
import { BlockReader } from "./block-texts.ts"
import type { JournalAnswer } from "./journal-search.ts"
import { blockAround, type Passage, passagesOf } from "./passages/passage.ts"
import { PassageColumns } from "./passages/passage-columns.ts"
import { questionTerms } from "./passages/passage-terms.ts"
import { toldIn } from "./passages/told.ts"

/** Characters that one search compares: about 1M tokens. */
const MOST_SCANNED = 4_000_000
const CHARACTERS_PER_TERM = 10

interface Scanned extends JournalAnswer {
  /** Older blocks were not compared. */
  readonly isCut: boolean
}

export interface ScannedJournal {
  readonly source: string
  readonly journal: Pick<Journal, "tail" | "before">
}

type Placed = Passage & { readonly source: string }

export async function scanJournals(journals: AsyncIterable<ScannedJournal>, question: Question): Promise<Scanned> {
  const { passages, isCut } = await read(journals)
  if (passages.length === 0) return { ...NOTHING_FOUND, isCut }
  const terms = questionTerms(question.text).map(({ term }) => term)
  const counted = countedIn(passages, terms)
  const documentsWith = (term: string) => counted.get(term)?.size ?? 0
  const asked = lookedFor(question, { count: passages.length, documentsWith, similarTo: () => [] }, WEIGHTS)
  const fits = (id: number) => isWanted(passages[id - 1]!, question)
  const ranked =
    terms.length === 0
      ? literally(passages, question).filter(({ id }) => fits(id))
      : rankPassages({
          ...{ columns: columnsOf(passages), lists: listsOf(passages, asked, counted), fits, weights: WEIGHTS },
          ...{ time: asked.time, isForAnswer: asked.isForAnswer, leastShare: question.leastCoverage ?? 0 },
          ...{ share: (mask) => coverageOf(mask, asked), prior: () => 1 },
        })
  const texts = ranked.map((one) => {
    const passage = passages[one.id - 1]!
    const { source, text, uuid, blocks, isSaid } = passage
    return { ...one, source, text, uuid, blocks, isSaid, passage: () => passage }
  })
  const answer = chooseFrom(texts, question, asked)
  const inSource = Map.groupBy(passages, ({ source }) => source)
  const found = answer.found.map((one) => ({ ...one, around: blockAround(inSource.get(one.source)!, one) }))
  return { ...answer, found, isCut }
}

/** By term, how often each passage has it. A passage is numbered by its place, from 1. */
type Counted = ReadonlyMap<string, ReadonlyMap<number, number>>

function countedIn(passages: readonly Placed[], terms: readonly string[]): Counted {
  const counted = new Map(terms.map((term) => [term, new Map<number, number>()]))
  for (const [at, { text }] of passages.entries()) {
    const lower = text.toLowerCase()
    for (const [term, ids] of counted) {
      const count = timesIn(lower, term)
      if (count > 0) ids.set(at + 1, count)
    }
  }
  return counted
}

function columnsOf(passages: readonly Placed[]): PassageColumns {
  const columns = new PassageColumns()
  const sources = new Map<string, number>()
  let [turn, speaking] = [0, ""]
  for (const [at, { source, uuid, kind, isSaid, time, text, length }] of passages.entries()) {
    if (isSaid && uuid !== speaking) turn++
    if (isSaid) speaking = uuid
    if (!sources.has(source)) sources.set(source, sources.size + 1)
    columns.add(at + 1, {
      ...{ source: sources.get(source)!, turn, kind, isSaid, isQuestion: /[?？]/.test(text), time: Date.parse(time) },
      ...{ length: text.length / CHARACTERS_PER_TERM, blockLength: length },
    })
  }
  return columns
}

function listsOf(passages: readonly Placed[], asked: LookedFor, counted: Counted): readonly TermList[] {
  const told = asked.isForSpeaker ? passages.map((passage) => toldIn(passage).toLowerCase()) : []
  return asked.terms.map(({ term, ...rest }) => {
    const ids = [...(counted.get(term) ?? [])]
    const least = (times: number) => ids.filter(([, count]) => count >= times).map(([id]) => id)
    const toldIds = least(1).filter((id) => told[id - 1]?.includes(term))
    return { ...rest, ids: least(1), twice: least(2), often: least(4), told: toldIds }
  })
}

/** For a question without words: the passages that have it as it is written, the newest first. */
function literally(passages: readonly Placed[], { text }: Question): readonly RankedPassage[] {
  const literal = text.trim().toLowerCase()
  const having = passages.flatMap((passage, at) =>
    literal !== "" && passage.text.toLowerCase().includes(literal) ? [{ id: at + 1, score: 1, mask: 0 }] : [],
  )
  return having.reverse()
}

/** The newest part of each journal, in order. */
async function read(journals: AsyncIterable<ScannedJournal>) {
  const passages: Placed[] = []
  let [scanned, isCut] = [0, false]
  for await (const { source, journal } of journals) {
    const parts: Placed[][] = []
    for (let segment = await journal.tail(); ; ) {
      if (scanned > MOST_SCANNED) {
        isCut = true
        break
      }
      const reader = new BlockReader()
      const part = segment.entries
        .flatMap((entry) => reader.take(entry))
        .flatMap((block) => passagesOf(block, (text) => text))
        .map((passage) => ({ ...passage, source }))
      for (const { text } of part) scanned += text.length
      parts.push(part)
      const before = await journal.before(segment)
      if (!before) break
      segment = before
    }
    passages.push(...parts.reverse().flat())
  }
  return { passages, isCut }
}

function timesIn(text: string, term: string): number {
  let count = 0
  for (let at = text.indexOf(term); at >= 0 && count < 4; at = text.indexOf(term, at + term.length)) count++
  return count
}

function isWanted(passage: Placed, { kind, since, until, isSaid }: Question): boolean {
  if ((isSaid && !passage.isSaid) || (kind !== undefined && passage.kind !== kind)) return false
  const at = Date.parse(passage.time)
  return !(since && at < since.getTime()) && !(until && at >= until.getTime())
}
