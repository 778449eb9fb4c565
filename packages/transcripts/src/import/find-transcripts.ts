/**
 * Finds the transcripts that other programs store on this machine. Links are not followed, and nothing is written. Files of sub-agents are
 * not listed: they are read with their conversation.
 */
import { lstatSync } from "node:fs"
import { readdir, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, join, resolve, sep } from "node:path"
import { type CooperativeTask, isLocalNamespace, runCooperatively } from "@strata/core/base"
import type { Store } from "@strata/core/store"
import { PROJECTS, storeFrom, storeUri, strataDirectory } from "@strata/core/store"
import { openCodeSessions } from "./opencode-sessions.ts"

export const PROGRAMS = ["claude-code", "codex", "pi", "opencode", "gemini", "copilot"] as const
/** A program whose transcripts can be read where it stores them. */
export type TranscriptProgram = (typeof PROGRAMS)[number]

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

export interface TranscriptFile {
  readonly program: Exclude<TranscriptProgram, "opencode">
  readonly path: string
  /** Session id, as far as the file name contains it. */
  readonly id: string
  readonly bytes: number
  /** Time of the last write, in milliseconds since 1970. */
  readonly touched: number
  readonly inode: number
}

/** A transcript on this machine. */
export interface FoundTranscript {
  /** `strata`: a Strata journal. `other`: found in one of `dirs`; its format is known once it is read. */
  readonly program: TranscriptProgram | "strata" | "other"
  /**
   * Path for `readTranscripts`. For a session in a database of opencode: the database, then `#` and the session. For a conversation in a
   * Strata store: `store:`, its project and its id.
   */
  readonly path: string
  /** Size in bytes. 0 for a session in a database. */
  readonly size: number
  readonly modifiedMs: number
  /** Inode number of the file. 0 for a session in a database, in a store, and for an archived copy. */
  readonly inode: number
  /** Id of the session that started this one as a sub-agent, for programs that store both in the same way. */
  readonly parent?: string
}

/** Options for finding transcripts. */
export interface FindTranscripts {
  /** The user's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** Default: the process's environment. */
  readonly env?: Environment
  /** More directories to search, with transcripts of any format at any depth. */
  readonly dirs?: readonly string[]
  /** Searches only `dirs`. */
  readonly onlyDirs?: boolean
  /** The store of Strata conversations. Default: the one that `STRATA_STORE` names, else files. */
  readonly store?: Store
}

interface TranscriptLocation {
  readonly program: TranscriptFile["program"]
  readonly roots: (env: Environment, home: string) => readonly string[]
  /** Patterns of names below the root, one per folder level. */
  readonly patterns: readonly (readonly RegExp[])[]
}

const ANY = /^[^.]/
const LINES = /\.jsonl$/

const LOCATIONS: readonly TranscriptLocation[] = [
  {
    program: "claude-code",
    roots: (env, home) =>
      (env.CLAUDE_CONFIG_DIR
        ? [env.CLAUDE_CONFIG_DIR]
        : [join(home, ".claude"), join(env.XDG_CONFIG_HOME || join(home, ".config"), "claude")]
      ).map((root) => join(root, "projects")),
    patterns: [[ANY, /^(?!agent-).*\.jsonl$/]], // files of sub-agents are read with their conversation
  },
  {
    program: "codex",
    roots: (env, home) => [env.CODEX_HOME || join(home, ".codex")],
    patterns: [
      [/^sessions$/, /^\d+$/, /^\d+$/, /^\d+$/, LINES],
      [/^archived_sessions$/, LINES],
    ],
  },
  {
    program: "pi",
    roots: (env, home) => [
      env.PI_CODING_AGENT_SESSION_DIR || join(env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), "sessions"),
    ],
    patterns: [[ANY, LINES], [LINES]],
  },
  {
    program: "gemini",
    roots: (env, home) => [join(env.GEMINI_CLI_HOME || home, ".gemini", "tmp")],
    patterns: [[ANY, /^chats$/, /^session-.*\.jsonl?$/]],
  },
  {
    program: "copilot",
    roots: (env, home) => [join(env.COPILOT_HOME || join(home, ".copilot"), "session-state")],
    patterns: [[ANY, /^events\.jsonl$/], [LINES]],
  },
]

export const homeIn = (env: Environment): string => env.HOME || homedir()

/** Every transcript file of another program, in no particular order. */
export async function transcriptFiles(env: Environment, home = homeIn(env)): Promise<readonly TranscriptFile[]> {
  const found = LOCATIONS.map(async ({ program, roots, patterns }) => {
    const starts = [...new Set(roots(env, home).map((root) => resolve(root)))]
    const searches = starts.flatMap((start) => patterns.map((pattern) => filesBelow(start, pattern)))
    return factsOfAll((await Promise.all(searches)).flat(), (path, { size, mtimeMs, ino }) => [
      { program, path, id: idIn(path), bytes: size, touched: mtimeMs, inode: ino },
    ])
  })
  return (await Promise.all(found)).flat()
}

/** Whether a file is where an agent stores this user's own sessions. Other files are not trusted to name their directory. */
export async function isLocalSession(file: string, env: Environment): Promise<boolean> {
  const home = env.HOME ?? homedir()
  const path = await realpath(file).catch(() => resolve(file))
  const roots = LOCATIONS.flatMap((keeper) => keeper.roots(env, home))
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => resolve(root))))
  return real.some((root) => path.startsWith(`${root}${sep}`))
}

