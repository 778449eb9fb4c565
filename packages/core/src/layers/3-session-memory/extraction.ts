/**
 * One update of the notes: a fork that may edit that one file and nothing else (L3-4). The file is read first, as it is now, so what its
 * owner wrote by hand is what the fork sees (L3-7); if it changes while the fork works, the Edit fails and the fork is told.
 */

import { type ForkOutcome, runFork } from "../../forks/fork.ts"
import { cloneReads, type ToolSurroundings } from "../../forks/fork-state.ts"
import type { ToolUse } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Model } from "../../model/model.ts"
import { executed } from "../../tools/defaults.ts"
import type { PermissionQuestion, ReadState, Tool } from "../../tools/tool.ts"
import { measureNotes, type NotesLimits, sizeReminder } from "./limits.ts"
import { type NotesFile, openNotesFile, replaceNotes } from "./notes-file.ts"
import { fillVariables, loadTexts } from "./prompt.ts"

export interface Extractor {
  readonly model: Model
  readonly tools: readonly Tool[]
  readonly reads: ReadState
  readonly toolContext: ToolSurroundings
  /** Where a template and a prompt of one's own may lie. */
  readonly configDirectory?: string
}

export interface ExtractionTask {
  readonly path: string
  /** What the file is to hold before the fork sees it, where it holds the notes of a branch that was left; empty: the template. */
  readonly instead?: string | undefined
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
  /** Tokens that the prompt may take. */
  readonly room: number
  readonly now: Date
  readonly signal: AbortSignal
}

export type Extraction =
  | { readonly state: "no-room" }
  /** The fork edited the file, or said that there is nothing to note. */
  | { readonly state: "noted"; readonly outcome: ForkOutcome; readonly text: string }
  | { readonly state: "not-noted"; readonly outcome: ForkOutcome }

const MOST_TURNS = 10 // all edits come with one answer as a rule; one by one they still get through
const NOTHING_NEW = /^\W*nothing to note\b/i
const EDIT = "Edit"
const READ = "Read"

export const canEdit = (tools: readonly Tool[]): boolean => tools.some(({ name }) => name === EDIT)

export async function extractNotes(extractor: Extractor, task: ExtractionTask): Promise<Extraction> {
  const { template, prompt } = await loadTexts(extractor.configDirectory)
  if (task.instead !== undefined) await replaceNotes({ path: task.path, text: task.instead })
  const file = await openNotesFile({ ...task, template })
  const directive = directiveFor(prompt, { file, task })
  if (task.estimate(directive) > task.room) return { state: "no-room" }
  const reads = cloneReads(extractor.reads)
  reads.set(file.path, file.read)
  const { tools, edits } = countingEdits(extractor.tools)
  const outcome = await runFork(
    { ...extractor, tools, reads, request: task.request, openCalls: task.openCalls },
    { directive, allows: onlyThisFile(file), maxTurns: MOST_TURNS, signal: task.signal },
  )
  const isTold = edits() > 0 || NOTHING_NEW.test(outcome.text)
  if (outcome.ended !== "answer" || !isTold) return { state: "not-noted", outcome }
  // somebody may have put something else in its place meanwhile: what was paid is told all the same
  const noted = await openNotesFile({ ...task, template }).catch(() => undefined)
  return noted ? { state: "noted", outcome, text: noted.text } : { state: "not-noted", outcome }
}

function directiveFor(
  prompt: string,
  { file, task }: { readonly file: NotesFile; readonly task: ExtractionTask },
): string {
  const filled = fillVariables(prompt, {
    notes: file.text.trimEnd(),
    path: file.given,
    section_limit: String(task.limits.section),
  })
  const reminder = sizeReminder(measureNotes(file.text, task.estimate), task.limits)
  return [filled.trimEnd(), ...(reminder === undefined ? [] : [reminder])].join("\n\n")
}

/** The question names the file that a call would really touch, links followed. */
function onlyThisFile(file: NotesFile) {
  return ({ name }: ToolUse, _tool: Tool, { paths = [] }: PermissionQuestion): true | string => {
    const isAboutNotes = paths.length > 0 && paths.every((path) => path === file.path)
    if (isAboutNotes && (name === EDIT || name === READ)) return true
    return `here only ${EDIT} and ${READ} of ${file.given} may be used. Make the changes to the notes, or end with an answer.`
  }
}

/** Somebody else may change the file meanwhile, so the file alone does not tell whether the fork has. */
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
