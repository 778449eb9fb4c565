/** Brings conversations of other programs in: from a file of theirs to a conversation of ours. */
import { readFile } from "node:fs/promises"
import { basename } from "node:path"
import { type Clock, systemClock } from "../base/clock.ts"
import { ImportError, reasonOf } from "../base/errors.ts"
import { isSafeId, projectName, uuidFrom } from "../base/ids.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { defaultRoot } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import { importTranscript } from "./import-file.ts"
import type { ImportReport } from "./importer.ts"
import { writeImported } from "./into-journal.ts"

export interface ImportOptions {
  readonly file: string
  readonly dir?: string
  readonly cwd?: string
  readonly store?: Store
  readonly clock?: Clock
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface ImportOutcome {
  /** To be opened with `openConversation({ id })`. */
  readonly id: string
  readonly format: string
  readonly model?: string
  readonly title?: string
  /** What was understood, what was not, what was odd. */
  readonly report: ImportReport
}

/** Imports every conversation in a file. The same file imported again is refused, because its conversations are there already. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  const { file, cwd = process.cwd(), clock = systemClock, env = process.env } = options
  const store = options.store ?? fileStore({ root: options.dir ?? defaultRoot(env), clock })
  const project = projectName(cwd)
  const imported = importTranscript({ name: basename(file), text: await readText(file) })
  const there = new Set((await store.list(project)).map(({ id }) => id))
  const outcomes: ImportOutcome[] = []
  for (const conversation of imported) {
    const id = isSafeId(conversation.id) ? conversation.id : uuidFrom(conversation.id)
    if (there.has(id))
      throw new ImportError(
        `The conversation ${id} of ${basename(file)} is in ${store.description} already. Nothing was changed.`,
      )
    await writeImported(conversation, { store, project, clock, source: basename(file), id })
    const { format, model, title, report } = conversation
    outcomes.push({
      id,
      format,
      report,
      ...(model === undefined ? {} : { model }),
      ...(title === undefined ? {} : { title }),
    })
  }
  return outcomes
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    throw new ImportError(`${file} cannot be read (${reasonOf(error)}).`, { cause: error })
  }
}
