/** `strata unlock`: shows the locks of a project and their owners, and breaks locks whose machine or container no longer exists. */

import { realpath } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { localUser, type Store, strataDirectory } from "@strata/core"
import { isNamespaceOf, type NamedHolder } from "@strata/core/base"
import { resolveProject } from "@strata/core/projects"
import {
  breakLock,
  type FoundLock,
  findLocks,
  journalDirectoryIn,
  listProjectNamespaces as placesInStore,
  projectDirectory,
  storeFrom,
} from "@strata/core/store"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { UNLOCK } from "../descriptions.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine } from "../display/visible.ts"

// Lists open conversations in a store without files. Such a store releases the locks of ended processes by itself, so nothing is broken here.

/** Maximum number of conversations to check, newest first, because each needs a query. */
const MAX_ASKED = 200

export interface HeldConversation {
  readonly id: string
  readonly holder: NamedHolder
}

export interface HeldQuery {
  readonly places: readonly string[]
  /** Prefix of an id. Default: all. */
  readonly id: string | undefined
}

export async function findHeld(store: Store, { places, id = "" }: HeldQuery): Promise<readonly HeldConversation[]> {
  const listed = await Promise.all(
    places.map(async (project) =>
      (await store.list(project, { isBare: true })).map((listing) => ({ ...listing, project })),
    ),
  )
  const newest = listed
    .flat()
    .filter((one) => one.id.startsWith(id))
    .sort((a, b) => b.touched.localeCompare(a.touched))
    .slice(0, MAX_ASKED)
  const holders = await Promise.all(newest.map((one) => store.writerOf({ project: one.project, id: one.id })))
  return newest.flatMap((one, at) => {
    const holder = holders[at]
    return holder ? [{ id: one.id, holder }] : []
  })
}

export const heldLines = (held: readonly HeldConversation[]): readonly string[] =>
  held.map(
    ({ id, holder: { pid, host, since, endsAfterSeconds } }) =>
      `Conversation ${id}: process ${pid} on ${escapeToLine(host)}, since ${escapeToLine(since)}.${endsAfterSeconds === undefined ? "" : ` If that process was killed, the lock ends by itself within ${endsAfterSeconds} seconds.`}`,
  )

export const NOT_BROKEN =
  "Nothing was unlocked: this store releases a conversation by itself soon after its process has ended. Close it there, or wait and open it again."

const DONE = 0
const NOT_DONE = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(UNLOCK, args)
  const [id] = operands
  const root = strataDirectory(env)
  const store = storeFrom({ dir: root, env })
  const here = { root, env, store, cwd: await realpath(cwd) }
  const places = [...(await projectNamespaces(here)), ...(id === undefined ? [] : await ownedNamespaces(here))]
  const nothing =
    id === undefined
      ? "Nothing of this project is locked.\n"
      : `Nothing that starts with ${escapeToLine(id)} is locked.\n`
  if (journalDirectoryIn(store, places[0]!) === undefined) {
    const held = await findHeld(store, { places, id })
    if (held.length > 0) terminal.complain(`${[...heldLines(held), NOT_BROKEN].join("\n")}\n`)
    else terminal.print(nothing)
    return held.length > 0 ? NOT_DONE : DONE
  }
  const all = await findLocks([...places.map((place) => projectDirectory(root, place)), ...agentMemories(here)])
  const locks = id === undefined ? all : all.filter(({ path }) => belongsTo(path, id))
  if (locks.length === 0) {
    terminal.print(nothing)
    return DONE
  }
  terminal.print(`${locks.flatMap((lock) => linesOf(lock, root)).join("\n")}\n`)
  const breakable = locks.filter(({ status }) => status !== "alive")
  if (breakable.length === 0) {
    terminal.complain(
      "Nothing was unlocked: the owner is running on this machine and keeps its lock. Close it there.\n",
    )
    return NOT_DONE
  }
  if (!values.yes && !(await isSure(breakable.length))) {
    terminal.print("Nothing was unlocked.\n")
    return NOT_DONE
  }
  return unlock(breakable, terminal)
}

interface ProjectContext extends Pick<CommandCall, "cwd" | "env"> {
  readonly root: string
  readonly store: Store
}

/** Directories that store the data of the directory's project. */
async function projectNamespaces({ root, env, store, cwd }: ProjectContext): Promise<readonly string[]> {
  const project = await resolveProject({ root, env, cwd, store })
  return placesInStore({ store, project, owner: localUser })
}

/** Memory directories of agents, including those for all projects. */
const agentMemories = ({ root, cwd }: ProjectContext): readonly string[] => [
  join(root, "agent-memory"),
  join(cwd, ".strata", "agent-memory"),
]

/** Directories of conversations that a program stored here for its owners, or without one. Searched only for a named conversation. */
async function ownedNamespaces({ root, env, store, cwd }: ProjectContext): Promise<readonly string[]> {
  const { name: current, formerNames } = await resolveProject({ root, env, cwd, store })
  const own = [current, ...formerNames]
  const names = await store.projects()
  return names.filter((name) => own.some((project) => name !== project && isNamespaceOf(project, name)))
}

/** Whether the lock belongs to the conversation or one of its agents. */
const belongsTo = (path: string, id: string): boolean =>
  path
    .split("/")
    .some((part, at, parts) => part.startsWith(id) && (at === parts.length - 1 || parts[at + 1] === "subagents"))

function linesOf({ path, pid, host, since, status }: FoundLock, root: string): readonly string[] {
  const state = {
    alive: "The process is running and keeps the lock.",
    dead: "The process has ended. The next process that needs the lock takes it over automatically.",
    unknown:
      "The process is on another machine or in another container. This machine cannot tell whether it is still running.",
  }[status]
  const shown = relative(root, path)
  return [
    `${whatOf(path)}: process ${pid} on ${escapeToLine(host)}, since ${escapeToLine(since)}.`,
    `  ${state}`,
    `  ${escapeToLine(shown.startsWith("..") ? path : shown)}`,
  ]
}

function whatOf(path: string): string {
  const name = basename(path).replace(/(?:\.takeover)+$/, "")
  if (name.endsWith(".guard")) return "A dream"
  if (name === ".lock") return "A change of the memory"
  if (name === "lock") return "The messages of a team"
  if (basename(dirname(dirname(path))) === "seats") return "One of the agents that work at once"
  return `Conversation ${name.replace(/\.lock$/, "")}`
}

async function isSure(count: number): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError("strata unlock asks at a terminal. In scripts, use --yes.")
  const what = count === 1 ? "this lock" : `these ${count} locks`
  const question = `\nIf the holder still runs, it will get an error at its next write. Break ${what}? yes or no: `
  return (await promptForChoice(question, ["yes", "no"])) === "yes"
}

async function unlock(locks: readonly FoundLock[], { print, complain }: Terminal): Promise<number> {
  let failures = 0
  for (const lock of locks) {
    const isBroken = await breakLock(lock)
    if (isBroken) print(`Unlocked: ${whatOf(lock.path)}.\n`)
    else complain(`Not unlocked, because its holder changed: ${whatOf(lock.path)}.\n`)
    if (!isBroken) failures++
  }
  return failures === 0 ? DONE : NOT_DONE
}
