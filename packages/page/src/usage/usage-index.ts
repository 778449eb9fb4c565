/**
 * The index over all conversations of this machine: the files read and their state, the cost of each conversation, and its searchable text.
 * One SQLite file, readable by its owner only. A damaged file, or one of another version, is rebuilt. Several processes may use it.
 */
import { hash } from "node:crypto"
import { closeSync, mkdirSync, openSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { isBusy, isDamage, isFromSqlite, removeDatabase, SqliteIndexFile } from "@strata/core/recall"
import { DIRECTORY_MODE, FILE_MODE } from "@strata/core/store"
import type { FoundTranscript } from "@strata/transcripts"
import { createDigest, type Digest } from "./digest.ts"
import type { RecordedUsage } from "./recorded-usage.ts"
import type { UsageRow } from "./report-data.ts"
import { drawFor } from "./sample.ts"
import type { SearchableText } from "./searchable-texts.ts"
import { INDEX_SHAPE } from "./tables.ts"

export type FilePlace = "home" | "dir"

/** A file in the index. */
export interface KnownFile {
  readonly id: number
  readonly place: FilePlace
  readonly size: number
  readonly modified: number
  readonly inode: number
}

/** Result of reading a file. */
export type ReadFile =
  | { readonly kind: "read"; readonly conversations: readonly IndexedConversation[] }
  | { readonly kind: "problem"; readonly reason: string }

export interface IndexedConversation {
  readonly recorded: RecordedUsage
  readonly texts: readonly SearchableText[]
}

export interface LocatedFile extends FoundTranscript {
  readonly place: FilePlace
}

/** The files that a query covers. */
export interface IndexScope {
  /** Whether to include the usual directories of programs. */
  readonly home: boolean
  /** Directories to include with their subdirectories. */
  readonly dirs: readonly string[]
}

/** An index and the files to query in it. */
export interface ScopedIndex {
  readonly index: UsageIndex
  readonly scope: IndexScope
}

/**
 * Path of the index. Each store has a separate one, so that no tenant's texts are in an index that another reads. The password is not part
 * of the name.
 */
export function indexPath(root: string, store = ""): string {
  const address = store.trim().replace(/(:\/\/[^:@/]*):[^@]*@/, "$1@")
  const digits = address === "" ? "" : `-${hash("sha256", address, "hex").slice(0, 16)}`
  return join(root, "look", `index${digits}.sqlite`)
}

export class UsageIndex {
  readonly #path: string
  #db: SqliteIndexFile

  constructor(path: string) {
    this.#path = path
    this.#db = openIndexFile(path)
  }

  get db(): SqliteIndexFile {
    return this.#db
  }

  close(): void {
    this.#db.close()
  }

  /** Rebuilds the file if the error shows that it is damaged. Returns whether it was. */
  rebuildIfDamaged(error: unknown): boolean {
    if (!isFromSqlite(error) || !isDamage(error)) return false
    this.#db.close()
    removeDatabase(this.#path)
    this.#db = openIndexFile(this.#path)
    return true
  }

  /** Known files by path. */
  files({ home, dirs }: IndexScope): ReadonlyMap<string, KnownFile> {
    const { where, values } = scopeCondition({ home, dirs })
    const rows = this.#db
      .statement(`SELECT id, path, place, size, modified, inode FROM file WHERE ${where}`)
      .all(...values)
    return new Map(rows.map(({ path, ...row }) => [String(path), row as unknown as KnownFile]))
  }

  /** Paths of files in the usual directories of programs. */
  homePaths(): readonly string[] {
    return this.#db
      .statement("SELECT path FROM file WHERE place = 'home'")
      .all()
      .map(({ path }) => String(path))
  }

  /**
   * Uses a larger cache for storing many files. With the default of 2 MB, almost every response is looked up and written on disk, and the
   * log is copied into the file each time.
   */
  async inBulk<T>(work: () => Promise<T>): Promise<T> {
    this.#pragmas("cache_size = -65536", "wal_autocheckpoint = 8000")
    try {
      return await work()
    } finally {
      this.#pragmas("cache_size = -2000", "wal_autocheckpoint = 1000", "shrink_memory")
    }
  }

  #pragmas(...settings: readonly string[]): void {
    for (const setting of settings) this.#db.statement(`PRAGMA ${setting}`).all()
  }

  /** Stores the results of reading files, replacing earlier ones. */
  store(files: readonly { readonly file: LocatedFile; readonly read: ReadFile }[]): void {
    this.#db.inTransaction(() => {
      for (const { file, read } of files) this.#store(file, read)
    })
  }

  #store(file: LocatedFile, read: ReadFile): void {
    const known = this.#db.statement("SELECT id, place FROM file WHERE path = ?").get(file.path)
    const replays = known ? this.#replaysOf(Number(known.id)) : []
    if (known) this.#forget(Number(known.id))
    const place = known?.place === "home" ? "home" : file.place
    const { lastInsertRowid } = this.#db
      .statement(
        "INSERT INTO file (path, place, program, size, modified, inode, problem, damaged) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(
        ...[file.path, place, file.program, file.size, file.modifiedMs, file.inode],
        read.kind === "problem" ? read.reason : null,
        read.kind === "problem" ? 0 : sum(read.conversations.map(({ recorded }) => recorded.damaged)),
      )
    if (read.kind === "problem") return
    for (const one of read.conversations) this.#add(Number(lastInsertRowid), one)
    for (const { name, ...replay } of replays)
      this.#db
        .statement(
          `UPDATE conversation SET replay = 'old', ${REPLAY_METRICS.map((column) => `${column} = ?`).join(", ")} WHERE file = ? AND name = ?`,
        )
        .run(...REPLAY_METRICS.map((column) => replay[column]!), Number(lastInsertRowid), name!)
  }

  /** A growing conversation saves about the same share, so its last replay remains valid until there is a new one. */
  #replaysOf(file: number): readonly Record<string, string | number>[] {
    return this.#db
      .statement(
        `SELECT name, ${REPLAY_METRICS.join(", ")} FROM conversation WHERE file = ? AND replay IN ('done', 'old')`,
      )
      .all(file) as Record<string, string | number>[]
  }

  remove(files: readonly number[]): void {
    this.#db.inTransaction(() => {
      for (const file of files) this.#forget(file)
    })
  }

  /** Records that files were found in the usual directory of a program. */
  moveHome(files: readonly number[]): void {
    this.#db.inTransaction(() => {
      for (const file of files) this.#db.statement("UPDATE file SET place = 'home' WHERE id = ?").run(file)
    })
  }

  recorded(conversation: number): RecordedUsage | undefined {
    const row = this.#db.statement("SELECT recorded FROM conversation WHERE id = ?").get(conversation)
    return row && (JSON.parse(inflateRawSync(row.recorded as Uint8Array).toString()) as RecordedUsage)
  }

  /** Reads a note, such as that a hint was already shown. */
  readNote(name: string): string | undefined {
    const row = this.#db.statement("SELECT value FROM noted WHERE name = ?").get(name)
    return row && String(row.value)
  }

  writeNote(name: string, value: string): void {
    this.#db.statement("INSERT OR REPLACE INTO noted (name, value) VALUES (?, ?)").run(name, value)
  }

  #add(file: number, { recorded, texts }: IndexedConversation): void {
    const figures = conversationMetrics(createDigest(recorded), recorded)
    const { format, id, project, title, model, from, to, turns, peak, responses } = recorded
    const { lastInsertRowid } = this.#db
      .statement(INSERT)
      .run(
        ...[file, id, format, project ?? null, title ?? null, model ?? null, from ?? null, to ?? null, turns, peak],
        deflateRawSync(JSON.stringify(recorded), { level: 3 }),
        drawFor(id),
        ...METRICS.map((name) => figures[name]),
      )
    const conversation = Number(lastInsertRowid)
    const rows = texts.map(({ at = "", who, text }) =>
      Number(
        this.#db
          .statement("INSERT INTO said (text, conversation, at, who) VALUES (?, ?, ?, ?)")
          .run(text, conversation, at, who).lastInsertRowid,
      ),
    )
    this.#db
      .statement("UPDATE conversation SET said_from = ?, said_to = ? WHERE id = ?")
      .run(rows[0] ?? 0, rows.at(-1) ?? -1, conversation)
    const see = this.#db.statement("INSERT OR IGNORE INTO seen (key, conversation) VALUES (?, ?)")
    const others = this.#db.statement("SELECT conversation FROM seen WHERE key = ? AND conversation <> ?")
    const sharing = new Set<number>()
    for (const { key } of responses) {
      const at = Number.parseInt(key, 16)
      see.run(at, conversation)
      for (const other of others.all(at, conversation)) sharing.add(Number(other.conversation))
    }
    if (sharing.size > 0)
      for (const id of [conversation, ...sharing])
        this.#db.statement("UPDATE conversation SET unsettled = 1 WHERE id = ?").run(id)
  }

  #forget(file: number): void {
    const rows = this.#db
      .statement("SELECT id, said_from AS first_text, said_to AS last_text FROM conversation WHERE file = ?")
      .all(file)
    for (const { id, first_text: firstText, last_text: lastText } of rows) {
      for (const { key } of this.recorded(Number(id))?.responses ?? []) {
        const at = Number.parseInt(key, 16)
        this.#db.statement("DELETE FROM seen WHERE key = ? AND conversation = ?").run(at, Number(id))
        this.#db
          .statement("UPDATE conversation SET unsettled = 1 WHERE id IN (SELECT conversation FROM seen WHERE key = ?)")
          .run(at)
      }
      this.#db.statement("DELETE FROM said WHERE rowid BETWEEN ? AND ?").run(Number(firstText), Number(lastText))
      this.#db.statement("DELETE FROM conversation WHERE id = ?").run(Number(id))
    }
    this.#db.statement("DELETE FROM file WHERE id = ?").run(file)
  }
}

