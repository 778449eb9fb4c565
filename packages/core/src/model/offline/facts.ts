/**
 * Facts about a conversation that need no model: the user's messages, files, commands and their outcomes, todos, the
 * latest work, and the sentences that say what it means. An earlier summary contributes its entries (see `fill.ts`).
 */
import { atOnce, remembering, type Steps } from "../../base/work.ts"
import { isCorrection, standingSentences } from "./corrections.ts"
import { asEntry, readEntries, readParagraphs, type Section, splitDocument } from "./document.ts"
import { type Meaning, meaningSteps } from "./meaning.ts"
import { callsOf, type Moment, type ToolCall, wordsOf } from "./timeline.ts"
import { commandOf, fieldOf, pathOf, roleOf, type Todo, todosOf } from "./toolbox.ts"

export interface FileFact {
  readonly path: string
  readonly doings: readonly ("read" | "changed" | "written")[]
  /** The newest text written to it. */
  readonly snippet?: string
}

export interface Outcome {
  /** A command, or the path a tool failed on. */
  readonly what: string
  readonly isCommand: boolean
  readonly failed: boolean
  /** The line of the output that gives the reason. */
  readonly reason: string
}

export interface Facts {
  /** Oldest first, verbatim. */
  readonly userMessages: readonly string[]
  /** The first message of the conversation is never a correction. */
  readonly corrections: readonly string[]
  readonly standing: readonly string[]
  /** Most recently touched last. */
  readonly files: readonly FileFact[]
  /** Everything that was run or tried, oldest first. A command run again has its last outcome. */
  readonly outcomes: readonly Outcome[]
  /** Failed once, passed later. */
  readonly fixed: readonly Outcome[]
  readonly todos: readonly Todo[]
  readonly lastCalls: readonly ToolCall[]
  readonly calls: readonly ToolCall[]
  readonly lastText?: string
  /** The texts with which the assistant ended its turns. */
  readonly finalTexts: readonly string[]
  /** What the assistant said about the work, ranked. */
  readonly meaning: Meaning
  /** Sections of earlier summaries. */
  readonly earlier: readonly Section[]
}

const LAST_CALLS = 6
const WHY = /error|fail|not found|no such|cannot|denied|refused|missing|exit/i

export const gatherFacts = (moments: readonly Moment[]): Facts => atOnce(factSteps(moments))

export function* factSteps(moments: readonly Moment[]): Steps<Facts> {
  yield
  const calls = callsOf(moments)
  yield
  const userMessages = wordsOf(moments, "human")
  yield
  const earlier = wordsOf(moments, "summary").flatMap(earlierSections)
  yield
  const lastText = wordsOf(moments, "assistant").at(-1)
  yield
  const read: ReadText[] = []
  for (const text of userMessages) {
    read.push(readText(text))
    yield
  }
  const files = yield* fileSteps(calls)
  const outcomes = yield* outcomeSteps(calls)
  return {
    userMessages,
    corrections: userMessages.filter((_, at) => (earlier.length > 0 || at > 0) && read[at]!.isCorrection),
    standing: read.flatMap(({ standing }) => standing),
    files,
    ...outcomes,
    todos: calls.map(todosOf).findLast((todos) => todos !== undefined) ?? [],
    lastCalls: calls.slice(-LAST_CALLS),
    calls,
    ...(lastText === undefined ? {} : { lastText }),
    finalTexts: gatherFinalTexts(moments),
    meaning: yield* meaningSteps(moments),
    earlier,
  }
}

interface ReadText {
  readonly isCorrection: boolean
  readonly standing: readonly string[]
}

const readText = remembering(
  (text): ReadText => ({ isCorrection: isCorrection(text), standing: standingSentences(text) }),
)

function* fileSteps(calls: readonly ToolCall[]): Steps<FileFact[]> {
  const files = new Map<string, FileFact>()
  for (const call of calls) {
    yield
    const path = pathOf(call)
    const role = roleOf(call.name)
    const doing = role === "read" ? "read" : role === "edit" ? "changed" : role === "write" ? "written" : undefined
    if (path === undefined || doing === undefined || call.result === undefined || call.result.failed) continue
    const before = files.get(path)
    const text = role === "edit" ? fieldOf(call, "new") : role === "write" ? fieldOf(call, "content") : undefined
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

function* outcomeSteps(calls: readonly ToolCall[]): Steps<Pick<Facts, "outcomes" | "fixed">> {
  const latest = new Map<string, Outcome>()
  const fixed = new Map<string, Outcome>()
  for (const call of calls) {
    yield
    if (call.result === undefined) continue
    const command = commandOf(call)
    const what = command ?? pathOf(call)
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

function gatherFinalTexts(moments: readonly Moment[]): string[] {
  return moments.flatMap((moment, index) => {
    const next = moments[index + 1]
    return moment.kind === "assistant" && (next === undefined || next.kind === "human") ? [moment.text] : []
  })
}

/**
 * The sections of an earlier summary, from a model or from here. What a model wrote as prose becomes entries, so nothing of it is lost when
 * the next summary only quotes. The sentences that programs put around a summary are left out.
 */
/** How paragraphs around a summary begin: ours, and those of Claude Code. */
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

/** Where prose without sections belongs. */
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
