/** Everything that a file store contains, for moving, erasing and retention. */
import { appendFile, readdir, readFile, rm, stat, truncate } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Clock } from "../../../base/clock.ts"
import { isSafeId } from "../../../base/clock.ts"
import {
  type ContentAddress,
  ContentDiffersError,
  type Contents,
  type ContentWrite,
  MESSAGES,
  type StoredItem,
  type StoredNamespace,
} from "../../contents.ts"
import { pruneTotals, SPENT, totalsFile, writeTotals } from "../../daily-totals.ts"
import { encodeTeam } from "../../team-content.ts"
import { findLocks } from "../find-locks.ts"
import { listJournalIds } from "../journal-ids.ts"
import {
  FILE_MODE,
  journalDirectory,
  journalPaths,
  logPath,
  memoryDirectory,
  PROJECTS,
  projectDirectory,
  teamDirectory,
} from "../layout.ts"
import { makeDirectory } from "../make-directory.ts"
import { memoryDirectory as memoriesIn } from "../memory-directory.ts"
import { removeEmptyDirectory } from "./empty-directory.ts"
import { eraseJournal, journalContent, journalFile, journalLines, writeJournal } from "./journal-files.ts"
import { eraseMemory, memoryContent, memoryFile, writeMemory } from "./memory-files.ts"
import {
  eraseMessages,
  isTeamOpen,
  pruneTeam,
  readTeam,
  removeOrphanedDrafts,
  withTeamLock,
  writeTeam,
} from "./team-files.ts"

export interface FileContentsOptions {
  readonly root: string
  readonly clock: Clock
}

