/**
 * Everything the worker knows, all from the current request: the task and its progress, the files it found and their visible text, its
 * todos, the user's rules. After a compaction it knows only the summary and the messages in the tail.
 */

import {
  type FileText,
  isCorrection,
  listCalls,
  type OfflineTodo,
  openToolbox,
  type Rule,
  readFileText,
  readRules,
  readStatus,
  readTimeline,
  sentencesOf,
  splitDocument,
  type TimelineEntry,
  type Toolbox,
  type ToolCall,
  textsOfKind,
  toolCommand,
  toolField,
  toolPath,
  toolRole,
  toolTodos,
} from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import { findNotesFile, isRule, type NotesFile } from "../corrections.ts"
import { quotedMessages } from "../extractive/conversation-facts.ts"

export interface WorkerState {
  readonly toolbox: Toolbox
  /** The newest message of the user that sets a task and not only rules, or the task in the summary if that message is out of view. */
  readonly task: string
  /** The events since the user's last message, in order. */
  readonly sinceTask: readonly TimelineEntry[]
  /** Answers given since the user's last message. */
  readonly steps: number
  /** Whether a summary replaced the message with the task. Steps before the summary are not counted then. */
  readonly continued: boolean
  /** The user's newest message, if it corrects the worker and has no answer yet. */
  readonly correction?: string
  readonly calls: readonly ToolCall[]
  /** The calls of the newest answer. */
  readonly lastCalls: readonly ToolCall[]
  /** Files seen in listings and searches, newest first. Paths are relative to the root if it is known. */
  readonly files: readonly string[]
  /** The visible text of each file, with later edits applied. Newest last. */
  readonly views: ReadonlyMap<string, FileText>
  readonly missing: ReadonlySet<string>
  readonly todos: readonly OfflineTodo[]
  /** The user's rules in this conversation, and in memories of earlier ones. */
  readonly rules: readonly Rule[]
  readonly notes?: NotesFile
  /** The working directory, once it is known. */
  readonly root?: string
}

