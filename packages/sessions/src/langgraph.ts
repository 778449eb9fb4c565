/**
 * Strata as a checkpointer for LangGraph: `graph.compile({ checkpointer: strataSaver({ store }) })`. A checkpoint costs only its new
 * content: each message is stored once, and a step is stored as the difference to the previous one.
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
import { type Clock, externalProjectName, namespaceFor, type Owner, systemClock } from "@strata/core/base"
import { type Store, storeFrom } from "@strata/core/store"
import { deltaHistory } from "./langgraph/delta-history.ts"
import { listCheckpoints } from "./langgraph/list.ts"
import { putCheckpoint, putWrites } from "./langgraph/put.ts"
import { ValueSerializer } from "./langgraph/serialized.ts"
import { missingCheckpoint } from "./langgraph/thread-errors.ts"
import { Threads } from "./langgraph/threads.ts"
import { requestedCheckpoint, tupleOf } from "./langgraph/tuple.ts"

export interface StrataSaverOptions {
  /** Store of the threads. Default: the one that `STRATA_STORE` names, else files under `dir`. */
  readonly store?: Store
  /** The root of the files, without a store. Default: `STRATA_HOME`, else `~/.strata`. */
  readonly dir?: string
  /** Name of the project. Projects share no threads. Default: `langgraph`. */
  readonly project?: string
  /** Owner of the threads. Owners share no threads, even if they use the same ids. */
  readonly owner?: Owner
  /** Serializer of values. Default: LangGraph's own. */
  readonly serde?: SerializerProtocol
  /** How long to wait while another process writes to the same thread, in milliseconds. Default: 10 seconds. */
  readonly lockTimeoutMs?: number
  readonly clock?: Clock
}

const LOCK_TIMEOUT_MS = 10_000

/** Creates a checkpointer on any store. */
export const strataSaver = (options: StrataSaverOptions = {}): StrataSaver => new StrataSaver(options)

export class StrataSaver extends BaseCheckpointSaver {
  readonly #threads: Threads
  readonly #serializer: ValueSerializer

  constructor({ store, dir, project = "langgraph", owner, serde, lockTimeoutMs, clock }: StrataSaverOptions = {}) {
    super(serde)
    this.#serializer = new ValueSerializer(this.serde)
    this.#threads = new Threads({
      store: storeFrom({ store, dir, env: process.env }),
      project: namespaceFor(externalProjectName("langgraph", project), owner),
      lockTimeoutMs: lockTimeoutMs ?? LOCK_TIMEOUT_MS,
      clock: clock ?? systemClock,
    })
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined
    const wanted = requestedCheckpoint(config)
    return this.#threads.of(wanted.thread).read((reading) => tupleOf(reading, wanted, this.#serializer))
  }

  override list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    return listCheckpoints({ threads: this.#threads, serializer: this.#serializer, config, options })
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, ns, id: parent } = requestedCheckpoint(config)
    const { id, ...rest } = checkpoint
    const state = this.#serializer.pack({ checkpoint: { ...rest }, metadata })
    await putCheckpoint(this.#threads.of(thread), { ns, id, parent, state: await state }, newVersions)
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } }
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string): Promise<void> {
    const { thread, ns, id } = requestedCheckpoint(config)
    if (id === undefined) throw missingCheckpoint()
    const packed = writes.map(async ([channel, value], at) => ({
      ...{ task, channel, index: WRITES_IDX_MAP[channel] ?? at },
      value: await this.#serializer.pack(value),
    }))
    await putWrites(this.#threads.of(thread), { ns, id, task, writes: await Promise.all(packed) })
  }

  /** Removes the thread from the store completely. */
  override async deleteThread(threadId: string): Promise<void> {
    const { thread } = requestedCheckpoint({ configurable: { thread_id: threadId } })
    await this.#threads.erase(thread)
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const wanted = requestedCheckpoint(config)
    const read = this.#threads
      .of(wanted.thread)
      .read((reading) => deltaHistory({ reading, wanted, channels, serializer: this.#serializer }))
    return (await read) ?? Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
  }

  /** Releases the write locks at once. Otherwise they are released after 200 ms. The saver can still be used. */
  async close(): Promise<void> {
    await this.#threads.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
