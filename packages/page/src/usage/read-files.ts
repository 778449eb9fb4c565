/** Reads transcripts for the index. Nothing ends it: what cannot be read becomes a reason. It runs in this thread or in a worker. */
import { readTranscripts } from "@strata/transcripts"
import { journalTranscript, type NamedJournal } from "@strata/transcripts/inspect"
import { recordUsage } from "./recorded-usage.ts"
import { searchableTexts } from "./searchable-texts.ts"
import type { IndexedConversation, ReadFile } from "./usage-index.ts"

const MAX_BYTES = 512 * 1024 * 1024 // a text of this size is the largest that Node holds as one

export interface FileToRead {
  readonly path: string
  readonly size: number
  /** What the store has of it, if it is in a store: a worker has none. */
  readonly journal?: NamedJournal
}

export async function readFileForIndex({ path, size, journal }: FileToRead): Promise<ReadFile> {
  if (size > MAX_BYTES) return { kind: "problem", reason: "larger than 512 MB" }
  if (journal?.bytes.length === 0) return { kind: "problem", reason: EMPTY }
  try {
    const conversations: IndexedConversation[] = []
    for (const transcript of journal ? [journalTranscript(journal)] : await readTranscripts(path)) {
      conversations.push({ recorded: await recordUsage(transcript), texts: searchableTexts(transcript) })
    }
    return { kind: "read", conversations }
  } catch (error) {
    return { kind: "problem", reason: reasonFor(error) }
  }
}

/** Without the name of the file and its content: reports count reasons. */
function reasonFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (/is compressed\b/.test(message)) return "compressed"
  if (/it is empty\b/.test(message)) return EMPTY
  if (/format is not known|does not begin with a JSON object|it is a binary file/.test(message)) return NO_TRANSCRIPT
  if (/does not exist/.test(message)) return "deleted while it was read"
  const code = /\((E[A-Z]+)\)/.exec(message)?.[1]
  return code === undefined ? "damaged" : `cannot be read (${code})`
}

export const EMPTY = "empty"
/** Not a failure: directories hold other files too. */
export const NO_TRANSCRIPT = "not a transcript"
