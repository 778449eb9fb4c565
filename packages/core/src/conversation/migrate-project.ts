/**
 * Migration on the first use of a project from a directory: data that earlier versions stored under paths moves to the project, and the
 * directory is recorded. Concurrent processes do it once, and a killed process leaves nothing that the next one cannot complete.
 */
import { homedir } from "node:os"
import type { Clock } from "../base/clock.ts"
import { describeReason, MemoryChangedError } from "../base/errors.ts"
import { namespaceFor } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import { escapeInvisible } from "../base/text.ts"
import type { AgentMemoryNamespace, MemoryFiles } from "../journal/memory-files.ts"
import {
  claimNamespace,
  earlierNames,
  encodeProjectRecord,
  PROJECT_RECORD,
  type ProjectInStore,
  type ProjectRecord,
  projectMemories,
  readProjectRecord,
  tracksDirectories,
} from "../journal/project-namespaces.ts"
import { DREAM_FILES } from "../layers/6-dreaming/state-files.ts"
import { adoptMemories, hasMemories } from "../memory/adopt-memories.ts"

const MAX_ATTEMPTS = 100 // each failure means that another process has succeeded

export interface MigrationInput extends ProjectInStore {
  readonly clock: Clock
}

/** Migrates a project. Returns sentences for the user. Only the first use from a directory returns any, and only that use writes. */
export async function migrateProject(given: MigrationInput): Promise<readonly string[]> {
  const { project } = given
  const files = projectMemories(given)
  if (!tracksDirectories(project)) return []
  try {
    for (let attempt = 1; ; attempt++) {
      const before = await readProjectRecord(files)
      if (before.directories.includes(project.directory)) return []
      try {
        await migrateNames(files, { ...given, before })
        return migrationNotice(project, before)
      } catch (error) {
        if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
      }
    }
  } catch (error) {
    return [
      `Data stored under the path of this project could not be migrated (${describeReason(error)}). It is unchanged, and the next start tries again.`,
    ]
  }
}

/** Namespace of an agent's memory in the project, including memories under names of earlier versions. */
export async function agentMemoryNamespace(
  agent: string,
  { isReadOnly, ...given }: MigrationInput & { readonly isReadOnly: boolean },
): Promise<AgentMemoryNamespace> {
  const at = (name: string): AgentMemoryNamespace => ({
    agent,
    scope: "local",
    project: namespaceFor(name, given.owner),
  })
  const filesAt = (name: string) => given.store.memories(at(name))
  const { project, clock } = given
  const to = filesAt(project.name)
  const { text, names } = await readProjectRecord(to)
  const earlier = text === null ? await earlierNames(given) : []
  for (const name of earlier) {
    const from = filesAt(name)
    if (!(await hasMemories(from))) continue
    if (isReadOnly) return at(name)
    const record = {
      path: PROJECT_RECORD,
      text: encodeProjectRecord({ directories: [], names: [...names, name] }),
      expected: text,
    }
    await adoptMemories({ from, to, clock, alongside: record }).catch((error: unknown) => {
      if (!(error instanceof MemoryChangedError)) throw error // another process has done it
    })
    break // earlier versions used only one name
  }
  return at(project.name)
}

/** Memories for a reader that writes nothing. Before the migration they are in their former namespace. */
export async function memoriesToRead(given: ProjectInStore): Promise<MemoryFiles> {
  const files = projectMemories(given)
  const hasEarlier = given.project.formerNames.length > 0 && !given.store.isShared
  if (!hasEarlier || (await readProjectRecord(files)).text !== null || (await hasMemories(files))) return files
  for (const name of await earlierNames(given)) {
    const earlier = projectMemories(given, name)
    if (await hasMemories(earlier)) return earlier
  }
  return files
}

async function migrateNames(
  files: MemoryFiles,
  { before, ...given }: MigrationInput & { readonly before: ProjectRecord },
): Promise<void> {
  const { project, clock } = given
  let { text } = before
  const names = [...before.names]
  for (const name of await claimedNames(given)) {
    // including an adopted one, because a clone without the remote may have continued to use it
    if (!names.includes(name)) names.push(name)
    const from = projectMemories(given, name)
    if (!(await hasMemories(from))) continue
    if (!(await hasMemories(files))) await adoptDreams(name, given)
    const next = encodeProjectRecord({ directories: before.directories, names })
    await adoptMemories({ from, to: files, clock, alongside: { path: PROJECT_RECORD, text: next, expected: text } })
    text = next
  }
  const next = encodeProjectRecord({ directories: [...before.directories, project.directory], names })
  await files.install([{ path: PROJECT_RECORD, text: next, expected: text }])
}

/**
 * Adopts the pending change and the state of the last dream, without which the same memories would be consolidated again. Done before the
 * memories, so that it is repeated if the process is killed.
 */
async function adoptDreams(name: string, { store, project, owner }: MigrationInput): Promise<void> {
  const notesOf = (one: string) => store.memories({ project: namespaceFor(one, owner), collection: "dreams" })
  const { pending, consolidated, status } = DREAM_FILES
  const all = await notesOf(name).readAll({ folders: [], paths: [pending, consolidated, status] })
  const changes = all.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text, expected: null }]))
  if (changes.length === 0) return
  await notesOf(project.name)
    .install(changes)
    .catch((error: unknown) => {
      if (!(error instanceof MemoryChangedError)) throw error // already adopted
    })
}

/** Names of earlier versions, and the project's name before it had a remote, if they were claimed for this project. */
async function claimedNames(given: MigrationInput): Promise<readonly string[]> {
  const claimed: string[] = []
  for (const name of await earlierNames(given))
    if ((await isUsed(name, given)) && (await claimNamespace(name, given))) claimed.push(name)
  const commit = given.store.isShared ? undefined : await given.project.nameWithoutRemote?.()
  if (commit === undefined || !(await isUsed(commit, given)) || !(await claimNamespace(commit, given))) return claimed
  const { names } = await readProjectRecord(projectMemories(given, commit))
  return [...new Set([...claimed, commit, ...names])]
}

/** Whether a namespace is in use. Claiming an unused one would only leave traces. */
async function isUsed(name: string, given: MigrationInput): Promise<boolean> {
  if (await hasMemories(projectMemories(given, name))) return true
  return (await given.store.list(namespaceFor(name, given.owner), { isBare: true })).length > 0
}

/** Notice about whose memory is used. A repository's own claims are content and not consent, so the user is informed. */
function migrationNotice({ from, title, directory }: Project, { directories }: ProjectRecord): readonly string[] {
  const other = directories.findLast((one) => one !== directory)
  if (other === undefined || (from !== "remote" && from !== "root-commit")) return []
  const what = from === "remote" ? escapeInvisible(title) : "a repository with the same first commit as one"
  return [
    `This is ${what}, known from ${shownPath(other)}, so it shares its memory. To separate them, set STRATA_PROJECT or the setting project.`,
  ]
}

function shownPath(path: string): string {
  const home = homedir()
  return escapeInvisible(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path)
}
