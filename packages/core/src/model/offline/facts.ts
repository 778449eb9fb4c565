/**
 * Facts about a conversation that are extracted without a model: user messages, files, commands and their outcomes, todos, the latest
 * work, and statements about it. An earlier summary contributes its entries (see `fill.ts`).
 */
import { type CooperativeTask, memoize, runSync } from "../../base/work.ts"
import { isCorrection, standingSentences } from "./corrections.ts"
import { asEntry, readEntries, readParagraphs, type Section, splitDocument } from "./document.ts"
import { type OfflineStatements, statementsTask } from "./statements.ts"
import { listCalls, type TimelineEntry, type ToolCall, textsOfKind } from "./timeline.ts"
import { type OfflineTodo, toolCommand, toolField, toolPath, toolRole, toolTodos } from "./toolbox.ts"

export interface FileFact {
  readonly path: string
  readonly doings: readonly ("read" | "changed" | "written")[]
  /** The newest text written to the file. */
  readonly snippet?: string
}

export interface CommandOutcome {
  /** The command, or the path on which a tool failed. */
  readonly what: string
  readonly isCommand: boolean
  readonly failed: boolean
  /** The line of the output that gives the reason. */
  readonly reason: string
}

export interface Facts {
  /** Verbatim, oldest first. */
  readonly userMessages: readonly string[]
  /** The first message of the conversation is never a correction. */
  readonly corrections: readonly string[]
  readonly standing: readonly string[]
  /** Most recently used last. */
  readonly files: readonly FileFact[]
  /** Everything that was run or tried, oldest first. A repeated command has its last outcome. */
  readonly outcomes: readonly CommandOutcome[]
  /** Commands that failed once and passed later. */
  readonly fixed: readonly CommandOutcome[]
  readonly todos: readonly OfflineTodo[]
  readonly lastCalls: readonly ToolCall[]
  readonly calls: readonly ToolCall[]
  readonly lastText?: string
  /** The last text of each of the assistant's turns. */
  readonly finalTexts: readonly string[]
  /** The assistant's statements about the work, ranked. */
  readonly statements: OfflineStatements
  /** Sections of earlier summaries. */
  readonly earlier: readonly Section[]
}

const LAST_CALLS = 6
const WHY = /error|fail|not found|no such|cannot|denied|refused|missing|exit/i

export const gatherFacts = (moments: readonly TimelineEntry[]): Facts => runSync(factsTask(moments))

export function* factsTask(moments: readonly TimelineEntry[]): CooperativeTask<Facts> {
  yield
  const calls = listCalls(moments)
  yield
  const userMessages = textsOfKind(moments, "human")
  yield
  const earlier = textsOfKind(moments, "summary").flatMap(earlierSections)
  yield
  const lastText = textsOfKind(moments, "assistant").at(-1)
  yield
  const read: ReadText[] = []
  for (const text of userMessages) {
    read.push(readText(text))
    yield
  }
  const files = yield* filesTask(calls)
  const outcomes = yield* outcomesTask(calls)
  return {
    userMessages,
    corrections: userMessages.filter((_, at) => (earlier.length > 0 || at > 0) && read[at]!.isCorrection),
    standing: read.flatMap(({ standing }) => standing),
    files,
    ...outcomes,
    todos: calls.map(toolTodos).findLast((todos) => todos !== undefined) ?? [],
    lastCalls: calls.slice(-LAST_CALLS),
    calls,
    ...(lastText === undefined ? {} : { lastText }),
    finalTexts: gatherFinalTexts(moments),
    statements: yield* statementsTask(moments),
    earlier,
  }
}

interface ReadText {
  readonly isCorrection: boolean
  readonly standing: readonly string[]
}

const readText = memoize((text): ReadText => ({ isCorrection: isCorrection(text), standing: standingSentences(text) }))

function* filesTask(calls: readonly ToolCall[]): CooperativeTask<FileFact[]> {
  const files = new Map<string, FileFact>()
  for (const call of calls) {
    yield
    const path = toolPath(call)
    const role = toolRole(call.name)
    const doing = role === "read" ? "read" : role === "edit" ? "changed" : role === "write" ? "written" : undefined
    if (path === undefined || doing === undefined || call.result === undefined || call.result.failed) continue
    const before = files.get(path)
    const text = role === "edit" ? toolField(call, "new") : role === "write" ? toolField(call, "content") : undefined
    const snippet = typeof text === "string" ? text : before?.snippet
    files.delete(path)
    files.set(path, {
      path,
      doings: [...new Set([...(before?.doings ?? []), doing])] as FileFact["doings"],
      ...(snippet === undefined ? {} : { snippet }),
    })
  }
  return [...files.values()]
}

function* outcomesTask(calls: readonly ToolCall[]): CooperativeTask<Pick<Facts, "outcomes" | "fixed">> {
  const latest = new Map<string, CommandOutcome>()
  const fixed = new Map<string, CommandOutcome>()
  for (const call of calls) {
    yield
    if (call.result === undefined) continue
    const command = toolCommand(call)
    const what = command ?? toolPath(call)
    const { failed, text } = call.result
    if (what === undefined) continue
    const key = `${call.name} ${what}`
    const before = latest.get(key)
    if (before?.failed === true && !failed) fixed.set(key, before)
    if (command === undefined && !failed && before === undefined) continue
    latest.delete(key)
    latest.set(key, { what, isCommand: command !== undefined, failed, reason: failed ? reasonIn(text) : "" })
  }
  return { outcomes: [...latest.values()], fixed: [...fixed.values()] }
}

function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  return lines.find((line) => WHY.test(line)) ?? lines[0] ?? ""
}

function gatherFinalTexts(moments: readonly TimelineEntry[]): string[] {
  return moments.flatMap((moment, index) => {
    const next = moments[index + 1]
    return moment.kind === "assistant" && (next === undefined || next.kind === "human") ? [moment.text] : []
  })
}

/**
 * How paragraphs around a summary start: ours, and those of Claude Code. Such sentences are omitted. Prose of an earlier summary becomes
 * entries, so that nothing of it is lost when the next summary only quotes.
 */
const FRAME = [
  "This conversation continues an earlier one",
  "This session is being continued",
  "If something exact is missing here",
  "The newest messages of the earlier conversation follow",
  "Go on with the last task",
  "You are working on your own",
  "If you need specific details from before",
  "Please continue the conversation",
  "Continue the conversation from where",
  "Recent messages are preserved verbatim",
] as const
/** Fixed lines of our own summaries. */
const FILLING = /^(?:Nothing in the conversation\.|\(\d+ more left out here\))$/

/** The section for prose without sections. */
const WHOLE = "Primary Request and Intent"

function earlierSections(summary: string): Section[] {
  const plain = summary.replace(/<\/summary>\s*$/i, "")
  const sections = splitDocument(plain)
  const whole = { title: WHOLE, heading: "", remark: "", body: plain.replace(/^Summary:$/m, "") }
  return (sections.length > 0 ? sections : [whole]).map((section) => ({
    ...section,
    body: asEntries(section)
      .map((entry) => `- ${asEntry(entry)}`)
      .join("\n"),
  }))
}

function asEntries({ remark, body }: Section): readonly string[] {
  return [remark.trim(), ...readParagraphs(body), ...readEntries(body)].filter(
    (entry) => entry !== "" && !FILLING.test(entry) && !isFrame(entry),
  )
}

const isFrame = (entry: string): boolean => FRAME.some((beginning) => entry.startsWith(beginning))
