/**
 * The `SessionStore` of the Claude Agent SDK on any Strata store: `query({ prompt, options: { sessionStore: sessionStore() } })`. A session
 * can be resumed on another machine. Lines are returned exactly as the SDK wrote them; each transcript is stored in a journal.
 */
import { type Clock, type Ids, InvalidOptionError, type Owner, type Store } from "@strata/core"
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
import type { JournalAddress } from "@strata/core/store"
import { storeFrom } from "@strata/core/store"
import type { FoldSessionSummary, SessionKey, StrataSessionStore } from "./claude-agent-sdk/shapes.ts"
import { forgetSummary, summariesOf } from "./claude-agent-sdk/summaries.ts"
import { liveLines, TranscriptWriter } from "./claude-agent-sdk/transcripts.ts"
import { eraseExclusively } from "./external/exclusive-write.ts"
import { safeId, textOfId } from "./external/safe-id.ts"

export type {
  FoldSessionSummary,
  ListedSession,
  SessionKey,
  SessionStoreEntry,
  SessionSummaryEntry,
  StrataSessionStore,
} from "./claude-agent-sdk/shapes.ts"

export interface SessionStoreOptions {
  /** Default: the store that `STRATA_STORE` names, else files under `dir`. */
  readonly store?: Store
  /** Root of the files, without a store. Default: `STRATA_HOME`, else `~/.strata`. */
  readonly dir?: string
  /**
   * A common name for the sessions of all directories, so that a session can be resumed in another one. Default: the SDK's project key,
   * which is the working directory.
   */
  readonly project?: string
  /** Owner of the sessions. Sessions of one owner are never loaded or listed for another. */
  readonly owner?: Owner
  /** The SDK's function of this name. With it, listing sessions reads only new lines. */
  readonly foldSessionSummary?: FoldSessionSummary
  readonly clock?: Clock
  readonly ids?: Ids
}

const RULES: OptionRules<SessionStoreOptions> = {
  store: aPort.store,
  dir: anOption.filledText,
  project: anOption.filledText,
  owner: OWNER_OPTION,
  foldSessionSummary: anOption.callback,
  clock: aPort.clock,
  ids: aPort.ids,
}

const PROGRAM = "claude-agent-sdk"

export function sessionStore(options: SessionStoreOptions = {}): StrataSessionStore {
  checkOptions("sessionStore", options, RULES)
  const { dir, project, owner, foldSessionSummary: fold, clock = systemClock, ids = randomIds } = options
  const store = storeFrom({ store: options.store, dir, env: process.env })
  const writer = new TranscriptWriter({ clock, ids })

  const projectOf = (projectKey: string) => namespaceFor(externalProjectName(PROGRAM, project ?? projectKey), owner)
  const filesOf = (projectKey: string) => store.memories({ project: projectOf(projectKey) })

  function placeOf({ projectKey, sessionId, subpath }: SessionKey) {
    if (subpath === "") throw new InvalidOptionError("subpath", EMPTY_SUBPATH)
    const session = safeId("session id", sessionId)
    const agent = subpath === undefined ? undefined : safeId("subpath", subpath)
    const address: JournalAddress =
      agent === undefined
        ? { project: projectOf(projectKey), id: session }
        : { project: projectOf(projectKey), under: session, id: agent }
    return { place: { store, address }, session, agent }
  }

  const agentsOf = (projectKey: string, session: string) =>
    store.list(projectOf(projectKey), { under: session, isBare: true })

  async function sessionsOf(projectKey: string) {
    const listed = await store.list(projectOf(projectKey), { isBare: true })
    return listed
      .filter(({ bytes }) => bytes > 0)
      .map(({ id, bytes, touched }) => {
        const place = { store, address: { project: projectOf(projectKey), id } }
        return { sessionId: textOfId(id), mtime: Date.parse(touched), place, bytes }
      })
  }

  return {
    async append(key, entries) {
      if (entries.length > 0) await writer.add(placeOf(key).place, entries)
    },

    async load(key) {
      const { lines } = await liveLines(placeOf(key).place, 0)
      return lines.length === 0 ? null : lines
    },

    listSessions: async (projectKey) =>
      (await sessionsOf(projectKey)).map(({ sessionId, mtime }) => ({ sessionId, mtime })),

    ...(fold && {
      listSessionSummaries: async (projectKey: string) =>
        summariesOf({ files: filesOf(projectKey), sessions: await sessionsOf(projectKey), projectKey, fold }),
    }),

    async delete(key) {
      const { place, session, agent } = placeOf(key)
      const agents = agent === undefined ? await agentsOf(key.projectKey, session) : []
      const { project } = place.address
      writer.forget()
      await eraseExclusively(place)
      for (const { id } of agents) await eraseExclusively({ store, address: { project, under: session, id } })
      if (agent === undefined) await forgetSummary(filesOf(key.projectKey), session)
    },

    async listSubkeys({ projectKey, sessionId }) {
      const agents = await agentsOf(projectKey, safeId("session id", sessionId))
      return agents.filter(({ bytes }) => bytes > 0).map(({ id }) => textOfId(id))
    },
  }
}

const EMPTY_SUBPATH =
  "A subpath must not be empty: omit it for the session's own transcript. Nothing was read or written."
