/** Plans the restoration of files after a rewind. Never writes. For each file, a plan states what happens, or why nothing can be done. */

import type { Stats } from "node:fs"
import { lstat, readFile, realpath } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Journal } from "../journal/store.ts"
import type { Uuid } from "../messages/messages.ts"
import { isMissing } from "../tools/files/file-error.ts"
import { matchLineEndings, normalizeLineEndings } from "../tools/files/line-endings.ts"
import { resolveTarget, shortPath } from "../tools/files/paths.ts"
import { type DecodedText, decodeText, encodeText } from "../tools/files/text-encoding.ts"
import { replaceText } from "../tools/files/text-replacement.ts"
import { isInside } from "../views/record/file-paths.ts"
import { changesAfter, type FileContentChange, type KnownText, type PathChange, textsAt } from "./file-changes.ts"
import { contentHash, readSnapshot } from "./file-snapshots.ts"

// Reconstructs the text of a file before changes without snapshots: from an earlier Write or Read, or by reversing edits. The changes are
// then applied again in memory. The earlier text is certain only if they produce the current file.

export interface ReconstructionInput {
  /** Changes in order, without snapshots. */
  readonly changes: readonly FileContentChange[]
  /** Text before the changes, if results show it. */
  readonly known: KnownText | undefined
  /** Text after the changes. `undefined`: the file no longer exists. */
  readonly now: string | undefined
}

export type ReconstructedText =
  /** `text` is absent if there was no file. `isIntact`: the changes produce the current file. */
  | { readonly state: "known"; readonly text?: string; readonly isIntact: boolean }
  | { readonly state: "unknown"; readonly why: string }

export function reconstructText({ changes, known, now }: ReconstructionInput): ReconstructedText {
  const [first] = changes
  if (first?.kind === "write" && first.isNew)
    return { state: "known", isIntact: isSame(after(undefined, changes), now) }
  const unknown = changes.find(({ kind }) => kind === "unknown")
  if (unknown) return { state: "unknown", why: unknownReason(unknown) }
  if (known) {
    const texts = known.mayEndOpen ? [known.text, known.text.replace(/\n$/, "")] : [known.text]
    const fitting = texts.find((text) => isSame(after(text, changes), now))
    const text = matchLineEndings(now ?? "", fitting ?? texts[0]!)
    return { state: "known", text, isIntact: fitting !== undefined }
  }
  const reversed = now === undefined ? undefined : reverse(now, changes)
  if (reversed === undefined) return { state: "unknown", why: "the journal does not have its earlier content" }
  return { state: "known", text: reversed, isIntact: true }
}

function unknownReason(change: FileContentChange): string {
  if (change.kind !== "unknown" || !change.isCommand) return "its earlier content was not kept"
  return `a command ${change.what} it, and its earlier content was not kept`
}

const isSame = (text: string | undefined, now: string | undefined): boolean =>
  text !== undefined && now !== undefined && normalizeLineEndings(text) === normalizeLineEndings(now)

const after = (text: string | undefined, changes: readonly FileContentChange[]): string | undefined =>
  changes.reduce<string | undefined>((known, change) => applyChange(known, change), text)

/** Applies a change to a text. `undefined`: unknown. */
export function applyChange(text: string | undefined, change: FileContentChange): string | undefined {
  if (change.kind === "write") return matchLineEndings(text ?? "", change.content)
  if (change.kind !== "edit" || text === undefined) return undefined
  if (change.old === "") return change.replacement
  const replaced = replaceText(text, change)
  return replaced.state === "replaced" ? replaced.text : undefined
}

/** Reverses edits, newest first. The replacement text of each must occur exactly once. */
function reverse(now: string, changes: readonly FileContentChange[]): string | undefined {
  let text = now
  for (const change of changes.toReversed()) {
    if (change.kind !== "edit" || change.all || change.old === "" || change.replacement === "") return undefined
    const before = replaceText(text, { old: change.replacement, replacement: change.old, all: false })
    if (before.state !== "replaced" || applyChange(before.text, change) !== text) return undefined
    text = before.text
  }
  return text
}

/** A plan for restoring files. */
export interface RestorePlan {
  /** Files sorted by name. */
  readonly files: readonly PlannedFile[]
  /** Number of files that commands changed and that the journal does not name. */
  readonly more: number
}