const UNKNOWN_TASK = "Go on with the work at hand"
const MAX_FILES = 400 // the worker finds more files than it reads
const ROOT = /\b(?:working directory|current directory|cwd|project root)\b[^\n/]*?(\/[^\s<>"'`]+)/i
const EXTENSIONS = "ts|tsx|js|jsx|mjs|cjs|json|md|txt|py|go|rs|java|rb|c|h|cpp|css|html|sh|yml|yaml|toml|sql"
const LISTED = new RegExp(`^(\\.{0,2}/?[\\w@+.-]+(?:/[\\w@+.-]+)*\\.(?:${EXTENSIONS}))(?=$|[:\\s])`, "gm")
const MENTIONED = new RegExp(`(?<![\\w/@.-])([\\w@+.-]*/[\\w@+./-]*\\.(?:${EXTENSIONS}))(?![\\w/-])`, "g")
const TODO_LINE = /^\s*(?:[-*]|\d+\.)?\s*\[(pending|in_progress|completed| |x)\]\s*`?([^`\n]+?)`?\s*$/gim
/** The user's rules in a notice about memories: one per line, with its date. */
const REMEMBERED = /\bfrom earlier conversations\b[^\n]*:\n([\s\S]*?)(?:\n\n|$)/i
const RULE_LINE = /^\d{1,2} [A-Z][a-z]+(?: \d{4})?: (.+)$/gm
const NOT_THERE = /no such file|not found|does not exist|enoent|cannot find/i

export function observe(request: ResponderRequest): WorkerState {
  const moments = readTimeline(request.messages)
  const calls = listCalls(moments)
  const spoken = moments.findLastIndex((moment) => moment.kind === "human")
  const sinceTask = moments.slice(spoken + 1)
  const answers = request.messages.filter(({ role }) => role === "assistant").length
  const steps = answers - (moments[spoken]?.answers ?? 0)
  const handedOn = quotedMessages(textsOfKind(moments, "summary").flatMap(splitDocument))
  const userTexts = [...handedOn, ...textsOfKind(moments, "human")]
  const newest = userTexts.at(-1) ?? UNKNOWN_TASK
  const isCorrected = steps === 0 && spoken >= 0 && userTexts.length > 1 && isCorrection(newest)
  const root = findRoot(request, moments)
  const wanted = [...rememberedRules(moments), ...userTexts]
  const notes = findNotesFile(wanted)
  return {
    toolbox: openToolbox(request),
    task: userTexts.findLast((words) => !isCorrection(words) && !sentencesOf(words).every(isRule)) ?? newest,
    sinceTask,
    steps,
    continued: sinceTask.some(({ kind }) => kind === "summary"),
    ...(isCorrected ? { correction: newest } : {}),
    calls,
    lastCalls: listCalls(moments.filter((moment) => moment.answers === answers - 1)),
    files: findFiles(moments, root),
    views: seeFiles(calls, root),
    missing: new Set(calls.filter(isMissing).map((call) => fromRoot(toolPath(call) ?? "", root))),
    todos: findTodos(moments),
    rules: distinctRules(wanted),
    ...(notes === undefined ? {} : { notes }),
    ...(root === undefined ? {} : { root }),
  }
}

function rememberedRules(moments: readonly TimelineEntry[]): string[] {
  const notices = textsOfKind(moments, "notice").map((text) => REMEMBERED.exec(text)?.[1] ?? "")
  return notices.flatMap((text) => [...text.matchAll(RULE_LINE)].map(([, rule]) => rule!))
}

function distinctRules(userTexts: readonly string[]): Rule[] {
  return [...new Map(userTexts.flatMap(readRules).map((rule) => [rule.words, rule])).values()]
}

/** The path for a tool: absolute if the root is known. */
export function fullPath(path: string, root: string | undefined): string {
  return root === undefined || path.startsWith("/") ? path : `${root}/${path}`
}

export function fromRoot(path: string, root: string | undefined): string {
  const plain = root !== undefined && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  return plain.replace(/^\.\//, "")
}

export function isMissing(call: ToolCall): boolean {
  return call.result?.failed === true && toolRole(call.name) === "read" && NOT_THERE.test(call.result.text)
}

/** Finds the working directory in the system prompt, a notice, or the output of the worker's own `pwd`. */
function findRoot(request: ResponderRequest, moments: readonly TimelineEntry[]): string | undefined {
  const { system = "" } = request
  const instructions = typeof system === "string" ? system : system.map(({ text }) => text).join("\n")
  const texts = [instructions, ...textsOfKind(moments, "notice"), ...textsOfKind(moments, "summary")]
  const named = texts.map((text) => ROOT.exec(text)?.[1]).find((path) => path !== undefined)
  if (named !== undefined) return named.replace(/[/.,;]+$/, "")
  const printed = listCalls(moments).findLast(
    (call) => toolCommand(call)?.startsWith("pwd") && call.result?.failed === false,
  )
  return /^\/\S*/.exec(printed?.result?.text ?? "")?.[0]
}

function findFiles(moments: readonly TimelineEntry[], root: string | undefined): string[] {
  const files = new Set<string>()
  for (const moment of moments.toReversed()) {
    if (files.size >= MAX_FILES) break
    for (const path of pathsIn(moment)) files.add(fromRoot(path, root))
  }
  return [...files].filter((path) => !path.startsWith("/") && !path.startsWith(".."))
}

function pathsIn(moment: TimelineEntry): string[] {
  if (moment.kind === "summary" || moment.kind === "notice") return moment.text.match(MENTIONED) ?? []
  if (moment.kind !== "call" || moment.call.result === undefined || moment.call.result.failed) return []
  const listing = ["find", "search", "shell"].includes(toolRole(moment.call.name))
  return listing ? (moment.call.result.text.match(LISTED) ?? []) : []
}

function seeFiles(calls: readonly ToolCall[], root: string | undefined): Map<string, FileText> {
  const views = new Map<string, FileText>()
  for (const call of calls) {
    const path = fromRoot(toolPath(call) ?? "", root)
    if (path === "" || call.result === undefined || call.result.failed) continue
    const before = views.get(path)
    const seen = viewAfter(call, before)
    if (seen === undefined) continue
    views.delete(path)
    views.set(path, seen)
  }
  return views
}

/** Returns `undefined` if the call shows no more of the file than was visible before. */
function viewAfter(call: ToolCall, before: FileText | undefined): FileText | undefined {
  switch (toolRole(call.name)) {
    case "read": {
      const seen = readFileText(call.result!.text)
      // A tool may answer a repeated read with "nothing has changed", which is not the text of the file.
      const isStub = before !== undefined && seen !== undefined && !seen.text.includes("\n")
      return isStub ? undefined : seen
    }
    case "edit": {
      const [old, fresh] = [toolField(call, "old"), toolField(call, "new")]
      if (before === undefined || typeof old !== "string" || typeof fresh !== "string") return undefined
      return { ...before, text: before.text.replace(old, () => fresh) }
    }
    case "write": {
      const content = toolField(call, "content")
      return typeof content === "string" ? { text: content.trimEnd(), firstLine: 1 } : undefined
    }
    default:
      return undefined
  }
}

/** The newest list in view, from a call, a summary or a notice. */
function findTodos(moments: readonly TimelineEntry[]): OfflineTodo[] {
  for (const moment of moments.toReversed()) {
    const set = moment.kind === "call" && moment.call.result?.failed !== true ? toolTodos(moment.call) : undefined
    if (set !== undefined) return set
    if (moment.kind !== "summary" && moment.kind !== "notice") continue
    // A summary may name the same todo under several headings.
    const found = new Map(
      [...moment.text.matchAll(TODO_LINE)].map(([, status, content]) => [content!, readStatus(status)]),
    )
    if (found.size > 0) return [...found].map(([content, status]) => ({ content, status }))
  }
  return []
}
