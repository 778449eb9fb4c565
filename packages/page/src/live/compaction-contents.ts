/**
 * What each compaction found, and how much of it the context after it contains: the user's messages and rules, changed files, and tool
 * results. Texts are compared, so the figures hold for any program and do not rely on what a summary claims.
 */
import type { Entry, Message } from "@strata/core"
import { isBoundary, isToolResult } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import { findModel } from "@strata/core/tokens"
import { type Artifacts, fileFate, Views } from "@strata/core/views"
import { blockText, entryBlocks } from "./rows.ts"

export interface CompactionContents {
  /** All messages of the user until the compaction. `partial`: only their beginning is in the context after it. */
  readonly userMessages: {
    readonly count: number
    readonly complete: number
    readonly partial: number
    readonly missing: readonly string[]
  }
  /** Sentences of the user that apply from then on. */
  readonly rules: { readonly count: number; readonly missing: readonly string[] }
  /** Files that were created, changed or deleted until the compaction. */
  readonly changedFiles: { readonly named: readonly string[]; readonly missing: readonly string[] }
  /** Tool results in the context. `cleared`: shortened or removed before the compaction. */
  readonly results: { readonly before: number; readonly cleared: number; readonly after: number }
}

const MIN_PART = 60 // characters that identify the beginning of a message

/** By boundary. Computed for the complete path in one pass. */
export function compactionContents(
  entries: readonly Entry[],
  { model = "unknown", cwd }: { readonly model?: string | undefined; readonly cwd?: string | undefined },
): ReadonlyMap<string, CompactionContents> {
  const found = new Map<string, CompactionContents>()
  if (!entries.some((entry) => !isDecision(entry) && isBoundary(entry))) return found
  const views = new Views({ family: findModel(model).facts.family, only: ["words", "artifacts"] })
  let open: { readonly boundary: string; readonly before: ContentsBefore } | undefined
  const close = () => {
    if (open) found.set(open.boundary, compareContents(open.before, views))
    open = undefined
  }
  for (const entry of entries) {
    if (!isDecision(entry) && isBoundary(entry)) {
      close()
      open = { boundary: entry.uuid, before: contentsBefore(views, cwd) }
    } else if (entry.type === "assistant" && !entry.isSidechain) close()
    views.apply(entry)
  }
  close()
  return found
}

interface ContentsBefore {
  readonly texts: readonly string[]
  readonly rules: readonly string[]
  readonly files: readonly string[]
  readonly results: readonly string[]
  readonly cleared: number
}

function contentsBefore(views: Views, cwd: string | undefined): ContentsBefore {
  const { messages } = views.words
  const results = resultIds(views)
  return {
    texts: messages.map(({ text }) => text.trim()),
    rules: [...new Set(messages.flatMap(({ rules }) => rules))],
    files: changedFiles(views.artifacts, cwd),
    results,
    cleared: results.filter((id) => !views.context.isWhole(id)).length,
  }
}

/** Paths from the conversation's directory on. A command can also touch the directory itself, which is no file. */
function changedFiles({ files, ...known }: Artifacts, cwd = known.cwd ?? ""): readonly string[] {
  const changed = [...files].flatMap(([path, facts]) => (fileFate(facts) === "read" ? [] : [path]))
  return changed
    .map((path) => (cwd !== "" && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path))
    .filter((path) => !IS_DIRECTORY.test(path))
}

const IS_DIRECTORY = /(?:^|\/)\.{1,2}$/

const contextBlocks = (views: Views) => views.context.messages().messages.flatMap(({ content }) => content)

const resultIds = (views: Views): readonly string[] =>
  contextBlocks(views).flatMap((block) => (isToolResult(block) ? [block.tool_use_id] : []))

function compareContents({ texts, rules, files, results, cleared }: ContentsBefore, views: Views): CompactionContents {
  const text = contextBlocks(views).map(blockText).join("\n")
  const incomplete = texts.filter((one) => !text.includes(one))
  const missing = incomplete.filter((one) => !text.includes(one.split("\n", 1)[0]!.slice(0, MIN_PART)))
  const remaining = new Set(resultIds(views))
  return {
    userMessages: {
      count: texts.length,
      complete: texts.length - incomplete.length,
      partial: incomplete.length - missing.length,
      missing,
    },
    rules: { count: rules.length, missing: rules.filter((rule) => !text.includes(rule)) },
    changedFiles: {
      named: files.filter((path) => namesFile(text, path)),
      missing: files.filter((path) => !namesFile(text, path)),
    },
    results: { before: results.length, cleared, after: results.filter((id) => remaining.has(id)).length },
  }
}

/** Models name a file by its path, or by the end of it with one directory. */
const namesFile = (text: string, path: string): boolean =>
  text.includes(path) ||
  text.includes(
    path
      .split(/(?=[/\\])/)
      .slice(-2)
      .join("")
      .replace(/^[/\\]/, ""),
  )

/** A slash command of Claude Code, as its transcripts record it near the compaction. */
const COMPACT_COMMAND =
  /<command-name>\/compact<\/command-name>[^<]*(?:<command-message>[^<]*<\/command-message>[^<]*)?<command-args>([\s\S]*?)<\/command-args>/

/** The instructions that a user of Claude Code typed after `/compact`. `after`: the messages up to the next answer. */
export function typedInstructions(after: readonly Message[]): string | undefined {
  for (const message of after) {
    const typed = COMPACT_COMMAND.exec(entryBlocks(message).map(blockText).join("\n"))?.[1]?.trim()
    if (typed) return typed
  }
  return undefined
}
