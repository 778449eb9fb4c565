/**
 * The `Session` of the OpenAI Agents SDK on any Strata store: `run(agent, input, { session: strataSession({ sessionId }) })`. Nothing is
 * deleted: removed items stay in the journal.
 */
import type { Clock, Ids, Owner, Store } from "@strata/core"
import {
  anOption,
  aPort,
  checkOptions,
  externalProjectName,
  namespaceFor,
  type OptionRules,
  OWNER_OPTION,
  randomIds,
  systemClock,
} from "@strata/core/base"
import { safeId } from "./external/safe-id.ts"
import type { JournaledSession } from "./openai-agents/session.ts"
import type { StrataSession } from "./openai-agents/shapes.ts"

export type { HistoryTransaction, HistoryTransactionArgs, StrataSession } from "./openai-agents/shapes.ts"

export interface StrataSessionOptions {
  /** Id of the session: any text of up to 180 characters. Default: a new one. */
  readonly sessionId?: string
  /** Default: the store that `STRATA_STORE` names, else files under `dir`. */
  readonly store?: Store
  /** Root of the files, without a store. Default: `STRATA_HOME`, else `~/.strata`. */
  readonly dir?: string
  /** The project's directory. Default: the process's working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Owner of the session. Two owners may use the same id without sharing anything. */
  readonly owner?: Owner
  readonly clock?: Clock
  readonly ids?: Ids
}

const RULES: OptionRules<StrataSessionOptions> = {
  sessionId: anOption.filledText,
  store: aPort.store,
  dir: anOption.filledText,
  cwd: anOption.filledText,
  project: anOption.filledText,
  owner: OWNER_OPTION,
  clock: aPort.clock,
  ids: aPort.ids,
}

const PROGRAM = "openai-agents"

export function strataSession(options: StrataSessionOptions = {}): StrataSession {
  checkOptions("strataSession", options, RULES)
  const { sessionId: given, clock = systemClock, ids = randomIds, owner, ...where } = options
  const sessionId = given ?? ids.uuid()
  const id = safeId("session id", sessionId)
  let opened: Promise<JournaledSession> | undefined

  async function open(): Promise<JournaledSession> {
    // imported on the first call, so that importing this module costs little
    const { resolveStoreLocation, resolveProjectAt } = await import("@strata/core/projects")
    const { store } = resolveStoreLocation(where)
    const project = namespaceFor(
      externalProjectName(PROGRAM, (await resolveProjectAt({ ...where, store })).name),
      owner,
    )
    const { JournaledSession: Session } = await import("./openai-agents/session.ts")
    return new Session({ store, address: { project, id } }, { clock, ids })
  }
  /** After a failure, the next call tries again. */
  const session = (): Promise<JournaledSession> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    getSessionId: async () => sessionId,
    async getItems<Item>(limit?: number) {
      const all = await (await session()).items()
      const requested = limit === undefined ? all : limit > 0 ? all.slice(-limit) : []
      return requested.map(({ item }) => structuredClone(item) as Item)
    },
    async addItems(items) {
      const given = structuredClone(items) // the caller may change them during the wait
      if (given.length > 0) await (await session()).add(given)
    },
    popItem: async <Item>() => (await (await session()).pop())?.item as Item | undefined,
    clearSession: async () => (await session()).clear(),
    async replaceHistoryWithCompaction(items) {
      const given = structuredClone(items)
      await (await session()).replaceAll(given)
    },
    async applyHistoryTransaction(args) {
      const given = structuredClone(args)
      await (await session()).transact(given)
    },
  }
}
