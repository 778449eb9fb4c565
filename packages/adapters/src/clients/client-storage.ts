/** Locates the conversations of clients and the log of their lists. The project is resolved with the first request. */

import type { Project } from "@strata/core/base"
import { localUser, namespaceFor, type Owner } from "@strata/core/base"
import { resolveProject } from "@strata/core/projects"
import { earlierNames, journalDirectory, storeFrom, strataDirectory } from "@strata/core/store"
import { type ClientLog, clientLog } from "./client-log.ts"

export interface ClientStorageOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dir?: string
  readonly project?: string
  readonly owner?: Owner
}

export class ClientStorage {
  readonly #options: ClientStorageOptions
  readonly #root: string
  #project: Promise<Project> | undefined
  #logs: Promise<readonly ClientLog[]> | undefined

  constructor(options: ClientStorageOptions) {
    this.#options = options
    this.#root = options.dir ?? strataDirectory(options.env)
  }

  /** Directory of the journals. */
  async directory(): Promise<string> {
    const { name } = await this.#named()
    return journalDirectory(this.#root, { project: namespaceFor(name, this.#options.owner) })
  }

  /** Writes under the project's current name, and reads under its former names too. */
  get log(): ClientLog {
    return {
      read: async () => (await Promise.all((await this.#opened()).map((log) => log.read()))).flat(),
      append: async (line) => (await this.#opened()).at(-1)!.append(line),
    }
  }

  #named(): Promise<Project> {
    const { cwd, env, project } = this.#options
    this.#project ??= resolveProject({ cwd, env, root: this.#root, project })
    return this.#project
  }

  #opened(): Promise<readonly ClientLog[]> {
    this.#logs ??= this.#openLogs()
    return this.#logs
  }

  async #openLogs(): Promise<readonly ClientLog[]> {
    const project = await this.#named()
    // the log of clients without an owner has always been that of the local user
    const { owner = localUser } = this.#options
    const store = storeFrom(this.#options)
    const earlier = await earlierNames({ store, project, owner })
    return [...earlier, project.name].map((name) =>
      clientLog(store.log({ project: namespaceFor(name, owner), name: "callers" })),
    )
  }
}
