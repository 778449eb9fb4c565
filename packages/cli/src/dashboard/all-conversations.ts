/** The conversations of all projects of the user for the dashboard, with their costs. Those of this project are shown first. */
import { stat } from "node:fs/promises"
import { homedir } from "node:os"
import { localUser, type Store, type StoredConversation, strataDirectory } from "@strata/core"
import { isLocalNamespace } from "@strata/core/base"
import { resolveProjectAt } from "@strata/core/projects"
import { listProjectNamespaces, storeFrom } from "@strata/core/store"
import {
  ConversationIndex,
  type IndexedConversation,
  type ListedConversation,
  type PageSource,
} from "@strata/page/server"
import type { CommandCall } from "../command.ts"
import { formatNumber } from "../display/numbers.ts"
import { startWorker } from "../usage/workers.ts"
import { conversationActions, projectSource, type SourcePlace, UNTITLED } from "./source.ts"
import { projectWork } from "./work.ts"

type Place = Pick<CommandCall, "cwd" | "env">

export interface DashboardSource {
  readonly source: PageSource
  close(): Promise<void>
}

/**
 * Without an index, as on a disk that cannot be written, only this project is shown, and no costs. Nothing of another owner is in the
 * user's index.
 */
export async function dashboardSource({ owner, ...place }: SourcePlace): Promise<DashboardSource> {
  const ofProject = await projectSource({ ...place, owner })
  if (owner !== undefined) return { source: ofProject, close: async () => {} }
  const { env } = place
  const store = storeFrom({ dir: strataDirectory(env), env })
  const project = await findProject(store, place)
  const index = openIndex({ env, store, namespaces: () => allNamespaces(store, project) })
  if (!index) return { source: ofProject, close: async () => {} }
  const all = new AllConversations(index, { project, env })
  const source: PageSource = {
    ...ofProject,
    name: "Conversations",
    conversations: () => all.list(),
    async find(id) {
      const found = await all.find(id)
      if (!found) return undefined
      const stored = toStored(found)
      const cwd = await directoryOf(found, place.cwd)
      const location = { store, address: stored.address }
      return { id, title: found.title ?? UNTITLED, location, actions: conversationActions(stored, { cwd, env }) }
    },
    list: {
      project: project.label,
      progress: () =>
        index.remaining === 0 ? undefined : `Reading conversations: ${formatNumber(index.remaining)} to go.`,
      onChange: (listener) => index.onChange(listener),
    },
    work: await projectWork({
      ...{ ...place, store, titleOf: ({ title = UNTITLED }) => title },
      conversations: async () =>
        (await index.conversations()).filter(({ namespace }) => project.namespaces.has(namespace)).map(toStored),
    }),
  }
  return { source, close: () => index.close() }
}

interface CurrentProject {
  readonly label: string
  /** Namespaces of the user and those without an owner. */
  readonly namespaces: ReadonlySet<string>
}

async function findProject(store: Store, { cwd, env }: Place): Promise<CurrentProject> {
  const project = await resolveProjectAt({ cwd, env, store })
  const owned = await listProjectNamespaces({ store, project, owner: localUser })
  const unowned = await listProjectNamespaces({ store, project, owner: undefined })
  return { label: shortPath(project.directory, env), namespaces: new Set([...owned, ...unowned]) }
}

async function allNamespaces(store: Store, { namespaces }: CurrentProject): Promise<readonly string[]> {
  return [...new Set([...namespaces, ...(await store.projects()).filter(isLocalNamespace)])]
}

function openIndex(options: Omit<ConstructorParameters<typeof ConversationIndex>[0], "startWorker">) {
  try {
    return new ConversationIndex({ ...options, startWorker })
  } catch {
    return undefined
  }
}

class AllConversations {
  readonly #index: ConversationIndex
  readonly #project: CurrentProject
  readonly #env: Place["env"]
  #known: readonly IndexedConversation[] = []

  constructor(
    index: ConversationIndex,
    { project, env }: { readonly project: CurrentProject; readonly env: Place["env"] },
  ) {
    this.#index = index
    this.#project = project
    this.#env = env
  }

  async list(): Promise<readonly ListedConversation[]> {
    this.#known = await this.#index.conversations()
    const labels = this.#labels()
    return this.#known.map(({ namespace, directory: _, ...conversation }) => {
      const project = labels.get(namespace)
      return { ...conversation, ...(project === undefined ? {} : { project }) }
    })
  }

  async find(id: string): Promise<IndexedConversation | undefined> {
    const known = this.#known.find((each) => each.id === id)
    if (known) return known
    this.#known = await this.#index.conversations()
    return this.#known.find((each) => each.id === id)
  }

  /** The name of each namespace: the shortest directory in which its conversations were started. */
  #labels(): ReadonlyMap<string, string> {
    const labels = new Map<string, string>()
    for (const { namespace, directory } of this.#known) {
      const known = labels.get(namespace)
      if (directory !== undefined && (known === undefined || directory.length < known.length))
        labels.set(namespace, directory)
    }
    const named = [...labels].map(([namespace, directory]) => [namespace, shortPath(directory, this.#env)] as const)
    return new Map([...named, ...[...this.#project.namespaces].map((one) => [one, this.#project.label] as const)])
  }
}

/** A path below the home directory begins with `~`. */
function shortPath(path: string, { HOME = homedir() }: Place["env"]): string {
  return path.startsWith(`${HOME}/`) ? `~${path.slice(HOME.length)}` : path
}

/** The conversation's own directory, which says to which project it belongs, if it still exists. */
async function directoryOf({ directory }: IndexedConversation, otherwise: string): Promise<string> {
  if (directory === undefined) return otherwise
  const found = await stat(directory).catch(() => undefined)
  return found?.isDirectory() ? directory : otherwise
}

function toStored({ id, namespace, touched, title, model, directory }: IndexedConversation): StoredConversation {
  return {
    ...{ id, updated: touched, address: { project: namespace, id }, isOwned: isLocalNamespace(namespace) },
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(directory === undefined ? {} : { directory }),
  }
}
