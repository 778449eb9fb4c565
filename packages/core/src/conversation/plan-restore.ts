/** Plans what putting files back would do after a rewind. It only reads. A plan says of each file what happens, or why nothing can. */

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
import { type Change, changesAfter, type KnownText, type PathChange, textsAt } from "./file-changes.ts"
import { keptContent, sumOf } from "./file-keeper.ts"

// Works out what a file held before changes whose contents were not kept: from an earlier Write or Read, or by reversing edits. The changes
// are then made again in memory. Only if they end in what is on disk is the earlier text certain.

export interface Rebuilding {
  /** In order, none of them kept. */
  readonly changes: readonly Change[]
  /** The text before them, if results show it. */
  readonly known: KnownText | undefined
  /** The text after them. `undefined`: the file is gone. */
  readonly now: string | undefined
}

export type Rebuilt =
  /** `text` is absent where there was no file. `isIntact`: the changes end in what is there now. */
  | { readonly state: "known"; readonly text?: string; readonly isIntact: boolean }
  | { readonly state: "unknown"; readonly why: string }

export function earlierText({ changes, known, now }: Rebuilding): Rebuilt {
  const [first] = changes
  if (first?.kind === "write" && first.isNew)
    return { state: "known", isIntact: isSame(after(undefined, changes), now) }
  const unknown = changes.find(({ kind }) => kind === "unknown")
  if (unknown) return { state: "unknown", why: whyUnknown(unknown) }
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

function whyUnknown(change: Change): string {
  if (change.kind !== "unknown" || !change.isCommand) return "its earlier content was not kept"
  return `a command ${change.what} it, and its earlier content was not kept`
}

const isSame = (text: string | undefined, now: string | undefined): boolean =>
  text !== undefined && now !== undefined && normalizeLineEndings(text) === normalizeLineEndings(now)

const after = (text: string | undefined, changes: readonly Change[]): string | undefined =>
  changes.reduce<string | undefined>((known, change) => applied(known, change), text)

/** The text after a change. `undefined`: not known. */
export function applied(text: string | undefined, change: Change): string | undefined {
  if (change.kind === "write") return matchLineEndings(text ?? "", change.content)
  if (change.kind !== "edit" || text === undefined) return undefined
  if (change.old === "") return change.replacement
  const replaced = replaceText(text, change)
  return replaced.state === "replaced" ? replaced.text : undefined
}

/** Takes edits back, the newest first. Each must have left its text in exactly one place. */
function reverse(now: string, changes: readonly Change[]): string | undefined {
  let text = now
  for (const change of changes.toReversed()) {
    if (change.kind !== "edit" || change.all || change.old === "" || change.replacement === "") return undefined
    const before = replaceText(text, { old: change.replacement, replacement: change.old, all: false })
    if (before.state !== "replaced" || applied(before.text, change) !== text) return undefined
    text = before.text
  }
  return text
}

/** What putting files back would do. */
export interface RestorePlan {
  /** In the order of their names. */
  readonly files: readonly PlannedFile[]
  /** Files that commands changed and that the journal does not name. */
  readonly more: number
}

/** What restoring would do with one file. */
export interface PlannedFile {
  /** The whole path, links followed. */
  readonly path: string
  /** The path from the project's directory. */
  readonly name: string
  /** `restore`: its earlier content comes back. `remove`: an agent created it. `leave`: it cannot be put back. */
  readonly does: "restore" | "remove" | "leave"
  /** Why it is left, or why it needs consent. A part of a sentence. */
  readonly why?: string
  /** It is not as an agent left it: someone else may have changed it since. */
  readonly needsConsent: boolean
  /** @internal The content to put back. */
  readonly content?: Buffer
  /** @internal The permission bits of a file that is gone. */
  readonly mode?: number
  /** @internal The sum of what is there now. Absent: nothing is. */
  readonly now?: string
}

export interface RestoreRequest {
  readonly journal: Journal
  /** The journals of the conversation's agents. */
  readonly agents: readonly Journal[]
  readonly cwd: string
  readonly uuid: Uuid
}

/** The files that agents changed after an entry and that are not as they were then. */
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
  const byPath = await grouped(all, cwd)
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
  readonly changes: Change[]
  /** The paths that calls named it by. */
  readonly names: string[]
}

