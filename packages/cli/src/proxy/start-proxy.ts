/** The proxy with its conversations in this process: started, announced, and closed in the right order. */
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
  /** Asked before the first request after a pause that cost the server's cache. */
  readonly onPause?: (notice: PauseNotice) => Promise<boolean>
  /** A user may take their time to answer. */
  readonly asks?: boolean
  /** The model gets no tool of ours. */
  readonly withoutRecall?: boolean
}

const QUESTION_TIMEOUT_MS = 600_000

export interface RunningProxy {
  /** With the secret. */
  readonly url: string
  readonly port: number
  /** Lets running answers end. */
  close(): Promise<ClosedProxy>
}

export interface ClosedProxy {
  /** What each conversation cost. */
  readonly rows: readonly ConversationStatus[]
  /** The directory with their journals. */
  readonly journals: string
}

export async function startRunning(options: ProxyOptions): Promise<RunningProxy> {
  const { upstream, mode, port, log, onPause, asks = false, withoutRecall = false, cwd, env } = options
  connectThroughProxy(env) // our own requests go the way that the client's go
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
  const warm = plans.warmUp() // while the client starts
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