function openIndexFile(path: string): SqliteIndexFile {
  mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  closeSync(openSync(path, "a", FILE_MODE)) // SQLite creates its own files with the same mode
  try {
    return new SqliteIndexFile(path, INDEX_SHAPE)
  } catch (error) {
    if (!isFromSqlite(error) || !isDamage(error)) throw error
    removeDatabase(path)
    closeSync(openSync(path, "a", FILE_MODE))
    return new SqliteIndexFile(path, INDEX_SHAPE)
  }
}

/** Columns that change if another file turns out to contain the same responses. */
export const METRICS = [
  ...(["compactions", "agents", "dollars", "cost", "estimated", "lost", "lost_dollars"] as const),
  ...(["needed", "in_view", "repeated", "replayable", "digest"] as const),
] as const

/** Columns with results of a replay. */
export const REPLAY_METRICS = [
  ...(["replay_recorded", "replay_strata"] as const),
  ...(["replay_compactions", "replay_names", "replay_kept", "replay_strata_kept"] as const),
] as const

const INSERT = `INSERT INTO conversation
  (file, name, program, project, title, model, first, last, turns, peak, recorded, draw, said_from, said_to, unsettled, ${METRICS.join(", ")})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, -1, 0, ${METRICS.map(() => "?").join(", ")})`