/** The transcripts on this machine, newest first: those of other programs, the local user's own, and those in `dirs`. */
export async function findTranscripts({
  env = process.env,
  home = homeIn(env),
  dirs = [],
  onlyDirs = false,
  store,
}: FindTranscripts = {}): Promise<readonly FoundTranscript[]> {
  const usual = onlyDirs ? [] : [otherPrograms(env, home), strataJournals({ env, home, store })]
  const found = await Promise.all([...usual, ...dirs.map((directory) => transcriptsBelow(directory))])
  const byPath = new Map(
    found
      .flat()
      .toReversed()
      .map((one) => [one.path, one]),
  )
  return [...byPath.values()].sort(newest)
}

const newest = (a: FoundTranscript, b: FoundTranscript): number =>
  b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1)

/** The transcripts of other programs only, newest first. */
export const externalTranscripts = async ({
  env = process.env,
  home = homeIn(env),
}: Pick<FindTranscripts, "env" | "home">): Promise<readonly FoundTranscript[]> =>
  (await otherPrograms(env, home)).toSorted(newest)

async function otherPrograms(env: Environment, home: string): Promise<readonly FoundTranscript[]> {
  const files = await transcriptFiles(env, home)
  return [
    ...files.map(({ program, path, bytes, touched, inode }) => ({
      program,
      path,
      size: bytes,
      modifiedMs: touched,
      inode,
    })),
    ...openCodeSessions({ ...env, HOME: home }).map(({ path, touched, parent }) => ({
      ...{ program: "opencode" as const, path, size: 0, modifiedMs: touched, inode: 0 },
      ...(parent === undefined ? {} : { parent }),
    })),
  ]
}

interface JournalLocation {
  readonly env: Environment
  readonly home: string
  readonly store: Store | undefined
}

/** The local user's journals. Reports never include another owner's. */
async function strataJournals({ env, home, store }: JournalLocation): Promise<readonly FoundTranscript[]> {
  const root = env.STRATA_HOME ? strataDirectory(env) : join(home, ".strata")
  const named = store ?? (env.STRATA_STORE?.trim() ? storeFrom({ dir: root, env }) : undefined)
  if (named) return storedJournals(named)
  const paths = await filesBelow(join(root, PROJECTS), [ANY, LINES])
  return factsOfAll(
    paths.filter((path) => isLocalNamespace(basename(dirname(path)))),
    (path, { size, mtimeMs, ino }) => [{ program: "strata" as const, path, size, modifiedMs: mtimeMs, inode: ino }],
  )
}

async function storedJournals(store: Store): Promise<readonly FoundTranscript[]> {
  const projects = (await store.projects()).filter(isLocalNamespace)
  const listed = projects.map(async (project) =>
    (await store.list(project, { isBare: true })).map(({ id, bytes, touched }) => ({
      ...{ program: "strata" as const, path: storeUri({ project, id }) },
      ...{ size: bytes, modifiedMs: Date.parse(touched), inode: 0 },
    })),
  )
  return (await Promise.all(listed)).flat()
}

const MAX_DEPTH = 12 // folder levels below a directory that the user names
const MAX_FILES = 200_000
const TRANSCRIPT = /\.(?:jsonl|json|traj)$/
/** Folders that hold parts of a conversation, or that nobody stores transcripts in. */
const SKIPPED = new Set(["subagents", "tool-results", "node_modules", ".git"])

/** Lists all files in a directory that may be transcripts. Reading them shows their format. */
async function transcriptsBelow(directory: string): Promise<readonly FoundTranscript[]> {
  const paths: string[] = []
  let level = [resolve(directory)]
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && paths.length < MAX_FILES; depth++) {
    const folders: string[] = []
    for (const folder of level) {
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name)
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path)
        else if (entry.isFile() && TRANSCRIPT.test(entry.name) && !entry.name.startsWith("agent-")) paths.push(path)
      }
    }
    level = folders
  }
  return factsOfAll(paths.slice(0, MAX_FILES), (path, { size, mtimeMs, ino }) => [
    { program: "other" as const, path, size, modifiedMs: mtimeMs, inode: ino },
  ])
}

async function filesBelow(directory: string, [first, ...rest]: readonly RegExp[]): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const fitting = entries.filter(({ name }) => first!.test(name))
  if (rest.length === 0) return fitting.filter((entry) => entry.isFile()).map(({ name }) => join(directory, name))
  const folders = fitting.filter((entry) => entry.isDirectory())
  return (await Promise.all(folders.map(({ name }) => filesBelow(join(directory, name), rest)))).flat()
}

interface Facts {
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
}

type UseFacts<T> = (path: string, facts: Facts) => readonly T[]

/** Runs in this thread, in slices: querying 10,000 files through the thread pool takes ten times as long. */
const factsOfAll = <T>(paths: readonly string[], use: UseFacts<T>) => runCooperatively(factsInSteps(paths, use))

/** Skips files that were deleted or replaced since their folder was read. */
function* factsInSteps<T>(paths: readonly string[], use: UseFacts<T>): CooperativeTask<readonly T[]> {
  const all: T[] = []
  for (const path of paths) {
    yield
    const facts = factsOf(path)
    if (facts?.isFile()) all.push(...use(path, facts))
  }
  return all
}

function factsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // its folder may be unreadable
  }
}

/** Extracts the session id. File names end with the id or its first digits; Copilot uses it as the name of the folder. */
function idIn(path: string): string {
  const name = basename(path).replace(/\.jsonl?$/, "")
  const named = name === "events" ? basename(dirname(path)) : name
  return /(?:^|[_-])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})$/i.exec(named)?.[1] ?? named
}