export function fileContents({ root, clock }: FileContentsOptions): Contents {
  const now = () => clock.now().toISOString()
  const memory = (namespace: StoredNamespace) => ({ root, namespace, clock })
  const memoryOf = (project: string) => memoriesIn({ clock, directory: memoryDirectory(root, project) })

  async function* list({ project: only }: { readonly project?: string } = {}): AsyncGenerator<StoredItem> {
    const projects = only === undefined ? await namesIn(join(root, PROJECTS)) : [only]
    for (const project of projects) yield* inProject(project)
    const logs = only === undefined ? await namesIn(join(root, "callers"), ".jsonl") : [only]
    for (const project of logs) yield* asked({ kind: "log", project, name: "callers" })
    if (only !== undefined) return
    for (const agent of await namesIn(join(root, "agent-memory"))) yield* memoriesOf({ agent, scope: "user" })
    yield* memoriesOf({ shared: true })
  }

  async function* inProject(project: string): AsyncGenerator<StoredItem> {
    const directory = projectDirectory(root, project)
    const owners = [undefined, ...(await namesIn(directory))]
    for (const under of owners) {
      const namespace = under === undefined ? { project } : { project, under }
      for (const id of (await listJournalIds(journalDirectory(root, namespace))).toSorted())
        yield* await journalContent(root, { ...namespace, id }).then((content) => (content ? [content] : []))
    }
    for (const collection of [undefined, "dreams", "directories"] as const)
      yield* memoriesOf(collection === undefined ? { project } : { project, collection })
    for (const agent of await namesIn(join(directory, "agent-memory")))
      yield* memoriesOf({ agent, scope: "local", project })
    for (const team of await namesIn(join(directory, "teams"))) yield* asked({ kind: "team", project, team })
    yield* asked({ kind: "sums", project })
  }

  async function* memoriesOf(namespace: StoredNamespace): AsyncGenerator<StoredItem> {
    const content = await memoryContent(memory(namespace))
    if (content) yield content
  }

  /** An item whose existence is known only after reading it. */
  async function* asked(
    address: Extract<ContentAddress, { kind: "log" | "team" | "sums" }>,
  ): AsyncGenerator<StoredItem> {
    if (address.kind === "log") {
      const facts = await stat(logPath(root, address)).catch(() => undefined)
      if (!facts?.isFile()) return
      yield { address, lines: await logEnd(logPath(root, address)), files: [], touched: facts.mtime.toISOString() }
      return
    }
    const texts = await textsOf(address)
    if (texts.size === 0) {
      if (address.kind === "team") await removeOrphanedDrafts(teamDirectory(root, address), now())
      return
    }
    const files = [...texts].map(([name, { length: bytes }]) => ({ name, bytes }))
    const isOpen = address.kind === "team" && (await isTeamOpen(teamDirectory(root, address)))
    yield { address, files, ...(isOpen ? { isOpen } : {}) }
  }

  async function textsOf(
    address: Extract<ContentAddress, { kind: "team" | "sums" }>,
  ): Promise<ReadonlyMap<string, Buffer>> {
    if (address.kind === "team") {
      const team = await readTeam(teamDirectory(root, address))
      return team.messages.length + team.members.length === 0 ? new Map() : encodeTeam(team)
    }
    return totalsFile(await readFile(join(memoryDirectory(root, address.project), SPENT), "utf8").catch(() => ""))
  }

  async function fileOf(address: ContentAddress, name: string): Promise<Buffer | undefined> {
    if (address.kind === "journal") return journalFile(root, address, name)
    if (address.kind === "memories") return memoryFile(memory(address.namespace), name)
    return undefined
  }

  return {
    list,

    async lines(address, from) {
      if (address.kind === "journal") return journalLines(journalPaths(root, address).journal, from)
      if (address.kind !== "log") return Buffer.alloc(0)
      const path = logPath(root, address)
      return (await readFile(path).catch(() => Buffer.alloc(0))).subarray(from, await logEnd(path))
    },

    async files(address, names) {
      if (address.kind === "team" || address.kind === "sums") {
        const texts = await textsOf(address)
        return new Map(names.flatMap((name) => (texts.has(name) ? [[name, texts.get(name)!] as const] : [])))
      }
      const found = new Map<string, Buffer>()
      for (const name of names) {
        const data = await fileOf(address, name)
        if (data) found.set(name, data)
      }
      return found
    },

    async write(address, change) {
      switch (address.kind) {
        case "journal": {
          const { kind: _, ...journal } = address
          return writeJournal({ ...change, root, address: journal, now: now() })
        }
        case "memories":
          return writeMemory(memory(address.namespace), change)
        case "team": {
          const texts = new Map(await textsOf(address))
          for (const { name, data } of change.files ?? []) texts.set(name, data)
          return writeTeam({ directory: teamDirectory(root, address), address, texts, now: now() })
        }
        case "log":
          return writeLog(address, change)
        case "sums":
          return writeTotals(memoryOf(address.project), address.project, change)
      }
    },

    async erase(address, names) {
      switch (address.kind) {
        case "journal": {
          const { kind: _, ...journal } = address
          return eraseJournal({ root, address: journal, now: now(), ...(names ? { names } : {}) })
        }
        case "memories":
          return eraseMemory(memory(address.namespace), names)
        case "team": {
          const directory = teamDirectory(root, address)
          if (!(await stat(directory).catch(() => undefined))) return
          if (names) return eraseMessages(directory, new Set(names.map(messagePosition)), now())
          await withTeamLock({ directory, now: now() }, async () => undefined) // refused if a process is writing to it
          return rm(directory, { recursive: true, force: true })
        }
        case "log":
          await rm(`${logPath(root, address)}.draft`, { force: true })
          return rm(logPath(root, address), { force: true })
        case "sums":
          return rm(join(memoryDirectory(root, address.project), SPENT), { force: true })
      }
    },

    async emptyNamespaces(isWanted) {
      const empty: string[] = []
      for (const project of (await namesIn(join(root, PROJECTS))).filter(isWanted)) {
        const { done } = await inProject(project).next()
        const locks = done ? await findLocks([projectDirectory(root, project)]) : []
        if (done && locks.every(({ status }) => status === "dead")) empty.push(project)
      }
      return empty
    },

    removeEmpty: (project) => removeEmptyDirectory(projectDirectory(root, project)),

    async prune({ before, dryRun = false }) {
      const counts = { messages: 0, sums: 0 }
      for (const project of await namesIn(join(root, PROJECTS))) {
        counts.sums += await pruneTotals(memoryOf(project), { day: before.toISOString().slice(0, 10), dryRun })
        for (const team of await namesIn(join(projectDirectory(root, project), "teams"))) {
          const directory = teamDirectory(root, { project, team })
          counts.messages += await pruneTeam({ directory, before, dryRun, now: now() })
        }
      }
      return counts
    },
  }

  async function writeLog(address: Extract<ContentAddress, { kind: "log" }>, { lines }: ContentWrite): Promise<void> {
    if (!lines) return
    const path = logPath(root, address)
    await makeDirectory(dirname(path))
    if ((await logEnd(path)) !== lines.at) throw new ContentDiffersError(address, "the size")
    await appendFile(path, "", { mode: FILE_MODE })
    await truncate(path, lines.at) // an unfinished line would become the start of the first new one
    await appendFile(path, lines.data, { mode: FILE_MODE, flush: true })
  }
}

/** Messages are named after their positions. */
const messagePosition = (name: string): number => Number(name.slice(MESSAGES.length + 1))

/** The end of the last complete line of a log. */
async function logEnd(path: string): Promise<number> {
  return (await readFile(path).catch(() => Buffer.alloc(0))).lastIndexOf(0x0a) + 1
}

async function namesIn(directory: string, ending = ""): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => [] as string[])
  const own = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, name.length - ending.length))
  return own.filter(isSafeId).sort()
}
