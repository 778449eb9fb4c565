/** Starts the proxy and its conversations in this process, announces it, and closes everything in the right order. */
import { realpath } from "node:fs/promises"
import { type ConversationStatus, Conversations, newSecret, type PauseNotice, startProxy } from "@strata/adapters/proxy"
import type { CommandCall } from "../command.ts"
import { connectThroughProxy } from "../connection.ts"
import { type Announcement, announce } from "./announcement.ts"

export interface ProxyOptions extends Pick<CommandCall, "cwd" | "env"> {
  readonly upstream: string
  readonly mode: Announcement["mode"]
  readonly port?: number | undefined
  readonly log: (line: string) => void
  /** Called before the first request after a pause that expired the server's cache. Resolves with whether to send it. */
  readonly onPause?: (notice: PauseNotice) => Promise<boolean>
  /** Whether `onPause` asks the user, which may take long. */
  readonly asks?: boolean
  /** Whether to omit the recall tool. */
  readonly withoutRecall?: boolean
}

const QUESTION_TIMEOUT_MS = 600_000

export interface RunningProxy {
  /** Base URL with the secret. */
  readonly url: string
  readonly port: number
  /** Closes the proxy after running responses have ended. */
  close(): Promise<ClosedProxy>
}

export interface ClosedProxy {
  /** Cost of each conversation. */
  readonly rows: readonly ConversationStatus[]
  /** Directory of the journals. */
  readonly journals: string
}

export async function startRunning(options: ProxyOptions): Promise<RunningProxy> {
  const { upstream, mode, port, log, onPause, asks = false, withoutRecall = false, cwd, env } = options
  connectThroughProxy(env) // Strata's own requests use the same HTTP proxy as the client's
  const directory = await realpath(cwd)
  const plans = new Conversations({
    ...{ upstream, cwd: directory, env, log },
    observe: mode === "observe",
    recall: !withoutRecall,
    ...(onPause ? { onPause } : {}),
  })
  const proxy = await startProxy({
    upstream,
    plans,
    secret: newSecret(),
    environment: env,
    onLog: log,
    ...(port === undefined ? {} : { port }),
    ...(asks ? { limits: { planMs: QUESTION_TIMEOUT_MS } } : {}),
  })
  const started = new Date().toISOString()
  const takeBack = await announce(
    { pid: process.pid, url: proxy.url, upstream, cwd: directory, mode, started },
    env,
  ).catch(async (error: unknown) => {
    await proxy.close()
    throw error
  })
  const warm = plans.warmUp() // in parallel with the start of the client
  return {
    url: proxy.url,
    port: proxy.port,
    close: async () => {
      takeBack()
      await warm
      await proxy.close()
      await plans.close()
      return { rows: await plans.status(), journals: await plans.directory() }
    },
  }
}
