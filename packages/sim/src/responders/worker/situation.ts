/**
 * What the worker knows, all from the current request: the task and its progress, the files it found and what it sees of
 * them, its todos, the user's rules. After a compaction it knows only the summary and the kept messages.
 */

import {
  callsOf,
  commandOf,
  type FileText,
  fieldOf,
  isCorrection,
  type Moment,
  openToolbox,
  pathOf,
  type Rule,
  readFileText,
  readRules,
  readStatus,
  readTimeline,
  roleOf,
  splitDocument,
  type Todo,
  type Toolbox,
  type ToolCall,
  todosOf,
  wordsOf,
} from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import { findNotesPlace, type NotesPlace } from "../corrections.ts"
import { quotedMessages } from "../extractive/known.ts"

export interface Situation {
  readonly toolbox: Toolbox
  /** The newest message of the user that sets a task, or the task in the summary if that message is out of view. */
  readonly task: string
  /** What happened since the user's last message, in order. */
  readonly sinceTask: readonly Moment[]
  /** Answers given since the user's last message. */
  readonly steps: number
  /** Whether a summary replaced the message with the task. Steps before it are not counted then. */
  readonly continued: boolean
  /** The user's newest message, if it corrects the worker and is not answered yet. */
  readonly correction?: string
  readonly calls: readonly ToolCall[]
  /** The calls of the newest answer. */
  readonly lastCalls: readonly ToolCall[]
  /** Files seen in listings and searches, newest first. Paths are relative to the root if it is known. */
  readonly files: readonly string[]
  /** The visible text of each file, with later edits applied. Newest last. */
  readonly views: ReadonlyMap<string, FileText>
  readonly missing: ReadonlySet<string>
  readonly todos: readonly Todo[]
  /** From this conversation, and from memories of earlier ones. */
  readonly rules: readonly Rule[]
  readonly notes?: NotesPlace
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
/** The user's rules in a notice about memories: a line each, with its date. */
const REMEMBERED = /\bfrom earlier conversations\b[^\n]*:\n([\s\S]*?)(?:\n\n|$)/i
const RULE_LINE = /^\d{1,2} [A-Z][a-z]+(?: \d{4})?: (.+)$/gm
const NOT_THERE = /no such file|not found|does not exist|enoent|cannot find/i

export function observe(request: ResponderRequest): Situation {
  const moments = readTimeline(request.messages)
  const calls = callsOf(moments)
  const spoken = moments.findLastIndex((moment) => moment.kind === "human")
  const sinceTask = moments.slice(spoken + 1)
  const answers = request.messages.filter(({ role }) => role === "assistant").length
  const steps = answers - (moments[spoken]?.answers ?? 0)
  const handedOn = quotedMessages(wordsOf(moments, "summary").flatMap(splitDocument))
  const said = [...handedOn, ...wordsOf(moments, "human")]
  const newest = said.at(-1) ?? UNKNOWN_TASK
  const isCorrected = steps === 0 && spoken >= 0 && said.length > 1 && isCorrection(newest)
  const root = findRoot(request, moments)
  const wanted = [...rememberedRules(moments), ...said]
  const notes = findNotesPlace(wanted)
  return {
    toolbox: openToolbox(request),
    task: said.findLast((words) => !isCorrection(words)) ?? newest,
    sinceTask,
    steps,
    continued: sinceTask.some(({ kind }) => kind === "summary"),
    ...(isCorrected ? { correction: newest } : {}),
    calls,
    lastCalls: callsOf(moments.filter((moment) => moment.answers === answers - 1)),
    files: findFiles(moments, root),
    views: seeFiles(calls, root),
    missing: new Set(calls.filter(isMissing).map((call) => fromRoot(pathOf(call) ?? "", root))),
    todos: findTodos(moments),
    rules: distinctRules(wanted),
    ...(notes === undefined ? {} : { notes }),
    ...(root === undefined ? {} : { root }),
  }
}

function rememberedRules(moments: readonly Moment[]): string[] {
  const notices = wordsOf(moments, "notice").map((text) => REMEMBERED.exec(text)?.[1] ?? "")
  return notices.flatMap((text) => [...text.matchAll(RULE_LINE)].map(([, rule]) => rule!))
}

function distinctRules(said: readonly string[]): Rule[] {
  return [...new Map(said.flatMap(readRules).map((rule) => [rule.words, rule])).values()]
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
  return call.result?.failed === true && roleOf(call.name) === "read" && NOT_THERE.test(call.result.text)
}

/** From the system prompt, a notice, or the worker's own `pwd`. */
function findRoot(request: ResponderRequest, moments: readonly Moment[]): string | undefined {
  const { system = "" } = request
  const instructions = typeof system === "string" ? system : system.map(({ text }) => text).join("\n")
  const texts = [instructions, ...wordsOf(moments, "notice"), ...wordsOf(moments, "summary")]
  const named = texts.map((text) => ROOT.exec(text)?.[1]).find((path) => path !== undefined)
  if (named !== undefined) return named.replace(/[/.,;]+$/, "")
  const printed = callsOf(moments).findLast(
    (call) => commandOf(call)?.startsWith("pwd") && call.result?.failed === false,
  )
  return /^\/\S*/.exec(printed?.result?.text ?? "")?.[0]
}

function findFiles(moments: readonly Moment[], root: string | undefined): string[] {
  const files = new Set<string>()
  for (const moment of moments.toReversed()) {
    if (files.size >= MAX_FILES) break
    for (const path of pathsIn(moment)) files.add(fromRoot(path, root))
  }
  return [...files].filter((path) => !path.startsWith("/") && !path.startsWith(".."))
}

function pathsIn(moment: Moment): string[] {
  if (moment.kind === "summary" || moment.kind === "notice") return moment.text.match(MENTIONED) ?? []
  if (moment.kind !== "call" || moment.call.result === undefined || moment.call.result.failed) return []
  const listing = ["find", "search", "shell"].includes(roleOf(moment.call.name))
  return listing ? (moment.call.result.text.match(LISTED) ?? []) : []
}

function seeFiles(calls: readonly ToolCall[], root: string | undefined): Map<string, FileText> {
  const views = new Map<string, FileText>()
  for (const call of calls) {
    const path = fromRoot(pathOf(call) ?? "", root)
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
  switch (roleOf(call.name)) {
    case "read": {
      const seen = readFileText(call.result!.text)
      // A tool may answer a repeated read with "nothing has changed", which is not the text of the file.
      const isStub = before !== undefined && seen !== undefined && !seen.text.includes("\n")
      return isStub ? undefined : seen
    }
    case "edit": {
      const [old, fresh] = [fieldOf(call, "old"), fieldOf(call, "new")]
      if (before === undefined || typeof old !== "string" || typeof fresh !== "string") return undefined
      return { ...before, text: before.text.replace(old, () => fresh) }
    }
    case "write": {
      const content = fieldOf(call, "content")
      return typeof content === "string" ? { text: content.trimEnd(), firstLine: 1 } : undefined
    }
    default:
      return undefined
  }
}

/** The newest list in view, from a call, a summary or a notice. */
function findTodos(moments: readonly Moment[]): Todo[] {
  for (const moment of moments.toReversed()) {
    const set = moment.kind === "call" && moment.call.result?.failed !== true ? todosOf(moment.call) : undefined
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
