/**
 * One update of the notes by a fork. The notes are read first, so that the fork sees manual edits. If they are in a file and the
 * conversation has the built-in Edit tool, the fork edits the file. Otherwise it answers with text, which is checked and written here.
 */

import { lstat, realpath } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { StrataError } from "../../base/errors.ts"
import { fillPrompt } from "../../base/text.ts"
import { cloneReads, type ForkOptions, type ForkOutcome, type ForkToolState, runFork } from "../../forks/fork.ts"
import type { DailyBudget } from "../../journal/store.ts"
import { findOpenFence, type ToolUse } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Model, StreamLimits } from "../../model/model.ts"
import type { FileRead, PermissionQuestion, ReadState, Tool } from "../../tools/tool.ts"
import {
  defaultText,
  isBareTemplate,
  loadTexts,
  measureNotes,
  type Notes,
  type NotesJournal,
  type NotesLimits,
  type NotesSection,
  openNotes,
  parseNotes,
  sizeReminder,
} from "./notes.ts"

// What an update of the notes works with, and how it ends. The two ways of writing share these.

const NOTHING_NEW = /^\W*nothing to note\b/i

export interface NotesExtractor {
  readonly model: Model
  readonly tools: readonly Tool[]
  readonly reads: ReadState
  readonly toolContext: ForkToolState
  /** Directory with a template and a prompt that replace the defaults. */
  readonly configDirectory?: string
  /** Instructions of the user for every summary, because notes become one. */
  readonly guidance?: () => readonly string[]
  /** Today's cost of memory work in the project. Without it, there is no daily limit. */
  readonly daily?: DailyBudget
}

export interface NotesExtractionTask {
  readonly journal: NotesJournal
  /** Set if the notes belong to another branch (`instead`): the text to replace them with, or the template if absent. */
  readonly otherBranch?: { readonly text?: string; readonly instead: string } | undefined
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
  /** Tokens available for the prompt. */
  readonly room: number
  readonly now: Date
  readonly signal: AbortSignal
  /** Time limits of the requests. Default: those of the model. */
  readonly timeLimits?: StreamLimits
}

/** Input of a fork that writes the notes. */
export interface NotesUpdate extends NotesExtractionTask {
  readonly template: string
  /** The notes that the fork sees. */
  readonly notes: string
  readonly directive: string
}

export type NotesForkResult =
  /** The fork changed the notes, or reported that there is nothing to note. */
  | { readonly state: "noted"; readonly outcome: ForkOutcome; readonly text: string }
  /** `problem`: what to report to the user. */
  | { readonly state: "not-noted"; readonly outcome: ForkOutcome; readonly problem?: unknown }

export const saysNothingNew = ({ text }: ForkOutcome): boolean => NOTHING_NEW.test(text)

/** The time limits of the fork, if the task has any. */
export const forkLimits = ({ timeLimits }: Pick<NotesUpdate, "timeLimits">): Pick<ForkOptions, "limits"> =>
  timeLimits ? { limits: timeLimits } : {}

// Reads notes from the text of a fork's answer: the changed sections, between two tags. Only text below a heading is used, so an answer
// cannot change, add or remove a heading. An answer that does not fit is rejected as a whole.

/** New body of each changed section, by title. */
export type SectionChanges = ReadonlyMap<string, string>

export type RefusedChange = { readonly state: "refused"; readonly reason: string }

const ANSWER = /^<new_notes>[ \t]*\r?\n([\s\S]*)^<\/new_notes>[ \t]*$/m
// Up to the limit itself the next prompt asks to condense. An answer far beyond it is not notes.
const MAX_OVER_LIMIT = 2

/** Parses an answer to a prompt that showed the notes in `shown`. */
export function readChanges(
  answer: string,
  shown: string,
): { readonly state: "changes"; readonly changes: SectionChanges } | RefusedChange {
  const given = ANSWER.exec(answer)?.[1]
  if (given === undefined) return refused("the answer has no notes between <new_notes> and </new_notes>")
  const current = parseNotes(shown)
  const { opening, sections } = parseNotes(given, current.level)
  if (sections.length === 0) return refused("the answer names no section")
  if (opening.trim() !== "") return refused("the answer has text before the first heading")
  const changes = new Map<string, string>()
  for (const section of sections) {
    const known = sectionOf(current, section.title)
    if (!known) return refused(`the answer has a section that the notes do not have: "${section.title}"`)
    if (changes.has(section.title)) return refused(`the answer has the section "${section.title}" twice`)
    const body = bodyOf(section, known)
    if (leavesFenceOpen(body)) return refused(`a code block in "${section.title}" is not closed`)
    changes.set(section.title, body)
  }
  return { state: "changes", changes }
}

export interface NotesChange {
  readonly changes: SectionChanges
  /** The notes that the fork saw. */
  readonly shown: string
  /** The notes as they are now. Their owner may have edited them. */
  readonly current: string
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
}

