/**
 * Chooses what to attach to a person's message: memories and a few passages of past conversations. Works offline. Chooses nothing where
 * nothing fits. The caller attaches the choice and excludes it from then on.
 */
import type { PassageMatch, PassageSearchResult } from "./answer/choose.ts"
import type { MembershipTest, Question } from "./answer/ranking.ts"
import { MemorySearch, type SearchableMemory } from "./memory-search.ts"
import { isExactName, questionTerms } from "./passages/passage-terms.ts"
import { possibleConflict } from "./possible-conflict.ts"

const DEFAULT_LIMIT = 5
/** Passages are there to fill a gap. One has its place beside memories: what waits for an extraction is in passages alone. */
const MAX_PASSAGES = 2
const OWN_PASSAGES = 1
/** A passage was never meant to be kept, so it has to fit better than a memory: the share of the question that it covers. */
const MIN_PASSAGE_COVERAGE = 0.5
const PASSAGES_LOOKED_AT = 2 * MAX_PASSAGES
/** Words of the message that what is attached must have. One word is in common with anything; one exact name is enough. */
const MIN_WORDS = 2
/** Of the message, for a memory that has one of its words only: a message can ask about several things. */
const MIN_MEMORY_COVERAGE = 0.3
/** Said to keep a talk going. They tell nothing apart. */
const SMALL_TALK = new Set(
  (
    "thank,thanks,great,good,nice,perfect,cool,awesome,continue,go,next,proceed,sure,fine,hello,hi,hey,bye,right,help,stop," +
    "wait,work,works,try,let,looks,look,keep,start,danke,gut,weiter,bitte,super,merci,bien,continuez,gracias,bueno,sigue,vale," +
    "спасибо,хорошо,дальше,привет,да,нет,好的,谢谢,继续,你好,続け,ありが,りがと,がとう,감사합니다,계속,네,شكرا,تابع,نعم,مرحبا"
  ).split(","),
)
/** New memories that a message waits for, about 20 ms. The others are found from a later message on. */
const MAX_INDEXED = 100
const DAY = 86_400_000

export interface MemoryRecallOptions<M extends RecallableMemory> {
  /** A file for the index of memories. Default: in memory. */
  readonly index?: string
  readonly bank?: { all(): Promise<readonly M[]> }
  readonly journals?: { search(question: Question): Promise<Pick<PassageSearchResult, "found" | "isFitting">> }
}

export interface RecallQuestion {
  /** The person's message. */
  readonly text: string
  /** Earlier messages of the conversation, the newest last. They help to choose. */
  readonly context?: readonly string[]
  readonly now: Date
  /** The most memories and passages together. Default: 5. */
  readonly limit?: number
  readonly exclude?: {
    /** Files of memories, such as those already attached and the rules that are always in context. */
    readonly memories?: ReadonlySet<string>
    /** Conversations, such as the current one: neither what was said in them nor memories that come from them. */
    readonly conversations?: ReadonlySet<string>
    /** Uuids of messages already attached. */
    readonly messages?: MembershipTest
  }
}

export interface RecallableMemory extends SearchableMemory {
  readonly source?: { readonly conversation?: string; readonly message?: string }
}

interface RecallChoice {
  /** The words of the message that matched. */
  readonly words: readonly string[]
  /** Days since the memory was confirmed, or since the message was written. */
  readonly ageDays: number
}

export type RecalledMatch<M extends RecallableMemory> =
  | (RecallChoice & {
      readonly kind: "memory"
      readonly memory: M
      /** A later memory that may say otherwise. */
      readonly doubtedBy?: M
    })
  | (RecallChoice & { readonly kind: "conversation"; readonly passage: PassageMatch })

/** Keeps the index of memories between two messages, so that a message costs what changed. */
export class MemoryRecall<M extends RecallableMemory> {
  readonly #options: MemoryRecallOptions<M>
  readonly #search: MemorySearch<M>

  constructor(options: MemoryRecallOptions<M>) {
    this.#options = options
    this.#search = new MemorySearch<M>([], options.index)
  }

