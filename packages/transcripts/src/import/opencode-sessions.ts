/**
 * Lists the sessions of opencode: in its database since 1.2, before that in JSON files. They are read in the form that `opencode export`
 * would write. Nothing is written, not even the files that SQLite creates next to a database when opening it.
 */

import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { isSafeId } from "@strata/core/base"
import { asObject, getNumber, getObject, getString, type JsonObject } from "./json-access.ts"

export interface OpenCodeSession {
  readonly id: string
  /** The database, `#` and the id; or the path of the session's file. */
  readonly path: string
  readonly title?: string
  readonly directory: string
  /** Milliseconds since 1970. */
  readonly touched: number
  /** Id of the session that started this one as a sub-agent. */
  readonly parent?: string
  /** The session in the form that `opencode export` writes. */
  read(): string | undefined
}

const BUSY_MILLISECONDS = 500

const DATABASE = "opencode.db"

export function openCodeSessions(env: Readonly<Record<string, string | undefined>>): readonly OpenCodeSession[] {
  const directory = join(env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local", "share"), "opencode")
  const database = join(directory, DATABASE)
  const inDatabase = isFile(database) ? sessionsIn(database) : []
  const known = new Set(inDatabase.map(({ id }) => id))
  // versions that moved to the database did not delete the files
  return [...inDatabase, ...sessionFiles(join(directory, "storage")).filter(({ id }) => !known.has(id))]
}

/** Exports the session that a path of `openCodeSessions` names, as `opencode export` does. Returns `undefined` for other paths. */
export function openCodeExport(path: string): string | undefined {
  const [, database, id] = /^(.*opencode\.db)#([^#/]+)$/.exec(path) ?? []
  if (database !== undefined && id !== undefined) return isFile(database) ? exportFromDatabase(database, id) : undefined
  const [session, storage] = [dirname(dirname(path)), dirname(dirname(dirname(path)))]
  if (basename(session) !== "session" || basename(storage) !== "storage" || !isFile(path)) return undefined
  const info = parsed(textIn(path))
  const named = getString(info, "id")
  return named !== undefined && isSafeId(named) ? exportFromFiles(storage, { id: named, info }) : undefined
}

function sessionsIn(database: string): readonly OpenCodeSession[] {
  const rows = queryDatabase(database, (db) =>
    db.prepare("SELECT id, parent_id, directory, title, time_updated FROM session").all(),
  )
  return (rows ?? []).flatMap((row) =>
    describeSession(row, {
      touched: row.time_updated,
      parent: row.parent_id,
      at: (id) => `${database}#${id}`,
      read: (id) => exportFromDatabase(database, id),
    }),
  )
}

function exportFromDatabase(database: string, id: string): string | undefined {
  const [messages, parts, info] = queryDatabase(database, (db) => [
    db.prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id").all(id),
    db.prepare("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY time_created, id").all(id),
    db.prepare("SELECT id, title, directory FROM session WHERE id = ?").get(id),
  ]) ?? [[], [], undefined]
  if (!info) return undefined
  const ofMessage = Map.groupBy(parts, (part) => String(part.message_id))
  const withId = (row: JsonObject) => ({ ...parsed(String(row.data)), id: String(row.id) })
  return JSON.stringify({
    info,
    messages: messages.map((row) => ({ info: withId(row), parts: (ofMessage.get(String(row.id)) ?? []).map(withId) })),
  })
}

/** Runs a query. Returns `undefined` if the database has another schema or stays locked. */
function queryDatabase<T>(database: string, question: (db: DatabaseSync) => T): T | undefined {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // if no process has it open there is no write-ahead log, and SQLite would create one unless it is immutable
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
      describeSession(fields, {
        at: () => join(project, `${name}.json`),
        touched: getObject(fields, "time")?.updated,
        parent: fields.parentID,
        read: (id) => exportFromFiles(storage, { id, info: fields }),
      }),
    ),
  )
}

function exportFromFiles(storage: string, { id, info }: { readonly id: string; readonly info: JsonObject }): string {
  const messages = jsonIn(join(storage, "message", id)).map(({ name, fields }) => ({
    info: fields,
    parts: jsonIn(join(storage, "part", name)).map((part) => part.fields),
  }))
  return JSON.stringify({ info, messages })
}

interface SessionFacts {
  readonly touched: unknown
  readonly parent: unknown
  readonly at: (id: string) => string
  readonly read: (id: string) => string | undefined
}

function describeSession(fields: JsonObject, { touched, parent, at, read }: SessionFacts): readonly OpenCodeSession[] {
  const [id, directory, title] = ["id", "directory", "title"].map((name) => getString(fields, name))
  if (id === undefined || !isSafeId(id) || directory === undefined) return []
  return [
    {
      ...{ id, path: at(id), directory, touched: getNumber({ touched }, "touched") ?? 0, read: () => read(id) },
      ...(title === undefined ? {} : { title }),
      ...(typeof parent === "string" ? { parent } : {}),
    },
  ]
}

/** The JSON files of a folder in the order of their names, which is chronological. */
function jsonIn(folder: string): readonly { readonly name: string; readonly fields: JsonObject }[] {
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

function parsed(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text)) ?? {}
  } catch {
    return {}
  }
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