/** Applies the changes. Edits made in the meantime stay; if both changed the same section, the answer is rejected. */
export function applyChanges({
  changes,
  shown,
  current,
  limits,
  estimate,
}: NotesChange): { readonly state: "applied"; readonly text: string } | RefusedChange {
  const before = parseNotes(shown)
  const now = parseNotes(current, before.level)
  for (const title of changes.keys()) {
    const isUntouched = sectionOf(now, title)?.body.trim() === sectionOf(before, title)?.body.trim()
    if (!isUntouched) return refused(`the section "${title}" was changed in the meantime`)
  }
  const text = now.opening + now.sections.map((section, index) => withNewBody(section, index, now, changes)).join("")
  if (isBareTemplate(text)) return refused("the answer leaves every section empty")
  const { total, sections } = measureNotes(text, estimate)
  const tooLarge = sections.find(({ title, tokens }) => changes.has(title) && tokens > MAX_OVER_LIMIT * limits.section)
  if (tooLarge) return refused(`the section "${tooLarge.title}" is more than twice as long as it may be`)
  if (total > MAX_OVER_LIMIT * limits.total && text.length > current.length)
    return refused("the notes are more than twice as long as they may be")
  return { state: "applied", text }
}

function withNewBody(section: NotesSection, index: number, { sections }: Notes, changes: SectionChanges): string {
  const body = changes.get(section.title)
  if (body === undefined) return section.head + section.body
  const head = section.head.endsWith("\n") ? section.head : `${section.head}\n`
  const isLast = index === sections.length - 1
  return `${head}${body === "" ? "" : `${body}\n`}${isLast ? "" : "\n"}`
}

/**
 * The body of a section in an answer. The italic line below a heading comes from the file; a different italic line was written by the fork.
 */
function bodyOf({ head, body }: NotesSection, known: NotesSection): string {
  const [, line = ""] = head.split("\n")
  const isDescription = line.trim() === (known.head.split("\n")[1] ?? "").trim()
  return (isDescription ? body : `${line}\n${body}`).trim()
}

/** Returns `undefined` if two sections have the same title, because the intended one is unknown. */
function sectionOf({ sections }: Notes, title: string): NotesSection | undefined {
  const found = sections.filter((section) => section.title === title)
  return found.length === 1 ? found[0] : undefined
}

const leavesFenceOpen = (body: string) => findOpenFence(body) !== undefined

const refused = (reason: string): RefusedChange => ({ state: "refused", reason })

// Used if there is no notes file or no built-in Edit tool: a fork answers with the changed sections. Nothing is written unless the complete
// answer is valid, and the notes are replaced in one step.

const MAX_FORK_TURNS = 3 // one is enough unless the model calls tools first
const NO_TOOLS = "No tools are available while notes are taken. Answer with the new notes as text."

/** Error for an answer that could not be used as notes. */
const notUsable = (why: string) =>
  new StrataError(`The notes were not updated: ${why}. They are unchanged. The next update follows after more work.`, {
    code: "notes-answer",
  })

export async function writeAsText(extractor: NotesExtractor, update: NotesUpdate): Promise<NotesForkResult> {
  const { directive, request, openCalls, signal } = update
  const outcome = await runFork(
    { ...extractor, request, openCalls },
    // a second request is the exception, so a cache entry for it would rarely be read
    {
      purpose: "notes",
      directive,
      allows: NO_TOOLS,
      maxTurns: MAX_FORK_TURNS,
      signal,
      writesCache: false,
      ...forkLimits(update),
    },
  )
  if (outcome.ended === "aborted") return { state: "not-noted", outcome }
  try {
    return { state: "noted", outcome, text: await applyAnswer(outcome, update) }
  } catch (problem) {
    return { state: "not-noted", outcome, problem } // what the fork cost is recorded in any case
  }
}

/** Writes the answer of the fork and returns the new notes. */
async function applyAnswer(outcome: ForkOutcome, update: NotesUpdate): Promise<string> {
  const { journal, limits, estimate, template, notes: shown } = update
  if (outcome.ended !== "answer") throw outcome.error ?? notUsable(END_REASONS[outcome.ended])
  const answer = readChanges(outcome.text, shown)
  const current = await openNotes(journal, template)
  if (answer.state === "refused") {
    if (saysNothingNew(outcome)) return current
    throw notUsable(answer.reason)
  }
  const applied = applyChanges({ changes: answer.changes, shown, current, limits, estimate })
  if (applied.state === "refused") throw notUsable(applied.reason)
  if (applied.text !== current && !(await journal.writeNotes(applied.text, current)))
    throw notUsable("someone changed them in the same moment")
  return applied.text
}

const END_REASONS: Readonly<Record<Exclude<ForkOutcome["ended"], "answer">, string>> = {
  "turn-limit": "the model called tools instead of answering",
  refusal: "the model refused to write them",
  failed: "the request failed",
  aborted: "the update was stopped",
}

// Used if the notes are in a file: a fork changes it with the Edit tool and may touch only that file. If the file changes meanwhile, the
// Edit fails and reports it.

export const EDIT = "Edit"
const READ = "Read"
const MAX_TURNS = 10 // usually one; more where an edit fails

interface FileUpdate extends NotesUpdate {
  /** Path of the notes file. */
  readonly path: string
}

