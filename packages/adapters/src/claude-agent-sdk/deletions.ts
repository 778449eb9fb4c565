/**
 * Which transcripts were deleted. A journal keeps every line, so a deletion notes how long the journals of a session were: what is written
 * later counts again. One small text per session, beside the journals; a list of sessions reads them all in one call.
 */
import type { MemoryFiles } from "@strata/core"
import { changedText } from "@strata/core/internal/journal/changed-text"

const FOLDER = ".deleted"

/** How many bytes of each journal no longer count. */
export interface Deletion {
  /** Of the session's own transcript. */
  readonly own: number
  /** Of its agents' transcripts, by the ids of their journals. */
  readonly agents: Readonly<Record<string, number>>
}

const NOTHING: Deletion = { own: 0, agents: {} }

const pathOf = (session: string) => `${FOLDER}/session-${session}.json`

export const readDeletion = async (files: MemoryFiles, session: string): Promise<Deletion> =>
  deletionIn(await files.read(pathOf(session)))

/** Of all sessions of a place, by id. */
export async function readDeletions(files: MemoryFiles): Promise<ReadonlyMap<string, Deletion>> {
  const texts = await files.readAll({ folders: [FOLDER] })
  return new Map(
    texts.map(({ path, text }) => [path.slice(pathOf("").indexOf(".json"), -".json".length), deletionIn(text)]),
  )
}

interface NewDeletion {
  readonly files: MemoryFiles
  /** The id of its journal. */
  readonly session: string
  readonly more: Partial<Deletion>
}

/** What was deleted before stays deleted. */
export async function noteDeletion({ files, session, more }: NewDeletion): Promise<void> {
  await changedText(files, pathOf(session), (text) => {
    const { own, agents } = deletionIn(text)
    return JSON.stringify({ own: more.own ?? own, agents: { ...agents, ...more.agents } } satisfies Deletion)
  })
}

/** A person may have edited it: then nothing was deleted, and nothing is lost. */
function deletionIn(text: string | undefined): Deletion {
  try {
    const { own, agents } = JSON.parse(text ?? "{}") as { own?: unknown; agents?: unknown }
    const counts = Object.entries(agents ?? {}).filter((each): each is [string, number] => typeof each[1] === "number")
    return { own: typeof own === "number" ? own : 0, agents: Object.fromEntries(counts) }
  } catch {
    return NOTHING
  }
}
