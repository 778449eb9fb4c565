/** Reads transcripts for the index. It never throws: a file that cannot be read becomes a reason. It runs in this thread or in a worker. */
import { readTranscripts } from "@strata/transcripts"
import { journalTranscript, type NamedJournal } from "@strata/transcripts/inspect"
import { recordUsage } from "./recorded-usage.ts"
import { searchableTexts } from "./searchable-texts.ts"
import type { IndexedConversation, ReadFile } from "./usage-index.ts"

const MAX_BYTES = 512 * 1024 * 1024 // the maximum string size of Node

export interface FileToRead {
  readonly path: string
  readonly size: number
  /** The journal's content, if it is in a store, because a worker has no connection. */
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

/** The reason without file name and content, because reports group by reason. */
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
/** Not a failure, because directories contain other files too. */
export const NO_TRANSCRIPT = "not a transcript"
