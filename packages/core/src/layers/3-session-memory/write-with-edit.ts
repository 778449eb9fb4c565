/** A fork changes the notes with the Edit tool. It may touch that one file. If the file changes while it works, the Edit fails and says so. */
import { runFork } from "../../forks/fork.ts"
import { cloneReads } from "../../forks/fork-state.ts"
import type { ToolUse } from "../../messages/blocks.ts"
import { executed } from "../../tools/defaults.ts"
import type { PermissionQuestion, Tool } from "../../tools/tool.ts"
import { type NotesFile, openNotesFile } from "./notes-file.ts"
import { type Extractor, type NotesUpdate, patienceOf, saysNothingNew, type Written } from "./notes-update.ts"

export const EDIT = "Edit"
const READ = "Read"
const MOST_TURNS = 10 // usually all edits come in one answer; one by one they still fit

export async function writeWithEdit(extractor: Extractor, update: NotesUpdate): Promise<Written> {
  const { file, directive, signal } = update
  const reads = cloneReads(extractor.reads)
  reads.set(file.path, file.read)
  const { tools, edits } = countingEdits(extractor.tools)
  const outcome = await runFork(
    { ...extractor, tools, reads, request: update.request, openCalls: update.openCalls },
    { purpose: "notes", directive, allows: onlyThisFile(file), maxTurns: MOST_TURNS, signal, ...patienceOf(update) },
  )
  const isNoted = edits() > 0 || saysNothingNew(outcome)
  if (outcome.ended !== "answer" || !isNoted) return { state: "not-noted", outcome }
  // someone may have replaced the file in the meantime; what the fork cost is reported in any case
  const noted = await openNotesFile(update).catch(() => undefined)
  return noted ? { state: "noted", outcome, text: noted.text } : { state: "not-noted", outcome }
}

/** The permission question names the file that a call would touch, with links resolved. */
function onlyThisFile(file: NotesFile) {
  return ({ name }: ToolUse, _tool: Tool, { paths = [] }: PermissionQuestion): true | string => {
    const isAboutNotes = paths.length > 0 && paths.every((path) => path === file.path)
    if (isAboutNotes && (name === EDIT || name === READ)) return true
    return `only ${EDIT} and ${READ} of ${file.given} are allowed here. Change the notes, or end with an answer.`
  }
}

/** Someone else may change the file in the meantime, so the file alone does not show whether the fork did. */
function countingEdits(given: readonly Tool[]): { readonly tools: readonly Tool[]; readonly edits: () => number } {
  let count = 0
  const tools = given.map((tool): Tool => {
    if (tool.name !== EDIT) return tool
    return {
      ...tool,
      async execute(input, context) {
        const output = await executed(tool, input, context)
        if (!output.isError) count++
        return output
      },
    }
  })
  return { tools, edits: () => count }
}
