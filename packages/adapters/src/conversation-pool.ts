/**
 * Shares the conversations of one process. A program may create an adapter for every request that it serves: adapters with the same options
 * use the same conversations, because a journal has one writer.
 */
import { resolve } from "node:path"
import type { ClientConversationsOptions } from "./clients/conversations.ts"
import type { ConversationStatus } from "./clients/plan.ts"
import type { StrataOptions } from "./options.ts"

export type { ConversationStatus } from "./clients/plan.ts"

/** Status of each conversation. */
export interface StrataStatus {
  status(): Promise<readonly ConversationStatus[]>
}

interface Conversations extends StrataStatus {
  readonly isIdle: boolean
  close(): Promise<void>
}

/** Maximum number of owners and options that a process serves at once. Others are opened again on demand. */
const MAX_POOLS = 100

/** Several copies of this module may be loaded. */
const KEY = Symbol.for("strata.adapters")
const globalState = globalThis as { [KEY]?: Map<string, Conversations> }
globalState[KEY] ??= new Map()
const all = globalState[KEY]

const WARNING = "StrataWarning"

/** Returns the shared conversations for the kind of adapter and the options. Call it for each request, because unused ones are closed. */
export function sharedConversations<T extends Conversations>(
  adapter: string,
  given: StrataOptions,
  make: (options: ClientConversationsOptions) => T,
): T {
  const options = conversationsOptions(given)
  const { log: _, ...plain } = options
  const key = JSON.stringify([adapter, { ...plain, env: [options.env.STRATA_HOME, options.env.STRATA_PROJECT] }])
  const found = (all.get(key) as T | undefined) ?? make(options)
  all.delete(key) // moves it to the end, as the newest
  all.set(key, found)
  closeIdle()
  return found
}

function closeIdle(): void {
  for (const [key, each] of [...all].slice(0, -1)) {
    if (all.size <= MAX_POOLS) return
    if (!each.isIdle) continue
    all.delete(key)
    each.close().catch(() => undefined) // its data is already on disk
  }
}

/** The most recently used conversations of an adapter, for its status report. */
export class LatestStatus<T extends StrataStatus> implements StrataStatus {
  readonly #newest = new Set<T>()

  add(each: T): T {
    this.#newest.delete(each) // moves it to the end, as the newest
    this.#newest.add(each)
    for (const oldest of this.#newest) if (this.#newest.size > MAX_POOLS) this.#newest.delete(oldest)
    return each
  }

  status(): Promise<readonly ConversationStatus[]> {
    return statusRows(this.#newest)
  }
}

/** Status of each conversation of every adapter in this process. */
export const strataStatus = (): Promise<readonly ConversationStatus[]> => statusRows(all.values())

const statusRows = async (each: Iterable<StrataStatus>): Promise<readonly ConversationStatus[]> =>
  (await Promise.all([...each].map((one) => one.status()))).flat()

/** Closes every conversation that adapters have opened. Calling it is optional: nothing is lost if the process ends without it. */
export async function closeStrata(): Promise<void> {
  const open = [...all.values()]
  all.clear()
  await Promise.all(open.map((each) => each.close()))
}

function conversationsOptions({
  dir,
  cwd = ".",
  project,
  owner,
  observe,
  recall,
  settings,
  log,
}: StrataOptions): ClientConversationsOptions {
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

/** Warns once, because a program whose directory is not writable would otherwise never notice that Strata is inactive. */
function warnOnce(about: string): (line: string) => void {
  return (line) => {
    const message = `${line}\nFurther failures are silent. The option \`log\` gets each of them.`
    if (!warned.has(about)) process.emitWarning(message, WARNING)
    warned.add(about)
  }
}

/** Directories that a warning was issued for, whatever the owner. */
const warned = new Set<string>()
