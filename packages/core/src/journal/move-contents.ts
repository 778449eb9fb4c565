/**
 * Copies the contents of one store to another, byte for byte, and verifies the copy by reading both again. It can be interrupted at any
 * moment: the next run skips equal content and continues unfinished items. Content that differs is never overwritten.
 */
import { createHash, hash } from "node:crypto"
import { ConversationLockedError } from "../base/errors.ts"
import { fileBatches } from "./content-batches.ts"
import { selectContents } from "./content-selection.ts"
import {
  BLOB,
  CONSOLIDATED,
  type ContentAddress,
  ContentDiffersError,
  type ContentFileBytes,
  type Contents,
  contentName,
  DAYS,
  MEMBERS,
  MESSAGES,
  type StoredItem,
} from "./contents.ts"
import type { Store } from "./store.ts"

export interface MoveOptions {
  readonly from: Store
  readonly to: Store
  /** Only contents of this project: its name, title, remote or path. Default: all projects. */
  readonly project?: string | undefined
  /** Only contents of this owner, as in the option `memory`. Default: all owners. */
  readonly owner?: string | undefined
  /** Stops after the current write. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: MoveProgress) => void
}

export interface MoveProgress {
  /** Number of items checked so far. */
  readonly contents: number
  /** Bytes written so far. */
  readonly written: number
  /** The item being moved. */
  readonly at: string
}

/** The result of moving one item. `further`: the other side has more. */
export type MoveOutcome = "copied" | "continued" | "equal" | "further"

export interface MoveReport {
  readonly outcomes: Readonly<Record<MoveOutcome, number>>
  readonly written: number
  /** Bytes that were read on both sides and are equal. */
  readonly verifiedBytes: number
  /** SHA-256 of the checksums of everything that is equal on both sides, sorted by name. */
  readonly sha256: string
  /** Items that differ on the other side or are open there, one sentence each. They were left unchanged. */
  readonly refused: readonly string[]
  /** Items that a process was writing to: what was there was copied. Move again to continue. */
  readonly open: readonly string[]
  /** Files that the other store cannot hold, one sentence each. */
  readonly omitted: readonly string[]
}

const MAX_PARALLEL = 4

export async function moveContents({ from, to, project, owner, signal, onProgress }: MoveOptions): Promise<MoveReport> {
  const [source, target] = [from.contents(), to.contents()]
  const there = new Map<string, StoredItem>()
  for await (const content of target.list()) there.set(contentName(content.address), content)
  const report = newReport()
  const { all, isSelected } = await selectContents(from, { owner, project })
  const next = all.values()
  let hasFailed = false
  const work = async () => {
    for (;;) {
      signal?.throwIfAborted()
      if (hasFailed) return
      const { value: content, done } = next.next()
      if (done) return
      if (!isSelected(content.address)) continue
      const name = contentName(content.address)
      onProgress?.({ contents: report.seen++, written: report.written, at: name })
      const moving = { source, target, content, signal, there: there.get(name), report }
      try {
        report.outcomes[await moveOne(moving)]++
      } catch (error) {
        if (error instanceof ConversationLockedError) report.refused.push(`${name}: ${error.message}`)
        else if (error instanceof ContentDiffersError) report.refused.push(error.message)
        else {
          hasFailed = true
          throw error
        }
      }
      if (content.isOpen) report.open.push(name)
      for (const why of content.omitted ?? []) report.omitted.push(`${name}: ${why}`)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: MAX_PARALLEL }, work))
  // only after all have settled: none may write after the call returns
  for (const end of ends) if (end.status === "rejected") throw end.reason
  const { outcomes, written, verifiedBytes, sums, refused, open, omitted } = report
  return {
    outcomes,
    written,
    verifiedBytes,
    sha256: hash("sha256", sums.sort().join("\n"), "hex"),
    refused,
    open,
    omitted,
  }
}

interface MoveState {
  readonly outcomes: Record<MoveOutcome, number>
  seen: number
  written: number
  verifiedBytes: number
  readonly sums: string[]
  readonly refused: string[]
  readonly open: string[]
  readonly omitted: string[]
}

const newReport = (): MoveState => ({
  outcomes: { copied: 0, continued: 0, equal: 0, further: 0 },
  ...{ seen: 0, written: 0, verifiedBytes: 0, sums: [], refused: [], open: [], omitted: [] },
})

interface ContentMove {
  readonly source: Contents
  readonly target: Contents
  readonly content: StoredItem
  readonly there: StoredItem | undefined
  readonly signal: AbortSignal | undefined
  readonly report: MoveState
}

async function moveOne(moving: ContentMove): Promise<MoveOutcome> {
  const { content, there } = moving
  const { state, sum } = await compareLines(moving)
  if (state === "further") return "further"
  const files = await filesToWrite(moving, state === "equal")
  if (files === "further") return "further"
  if (there && state === "equal" && files.length === 0) {
    await verify(moving, sum)
    return "equal"
  }
  await write(moving, files)
  await verify(moving)
  return there === undefined || (content.lines !== undefined && there.lines === 0) ? "copied" : "continued"
}

interface LinesComparison {
  readonly state: "equal" | "shorter" | "further"
  /** Checksum of the lines that both sides have. */
  readonly sum?: string
}

