/** A fork changes the file of the notes with the Edit tool. It may touch that one file. If the file changes while it works, the Edit fails and says so. */
import { lstat, realpath } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { runFork } from "../../forks/fork.ts"
import { cloneReads } from "../../forks/fork-state.ts"
import type { ToolUse } from "../../messages/blocks.ts"
import type { FileRead, PermissionQuestion, Tool } from "../../tools/tool.ts"
import { openNotes } from "./kept-notes.ts"
import { type Extractor, type NotesUpdate, patienceOf, saysNothingNew, type Written } from "./notes-update.ts"

export const EDIT = "Edit"
const READ = "Read"
const MAX_TURNS = 10 // usually one; more where an edit fails

interface FileUpdate extends NotesUpdate {
  /** Of the notes. */
  readonly path: string
}

export async function writeWithEdit(extractor: Extractor, update: FileUpdate): Promise<Written> {
  const { journal, template, directive, signal, request, openCalls } = update
  const file = await fileToEdit(update)
  const reads = cloneReads(extractor.reads)
  reads.set(file.path, file.read)
  let isEdited = false // the file alone does not show it: someone else may change it in the meantime
  const outcome = await runFork(
    { ...extractor, reads, request, openCalls },
    {
      ...{ purpose: "notes", directive, allows: onlyThisFile(file), maxTurns: MAX_TURNS, signal },
      ...patienceOf(update),
      // it was asked to make all changes in one answer: a further request would only say so
      isDone(calls, results) {
        const failed = new Set(results.flatMap(({ is_error, tool_use_id }) => (is_error ? tool_use_id : [])))
        isEdited ||= calls.some(({ name, id }) => name === EDIT && !failed.has(id))
        return failed.size === 0 && calls.every(({ name }) => name === EDIT)
      },
    },
  )
  if (outcome.ended !== "answer" || !(isEdited || saysNothingNew(outcome))) return { state: "not-noted", outcome }
  // someone may have replaced the file in the meantime; what the fork cost is reported in any case
  const text = await openNotes(journal, template).catch(() => undefined)
  return text === undefined ? { state: "not-noted", outcome } : { state: "noted", outcome, text }
}

interface NotesFile {
  /** As it is shown to people and to the model. */
  readonly given: string
  /** With links in the directory's path resolved. */
  readonly path: string
  /** What the Edit tool needs to know before a change. */
  readonly read: FileRead
}

/** The store has just read the file, and refuses a link in its place. */
async function fileToEdit({ path: given, notes, now }: FileUpdate): Promise<NotesFile> {
  const path = join(await realpath(dirname(given)), basename(given))
  const { mtimeMs: modifiedMs } = await lstat(path)
  const content = notes.replace(/^\uFEFF/, "") // file tools leave the byte order mark out
  return { given, path, read: { content, modifiedMs, at: now.toISOString() } }
}

/** The permission question names the file that a call would touch, with links resolved. */
function onlyThisFile(file: NotesFile) {
  return ({ name }: ToolUse, _tool: Tool, { paths = [] }: PermissionQuestion): true | string => {
    const isAboutNotes = paths.length > 0 && paths.every((path) => path === file.path)
    if (isAboutNotes && (name === EDIT || name === READ)) return true
    return `only ${EDIT} and ${READ} of ${file.given} are allowed here. Change the notes, or end with an answer.`
  }
}
