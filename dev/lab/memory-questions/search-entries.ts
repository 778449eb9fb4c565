/**
 * Stores dialogues as journals on disk and searches them as users do: by the text of the Recall tool and by memory search. Each session is
 * a separate conversation.
 */
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { handleOf } from "@strata/core"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import type { Question } from "../../../packages/core/src/recall/answer/ranking.ts"
import { ConversationRecall } from "../../../packages/core/src/recall/conversation-recall.ts"
import { JournalSearch } from "../../../packages/core/src/recall/journal-search.ts"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import { runRecall } from "../../../packages/core/src/tools/session/recall-text.ts"
import type { Dialogue, Turn } from "./dialogues.ts"

const PROJECT = "p"
const ASKING = "asking"
const MAX = 60

export interface Answer {
  /** Position of a turn in the dialogue. `undefined` for a turn of another dialogue. */
  readonly at: number | undefined
  readonly session: string
}

export interface SearchResult {
  /** Search results, best first. */
  readonly answers: readonly Answer[]
  /** Rendered text of the results. */
  readonly text: string
  /** Whether automatic recall would attach the results too. */
  readonly isFitting: boolean
}

export interface SearchEntry {
  readonly search: (question: string) => Promise<SearchResult>
  readonly close: () => Promise<void>
}

export type OpenSearchEntry = (dialogue: Dialogue) => Promise<SearchEntry>

/** A uuid that is identical for the same turn. */
function uuidOf(at: number): string {
  const digits = createHash("sha256").update(`turn ${at}`).digest("hex")
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-")
}

const isChat = ({ turns }: Dialogue) => turns.some(({ speaker }) => speaker === "user")

/** Text of a turn as written to the journal. In dialogues of two people it includes the speaker's name. */
export const writtenAs = (dialogue: Dialogue, { speaker, text }: Turn) =>
  isChat(dialogue) ? text : `${speaker}: ${text}`

async function written(dialogue: Dialogue) {
  const root = mkdtempSync(join(tmpdir(), "questions-"))
  const store = fileStore({ root, flush: "never" })
  const { turns } = dialogue
  const first = isChat(dialogue) ? "user" : turns[0]!.speaker
  for (const [session, own] of Map.groupBy(turns.entries(), ([, turn]) => turn.session)) {
    const journal = await store.open({ project: PROJECT, id: `s${session}` }, { access: "write", create: true })
    await journal.append(
      own.map(([at, turn]) => {
        const text = writtenAs(dialogue, turn)
        const place = { uuid: uuidOf(at), parentUuid: null, timestamp: turn.time, sessionId: `s${session}` }
        return turn.speaker === first
          ? { ...place, type: "user" as const, message: { role: "user" as const, content: text } }
          : {
              ...{ ...place, type: "assistant" as const },
              message: {
                role: "assistant" as const,
                id: `m${at}`,
                model: "m",
                content: [{ type: "text" as const, text }],
              },
            }
      }) as unknown as Parameters<typeof journal.append>[0],
    )
    await journal.close()
  }
  const asking = await store.open({ project: PROJECT, id: ASKING }, { access: "write", create: true })
  const remove = async () => {
    await asking.close()
    rmSync(root, { recursive: true, force: true })
  }
  return { store, asking, remove }
}

export const recallTool: OpenSearchEntry = async (dialogue) => {
  const { store, asking, remove } = await written(dialogue)
  const estimator = createEstimator("claude-5")
  const past = new ConversationRecall({
    ...{ store, journal: asking, isShared: true, namespaces: async () => [PROJECT] },
    estimate: (text) => estimator.text(text),
    now: () => dialogue.now,
  })
  const places = new Map(dialogue.turns.map((_, at) => [handleOf(uuidOf(at)), at]))
  return {
    async search(search) {
      const text = String((await runRecall({ search, in: "project" }, past)).content)
      const heads = text.matchAll(/^s(\d+)\/([0-9a-f]{10})\.0 · /gm)
      const answers = [...heads].map(([, session, handle]) => ({ at: places.get(handle!), session: session! }))
      return { answers, text, isFitting: true }
    },
    close: async () => {
      past.close()
      await remove()
    },
  }
}

export const memorySearch =
  (weights: Question["weights"] = {}): OpenSearchEntry =>
  async (dialogue) => {
    const { store, remove } = await written(dialogue)
    const journals = new JournalSearch({ feed: store.feed({ project: PROJECT }) })
    const places = new Map(dialogue.turns.map((_, at) => [uuidOf(at), at]))
    return {
      async search(text) {
        const question = { text, now: dialogue.now, limit: MAX, isDialogue: true, weights }
        const { found, isFitting } = (await journals.search(question)).answer
        const answers = found.map(({ uuid, source }) => ({ at: places.get(uuid), session: source.slice(1) }))
        return { answers, isFitting, text: found.map((one) => one.text).join("\n") }
      },
      close: async () => {
        journals.close()
        await remove()
      },
    }
  }

/** Searches the same turns with SQLite's full-text search. */
export const plainFts5: OpenSearchEntry = async (dialogue) => {
  const db = new DatabaseSync(":memory:")
  db.exec("CREATE VIRTUAL TABLE turns USING fts5 (text, tokenize='porter unicode61')")
  const insert = db.prepare("INSERT INTO turns (rowid, text) VALUES (?, ?)")
  for (const [at, turn] of dialogue.turns.entries()) insert.run(at + 1, writtenAs(dialogue, turn))
  const find = db.prepare(`SELECT rowid AS id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT ${MAX}`)
  return {
    async search(text) {
      const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
      const rows = find.all(words.map((word) => `"${word}"`).join(" OR "))
      const answers = rows.map(({ id }) => ({
        at: Number(id) - 1,
        session: `${dialogue.turns[Number(id) - 1]!.session}`,
      }))
      return { answers, text: "", isFitting: true }
    },
    close: async () => db.close(),
  }
}