/** Planned action for one file. */
export interface PlannedFile {
  /** Absolute path with symbolic links resolved. */
  readonly path: string
  /** Path relative to the project's directory. */
  readonly name: string
  /** `restore`: the earlier content is restored. `remove`: an agent created the file. `leave`: it cannot be restored. */
  readonly action: "restore" | "remove" | "leave"
  /** Reason for leaving it, or for asking for consent, as part of a sentence. */
  readonly why?: string
  /** Whether someone else may have changed it since the agent did. */
  readonly needsConsent: boolean
  /** @internal Content to restore. */
  readonly content?: Buffer
  /** @internal Permission bits of a file that no longer exists. */
  readonly mode?: number
  /** @internal Hash of the current content. Absent if there is no file. */
  readonly now?: string
}

export interface RestoreRequest {
  readonly journal: Journal
  /** Journals of the conversation's agents. */
  readonly agents: readonly Journal[]
  readonly cwd: string
  readonly uuid: Uuid
}

/** Plans for files that agents changed after an entry and that differ from then. */
export async function planRestore({ journal, agents, cwd, uuid }: RestoreRequest): Promise<RestorePlan> {
  const project = await realpath(cwd)
  const time = (await journal.find(uuid))?.timestamp
  const own = await changesAfter({ journal, cwd, after: { uuid } })
  const theirs =
    time === undefined
      ? []
      : await Promise.all(agents.map((agent) => changesAfter({ journal: agent, cwd, after: { time } })))
  const found = [own, ...theirs]
  const all = found
    .flatMap(({ changes }) => changes)
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
  const byPath = await groupByPath(all, cwd)
  const known = await knownTexts({ journal, cwd, uuid }, byPath)
  const files: PlannedFile[] = []
  for (const [path, { changes, names }] of byPath) {
    const text = names.map((name) => known.get(name)).find(Boolean)
    const planned = await planFile({ path, project, changes, known: text })
    if (planned) files.push({ path, name: shortPath(path, project), ...planned })
  }
  return {
    files: files.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    more: found.reduce((sum, each) => sum + each.more, 0),
  }
}

interface FileHistory {
  readonly changes: FileContentChange[]
  /** Paths that calls used for the file. */
  readonly names: string[]
}

async function groupByPath(all: readonly PathChange[], cwd: string): Promise<ReadonlyMap<string, FileHistory>> {
  const byPath = new Map<string, FileHistory>()
  const resolved = new Map<string, string>()
  for (const { path: name, change } of all) {
    const context = { directory: { get: () => cwd, set: () => undefined }, env: process.env }
    const path =
      resolved.get(name) ??
      (change.kind === "kept"
        ? name
        : await resolveTarget(name, context).then(
            (target) => target.path,
            () => name,
          ))
    resolved.set(name, path)
    const history = byPath.get(path) ?? { changes: [], names: [] }
    byPath.set(path, history)
    history.changes.push(change)
    if (!history.names.includes(name)) history.names.push(name)
  }
  return byPath
}

/** Earlier texts. Reads the journal only if the first change of a file has no snapshot. */
async function knownTexts(
  at: Pick<RestoreRequest, "journal" | "cwd" | "uuid">,
  byPath: ReadonlyMap<string, FileHistory>,
): Promise<ReadonlyMap<string, KnownText>> {
  const unsure = [...byPath.values()].filter(
    ({ changes: [first] }) => first?.kind === "edit" || first?.kind === "write",
  )
  if (unsure.length === 0) return new Map()
  return textsAt({ ...at, paths: new Set(unsure.flatMap(({ names }) => names)), apply: applyChange })
}

interface FileToPlan {
  readonly path: string
  readonly project: string
  readonly changes: readonly FileContentChange[]
  readonly known: KnownText | undefined
}

type Planned = Omit<PlannedFile, "path" | "name">

const leaveFile = (why: string): Planned => ({ action: "leave", why, needsConsent: false })

/** Plans one file. `undefined` if it is unchanged. */
async function planFile({ path, project, changes, known }: FileToPlan): Promise<Planned | undefined> {
  if (!isInside(path, project)) return leaveFile("it is outside the project")
  const disk = await readFileOnDisk(path, project)
  if (disk.state === "refused") return leaveFile(disk.why)
  const bytes = disk.state === "file" ? disk.bytes : undefined
  const earlier = await earlierContent({ changes, known, bytes })
  if (earlier.state === "unknown") return isGone(changes, bytes) ? undefined : leaveFile(earlier.why)
  const now = bytes && contentHash(bytes)
  if (now === (earlier.content && contentHash(earlier.content))) return undefined
  const why = earlier.isIntact ? undefined : changedSince(changes, bytes)
  return {
    action: earlier.content ? "restore" : "remove",
    needsConsent: !earlier.isIntact,
    ...(why && { why }),
    ...(earlier.content && { content: earlier.content }),
    ...(now ? { now } : modeBefore(changes)),
  }
}

