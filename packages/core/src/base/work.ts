/** Runs work: cooperatively, so that a turn does not wait for background work; serially, in a queue; or once for all callers. */
import { setImmediate, setTimeout } from "node:timers/promises"

/** Typed events. An error in a listener never reaches the emitter. It surfaces as an uncaught error. */
export class Events<M extends object> {
  readonly #listeners = new Map<keyof M, Set<(event: never) => void>>()

  /** Returns a function that stops listening. */
  on<K extends keyof M>(name: K, listener: (event: M[K]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  emit<K extends keyof M>(name: K, event: M[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as (event: M[K]) => void)(event)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}

const SLICE_MILLISECONDS = 2 // a turn passes through the event loop several times and may wait for a slice each time
const OTHERS_MILLISECONDS = 0.1 // an idle event loop returns sooner
const PAUSE_MILLISECONDS = 20 // a turn usually ends within this time, so few turns meet a slice

export interface CooperativeOptions {
  /** Rejects with the signal's reason once it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Pauses while others use the event loop. For work that no one waits for. */
  readonly yieldsToOthers?: boolean
}

/** Work that can pause after each step. Its result does not depend on how often it pauses. */
export type CooperativeTask<T> = Generator<void, T, void>

/** Runs the work synchronously, without pauses. */
export function runSync<T>(steps: CooperativeTask<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** When the current slice ends. Consecutive tasks share a slice, because the event loop does not run between two awaits. */
let sliceEnd = 0

/** Runs the work in slices, with the event loop in between. */
export async function runCooperatively<T>(steps: CooperativeTask<T>, options: CooperativeOptions = {}): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const pause = pauseAfterSlice(options)
    if (pause) await pause
  }
}

/** For work that is not a task: what to wait for if the current slice has ended. */
export function pauseAfterSlice(options: CooperativeOptions = {}): Promise<void> | undefined {
  return performance.now() < sliceEnd ? undefined : pauseSlice(options)
}

async function pauseSlice({ signal, yieldsToOthers = false }: CooperativeOptions): Promise<void> {
  const paused = performance.now()
  await setImmediate()
  if (yieldsToOthers && performance.now() - paused > OTHERS_MILLISECONDS)
    await setTimeout(PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined) // an abort is thrown below
  signal?.throwIfAborted()
  sliceEnd = performance.now() + SLICE_MILLISECONDS
}

/**
 * Computes a value on first use and caches it. For tables that take long to build, so that opening a conversation does not wait for them.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

// Work after a response runs when the event loop comes around again, so that the caller can continue first.

/** Waits for one round of the event loop. While a call waits, further calls return at once, so nothing piles up. */
export function yieldOnce(): () => Promise<void> {
  let isWaiting = false
  return async () => {
    if (isWaiting) return
    isWaiting = true
    await setImmediate()
    isWaiting = false
  }
}

// Caches the newest results of a function of a text, because the same files and outputs are read again and again.

const MAX_CHARACTERS = 4_000_000 // of all cached texts: about 8 MB

/** `max` is the number of cached texts, for callers that ask only about the newest. */
export function memoize<T extends object | string>(
  work: (text: string) => T,
  { max = Number.POSITIVE_INFINITY }: { readonly max?: number } = {},
): (text: string) => T {
  const known = new Map<string, T>()
  let characters = 0
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = work(text)
    known.set(text, made)
    characters += text.length
    for (const oldest of known.keys()) {
      if (characters <= MAX_CHARACTERS && known.size <= max) break
      known.delete(oldest)
      characters -= oldest.length
    }
    return made
  }
}

interface Closable {
  close(): void
  /** Called when it has no users but stays open: it must not work until it is used again. */
  rest?(): void
}

/** Resources that several users in this process share: opened with the first user, closed with the last. */
export class RefCounted<T extends Closable> {
  readonly #open = new Map<string, { readonly value: T; users: number }>()
  /** Open resources without users. The most recently used one is last. */
  readonly #idle = new Map<string, T>()
  readonly #maxIdle: number

  /** `maxIdle` is how many stay open without users, because opening them takes long. Default: none. */
  constructor({ maxIdle = 0 }: { readonly maxIdle?: number } = {}) {
    this.#maxIdle = maxIdle
  }

  use(key: string, open: () => T): { readonly value: T; close(): void } {
    const one = this.#open.get(key) ?? { value: this.#idle.get(key) ?? open(), users: 0 }
    this.#idle.delete(key)
    this.#open.set(key, one)
    one.users++
    let isClosed = false
    return {
      value: one.value,
      close: () => {
        if (isClosed) return
        isClosed = true
        if (--one.users > 0) return
        this.#open.delete(key)
        this.#idle.set(key, one.value)
        one.value.rest?.()
        this.#closeIdle()
      },
    }
  }

  #closeIdle(): void {
    for (const [key, value] of this.#idle) {
      if (this.#idle.size <= this.#maxIdle) return
      this.#idle.delete(key)
      value.close()
    }
  }
}

/** The same for each owner object, such as a store. Garbage-collected with the owner. */
export class RefCountedPerObject<T extends Closable> {
  readonly #all = new WeakMap<object, RefCounted<T>>()
  readonly #options: { readonly maxIdle?: number }

  constructor(options: { readonly maxIdle?: number } = {}) {
    this.#options = options
  }

  of(owner: object): RefCounted<T> {
    const shared = this.#all.get(owner) ?? new RefCounted<T>(this.#options)
    this.#all.set(owner, shared)
    return shared
  }
}

// Waits for something that cannot be interrupted itself, such as the user.

export type InterruptibleResult<T> =
  | { readonly state: "settled"; readonly value: T }
  | { readonly state: "interrupted" }

/** On abort the work continues, but its result is no longer awaited. */
export function unlessInterrupted<T>(signal: AbortSignal, promise: Promise<T>): Promise<InterruptibleResult<T>> {
  const { promise: interruption, resolve } = Promise.withResolvers<InterruptibleResult<T>>()
  const onAbort = () => resolve({ state: "interrupted" })
  if (signal.aborted) onAbort()
  signal.addEventListener("abort", onAbort, { once: true })
  const settled = promise.then((value): InterruptibleResult<T> => ({ state: "settled", value }))
  return Promise.race([interruption, settled]).finally(() => signal.removeEventListener("abort", onAbort))
}

/** Runs work one piece at a time, in the order of the calls. A failure reaches its caller and does not affect later work. */
export class SerialQueue {
  #last: Promise<void> = Promise.resolve()
  #unfinished = 0

  /** Whether all work so far has ended. */
  get isIdle(): boolean {
    return this.#unfinished === 0
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#unfinished++
    const run = this.#last.then(work)
    const over = () => void this.#unfinished--
    this.#last = run.then(over, over)
    return run
  }

  /** Resolves when all work so far has ended, successfully or not. */
  whenIdle(): Promise<void> {
    return this.#last
  }
}

/** A queue per key, which exists only while it has work. */
export class KeyedQueues<K> {
  readonly #byKey = new Map<K, SerialQueue>()

  run<T>(key: K, work: () => T | Promise<T>): Promise<T> {
    const queue = this.#byKey.get(key) ?? new SerialQueue()
    this.#byKey.set(key, queue)
    const run = queue.run(work)
    void queue.whenIdle().then(() => {
      if (queue.isIdle) this.#byKey.delete(key)
    })
    return run
  }

  /** Resolves when all work so far has ended, for all keys. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((queue) => queue.whenIdle()))
  }
}
