/**
 * Strata under LangGraph: `graph.compile({ checkpointer: strataSaver({ store }) })`. A checkpoint costs what is new in it, not the whole state:
 * each message is kept once, and a step is the difference to the one before.
 */
import type { RunnableConfig } from "@langchain/core/runnables"
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint"
import { type Clock, externalProjectName, type Owner, placeFor, systemClock } from "@strata/core/base"
import { type Store, storeFrom } from "@strata/core/store"
import { deltaHistory } from "./langgraph/delta-history.ts"
import { listed } from "./langgraph/list.ts"
import { putCheckpoint, putWrites } from "./langgraph/put.ts"
import { Serialised } from "./langgraph/serialised.ts"
import { missingCheckpoint } from "./langgraph/thread-errors.ts"
import { Threads } from "./langgraph/threads.ts"
import { tupleOf, wantedIn } from "./langgraph/tuple.ts"

export interface StrataSaverOptions {
  /** Where threads are kept. Default: what `STRATA_STORE` names, else files under `dir`. */
  readonly store?: Store
  /** The root of the files, without a store. Default: `STRATA_HOME`, else `~/.strata`. */
  readonly dir?: string
  /** What the project is called. Two projects share no thread. Default: `langgraph`. */
  readonly project?: string
  /** Whose threads these are. Two owners share no thread, also if they use the same id. */
  readonly owner?: Owner
  /** How values become text. Default: LangGraph's own. */
  readonly serde?: SerializerProtocol
  /** How long to wait while another process writes to the same thread, in milliseconds. Default: 10 seconds. */
  readonly lockTimeoutMs?: number
  readonly clock?: Clock
}

const LOCK_TIMEOUT_MS = 10_000

/** A checkpointer over any store. */
export const strataSaver = (options: StrataSaverOptions = {}): StrataSaver => new StrataSaver(options)

export class StrataSaver extends BaseCheckpointSaver {
  readonly #threads: Threads
  readonly #serialised: Serialised

  constructor({ store, dir, project = "langgraph", owner, serde, lockTimeoutMs, clock }: StrataSaverOptions = {}) {
    super(serde)
    this.#serialised = new Serialised(this.serde)
    this.#threads = new Threads({
      store: storeFrom({ store, dir, env: process.env }),
      project: placeFor(externalProjectName("langgraph", project), owner),
      lockTimeoutMs: lockTimeoutMs ?? LOCK_TIMEOUT_MS,
      clock: clock ?? systemClock,
    })
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined
    const wanted = wantedIn(config)
    return this.#threads.of(wanted.thread).read((reading) => tupleOf(reading, wanted, this.#serialised))
  }

  override list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    return listed({ threads: this.#threads, serialised: this.#serialised, config, options })
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, ns, id: parent } = wantedIn(config)
    const { id, ...rest } = checkpoint
    const state = this.#serialised.pack({ checkpoint: { ...rest }, metadata })
    await putCheckpoint(this.#threads.of(thread), { ns, id, parent, state: await state }, newVersions)
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } }
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string): Promise<void> {
    const { thread, ns, id } = wantedIn(config)
    if (id === undefined) throw missingCheckpoint()
    const packed = writes.map(async ([channel, value], at) => ({
      ...{ task, channel, index: WRITES_IDX_MAP[channel] ?? at },
      value: await this.#serialised.pack(value),
    }))
    await putWrites(this.#threads.of(thread), { ns, id, task, writes: await Promise.all(packed) })
  }

  /** Nothing of the thread is left in the store. */
  override async deleteThread(threadId: string): Promise<void> {
    const { thread } = wantedIn({ configurable: { thread_id: threadId } })
    await this.#threads.erase(thread)
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const wanted = wantedIn(config)
    const read = this.#threads
      .of(wanted.thread)
      .read((reading) => deltaHistory({ reading, wanted, channels, serialised: this.#serialised }))
    return (await read) ?? Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
  }

  /** Lets other processes write at once. Without it they wait for a fifth of a second. The saver can still be used. */
  async close(): Promise<void> {
    await this.#threads.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
