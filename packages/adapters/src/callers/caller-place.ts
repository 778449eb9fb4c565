/** Where the conversations of callers are kept, and what is known of their lists. The project is looked up with the first request. */

import type { Project } from "@strata/core/base"
import { localUser, namespaceFor, type Owner } from "@strata/core/base"
import { resolveProject } from "@strata/core/projects"
import { earlierNames, journalDirectory, storeFrom, strataDirectory } from "@strata/core/store"
import { type CallerLog, callerLog } from "./caller-log.ts"

export interface CallerPlaceOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dir?: string
  readonly project?: string
  readonly owner?: Owner
}

export class CallerPlace {
  readonly #options: CallerPlaceOptions
  readonly #root: string
  #project: Promise<Project> | undefined
  #logs: Promise<readonly CallerLog[]> | undefined

  constructor(options: CallerPlaceOptions) {
    this.#options = options
    this.#root = options.dir ?? strataDirectory(options.env)
  }

  /** Where the journals are. */
  async directory(): Promise<string> {
    const { name } = await this.#named()
    return journalDirectory(this.#root, { project: namespaceFor(name, this.#options.owner) })
  }

  /** Written under the project's name, and read also under those of earlier versions. */
  get log(): CallerLog {
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

  #opened(): Promise<readonly CallerLog[]> {
    this.#logs ??= this.#openLogs()
    return this.#logs
  }

  async #openLogs(): Promise<readonly CallerLog[]> {
    const project = await this.#named()
    // the log of callers without an owner was always named like the local person's
    const { owner = localUser } = this.#options
    const store = storeFrom(this.#options)
    const earlier = await earlierNames({ store, project, owner })
    return [...earlier, project.name].map((name) =>
      callerLog(store.log({ project: namespaceFor(name, owner), name: "callers" })),
    )
  }
}
