/**
 * Conversations that were too short for an extraction of their own. The next conversation of the same memory looks at what was said in them
 * too. Only their addresses are kept here; what was said is read from their journals.
 */
import { changedText } from "../../../journal/changed-text.ts"
import type { MemoryFiles } from "../../../journal/memory-files.ts"
import type { Journal, JournalAddress } from "../../../journal/store.ts"
import { Links } from "../../../views/path.ts"
import { type Word, words } from "../../../views/record/words.ts"
import { type Spent, spentOn } from "../../background-budget.ts"
import type { LayerContext } from "../../layer.ts"
import { isTyped, type SaidWord } from "../keep/provenance.ts"

const FILE = ".waiting.json"
const MOST_WAITING = 30
const MOST_LOOKED = 100
const MOST_SHOWN_TOKENS = 4_000 // of what was said in all of them
const MOST_SHOWN_CHARACTERS = 1_500 // of one message

export interface WaitingConversation extends Pick<JournalAddress, "project" | "id"> {
  /** The first message of the person that was not looked at. */
  readonly from: number
  /** How many there were when it was noted. There may be more by now. */
  readonly said: number
  /** What it had cost. */
  readonly spent: Spent
}

export interface Waiting {
  all(): Promise<readonly WaitingConversation[]>
  /** Notes a conversation, or renews what is noted. Of what others have looked at, nothing is noted again. */
  note(one: WaitingConversation): Promise<void>
  /** They were looked at, up to `said`. */
  looked(some: readonly WaitingConversation[]): Promise<void>
  /** What the person said in it and no one looked at. Nothing if its journal is gone. */
  wordsOf(one: WaitingConversation): Promise<readonly Word[]>
}

interface Kept {
  readonly waiting: readonly WaitingConversation[]
  /** Up to which message others looked at a conversation. */
  readonly looked: readonly { readonly id: string; readonly said: number }[]
}

type OpenJournal = (address: Pick<JournalAddress, "project" | "id">) => Promise<Journal | undefined>

export function waitingConversations(files: Pick<MemoryFiles, "read" | "install">, open: OpenJournal): Waiting {
  const change = (to: (kept: Kept) => Kept): Promise<void> =>
    changedText(files, FILE, (text) => {
      const kept = keptIn(text)
      const after = to(kept)
      return JSON.stringify(after) === JSON.stringify(kept) ? undefined : `${JSON.stringify(after)}\n`
    })
  return {
    all: async () => keptIn(await files.read(FILE)).waiting,
    note: (one) =>
      change(({ waiting, looked }) => {
        const from = Math.max(one.from, looked.find(({ id }) => id === one.id)?.said ?? 0)
        const others = waiting.filter(({ id }) => id !== one.id)
        return { waiting: from < one.said ? [...others, { ...one, from }].slice(-MOST_WAITING) : others, looked }
      }),
    looked: (some) =>
      change(({ waiting, looked }) => {
        const ids = new Set(some.map(({ id }) => id))
        const done = some.map(({ id, said }) => ({ id, said }))
        const isLeft = ({ id, said }: WaitingConversation) => !done.some((one) => one.id === id && one.said >= said)
        return {
          waiting: waiting.filter(isLeft),
          looked: [...looked.filter(({ id }) => !ids.has(id)), ...done].slice(-MOST_LOOKED),
        }
      }),
    async wordsOf({ project, id, from }) {
      const journal = await open({ project, id }).catch(() => undefined)
      if (!journal) return []
      try {
        return (await wordsIn(journal)).slice(from)
      } finally {
        await journal.close()
      }
    },
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

/** A file that cannot be read counts as empty. It is replaced by the next note. */
function keptIn(text: string | undefined): Kept {
  try {
    const { waiting = [], looked = [] } = JSON.parse(text ?? "{}") as Partial<Kept>
    return { waiting: waiting.filter(isWaiting), looked: looked.filter(({ id, said }) => isText(id) && isCount(said)) }
  } catch {
    return { waiting: [], looked: [] }
  }
}

const isWaiting = ({ project, id, from, said, spent }: WaitingConversation) =>
  isText(project) && isText(id) && isCount(from) && isCount(said) && typeof spent?.weighed === "number"
const isText = (value: unknown) => typeof value === "string"
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** The conversation as one that waits. Sub-agents do not: what they heard is the agent's words. */
export function asWaiting(context: LayerContext): WaitingConversation | undefined {
  const { journal, views } = context
  const { project, id, under } = journal.address
  if (under !== undefined) return undefined
  const spent = spentOn(views.ledger.lines.values())
  return { project, id, from: views.memories.said, said: views.words.messages.length, spent }
}

/** Whether what was noted still does: where to begin is the same, and it has not grown much. How much was said is read from its journal. */
export const isNoted = (one: WaitingConversation, noted: WaitingConversation | undefined): boolean =>
  noted !== undefined && noted.from === one.from && one.said - one.from < 2 * (noted.said - noted.from)

interface SaidEarlier {
  readonly words: readonly SaidWord[]
  /** The same for a prompt: long messages are cut. */
  readonly shown: readonly string[]
  readonly taken: readonly WaitingConversation[]
}

/** What was said in conversations that wait, as far as there is room. Those that do not fit go on waiting. */
export async function saidEarlier(
  others: readonly WaitingConversation[],
  { waiting, estimate }: { readonly waiting: Waiting | undefined; readonly estimate: (text: string) => number },
): Promise<SaidEarlier> {
  const words: SaidWord[] = []
  const shown: string[] = []
  const taken: WaitingConversation[] = []
  let room = MOST_SHOWN_TOKENS
  for (const one of others) {
    const all = (await waiting?.wordsOf(one)) ?? []
    const said = all.filter(isTyped)
    const texts = said.map(({ text }) => text.slice(0, MOST_SHOWN_CHARACTERS))
    room -= texts.reduce((sum, text) => sum + estimate(text), 0)
    if (room < 0) break
    shown.push(...texts.map((text) => text.toWellFormed()))
    words.push(...said.map((word) => ({ ...word, conversation: one.id })))
    taken.push({ ...one, said: Math.max(one.said, one.from + all.length) })
  }
  return { words, shown, taken }
}