export async function writeWithEdit(extractor: NotesExtractor, update: FileUpdate): Promise<NotesForkResult> {
  const { journal, template, directive, signal, request, openCalls } = update
  const file = await fileToEdit(update)
  const reads = cloneReads(extractor.reads)
  reads.set(file.path, file.read)
  let isEdited = false // the file alone does not show it: someone else may change it in the meantime
  const outcome = await runFork(
    { ...extractor, reads, request, openCalls },
    {
      ...{ purpose: "notes", directive, allows: onlyThisFile(file), maxTurns: MAX_TURNS, signal },
      ...forkLimits(update),
      // it was asked to make all changes in one answer: another request would only confirm that
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
  /** The path as it is shown to users and to the model. */
  readonly displayPath: string
  /** The path with links in its directory resolved. */
  readonly path: string
  /** The read that the Edit tool requires before a change. */
  readonly read: FileRead
}

/** Describes the file for the Edit tool. The store has just read it, and rejects a link in its place. */
async function fileToEdit({ path: displayPath, notes, now }: FileUpdate): Promise<NotesFile> {
  const path = join(await realpath(dirname(displayPath)), basename(displayPath))
  const { mtimeMs: modifiedMs } = await lstat(path)
  const content = notes.replace(/^\uFEFF/, "") // file tools leave the byte order mark out
  return { displayPath, path, read: { content, modifiedMs, at: now.toISOString() } }
}

/** Allows only edits and reads of the notes. The permission question names the files of a call, with links resolved. */
function onlyThisFile(file: NotesFile) {
  return ({ name }: ToolUse, _tool: Tool, { paths = [] }: PermissionQuestion): true | string => {
    const isAboutNotes = paths.length > 0 && paths.every((path) => path === file.path)
    if (isAboutNotes && (name === EDIT || name === READ)) return true
    return `only ${EDIT} and ${READ} of ${file.displayPath} are allowed here. Change the notes, or end with an answer.`
  }
}

export type NotesExtraction = { readonly state: "no-room" } | NotesForkResult

/** Whether the fork edits the file or answers with text. */
export type NotesWriteMode = "with-edit" | "as-text"

const HOW_VARIABLE = "{{how}}"

export async function extractNotes(extractor: NotesExtractor, task: NotesExtractionTask): Promise<NotesExtraction> {
  const { template, prompt } = await loadTexts(extractor.configDirectory)
  const { journal, otherBranch } = task
  const path = journal.notesPath
  // an edit in the same moment stays: then nothing is replaced
  if (otherBranch) await journal.writeNotes(otherBranch.text || template, otherBranch.instead)
  const notes = await openNotes(journal, template)
  const mode = path !== undefined && (await hasOurEdit(extractor.tools)) ? "with-edit" : "as-text"
  const guidance = (extractor.guidance?.() ?? []).filter((text) => text.trim() !== "")
  const directive = notesPrompt(prompt, { ...task, mode, notes, path, location: journal.location, guidance })
  if (task.estimate(directive) > task.room) return { state: "no-room" }
  const update = { ...task, template, notes, directive }
  return path !== undefined && mode === "with-edit"
    ? writeWithEdit(extractor, { ...update, path })
    : writeAsText(extractor, update)
}

/** Whether the tools include the built-in Edit tool. Another tool of that name takes different inputs and could not write the notes. */
async function hasOurEdit(tools: readonly Tool[]): Promise<boolean> {
  const found = tools.find(({ name }) => name === EDIT)
  if (!found) return false
  const { edit } = await import("../../tools/files/edit.ts") // loads a schema library
  return found.inputSchema === edit.inputSchema
}

export interface NotesPromptInput extends Pick<NotesExtractionTask, "limits" | "estimate"> {
  /** The current notes. */
  readonly notes: string
  /** Path of the notes file, if the store keeps files. */
  readonly path?: string | undefined
  /** Location of the journal, for a custom prompt that names it. */
  readonly location: string
  readonly mode: NotesWriteMode
  /** Instructions of the user for summaries. */
  readonly guidance?: readonly string[]
}

/** Fills in the prompt, with a reminder if the notes are too large. */
export function notesPrompt(prompt: string, input: NotesPromptInput): string {
  const { notes, path, location, limits, estimate, mode, guidance = [] } = input
  const how = defaultText(`how-${mode}.md`).trimEnd()
  const filled = fillPrompt(prompt, {
    notes: notes.trimEnd(),
    where: path === undefined ? "kept as a text of the conversation" : `in the file ${path}`,
    path: path ?? location,
    section_limit: String(limits.section),
    limit: String(limits.total),
    how,
  })
  // a custom prompt may not say how to answer, and without that no answer can be used
  const isHowMissing = mode === "as-text" && !prompt.includes(HOW_VARIABLE)
  const reminder = sizeReminder(measureNotes(notes, estimate), limits)
  return [
    filled.trimEnd(),
    ...(isHowMissing ? [how] : []),
    ...(guidance.length > 0 ? [`What the user wants of it:\n${guidance.join("\n\n")}`] : []),
    ...(reminder === undefined ? [] : [reminder]),
  ].join("\n\n")
}
