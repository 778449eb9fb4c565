/**
 * The sessions of opencode: in its database since 1.2, before that in JSON files. They are read as the document that `opencode export` would
 * write. Nothing is written, not even the files that SQLite would leave beside a database that no one has open.
 */

import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { isSafeId } from "@strata/core/base"
import { asFields, type Fields, fieldsAt, numberAt, textAt } from "./foreign-json.ts"

export interface OpenCodeSession {
  readonly id: string
  /** The database, `#` and the id; or the session's file. */
  readonly path: string
  readonly title?: string
  readonly directory: string
  /** Milliseconds since 1970. */
  readonly touched: number
  /** The session that started it as a sub-agent. */
  readonly parent?: string
  /** As `opencode export` writes it. */
  read(): string | undefined
}

const BUSY_MILLISECONDS = 500

const DATABASE = "opencode.db"

export function openCodeSessions(env: Readonly<Record<string, string | undefined>>): readonly OpenCodeSession[] {
  const directory = join(env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local", "share"), "opencode")
  const database = join(directory, DATABASE)
  const inDatabase = isFile(database) ? sessionsIn(database) : []
  const known = new Set(inDatabase.map(({ id }) => id))
  // versions that moved to the database left the files
  return [...inDatabase, ...sessionFiles(join(directory, "storage")).filter(({ id }) => !known.has(id))]
}

/** The session that a path of `openCodeSessions` names, as `opencode export` writes it. `undefined`: it names none. */
export function openCodeExport(path: string): string | undefined {
  const [, database, id] = /^(.*opencode\.db)#([^#/]+)$/.exec(path) ?? []
  if (database !== undefined && id !== undefined) return isFile(database) ? exported(database, id) : undefined
  const [session, storage] = [dirname(dirname(path)), dirname(dirname(dirname(path)))]
  if (basename(session) !== "session" || basename(storage) !== "storage" || !isFile(path)) return undefined
  const info = parsed(textIn(path))
  const named = textAt(info, "id")
  return named !== undefined && isSafeId(named) ? exportedFiles(storage, { id: named, info }) : undefined
}

function sessionsIn(database: string): readonly OpenCodeSession[] {
  const rows = asked(database, (db) =>
    db.prepare("SELECT id, parent_id, directory, title, time_updated FROM session").all(),
  )
  return (rows ?? []).flatMap((row) =>
    session(row, {
      touched: row.time_updated,
      parent: row.parent_id,
      at: (id) => `${database}#${id}`,
      read: (id) => exported(database, id),
    }),
  )
}

function exported(database: string, id: string): string | undefined {
  const [messages, parts, info] = asked(database, (db) => [
    db.prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id").all(id),
    db.prepare("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY time_created, id").all(id),
    db.prepare("SELECT id, title, directory FROM session WHERE id = ?").get(id),
  ]) ?? [[], [], undefined]
  if (!info) return undefined
  const ofMessage = Map.groupBy(parts, (part) => String(part.message_id))
  const withId = (row: Fields) => ({ ...parsed(String(row.data)), id: String(row.id) })
  return JSON.stringify({
    info,
    messages: messages.map((row) => ({ info: withId(row), parts: (ofMessage.get(String(row.id)) ?? []).map(withId) })),
  })
}

/** A database that another version made, or that is locked for long, has nothing to say. */
function asked<T>(database: string, question: (db: DatabaseSync) => T): T | undefined {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // where no one has it open there is no log to read, and SQLite would make one
  const url = pathToFileURL(database)
  if ((statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) url.searchParams.set("immutable", "1")
  try {
    const db = new DatabaseSync(url, { readOnly: true, timeout: BUSY_MILLISECONDS })
    try {
      return question(db)
    } finally {
      db.close()
    }
  } catch {
    return undefined
  }
}

function sessionFiles(storage: string): readonly OpenCodeSession[] {
  return foldersIn(join(storage, "session")).flatMap((project) =>
    jsonIn(project).flatMap(({ name, fields }) =>
      session(fields, {
        at: () => join(project, `${name}.json`),
        touched: fieldsAt(fields, "time")?.updated,
        parent: fields.parentID,
        read: (id) => exportedFiles(storage, { id, info: fields }),
      }),
    ),
  )
}

function exportedFiles(storage: string, { id, info }: { readonly id: string; readonly info: Fields }): string {
  const messages = jsonIn(join(storage, "message", id)).map(({ name, fields }) => ({
    info: fields,
    parts: jsonIn(join(storage, "part", name)).map((part) => part.fields),
  }))
  return JSON.stringify({ info, messages })
}

interface Found {
  readonly touched: unknown
  readonly parent: unknown
  readonly at: (id: string) => string
  readonly read: (id: string) => string | undefined
}

function session(fields: Fields, { touched, parent, at, read }: Found): readonly OpenCodeSession[] {
  const [id, directory, title] = ["id", "directory", "title"].map((name) => textAt(fields, name))
  if (id === undefined || !isSafeId(id) || directory === undefined) return []
  return [
    {
      ...{ id, path: at(id), directory, touched: numberAt({ touched }, "touched") ?? 0, read: () => read(id) },
      ...(title === undefined ? {} : { title }),
      ...(typeof parent === "string" ? { parent } : {}),
    },
  ]
}

/** The JSON files of a folder, in the order of their names, which is that of their times. */
function jsonIn(folder: string): readonly { readonly name: string; readonly fields: Fields }[] {
  return entriesIn(folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map(({ name }) => ({ name: basename(name, ".json"), fields: parsed(textIn(join(folder, name))) }))
    .filter(({ name }) => isSafeId(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const foldersIn = (folder: string): readonly string[] =>
  entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? join(folder, entry.name) : []))

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function parsed(text: string): Fields {
  try {
    return asFields(JSON.parse(text)) ?? {}
  } catch {
    return {}
  }
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
