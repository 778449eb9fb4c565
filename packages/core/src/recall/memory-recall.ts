/**
 * Chooses what to attach to a user's message: memories and a few passages of past conversations. Works offline. Chooses nothing if
 * nothing fits. The caller attaches the choice and excludes it from then on.
 */
import type { PassageMatch, PassageSearchResult } from "./answer/choose.ts"
import type { MembershipTest, Question } from "./answer/ranking.ts"
import { MemorySearch, type SearchableMemory } from "./memory-search.ts"
import { isExactName, questionTerms } from "./passages/passage-terms.ts"
import { possibleConflict } from "./possible-conflict.ts"

const DEFAULT_LIMIT = 5
/**
 * Passages fill gaps. One is always possible in addition to memories, because conversations queued for extraction exist only as
 * passages.
 */
const MAX_PASSAGES = 2
const OWN_PASSAGES = 1
/** Share of the question that a passage must cover. Higher than for memories, because a passage was never selected for storage. */
const MIN_PASSAGE_COVERAGE = 0.5
const PASSAGES_LOOKED_AT = 2 * MAX_PASSAGES
/** Words that an attached text must share with the message. Anything can share one word; one exact name is enough. */
const MIN_WORDS = 2
/** Share of the message that a memory with only one of its words must cover: a message can have several subjects. */
const MIN_MEMORY_COVERAGE = 0.3
/** Small talk, which does not distinguish texts. */
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
  /** The user's message. */
  readonly text: string
  /** Earlier messages of the conversation, newest last. They influence the choice. */
  readonly context?: readonly string[]
  readonly now: Date
  /** Maximum of memories and passages together. Default: 5. */
  readonly limit?: number
  readonly exclude?: {
    /** Files of memories, such as those already attached and the rules that are always in context. */
    readonly memories?: ReadonlySet<string>
    /** Conversations, such as the current one: excludes their messages, and memories that come from them. */
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
      /** A later memory with a possible conflict. */
      readonly doubtedBy?: M
    })
  | (RecallChoice & { readonly kind: "conversation"; readonly passage: PassageMatch })

/** Caches the index of memories between messages, so that a message costs only what changed. */
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

  /** Chooses at most one passage of each conversation. */
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

/**
 * Whether a message has a subject, unlike small talk: "thanks!", "continue". Pairs of characters are not words yet, so scripts without
 * spaces need more of them.
 */
function isSpecific(text: string): boolean {
  return isAbout([...new Set(questionTerms(text).map(({ word }) => word))])
}

const isAbout = (words: readonly string[]) =>
  words.filter((word) => !SMALL_TALK.has(word)).length >= MIN_WORDS || words.some(isExactName)

/** Messages that memories come from: neither may an outdated fact return through its conversation, nor a chosen one twice. */
function sourceMessages(memories: readonly RecallableMemory[]): ReadonlySet<string> {
  return new Set(memories.flatMap(({ source }) => source?.message ?? []))
}

/** Whether a memory comes from an excluded conversation or message, which already contains it. */
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
