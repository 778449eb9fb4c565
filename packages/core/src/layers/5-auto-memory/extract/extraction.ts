/**
 * An extraction proposes memories. The default asks a fork of the conversation; a custom function may work without a model. If the
 * conversation has the built-in file tools, the fork uses them, but only in the memory directory. Otherwise it answers with text.
 */

import { StrataError } from "../../../base/errors.ts"
import { type ForkOutcome, type ForkParent, runFork } from "../../../forks/fork.ts"
import { isTopicFile, memoryFileName } from "../../../memory/file-names.ts"
import type { Memory } from "../../../memory/memory.ts"
import type { ToolResult, ToolUse } from "../../../messages/blocks.ts"
import type { ModelRequest } from "../../../messages/request.ts"
import type { ModelResponse, StreamLimits } from "../../../model/model.ts"
import type { PermissionQuestion, Tool } from "../../../tools/tool.ts"
import type { UserMessageText } from "../../../views/record/user-messages.ts"
import { type MemoryWriteMode, memoryPrompt } from "../prompts.ts"
import type { Proposal } from "../save/save.ts"
import { captureFiles } from "./captured-files.ts"

/** Proposes memories without changing anything: the layer checks and installs the proposal in one step. */
export type ExtractMemories = (task: MemoryExtractionTask) => Promise<ExtractionResult>

export interface MemoryExtractionTask {
  /** The user's messages since the last extraction, oldest first. */
  readonly words: readonly UserMessageText[]
  /** The user's messages in other conversations that no extraction has examined. */
  readonly earlier: readonly string[]
  /** Whether an earlier part of the conversation was already examined. */
  readonly isContinued: boolean
  /** All memories, including superseded ones. */
  readonly memories: readonly Memory[]
  readonly index: string
  /** Returns the exact text of a memory file. */
  readonly textOf: (file: string) => Promise<string | undefined>
  /** Location of the memories: a directory or another name. */
  readonly location: string
  /** The directory with links followed, if there is one. */
  readonly directory: string | undefined
  /** Date as YYYY-MM-DD. */
  readonly today: string
  /** The request that the conversation would send now. */
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly estimate: (text: string) => number
  /** Tokens available for the prompt. */
  readonly room: number
  /** Maximum number of requests to a model. */
  readonly maxTurns: number
  readonly timeLimits?: StreamLimits
  readonly signal: AbortSignal
}

export interface ExtractionResult extends Proposal {
  /** How the extraction ended. `no-room`: the conversation is too long for the prompt. */
  readonly ended: "done" | "failed" | "aborted" | "no-room"
  /** All billed responses. */
  readonly responses: readonly ModelResponse[]
  /** Problem to report to the user. */
  readonly problem?: unknown
}

const NO_TOOLS = "No tools are available while memories are written. Answer with text."
const MAX_TEXT_TURNS = 2 // one is enough unless the model calls tools first
const WRITE_TOOLS: ReadonlySet<string> = new Set(["Write", "Edit"])
const SEARCH_TOOLS: ReadonlySet<string> = new Set(["Grep", "Glob"])
/** Tokens of existing memories for a fork that cannot read files. Other memories are only in the index. */
export const MAX_SHOWN_TOKENS = 4_000

interface MemoryForkOptions extends Omit<ForkParent, "request" | "openCalls"> {
  /** Whether the conversation may read a file of the project without asking. Default: no file. */
  readonly mayRead?: (path: string) => boolean
}

/** Error for an answer that could not be used. */
const notUsable = (why: string) =>
  new StrataError(`No memories were written: ${why}. The next extraction looks at the same messages again.`, {
    code: "memory-answer",
  })

