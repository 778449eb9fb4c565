/**
 * The namespaces of a store that hold what an owner has in a project. New data goes to one namespace, under the project's name. Earlier
 * versions used namespaces named after paths. Those belong to the project too, unless another project has claimed them.
 */

import { projectName } from "../base/clock.ts"
import { MemoryChangedError } from "../base/errors.ts"
import { namespaceFor, type Owner } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import type { MemoryFiles } from "./memory-files.ts"
import type { Store } from "./store.ts"

/** State file, stored with the memories: the directories the project was used from, and the earlier names it has claimed. */
export const PROJECT_RECORD = ".project.json"
/** Labels a claimed namespace of an earlier version, for users and for other projects. The file is not a memory. */
const CLAIM_FILE = "MOVED.txt"
const MAX_DIRECTORIES = 50 // the newest ones: each is an index to search and a directory to read

export interface ProjectInStore {
  readonly store: Store
  readonly project: Project
  readonly owner: Owner | undefined
}

export const projectNamespace = ({ project, owner }: Pick<ProjectInStore, "project" | "owner">): string =>
  namespaceFor(project.name, owner)

/** All namespaces with conversations of the project, the one for new conversations first. Only reads. */
export async function listProjectNamespaces(given: ProjectInStore): Promise<readonly string[]> {
  const { claimed, free } = await otherNames(given)
  const all = [given.project.name, ...claimed, ...free]
  return all.slice(0, MAX_DIRECTORIES).map((name) => namespaceFor(name, given.owner))
}

/** Other names under which a project may have data. */
export interface OtherNames {
  readonly claimed: readonly string[]
  /** Names that no project has claimed. */
  readonly free: readonly string[]
}

export async function otherNames(given: ProjectInStore): Promise<OtherNames> {
  if (given.store.isShared) return { claimed: [], free: [] } // names made from paths were never used in shared stores
  const claimed = tracksDirectories(given.project) ? (await readProjectRecord(projectMemories(given))).names : []
  const free = (await earlierNames(given)).filter((name) => !claimed.includes(name))
  return { claimed, free }
}

/** Whether the project's directories are recorded. A project known by its path alone, without earlier names, always has one directory. */
export const tracksDirectories = ({ from, formerNames }: Project): boolean => from !== "path" || formerNames.length > 0

/** Names of earlier versions whose namespaces no other project has claimed. */
export async function earlierNames(given: ProjectInStore): Promise<readonly string[]> {
  const { store, project } = given
  if (store.isShared) return [] // in a shared store, a path may belong to another machine
  const named = [project.name, ...project.formerNames]
  const noted = await Promise.all(named.map((name) => notedDirectoryNames(name, given)))
  const names = [...new Set([...project.formerNames, ...noted.flat()])].filter((name) => name !== project.name)
  const claims = await Promise.all(names.map((name) => namespaceClaim(name, given)))
  return names.filter((_, at) => claims[at] === undefined || claims[at] === project.name)
}

/** Claims an earlier namespace for the project permanently. Returns `false` if another project has claimed it. */
export async function claimNamespace(name: string, given: ProjectInStore): Promise<boolean> {
  try {
    await projectMemories(given, name).install([{ path: CLAIM_FILE, text: claimText(given.project), expected: null }])
    return true
  } catch (error) {
    if (!(error instanceof MemoryChangedError)) throw error
    return (await namespaceClaim(name, given)) === given.project.name
  }
}

async function namespaceClaim(name: string, given: ProjectInStore): Promise<string | undefined> {
  const text = await projectMemories(given, name)
    .read(CLAIM_FILE)
    .catch(() => undefined)
  return /^Project: ([A-Za-z0-9-]+)$/m.exec(text ?? "")?.[1]
}

const claimText = ({ name }: Project): string =>
  `The memories in this directory belong to a project that now has a name. They were copied to the memory of that project, and the files here are no longer read. Conversations that were started here continue here.

Project: ${name}
`

/** The owner's memory files under a project name. */
export const projectMemories = ({ store, project, owner }: ProjectInStore, name = project.name): MemoryFiles =>
  store.memories({ project: namespaceFor(name, owner) })

/** The directory of a namespace's journals. `undefined` if the store has no files. */
export function journalDirectoryIn(store: Store, place: string): string | undefined {
  const feed = store.feed({ project: place })
  feed.close()
  return feed.directory
}

/** The working directories that an earlier version recorded, as project names. */
async function notedDirectoryNames(name: string, given: ProjectInStore): Promise<readonly string[]> {
  const notes = given.store.memories({ project: namespaceFor(name, given.owner), collection: "directories" })
  if (notes.directory === undefined) return [] // earlier versions recorded directories only in files
  const noted = await notes.readAll({ folders: [undefined] }).catch(() => [])
  return noted.slice(0, MAX_DIRECTORIES).flatMap(({ path, text = "" }) => {
    const cwd = text.trim()
    // a recorded directory must not lead to namespaces of another owner
    return namespaceFor(projectName(cwd), given.owner) === path ? [projectName(cwd)] : []
  })
}

export interface ProjectRecord {
  /** Main working directories. The most recently used one is last. */
  readonly directories: readonly string[]
  /** Claimed names of earlier versions. */
  readonly names: readonly string[]
  /** The text as stored. The next write requires that it is unchanged. */
  readonly text: string | null
}

export async function readProjectRecord(files: MemoryFiles): Promise<ProjectRecord> {
  const text = (await files.read(PROJECT_RECORD).catch(() => undefined)) ?? null
  const { directories, names } = parseRecord(text)
  return {
    ...{ text, directories: textsIn(directories) },
    names: textsIn(names).filter((name) => /^[A-Za-z0-9-]+$/.test(name)), // a name with an owner part would lead to another owner
  }
}

export function encodeProjectRecord({ directories, names }: Pick<ProjectRecord, "directories" | "names">): string {
  const last = (texts: readonly string[]) => [...new Set(texts)].slice(-MAX_DIRECTORIES)
  return `${JSON.stringify({ directories: last(directories), names: last(names) })}\n`
}

function parseRecord(text: string | null): { readonly directories?: unknown; readonly names?: unknown } {
  try {
    const value: unknown = JSON.parse(text ?? "")
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []
