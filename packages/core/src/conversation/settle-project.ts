/**
 * The first use of a project from a directory: what earlier versions kept under paths becomes the project's, and the directory is noted.
 * Two processes that do it at once do it once, and one that is killed leaves nothing that the next does not complete.
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

const MAX_ATTEMPTS = 100 // each failure means that another process succeeded

export interface Settling extends ProjectInStore {
  readonly clock: Clock
}

/** Sentences for the person. Only the first use from a directory has any, and only that one writes. */
export async function settleProject(given: Settling): Promise<readonly string[]> {
  const { project } = given
  const files = projectMemories(given)
  if (!tracksDirectories(project)) return []
  try {
    for (let attempt = 1; ; attempt++) {
      const before = await readProjectRecord(files)
      if (before.directories.includes(project.directory)) return []
      try {
        await settle(files, { ...given, before })
        return noticeOf(project, before)
      } catch (error) {
        if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
      }
    }
  } catch (error) {
    return [
      `What was kept under the path of this project could not be taken over (${describeReason(error)}). It is still there, and the next start tries again.`,
    ]
  }
}

/** The place of an agent's memory in the project, with what it had under names of earlier versions. */
export async function agentMemoryPlace(
  agent: string,
  { isReadOnly, ...given }: Settling & { readonly isReadOnly: boolean },
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
      if (!(error instanceof MemoryChangedError)) throw error // another process did it
    })
    break // earlier versions kept it under one name
  }
  return at(project.name)
}

/** For a reader that writes nothing: as long as nothing was taken over, the memories are where they were. */
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

async function settle(
  files: MemoryFiles,
  { before, ...given }: Settling & { readonly before: ProjectRecord },
): Promise<void> {
  const { project, clock } = given
  let { text } = before
  const names = [...before.names]
  for (const name of await claimedNames(given)) {
    // also one that was taken over before: a clone without the remote may have gone on there since
    if (!names.includes(name)) names.push(name)
    const from = projectMemories(given, name)
    if (!(await hasMemories(from))) continue
    if (!(await hasMemories(files))) await takeOverDreams(name, given)
    const next = encodeProjectRecord({ directories: before.directories, names })
    await adoptMemories({ from, to: files, clock, alongside: { path: PROJECT_RECORD, text: next, expected: text } })
    text = next
  }
  const next = encodeProjectRecord({ directories: [...before.directories, project.directory], names })
  await files.install([{ path: PROJECT_RECORD, text: next, expected: text }])
}

/**
 * A change that waits for consent, and what the last dream left: without it, the same memories would be dreamed about again. Before the
 * memories, so that a process that is killed here does it again.
 */
async function takeOverDreams(name: string, { store, project, owner }: Settling): Promise<void> {
  const notesOf = (one: string) => store.memories({ project: namespaceFor(one, owner), collection: "dreams" })
  const { pending, consolidated, status } = DREAM_FILES
  const all = await notesOf(name).readAll({ folders: [], paths: [pending, consolidated, status] })
  const changes = all.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text, expected: null }]))
  if (changes.length === 0) return
  await notesOf(project.name)
    .install(changes)
    .catch((error: unknown) => {
      if (!(error instanceof MemoryChangedError)) throw error // they are there
    })
}

/** Those of earlier versions, and what the project was called before it had a remote. */
async function claimedNames(given: Settling): Promise<readonly string[]> {
  const claimed: string[] = []
  for (const name of await earlierNames(given))
    if ((await isUsed(name, given)) && (await claimNamespace(name, given))) claimed.push(name)
  const commit = given.store.isShared ? undefined : await given.project.nameWithoutRemote?.()
  if (commit === undefined || !(await isUsed(commit, given)) || !(await claimNamespace(commit, given))) return claimed
  const { names } = await readProjectRecord(projectMemories(given, commit))
  return [...new Set([...claimed, commit, ...names])]
}

/** A claim on a place where nothing is would only leave a trace there. */
async function isUsed(name: string, given: Settling): Promise<boolean> {
  if (await hasMemories(projectMemories(given, name))) return true
  return (await given.store.list(namespaceFor(name, given.owner), { isBare: true })).length > 0
}

/** What a repository says of itself is content, not consent: the person hears whose memory it gets. */
function noticeOf({ from, title, directory }: Project, { directories }: ProjectRecord): readonly string[] {
  const other = directories.findLast((one) => one !== directory)
  if (other === undefined || (from !== "remote" && from !== "root-commit")) return []
  const what = from === "remote" ? escapeInvisible(title) : "a repository with the same first commit as one"
  return [
    `This is ${what}, known from ${shownPath(other)}: its memory is used here too. To keep it apart, set STRATA_PROJECT or the setting project.`,
  ]
}

function shownPath(path: string): string {
  const home = homedir()
  return escapeInvisible(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path)
}