export function forkExtraction(options: MemoryForkOptions): ExtractMemories {
  return async (task) => {
    const writing = task.directory !== undefined && (await hasOurFileTools(options.tools)) ? "with-files" : "as-text"
    const directive = await directiveFor(task, writing)
    if (task.estimate(directive) > task.room) return nothingFound("no-room")
    return writing === "with-files"
      ? extractWithFiles(options, { ...task, directive, directory: task.directory! })
      : extractAsText(options, { ...task, directive })
  }
}

const nothingFound = (ended: ExtractionResult["ended"], rest: Partial<ExtractionResult> = {}): ExtractionResult => ({
  texts: new Map(),
  base: new Map(),
  responses: [],
  ...rest,
  ended,
})

interface DirectedTask extends MemoryExtractionTask {
  readonly directive: string
}

async function directiveFor(task: MemoryExtractionTask, mode: MemoryWriteMode): Promise<string> {
  const { location, today, index, words, isContinued, maxTurns, earlier } = task
  const since = isContinued ? words[0]?.text : undefined
  return memoryPrompt({
    mode,
    location,
    today,
    ...{ turns: maxTurns, earlier },
    memories: mode === "with-files" ? index : await shownMemories(task),
    ...(since === undefined ? {} : { since }),
  })
}

/** The index, then as many complete memories as fit, the most recently confirmed first. */
async function shownMemories({ memories, index, textOf, estimate }: MemoryExtractionTask): Promise<string> {
  const parts = [index]
  let room = MAX_SHOWN_TOKENS
  for (const { file } of memories.toSorted((a, b) => (a.confirmed < b.confirmed ? 1 : -1))) {
    const text = `<memory file=${JSON.stringify(file)}>\n${((await textOf(file)) ?? "").trimEnd()}\n</memory>`
    room -= estimate(text)
    if (room < 0) break
    parts.push(text)
  }
  return parts.join("\n\n").trim()
}

async function extractWithFiles(
  options: MemoryForkOptions,
  task: DirectedTask & { readonly directory: string },
): Promise<ExtractionResult> {
  const { request, openCalls, signal, maxTurns } = task
  const { tools, texts, base } = captureFiles(options.tools, task.directory)
  const outcome = await runFork(
    { ...options, tools, request, openCalls },
    {
      purpose: "memory",
      directive: task.directive,
      allows: onlyMemories(task, options),
      maxTurns,
      signal,
      isDone: areAllWrites,
      ...forkLimits(task),
    },
  )
  const { responses } = outcome
  // what was proposed before the last turn counts, as long as the fork was not stopped
  if (outcome.ended === "answer" || outcome.ended === "turn-limit") return { ended: "done", texts, base, responses }
  return nothingFound(outcome.ended === "aborted" ? "aborted" : "failed", { responses, problem: problemIn(outcome) })
}

async function extractAsText(options: MemoryForkOptions, task: DirectedTask): Promise<ExtractionResult> {
  const { request, openCalls, signal, directive, textOf } = task
  const shown = new Map<string, string | null>()
  for (const { file } of task.memories) shown.set(file, (await textOf(file)) ?? null)
  const outcome = await runFork(
    { ...options, request, openCalls },
    // a second request is the exception, so a cache entry for it would rarely be read
    {
      purpose: "memory",
      directive,
      allows: NO_TOOLS,
      maxTurns: MAX_TEXT_TURNS,
      signal,
      writesCache: false,
      ...forkLimits(task),
    },
  )
  const { responses } = outcome
  if (outcome.ended === "aborted") return nothingFound("aborted", { responses })
  if (outcome.ended !== "answer") return nothingFound("failed", { responses, problem: problemIn(outcome) })
  const answer = readAnswer(outcome.text)
  if (answer.state === "unusable") return nothingFound("failed", { responses, problem: notUsable(answer.reason) })
  const base = new Map([...answer.texts.keys()].map((file) => [file, shown.get(file) ?? null]))
  return { ended: "done", texts: answer.texts, base, responses }
}

const forkLimits = ({ timeLimits }: MemoryExtractionTask) => (timeLimits ? { limits: timeLimits } : {})

