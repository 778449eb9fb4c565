/** Synthetic transcripts in a temporary home directory, in the layout of each program. */
import { hash } from "node:crypto"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"

export const AT = "2026-01-02T03:04:05.000Z"

export interface Scratch {
  /** The home directory. */
  readonly home: string
  /** A project's directory. */
  readonly project: string
  readonly env: Record<string, string>
  /** Writes a file below the home directory, and returns its path. */
  write(path: string, content: string | readonly object[]): string
  remove(): void
}

export function scratch(): Scratch {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "strata-mcp-")))
  const [home, project] = [join(root, "home"), join(root, "project")]
  for (const directory of [home, project]) mkdirSync(directory)
  return {
    home,
    project,
    env: { HOME: home, STRATA_HOME: join(home, ".strata") },
    write(path, content) {
      const file = join(home, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === "string" ? content : lines(content))
      return file
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export const lines = (all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("")

export const claudePath = (project: string, id: string): string =>
  `.claude/projects/${project.replace(/[^A-Za-z0-9]/g, "-")}/${id}.jsonl`

/** The uuid of the message at a position of a conversation. */
export const uuidAt = (id: string, place: number): string =>
  `${id.slice(0, 24)}${id.slice(0, 4)}${`${place}`.padStart(8, "0")}`

type Turn = string | readonly object[]

/** Alternating turns of the user and the assistant, starting with the user. */
export function claudeLines(cwd: string, id: string, turns: readonly Turn[]): readonly object[] {
  return turns.map((content, place) => {
    const role = place % 2 === 0 ? "user" : "assistant"
    return {
      ...{ parentUuid: place === 0 ? null : uuidAt(id, place - 1), isSidechain: false, cwd, sessionId: id, type: role },
      message: {
        role,
        content: typeof content === "string" && role === "assistant" ? [{ type: "text", text: content }] : content,
        ...(role === "assistant" ? { id: `msg_${id.slice(0, 8)}_${place}`, model: "claude-opus-5-5" } : {}),
      },
      ...{ uuid: uuidAt(id, place), timestamp: AT },
    }
  })
}

export const codexLines = (cwd: string, id: string, text: string): readonly object[] => [
  { timestamp: AT, type: "session_meta", payload: { id, cwd } },
  {
    ...{ timestamp: AT, type: "response_item" },
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: text }] },
  },
  { timestamp: AT, type: "event_msg", payload: { type: "user_message", message: text } },
]

export const piLines = (cwd: string, id: string, text: string): readonly object[] => [
  { type: "session", version: 3, id, cwd, timestamp: AT },
  { id: "a", parentId: null, timestamp: AT, type: "message", message: { role: "user", content: text } },
]

export const geminiDocument = (cwd: string, id: string, text: string): string =>
  JSON.stringify(
    {
      ...{ sessionId: id, projectHash: hash("sha256", cwd, "hex"), startTime: AT },
      messages: [{ id: "a", timestamp: AT, type: "user", content: text }],
    },
    null,
    2,
  )

export const copilotLines = (cwd: string, id: string, text: string): readonly object[] => [
  event("session.start", { sessionId: id, context: { cwd } }),
  event("user.message", { content: text }),
]

const event = (type: string, data: object) => ({ type, data, id: type, parentId: null, timestamp: AT })

interface OpenCodeSession {
  readonly id: string
  readonly directory: string
  readonly text: string
  readonly parent?: string
}

/** The tables of opencode's database that hold conversations. */
export function openCodeDatabase(file: string, sessions: readonly OpenCodeSession[]): void {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
      title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
      data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
      time_updated integer NOT NULL, data text NOT NULL);`)
  const now = Date.parse(AT)
  for (const { id, directory, text, parent = null } of sessions) {
    db.prepare("INSERT INTO session VALUES (?, 'p', ?, 's', ?, 'A title', '1', ?, ?)").run(
      id,
      parent,
      directory,
      now,
      now,
    )
    const data = JSON.stringify({ role: "user", time: { created: now } })
    db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(`msg_${id}`, id, now, now, data)
    const part = JSON.stringify({ type: "text", text: text })
    db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(`prt_${id}`, `msg_${id}`, id, now, now, part)
  }
  db.close()
}
