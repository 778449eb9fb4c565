/**
 * One update of the notes, by a fork that may edit that one file and nothing else. The file is read first, so the fork sees what its owner
 * wrote by hand. If the file changes while the fork works, the Edit fails and says so.
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
  /** Where a template and a prompt may replace ours. */
  readonly configDirectory?: string
}

export interface ExtractionTask {
  readonly path: string
  /** What to put in the file first, where it holds the notes of a branch that was left. Empty: the template. */
  readonly instead?: string | undefined
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
  /** Tokens the prompt has room for. */
  readonly room: number
  readonly now: Date
  readonly signal: AbortSignal
}

export type Extraction =
  | { readonly state: "no-room" }
  /** The fork edited the file, or said that there is nothing to note. */
  | { readonly state: "noted"; readonly outcome: ForkOutcome; readonly text: string }
  | { readonly state: "not-noted"; readonly outcome: ForkOutcome }

const MOST_TURNS = 10 // usually all edits come in one answer; one by one they still fit
const NOTHING_NEW = /^\W*nothing to note\b/i
const EDIT = "Edit"
const READ = "Read"

export const canEdit = (tools: readonly Tool[]): boolean => tools.some(({ name }) => name === EDIT)

export async function extractNotes(extractor: Extractor, task: ExtractionTask): Promise<Extraction> {
  const { template, prompt } = await loadTexts(extractor.configDirectory)
  if (task.instead !== undefined) await replaceNotes({ path: task.path, text: task.instead })
  const file = await openNotesFile({ ...task, template })
  const directive = notesPrompt(prompt, { ...task, notes: file.text, path: file.given })
  if (task.estimate(directive) > task.room) return { state: "no-room" }
  const reads = cloneReads(extractor.reads)
  reads.set(file.path, file.read)
  const { tools, edits } = countingEdits(extractor.tools)
  const outcome = await runFork(
    { ...extractor, tools, reads, request: task.request, openCalls: task.openCalls },
    { directive, allows: onlyThisFile(file), maxTurns: MOST_TURNS, signal: task.signal },
  )
  const isNoted = edits() > 0 || NOTHING_NEW.test(outcome.text)
  if (outcome.ended !== "answer" || !isNoted) return { state: "not-noted", outcome }
  // someone may have replaced the file in the meantime; what the fork cost is reported in any case
  const noted = await openNotesFile({ ...task, template }).catch(() => undefined)
  return noted ? { state: "noted", outcome, text: noted.text } : { state: "not-noted", outcome }
}

export interface NotesPromptInput extends Pick<ExtractionTask, "path" | "limits" | "estimate"> {
  /** What the file holds now. */
  readonly notes: string
}

/** The prompt with its values, and a reminder where the notes are too large. */
export function notesPrompt(prompt: string, { notes, path, limits, estimate }: NotesPromptInput): string {
  const filled = fillVariables(prompt, { notes: notes.trimEnd(), path, section_limit: String(limits.section) })
  const reminder = sizeReminder(measureNotes(notes, estimate), limits)
  return [filled.trimEnd(), ...(reminder === undefined ? [] : [reminder])].join("\n\n")
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
