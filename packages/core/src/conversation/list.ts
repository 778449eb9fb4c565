/** Lists the stored conversations of a project, and reads their entries. Never writes, so they may be in use. */
import { anOption, aPort, checkOptions, type OptionRules } from "../base/options.ts"
import { namespaceFor, OWNER_OPTION, type Owner } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import type { Entry } from "../journal/entries.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import { listJournalsIn } from "../journal/list-journals.ts"
import { listProjectNamespaces } from "../journal/project-namespaces.ts"
import { resolveProject } from "../journal/resolve-project.ts"
import type { JournalAddress, Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"

/** Location and owner of stored conversations. */
export interface StoreLocation {
  /** Strata's root directory, which contains the journals. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the current working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /**
   * Owner of the conversations. Default: conversations without an owner. `localUser`: the program's own, including those from before owners
   * existed.
   */
  readonly owner?: Owner
  /** Store of the conversations. Default: the one named by `STRATA_STORE`, else files under `dir`. */
  readonly store?: Store
  /** Environment variables. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Options of `listConversations`. */
export interface ListConversationsOptions extends StoreLocation {
  /** Whether to include conversations without an owner. */
  readonly alsoUnowned?: boolean
}

export const WHERE_RULES: OptionRules<StoreLocation> = {
  dir: anOption.filledText,
  cwd: anOption.filledText,
  project: anOption.filledText,
  owner: OWNER_OPTION,
  store: aPort.store,
  env: anOption.object,
}

const RULES: OptionRules<ListConversationsOptions> = { ...WHERE_RULES, alsoUnowned: anOption.switch }

/** A stored conversation. Pass its `id` to `openConversation` or `openAgent` to continue it. */
export interface StoredConversation {
  readonly id: string
  /** The title, else the first line of the first message. */
  readonly title?: string
  readonly model?: string
  /** Permission mode, if it is an agent's conversation. */
  readonly mode?: string
  /** Working directory at its start, or at its last compaction. */
  readonly directory?: string
  /** Original directory of an imported conversation. Empty if its file is not one of the user's own sessions. */
  readonly origin?: string
  /** Time of its last message in ISO 8601. If the store does not provide that, time of the last write. */
  readonly updated: string
  /** Address in the store. */
  readonly address: JournalAddress
  /** Whether it has an owner. Without one it shares nothing with other conversations. */
  readonly isOwned: boolean
}

/** Resolves the store and directories of the options. */
export function resolveStoreLocation({ cwd = process.cwd(), env = process.env, dir, store }: StoreLocation) {
  const root = dir ?? strataDirectory(env)
  return { root, cwd, env, store: storeFrom({ store, dir: root, env }) }
}

/** Resolves the project that the options name. */
export const resolveProjectAt = (where: StoreLocation): Promise<Project> =>
  resolveProject({ ...resolveStoreLocation(where), ...(where.project === undefined ? {} : { project: where.project }) })

/** Conversations with at least one message, newest first. */
export async function listConversations(
  options: ListConversationsOptions = {},
): Promise<readonly StoredConversation[]> {
  checkOptions("listConversations", options, RULES)
  const { store } = resolveStoreLocation(options)
  const project = await resolveProjectAt(options)
  const { owner, alsoUnowned = false } = options
  const owners: readonly (Owner | undefined)[] = alsoUnowned && owner !== undefined ? [owner, undefined] : [owner]
  const places = await Promise.all(owners.map((one) => listProjectNamespaces({ store, project, owner: one })))
  return conversationsIn(store, places.flat())
}

/** Conversations in namespaces of a store, newest first. */
export async function conversationsIn(store: Store, places: readonly string[]): Promise<readonly StoredConversation[]> {
  const listings = await listJournalsIn(store, places)
  return listings
    .filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
    .map(({ id, touched, lastMessage = touched, facts, firstWords, namespace }) => {
      const { model, mode, cwd, origin, title = firstWords } = facts ?? {}
      return {
        id,
        updated: lastMessage,
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(mode === undefined ? {} : { mode }),
        ...(cwd === undefined ? {} : { directory: cwd }),
        ...(origin === undefined ? {} : { origin }),
        address: { project: namespace, id },
        isOwned: !isUnowned(namespace),
      }
    })
    .sort((a, b) => b.updated.localeCompare(a.updated))
}

const UNOWNED = namespaceFor("", undefined)
const isUnowned = (place: string): boolean => place.endsWith(UNOWNED)

/** All entries of a stored conversation in order, including abandoned branches. */
export async function* readEntries(
  { address }: Pick<StoredConversation, "address">,
  where: StoreLocation = {},
): AsyncGenerator<Entry> {
  checkOptions("readEntries", where, WHERE_RULES)
  const journal = await resolveStoreLocation(where).store.open(address, { access: "read" })
  try {
    yield* journal.entries()
  } finally {
    await journal.close()
  }
}
