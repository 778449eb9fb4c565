/** File changes that the journal knows, by path and in order: from file tools, commands, and earlier restores. */
import type { Entry } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { FileChangeRecord } from "../messages/file-change-record.ts"
import type { Uuid } from "../messages/messages.ts"
import { findExitCode } from "../views/record/artifacts.ts"
import { type CallEffects, callEffects, isShellTool } from "../views/record/file-effects.ts"
import { type FinishedCall, followCalls, type OpenCall } from "../views/record/open-work.ts"

export type FileContentChange =
  /** The journal has hashes of both contents, and `journal` may have stored the earlier content. */
  | ({ readonly kind: "kept"; readonly journal: Journal } & Omit<FileChangeRecord, "path">)
  | { readonly kind: "edit"; readonly old: string; readonly replacement: string; readonly all: boolean }
  | { readonly kind: "write"; readonly content: string; readonly isNew: boolean }
  /** A change by a command, or by a tool of another program. */
  | { readonly kind: "unknown"; readonly what: "created" | "changed" | "deleted"; readonly isCommand: boolean }

export interface PathChange {
  readonly path: string
  readonly change: FileContentChange
  readonly timestamp: string
}

export interface JournalSource {
  readonly journal: Journal
  readonly cwd: string
  /** Entry or time after which changes are included. */
  readonly after: { readonly uuid: Uuid } | { readonly time: string }
}

export interface FileChanges {
  readonly changes: readonly PathChange[]
  /** Number of files that commands changed in addition to those listed. */
  readonly more: number
}

/** Finds changes on all branches, because a rewind does not change files. */
export async function changesAfter({ journal, cwd, after }: JournalSource): Promise<FileChanges> {
  const open = new Map<string, OpenCall>()
  const found: PathChange[] = []
  let isAfter = false
  let more = 0
  let directory: string | undefined
  for await (const entry of journal.entries()) {
    const { timestamp } = entry
    if ("time" in after) isAfter = timestamp >= after.time
    const place = (path: string, change: FileContentChange) => {
      if (isAfter) found.push({ path, change, timestamp })
    }
    if (isAfter && entry.type === "user") for (const each of entry.filesChanged ?? []) more += each.more ?? 0
    for (const { path, ...change } of restoredIn(entry)) place(path, { kind: "kept", ...change, journal })
    for (const call of followCalls(open, entry)) {
      const { effects, directory: now } = effectsOf(call, { cwd, directory })
      directory = now
      if (call.kept) for (const { path, ...change } of call.kept) place(path, { kind: "kept", ...change, journal })
      else for (const { path, what } of effects) if (what !== "read") place(path, changeOf(call, what))
    }
    if ("uuid" in after && entry.uuid === after.uuid) isAfter = true
  }
  return { changes: found, more }
}

/** The effects of a call. A failed command may have changed files before it failed. */
function effectsOf(
  call: FinishedCall,
  place: { readonly cwd: string; readonly directory: string | undefined },
): CallEffects {
  const exitCode = isShellTool(call.tool) ? findExitCode(call.output) : undefined
  const failed = call.failed || (exitCode ?? 0) !== 0
  return callEffects({ ...call, failed }, { ...place, ran: exitCode !== undefined })
}

const restoredIn = (entry: Entry) =>
  entry.type === "attachment" && entry.attachment.type === "files_restored" ? entry.attachment.changes : []

type Effect = "created" | "written" | "changed" | "touched" | "deleted"

function changeOf({ tool, input, output }: FinishedCall, what: Effect): FileContentChange {
  const { old_string: old, new_string: fresh, content } = input
  if (tool === "Edit" && typeof old === "string" && typeof fresh === "string")
    return old === "" && output.startsWith("Created ")
      ? { kind: "write", content: fresh, isNew: true }
      : { kind: "edit", old, replacement: fresh, all: input.replace_all === true }
  if (tool === "Write" && typeof content === "string") return { kind: "write", content, isNew: what === "created" }
  const happened = what === "written" || what === "touched" ? "changed" : what
  return { kind: "unknown", what: happened, isCommand: isShellTool(tool) }
}

export interface TextsRequest {
  readonly journal: Journal
  readonly cwd: string
  readonly uuid: Uuid
  readonly paths: ReadonlySet<string>
  /** Returns the text after a change. `undefined`: unknown. */
  readonly apply: (known: string | undefined, change: FileContentChange) => string | undefined
}

/** Reconstructs the texts of files at an entry, as far as earlier calls show them completely. */
export async function textsAt({
  journal,
  cwd,
  uuid,
  paths,
  apply,
}: TextsRequest): Promise<ReadonlyMap<string, KnownText>> {
  const open = new Map<string, OpenCall>()
  const known = new Map<string, KnownText>()
  for await (const entry of journal.entries()) {
    for (const call of followCalls(open, entry)) {
      for (const { path, what, content } of callEffects(call, { cwd }).effects) {
        if (!paths.has(path)) continue
        if (what === "read") {
          const lines = content === undefined ? undefined : shownLines(content)
          if (lines !== undefined) known.set(path, { text: `${lines}\n`, mayEndOpen: true })
          continue
        }
        const before = known.get(path)
        const text = apply(before?.text, changeOf(call, what))
        if (text === undefined) known.delete(path)
        else known.set(path, { text, mayEndOpen: call.tool === "Edit" && before?.mayEndOpen === true })
      }
    }
    if (entry.uuid === uuid) break
  }
  return known
}

export interface KnownText {
  readonly text: string
  /** Whether a final newline may be missing, which the output of Read does not show. */
  readonly mayEndOpen: boolean
}

/** The text in a result of Read. `undefined` if it does not show the complete file. */
function shownLines(result: string): string | undefined {
  const lines: string[] = []
  for (const [index, line] of result.split("\n").entries()) {
    const [, number, text] = /^ *(\d+)\t(.*)$/s.exec(line) ?? []
    if (Number(number) !== index + 1 || text!.includes("[line cut: ")) return undefined
    lines.push(text!)
  }
  return lines.join("\n")
}
