/**
 * The conversations of one process. A program may make a door for every request that it serves: doors with the same options use the same
 * conversations, because a journal has one writer.
 */
import { resolve } from "node:path"
import type { CallerOptions } from "./callers/conversations.ts"
import type { ConversationStatus } from "./callers/plan.ts"
import type { StrataOptions } from "./options.ts"

export type { ConversationStatus } from "./callers/plan.ts"

/** What was done, for each conversation. */
export interface StrataStatus {
  status(): Promise<readonly ConversationStatus[]>
}

interface Conversations extends StrataStatus {
  readonly isIdle: boolean
  close(): Promise<void>
}

/** Of owners and options that a process serves at once. Others are opened again when they are asked for. */
const MAX = 100

/** Several copies of this module may be loaded. */
const KEY = Symbol.for("strata.adapters")
const everything = globalThis as { [KEY]?: Map<string, Conversations> }
everything[KEY] ??= new Map()
const all = everything[KEY]

const WARNING = "StrataWarning"

/** `door`: what kind it is; conversations are shared by doors of one kind. Ask for each request: those that no one uses are closed. */
export function shared<T extends Conversations>(
  door: string,
  given: StrataOptions,
  make: (options: CallerOptions) => T,
): T {
  const options = callerOptions(given)
  const { log: _, ...plain } = options
  const key = JSON.stringify([door, { ...plain, env: [options.env.STRATA_HOME, options.env.STRATA_PROJECT] }])
  const found = (all.get(key) as T | undefined) ?? make(options)
  all.delete(key) // the newest is last
  all.set(key, found)
  makeRoom()
  return found
}

function makeRoom(): void {
  for (const [key, each] of [...all].slice(0, -1)) {
    if (all.size <= MAX) return
    if (!each.isIdle) continue
    all.delete(key)
    each.close().catch(() => undefined) // what it has is on disk
  }
}

/** What a door has used, for its status: the newest. */
export class Used<T extends StrataStatus> implements StrataStatus {
  readonly #newest = new Set<T>()

  add(each: T): T {
    this.#newest.delete(each) // the newest is last
    this.#newest.add(each)
    for (const oldest of this.#newest) if (this.#newest.size > MAX) this.#newest.delete(oldest)
    return each
  }

  status(): Promise<readonly ConversationStatus[]> {
    return rowsOf(this.#newest)
  }
}

/** What was done in this process, for each conversation of every door. */
export const strataStatus = (): Promise<readonly ConversationStatus[]> => rowsOf(all.values())

const rowsOf = async (each: Iterable<StrataStatus>): Promise<readonly ConversationStatus[]> =>
  (await Promise.all([...each].map((one) => one.status()))).flat()

/** Closes every conversation that doors have opened. A program need not call it: nothing is lost if it ends without. */
export async function closeStrata(): Promise<void> {
  const open = [...all.values()]
  all.clear()
  await Promise.all(open.map((each) => each.close()))
}

function callerOptions({
  dir,
  cwd = ".",
  project,
  owner,
  observe,
  recall,
  settings,
  log,
}: StrataOptions): CallerOptions {
  return {
    cwd: resolve(cwd),
    env: process.env,
    ...(dir === undefined ? {} : { dir: resolve(dir) }),
    ...(project === undefined ? {} : { project }),
    ...(owner === undefined ? {} : { owner }),
    ...(observe === undefined ? {} : { observe }),
    ...(recall === undefined ? {} : { recall }),
    ...(settings ? { settings } : {}),
    log: log ?? warnOnce(`${dir} ${cwd}`),
  }
}

/** A program whose directory cannot be written would otherwise never know that it goes on without us. */
function warnOnce(about: string): (line: string) => void {
  return (line) => {
    const message = `${line}\nFurther failures are silent. The option \`log\` gets each of them.`
    if (!warned.has(about)) process.emitWarning(message, WARNING)
    warned.add(about)
  }
}

/** Directories, whatever the owner. */
const warned = new Set<string>()