function problemIn({ ended, error }: ForkOutcome): unknown {
  return error ?? notUsable(ended === "refusal" ? "the model refused" : "the model did not come to an answer")
}

/** Whether the calls only wrote files. All changes come in one answer, and another answer would only confirm that. */
const areAllWrites = (calls: readonly ToolUse[], results: readonly ToolResult[]): boolean =>
  calls.every(({ name }) => WRITE_TOOLS.has(name)) && results.every(({ is_error: isError }) => isError !== true)

/** Allows writes only in the memory directory. The permission question names the files of a call, with links followed. */
function onlyMemories(
  { directory, location }: DirectedTask & { readonly directory: string },
  options: MemoryForkOptions,
) {
  const mayRead = options.mayRead ?? (() => false)
  return ({ name }: ToolUse, _tool: Tool, { paths = [] }: PermissionQuestion): true | string => {
    const isInside = (path: string) => path === directory || memoryFileName(path, directory) !== undefined
    const areInside = paths.length > 0 && paths.every(isInside)
    if (areInside && (WRITE_TOOLS.has(name) || SEARCH_TOOLS.has(name) || name === "Read")) return true
    if (name === "Read" && paths.length > 0 && paths.every((path) => isInside(path) || mayRead(path))) return true
    return `only files in ${location} may be written here, and only files of the project may be read. Write the memories, or end with an answer.`
  }
}

/** Whether these are the built-in file tools. Other tools with these names take different inputs. */
async function hasOurFileTools(tools: readonly Tool[]): Promise<boolean> {
  const [{ edit }, { write }] = await Promise.all([
    import("../../../tools/files/edit.ts"), // they load a schema library
    import("../../../tools/files/write.ts"),
  ])
  const ours = new Set<unknown>([edit.inputSchema, write.inputSchema])
  const named = tools.filter(({ name }) => WRITE_TOOLS.has(name))
  return named.length > 0 && named.every(({ inputSchema }) => ours.has(inputSchema))
}

type ExtractionAnswer =
  | { readonly state: "files"; readonly texts: ReadonlyMap<string, string> }
  | { readonly state: "unusable"; readonly reason: string }

const OPENING = /^<memory file="([^"\n]+)">[ \t]*$/
const CLOSING = /^<\/memory>[ \t]*$/
const NOTHING = /\bnothing (?:new )?to remember\b/i
const MAX_FILES = 20
const MAX_CHARACTERS = 20_000 // of one file

/** Reads memory files from a fork's answer. Either every file is valid, or none is used. */
export function readAnswer(answer: string): ExtractionAnswer {
  const texts = new Map<string, string>()
  let file: string | undefined
  let lines: string[] = []
  for (const line of answer.split(/\r?\n/)) {
    const opened = OPENING.exec(line)?.[1]
    if (opened !== undefined) {
      if (file !== undefined) return unusable(`the memory ${file} has no end`)
      if (texts.has(opened)) return unusable(`the answer has ${opened} twice`)
      if (!isTopicFile(opened)) return unusable(`${opened} is not the name of a memory file`)
      file = opened
      lines = []
    } else if (file !== undefined && CLOSING.test(line)) {
      const text = lines.join("\n").trim()
      if (text === "") return unusable(`the memory ${file} is empty`)
      if (text.length > MAX_CHARACTERS) return unusable(`the memory ${file} is too long`)
      texts.set(file, `${text}\n`)
      file = undefined
    } else lines.push(line)
  }
  if (file !== undefined) return unusable(`the memory ${file} has no end`)
  if (texts.size > MAX_FILES) return unusable(`the answer has ${texts.size} memories at once`)
  if (texts.size === 0 && !NOTHING.test(answer))
    return unusable('the answer has no memory, and does not say "Nothing to remember"')
  return { state: "files", texts }
}

const unusable = (reason: string): ExtractionAnswer => ({ state: "unusable", reason })