/** Permission bits of the file before the changes. Other bits are masked, because the journal is untrusted. */
function modeBefore([first]: readonly FileContentChange[]): Pick<Planned, "mode"> {
  return first?.kind === "kept" && typeof first.mode === "number" ? { mode: first.mode & 0o777 } : {}
}

/** Whether a command created the file and it no longer exists. */
function isGone([first]: readonly FileContentChange[], bytes: Buffer | undefined): boolean {
  return bytes === undefined && first?.kind === "unknown" && first.what === "created"
}

function changedSince(changes: readonly FileContentChange[], bytes: Buffer | undefined): string {
  if (bytes === undefined) return "it was deleted since"
  if (changes.at(-1)?.kind === "unknown") return "a command changed it after that"
  return isLeftBy(changes.at(-1), bytes) ? "someone else changed it in between" : "someone else changed it since"
}

const isLeftBy = (change: FileContentChange | undefined, bytes: Buffer | undefined): boolean =>
  change?.kind === "kept" && change.after === (bytes && contentHash(bytes))

/** Whether each change starts from the result of the one before. */
const areUnbroken = (changes: readonly FileContentChange[]): boolean =>
  changes.every((change, i) => {
    const next = changes[i + 1]
    return change.kind !== "kept" || next?.kind !== "kept" || change.after === next.before
  })

type EarlierContent =
  | { readonly state: "known"; readonly content?: Buffer; readonly isIntact: boolean }
  | { readonly state: "unknown"; readonly why: string }

async function earlierContent({
  changes,
  known,
  bytes,
}: Pick<FileToPlan, "changes" | "known"> & { readonly bytes: Buffer | undefined }): Promise<EarlierContent> {
  const [first] = changes
  const isLast = isLeftBy(changes.at(-1), bytes) && areUnbroken(changes)
  if (first?.kind === "kept") {
    if (first.before === undefined) return { state: "known", isIntact: isLast }
    const content = await readSnapshot(first.journal, first.before)
    return content
      ? { state: "known", content, isIntact: isLast }
      : { state: "unknown", why: "its earlier content was not kept" }
  }
  const keptAt = changes.findIndex(({ kind }) => kind === "kept")
  const kept = changes[keptAt]
  const end = kept?.kind === "kept" ? kept.before && (await readSnapshot(kept.journal, kept.before)) : bytes
  const decoded: DecodedText | undefined = end ? decodeText(end) : undefined
  const rebuilt = reconstructText({
    changes: keptAt < 0 ? changes : changes.slice(0, keptAt),
    known,
    now: decoded?.text,
  })
  if (rebuilt.state === "unknown") return rebuilt
  const isIntact = rebuilt.isIntact && (keptAt < 0 || isLast)
  if (rebuilt.text === undefined) return { state: "known", isIntact }
  return {
    state: "known",
    content: encodeText({ text: rebuilt.text, encoding: decoded?.encoding ?? "utf-8" }),
    isIntact,
  }
}

export type FileOnDisk =
  /** `stats` were taken before reading. */
  | { readonly state: "file"; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly state: "missing" }
  | { readonly state: "refused"; readonly why: string }

/** Reads the file at a path. A symbolic link at the path, or on the way to it, is refused, because it may lead outside the project. */
export async function readFileOnDisk(path: string, project: string): Promise<FileOnDisk> {
  try {
    const directory = await realAncestor(dirname(path))
    if (resolve(path) !== path) return { state: "refused", why: "its path is not a plain one" } // a/../../b
    if (directory !== project && !isInside(directory, project))
      return { state: "refused", why: "its path leads outside the project" }
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return { state: "refused", why: "it is a link now" }
    if (!stats.isFile()) return { state: "refused", why: "it is not a file" }
    if ((await realpath(path)) !== path) return { state: "refused", why: "a link is on the way to it now" }
    return { state: "file", bytes: await readFile(path), stats }
  } catch (error) {
    if (isMissing(error)) return { state: "missing" }
    return { state: "refused", why: "it cannot be read" }
  }
}

/** The nearest existing ancestor, with symbolic links resolved. */
async function realAncestor(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (error) {
    if (!isMissing(error) || dirname(directory) === directory) throw error
    return realAncestor(dirname(directory))
  }
}
