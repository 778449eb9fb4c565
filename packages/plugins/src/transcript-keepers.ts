/** Where each program keeps the transcripts of its conversations. Links inside these directories are not followed. */
import { lstat, readdir } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import type { Environment } from "./clients.ts"

export const PROGRAMS = ["claude-code", "codex", "pi", "opencode", "gemini", "copilot"] as const
/** A program whose transcripts are read where they are. */
export type Program = (typeof PROGRAMS)[number]

export interface TranscriptFile {
  readonly program: Exclude<Program, "opencode">
  readonly path: string
  /** As far as the name tells it. */
  readonly id: string
  readonly bytes: number
  /** When it was last written, in milliseconds since 1970. */
  readonly touched: number
}

interface Keeper {
  readonly program: TranscriptFile["program"]
  readonly root: (env: Environment, home: string) => string
  /** Below the root, folder by folder. */
  readonly patterns: readonly (readonly RegExp[])[]
}

const ANY = /^[^.]/
const LINES = /\.jsonl$/

const KEEPERS: readonly Keeper[] = [
  {
    program: "claude-code",
    root: (env, home) => join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "projects"),
    patterns: [[ANY, /^(?!agent-).*\.jsonl$/]], // those of sub-agents are read with their conversation
  },
  {
    program: "codex",
    root: (env, home) => env.CODEX_HOME || join(home, ".codex"),
    patterns: [
      [/^sessions$/, /^\d+$/, /^\d+$/, /^\d+$/, LINES],
      [/^archived_sessions$/, LINES],
    ],
  },
  {
    program: "pi",
    root: (env, home) => join(env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), "sessions"),
    patterns: [[ANY, LINES]],
  },
  {
    program: "gemini",
    root: (env, home) => join(env.GEMINI_CLI_HOME || home, ".gemini", "tmp"),
    patterns: [[ANY, /^chats$/, /^session-.*\.jsonl?$/]],
  },
  {
    program: "copilot",
    root: (env, home) => join(env.COPILOT_HOME || join(home, ".copilot"), "session-state"),
    patterns: [[ANY, /^events\.jsonl$/], [LINES]],
  },
]

export const homeIn = (env: Environment): string => env.HOME || homedir()

/** Every transcript that is a file, in no order. */
export async function transcriptFiles(env: Environment): Promise<readonly TranscriptFile[]> {
  const found = KEEPERS.map(async ({ program, root, patterns }) => {
    const start = root(env, homeIn(env))
    const paths = (await Promise.all(patterns.map((pattern) => filesBelow(start, pattern)))).flat()
    return Promise.all(paths.map((path) => factsOf(program, path)))
  })
  return (await Promise.all(found)).flat(2)
}

async function filesBelow(directory: string, [first, ...rest]: readonly RegExp[]): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const fitting = entries.filter(({ name }) => first!.test(name))
  if (rest.length === 0) return fitting.filter((entry) => entry.isFile()).map(({ name }) => join(directory, name))
  const folders = fitting.filter((entry) => entry.isDirectory())
  return (await Promise.all(folders.map(({ name }) => filesBelow(join(directory, name), rest)))).flat()
}

async function factsOf(program: TranscriptFile["program"], path: string): Promise<readonly TranscriptFile[]> {
  const facts = await lstat(path).catch(() => undefined) // it may be deleted since
  return facts?.isFile() ? [{ program, path, id: idIn(path), bytes: facts.size, touched: facts.mtimeMs }] : []
}

/** Names end with the session's id, or with its first digits; Copilot names the folder by it. */
function idIn(path: string): string {
  const name = basename(path).replace(/\.jsonl?$/, "")
  const named = name === "events" ? basename(dirname(path)) : name
  return /(?:^|[_-])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})$/i.exec(named)?.[1] ?? named
}