/** Compares the lines on the other side with these. */
async function compareLines({ source, target, content, there }: ContentMove): Promise<LinesComparison> {
  const { address, lines: size = 0 } = content
  const other = there?.lines ?? 0
  const common = Math.min(size, other)
  const state = other > size ? "further" : other === size ? "equal" : "shorter"
  if (common === 0) return { state }
  const [sum, otherSum] = await Promise.all([source, target].map((one) => sumOfLines(one, address, common)))
  if (sum !== otherSum) throw new ContentDiffersError(address, `a line in the first ${common} bytes`)
  return { state, sum: sum! }
}

async function sumOfLines(contents: Contents, address: ContentAddress, size: number): Promise<string> {
  const sum = createHash("sha256")
  for (let at = 0; at < size; ) {
    const bytes = await contents.lines(address, at)
    if (bytes.length === 0) break
    sum.update(bytes.subarray(0, size - at))
    at += bytes.length
  }
  return sum.digest("hex")
}

type FileToWrite = Omit<ContentFileBytes, "data">

/** The files that are missing or may be replaced. Throws if another file differs. */
async function filesToWrite(moving: ContentMove, hasSameLines: boolean): Promise<readonly FileToWrite[] | "further"> {
  const { source, target, content, there } = moving
  const { address } = content
  const known = new Set(there?.files.map(({ name }) => name))
  const wanted: FileToWrite[] = []
  for (const batch of fileBatches(content)) {
    const both = batch.filter((name) => known.has(name))
    for (const { name, modified } of content.files)
      if (batch.includes(name) && !known.has(name)) wanted.push({ name, ...(modified ? { modified } : {}) })
    if (both.length === 0) continue
    const [here, other] = await Promise.all([source.files(address, both), target.files(address, both)])
    for (const name of both) {
      const [mine, others] = [here.get(name), other.get(name)]
      if (!mine || !others || mine.equals(others)) continue
      const isBegun = address.kind === "team" && name === MESSAGES && mine.subarray(0, others.length).equals(others)
      if (address.kind === "team" && name === MESSAGES && others.subarray(0, mine.length).equals(mine)) return "further"
      if (isBegun || (dependsOnLines(address, name) && !hasSameLines)) wanted.push({ name, replaces: true })
      else if (!mayDiffer(address, name)) throw new ContentDiffersError(address, `"${name}"`)
    }
  }
  const hasMessages = wanted.some(({ name }) => name === MESSAGES)
  if (address.kind === "team" && hasMessages && !wanted.some(({ name }) => name === MEMBERS))
    return [...wanted, { name: MEMBERS, replaces: true }]
  return wanted
}

/** Files that belong to the newest lines of a journal, so they differ if it has more lines. */
const dependsOnLines = ({ kind }: ContentAddress, name: string) => kind === "journal" && !name.startsWith(BLOB)

/** Files that may have changed on the other side after an earlier move. They are left unchanged. */
const mayDiffer = ({ kind }: ContentAddress, name: string) =>
  name === CONSOLIDATED || name === DAYS || name === MEMBERS || (kind === "journal" && name === "checkpoint")

async function write({ source, target, content, there, signal, report }: ContentMove, files: readonly FileToWrite[]) {
  const { address, touched, lines: size } = content
  const time = touched === undefined ? {} : { touched }
  const wanted = new Map(files.map((file) => [file.name, file]))
  for (const batch of fileBatches({ ...content, files: content.files.filter(({ name }) => wanted.has(name)) })) {
    signal?.throwIfAborted()
    const found = await source.files(address, batch)
    const data = [...found].map(([name, bytes]) => ({ ...wanted.get(name)!, data: bytes }))
    await target.write(address, { files: data, ...time })
    for (const file of data) report.written += file.data.length
  }
  if (size === undefined) return
  let at = there?.lines ?? 0
  if (size === 0 && at === 0) await target.write(address, { lines: { at: 0, data: Buffer.alloc(0) }, ...time })
  while (at < size) {
    signal?.throwIfAborted()
    const bytes = await source.lines(address, at)
    if (bytes.length === 0) break
    const data = bytes.subarray(0, size - at)
    await target.write(address, { lines: { at, data }, ...time })
    at += data.length
    report.written += data.length
  }
}

/** Reads both sides again and compares them. `known` is the checksum of the lines, if both were just read. */
async function verify({ source, target, content, report }: ContentMove, known?: string): Promise<void> {
  const { address, lines: size = 0 } = content
  const name = contentName(address)
  if (size > 0) {
    const [sum, other] =
      known === undefined
        ? await Promise.all([source, target].map((one) => sumOfLines(one, address, size)))
        : [known, known]
    if (sum !== other) throw new ContentDiffersError(address, "a line")
    report.sums.push(`${name}\n${sum}`)
    report.verifiedBytes += size
  }
  for (const batch of fileBatches(content)) {
    const [here, other] = await Promise.all([source.files(address, batch), target.files(address, batch)])
    for (const [file, mine] of here) {
      const others = other.get(file)
      if (!others?.equals(mine)) {
        if (others && mayDiffer(address, file)) continue
        throw new ContentDiffersError(address, `"${file}"`)
      }
      report.sums.push(`${name}\n${file}\n${hash("sha256", mine, "hex")}`)
      report.verifiedBytes += mine.length
    }
  }
}