type ConversationMetrics = Readonly<Record<(typeof METRICS)[number], string | number>>

export function conversationMetrics(
  digest: Digest,
  recorded: Pick<RecordedUsage, "isLowerBound">,
): ConversationMetrics {
  const { spent, lost, compactions, agents, repeated } = digest
  return {
    compactions: compactions.length,
    agents: sum(agents.map(({ count }) => count)),
    dollars: sum(spent.map((line) => line.dollars)),
    cost: classifyCost(digest, recorded),
    estimated: sum(spent.map((line) => line.estimated)),
    lost: sum(lost.map(({ count }) => count)),
    lost_dollars: sum(lost.map((one) => one.dollars)),
    needed: sum(compactions.map((one) => one.needed)),
    in_view: sum(compactions.map(({ inView }) => inView)),
    repeated: repeated.responses,
    replayable: sum(spent.map((line) => (REPLAYED_PURPOSES.has(line.purpose) ? line.dollars : 0))),
    digest: JSON.stringify(digest),
  }
}

const REPLAYED_PURPOSES: ReadonlySet<string> = new Set(["main", "compaction", "by-hand"])

function classifyCost(
  { spent, isSimulated }: Digest,
  { isLowerBound }: Pick<RecordedUsage, "isLowerBound">,
): UsageRow["cost"] {
  const requests = sum(spent.map((line) => line.requests))
  const unpriced = sum(spent.map((line) => line.unpriced))
  if (isSimulated) return "simulated"
  if (requests === 0) return "none"
  if (unpriced === requests) return "unknown"
  return unpriced > 0 ? "partly-unknown" : isLowerBound ? "lower-bound" : "known"
}

/** SQL condition on the table `file`. */
export function scopeCondition({ home, dirs }: IndexScope): {
  readonly where: string
  readonly values: readonly string[]
} {
  const below = dirs.map(() => "(path >= ? AND path < ?)")
  const parts = [...(home ? ["place = 'home'"] : []), ...below]
  // "0" is the character after the separator "/"
  return {
    where: parts.length === 0 ? "0" : `(${parts.join(" OR ")})`,
    values: dirs.flatMap((dir) => [`${dir}/`, `${dir}0`]),
  }
}

const MAX_TRIES = 50
const PAUSE_MS = 100

/** Retries while another process is writing. It writes one file at a time, so waits are short. */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || tries === MAX_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