  async recall({
    limit = DEFAULT_LIMIT,
    exclude = {},
    ...question
  }: RecallQuestion): Promise<readonly RecalledMatch<M>[]> {
    if (!isSpecific(question.text)) return []
    const all = (await this.#options.bank?.all()) ?? []
    this.#search.update(all, MAX_INDEXED)
    const memories = this.#search
      .search({ ...question, mustFit: true, limit: Number.POSITIVE_INFINITY })
      .filter(
        ({ memory, words, coverage }) =>
          (isAbout(words) || coverage >= MIN_MEMORY_COVERAGE) &&
          !exclude.memories?.has(memory.file) &&
          !isFromConversation(memory, exclude),
      )
      .slice(0, limit)
      .map(({ memory, words }) => {
        const doubtedBy = possibleConflict(memory, (file) => this.#search.get(file))
        return {
          ...{ kind: "memory" as const, memory, words, ageDays: daysSince(memory.confirmed, question.now) },
          ...(doubtedBy ? { doubtedBy } : {}),
        }
      })
    const retired = [...this.#search.retired].flatMap((file) => this.#search.get(file) ?? [])
    const known = sourceMessages([...retired, ...memories.map(({ memory }) => memory)])
    const maxPassages = Math.min(MAX_PASSAGES, Math.max(limit > 1 ? OWN_PASSAGES : 0, limit - memories.length))
    const passages = await this.#passages(question, maxPassages, {
      conversations: exclude.conversations ?? new Set(),
      messages: { has: (uuid) => known.has(uuid) || exclude.messages?.has(uuid) === true },
    })
    return [...memories.slice(0, limit - passages.length), ...passages]
  }

  close(): void {
    this.#search.close()
  }

  /** At most one passage of each conversation. */
  async #passages(
    question: Question,
    max: number,
    exclude: { readonly conversations: ReadonlySet<string>; readonly messages: MembershipTest },
  ): Promise<readonly RecalledMatch<M>[]> {
    const { journals } = this.#options
    if (!journals || max <= 0) return []
    const { found, isFitting } = await journals.search({
      ...{ ...question, isDialogue: true, limit: PASSAGES_LOOKED_AT },
      ...{ isOnePerSource: true, minCoverage: MIN_PASSAGE_COVERAGE },
      exclude: { sources: exclude.conversations, messages: exclude.messages },
    })
    const fitting = isFitting
      ? found.filter(({ coverage, words }) => coverage >= MIN_PASSAGE_COVERAGE && isAbout(words))
      : []
    return [...Map.groupBy(fitting, ({ source }) => source).values()].slice(0, max).map(([passage]) => ({
      kind: "conversation",
      passage: passage!,
      words: passage!.words,
      ageDays: daysSince(passage!.time, question.now),
    }))
  }
}

/** Small talk is about nothing: "thanks!", "continue". A pair of characters is no word yet, so scripts without spaces need more of them. */
function isSpecific(text: string): boolean {
  return isAbout([...new Set(questionTerms(text).map(({ word }) => word))])
}

const isAbout = (words: readonly string[]) =>
  words.filter((word) => !SMALL_TALK.has(word)).length >= MIN_WORDS || words.some(isExactName)

/** Messages that memories come from: a replaced fact must not return through its conversation, nor a chosen one twice. */
function sourceMessages(memories: readonly RecallableMemory[]): ReadonlySet<string> {
  return new Set(memories.flatMap(({ source }) => source?.message ?? []))
}

/** What was said in a conversation is in its own messages. */
const isFromConversation = (
  { source }: RecallableMemory,
  { conversations, messages }: NonNullable<RecallQuestion["exclude"]>,
) =>
  (source?.conversation !== undefined && conversations?.has(source.conversation)) ||
  (source?.message !== undefined && messages?.has(source.message))

function daysSince(time: string, now: Date): number {
  const days = Math.floor((now.getTime() - Date.parse(time)) / DAY)
  return Number.isNaN(days) ? 0 : Math.max(0, days)
}
