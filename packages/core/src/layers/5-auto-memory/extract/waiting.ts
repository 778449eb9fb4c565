/**
 * What was said in conversations that wait for an extraction. The next one of the same memory looks at it too. Only their addresses are kept;
 * what was said is read from their journals.
 */
import type { Journal, JournalAddress } from "../../../journal/store.ts"
import { Links } from "../../../views/path.ts"
import { type Word, words } from "../../../views/record/words.ts"
import { type Looked, nextIn, type WaitingConversation } from "../../memory-budget.ts"
import { isTyped, type SaidWord } from "../keep/provenance.ts"

const MAX_SHOWN_TOKENS = 4_000 // of what was said in all of them
export const MAX_SHOWN_MESSAGES = 20 // an answer has at most so many memories
const MAX_SHOWN_CHARACTERS = 1_500 // of one message

type Address = Pick<JournalAddress, "project" | "id">

/** What the person said in a conversation. Nothing if its journal is gone. */
export type WordsOf = (address: Address) => Promise<readonly Word[]>

export function wordsInJournals(open: (address: Address) => Promise<Journal | undefined>): WordsOf {
  return async (address) => {
    const journal = await open(address).catch(() => undefined)
    if (!journal) return []
    try {
      return await wordsIn(journal)
    } finally {
      await journal.close()
    }
  }
}

async function wordsIn(journal: Journal): Promise<readonly Word[]> {
  const links = new Links()
  for await (const entry of journal.entries()) links.add(entry)
  const places = links.placesOn(links.path())
  let state = words.start()
  for await (const entry of journal.entries()) if (places(entry) === "on-path") state = words.apply(state, entry)
  return state.messages
}

/** A message as another conversation's extraction is shown it: long ones are cut. */
const shownText = ({ text }: Pick<Word, "text">): string => text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()

/** Tokens of what an extraction of another conversation would be shown of these messages. */
export const shownTokens = (said: readonly Word[], estimate: (text: string) => number): number =>
  said.filter(isTyped).reduce((sum, word) => sum + estimate(shownText(word)), 0)

/** What an extraction will be shown of them at most, by what was noted. */
export function expectedIn(waiting: readonly WaitingConversation[]) {
  let [messages, tokens] = [0, 0]
  for (const one of waiting) {
    if (messages >= MAX_SHOWN_MESSAGES) break
    messages += Math.max(1, one.said - nextIn(one))
    tokens += one.tokens
  }
  return { messages, tokens: Math.min(tokens, MAX_SHOWN_TOKENS) }
}

interface SaidEarlier {
  readonly words: readonly SaidWord[]
  readonly shown: readonly string[]
  readonly looked: readonly Looked[]
}

interface Reading {
  readonly wordsOf: WordsOf
  readonly estimate: (text: string) => number
}

/** What was said in conversations that wait, the oldest first, as far as there is room. The rest goes on waiting. */
export async function saidEarlier(
  waiting: readonly WaitingConversation[],
  { wordsOf, estimate }: Reading,
): Promise<SaidEarlier> {
  const found: SaidWord[] = []
  const shown: string[] = []
  const looked: Looked[] = []
  let room = MAX_SHOWN_TOKENS
  for (const one of waiting) {
    const from = nextIn(one)
    const said = (await wordsOf(one)).slice(from)
    let count = 0
    for (const word of said) {
      const text = shownText(word)
      if (isTyped(word)) {
        if (estimate(text) > room || shown.length >= MAX_SHOWN_MESSAGES) break
        room -= estimate(text)
        shown.push(text)
        found.push({ ...word, conversation: one.id })
      }
      count++
    }
    // messages of a journal that is gone no longer wait
    const isDone = count === said.length
    looked.push({
      id: one.id,
      said: isDone ? Math.max(one.said, from + count) : from + count,
      left: isDone ? 0 : Math.max(1, shownTokens(said.slice(count), estimate)),
    })
    if (!isDone) break
  }
  return { words: found, shown, looked }
}