async function grouped(all: readonly PathChange[], cwd: string): Promise<ReadonlyMap<string, FileHistory>> {
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

/** Read only where a change without a kept content comes first. */
async function knownTexts(
  at: Pick<RestoreRequest, "journal" | "cwd" | "uuid">,
  byPath: ReadonlyMap<string, FileHistory>,
): Promise<ReadonlyMap<string, KnownText>> {
  const unsure = [...byPath.values()].filter(
    ({ changes: [first] }) => first?.kind === "edit" || first?.kind === "write",
  )
  if (unsure.length === 0) return new Map()
  return textsAt({ ...at, paths: new Set(unsure.flatMap(({ names }) => names)), apply: applied })
}

interface FileToPlan {
  readonly path: string
  readonly project: string
  readonly changes: readonly Change[]
  readonly known: KnownText | undefined
}

type Planned = Omit<PlannedFile, "path" | "name">

const left = (why: string): Planned => ({ does: "leave", why, needsConsent: false })

/** `undefined`: the file is as it was. */
async function planFile({ path, project, changes, known }: FileToPlan): Promise<Planned | undefined> {
  if (!isInside(path, project)) return left("it is outside the project")
  const disk = await onDisk(path, project)
  if (disk.state === "refused") return left(disk.why)
  const bytes = disk.state === "file" ? disk.bytes : undefined
  const earlier = await earlierContent({ changes, known, bytes })
  if (earlier.state === "unknown") return isGone(changes, bytes) ? undefined : left(earlier.why)
  const now = bytes && sumOf(bytes)
  if (now === (earlier.content && sumOf(earlier.content))) return undefined
  const why = earlier.isIntact ? undefined : changedSince(changes, bytes)
  return {
    does: earlier.content ? "restore" : "remove",
    needsConsent: !earlier.isIntact,
    ...(why && { why }),
    ...(earlier.content && { content: earlier.content }),
    ...(now ? { now } : modeBefore(changes)),
  }
}

/** A journal may come from anywhere: of its number only permission bits count. */
function modeBefore([first]: readonly Change[]): Pick<Planned, "mode"> {
  return first?.kind === "kept" && typeof first.mode === "number" ? { mode: first.mode & 0o777 } : {}
}

/** A command created it, and it is no longer there. */
function isGone([first]: readonly Change[], bytes: Buffer | undefined): boolean {
  return bytes === undefined && first?.kind === "unknown" && first.what === "created"
}

function changedSince(changes: readonly Change[], bytes: Buffer | undefined): string {
  if (bytes === undefined) return "it was deleted since"
  if (changes.at(-1)?.kind === "unknown") return "a command changed it after that"
  return isLeftBy(changes.at(-1), bytes) ? "someone else changed it in between" : "someone else changed it since"
}

const isLeftBy = (change: Change | undefined, bytes: Buffer | undefined): boolean =>
  change?.kind === "kept" && change.after === (bytes && sumOf(bytes))

/** Each change starts with what the one before it left. */
const areUnbroken = (changes: readonly Change[]): boolean =>
  changes.every((change, i) => {
    const next = changes[i + 1]
    return change.kind !== "kept" || next?.kind !== "kept" || change.after === next.before
  })

type Earlier =
  | { readonly state: "known"; readonly content?: Buffer; readonly isIntact: boolean }
  | { readonly state: "unknown"; readonly why: string }

async function earlierContent({
  changes,
  known,
  bytes,
}: Pick<FileToPlan, "changes" | "known"> & { readonly bytes: Buffer | undefined }): Promise<Earlier> {
  const [first] = changes
  const isLast = isLeftBy(changes.at(-1), bytes) && areUnbroken(changes)
  if (first?.kind === "kept") {
    if (first.before === undefined) return { state: "known", isIntact: isLast }
    const content = await keptContent(first.journal, first.before)
    return content
      ? { state: "known", content, isIntact: isLast }
      : { state: "unknown", why: "its earlier content was not kept" }
  }
  const keptAt = changes.findIndex(({ kind }) => kind === "kept")
  const kept = changes[keptAt]
  const end = kept?.kind === "kept" ? kept.before && (await keptContent(kept.journal, kept.before)) : bytes
  const decoded: DecodedText | undefined = end ? decodeText(end) : undefined
  const rebuilt = earlierText({
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

export type OnDisk =
  /** `stats` are from before it was read. */
  | { readonly state: "file"; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly state: "missing" }
  | { readonly state: "refused"; readonly why: string }

/** What is at a path now. A link at the path, or on the way to it, is refused: it may lead outside the project. */
export async function onDisk(path: string, project: string): Promise<OnDisk> {
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

/** The nearest directory above that exists, with its links followed. */
async function realAncestor(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (error) {
    if (!isMissing(error) || dirname(directory) === directory) throw error
    return realAncestor(dirname(directory))
  }
}
