/** The conversations kept for a project: a list of them, and what is in one. Reads only, so they may be in use. */
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

/** Where conversations are kept, and whose they are. */
export interface StoreLocation {
  /** Where journals are kept. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string
  /** What the project is called. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Whose conversations. Default: those that have no owner. `localUser`: the program's, and those from before there were owners. */
  readonly owner?: Owner
  /** Default: the one that `STRATA_STORE` names, else files under `dir`. */
  readonly store?: Store
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Options of `listConversations`. */
export interface ListConversationsOptions extends StoreLocation {
  /** Also lists those that have no owner. */
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

/** Pass its `id` to `openConversation` or `openAgent` to continue it. */
export interface StoredConversation {
  readonly id: string
  /** Its title, else the first line of the first message. */
  readonly title?: string
  readonly model?: string
  /** The permission mode, if an agent had it. */
  readonly mode?: string
  /** The directory that it was begun in, or in which it was compacted last. */
  readonly directory?: string
  /** The directory that an imported one was in. Empty where its file is not one of the person's own sessions. */
  readonly origin?: string
  /** When its last message was written, in ISO 8601. Where the store does not say: when the conversation was last written. */
  readonly updated: string
  /** Where the store keeps it. */
  readonly address: JournalAddress
  /** Without an owner it shares nothing with other conversations. */
  readonly isOwned: boolean
}

/** Where the options say that conversations are kept. */
export function keptIn({ cwd = process.cwd(), env = process.env, dir, store }: StoreLocation) {
  const root = dir ?? strataDirectory(env)
  return { root, cwd, env, store: storeFrom({ store, dir: root, env }) }
}

/** The project that the options name. */
export const projectIn = (where: StoreLocation): Promise<Project> =>
  resolveProject({ ...keptIn(where), ...(where.project === undefined ? {} : { project: where.project }) })

/** Those in which something was said, newest first. */
export async function listConversations(
  options: ListConversationsOptions = {},
): Promise<readonly StoredConversation[]> {
  checkOptions("listConversations", options, RULES)
  const { store } = keptIn(options)
  const project = await projectIn(options)
  const { owner, alsoUnowned = false } = options
  const owners: readonly (Owner | undefined)[] = alsoUnowned && owner !== undefined ? [owner, undefined] : [owner]
  const places = await Promise.all(owners.map((one) => listProjectNamespaces({ store, project, owner: one })))
  return conversationsIn(store, places.flat())
}

/** In places of a store, newest first. */
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

/** Every entry of a kept conversation, first to last, also of branches that were left. */
export async function* readEntries(
  { address }: Pick<StoredConversation, "address">,
  where: StoreLocation = {},
): AsyncGenerator<Entry> {
  checkOptions("readEntries", where, WHERE_RULES)
  const journal = await keptIn(where).store.open(address, { access: "read" })
  try {
    yield* journal.entries()
  } finally {
    await journal.close()
  }
}
